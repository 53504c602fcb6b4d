"""The adapter of aiokafka: each client has an event loop in its thread."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import aiokafka
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRebalanceListener
from aiokafka.coordinator.assignors.range import RangePartitionAssignor
from aiokafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from aiokafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
from aiokafka.structs import OffsetAndMetadata, TopicPartition

from touchstone.harness.adapters.programs.adapter import (
    Config,
    Lacking,
    Make,
    Names,
    Say,
    consumed,
    decoded,
    described,
    encoded,
    play,
    translated,
)

POLL_MS = 50
ACKS = {"all": "all", "-1": "all", "0": 0, "1": 1}


def flag(text: str) -> bool:
    return text == "true"


ASSIGNORS = {
    one.name: one
    for one in (RangePartitionAssignor, RoundRobinPartitionAssignor, StickyPartitionAssignor)
}


def assignors(text: str) -> list[Any]:
    """Classes by their names. Raises Lacking."""
    unknown = set(text.split(",")) - ASSIGNORS.keys()
    if unknown:
        raise Lacking(f"the assignor {unknown.pop()}")
    return [ASSIGNORS[name] for name in text.split(",")]


COMMON: Names = {
    "bootstrap.servers": "bootstrap_servers", "client.id": "client_id",
    "request.timeout.ms": ("request_timeout_ms", int),
    "metadata.max.age.ms": ("metadata_max_age_ms", int),
    "security.protocol": "security_protocol", "sasl.mechanism": "sasl_mechanism",
    "username": "sasl_plain_username", "password": "sasl_plain_password",
}  # fmt: skip
PRODUCER: Names = {
    **COMMON, "acks": ("acks", ACKS.__getitem__), "linger.ms": ("linger_ms", int),
    "batch.size": ("max_batch_size", int), "enable.idempotence": ("enable_idempotence", flag),
    "compression.type": ("compression_type", lambda text: None if text == "none" else text),
    "max.request.size": ("max_request_size", int), "transactional.id": "transactional_id",
}  # fmt: skip
CONSUMER: Names = {
    **COMMON, "auto.offset.reset": "auto_offset_reset", "isolation.level": "isolation_level",
    "fetch.max.wait.ms": ("fetch_max_wait_ms", int), "fetch.min.bytes": ("fetch_min_bytes", int),
    "fetch.max.bytes": ("fetch_max_bytes", int), "check.crcs": ("check_crcs", flag),
    "max.partition.fetch.bytes": ("max_partition_fetch_bytes", int),
    "max.poll.records": ("max_poll_records", int), "group.id": "group_id",
    "session.timeout.ms": ("session_timeout_ms", int),
    "heartbeat.interval.ms": ("heartbeat_interval_ms", int),
    "max.poll.interval.ms": ("max_poll_interval_ms", int),
    "group.instance.id": "group_instance_id", "enable.auto.commit": ("enable_auto_commit", flag),
    "auto.commit.interval.ms": ("auto_commit_interval_ms", int),
    "partition.assignment.strategy": ("partition_assignment_strategy", assignors),
}  # fmt: skip


def code_of(problem: BaseException) -> int | None:
    """Kafka's number; a timeout of the client's own has Kafka's too."""
    code = getattr(problem, "errno", None)
    if type(problem).__name__ in ("KafkaTimeoutError", "TimeoutError"):
        return 7
    return code if isinstance(code, int) and code > 0 else None


class Looped:
    """A client whose coroutines are run by its own loop."""

    def __init__(self, say: Say) -> None:
        self.say = say
        self.loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self.loop)

    def run(self, work: Any) -> Any:
        return self.loop.run_until_complete(work)

    def inside(self, call: Callable[[], Any]) -> Any:
        """A call that wants a running loop."""

        async def work() -> Any:
            return call()

        return self.run(work())

    def tick(self) -> None:
        self.run(asyncio.sleep(0.01))


class Producer(Looped):
    def __init__(self, config: Config, say: Say) -> None:
        super().__init__(say)
        given = translated(config, PRODUCER)
        if given.get("acks") not in (0, 1):
            given.setdefault("enable_idempotence", True)
        self.waiting: set[Any] = set()

        async def start() -> Any:
            core = AIOKafkaProducer(**given)
            await core.start()
            return core

        self.core = self.run(start())

    def send(self, topic: str, records: list[dict[str, Any]]) -> None:
        self.run(self._send(topic, records))

    async def _send(self, topic: str, records: list[dict[str, Any]]) -> None:
        for row in records:
            about = {"topic": topic, "key": row.get("key"), "value": row.get("value")}
            headers = [(name, encoded(value)) for name, value in row.get("headers") or ()]
            try:
                sent = await self.core.send(
                    topic, encoded(row.get("value")), encoded(row.get("key")),
                    row.get("partition"), row.get("timestamp"), headers,
                )  # fmt: skip
            except Exception as problem:
                self._failed(about, problem)
                continue
            task = self.loop.create_task(self._told(about, sent))
            self.waiting.add(task)
            task.add_done_callback(self.waiting.discard)

    async def _told(self, about: dict[str, Any], sent: Any) -> None:
        try:
            found = await sent
        except Exception as problem:
            self._failed(about, problem)
            return
        known = found is not None and found.offset is not None
        self.say(
            "producer_send_success", **about, partition=found.partition if found else 0,
            offset=found.offset if known else -1,
        )  # fmt: skip

    def _failed(self, about: dict[str, Any], problem: BaseException) -> None:
        self.say("producer_send_error", **about, **described(problem, code_of(problem)))

    def flush(self) -> None:
        self.run(self._flush())
        self.say("flush_complete")

    async def _flush(self) -> None:
        await self.core.flush()
        if self.waiting:
            await asyncio.wait(self.waiting)

    def transaction(self, operation: str) -> None:
        if operation != "init":  # which `start` has done
            self.run(getattr(self.core, f"{operation}_transaction")())
        self.say("transaction_complete", operation=operation)

    def send_offsets(self, group: str, offsets: list[dict[str, Any]]) -> None:
        rows = {
            TopicPartition(row["topic"], row["partition"]): OffsetAndMetadata(row["offset"], "")
            for row in offsets
        }
        self.run(self.core.send_offsets_to_transaction(rows, group))
        self.say("transaction_complete", operation="send_offsets")

    def close(self) -> None:
        async def stop() -> None:
            await self.core.stop()
            if self.waiting:
                await asyncio.wait(self.waiting, timeout=5)

        self.run(stop())


