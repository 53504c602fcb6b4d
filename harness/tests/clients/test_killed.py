"""librdkafka (confluent-kafka) at work while the process of all brokers is killed with SIGKILL.

What a user of an idempotent producer is promised: what was acknowledged is there, at its offset,
once. And one of a transactional loop that reads, transforms and writes: each record that went in
came out once. The next process finds logs, producers, groups and transactions on disk; nobody says
goodbye and no client is told.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import pytest
from confluent_kafka import Consumer, KafkaException, Message, Producer, TopicPartition

from touchstone.harness.tests.clients.conftest import HASTE
from touchstone.harness.tests.clients.mortal import Brokers
from touchstone.harness.tests.clients.programs import PATIENCE_S

pytestmark = [pytest.mark.slow, pytest.mark.timeout(4 * PATIENCE_S)]
PARTITIONS = 4
KILLS = 3
STEP = 1000  # records that are acknowledged between two kills
INPUT, OUTPUT = "asked", "answered"
QUIET = logging.getLogger("librdkafka")
# librdkafka 2.16 that found all brokers gone begins anew with its bootstrap servers, and after that
# we saw it wait, longer than this test does, for a group's coordinator in
# send_offsets_to_transaction: on ours, and in the one run that we made on Kafka 4.3.1 too.
STAYS = {"metadata.recovery.strategy": "none"}


@contextmanager
def running(tmp_path, brokers: int, *more: str) -> Iterator[Brokers]:
    settings = {**HASTE, "offsets.topic.replication.factor": brokers,
                "transaction.state.log.replication.factor": brokers,
                "min.insync.replicas": min(brokers, 2)}  # fmt: skip
    with ExitStack() as stack:
        yield Brokers(stack, tmp_path / "data", brokers, settings, *more)


class Sender:
    """An idempotent producer of numbers and what it was told of them."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        self.topic, self.sent = topic, 0
        self.kept: dict[tuple[int, int], bytes] = {}  # partition and offset -> value
        self.refused: list[object] = []
        settings = {"bootstrap.servers": bootstrap, "enable.idempotence": True, "acks": "all",
                    "linger.ms": 1, "batch.num.messages": 50}  # fmt: skip
        self._producer = Producer(settings, logger=QUIET)

    def send_until(self, acknowledged: int) -> None:
        """More is under way when so many are acknowledged, so that a kill meets it."""
        until = time.monotonic() + PATIENCE_S
        while len(self.kept) < acknowledged:
            assert time.monotonic() < until, f"{len(self.kept)} of {self.sent} acknowledged"
            if len(self._producer) < STEP // 4:
                self._send()
            self._producer.poll(0 if len(self._producer) < STEP // 4 else 0.01)

    def end(self) -> None:
        assert self._producer.flush(PATIENCE_S) == 0, "not all was acknowledged in the end"

    def _send(self) -> None:
        value = b"%d" % self.sent
        at = self.sent % PARTITIONS
        self._producer.produce(self.topic, value, partition=at, on_delivery=self._told)
        self.sent += 1

    def _told(self, error: object, message: Message) -> None:
        if error is not None:
            self.refused.append(error)
        else:
            self.kept[message.partition(), message.offset()] = message.value()


def read(bootstrap: str, topic: str, enough: Callable[[dict], bool]) -> dict:
    """Committed records by partition and offset, until they are enough and the logs end."""
    settings = {
        "bootstrap.servers": bootstrap, "group.id": "nobody", "enable.auto.commit": False,
        "isolation.level": "read_committed", "enable.partition.eof": True,
    }  # fmt: skip
    reader = Consumer(settings, logger=QUIET)
    reader.assign([TopicPartition(topic, number, 0) for number in range(PARTITIONS)])
    found: dict[tuple[int, int], bytes] = {}
    ended: set[int] = set()
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until and not (enough(found) and len(ended) == PARTITIONS):
        message = reader.poll(0.5)
        if message is None:
            continue
        if message.error() is None:
            found[message.partition(), message.offset()] = message.value()
            ended.discard(message.partition())
        else:
            ended.add(message.partition())
    reader.close()
    return found


def numbers(of: int, start: int = 0) -> list[bytes]:
    return [b"%d" % number for number in range(start, of, PARTITIONS)]


@pytest.mark.parametrize("brokers", [1, 3])
def test_what_was_acknowledged_is_there_once(tmp_path, brokers, more=()):
    with running(tmp_path, brokers, *more) as cluster:
        cluster.create(INPUT, PARTITIONS)
        sender = Sender(cluster.bootstrap, INPUT)
        for turn in range(KILLS):
            sender.send_until((turn + 1) * STEP)
            cluster.kill()
        sender.end()
        assert sender.refused == []
        # The next process's leaders learn of it from their followers how far all replicas are.
        found = read(cluster.bootstrap, INPUT, lambda found: len(found) >= len(sender.kept))
    assert len(sender.kept) == sender.sent
    assert found == sender.kept, "each record where its sender was told"
    for partition in range(PARTITIONS):
        values = [found[at] for at in sorted(found) if at[0] == partition]
        assert values == numbers(sender.sent, partition), "in order, none twice, none missing"


class Loop:
    """Reads committed records, answers each, and commits its place in the same transaction."""

    def __init__(self, bootstrap: str) -> None:
        self.bootstrap, self.committed, self.aborted = bootstrap, 0, 0
        self._begin()

    def run_until(self, committed: int) -> None:
        until = time.monotonic() + PATIENCE_S
        while self.committed < committed:
            assert time.monotonic() < until, f"{self.committed} committed, {self.aborted} aborted"
            messages = [m for m in self._reader.consume(100, 0.2) if m.error() is None]
            if messages:
                self._turn(messages)

    def close(self) -> None:
        self._reader.close()

    def _begin(self) -> None:
        """Whoever takes over ends first what the last one left open."""
        settings = {
            "bootstrap.servers": self.bootstrap, "group.id": "answering",
            "enable.auto.commit": False, "auto.offset.reset": "earliest",
            "isolation.level": "read_committed", "session.timeout.ms": 6000,
            "heartbeat.interval.ms": 300, **STAYS,
        }  # fmt: skip
        self._reader = Consumer(settings, logger=QUIET)
        self._reader.subscribe([INPUT])
        settings = {
            "bootstrap.servers": self.bootstrap, "transactional.id": "answering",
            **STAYS,
        }  # fmt: skip
        self._writer = Producer(settings, logger=QUIET)
        self._writer.init_transactions(PATIENCE_S)

    def _turn(self, messages: list[Message]) -> None:
        try:
            self._writer.begin_transaction()
            for each in messages:
                self._writer.produce(OUTPUT, each.value(), partition=each.partition())
            places = [p for p in self._reader.position(self._reader.assignment()) if p.offset >= 0]
            group = self._reader.consumer_group_metadata()
            self._writer.send_offsets_to_transaction(places, group, PATIENCE_S)
            self._commit()
            self.committed += len(messages)
        except KafkaException as refused:
            self.aborted += 1
            self._again(refused)

    def _commit(self) -> None:
        """What may be retried is not known to have failed, so nothing else may be done."""
        while True:
            try:
                return self._writer.commit_transaction(PATIENCE_S)
            except KafkaException as refused:
                if not refused.args[0].retriable():
                    raise

    def _again(self, refused: KafkaException) -> None:
        """Abort and begin anew at what was committed; a fatal error has nothing to abort."""
        if refused.args[0].txn_requires_abort():
            self._writer.abort_transaction(PATIENCE_S)
        self._reader.close()
        self._begin()


@pytest.mark.parametrize("brokers", [1, 3])
def test_what_went_in_came_out_once(tmp_path, brokers):
    total = (KILLS + 1) * STEP
    with running(tmp_path, brokers) as cluster:
        cluster.create(INPUT, PARTITIONS)
        cluster.create(OUTPUT, PARTITIONS)
        sender = Sender(cluster.bootstrap, INPUT)
        sender.send_until(total)
        sender.end()
        loop = Loop(cluster.bootstrap)
        for turn in range(KILLS):
            loop.run_until((turn + 1) * STEP // 2)
            cluster.kill()
        loop.run_until(sender.sent)
        loop.close()
        found = read(cluster.bootstrap, OUTPUT, lambda found: len(found) >= sender.sent)
    values = sorted(map(int, found.values()))
    assert values == list(range(sender.sent))
    assert loop.committed == sender.sent


def test_a_wrong_offset_is_noticed(tmp_path, monkeypatch):
    monkeypatch.setattr(f"{__name__}.STEP", 200)
    with pytest.raises(AssertionError, match="where its sender was told"):
        test_what_was_acknowledged_is_there_once(tmp_path, 1, ("--switch", "offset-off-by-one"))
