"""Streams groups (KIP-1071): the cluster that they want, topologies, requests and waits.

A member is its member id, which clients choose. This cluster assigns at once, also the first time,
and allows short sessions, so nothing waits but what a claim is about. A coordinator hears of topics
after who serves them, so a member of another group looks for the topic first.

Sources: KIP-1071; schemas of APIs 88 and 89; GroupMetadataManager.streamsGroupHeartbeat@4.3.1.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from touchstone.harness.model.claim import every
from touchstone.harness.model.expect import Expectation, answer
from touchstone.harness.model.placeholders import Name
from touchstone.harness.model.scenario import Ask, Until
from touchstone.harness.model.steps import a_topic, ask, incremental_alter_configs
from touchstone.suites.kit.groups import coordinated

CLUSTER = {
    "offsets.topic.num.partitions": 1,
    "group.streams.assignment.interval.ms": 0,
    "group.streams.initial.rebalance.delay.ms": 0,
    "group.streams.min.heartbeat.interval.ms": 50,
    "group.streams.min.session.timeout.ms": 200,
}
SEEN = {"evidence": ("KIP-1071", "observed on 4.3.1"), "releases": "4.3", "config": CLUSTER}
HEARTBEATS = SEEN | {"api": "StreamsGroupHeartbeat", "versions": every("StreamsGroupHeartbeat")}
DESCRIBES = SEEN | {"api": "StreamsGroupDescribe", "versions": every("StreamsGroupDescribe")}
API, GROUP = "StreamsGroupHeartbeat", 32
JOIN, LEAVE = 0, -1
PATIENCE_MS = 30_000  # longer than a case
PROBE_MEMBER = Name("scout", length=30)  # a group of its own
CODE, EPOCH, STATUS, WORDS = "error_code", "member_epoch", "status[0].status_code", "error_message"
STATUSES, DETAIL = "status", "status[0].status_detail"
ACTIVE, STANDBY = "active_tasks", "standby_tasks"
GIVEN, STANDING_BY = f"{ACTIVE}[0].partitions", f"{STANDBY}[0].partitions"
STATE, GROUP_EPOCH, MEMBERS = "groups[0].group_state", "groups[0].group_epoch", "groups[0].members"
(
    STALE_TOPOLOGY, MISSING_SOURCES, INCORRECTLY_PARTITIONED, MISSING_INTERNAL, SHUTDOWN, DELAYED,
) = range(6)  # fmt: skip
Tasks = Mapping[str, Sequence[int]]


def internal(name: Any, partitions: int = 0, replicas: int = 1, **configs: str) -> dict[str, Any]:
    """A repartition or changelog topic; 0 partitions are for the coordinator to count."""
    rows = [{"key": key.replace("_", "."), "value": value} for key, value in configs.items()]
    return {
        "name": name,
        "partitions": partitions,
        "replication_factor": replicas,
        "topic_configs": rows,
    }


def subtopology(
    name: str,
    *sources: Any,
    changelogs: Sequence[Mapping[str, Any]] = (),
    sinks: Sequence[Any] = (),
    repartition: Sequence[Mapping[str, Any]] = (),
    joined: Sequence[int] = (),
) -> dict[str, Any]:
    """One subtopology; `joined` are the sources that must have equally many partitions."""
    group = {
        "source_topics": list(joined),
        "source_topic_regex": [],
        "repartition_source_topics": [],
    }
    return {
        "subtopology_id": name,
        "source_topics": list(sources),
        "source_topic_regex": [],
        "state_changelog_topics": list(changelogs),
        "repartition_sink_topics": list(sinks),
        "repartition_source_topics": list(repartition),
        "copartition_groups": [group] if joined else [],
    }


def topology(*subtopologies: Mapping[str, Any], epoch: int = 0) -> dict[str, Any]:
    return {"epoch": epoch, "subtopologies": list(subtopologies)}


def reading(topic: Any) -> dict[str, Any]:
    """The topology of one subtopology "0" that reads one topic."""
    return topology(subtopology("0", topic))


def beat(
    group: Any, member: Any, epoch: Any, *, name: str, version: int = 0, **changes: Any
) -> Ask:
    """A heartbeat that says no more than it must; `changes` are fields of the request."""
    body = {
        "group_id": group,
        "member_id": member,
        "member_epoch": epoch,
        "endpoint_information_epoch": 0,
    }
    return ask(API, version, body | changes, name=name)


def join(group: Any, member: Any, told: Mapping[str, Any], *, name: str, **changes: Any) -> Ask:
    """A member's first heartbeat; its process has the member's name."""
    first = {
        "rebalance_timeout_ms": PATIENCE_MS,
        "topology": told,
        "process_id": member,
        **owning(),
    }
    return beat(group, member, JOIN, name=name, **(first | changes))


def owning(active: Tasks | None = None, standby: Tasks | None = None) -> dict[str, Any]:
    """The fields of a heartbeat that say what its member owns."""
    return {ACTIVE: _rows(active), STANDBY: _rows(standby), "warmup_tasks": []}


def describe(*groups: Any, name: str, version: int = 0, operations: bool = False) -> Ask:
    """StreamsGroupDescribe of these groups."""
    body = {"group_ids": list(groups), "include_authorized_operations": operations}
    return ask("StreamsGroupDescribe", version, body, name=name)


def until(group: Any, state: str, name: str, *, members: int) -> Until:
    """Wait until the group is in this state with so many members."""
    return Until(
        describe(group, name=name), STATE, "==", state, also=((MEMBERS, "len ==", members),)
    )


def configure(group: Any, changes: Mapping[str, str], name: str) -> Ask:
    """Set a group's settings."""
    rows = [(key, 0, value) for key, value in changes.items()]
    return incremental_alter_configs(group, rows, version=1, kind=GROUP, name=name)


def started(group: Any, topic: Any, partitions: int = 4) -> list[Any]:
    """A coordinator that serves the group and has heard of the topic, which has been made."""
    return [*a_topic(topic, partitions), *coordinated(group), known(topic)]


def known(topic: Any) -> Until:
    """Wait until the coordinator has heard of the topic, of which a group of its own reads."""
    word = topic if isinstance(topic, str) else topic.key
    asked = join(
        Name(f"looks at {word}", length=40), PROBE_MEMBER, reading(topic), name=f"heard of {word}"
    )
    return Until(asked, GIVEN, "len >=", 1)


def is_(name: str, code: Any) -> Expectation:
    return answer(name, CODE).is_(code)


def _rows(tasks: Tasks | None) -> list[dict[str, Any]]:
    found = tasks or {}
    return [{"subtopology_id": name, "partitions": list(found[name])} for name in found]
