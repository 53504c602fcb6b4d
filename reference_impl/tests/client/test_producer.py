"""The producer against made-up leaders: order, sequences, retries and ends."""

import random
from typing import Any

import pytest

from touchstone.reference_impl.client.accumulator import Accumulator
from touchstone.reference_impl.client.flow import ClientError, Failed, KafkaError, Unreachable
from touchstone.reference_impl.client.metadata import View
from touchstone.reference_impl.client.producer import Expired, Producer
from touchstone.reference_impl.client.producer_batch import Delivery
from touchstone.reference_impl.wire import records as R
from touchstone.reference_impl.wire.errors import ErrorCode as E

from .scripted import Runner, metadata, topic, view

ALONE = b"%040d"  # with batch.size=1 a batch has room for one of these


class Leaders:
    """Answers Produce by a plan of error codes, then with success; keeps what it was sent."""

    def __init__(self, *plan: Any, leaders: tuple[int, ...] = (0, 1)):
        self.plan = list(plan)
        self.topic = topic("t", *leaders)
        self.ids = 0
        self.taken: list[tuple[int, int, int, int, list[bytes | None]]] = []
        self.numbered: list[tuple[int, int, int]] = []  # producer id, epoch, base sequence
        self.offset = 100

    def __call__(self, ask):
        if ask.api == "Metadata":
            return metadata(self.topic)
        if ask.api == "InitProducerId":
            self.ids += 1
            return {"error_code": 0, "producer_id": 1000 + self.ids, "producer_epoch": 0}
        rows = []
        for part in ask.body["topic_data"][0]["partition_data"]:
            rows.append(self._part(ask.node, part))
        said = next((row for row in rows if isinstance(row, str)), None)
        if said is not None:
            return Failed(ask, said, "planned")
        return {"responses": [{"name": "t", "partition_responses": rows}]}

    def _part(self, node, part):
        header = R.read_header(part["records"])
        values = [row["value"] for row in R.read(part["records"])]
        told = self.plan.pop(0) if self.plan else 0
        self.taken.append((part["index"], header.producer_id, header.base_sequence, told, values))
        self.numbered.append((header.producer_id, header.producer_epoch, header.base_sequence))
        if isinstance(told, str):
            return told
        self.offset += 10
        base = -1 if told else self.offset
        return {"index": part["index"], "error_code": told, "base_offset": base}


def producing(leaders: Leaders, seen: View | None = None, **options) -> tuple[Producer, Runner]:
    seen = seen or view(leaders.topic)
    producer = Producer(seen, randrange=random.Random(3).randrange, **options)
    return producer, Runner(seen, leaders)


def test_records_go_to_their_partitions_in_batches_with_sequences():
    leaders = Leaders()
    producer, runner = producing(leaders)
    made = [producer.send("t", b"%d" % i, partition=i % 2) for i in range(6)]
    runner.run(producer.flush())
    made += [producer.send("t", b"6", partition=0)]
    runner.run(producer.flush())
    assert leaders.taken == [
        (0, 1001, 0, 0, [b"0", b"2", b"4"]),
        (1, 1001, 0, 0, [b"1", b"3", b"5"]),
        (0, 1001, 3, 0, [b"6"]),
    ]
    assert [each.offset for each in made] == [110, 120, 111, 121, 112, 122, 130]
    assert [ask.node for ask in runner.asked("Produce")] == [0, 1, 0]


def test_one_request_a_leader_carries_all_its_partitions():
    leaders = Leaders(leaders=(1, 1, 1))
    producer, runner = producing(leaders)
    for i in range(3):
        producer.send("t", b"v", partition=i)
    runner.run(producer.flush())
    assert len(runner.asked("Produce")) == 1


def test_full_batches_follow_one_another_in_order():
    leaders = Leaders(leaders=(0,))
    producer, runner = producing(leaders, batch_size=200)
    made = [producer.send("t", b"%02d" % i * 20, key=b"k") for i in range(10)]
    runner.run(producer.flush())
    assert [value for *_, values in leaders.taken for value in values] == [d.value for d in made]
    assert [sequence for _, _, sequence, *_ in leaders.taken] == list(range(0, 10, 2))


