"""The adapter of confluent-kafka (librdkafka)."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import confluent_kafka
from confluent_kafka import Consumer as RdConsumer
from confluent_kafka import KafkaError, KafkaException, TopicPartition
from confluent_kafka import Producer as RdProducer

from touchstone.harness.adapters.programs.adapter import (
    Config,
    Lacking,
    Make,
    Say,
    consumed,
    decoded,
    described,
    encoded,
    play,
    spread,
)
from touchstone.harness.adapters.programs.confluent_admin import Admin

POLL_S = 0.05
# Kafka's names -> librdkafka's, where they differ.
NAMES = {
    "delivery.timeout.ms": "message.timeout.ms", "request.timeout.ms": "socket.timeout.ms",
    "fetch.max.wait.ms": "fetch.wait.max.ms", "max.request.size": "message.max.bytes",
    "metadata.max.age.ms": "topic.metadata.refresh.interval.ms",
    "username": "sasl.username", "password": "sasl.password",
}  # fmt: skip
LACKS = ("max.block.ms", "max.poll.records", "default.api.timeout.ms")
RESETS = {"none": "error"}
NO_DELAY = {"linger.ms": 0, "partitioner": "murmur2_random", "log_level": 0}


def settings(config: Config) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in spread(config).items():
        if key in LACKS:
            raise Lacking(f"the setting {key}")
        value = RESETS.get(value, value) if key == "auto.offset.reset" else value
        found[NAMES.get(key, key)] = value
    if "max.poll.interval.ms" in found:
        longest = int(found["max.poll.interval.ms"])
        found.setdefault("session.timeout.ms", min(6000, longest))
    return found


def code_of(problem: BaseException) -> int | None:
    """Kafka's number; one below 0 is librdkafka's own, of which a timeout has Kafka's too."""
    error = problem.args[0] if isinstance(problem, KafkaException) and problem.args else problem
    return number(error) if isinstance(error, KafkaError) else None


def number(error: KafkaError) -> int | None:
    code = error.code()
    if code in (KafkaError._MSG_TIMED_OUT, KafkaError._TIMED_OUT):
        return 7
    if code == KafkaError._FENCED:
        return 90  # PRODUCER_FENCED
    return code if code > 0 else None


def error_fields(error: KafkaError) -> dict[str, Any]:
    return {"exception": error.name(), "message": error.str(), "code": number(error)}


def _noted(error: KafkaError) -> None:
    """Records that fail of it say so themselves."""


class Producer:
    def __init__(self, config: Config, say: Say) -> None:
        self.say = say
        own = settings(config)
        if own.get("acks") in ("0", "1") and "enable.idempotence" not in own:
            own["enable.idempotence"] = "false"
        own.setdefault("enable.idempotence", "true")  # as Kafka's own, from 3.0 on
        if "request.timeout.ms" in config:  # here it is what a Produce says of its replicas
            own["request.timeout.ms"] = config["request.timeout.ms"]
        own["error_cb"] = _noted  # without one a fatal error is raised by whatever is called next
        try:
            self.core = RdProducer(NO_DELAY | own)
        except KafkaException as refused:  # of settings that it will not have together
            raise Lacking(f"these settings: {refused.args[0].str()}") from None

    def send(self, topic: str, records: list[dict[str, Any]]) -> None:
        for row in records:
            about = {"topic": topic, "key": row.get("key"), "value": row.get("value")}
            more: dict[str, Any] = {}
            if row.get("partition") is not None:
                more["partition"] = row["partition"]
            if row.get("timestamp") is not None:
                more["timestamp"] = row["timestamp"]
            if row.get("headers"):
                more["headers"] = [(name, encoded(value)) for name, value in row["headers"]]
            try:
                self.core.produce(
                    topic, encoded(row.get("value")), encoded(row.get("key")),
                    on_delivery=partial(self._delivered, about), **more,
                )  # fmt: skip
            except (KafkaException, BufferError) as problem:
                error = described(problem, code_of(problem))
                self.say("producer_send_error", **about, **error)

    def _delivered(self, about: dict[str, Any], error: KafkaError | None, message: Any) -> None:
        if error is not None:
            self.say("producer_send_error", **about, **error_fields(error))
        else:
            offset = message.offset()
            self.say(
                "producer_send_success", **about, partition=message.partition(),
                offset=-1 if offset is None or offset < 0 else offset,
            )  # fmt: skip

    def tick(self) -> None:
        self.core.poll(POLL_S)

    def flush(self) -> None:
        self.core.flush()
        self.say("flush_complete")

    def transaction(self, operation: str) -> None:
        calls = {
            "init": self.core.init_transactions, "begin": self.core.begin_transaction,
            "commit": self.core.commit_transaction, "abort": self.core.abort_transaction,
        }  # fmt: skip
        calls[operation]()
        self.say("transaction_complete", operation=operation)

    def close(self) -> None:
        self.core.flush(20)


