"""What clauses CONS say of Java's consumer beyond the wire, of ours; each test names its own."""

import logging
import struct
import threading

import pytest

from touchstone.reference_impl.client.configs.consumer_config import (
    consumer_config,
    consumer_options,
)
from touchstone.reference_impl.client.configs.parsing import ConfigException
from touchstone.reference_impl.client.consumer import Consumer, CorruptFetch, NoPosition, Wakeup
from touchstone.reference_impl.client.deserializers import RecordDeserializationError
from touchstone.reference_impl.client.flow import ClientError, Failed
from touchstone.reference_impl.io.blocking import ConcurrentAccess, ConsumerClosed
from touchstone.reference_impl.io.client import Client
from touchstone.reference_impl.io.server import serve
from touchstone.reference_impl.wire import records as R
from touchstone.reference_impl.wire.errors import ErrorCode as E

from .coordinating import Coordinating
from .scripted import Runner, view
from .test_consumer import Leaders, consuming, part
from .test_groups import member

T0 = ("t", 0)
OWN = {
    "bootstrap.servers": "127.0.0.1:1",
    "key.deserializer": bytes,
    "value.deserializer": bytes,
}


def test_cons_01_defaults_of_1_0():
    found = consumer_options(consumer_config(OWN | {"group.id": "g"}, "1.0"))
    wanted = {
        "auto_commit_ms": 5_000,
        "session_timeout_ms": 10_000,
        "heartbeat_interval_ms": 3_000,
        "max_poll_interval_ms": 300_000,
        "max_poll_records": 500,
        "min_bytes": 1,
        "max_bytes": 52_428_800,
        "partition_max_bytes": 1_048_576,
        "max_wait_ms": 500,
        "request_timeout_ms": 305_000,
        "reset": "latest",
        "assignors": ["range"],
    }
    assert {name: found[name] for name in wanted} == wanted


@pytest.mark.parametrize("name", ["session.timeout.ms", "fetch.max.wait.ms"])
def test_cons_02_a_request_timeout_is_larger_than_what_waits(name):
    given = OWN | {"group.id": "g", "request.timeout.ms": 11_000, name: 11_000}
    with pytest.raises(ConfigException, match="request.timeout.ms should be greater than"):
        consumer_config(given, "1.0")
    consumer_config(given | {name: 10_999}, "1.0")
    consumer_config(given, "2.2")


@pytest.mark.slow
def test_cons_03_a_client_without_an_id_is_numbered_and_objects_win():
    first, second = (consumer_config(OWN, "1.0")["client.id"] for _ in range(2))
    assert first.startswith("consumer-") and second.startswith("consumer-")
    assert int(second[9:]) == int(first[9:]) + 1
    with serve(brokers=1) as cluster, Client(cluster.bootstrap) as client:
        client.admin.create_topic("t")
        producer = client.producer()
        producer.send("t", b"7")
        producer.flush()
        consumer = client.consumer(
            [T0], config={"value.deserializer": bytes, "auto.offset.reset": "earliest"},
            value_deserializer=int,
        )  # fmt: skip
        with pytest.raises(RecordDeserializationError):
            consumer.poll()  # one byte is no long


@pytest.fixture(scope="module")
def client():
    with serve(brokers=1) as cluster, Client(cluster.bootstrap) as client:
        client.admin.create_topic("t")
        yield client


def until(done) -> None:
    """Wait for what another thread does."""
    pace = threading.Event()
    while not done():
        pace.wait(0.002)


def test_cons_05_another_threads_call_is_refused_at_once_and_wakeup_is_not(client):
    consumer = client.consumer([T0], max_wait_ms=60_000)
    ends: list[type[Exception] | None] = []

    def polls() -> None:
        try:
            consumer.poll(60_000)
            ends.append(None)
        except ClientError as error:
            ends.append(type(error))

    thread = threading.Thread(target=polls)
    thread.start()
    until(lambda: consumer.core.fetcher.under_way)  # it has begun to wait
    with pytest.raises(ConcurrentAccess):
        consumer.position(T0)
    consumer.wakeup()
    thread.join()
    assert ends == [Wakeup]
    consumer.close()
    consumer.close()
    with pytest.raises(ConsumerClosed):
        consumer.poll()


def test_cons_13_a_timeout_is_not_negative():
    consumer, runner = consuming(reset="earliest")
    with pytest.raises(ClientError, match="CONS-13"):
        runner.run(consumer.poll(-1))


def test_cons_15_the_next_fetch_is_under_way_before_records_are_returned():
    consumer, runner = consuming(reset="earliest")
    consumer.wakeup()
    with pytest.raises(Wakeup):
        runner.run(consumer.poll())
    assert len(runner.run(consumer.poll())) == 5
    assert len(consumer.fetcher.under_way) == 1
    (positions,) = consumer.fetcher.under_way.values()
    assert positions[T0].offset == 10
    consumer.wakeup()
    assert consumer.positions[T0] == 10
    with pytest.raises(Wakeup):
        runner.run(consumer.poll())


