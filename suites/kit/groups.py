"""Members of classic groups: the cluster that they want, and their requests.

A member is a letter. It has a connection and a client id of its own, so that one member may wait
for a join while another sends requests, and lists of members have an order although their ids are
random. Requests of versions that all five releases serve, and that need no member id first, take a
group through its states; the version at hand is that of the request a claim is about. A request
that waits is sent and awaited later: the group's state meanwhile shows that it waits, and so does
an answer that contains what happened after the request.

Sources: schemas of APIs 8, 11 to 16, 42 and 47; GroupCoordinator.scala@1.0.2, 2.2.1, 2.8.2.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from touchstone.harness.model.placeholders import Ref, TopicId
from touchstone.harness.model.scenario import Ask, Await, Until
from touchstone.harness.model.steps import ask, coordinator_ready
from touchstone.reference_impl.wire.embedded.consumer_protocol import encode_subscription
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.in_flight import sent

# The shape of all claims that need no other: joins are not delayed, sessions may be short.
CLUSTER = {
    "offsets.topic.num.partitions": 1,
    "group.initial.rebalance.delay.ms": 0,
    "group.min.session.timeout.ms": 100,
    "group.max.size": 8,
}
LONG_MS = 30_000  # longer than a case: nobody is silent for so long
JOIN, SYNC, HEARTBEAT, LEAVE, DESCRIBE, LIST, COMMIT = 2, 1, 1, 1, 0, 0, 2
ID_FIRST, STATIC, NAMED, BATCHED, BY_ID = 4, 5, 5, 3, 10  # versions of the five in that order
CODE, STATE = "error_code", "groups[0].group_state"
MEMBERS = "groups[0].members"
OFFSET_CODE = "topics[0].partitions[0].error_code"
EMPTY, PREPARING, STABLE, DEAD = "Empty", "PreparingRebalance", "Stable", "Dead"
COMPLETING = "CompletingRebalance"
NOBODY = "member-x-00000000-0000-4000-8000-000000000000"


def subscription(*topics: str) -> bytes:
    """What a consumer's protocols say of it. Kafka 4 reads them and stumbles over anything else."""
    return encode_subscription(0, {"topics": list(topics), "user_data": None})


RANGE = (("range", subscription("wanted")),)
OTHERS = (("range", subscription("wanted", "too")),)


def completing(release: str) -> str:
    """The state between join and assignment, as this release calls it (KAFKA-6789)."""
    return "AwaitingSync" if release == "1.0" else COMPLETING


def code(word: str) -> int:
    """The number of an error by its name."""
    return int(ErrorCode[word])


def id_of(who: str) -> Ref:
    """The member id that the coordinator gave this one when it first came."""
    return Ref(f"{who} comes", "member_id")


def join(
    who: str,
    group: Any,
    *,
    member: Any = "",
    instance: Any = None,
    version: int = JOIN,
    session_ms: int = LONG_MS,
    rebalance_ms: int = LONG_MS,
    kind: str = "consumer",
    protocols: Iterable[tuple[str, bytes]] = RANGE,
    **how: Any,
) -> Ask:
    """JoinGroup of one member on its own connection; `how` is name ..."""
    body = {
        "group_id": group,
        "session_timeout_ms": session_ms,
        "rebalance_timeout_ms": rebalance_ms,
        "member_id": member,
        "group_instance_id": instance,
        "protocol_type": kind,
        "protocols": [{"name": name, "metadata": data} for name, data in protocols],
    }
    return ask("JoinGroup", version, body, **own(who), **how)


def own(who: str) -> dict[str, str]:
    """Spread into a builder: the connection and client id of this member."""
    return {"connection": f"member {who}", "client_id": f"member-{who}"}


def comes(who: str, group: Any, **how: Any) -> Ask:
    """A member's first join, of a version that needs no id before."""
    return join(who, group, name=f"{who} comes", **how)


def again(who: str, group: Any, name: str | None = None, **how: Any) -> Ask:
    """A member joins as the one it is."""
    return join(who, group, **{"member": id_of(who)} | how, name=name or f"{who} again")


def meet(group: Any, first: Ask, second: Ask, back: Ask) -> list[Any]:
    """Both are in, in generation 2: the second ("b comes") waits until the first is back."""
    return [first, sent(second), until(group, PREPARING, "b has come"), back, Await("b comes")]


def two(
    group: Any, a: Mapping[str, Any] | None = None, b: Mapping[str, Any] | None = None
) -> list[Any]:
    """Members a and b, who join with these fields, in generation 2."""
    own_a, own_b = a or {}, b or {}
    return meet(
        group, comes("a", group, **own_a), comes("b", group, **own_b), again("a", group, **own_a)
    )