class Consumer:
    def __init__(self, config: Config, say: Say) -> None:
        self.say = say
        own = settings(config)
        self.reset = own.get("auto.offset.reset", "latest")
        self.grouped = "group.id" in own
        own.setdefault("group.id", own["client.id"])
        if not self.grouped:
            own["enable.auto.commit"] = "false"
        try:
            self.core = RdConsumer({"log_level": 0, "enable.partition.eof": False} | own)
        except KafkaException as refused:  # of settings that it will not have together
            raise Lacking(f"these settings: {refused.args[0].str()}") from None
        self.asked, self.polls = False, True

    def subscribe(self, topics: list[str]) -> None:
        self.core.subscribe(
            topics,
            on_assign=lambda _, places: self._moved("partitions_assigned", places),
            on_revoke=lambda _, places: self._moved("partitions_revoked", places),
            on_lost=lambda _, places: self._moved("partitions_lost", places),
        )
        self.asked = True
        self.say("command_done", command="subscribe")

    def unsubscribe(self) -> None:
        self.core.unsubscribe()
        self.say("command_done", command="unsubscribe")

    def _moved(self, name: str, places: list[TopicPartition]) -> None:
        rows = sorted((one.topic, one.partition) for one in places)
        self.say(name, partitions=[{"topic": t, "partition": p} for t, p in rows])

    def assign(self, partitions: list[dict[str, Any]]) -> None:
        first = {"earliest": -2, "latest": -1}.get(self.reset, -1001)
        at = -1001 if self.grouped else first
        self.core.assign([TopicPartition(r["topic"], r["partition"], at) for r in partitions])
        self.asked = True
        self.say("command_done", command="assign")

    def seek(self, topic: str, partition: int, offset: int) -> None:
        if not self.polls:  # nothing is being fetched yet: then it is `assign` that says where
            places = {(one.topic, one.partition): one for one in self.core.assignment()}
            places[topic, partition] = TopicPartition(topic, partition, offset)
            self.core.assign(list(places.values()))
            self.say("command_done", command="seek")
            return
        until = time.monotonic() + 5
        while True:
            try:
                self.core.seek(TopicPartition(topic, partition, offset))
                break
            except KafkaException:  # until the partition is being fetched there is nothing to seek
                if time.monotonic() > until:
                    raise
                self.tick()
        self.say("command_done", command="seek")

    def pause(self, partitions: list[dict[str, Any]]) -> None:
        self.core.pause([TopicPartition(row["topic"], row["partition"]) for row in partitions])
        self.say("command_done", command="pause")

    def resume(self, partitions: list[dict[str, Any]]) -> None:
        self.core.resume([TopicPartition(row["topic"], row["partition"]) for row in partitions])
        self.say("command_done", command="resume")

    def poll(self, on: bool) -> None:
        self.polls = on
        self.say("command_done", command="poll")

    def commit(self, offsets: list[dict[str, Any]] | None = None) -> None:
        if not self.grouped:
            raise Lacking("a consumer without a group.id")
        given = [
            TopicPartition(row["topic"], row["partition"], row["offset"]) for row in offsets or ()
        ]
        try:
            if given:
                done = self.core.commit(offsets=given, asynchronous=False)
            else:
                places = self.core.position(self.core.assignment())
                known = [one for one in places if one.offset >= 0]
                done = self.core.commit(offsets=known, asynchronous=False)
        except KafkaException as problem:
            error = described(problem, code_of(problem))
            self.say("offsets_committed", offsets=offsets or [], success=False, **error)
            return
        rows = [{"topic": o.topic, "partition": o.partition, "offset": o.offset} for o in done]
        failed = next((one.error for one in done if one.error is not None), None)
        more = {} if failed is None else error_fields(failed)
        self.say("offsets_committed", offsets=rows, success=failed is None, **more)

    def tick(self) -> None:
        if not self.asked or not self.polls:
            time.sleep(0.01)
            return
        messages = self.core.consume(100, POLL_S)
        rows = []
        for message in messages:
            error = message.error()
            if error is None:
                rows.append({
                    "topic": message.topic(), "partition": message.partition(),
                    "offset": message.offset(), "key": decoded(message.key()),
                    "value": decoded(message.value()),
                })  # fmt: skip
            else:
                if rows:
                    self.say("records_consumed", **consumed(rows))
                    rows = []
                self.say("consumer_error", **error_fields(error))
        if rows:
            self.say("records_consumed", **consumed(rows))

    def close(self) -> None:
        self.core.close()


def admin(config: Config, say: Say) -> Admin:
    return Admin(settings(config), say, code_of)


if __name__ == "__main__":
    kinds: dict[str, Make] = {"producer": Producer, "consumer": Consumer, "admin": admin}
    play("confluent-kafka", str(confluent_kafka.__version__), kinds, code_of)