class Seen:
    """An interceptor that keeps what it sees."""

    def __init__(self, *, fails=False, keeps=None):
        self.fails, self.keeps = fails, keeps
        self.records, self.commits, self.closed = [], [], 0

    def on_consume(self, records):
        self.records.append([row.offset for row in records])
        if self.fails:
            raise RuntimeError("on purpose")
        return records[: self.keeps]

    def on_commit(self, offsets):
        self.commits.append(dict(offsets))
        if self.fails:
            raise RuntimeError("on purpose")

    def close(self):
        self.closed += 1


def test_cons_16_interceptors_see_records_before_the_caller(caplog):
    caplog.set_level(logging.CRITICAL)
    seen = [Seen(keeps=3), Seen(fails=True), Seen(keeps=2)]
    consumer, runner = consuming(reset="earliest", interceptors=seen)
    assert [row.offset for row in runner.run(consumer.poll())] == [5, 6]
    assert [each.records for each in seen] == [[[5, 6, 7, 8, 9]], [[5, 6, 7]], [[5, 6, 7]]]
    assert consumer.positions[T0] == 10, "what an interceptor withholds is read all the same"
    runner.script = lambda ask: {"responses": [{"topic": "t", "partitions": [part(b"")]}]}
    runner.run(consumer.poll(0))
    assert len(seen[0].records) == 1, "nobody is asked about nothing"
    runner.run(consumer.close())
    assert [each.closed for each in seen] == [1, 1, 1]


def test_cons_16_interceptors_see_commits(caplog):
    caplog.set_level(logging.CRITICAL)
    seen = [Seen(fails=True), Seen()]
    consumer, runner = member(
        Coordinating(OffsetCommit=[0, E.ILLEGAL_GENERATION]), interceptors=seen
    )
    runner.run(consumer.poll())
    runner.run(consumer.commit({T0: 7}))
    with pytest.raises(ClientError):
        runner.run(consumer.commit({T0: 8}))
    committed = [{place: each.offset for place, each in row.items()} for row in seen[1].commits]
    assert committed == [{T0: 7}] and len(seen[0].commits) == 1


def test_cons_19_what_was_sought_comes_before_what_is_committed():
    script = Coordinating()
    script.offsets = {("t", 0): 42, ("t", 1): 42}
    consumer, runner = member(script)
    runner.run(consumer.poll())
    assert set(consumer.positions.values()) == {42}
    consumer.seek_to_beginning([T0])
    runner.run(consumer.poll())
    assert consumer.positions == {("t", 0): 0, ("t", 1): 42}
    stamps = [
        ask.body["topics"][0]["partitions"][0]["timestamp"] for ask in runner.asked("ListOffsets")
    ]
    assert stamps == [-2]
    consumer.seek_to_end()
    runner.run(consumer.poll())
    assert len(runner.asked("OffsetFetch")) == 1
    assert runner.asked("ListOffsets")[-1].body["topics"][0]["partitions"][0]["timestamp"] == -1


