"""The adapter of kafka-python."""

from __future__ import annotations

import logging
import time
import warnings
from functools import partial
from typing import Any

with warnings.catch_warnings():  # it reads its schemas in a way that Python 3.11 deprecates
    warnings.simplefilter("ignore", DeprecationWarning)
    import kafka
    from kafka import KafkaConsumer, KafkaProducer, TopicPartition
    from kafka.consumer.subscription_state import ConsumerRebalanceListener
    from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
    from kafka.coordinator.assignors.range import RangePartitionAssignor
    from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
    from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
    from kafka.structs import OffsetAndMetadata

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
from touchstone.harness.adapters.programs.kafka_python_admin import Admin

POLL_MS = 300
ACKS = {"all": "all", "-1": "all", "0": 0, "1": 1}


def flag(text: str) -> bool:
    return text == "true"


def codec(text: str) -> str | None:
    return None if text == "none" else text


ASSIGNORS = {
    one.name: one
    for one in (
        RangePartitionAssignor, RoundRobinPartitionAssignor, StickyPartitionAssignor,
        CooperativeStickyAssignor,
    )
}  # fmt: skip


def assignors(text: str) -> list[Any]:
    return [ASSIGNORS[name] for name in text.split(",")]


COMMON: Names = {
    "bootstrap.servers": ("bootstrap_servers", lambda text: text.split(",")),
    "client.id": "client_id", "request.timeout.ms": ("request_timeout_ms", int),
    "metadata.max.age.ms": ("metadata_max_age_ms", int),
    "security.protocol": "security_protocol", "sasl.mechanism": "sasl_mechanism",
    "username": "sasl_plain_username", "password": "sasl_plain_password",
}  # fmt: skip
PRODUCER: Names = {
    **COMMON, "acks": ("acks", ACKS.__getitem__), "linger.ms": ("linger_ms", int),
    "batch.size": ("batch_size", int), "enable.idempotence": ("enable_idempotence", flag),
    "compression.type": ("compression_type", codec), "retries": ("retries", int),
    "delivery.timeout.ms": ("delivery_timeout_ms", int),
    "max.request.size": ("max_request_size", int), "max.block.ms": ("max_block_ms", int),
    "transactional.id": "transactional_id",
    "max.in.flight.requests.per.connection": ("max_in_flight_requests_per_connection", int),
    "transaction.timeout.ms": ("transaction_timeout_ms", int),
}  # fmt: skip
CONSUMER: Names = {
    **COMMON, "auto.offset.reset": "auto_offset_reset", "isolation.level": "isolation_level",
    "fetch.max.wait.ms": ("fetch_max_wait_ms", int), "fetch.min.bytes": ("fetch_min_bytes", int),
    "fetch.max.bytes": ("fetch_max_bytes", int), "check.crcs": ("check_crcs", flag),
    "max.partition.fetch.bytes": ("max_partition_fetch_bytes", int),
    "client.rack": "client_rack", "max.poll.records": ("max_poll_records", int),
    "group.id": "group_id", "session.timeout.ms": ("session_timeout_ms", int),
    "heartbeat.interval.ms": ("heartbeat_interval_ms", int),
    "max.poll.interval.ms": ("max_poll_interval_ms", int),
    "partition.assignment.strategy": ("partition_assignment_strategy", assignors),
    "group.instance.id": "group_instance_id", "enable.auto.commit": ("enable_auto_commit", flag),
    "auto.commit.interval.ms": ("auto_commit_interval_ms", int),
}  # fmt: skip


def code_of(problem: BaseException) -> int | None:
    """Kafka's number; a class of the client's own has one below 0, a timeout Kafka's too."""
    code = getattr(problem, "errno", None)
    if type(problem).__name__ in ("KafkaTimeoutError", "TimeoutError"):
        return 7
    return code if isinstance(code, int) and code > 0 else None


def options(config: Config, names: Names) -> dict[str, Any]:
    try:
        return translated(config, names)
    except KeyError as unknown:
        raise Lacking(f"the setting value {unknown}") from None


def made(kind: Any, given: dict[str, Any]) -> Any:
    """A client. Raises Lacking for a setting that this version of it does not know."""
    unknown = [name for name in given if name not in kind.DEFAULT_CONFIG]
    if unknown:
        raise Lacking(f"the setting {unknown[0]}")
    try:
        return kind(**given)
    except (AssertionError, RuntimeError) as missing:  # a codec whose library is not installed
        if "Libraries for" not in str(missing):
            raise
        raise Lacking(str(missing)) from None


