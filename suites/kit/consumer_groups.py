"""Consumer groups (KIP-848): the cluster that they want, requests and states.

A member is its member id, which clients choose (and may choose in version 0 too). This cluster
computes assignments at once and allows short sessions, so nothing waits but what a claim is about.
Topics have four partitions, so two members have two each.

3.9 serves them as a preview when it is told to. Its groups begin at epoch 0, those of 4.3 at 1, so
claims count from `first_epoch(case)`, that of the first member.

Sources: KIP-848; schemas of APIs 68 and 69; GroupMetadataManager@4.3.1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from touchstone.harness.model.claim import every, range_
from touchstone.harness.model.placeholders import Name, TopicId
from touchstone.harness.model.scenario import Ask, Until
from touchstone.harness.model.steps import a_topic, ask, incremental_alter_configs
from touchstone.suites.kit.groups import coordinated

CLUSTER = {
    "offsets.topic.num.partitions": 1,
    "group.initial.rebalance.delay.ms": 0,
    "group.min.session.timeout.ms": 100,
    "group.consumer.assignment.interval.ms": 0,
    "group.consumer.min.session.timeout.ms": 200,
    "group.consumer.session.timeout.ms": 30_000,
    "group.consumer.min.heartbeat.interval.ms": 50,
    "group.consumer.max.size": 6,
}
PREVIEW = {
    "3.9": {
        "group.coordinator.rebalance.protocols": "classic,consumer",
        "group.consumer.migration.policy": "bidirectional",  # the default of 4.3
    },
}
SEEN = {"evidence": ("KIP-848", "observed on 4.3.1"), "releases": "4.3", "config": CLUSTER}
SINCE_3_9 = {"releases": "3.9+", "only_on": PREVIEW,
             "evidence": ("KIP-848", "observed on 3.9.2, 4.3.1")}  # fmt: skip
HEARTBEATS = SEEN | {"api": "ConsumerGroupHeartbeat", "versions": every("ConsumerGroupHeartbeat")}
BY_EXPRESSION = HEARTBEATS | {"versions": range_("ConsumerGroupHeartbeat", 1)}
DESCRIBES = SEEN | {
    "api": "ConsumerGroupDescribe", "versions": every("ConsumerGroupDescribe"),
}  # fmt: skip
SESSION, INTERVAL = "consumer.session.timeout.ms", "consumer.heartbeat.interval.ms"
PARTITIONS = 4
LOG = "__consumer_offsets"
PATIENCE_MS = 30_000  # longer than a case
CODE, EPOCH, STATE = "error_code", "member_epoch", "groups[0].group_state"
GROUP_EPOCH, MEMBERS = "groups[0].group_epoch", "groups[0].members"
GIVEN = "assignment.topic_partitions[0].partitions"
JOIN, LEAVE, AWAY = 0, -1, -2
HEARTBEAT, DESCRIBE, GROUP = 0, 0, 32
PROBE_MEMBER = Name("scout", length=30)  # a group of its own
Owned = Sequence[int] | None


def first_epoch(case: Any) -> int:
    """The epoch of a new group's first member."""
    return 1 if case.release == "3.9" else 2


def newest_description(case: Any) -> int:
    """The newest version of ConsumerGroupDescribe, which in 4.3 has the types of members."""
    return 0 if case.release == "3.9" else 1


def rows(topic: Any, owned: Owned) -> list[dict[str, Any]] | None:
    """Partitions that a member owns, as ConsumerGroupHeartbeat says it; None says nothing."""
    if owned is None:
        return None
    return [{"topic_id": TopicId(topic), "partitions": list(owned)}] if owned else []


def beat(
    group: Any,
    member: Any,
    epoch: Any,
    topic: Any = None,
    owned: Owned = None,
    *,
    name: str,
    version: int = HEARTBEAT,
    **changes: Any,
) -> Ask:
    """A heartbeat that says no more than it must; `changes` are fields of the request."""
    body = {
        "group_id": group,
        "member_id": member,
        "member_epoch": epoch,
        "instance_id": None,
        "rack_id": None,
        "rebalance_timeout_ms": -1,
        "subscribed_topic_names": None,
        "subscribed_topic_regex": None,
        "server_assignor": None,
        "topic_partitions": rows(topic, owned),
    }
    return ask("ConsumerGroupHeartbeat", version, body | changes, name=name)


def join(group: Any, member: Any, *topics: Any, name: str, **changes: Any) -> Ask:
    """A member's first heartbeat."""
    first = {"rebalance_timeout_ms": PATIENCE_MS, "subscribed_topic_names": list(topics)}
    return beat(group, member, JOIN, owned=(), name=name, **(first | changes))


def describe(*groups: Any, name: str, version: int = DESCRIBE, operations: bool = False) -> Ask:
    """ConsumerGroupDescribe of these groups."""
    body = {"group_ids": list(groups), "include_authorized_operations": operations}
    return ask("ConsumerGroupDescribe", version, body, name=name)


