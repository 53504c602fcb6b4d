"""The adapter of our own client (touchstone.reference_impl.io.client), by its public face alone."""

from __future__ import annotations

import time
from typing import Any

from touchstone.harness.adapters.programs.adapter import (
    JAAS,
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
from touchstone.harness.adapters.programs.touchstone_admin import Admin
from touchstone.reference_impl.client.buffer_memory import BufferExhausted
from touchstone.reference_impl.client.defects import plant
from touchstone.reference_impl.client.group_consumer import Listener
from touchstone.reference_impl.client.producer import Expired
from touchstone.reference_impl.io.client import Client

VERSION = "0.1"
CODECS = {"none": 0, "gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}
ACKS = {"all": -1, "-1": -1, "0": 0, "1": 1}
POLL_MS = 50
SECURITY = ("security.protocol", "sasl.mechanism", JAAS)
PLANT = "touchstone.defect"  # what harness/adapters/lying.py calls it


def flag(text: str) -> bool:
    return text == "true"


PRODUCER: Names = {
    "acks": ("acks", ACKS.__getitem__), "linger.ms": ("linger_ms", int),
    "batch.size": ("batch_size", int), "buffer.memory": ("buffer_memory", int),
    "enable.idempotence": ("idempotence", flag),
    "compression.type": ("compression", CODECS.__getitem__), "retries": ("retries", int),
    "delivery.timeout.ms": ("delivery_timeout_ms", int),
    "request.timeout.ms": ("request_timeout_ms", int),
    "max.request.size": ("max_request_size", int), "max.block.ms": ("max_block_ms", int),
    "metadata.max.age.ms": ("metadata_max_age_ms", int),
    "transaction.timeout.ms": ("transaction_timeout_ms", int),
    "max.in.flight.requests.per.connection": ("max_in_flight", int),
}  # fmt: skip
ISOLATION = {"read_uncommitted": 0, "read_committed": 1}
CONSUMER: Names = {
    "auto.offset.reset": ("reset", str), "isolation.level": ("isolation", ISOLATION.__getitem__),
    "fetch.max.wait.ms": ("max_wait_ms", int), "fetch.min.bytes": ("min_bytes", int),
    "fetch.max.bytes": ("max_bytes", int),
    "max.partition.fetch.bytes": ("partition_max_bytes", int),
    "request.timeout.ms": ("request_timeout_ms", int), "client.rack": ("rack", str),
    "check.crcs": ("check_crcs", flag), "max.poll.records": ("max_poll_records", int),
    "metadata.max.age.ms": ("metadata_max_age_ms", int),
}  # fmt: skip
MEMBER: Names = {
    **CONSUMER,
    "session.timeout.ms": ("session_timeout_ms", int),
    "heartbeat.interval.ms": ("heartbeat_interval_ms", int),
    "max.poll.interval.ms": ("max_poll_interval_ms", int),
    "group.instance.id": ("instance_id", str), "group.protocol": ("protocol", str),
    "partition.assignment.strategy": ("assignors", lambda text: text.split(",")),
}  # fmt: skip


def code_of(problem: BaseException) -> int | None:
    """Kafka's number of an error; what took too long, also for memory, is REQUEST_TIMED_OUT."""
    code = getattr(problem, "code", None)
    if code is None and isinstance(problem, Expired | BufferExhausted):
        return 7
    return code if isinstance(code, int) else None


def broken(core: Any, defect: str | None) -> Any:
    """The core, with one of our client's own defects planted if one is named."""
    if defect is not None:
        plant(core.core, defect)
    return core


def connected(config: Config) -> tuple[Client, Config]:
    """A client, and the settings that are not a connection's."""
    rest = dict(config)
    of_connections = {key: rest.pop(key) for key in SECURITY if key in rest}
    client = Client(rest.pop("bootstrap.servers"), of_connections, client_id=rest.pop("client.id"))
    return client, rest


class Producer:
    def __init__(self, config: Config, say: Say) -> None:
        self.say = say
        self.client, rest = connected(config)
        transactional_id = rest.pop("transactional.id", None)
        defect = rest.pop(PLANT, None)
        options = translated(rest, PRODUCER)
        self.transactional = transactional_id is not None
        self.pending: list[tuple[dict[str, Any], Any]] = []
        if self.transactional:  # its id is taken by the command `transaction init`
            self.core: Any = None
            self._begin: Any = lambda: broken(
                self.client.transactional_producer(transactional_id, **options), defect
            )
        else:
            self.core = broken(self.client.producer(**options), defect)

    def send(self, topic: str, records: list[dict[str, Any]]) -> None:
        for row in records:
            headers = [(name, encoded(value)) for name, value in row.get("headers") or ()]
            told = {"topic": topic, "key": row.get("key"), "value": row.get("value")}
            try:
                delivery = self.core.send(
                    topic, encoded(row.get("value")), key=encoded(row.get("key")),
                    partition=row.get("partition"), headers=headers,
                    timestamp=row.get("timestamp"),
                )  # fmt: skip
            except Exception as problem:
                self.say("producer_send_error", **told, **described(problem, code_of(problem)))
                continue
            self.pending.append((told, delivery))
        self._tell()  # before `tick` waits for answers: a send may have failed already

    def tick(self) -> None:
        if self.core is not None:
            self.core.work()  # with nothing to send too: metadata grows old
            self._tell()
        self._rest()

    def _rest(self) -> None:
        time.sleep(0.005)

    def _tell(self) -> None:
        waiting = []
        for told, delivery in self.pending:
            if not delivery.done:
                waiting.append((told, delivery))
            elif delivery.error is None:
                self.say(
                    "producer_send_success", **told, partition=delivery.partition,
                    offset=delivery.offset,
                )  # fmt: skip
            else:
                problem = delivery.error
                self.say("producer_send_error", **told, **described(problem, code_of(problem)))
        self.pending = waiting

    def flush(self) -> None:
        self.core.flush()
        self._tell()
        self.say("flush_complete")

    def transaction(self, operation: str) -> None:
        if operation == "init":
            self.core = self._begin()
        else:
            try:
                getattr(self.core, operation)()
            finally:
                self._tell()
        self.say("transaction_complete", operation=operation)

    def send_offsets(self, group: str, offsets: list[dict[str, Any]]) -> None:
        rows = {(row["topic"], row["partition"]): row["offset"] for row in offsets}
        self.core.send_offsets(rows, group)
        self.say("transaction_complete", operation="send_offsets")

    def close(self) -> None:
        if self.core is not None:
            self.core.close()
            self._tell()
        self.client.close()


class Consumer:
    def __init__(self, config: Config, say: Say) -> None:
        self.say = say
        self.client, self.rest = connected(config)
        self.group = self.rest.pop("group.id", None)
        self.defect = self.rest.pop(PLANT, None)
        automatic = flag(str(self.rest.pop("enable.auto.commit", "true")))
        interval = int(self.rest.pop("auto.commit.interval.ms", 5000))
        self.options = translated(self.rest, CONSUMER if self.group is None else MEMBER)
        if self.options.get("protocol") == "consumer":
            for name in ("session_timeout_ms", "heartbeat_interval_ms", "assignors"):
                self.options.pop(name, None)
        if self.group is not None:
            self.options["auto_commit_ms"] = interval if automatic else None
        self.core: Any = None
        self.polls = True

    def subscribe(self, topics: list[str]) -> None:
        if self.group is None:
            raise Lacking("a subscription without a group")
        if self.core is None:
            self.core = self._made(group=self.group, topics=())
        listener = Listener(
            assigned=lambda places: self._moved("partitions_assigned", places),
            revoked=lambda places: self._moved("partitions_revoked", places),
            lost=lambda places: self._moved("partitions_lost", places),
        )
        self.core.subscribe(topics, listener=listener)
        self.say("command_done", command="subscribe")

    def unsubscribe(self) -> None:
        self.core.unsubscribe()
        self.say("command_done", command="unsubscribe")

    def _made(self, *places: Any, **group: Any) -> Any:
        make: Any = self.client.consumer
        return broken(make(*places, **group, **self.options), self.defect)

    def _moved(self, name: str, places: list[tuple[str, int]]) -> None:
        self.say(name, partitions=[{"topic": t, "partition": p} for t, p in sorted(places)])

    def assign(self, partitions: list[dict[str, Any]]) -> None:
        places = [(row["topic"], row["partition"]) for row in partitions]
        if self.core is None and self.group is not None:
            self.core = self._made(group=self.group, topics=())
            self.core.assign(places)
        elif self.core is None:
            self.core = self._made(places)
        else:
            self.core.assign(places)
        self.say("command_done", command="assign")

    def seek(self, topic: str, partition: int, offset: int) -> None:
        self.core.seek((topic, partition), offset)
        self.say("command_done", command="seek")

    def pause(self, partitions: list[dict[str, Any]]) -> None:
        self.core.pause([(row["topic"], row["partition"]) for row in partitions])
        self.say("command_done", command="pause")

    def resume(self, partitions: list[dict[str, Any]]) -> None:
        self.core.resume([(row["topic"], row["partition"]) for row in partitions])
        self.say("command_done", command="resume")

    def poll(self, on: bool) -> None:
        self.polls = on
        self.say("command_done", command="poll")

    def commit(self, offsets: list[dict[str, Any]] | None = None) -> None:
        given = None
        if offsets is not None:
            given = {(row["topic"], row["partition"]): row["offset"] for row in offsets}
        told = given if given is not None else dict(self.core.positions)
        rows = [{"topic": t, "partition": p, "offset": o} for (t, p), o in sorted(told.items())]
        try:
            self.core.commit(given)
        except Exception as problem:
            error = described(problem, code_of(problem))
            self.say("offsets_committed", offsets=rows, success=False, **error)
        else:
            self.say("offsets_committed", offsets=rows, success=True)

    def tick(self) -> None:
        if self.core is None or not self.polls:
            if self.core is not None and self.group is not None:
                self.core.beat()
            time.sleep(0.01)
            return
        try:
            found = self.core.poll(POLL_MS)
        except Exception as problem:
            self.say("consumer_error", **described(problem, code_of(problem)))
            return
        if found:
            rows = [
                {"topic": one.topic, "partition": one.partition, "offset": one.offset,
                 "key": decoded(one.key), "value": decoded(one.value)}
                for one in found
            ]  # fmt: skip
            self.say("records_consumed", **consumed(rows))

    def close(self) -> None:
        if self.core is not None:
            self.core.close()
        self.client.close()


def admin(config: Config, say: Say) -> Admin:
    client, rest = connected(config)
    return Admin(client, rest, say, code_of)


if __name__ == "__main__":
    kinds: dict[str, Make] = {"producer": Producer, "consumer": Consumer, "admin": admin}
    play("touchstone", VERSION, kinds, code_of)