def test_cons_21_by_duration_asks_for_an_instant_until_a_record_is_as_new():
    """KIP-1106, as Java's consumer of 4.3.1 does (`test_positions_of_the_jars.py`)."""
    consumer, runner = consuming(reset="by_duration:P1DT1.5S")
    stamps, offsets = [], iter([-1, -1, 5])

    def script(ask):
        said = Leaders()(ask)
        if ask.api == "ListOffsets":
            stamps.append(runner.view.now - ask.body["topics"][0]["partitions"][0]["timestamp"])
            said["topics"][0]["partitions"][0]["offset"] = next(offsets)
        return said

    runner.script = script
    assert runner.run(consumer.poll()) == []
    with pytest.raises(NoPosition):
        runner.run(consumer.position(T0))
    assert len(runner.run(consumer.poll())) == 5
    assert [back // 1000 for back in stamps] == [86_401] * 3


@pytest.mark.parametrize("text", ["by_duration:", "by_duration:1H", "by_duration:-PT1H", "first"])
def test_cons_04_no_such_reset(text):
    with pytest.raises(ClientError, match="CONS-04"):
        Consumer(view(), reset=text)


def test_cons_26_what_is_good_comes_before_the_damage():
    good, bad = (
        R.build(2, [b"5", b"6"], base_offset=5),
        bytearray(R.build(2, [b"7"], base_offset=7)),
    )
    bad[-1] ^= 1
    consumer, runner = consuming(reset="earliest")

    def script(ask):
        if ask.api != "Fetch":
            return Leaders()(ask)
        at = ask.body["topics"][0]["partitions"][0]["fetch_offset"]
        data = (good if at < 7 else b"") + bytes(bad)
        return {"responses": [{"topic": "t", "partitions": [part(data)]}]}

    runner.script = script
    assert [row.offset for row in runner.run(consumer.poll())] == [5, 6]
    for _ in range(2):
        with pytest.raises(CorruptFetch):
            runner.run(consumer.poll())
    assert consumer.positions[T0] == 7
    consumer.seek(T0, 5)
    assert [row.offset for row in runner.run(consumer.poll())] == [5, 6]


def test_cons_30_a_broker_has_one_fetch_under_way():
    consumer, runner = consuming(places=[T0, ("t", 1)], reset="earliest", max_poll_records=1)
    for _ in range(10):
        runner.run(consumer.poll(0))
        nodes = [ask.node for ask, _ in runner.under_way if ask.api == "Fetch"]
        assert len(nodes) == len(set(nodes)) and set(nodes) <= consumer.fetcher.under_way.keys()


def test_cons_36_callbacks_run_in_calls_of_the_consumer_and_once():
    script, heard = Coordinating(), []
    consumer, runner = member(script)
    runner.run(consumer.poll())
    consumer.commit_async({T0: 1}, lambda offsets, error: heard.append(offsets))
    runner.run(consumer.keep_alive())
    assert heard == [], "a heartbeat thread calls nothing of the application's"
    runner.run(consumer.poll())
    runner.run(consumer.poll())
    assert heard == [{T0: 1}]


def longs(*values: object) -> bytes:
    rows = [(None, struct.pack(">q", one) if isinstance(one, int) else one) for one in values]
    return R.build(2, rows, base_offset=5)


def test_cons_38_a_record_that_does_not_deserialize_keeps_its_position():
    data = longs(1, None, b"short", 4)
    consumer, runner = consuming(reset="earliest", value_deserializer=int)
    runner.script = lambda ask: (
        {"responses": [{"topic": "t", "partitions": [part(data)]}]}
        if ask.api == "Fetch"
        else Leaders()(ask)
    )
    assert [row.value for row in runner.run(consumer.poll())] == [1, None]
    for _ in range(2):
        with pytest.raises(RecordDeserializationError, match="value of t-0 at offset 7") as raised:
            runner.run(consumer.poll())
        assert (raised.value.offset, consumer.positions[T0]) == (7, 7)
    consumer.seek(T0, 8)
    assert [row.value for row in runner.run(consumer.poll())] == [4]


@pytest.mark.slow
def test_cons_44_a_thread_keeps_the_member_and_leaves_when_poll_is_overdue():
    config = {"group.initial.rebalance.delay.ms": "0"}
    with serve(brokers=1, config=config) as cluster, Client(cluster.bootstrap) as client:
        client.admin.create_topic("kept")
        consumer = client.consumer(
            group="g", topics=["kept"], heartbeat_interval_ms=20, max_wait_ms=20
        )
        while not consumer.positions:
            consumer.poll()
        assert consumer.core.member.generation == 1
        beaten = consumer.core.member.beat_at
        until(lambda: consumer.core.member.beat_at != beaten)  # and nobody polls
        consumer.core.max_poll_interval_ms = 1
        until(lambda: consumer.core.member.generation < 0)
        with Client(cluster.bootstrap) as other:
            assert other.admin.describe_classic_groups(["g"]).all()["g"].members == ()
        consumer.close()


def test_what_keep_alive_cannot_mend_the_next_poll_raises():
    script = Coordinating(Heartbeat=[E.FENCED_INSTANCE_ID])
    consumer, runner = member(script, instance_id="i")
    runner.run(consumer.poll())
    runner.view.now += 3_000
    runner.run(consumer.keep_alive())
    with pytest.raises(ClientError, match="FENCED_INSTANCE_ID"):
        runner.run(consumer.poll())


@pytest.mark.parametrize("timeout_ms", [0, 50])
def test_close_takes_no_longer_than_it_may(timeout_ms):
    script = Coordinating()
    consumer, runner = member(script, auto_commit_ms=5_000)
    runner.run(consumer.poll())
    silent = Runner(runner.view, lambda ask: pytest.fail(ask.api))
    silent._answer = lambda ask: spent(silent, ask)
    before = silent.view.now
    silent.run(consumer.close(timeout_ms))
    assert silent.view.now - before <= timeout_ms + 10
    assert not consumer.positions


def spent(runner, ask):
    """Nobody answers: all the time that the ask has is gone."""
    runner.view.now += ask.timeout_ms - runner.trip_ms
    return Failed(ask, "timeout", "silent")


def test_a_reset_out_of_range_does_not_go_back_to_what_is_committed():
    script = Coordinating()
    script.offsets = {("t", 0): 42, ("t", 1): 42}
    consumer, runner = member(script)
    told = iter([E.OFFSET_OUT_OF_RANGE])
    fetch = script._Fetch
    script._Fetch = lambda body, code: fetch(body, next(told, 0))
    for _ in range(2):
        runner.run(consumer.poll())
    assert set(consumer.positions.values()) == {0}
    assert len(runner.asked("OffsetFetch")) == 1
