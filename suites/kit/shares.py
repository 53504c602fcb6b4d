"""Share groups: the cluster that they want, requests, and a group that reads.

One node keeps its own states (`share.coordinator.state.topic...`), a member is assigned partitions
without a pause, and locks may be as short as Kafka lets them be. A group's configs are written
before its topic is made: a broker that shows the topic has heard of the configs. A first heartbeat
has share partitions initialised, so members beat until they are assigned some; the epochs on the
way are the same in every run. A share partition is read from the share coordinator when somebody
fetches it first, so another member does that, before there are records. A lock that ends is waited
for by a fetch that waits. And so is whoever fetched before: a leader answers first and lets go of
the share partition afterwards, and to who comes in between there is nothing to read.

Sources: KIP-932, KIP-1206, KIP-1222, KIP-1226; DelayedShareFetch@4.3.1; schemas of
APIs 76 to 79, 83 to 87, 90 to 92.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from touchstone.harness.model.claim import claim, every
from touchstone.harness.model.expect import Expectation, answer
from touchstone.harness.model.placeholders import Ref, TopicId
from touchstone.harness.model.scenario import Ask, Until
from touchstone.harness.model.steps import (
    a_topic,
    ask,
    coordinator_ready,
    incremental_alter_configs,
)
from touchstone.suites.kit.topics import appended

RELEASE = "4.3"
CLUSTER = {
    "offsets.topic.num.partitions": 1,
    "transaction.state.log.num.partitions": 1,
    "share.coordinator.state.topic.num.partitions": 1,
    "share.coordinator.state.topic.replication.factor": 1,
    "share.coordinator.state.topic.min.isr": 1,
    "group.share.assignment.interval.ms": 0,
    "group.share.min.record.lock.duration.ms": 1000,
    "group.share.min.heartbeat.interval.ms": 100,
    "group.share.min.session.timeout.ms": 500,
}
SHARES: dict[str, Any] = {"releases": RELEASE, "config": CLUSTER}
SEEN = ("KIP-932", "observed on 4.3.1")
TIGHT: dict[str, Any] = {
    "releases": RELEASE,
    "config": {**CLUSTER, "group.share.max.size": 1, "group.share.max.share.sessions": 1},
}
GROUP_CONFIG, SET = 32, 0
ANNE, BERT, OPENER = "anne", "bert", "opener"
HEARTBEAT, DESCRIBE, FETCH, ACKNOWLEDGE, OFFSETS = 1, 1, 2, 2, 1  # newest versions
FIRST_RENEWING = 2
GAP, ACCEPT, RELEASE_IT, REJECT, RENEW = range(5)
BATCH_OPTIMIZED, RECORD_LIMIT = 0, 1
LONG_MS = 20_000  # a wait that something else ends
BRIEF_MS = 500  # a wait that sees nothing come, once who fetched before has let go
CODE = "error_code"
ROW = "responses[0].partitions[0]"
ACQUIRED, ROW_CODE, ACK_CODE = (
    f"{ROW}.acquired_records",
    f"{ROW}.error_code",
    (f"{ROW}.acknowledge_error_code"),
)


def card(api: str, versions: Any = None) -> dict[str, Any]:
    """What claims of this suite share; on all versions of their API, if they do not say which."""
    versions = every(api) if versions is None else versions
    return {"evidence": SEEN, "api": api, "versions": versions, **SHARES}


def claims(api: str | None = None) -> Callable[..., Any]:
    """What makes a function a claim about share groups, on this API unless it says another."""

    def of(name: str, api: str | None = api, versions: Any = None, **how: Any) -> Any:
        assert api is not None
        return claim(f"share.{name}", **card(api, versions), **how)

    return of


def configured(group: Any, **configs: Any) -> Ask:
    """Configs of a group; `lock_ms`, `limit` and so on stand for Kafka's names."""
    changes = [(NAMES[key], SET, str(value)) for key, value in configs.items()]
    return incremental_alter_configs(
        group, changes, version=1, kind=GROUP_CONFIG, name=f"configs {'-'.join(configs)}"
    )


NAMES = {
    "reset": "share.auto.offset.reset",
    "isolation": "share.isolation.level",
    "lock_ms": "share.record.lock.duration.ms",
    "limit": "share.delivery.count.limit",
    "locks": "share.partition.max.record.locks",
    "session_ms": "share.session.timeout.ms",
    "beat_ms": "share.heartbeat.interval.ms",
    "renews": "share.renew.acknowledge.enable",
}


def beat(
    group: Any,
    member: Any = ANNE,
    epoch: Any = 0,
    *topics: Any,
    version: int = HEARTBEAT,
    rack: str | None = None,
    names: Sequence[Any] | None = None,
    **how: Any,
) -> Ask:
    """ShareGroupHeartbeat; without topics they did not change."""
    body = {
        "group_id": group,
        "member_id": member,
        "member_epoch": epoch,
        "rack_id": rack,
        "subscribed_topic_names": names if names is not None else list(topics) or None,
    }
    return ask("ShareGroupHeartbeat", version, body, **how)


def joins(group: Any, member: str = ANNE, *topics: Any, **how: Any) -> list[Any]:
    """A member that has partitions to read; `how` says where the group's coordinator is."""
    joined = Until(beat(group, member, 0, *topics, name=f"{member} joins", **how), CODE, "==", 0)
    epoch = Ref(f"{member} joins", "member_epoch")
    again = beat(group, member, epoch, *topics, name=f"{member} assigned", **how)
    return [joined, Until(again, "assignment.topic_partitions", "len >=", 1)]


