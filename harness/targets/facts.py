"""What a running cluster tells of itself: brokers and racks, settings in force, internal topics.

Asked once, before the first case, with requests that every release serves; whatever a target does
not answer is unknown and stays out. Nothing here judges: a target that answers none of it is
judged all the same.
"""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from math import gcd
from types import MappingProxyType
from typing import Any

from touchstone.harness.driver.brokers import Question, pauses
from touchstone.harness.model import owner
from touchstone.harness.model.target import Address, Setting, Versions
from touchstone.harness.model.translation import partition_of
from touchstone.harness.targets import probe
from touchstone.reference_impl.wire.apis import by_name

ADVERTISED = ("advertised.listeners", "listeners")  # the first that is set counts
_LISTENER = re.compile(r"([^,]+)://\[?([^,\]]*)\]?:(\d+)")
BROKER = 4  # of a config resource's kinds
# internal topic -> the type of a key that FindCoordinator makes it for
INTERNAL = {"__consumer_offsets": 0, "__transaction_state": 1}
# What a cluster makes them with (GroupMetadataManager and TransactionLog at 1.0.2 to 4.3.1).
_COMPACTED = {"cleanup.policy": "compact", "segment.bytes": "104857600"}
CONFIGS: Mapping[str, Mapping[str, str]] = {
    "__consumer_offsets": {**_COMPACTED, "compression.type": "producer"},
    "__transaction_state": {
        **_COMPACTED, "compression.type": "uncompressed",
        "unclean.leader.election.enable": "false", "min.insync.replicas": "2",
    },
}  # fmt: skip
COUNTS = {  # which setting says how many partitions they get
    "__consumer_offsets": "offsets.topic.num.partitions",
    "__transaction_state": "transaction.state.log.num.partitions",
}
COUNT = 50  # of partitions of both, at every release, where nobody tells that setting
HIDDEN = 29  # TOPIC_AUTHORIZATION_FAILED
NOWHERE = -1  # the partition that a broker leads which leads none
NOT_AVAILABLE = 15  # COORDINATOR_NOT_AVAILABLE
NO_SETTINGS: Mapping[str, Setting] = MappingProxyType({})
WAIT_S = 20.0  # for internal topics that are made when they are first asked for


def settings(address: Address, node: int, offered: Versions, seconds: float) -> dict[str, Setting]:
    """The settings in force of one broker by DescribeConfigs; empty where it does not tell."""
    resource = {"resource_type": BROKER, "resource_name": str(node), "configuration_keys": None}
    body = {"resources": [resource], "include_synonyms": True, "include_documentation": False}
    answer = asked(address, "DescribeConfigs", 1, body, offered, seconds)
    rows = (answer or {}).get("results") or ()
    return {config["name"]: _setting(config) for row in rows for config in row["configs"] or ()}


def _setting(config: Mapping[str, Any]) -> Setting:
    """One row of the answer; version 0 only tells whether a setting was written anywhere. Settings
    are kept in bundles, so no value of a secret is taken, whatever a target tells.
    """
    if config.get("is_sensitive"):
        synonyms = [row | {"value": None} for row in config.get("synonyms") or ()]
        config = {**config, "value": None, "synonyms": synonyms}
    own = [row for row in config.get("synonyms") or () if row["name"] == config["name"]]
    written = tuple((row["source"], row["value"]) for row in own if row["source"] in owner.OWNERS)
    if "is_default" in config and not config["is_default"]:
        written = ((owner.FILE, config["value"]),)
    default = next((row["value"] for row in own if row["source"] == owner.DEFAULT), None)
    return Setting(config["value"], not config["read_only"], written, default)


def finalized(address: Address, offered: Versions, seconds: float) -> dict[str, int]:
    """The level of each feature that the cluster has finalized; empty where it does not tell."""
    body = {"client_software_name": "touchstone", "client_software_version": "1"}
    answer = asked(address, "ApiVersions", 4, body, offered, seconds) or {}
    rows = answer.get("finalized_features") or ()
    return {row["name"]: row["max_version_level"] for row in rows}


def listeners(settings: Mapping[str, Setting], host: str) -> dict[str, tuple[Address, ...]]:
    """The listeners of the broker whose settings these are, as it advertises them; on `host` where
    it names none.
    """
    told = [settings[name].value for name in ADVERTISED if name in settings]
    text = next((one for one in told if one), "")
    found = {one[1].upper(): (one[2] or host, int(one[3])) for one in _LISTENER.finditer(text)}
    return {name: (address,) for name, address in found.items()}


def internal_topics(
    address: Address, home: int | None, offered: Versions, seconds: float, prefix: str = "",
    settings: Mapping[str, Setting] = NO_SETTINGS,
) -> dict[str, tuple[int, int]]:  # fmt: skip
    """Internal topic -> how many partitions it has and the first that the broker `home` leads, of
    those that exist once they are needed.

    Where both topics are there, these partitions can hold one name, so that it may be either's key.
    Of one that the user may not describe `settings` say how many partitions it has, or Kafka's
    default does, and coordinators of names that begin with `prefix` who leads them.
    """
    for kind in INTERNAL.values():
        _until_found(address, kind, offered, seconds, prefix)
    topics = [{"name": name} for name in INTERNAL]
    body = {"topics": topics, "allow_auto_topic_creation": False}
    found: dict[str, dict[int, int]] = {}
    hidden: list[str] = []
    for _ in _tries(seconds):
        rows = (asked(address, "Metadata", 4, body, offered, seconds) or {}).get("topics") or ()
        hidden = [row["name"] for row in rows if row["error_code"] == HIDDEN]
        found = {
            row["name"]: {part["partition_index"]: part["leader_id"] for part in row["partitions"]}
            for row in rows
            if row["error_code"] == 0 and row["partitions"]
        }
        if all(node >= 0 for leaders in found.values() for node in leaders.values()):
            break
    for topic in hidden:
        count = settings.get(COUNTS[topic], Setting(None)).value or COUNT
        leaders = _coordinators(address, INTERNAL[topic], int(count), offered, seconds, prefix)
        found |= {topic: leaders} if leaders else {}
    return _homes(found, home)