def until(group: Any, state: str, name: str, *, members: int | None = None) -> Until:
    """Wait until the group is in this state (with so many members)."""
    also = () if members is None else ((MEMBERS, "len ==", members),)
    return Until(describe(group, name=name), STATE, "==", state, also=also)


def configure(group: Any, changes: Mapping[str, str | None], name: str, version: int = 1) -> Ask:
    """Set a group's settings; None takes one back."""
    rows = [(key, 1 if value is None else 0, value) for key, value in changes.items()]
    return incremental_alter_configs(group, rows, version=version, kind=GROUP, name=name)


def started(group: Any, topic: Any, partitions: int = PARTITIONS) -> list[Any]:
    """A coordinator that serves the group and has heard of the topic, which has been made."""
    return [*a_topic(topic, partitions), *coordinated(group), topic_known(topic)]


def topic_known(topic: Any, *, scout: Any = PROBE_MEMBER) -> Until:
    """Wait until the coordinator shares the topic out: it hears of topics after who serves them.

    (One partition holds all groups of this cluster, so another group's word counts for this one.)
    """
    asked = join(scout, "scout", topic, name=f"heard of {_key(topic)}")
    return Until(asked, GIVEN, "len >=", 1)


def _key(topic: Any) -> str:
    return topic if isinstance(topic, str) else topic.key


class State(NamedTuple):
    """Where a member stands: who it is, its epoch and the one before, and what it was told."""

    name: str
    sentence: str
    steps: Callable[[Any, Any, int], list[Any]]  # of group, topic and the first epoch
    member: str
    epoch: int
    before: int
    told: tuple[int, ...]
    instance: str | None = None

    def counted_from(self, first: int) -> State:
        """The state where the first member's epoch is this one; epochs are given as on 4.3."""
        earlier = 2 - first
        return self._replace(
            epoch=self.epoch - earlier if self.epoch > 0 else self.epoch,
            before=max(self.before - earlier, 0),
        )


def _stable(group: Any, topic: Any, first: int) -> list[Any]:
    return [join(group, "m1", topic, name="m1 joins")]


def _behind(group: Any, topic: Any, first: int) -> list[Any]:
    return [*_stable(group, topic, first), join(group, "m2", topic, name="m2 joins")]


def _unrevoked(group: Any, topic: Any, first: int) -> list[Any]:
    return [*_behind(group, topic, first), beat(group, "m1", first, name="m1 is told")]


def _revoked(group: Any, topic: Any, first: int) -> list[Any]:
    gone = beat(group, "m1", first, topic, (0, 1), name="m1 gives up")
    return [*_unrevoked(group, topic, first), gone]


def _settled(group: Any, topic: Any, first: int) -> list[Any]:
    return [*_revoked(group, topic, first), beat(group, "m2", first + 1, name="m2 takes")]


def _static(group: Any, topic: Any, first: int) -> list[Any]:
    return [join(group, "m1", topic, name="m1 joins", instance_id="i1")]


def _away(group: Any, topic: Any, first: int) -> list[Any]:
    return [
        *_static(group, topic, first),
        beat(group, "m1", AWAY, name="m1 goes", instance_id="i1"),
    ]


def _left(group: Any, topic: Any, first: int) -> list[Any]:
    return [*_stable(group, topic, first), beat(group, "m1", LEAVE, name="m1 leaves")]


ALL = (0, 1, 2, 3)
STATES: dict[str, State] = {
    state.name: state
    for state in (
        State("unknown", "When the group does not exist", lambda g, t, e: [], "m1", 2, 1, ()),
        State("left", "After the last member left", _left, "m1", 2, 1, ()),
        State("stable", "For the only member", _stable, "m1", 2, 0, ALL),
        State("behind", "For a member that has not heard of a new one", _behind, "m1", 2, 0, ALL),
        State(
            "unrevoked",
            "For a member that has to revoke partitions",
            _unrevoked,
            "m1",
            2,
            2,
            (0, 1),
        ),
        State("revoked", "For a member that revoked partitions", _revoked, "m1", 3, 2, (0, 1)),
        State(
            "unreleased", "For a member whose partitions another owns", _unrevoked, "m2", 3, 0, ()
        ),
        State("released", "For a member whose partitions are released", _revoked, "m2", 3, 0, ()),
        State("settled", "For a member that took its partitions", _settled, "m2", 3, 3, (2, 3)),
        State("static", "For a static member", _static, "m1", 2, 0, ALL, "i1"),
        State("away", "For a static member that left temporarily", _away, "m1", -2, 0, ALL, "i1"),
    )
}


def steps_into(name: str, group: Any, topic: Any, first: int) -> list[Any]:
    """A coordinator that serves and knows the topic, and the steps into the state."""
    return [*started(group, topic), *STATES[name].steps(group, topic, first)]