class Consumer(Looped, ConsumerRebalanceListener):  # type: ignore[misc]  # it has no types
    def __init__(self, config: Config, say: Say) -> None:
        super().__init__(say)
        given = translated(config, CONSUMER)
        self.started, self.asked, self.polls = False, False, True

        async def make() -> Any:
            return AIOKafkaConsumer(**given)

        self.core = self.run(make())

    def _start(self) -> None:
        if not self.started:
            self.run(self.core.start())
            self.started = True
        self.asked = True

    def subscribe(self, topics: list[str]) -> None:
        self.inside(lambda: self.core.subscribe(topics, listener=self))
        self.say("command_done", command="subscribe")
        self._start()

    def unsubscribe(self) -> None:
        self.inside(self.core.unsubscribe)
        self.asked = False
        self.say("command_done", command="unsubscribe")

    async def on_partitions_assigned(self, assigned: Any) -> None:
        self._moved("partitions_assigned", assigned)

    async def on_partitions_revoked(self, revoked: Any) -> None:
        if revoked:
            self._moved("partitions_revoked", revoked)

    def _moved(self, name: str, places: Any) -> None:
        rows = sorted((one.topic, one.partition) for one in places)
        self.say(name, partitions=[{"topic": t, "partition": p} for t, p in rows])

    def assign(self, partitions: list[dict[str, Any]]) -> None:
        places = [TopicPartition(row["topic"], row["partition"]) for row in partitions]
        self.inside(lambda: self.core.assign(places))
        self._start()
        self.say("command_done", command="assign")

    def seek(self, topic: str, partition: int, offset: int) -> None:
        self.inside(lambda: self.core.seek(TopicPartition(topic, partition), offset))
        self.say("command_done", command="seek")

    def pause(self, partitions: list[dict[str, Any]]) -> None:
        places = [TopicPartition(row["topic"], row["partition"]) for row in partitions]
        self.inside(lambda: self.core.pause(*places))
        self.say("command_done", command="pause")

    def resume(self, partitions: list[dict[str, Any]]) -> None:
        places = [TopicPartition(row["topic"], row["partition"]) for row in partitions]
        self.inside(lambda: self.core.resume(*places))
        self.say("command_done", command="resume")

    def poll(self, on: bool) -> None:
        self.polls = on
        self.say("command_done", command="poll")

    def commit(self, offsets: list[dict[str, Any]] | None = None) -> None:
        self.run(self._commit(offsets))

    async def _commit(self, offsets: list[dict[str, Any]] | None) -> None:
        if offsets is None:
            told = {one: await self.core.position(one) for one in self.core.assignment()}
        else:
            told = {
                TopicPartition(row["topic"], row["partition"]): row["offset"] for row in offsets
            }
        rows = [
            {"topic": place.topic, "partition": place.partition, "offset": offset}
            for place, offset in told.items()
        ]
        try:
            await self.core.commit(told)
        except Exception as problem:
            error = described(problem, code_of(problem))
            self.say("offsets_committed", offsets=rows, success=False, **error)
        else:
            self.say("offsets_committed", offsets=rows, success=True)

    def tick(self) -> None:
        if not self.asked or not self.polls:
            super().tick()
            return
        try:
            found = self.run(self.core.getmany(timeout_ms=POLL_MS))
        except Exception as problem:
            self.say("consumer_error", **described(problem, code_of(problem)))
            return
        rows = [
            {"topic": one.topic, "partition": one.partition, "offset": one.offset,
             "key": decoded(one.key), "value": decoded(one.value)}
            for some in found.values() for one in some
        ]  # fmt: skip
        if rows:
            self.say("records_consumed", **consumed(rows))

    def close(self) -> None:
        self.run(self.core.stop())


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    kinds: dict[str, Make] = {"producer": Producer, "consumer": Consumer}
    play("aiokafka", str(aiokafka.__version__), kinds, code_of)
