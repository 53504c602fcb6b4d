"""Client metrics as steps: subscriptions to them, who asks what to send, and what is sent.

Kafka lists these APIs only where a plug-in receives metrics, and answers them all the same. A
claim's clients have a client id of their own, which its subscriptions match, so that other cases of
one cluster see nothing of them. Who asks without an instance id is another client each time: so a
case waits for its subscription without being throttled.

Sources: schemas GetTelemetrySubscriptions and PushTelemetry; KIP-714.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from touchstone.harness.model.expect import Holds, answer
from touchstone.harness.model.placeholders import Name
from touchstone.harness.model.scenario import Ask, Ref, Until
from touchstone.harness.model.steps import DELETE, SET, incremental_alter_configs

METRICS = 16  # the type of the resource
NOBODY, RESERVED = bytes(16), bytes(15) + b"\x01"
NONE, GZIP, SNAPPY, LZ4, ZSTD = range(5)
ACCEPTED = [ZSTD, LZ4, GZIP, SNAPPY]
BY_DEFAULT_MS, SHORTEST_MS = 300_000, 100
LONG_MS = 120_000  # no case takes that long
MAX_BYTES = 1 << 20  # telemetry.max.bytes by default
CODE, INTERVAL, NAMED = "error_code", "push_interval_ms", "requested_metrics"
ID, NUMBER = "client_instance_id", "subscription_id"


class Whole(TypedDict):
    releases: str
    capabilities: tuple[str, ...]


class Everything(Whole):
    config: Mapping[str, Any]


ANYWHERE = Whole(releases="3.9+", capabilities=("client-telemetry",))
# Not the cluster of claims that list all subscriptions; this setting is nobody's but the pace's.
WHERE = Everything(config={"offsets.topic.num.partitions": 1}, **ANYWHERE)


def subscribed(
    name: Name, metrics: str, match: Any = None, *, every_ms: int = LONG_MS, label: str = "made"
) -> Ask:
    """Set a subscription; `match` is None, or text or a placeholder."""
    configs: list[tuple[str, int, Any]] = [
        ("metrics", SET, metrics), ("interval.ms", SET, str(every_ms)),
    ]  # fmt: skip
    if match is not None:
        configs.append(("match", SET, match))
    return incremental_alter_configs(name, configs, version=1, kind=METRICS, name=label)


def unsubscribed(name: Name, *, label: str = "ended") -> Ask:
    keys = ("metrics", "interval.ms", "match")
    configs = [(key, DELETE, None) for key in keys]
    return incremental_alter_configs(name, configs, version=1, kind=METRICS, name=label)


def own(key: str = "c", *, length: int | None = None) -> Name:
    """A client id of the case's own. All end alike, so that one pattern can match several."""
    return Name(key, token="client", length=length)


def matching(pattern: str = "c", *more: str) -> Name:
    """The text of `match`: what else has to match, and a pattern of ids that `own` gives."""
    return Name(",".join((*more, f"client_id={pattern}")), token="client")


def ask(
    who: Any = NOBODY, *, client: Any = None, to: str | None = None, name: str = "asked"
) -> Ask:
    body = {"client_instance_id": who}
    how: Mapping[str, Any] = {} if client is None else {"client_id": client}
    return Ask("GetTelemetrySubscriptions", 0, body, name, connection=to, **how)


def asked_until(
    path: str, value: Any, *, client: Any = None, to: str | None = None, name: str = "asked"
) -> Until:
    """Ask as another client each time, until the answer says so."""
    return Until(ask(client=client, to=to, name=name), path, "==", value)


def push(
    number: Any = None, *, who: Any = None, asked: str = "asked", metrics: bytes = b"m",
    compression: int = NONE, ends: bool = False, client: Any = None, to: str | None = None,
    name: str = "pushed",
) -> Ask:  # fmt: skip
    """Send metrics as the client of the step `asked`, under the subscription that it was told."""
    body = {
        "client_instance_id": Ref(asked, ID) if who is None else who,
        "subscription_id": Ref(asked, NUMBER) if number is None else number,
        "terminating": ends,
        "compression_type": compression,
        "metrics": metrics,
    }
    how: Mapping[str, Any] = {} if client is None else {"client_id": client}
    return Ask("PushTelemetry", 0, body, name, connection=to, **how)


def again(asked: str = "asked", **how: Any) -> Ask:
    """Ask once more as the client of the step `asked`."""
    return ask(Ref(asked, ID), **({"name": "again"} | how))


def is_(step: str, code: int) -> Holds:
    return answer(step, CODE).is_(code)


def requested(step: str, metrics: Sequence[str]) -> Holds:
    return answer(step, NAMED).is_(list(metrics))