def sync(
    who: str,
    group: Any,
    generation: Any,
    plan: Mapping[str, bytes] | None = None,
    *,
    member: Any = None,
    instance: Any = None,
    version: int = SYNC,
    kind: str | None = "consumer",
    protocol: str | None = "range",
    **how: Any,
) -> Ask:
    """SyncGroup of one member; with a `plan` (letter: assignment) as the leader."""
    rows = [{"member_id": id_of(w), "assignment": part} for w, part in (plan or {}).items()]
    body = {
        "group_id": group,
        "generation_id": generation,
        "member_id": id_of(who) if member is None else member,
        "group_instance_id": instance,
        "protocol_type": kind if version >= NAMED else None,
        "protocol_name": protocol if version >= NAMED else None,
        "assignments": rows,
    }
    return ask("SyncGroup", version, body, **own(who), **how)


def heartbeat(
    who: str, group: Any, generation: Any, *, member: Any = None, instance: Any = None,
    version: int = HEARTBEAT, **how: Any,
) -> Ask:  # fmt: skip
    """Heartbeat of one member."""
    body = {
        "group_id": group,
        "generation_id": generation,
        "member_id": id_of(who) if member is None else member,
        "group_instance_id": instance,
    }
    return ask("Heartbeat", version, body, **own(who), **how)


def leave(who: str, group: Any, *, member: Any = None, version: int = LEAVE, **how: Any) -> Ask:
    """LeaveGroup of one member, in its version's form."""
    member = id_of(who) if member is None else member
    if version >= BATCHED:
        return leave_all(who, group, (member, None), version=version, **how)
    return ask("LeaveGroup", version, {"group_id": group, "member_id": member}, **own(who), **how)


def leave_all(
    who: str, group: Any, *identities: tuple[Any, Any], version: int = BATCHED, **how: Any
) -> Ask:
    """LeaveGroup of several (member id, instance id) at once (KIP-345)."""
    rows = [{"member_id": m, "group_instance_id": i} for m, i in identities]
    return ask("LeaveGroup", version, {"group_id": group, "members": rows}, **own(who), **how)


def left_code(version: int) -> str:
    """Where LeaveGroup says what became of one member."""
    return CODE if version < BATCHED else "members[0].error_code"


def commit(
    who: str, group: Any, topic: Any, generation: Any = -1, *, member: Any = "",
    instance: Any = None, version: int = COMMIT, offset: int = 5, **how: Any,
) -> Ask:  # fmt: skip
    """OffsetCommit of one partition; without a member by whoever keeps offsets only."""
    row = {"partition_index": 0, "committed_offset": offset, "committed_metadata": ""}
    named = {"topic_id": TopicId(topic)} if version >= BY_ID else {"name": topic}
    body = {
        "group_id": group,
        "generation_id_or_member_epoch": generation,
        "member_id": member,
        "group_instance_id": instance,
        "topics": [{**named, "partitions": [row]}],
    }
    return ask("OffsetCommit", version, body, **own(who), **how)


def delete_offsets(group: Any, topic: Any, *partitions: int, **how: Any) -> Ask:
    """OffsetDelete of these partitions of a topic, of partition 0 if none is named."""
    rows = [{"partition_index": index} for index in partitions or (0,)]
    topics = [{"name": topic, "partitions": rows}]
    return ask("OffsetDelete", 0, {"group_id": group, "topics": topics}, **how)


def delete(*groups: Any, version: int = 0, **how: Any) -> Ask:
    """DeleteGroups of these groups."""
    return ask("DeleteGroups", version, {"groups_names": list(groups)}, **how)


def describe(*groups: Any, version: int = DESCRIBE, operations: bool = False, **how: Any) -> Ask:
    """DescribeGroups of these groups."""
    body = {"groups": list(groups), "include_authorized_operations": operations}
    return ask("DescribeGroups", version, body, **how)


def list_groups(
    states: Sequence[str] = (), types: Sequence[str] = (), *, version: int = LIST, **how: Any
) -> Ask:
    """ListGroups, of these states and types only if any are named."""
    body = {"states_filter": list(states), "types_filter": list(types)}
    return ask("ListGroups", version, body, **how)


def coordinated(group: Any) -> list[Until]:
    """Wait until the group has a coordinator that has loaded what it coordinates."""
    asked = describe(group, name=f"served {group.key}")
    return [coordinator_ready(group), Until(asked, "groups[0].error_code", "==", 0)]


def until(group: Any, state: str, name: str, members: int | None = None) -> Until:
    """Wait until the group is in this state (with so many members)."""
    also = () if members is None else ((MEMBERS, "len ==", members),)
    return Until(describe(group, name=name), STATE, "==", state, also=also)
