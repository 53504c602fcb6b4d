"""Which partition a record goes to: clauses PROD-20 to PROD-22, and KIP-794."""

import random
from collections import Counter

import pytest

from touchstone.reference_impl.client.partitioner import (
    Choices,
    RoundRobin,
    Sticky,
    for_key,
    murmur2,
    weighted,
    worth_weighing,
)

from .scripted import topic, view
from .test_producer import Leaders, producing

THREE = Choices([0, 1, 2], [0, 1, 2])


@pytest.mark.parametrize(
    ("key", "hashed", "of_ten"),
    [
        (b"test", 716234879, 9),
        (b"foobar", -790332482, 6),
        (b"", 275646681, 1),
        ("消费".encode(), -388901500, 8),
    ],
)
def test_prod_21_keys_are_hashed_as_kafka_hashes_them(key, hashed, of_ten):
    assert murmur2(key) == hashed
    assert for_key(key, 10) == of_ten


def test_prod_21_a_key_counts_all_partitions_also_those_without_a_leader():
    producer, _ = producing(Leaders(), view(topic("t", 0, -1, 0, -1, 0, -1, 0, -1, 0, -1)))
    assert producer.send("t", b"v", key=b"test").partition == 9


def test_prod_20_an_explicit_partition_is_used_as_it_is():
    producer, _ = producing(Leaders())
    assert producer.send("t", b"v", key=b"test", partition=1).partition == 1


def test_prod_22_round_robin_takes_available_partitions_in_turn_and_all_if_none_is():
    turns = RoundRobin(lambda: 4)
    among = Choices([0, 1, 2], [0, 2])
    got = [turns.partition("t", b"k", b"k", None, None, among) for _ in range(3)]
    assert got == [0, 2, 0]
    none = Choices([0, 1, 2], [])
    assert [turns.partition("t", None, None, None, None, none) for _ in range(3)] == [1, 2, 0]


def test_a_favourite_stays_until_it_took_a_batch_and_twice_that_ends_it_anyhow():
    sticky = Sticky(random.Random(1).randrange, 100)
    first = sticky.current("t", THREE)
    sticky.took("t", 99, THREE)
    assert sticky.current("t", THREE) == first
    chosen = []
    for _ in range(20):
        sticky.took("t", 1, THREE)  # the hundredth byte
        chosen.append(sticky.current("t", THREE))
        sticky.took("t", 99, THREE)
    assert set(chosen) == {0, 1, 2}
    held = sticky.current("t", THREE)
    sticky.took("t", 50, THREE, may_switch=lambda: False)
    assert sticky.current("t", THREE) == held and sticky._bytes["t"] == 149
    sticky.took("t", 51, THREE, may_switch=lambda: False)
    assert sticky._bytes["t"] == 0


def test_every_partition_gets_as_many_bytes():
    """KIP-794: whatever the sizes of records, bytes are spread evenly."""
    draw = random.Random(7)
    sticky = Sticky(draw.randrange, 1_000)
    got: Counter[int] = Counter()
    for _ in range(60_000):
        size = draw.randrange(1, 200)
        got[sticky.current("t", THREE)] += size
        sticky.took("t", size, THREE)
    assert max(got.values()) < 1.08 * min(got.values())


def test_a_longer_queue_is_less_likely_as_in_kafkas_own_example():
    """Queues of 0, 3 and 1 batches weigh 4, 1 and 3 (BuiltInPartitioner at 4.3.1)."""
    loads = [(5, 0), (6, 3), (7, 1)]
    drawn = Counter(weighted(loads, lambda n, at=at: at % n) for at in range(8))
    assert drawn == {5: 4, 6: 1, 7: 3}
    assert not worth_weighing([(0, 2), (1, 2)], 2)
    assert worth_weighing([(0, 2), (1, 2)], 3), "one was left out"
    assert not worth_weighing([(0, 2)], 1)


def test_a_record_without_a_key_goes_where_less_waits():
    producer, _ = producing(Leaders(), view(topic("t", 0, 0)), batch_size=200)
    for _ in range(60):
        producer.send("t", bytes(150), partition=0)
    got = Counter(producer.send("t", bytes(150)).partition for _ in range(40))
    assert got[1] > 5 * got[0]
    even, _ = producing(Leaders(), view(topic("t", 0, 0)), batch_size=200, adaptive=False)
    for _ in range(60):
        even.send("t", bytes(150), partition=0)
    got = Counter(even.send("t", bytes(150)).partition for _ in range(40))
    assert got[0] > got[1] / 3


def test_keys_may_be_ignored():
    producer, _ = producing(Leaders(), ignore_keys=True)
    assert len({producer.send("t", b"v", key=b"%d" % i).partition for i in range(20)}) == 1


class ByValue:
    def partition(self, topic, key, key_bytes, value, value_bytes, choices):
        return int(value_bytes)


def test_an_applications_own_partitioner_decides_and_answers_for_it():
    producer, _ = producing(Leaders(), partitioner=ByValue)
    assert producer.send("t", b"1", key=b"test").partition == 1
    with pytest.raises(ValueError, match="invalid partition number: -3"):
        producer.send("t", b"-3")


def test_partitions_of_a_node_that_takes_nothing_for_too_long_are_left_out():
    """partitioner.availability.timeout.ms (KIP-794)."""
    leaders = Leaders(*["refused"] * 99, leaders=(0, 1))
    producer, runner = producing(leaders, batch_size=100, availability_timeout_ms=500)
    producer.send("t", b"v", partition=0)
    end = runner.view.now + 2_000
    while runner.view.now < end:
        runner.run(producer.step(runner.view.now + 200))
    loads = producer._accumulator.loads(producer.view, "t", [0, 1])
    assert [index for index, _ in loads] == [1]
    patient, _ = producing(leaders, batch_size=100)
    assert len(patient._accumulator.loads(patient.view, "t", [0, 1])) == 2