def a_group(
    group: Any, topic: Any, *batches: Any, partitions: int = 1, **configs: Any
) -> list[Any]:
    """A group from the earliest offset with one member, and a topic that holds these batches."""
    return [
        configured(group, **({"reset": "earliest"} | configs)),
        a_topic(topic, partitions),
        known(group, topic),
        joins(group, ANNE, topic),
        opened(group, topic, partitions),
        appended(topic, *batches),
    ]


def known(group: Any, topic: Any, **how: Any) -> list[Any]:
    """The group's coordinator serves and knows the topic, which is later than Metadata does."""
    asked = offsets(group, [(topic, [0])], name="known", **how)
    return [
        coordinator_ready(group),
        Until(asked, "groups[0].topics[0].topic_id", "!=", bytes(16)),
    ]


def opened(group: Any, topic: Any, partitions: int = 1, **how: Any) -> list[Any]:
    """The topic's share partitions are active, which a first fetch does not wait for."""
    first = fetch(
        group, 0, topic, member=OPENER, partitions=range(partitions), wait_ms=100, name="opened",
        **how,
    )  # fmt: skip
    seen = Until(first, "responses", "len >=", 1,
                 also=(("responses[0].partitions", "len >=", partitions),))  # fmt: skip
    return [seen, close(group, member=OPENER, name="opener closed", **how)]


def run(first: int, last: int, *types: int) -> dict[str, Any]:
    """One run of acknowledgements."""
    return {"first_offset": first, "last_offset": last, "acknowledge_types": list(types)}


def fetch(
    group: Any,
    epoch: Any,
    topic: Any,
    *runs: Mapping[str, Any],
    member: str = ANNE,
    version: int = FETCH,
    partitions: Sequence[int] = (0,),
    forget: Sequence[int] = (),
    wait_ms: int = 0,
    min_bytes: int = 1,
    max_bytes: int = 1 << 20,
    max_records: int = 500,
    batch_size: int = 500,
    mode: int = BATCH_OPTIMIZED,
    renews: bool = False,
    **how: Any,
) -> Ask:
    """ShareFetch; `runs` acknowledge records of the first partition, no partitions: no topic."""
    topic_id = topic if isinstance(topic, bytes) else TopicId(topic)
    rows = [
        {"partition_index": at, "acknowledgement_batches": list(runs) if not place else []}
        for place, at in enumerate(partitions)
    ]
    body = {
        "group_id": group,
        "member_id": member,
        "share_session_epoch": epoch,
        "max_wait_ms": wait_ms,
        "min_bytes": min_bytes,
        "max_bytes": max_bytes,
        "max_records": max_records,
        "batch_size": batch_size,
        "topics": [{"topic_id": topic_id, "partitions": rows}] if rows else [],
        "forgotten_topics_data": [{"topic_id": topic_id, "partitions": list(forget)}]
        if forget
        else [],
    }
    if version >= FIRST_RENEWING:
        body |= {"share_acquire_mode": mode, "is_renew_ack": renews}
    return ask("ShareFetch", version, body, **how)


def acknowledge(
    group: Any,
    epoch: Any,
    topic: Any,
    *runs: Mapping[str, Any],
    member: str = ANNE,
    version: int = ACKNOWLEDGE,
    partition: int = 0,
    renews: bool = False,
    **how: Any,
) -> Ask:
    """ShareAcknowledge of these runs of one partition."""
    topic_id = topic if isinstance(topic, bytes) else TopicId(topic)
    row = {"partition_index": partition, "acknowledgement_batches": list(runs)}
    body = {
        "group_id": group,
        "member_id": member,
        "share_session_epoch": epoch,
        "topics": [{"topic_id": topic_id, "partitions": [row]}],
    }
    if version >= FIRST_RENEWING:
        body["is_renew_ack"] = renews
    return ask("ShareAcknowledge", version, body, **how)


def acquired(group: Any, topic: Any, *batches: Any, **configs: Any) -> list[Any]:
    """Anne has all of these."""
    return [a_group(group, topic, *batches, **configs), fetch(group, 0, topic, name="acquired")]


def close(group: Any, member: str = ANNE, **how: Any) -> Ask:
    """The session ends; what the member has goes back."""
    return fetch(group, -1, b"", member=member, partitions=(), **how)


def described(group: Any, *, version: int = DESCRIBE, rights: bool = False, **how: Any) -> Ask:
    """ShareGroupDescribe of one group."""
    body = {"group_ids": [group], "include_authorized_operations": rights}
    return ask("ShareGroupDescribe", version, body, **how)


def offsets(
    group: Any, topics: Sequence[tuple[Any, Sequence[int]]] | None = None, *,
    version: int = OFFSETS, **how: Any,
) -> Ask:  # fmt: skip
    """DescribeShareGroupOffsets; without topics of all."""
    rows = None
    if topics is not None:
        rows = [{"topic_name": name, "partitions": list(parts)} for name, parts in topics]
    return ask(
        "DescribeShareGroupOffsets", version, {"groups": [{"group_id": group, "topics": rows}]},
        **how,
    )  # fmt: skip


def is_(step: str, code: int, path: str = CODE) -> Expectation:
    """The step answers this error code, at this path."""
    return answer(step, path).is_(code)


def wrong(step: str, code: int) -> Expectation:
    """The step's first partition answers this."""
    return is_(step, code, ROW_CODE)


def has(step: str, *rows: tuple[int, int, int]) -> Expectation:
    """The step's first partition acquired these: (first offset, last offset, delivery count)."""
    names = ("first_offset", "last_offset", "delivery_count")
    return answer(step, ACQUIRED).is_([dict(zip(names, row, strict=True)) for row in rows])


def nothing(step: str) -> Expectation:
    """The step's answer names no partition."""
    return answer(step, "responses").has_length(0)
