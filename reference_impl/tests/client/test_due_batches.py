"""When a batch is due, what closing does with the rest, and how old metadata may grow."""

import pytest

from touchstone.reference_impl.client.accumulator import Accumulator
from touchstone.reference_impl.client.flow import KafkaError
from touchstone.reference_impl.client.producer import Closed, Expired
from touchstone.reference_impl.client.producer_batch import Delivery
from touchstone.reference_impl.wire.errors import ErrorCode as E

from .scripted import metadata, topic, view
from .test_producer import ALONE, Leaders, producing

LINGER = 50
SEEN = view(topic("t", 0, 1))


def waiting(*values: bytes, batch_size: int = 10_000, linger_ms: int = LINGER) -> Accumulator:
    """One partition's records, made at instant 1000; node 0 leads it."""
    made = Accumulator(batch_size, linger_ms=linger_ms)
    for value in values:
        made.append(("t", 0), Delivery("t", 0, None, value, (), 1000, 1000), 1000)
    return made


@pytest.mark.parametrize(("now", "nodes"), [(1000, []), (1049, []), (1050, [0]), (1051, [0])])
def test_prod_32_a_batch_that_lingered_long_enough_is_due_and_the_boundary_counts(now, nodes):
    ready = waiting(b"v").ready(SEEN, now)
    assert (ready.nodes, ready.next_check) == (nodes, None if nodes else 1050)


@pytest.mark.parametrize(
    ("values", "batch_size"),
    [((bytes(40), bytes(40)), 70), ((bytes(100), bytes(100)), 279)],
    ids=["two", "full"],
)
def test_prod_32_a_full_batch_waits_for_nobody(values, batch_size):
    assert waiting(*values, batch_size=batch_size).ready(SEEN, 1000).nodes == [0]


def test_prod_31_who_backs_off_is_not_due_even_if_flushed_and_then_does_not_linger_again():
    queued = waiting(b"v", linger_ms=60_000)
    (head,) = queued.heads()
    queued.ready(SEEN, 1000)
    head.closed, head.attempts, head.backoff_ms = True, 1, 100
    queued.flushing = 1
    assert queued.ready(SEEN, 1099) == ([], 1100, set())
    queued.flushing = 0
    assert queued.ready(SEEN, 1100).nodes == [0]


@pytest.mark.parametrize("why", ["exhausted", "flushing"])
def test_prod_33_who_waits_for_memory_or_a_flush_makes_every_batch_due(why):
    queued = waiting(b"v")
    setattr(queued, why, True)
    assert queued.ready(SEEN, 1000).nodes == [0]
    queued.muted.add(("t", 0))
    assert queued.ready(SEEN, 1000).nodes == []


def test_prod_34_batches_without_a_leader_are_left_and_their_topics_named():
    queued = waiting(b"v")
    ready = queued.ready(view(topic("t", -1, 1)), 2000)
    assert (ready.nodes, ready.unknown_leaders) == ([], {"t"})
    assert queued.ready(SEEN, 2000).nodes == [0]


def test_prod_35_the_next_look_is_at_the_head_that_waits_shortest():
    queued = waiting(b"v")
    queued.append(("t", 1), Delivery("t", 1, None, b"later", (), 1030, 1030), 1030)
    assert queued.ready(SEEN, 1040).next_check == 1050
    assert queued.ready(SEEN, 1050) == ([0], 1080, set())


def test_prod_36_drain_takes_one_batch_of_each_partition_and_begins_where_it_ended():
    queued = Accumulator(100)
    seen = view(topic("t", 0, 0, 0))
    for index in (0, 1, 2):
        for _ in range(2):
            queued.append(("t", index), Delivery("t", index, None, bytes(90), (), 0, 0), 0)
    one = queued.heads()[0].size
    drained = [[batch.place[1] for batch in queued.drain(seen, 0, 2 * one, 0)] for _ in range(3)]
    assert drained == [[0, 1], [2, 0], [1, 2]]


def test_prod_37_drain_skips_who_is_muted_or_backs_off_and_always_takes_one():
    queued = Accumulator(100)
    seen = view(topic("t", 0, 0, 0))
    for index in (0, 1, 2):
        queued.append(("t", index), Delivery("t", index, None, bytes(900), (), 0, 0), 0)
    queued.muted.add(("t", 0))
    queued.ready(seen, 0)
    head = queued.queues["t", 1][0]
    head.attempts, head.backoff_ms = 1, 100
    assert [batch.place[1] for batch in queued.drain(seen, 0, 50, 99)] == [2]
    assert [batch.place[1] for batch in queued.drain(seen, 0, 50, 100)] == [1]
    assert queued.drain(seen, 0, 50, 100) == []


