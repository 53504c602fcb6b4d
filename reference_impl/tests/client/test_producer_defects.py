"""Each planted defect of a producer is seen: a check that holds without it fails with it."""

import random

import pytest

from touchstone.reference_impl.client.defects import DEFECTS, plant
from touchstone.reference_impl.client.flow import KafkaError
from touchstone.reference_impl.client.producer import Expired, Producer
from touchstone.reference_impl.client.transactions import State, TransactionalProducer
from touchstone.reference_impl.wire import records as R
from touchstone.reference_impl.wire.errors import ErrorCode as E

from .scripted import Runner, topic, view
from .test_in_flight import Log
from .test_producer import ALONE, Leaders
from .test_transactions import Coordinators


class Case:
    """A producer, with or without a defect."""

    def __init__(self, defect: str | None):
        self.defect = defect

    def make(self, script, seen=None, **options) -> tuple[Producer, Runner]:
        seen = seen or view(topic("t", 0))
        producer = Producer(seen, randrange=random.Random(3).randrange, **options)
        if self.defect:
            plant(producer, self.defect)
        return producer, Runner(seen, script, most=300)

    def begun(self, script) -> tuple[TransactionalProducer, Runner]:
        seen = view(topic("t", 0, 1))
        producer = TransactionalProducer(seen, "id", randrange=random.Random(3).randrange)
        if self.defect:
            plant(producer, self.defect)
        runner = Runner(seen, script)
        runner.run(producer.init())
        producer.begin()
        return producer, runner


def sent(case: Case, log: Log, count: int = 20, **options):
    producer, runner = case.make(log, batch_size=1, **options)
    told: list[tuple[int, bool]] = []
    made = [
        producer.send(
            "t", ALONE % i, callback=lambda d, error: told.append((int(d.value), not error))
        )
        for i in range(count)
    ]
    runner.run(producer.flush())
    return made, told, runner, producer


def first_fails(code):
    return lambda number: code if number == 1 else 0


def order_with_one_in_flight(case):
    log = Log(first_fails(E.NOT_ENOUGH_REPLICAS))
    sent(case, log, max_in_flight=1, idempotence=False)
    assert log.records == list(range(20))


def no_record_twice(case):
    log = Log(first_fails("lost"))
    sent(case, log)
    assert log.records == list(range(20))


def every_record_is_stored(case):
    log = Log()
    sent(case, log)
    assert log.records == list(range(20))


def five_in_flight(case):
    *_, runner, _ = sent(case, Log(), 40)
    assert runner.most_under_way <= 5


def a_failure_is_told(case):
    made, told, *_ = sent(case, Log(first_fails(E.INVALID_RECORD)), 1)
    assert isinstance(made[0].error, KafkaError)
    assert told == [(0, False)]


def callbacks_in_order_with_offsets(case):
    leaders = Leaders(leaders=(0,))
    producer, runner = case.make(leaders)
    told = []
    for i in range(5):
        producer.send(
            "t", b"%d" % i, callback=lambda made, error: told.append((made.value, made.offset))
        )
    runner.run(producer.flush())
    assert [value for value, _ in told] == [b"%d" % i for i in range(5)]
    assert [offset for _, offset in told] == list(range(told[0][1], told[0][1] + 5))


def flush_waits_for_all(case):
    made, *_ = sent(case, Log(), 30)
    assert all(each.done for each in made)


def delivery_ends(case):
    log = Log(lambda number: E.NOT_ENOUGH_REPLICAS)
    made, *_ = sent(case, log, 1, delivery_timeout_ms=3_000)
    assert isinstance(made[0].error, Expired)


def passing_trouble_is_borne(case):
    made, *_ = sent(case, Log(first_fails(E.NOT_ENOUGH_REPLICAS)), 1)
    assert made[0].error is None


def what_is_final_is_not_tried_again(case):
    log = Log(lambda number: E.TOPIC_AUTHORIZATION_FAILED)
    sent(case, log, 1, delivery_timeout_ms=3_000)
    assert log.tries == 1


def a_broker_is_left_alone_between_tries(case):
    log = Log(lambda number: E.NOT_ENOUGH_REPLICAS if number < 4 else 0)
    *_, runner, _ = sent(case, log, 1)
    assert runner.pauses and runner.pauses[0] >= 80


def a_moved_leader_is_found(case):
    leaders = Leaders(E.NOT_LEADER_OR_FOLLOWER, leaders=(0,))
    producer, runner = case.make(leaders)
    leaders.topic = topic("t", 1, epoch=1)
    producer.send("t", b"v")
    runner.run(producer.flush())
    assert [ask.node for ask in runner.asked("Produce")] == [0, 1]


