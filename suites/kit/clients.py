"""Steps of claims about a client: what it is told, and what is waited for (docs/adapter.md).

Settings have Kafka's names. A client is called "p", "c", ...: its adapter's name for it is its
client.id too, so that its requests can be told apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from touchstone.harness.model.client_steps import OPEN, Change, Hear, Mend, Spoil, Tell, Watch
from touchstone.harness.model.placeholders import Name
from touchstone.harness.model.scenario import Ask
from touchstone.harness.model.steps import create_topic, produce, topic_ready
from touchstone.suites.kit.records import batch

P, C, A = "p", "c", "a"
# Broker settings of claims with groups or transactions: nobody waits for members that do not come.
QUICK = {
    "group.initial.rebalance.delay.ms": 0,
    "offsets.topic.num.partitions": 1,
    "offsets.topic.replication.factor": 1,
    "transaction.state.log.num.partitions": 1,
    "transaction.state.log.replication.factor": 1,
    "transaction.state.log.min.isr": 1,
}
RETRYING = {"retry.backoff.ms": "20"}

__all__ = [
    "A", "C", "P", "QUICK", "Change", "Hear", "Mend", "Spoil", "Tell", "Watch", "a_topic", "admin",
    "assign", "begin", "close", "commit", "consumer", "end", "fault", "flush", "init", "place",
    "producer", "reads", "record", "seek", "send", "sent", "spoil", "stored", "subscribe", "texts",
]  # fmt: skip


def a_topic(topic: Any, partitions: int = 1, **how: Any) -> list[Any]:
    """A topic that every broker serves."""
    brokers = how.pop("brokers", 1)
    return [
        create_topic(topic, partitions, **how),
        *topic_ready(topic, partitions, brokers=brokers),
    ]


def opened(kind: str, client: str, config: Mapping[str, Any]) -> list[Any]:
    settings = {k: v if isinstance(v, Name) else str(v) for k, v in config.items()}
    return [
        Tell(OPEN, client, {"kind": kind, "config": settings}, name=f"open {client}"),
        Hear("startup_complete", client, name=f"{client} is open"),
    ]


def stored(topic: Any, *values: str, partition: int = 0, name: str | None = None) -> Ask:
    """One batch of these texts, written past the client."""
    label = name or f"store {values[0][:20]} {partition}"
    return produce(topic, partition, batch(*(one.encode() for one in values)), name=label)


def producer(client: str = P, config: Mapping[str, Any] | None = None) -> list[Any]:
    return opened("producer", client, config or {})


def consumer(client: str = C, config: Mapping[str, Any] | None = None) -> list[Any]:
    """One that begins at the start of a partition, and does not wait long for records."""
    own = {"auto.offset.reset": "earliest", "fetch.max.wait.ms": 100}
    given = own | dict(config or {})
    return opened("consumer", client, {k: v for k, v in given.items() if v is not None})


def admin(client: str = A, config: Mapping[str, Any] | None = None) -> list[Any]:
    return opened("admin", client, config or {})


def place(topic: Any, partition: int = 0) -> dict[str, Any]:
    """A partition as commands and events name it."""
    return {"topic": topic, "partition": partition}


def record(value: Any, key: Any = None, partition: int | None = None, **more: Any) -> dict:
    return {"value": value, "key": key, "partition": partition} | more


def texts(number: int, word: str = "v") -> list[str]:
    return [f"{word}{at}" for at in range(number)]


def send(topic: Any, records: Sequence[Any], client: str = P, name: str | None = None) -> Tell:
    """Records as texts, or as `record(...)`."""
    rows = [one if isinstance(one, dict) else record(one) for one in records]
    return Tell("send", client, {"topic": topic, "records": rows}, name=name)


def flush(client: str = P, number: int = 1) -> list[Any]:
    """The `number`-th flush of the case, and its end."""
    return [
        Tell("flush", client, name=f"flush {client} {number}"),
        Hear("flush_complete", client, number, name=f"{client} has flushed {number}"),
    ]


def sent(topic: Any, records: Sequence[Any], client: str = P, number: int = 1) -> list[Any]:
    """Send and flush."""
    return [send(topic, records, client, f"send {client} {number}"), *flush(client, number)]


def init(client: str = P) -> list[Any]:
    return _transaction("init", client, 1)


def begin(client: str = P, number: int = 1) -> list[Any]:
    return _transaction("begin", client, number)


def end(how: str = "commit", client: str = P, number: int = 1) -> list[Any]:
    return _transaction(how, client, number)


def _transaction(operation: str, client: str, number: int) -> list[Any]:
    said = {"operation": operation}
    return [
        Tell("transaction", client, said, name=f"{client}: {operation} {number}"),
        Hear("transaction_complete", client, number, where=said,
             name=f"{client} is done with {operation} {number}"),
    ]  # fmt: skip


def assign(topic: Any, *partitions: int, client: str = C) -> list[Any]:
    rows = [{"topic": topic, "partition": one} for one in partitions or (0,)]
    return [
        Tell("assign", client, {"partitions": rows}),
        Hear("command_done", client, where={"command": "assign"}),
    ]


def subscribe(*topics: Any, client: str = C, joins: bool = True) -> list[Any]:
    """With `joins` its first partitions are waited for; who joins before it knows its topics is
    assigned nothing at first.
    """
    steps: list[Any] = [Tell("subscribe", client, {"topics": list(topics)})]
    assigned = Hear("partitions_assigned", client, field="partitions")
    return steps + ([assigned] if joins else [])


def reads(number: int, client: str = C, name: str | None = None) -> Hear:
    """Wait until so many records were consumed."""
    return Hear("records_consumed", client, number, field="count", name=name)


def seek(topic: Any, offset: int, partition: int = 0, client: str = C) -> list[Any]:
    where = {"topic": topic, "partition": partition, "offset": offset}
    return [
        Tell("seek", client, where),
        Hear("command_done", client, where={"command": "seek"}),
    ]


def commit(client: str = C, offsets: Any = None, number: int = 1) -> list[Any]:
    return [
        Tell("commit", client, {"offsets": offsets}, name=f"{client} commits {number}"),
        Hear("offsets_committed", client, number, name=f"{client} has committed {number}"),
    ]


def close(client: str) -> list[Any]:
    return [
        Tell("close", client, name=f"close {client}"),
        Hear("shutdown_complete", client, name=f"{client} is closed"),
    ]


def spoil(action: str, api: str, times: int | None = 1, **how: Any) -> Spoil:
    """A rule of the fault plan about what clients ask."""
    name = how.pop("name", None)
    return Spoil({"action": action, "api": api, "times": times} | how, name=name)


def fault(api: str, error: str, times: int | None = 1, **how: Any) -> Spoil:
    """The next answers of an API are this error, and nothing is done."""
    return spoil("error", api, times, error=error, **how)