def _coordinators(
    address: Address, kind: int, count: int, offered: Versions, seconds: float, prefix: str
) -> dict[int, int]:
    """Return the leader of each of `count` partitions of an internal topic by who coordinates a
    name that belongs there; nothing where the user may not ask that either.
    """
    names: dict[int, str] = {}
    for number in itertools.count():
        name = f"{prefix}touchstone-{number}"
        names.setdefault(partition_of(name, count), name)
        if len(names) == count:
            break
    bodies = [
        {"key": name, "key_type": kind, "coordinator_keys": [name]} for name in names.values()
    ]
    answers = asked_each(address, "FindCoordinator", 1, bodies, offered, seconds) or ()
    if any(answer["error_code"] for answer in answers):
        return {}
    return {part: answer["node_id"] for part, answer in zip(names, answers, strict=False)}


def _until_found(
    address: Address, kind: int, offered: Versions, seconds: float, prefix: str
) -> None:
    """Ask for a coordinator until there is one: the first time, its topic is made."""
    name = f"{prefix}touchstone"
    body = {"key": name, "key_type": kind, "coordinator_keys": [name]}
    for _ in _tries(WAIT_S):
        answer = asked(address, "FindCoordinator", 1, body, offered, seconds)
        if answer is None or answer["error_code"] != NOT_AVAILABLE:
            return


def _tries(seconds: float) -> Iterator[None]:
    """Turns with growing pauses between them, for so long."""
    deadline = time.perf_counter() + seconds
    for pause in pauses():
        yield
        if time.perf_counter() + pause > deadline:
            return
        time.sleep(pause)


def _homes(found: dict[str, dict[int, int]], home: int | None) -> dict[str, tuple[int, int]]:
    """The first partitions that this broker leads, one of each topic, which can be those of one
    name; or NOWHERE.
    """
    counts = [len(leaders) for leaders in found.values()]
    led = [
        sorted(part for part, node in leaders.items() if node == home)
        for leaders in found.values()
    ]  # fmt: skip
    nowhere = (NOWHERE,) * len(counts)
    places = next((each for each in itertools.product(*led) if _agree(each, counts)), nowhere)
    return dict(zip(found, zip(counts, places, strict=True), strict=True))


def _agree(places: Sequence[int], counts: Sequence[int]) -> bool:
    """Whether a hash can have all these remainders by these counts (the Chinese remainder theorem,
    for every pair).
    """
    pairs = itertools.combinations(zip(places, counts, strict=True), 2)
    return all((p - q) % gcd(n, m) == 0 for (p, n), (q, m) in pairs)


def make_internal_topic(
    address: Address, topic: str, replicas: Sequence[int], offered: Versions, seconds: float
) -> None:
    """Have an internal topic of one partition made on these brokers, the first of which leads."""
    configs = [{"name": name, "value": value} for name, value in CONFIGS[topic].items()]
    rows = [{"partition_index": 0, "broker_ids": list(replicas)}]
    wanted = {
        "name": topic, "num_partitions": -1, "replication_factor": -1, "assignments": rows,
        "configs": configs,
    }  # fmt: skip
    body = {"topics": [wanted], "timeout_ms": int(seconds * 1000), "validate_only": False}
    asked(address, "CreateTopics", 4, body, offered, seconds)


def elect_preferred(
    address: Address, partitions: Mapping[str, int], offered: Versions, seconds: float
) -> None:
    """Have the first replicas of these topics lead again, of which each has so many partitions."""
    rows = [
        {"topic": topic, "partitions": list(range(count))} for topic, count in partitions.items()
    ]
    body = {"election_type": 0, "topic_partitions": rows, "timeout_ms": int(seconds * 1000)}
    asked(address, "ElectLeaders", 1, body, offered, seconds)


def alter(
    address: Address, node: str, changes: Mapping[str, str | None], offered: Versions,
    seconds: float,
) -> str | None:  # fmt: skip
    """Set (or, with None, delete) settings of a broker ("": of all); what was refused, in words."""
    rows = [
        {"name": name, "config_operation": 0 if value is not None else 1, "value": value}
        for name, value in changes.items()
    ]
    resource = {"resource_type": BROKER, "resource_name": node, "configs": rows}
    body = {"resources": [resource], "validate_only": False}
    answer = asked(address, "IncrementalAlterConfigs", 0, body, offered, seconds)
    if answer is None:
        return "IncrementalAlterConfigs is not answered"
    bad = [row for row in answer["responses"] if row["error_code"]]
    return f"error {bad[0]['error_code']}: {bad[0]['error_message']}" if bad else None


def asked(
    address: Address, api: str, version: int, body: Any, offered: Versions, seconds: float
) -> Any:
    """The answer in the highest version up to this that is offered; None when there is none."""
    found = asked_each(address, api, version, [body], offered, seconds)
    return found and found[0]


def asked_each(
    address: Address, api: str, version: int, bodies: Sequence[Any], offered: Versions,
    seconds: float,
) -> list[Any] | None:  # fmt: skip
    """The answers to several such requests on one connection; None when one is not answered."""
    low, high = offered.get(by_name(api).key, (0, -1))
    best = min(version, high) if low <= version else low
    if high < low:
        return None
    try:
        with Question(address, seconds) as question:
            return [question.ask(api, best, body) for body in bodies]
    except (LookupError, OSError, ValueError, probe.NotReady):
        return None