def test_work_sends_what_is_due_and_says_when_to_look_again():
    leaders = Leaders(leaders=(0,))
    producer, runner = producing(leaders, linger_ms=LINGER)
    made = producer.send("t", b"v", partition=0)
    wake = runner.run(producer.work())
    assert wake == made.created + LINGER and not leaders.taken
    runner.view.now = wake
    assert runner.run(producer.work()) is None
    assert made.result().offset >= 0 and len(leaders.taken) == 1


def test_work_goes_on_while_something_is_due():
    leaders = Leaders(leaders=(0,))
    producer, runner = producing(leaders, batch_size=1)
    made = [producer.send("t", b"%d" % number, partition=0) for number in range(2)]
    assert runner.run(producer.work()) is None
    assert [each.done for each in made] == [True, True]


def test_a_flush_does_not_wait_for_lingering_batches():
    leaders = Leaders(leaders=(0,))
    producer, runner = producing(leaders, linger_ms=60_000)
    made = producer.send("t", b"v", partition=0)
    runner.run(producer.flush())
    assert made.done and not runner.pauses


def test_closing_delivers_what_is_queued_and_takes_nothing_more():
    producer, runner = producing(Leaders(leaders=(0,)), linger_ms=60_000)
    made = producer.send("t", b"v", partition=0)
    runner.run(producer.close())
    assert made.result().offset >= 0
    with pytest.raises(Closed):
        producer.send("t", b"too late")


@pytest.mark.parametrize(("timeout_ms", "tries"), [(0, 0), (250, 2)])
def test_closing_fails_what_is_left_when_its_time_is_up(timeout_ms, tries):
    leaders = Leaders(*[E.NOT_ENOUGH_REPLICAS] * 99, leaders=(0,))
    producer, runner = producing(leaders, idempotence=False)
    queued = producer.send("t", b"v", partition=0)
    runner.run(producer.close(timeout_ms))
    assert len(leaders.taken) == tries and timeout_ms <= runner.view.now - queued.created < 1000
    with pytest.raises(Closed):
        queued.result()


def test_prod_42_what_follows_an_expired_batch_is_sent_under_a_new_epoch():
    leaders = Leaders(E.NOT_ENOUGH_REPLICAS, *[E.OUT_OF_ORDER_SEQUENCE_NUMBER] * 2, leaders=(0,))
    producer, runner = producing(leaders, batch_size=1, delivery_timeout_ms=1000)
    lost = producer.send("t", ALONE % 0, partition=0)
    runner.view.now += 900
    kept = producer.send("t", ALONE % 1, partition=0)
    runner.run(producer.flush())
    with pytest.raises(Expired):
        lost.result()
    assert kept.result().offset >= 0
    assert leaders.numbered == [(1001, 0, 0), (1001, 0, 1), (1001, 0, 1), (1001, 1, 0)]


def test_a_topic_that_never_appears_is_waited_for_as_long_as_sending_may_block():
    def nobody(ask):
        row = topic("ghost", error=E.UNKNOWN_TOPIC_OR_PARTITION)
        return metadata(row)

    producer, runner = producing(Leaders(), view(), max_block_ms=3_000)
    runner.script = nobody
    made = producer.send("ghost", b"v" * (2 << 20))
    runner.run(producer.flush())
    assert 2_000 < runner.view.now - made.created <= 3_100
    with pytest.raises(KafkaError, match="ghost: UNKNOWN_TOPIC_OR_PARTITION"):
        made.result()  # and not MESSAGE_TOO_LARGE: size is looked at after the topic (PROD-13)


def test_old_metadata_is_renewed_for_the_topics_that_are_in_use():
    asked: list[list[str]] = []
    leaders = Leaders(leaders=(0,))

    def script(ask):
        if ask.api == "Metadata":
            asked.append([row["name"] for row in ask.body["topics"]])
        return leaders(ask)

    producer, runner = producing(leaders, metadata_max_age_ms=1000, metadata_max_idle_ms=1500)
    runner.script = script
    producer.view.update(metadata(topic("old", 0)))
    producer.send("old", b"x" * (2 << 20), partition=0)  # used, and refused for its size
    for after in (999, 1, 1000):
        runner.view.now += after
        producer.send("t", b"v", partition=0)
        runner.run(producer.flush())
    assert asked == [["old", "t"], ["t"]]
    assert set(producer.view.topics) == {"t", "old"}, "a consumer of this client may read it"