def test_a_drained_batch_takes_no_more_records():
    accumulator = Accumulator(10_000)
    place, record = ("t", 0), Delivery("t", 0, None, b"v", (), 0, 0)
    joined = [accumulator.append(place, record, 0).new_batch for _ in range(2)]
    accumulator.heads()[0].closed = True
    assert [*joined, accumulator.append(place, record, 0).new_batch] == [True, False, True]
    assert [len(batch.deliveries) for batch in accumulator.queues[place]] == [2, 1]


@pytest.mark.parametrize("code", [E.NOT_LEADER_OR_FOLLOWER, E.NOT_ENOUGH_REPLICAS, "closed"])
def test_prod_39_with_one_in_flight_a_retry_repeats_the_sequence_and_nothing_overtakes(code):
    leaders = Leaders(code, code, leaders=(0,))
    producer, runner = producing(leaders, batch_size=1, max_in_flight=1)
    made = [producer.send("t", ALONE % i, partition=0) for i in range(3)]
    runner.run(producer.flush())
    assert [(s, [int(v)]) for _, _, s, _, (v,) in leaders.taken] == [
        (0, [0]),
        (0, [0]),
        (0, [0]),
        (1, [1]),
        (2, [2]),
    ]
    assert [each.error for each in made] == [None] * 3
    assert runner.pauses and runner.pauses[0] <= 100
    assert bool(runner.asked("Metadata")) == (code != E.NOT_ENOUGH_REPLICAS)


def test_retries_end():
    leaders = Leaders(*[E.NOT_ENOUGH_REPLICAS] * 9, leaders=(0,))
    producer, runner = producing(leaders, retries=2, idempotence=False)
    made = producer.send("t", b"v", partition=0)
    runner.run(producer.flush())
    assert len(leaders.taken) == 3
    with pytest.raises(KafkaError, match="t-0: NOT_ENOUGH_REPLICAS"):
        made.result()


def test_delivery_times_out_whatever_is_left_to_try():
    leaders = Leaders(*["timeout"] * 300, leaders=(0,))
    producer, runner = producing(leaders, delivery_timeout_ms=5000)
    made = producer.send("t", b"v", partition=0)
    before = runner.view.now
    runner.run(producer.flush())
    assert 5000 <= runner.view.now - before < 7000
    with pytest.raises(Expired, match="Expiring 1 record"):
        made.result()


def test_a_refused_record_fails_alone_and_the_rest_goes_on_under_a_new_epoch():
    leaders = Leaders(E.INVALID_RECORD, E.OUT_OF_ORDER_SEQUENCE_NUMBER, leaders=(0,))
    producer, runner = producing(leaders, batch_size=1)
    made = [producer.send("t", ALONE % i, partition=0) for i in range(2)]
    runner.run(producer.flush())
    assert [each.error is None for each in made] == [False, True]
    assert [(e, s) for _, e, s in leaders.numbered] == [(0, 0), (0, 1), (1, 0)]


def test_a_lost_sequence_starts_anew_and_delivers():
    leaders = Leaders(0, E.OUT_OF_ORDER_SEQUENCE_NUMBER, leaders=(0,))
    producer, runner = producing(leaders, batch_size=1)
    made = [producer.send("t", ALONE % i, partition=0) for i in range(2)]
    runner.run(producer.flush())
    assert [each.error for each in made] == [None, None]
    assert leaders.numbered == [(1001, 0, 0), (1001, 0, 1), (1001, 1, 0)]


def test_a_duplicate_is_a_success_without_an_offset():
    producer, runner = producing(Leaders(E.DUPLICATE_SEQUENCE_NUMBER, leaders=(0,)))
    made = producer.send("t", b"v", partition=0)
    runner.run(producer.flush())
    assert (made.done, made.error, made.offset) == (True, None, -1)


def test_a_batch_too_large_is_split_until_it_fits():
    leaders = Leaders(E.MESSAGE_TOO_LARGE, E.MESSAGE_TOO_LARGE, leaders=(0,))
    producer, runner = producing(leaders)
    made = [producer.send("t", b"%0100d" % i, partition=0) for i in range(8)]
    runner.run(producer.flush())
    assert [[int(value) for value in values] for *_, values in leaders.taken] == [
        [*range(8)], [0, 1, 2], [0], [1], [2], [3, 4, 5], [6, 7],
    ]  # fmt: skip
    assert [sequence for _, _, sequence, *_ in leaders.taken] == [0, 0, 0, 1, 2, 3, 6]
    assert all(each.result().offset >= 0 for each in made)
    assert producer._accumulator.memory.available == producer._accumulator.memory.total