def records_linger_together(case):
    leaders = Leaders(leaders=(0,))
    producer, runner = case.make(leaders, linger_ms=50)
    for i in range(4):
        producer.send("t", b"%d" % i)
        runner.run(producer.work())
        runner.view.now += 5
    runner.run(producer.flush())
    assert len(leaders.taken) == 1


def keys_go_where_java_sends_them(case):
    producer, _ = case.make(Leaders(), view(topic("t", *[0] * 10)))
    keys = {b"test": 9, b"foobar": 6, b"": 1, "消费".encode(): 8}
    assert {key: producer.send("t", b"v", key=key).partition for key in keys} == keys


def keyless_records_use_all_partitions(case):
    producer, _ = case.make(Leaders(), view(topic("t", *[0] * 4)), batch_size=100)
    used = {producer.send("t", bytes(90)).partition for _ in range(60)}
    assert used == {0, 1, 2, 3}


def what_is_sent_is_what_was_given(case):
    producer, runner = case.make(Leaders(leaders=(0,)), compression=R.GZIP)
    producer.send("t", None, key=b"k", headers=[("h", b"1")], timestamp=1_700_000_000_123)
    runner.run(producer.flush())
    (ask,) = runner.asked("Produce")
    data = ask.body["topic_data"][0]["partition_data"][0]["records"]
    (row,) = R.read(data)
    assert (row["value"], row["timestamp"]) == (None, 1_700_000_000_123)
    assert [(name, value) for name, value in row["headers"]] == [(b"h", b"1")]
    assert R.read_header(data).compression == R.GZIP
    assert ask.body["acks"] == -1


def too_large_is_split(case):
    leaders = Leaders(E.MESSAGE_TOO_LARGE, leaders=(0,))
    producer, runner = case.make(leaders)
    made = [producer.send("t", b"%d" % i * 100) for i in range(4)]
    runner.run(producer.flush())
    assert all(each.error is None for each in made)


def partitions_are_added(case):
    script = Coordinators()
    producer, runner = case.begun(script)
    producer.send("t", b"v", partition=0)
    runner.run(producer.commit())
    assert runner.asked("AddPartitionsToTxn")


def a_failed_record_fails_its_transaction(case):
    producer, runner = case.begun(Coordinators(Produce=[E.INVALID_RECORD]))
    producer.send("t", b"v", partition=0)
    with pytest.raises(KafkaError):
        runner.run(producer.commit())
    assert not runner.asked("EndTxn")


def a_fenced_producer_is_over(case):
    producer, runner = case.begun(Coordinators(EndTxn=[E.PRODUCER_FENCED]))
    producer.send("t", b"v", partition=0)
    with pytest.raises(KafkaError):
        runner.run(producer.commit())
    assert producer.state is State.OVER


SEEN_BY = {
    "reorders-on-retry": order_with_one_in_flight,
    "duplicates-on-retry": no_record_twice,
    "reuses-sequences": every_record_is_stored,
    "too-many-in-flight": five_in_flight,
    "swallows-errors": a_failure_is_told,
    "callbacks-out-of-order": callbacks_in_order_with_offsets,
    "forgets-callbacks-of-failures": a_failure_is_told,
    "offsets-of-the-batch": callbacks_in_order_with_offsets,
    "flush-returns-early": flush_waits_for_all,
    "ignores-delivery-timeout": delivery_ends,
    "never-retries": passing_trouble_is_borne,
    "retries-what-is-final": what_is_final_is_not_tried_again,
    "no-backoff": a_broker_is_left_alone_between_tries,
    "stale-leader-never-refreshed": a_moved_leader_is_found,
    "ignores-linger": records_linger_together,
    "wrong-murmur2-sign": keys_go_where_java_sends_them,
    "keyless-to-one-partition": keyless_records_use_all_partitions,
    "drops-headers": what_is_sent_is_what_was_given,
    "empty-for-null": what_is_sent_is_what_was_given,
    "timestamps-in-seconds": what_is_sent_is_what_was_given,
    "never-compresses": what_is_sent_is_what_was_given,
    "never-splits": too_large_is_split,
    "fewer-acks": what_is_sent_is_what_was_given,
    "partitions-not-added": partitions_are_added,
    "commits-after-a-failure": a_failed_record_fails_its_transaction,
    "fenced-goes-on": a_fenced_producer_is_over,
}


@pytest.mark.parametrize("check", sorted(set(SEEN_BY.values()), key=lambda each: each.__name__))
def test_without_a_defect_every_check_holds(check):
    check(Case(None))


@pytest.mark.parametrize("name", SEEN_BY)
def test_each_defect_is_seen(name):
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        SEEN_BY[name](Case(name))


def test_every_defect_of_a_producer_has_a_check_and_a_sentence():
    own = {name for name, each in DEFECTS.items() if "producer" in each.plant.__module__}
    assert own == set(SEEN_BY)
    assert all(each.sentence.endswith(".") for each in DEFECTS.values())