class Producer:
    def __init__(self, config: Config, say: Say) -> None:
        self.say = say
        given = options(config, PRODUCER)
        if given.get("acks") in (0, 1):
            given.setdefault("enable_idempotence", False)
        if "delivery_timeout_ms" in given:
            given.setdefault("request_timeout_ms", given["delivery_timeout_ms"] // 2)
        self.core = made(KafkaProducer, given)

    def send(self, topic: str, records: list[dict[str, Any]]) -> None:
        for row in records:
            about = {"topic": topic, "key": row.get("key"), "value": row.get("value")}
            headers = [(name, encoded(value)) for name, value in row.get("headers") or ()]
            try:
                sent = self.core.send(
                    topic, encoded(row.get("value")), encoded(row.get("key")), headers,
                    row.get("partition"), row.get("timestamp"),
                )  # fmt: skip
            except Exception as problem:
                self._failed(about, problem)
                continue
            sent.add_callback(partial(self._sent, about))
            sent.add_errback(partial(self._failed, about))

    def _sent(self, about: dict[str, Any], found: Any) -> None:
        self.say("producer_send_success", **about, partition=found.partition, offset=found.offset)

    def _failed(self, about: dict[str, Any], problem: BaseException) -> None:
        self.say("producer_send_error", **about, **described(problem, code_of(problem)))

    def tick(self) -> None:
        time.sleep(0.01)

    def flush(self) -> None:
        self.core.flush()
        self.say("flush_complete")

    def transaction(self, operation: str) -> None:
        calls = {
            "init": "init_transactions", "begin": "begin_transaction",
            "commit": "commit_transaction", "abort": "abort_transaction",
        }  # fmt: skip
        getattr(self.core, calls[operation])()
        self.say("transaction_complete", operation=operation)

    def send_offsets(self, group: str, offsets: list[dict[str, Any]]) -> None:
        rows = {
            TopicPartition(row["topic"], row["partition"]): OffsetAndMetadata(row["offset"], "", -1)
            for row in offsets
        }
        self.core.send_offsets_to_transaction(rows, group)
        self.say("transaction_complete", operation="send_offsets")

    def close(self) -> None:
        self.core.close(timeout=20)


class Consumer(ConsumerRebalanceListener):  # type: ignore[misc]  # it has no types
    def __init__(self, config: Config, say: Say) -> None:
        self.say = say
        given = options(config, CONSUMER)
        if given.get("auto_offset_reset") == "none":
            given["auto_offset_reset"] = "raise"  # any word but the two is an error at the reset
        if "group_id" in given:
            given.setdefault("session_timeout_ms", 6000)
        if "request_timeout_ms" in given and "group_id" in given:
            session = given.get("session_timeout_ms", 10000)
            given["request_timeout_ms"] = max(given["request_timeout_ms"], session + 1000)
        self.core = made(KafkaConsumer, given)
        self.asked, self.polls = False, True

    def subscribe(self, topics: list[str]) -> None:
        self.core.subscribe(topics, listener=self)
        self.asked = True
        self.say("command_done", command="subscribe")

    def unsubscribe(self) -> None:
        self.core.unsubscribe()
        self.asked = False
        self.say("command_done", command="unsubscribe")

    def on_partitions_assigned(self, assigned: Any) -> None:
        self._moved("partitions_assigned", assigned)

    def on_partitions_revoked(self, revoked: Any) -> None:
        self._moved("partitions_revoked", revoked)

    def on_partitions_lost(self, lost: Any) -> None:
        self._moved("partitions_lost", lost)

    def _moved(self, name: str, places: Any) -> None:
        rows = sorted((one.topic, one.partition) for one in places)
        if not rows:  # it joins before it knows its topics, is assigned nothing, and joins again
            return
        self.say(name, partitions=[{"topic": t, "partition": p} for t, p in rows])

    def assign(self, partitions: list[dict[str, Any]]) -> None:
        self.core.assign([TopicPartition(row["topic"], row["partition"]) for row in partitions])
        self.asked = True
        self.say("command_done", command="assign")

    def seek(self, topic: str, partition: int, offset: int) -> None:
        self.core.seek(TopicPartition(topic, partition), offset)
        self.say("command_done", command="seek")

    def pause(self, partitions: list[dict[str, Any]]) -> None:
        self.core.pause(*(TopicPartition(row["topic"], row["partition"]) for row in partitions))
        self.say("command_done", command="pause")

    def resume(self, partitions: list[dict[str, Any]]) -> None:
        self.core.resume(*(TopicPartition(row["topic"], row["partition"]) for row in partitions))
        self.say("command_done", command="resume")

    def poll(self, on: bool) -> None:
        self.polls = on
        self.say("command_done", command="poll")

    def commit(self, offsets: list[dict[str, Any]] | None = None) -> None:
        if offsets is None:
            told = {one: self.core.position(one) for one in self.core.assignment()}
        else:
            told = {
                TopicPartition(row["topic"], row["partition"]): row["offset"] for row in offsets
            }
        rows = [
            {"topic": place.topic, "partition": place.partition, "offset": offset}
            for place, offset in told.items()
        ]
        wanted = {place: OffsetAndMetadata(offset, "", -1) for place, offset in told.items()}
        try:
            self.core.commit(wanted)
        except Exception as problem:
            error = described(problem, code_of(problem))
            self.say("offsets_committed", offsets=rows, success=False, **error)
        else:
            self.say("offsets_committed", offsets=rows, success=True)

    def tick(self) -> None:
        if not self.asked or not self.polls:
            time.sleep(0.01)
            return
        try:
            found = self.core.poll(POLL_MS)
        except Exception as problem:
            if "Libraries for" in str(problem):
                raise Lacking(str(problem)) from None
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
        self.core.close()


def admin(config: Config, say: Say) -> Admin:
    return Admin(options(config, COMMON), say, code_of)


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    kinds: dict[str, Make] = {"producer": Producer, "consumer": Consumer, "admin": admin}
    play("kafka-python", str(kafka.__version__), kinds, code_of)