def test_acks_0_asks_for_no_answer_and_knows_no_offset():
    leaders = Leaders(leaders=(0,))
    producer, runner = producing(leaders, acks=0)
    made = producer.send("t", b"v")
    runner.run(producer.flush())
    (ask,) = runner.asked("Produce")
    assert not ask.answer and (made.done, made.offset) == (True, -1)
    assert leaders.taken[0][1:3] == (-1, -1), "acks=0 cannot be idempotent"


def test_idempotence_with_fewer_acks_is_refused():
    with pytest.raises(ClientError):
        Producer(view(), randrange=max, acks=1, idempotence=True)


def test_an_unknown_partition_costs_one_refresh_and_then_fails():
    leaders = Leaders(leaders=(0,))
    producer, runner = producing(leaders)
    made = producer.send("t", b"v", partition=9)
    runner.run(producer.flush())
    assert len(runner.asked("Metadata")) == 1
    with pytest.raises(KafkaError, match="t-9: UNKNOWN_TOPIC_OR_PARTITION"):
        made.result()


def test_a_record_over_the_limit_is_never_queued():
    producer, runner = producing(Leaders(leaders=(0,)), max_request_size=100)
    made = producer.send("t", bytes(100))
    runner.run(producer.flush())
    assert made.error.code == E.MESSAGE_TOO_LARGE and not runner.asks


def test_a_moved_leader_is_followed():
    leaders = Leaders(E.NOT_LEADER_OR_FOLLOWER, leaders=(0,))
    producer, runner = producing(leaders, view(topic("t", 0)))
    leaders.topic = topic("t", 1, epoch=1)
    made = producer.send("t", b"v", partition=0)
    runner.run(producer.flush())
    assert [ask.node for ask in runner.asked("Produce")] == [0, 1] and made.offset >= 0


def test_prod_34_a_batch_without_a_leader_asks_for_metadata_at_once():
    leaders = Leaders(leaders=(0,))
    producer, runner = producing(leaders, view(topic("t", -1)))
    made = producer.send("t", b"v", partition=0)
    runner.run(producer.flush())
    assert made.offset >= 0 and sum(runner.pauses) < 1_000, runner.pauses


def test_topic_ids_are_needed_for_the_versions_that_name_by_id():
    for id_, highest in ((bytes(16), 12), (b"i" * 16, 1 << 15)):
        leaders = Leaders(leaders=(0,))
        leaders.topic = topic("t", 0, id_=id_)
        producer, runner = producing(leaders)
        producer.send("t", b"v")
        runner.run(producer.flush())
        assert runner.asked("Produce")[0].versions == (3, highest)


def test_zstd_needs_the_version_that_knows_it_and_says_so():
    leaders = Leaders("unsupported", leaders=(0,))
    producer, runner = producing(leaders, compression=R.ZSTD)
    made = producer.send("t", b"v")
    runner.run(producer.flush())
    assert runner.asked("Produce")[0].versions[0] == 7
    assert isinstance(made.error, Unreachable)


def test_a_record_has_its_own_time_or_that_of_its_sending():
    producer, runner = producing(Leaders())
    sent = producer.send("t", b"a", partition=0)
    dated = producer.send("t", b"b", partition=0, timestamp=7)
    now = producer.view.now
    runner.run(producer.flush())
    assert (sent.timestamp, dated.timestamp) == (now, 7)
    (ask,) = runner.asked("Produce")
    data = ask.body["topic_data"][0]["partition_data"][0]["records"]
    assert [row["timestamp"] for row in R.read(data)] == [now, 7]


def test_a_request_takes_no_more_than_it_may_but_always_one_batch():
    leaders = Leaders(leaders=(0, 0, 0))
    producer, runner = producing(leaders, max_request_size=400, batch_size=100)
    for index in range(3):
        producer.send("t", bytes(250), partition=index)
    runner.run(producer.flush())
    topics = [ask.body["topic_data"][0] for ask in runner.asked("Produce")]
    assert [len(each["partition_data"]) for each in topics] == [1, 1, 1]
