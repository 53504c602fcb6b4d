"""Whose business a group is: one broker's of three, and another's when that one is gone.

The cluster's offsets topic is made by hand before anybody else does: one partition, on brokers 1, 2
and 0, so that its leader, the coordinator of every group, is never broker 0 as long as one of the
others lives. Broker 0 is the controller (where brokers elect one), it is who gets asked the way,
and it is a broker that is not the coordinator.

Sources: KafkaApis and GroupCoordinator at 1.0.2, 2.8.2 (validateGroupStatus, onElection,
onResignation); GroupCoordinatorService at 4.3; clauses OFFS-04, OFFS-25, GROUP-03, GROUP-30.
"""

from typing import Any

from touchstone.harness.model.claim import claim, range_
from touchstone.harness.model.expect import all_of, answer
from touchstone.harness.model.placeholders import Coordinator
from touchstone.harness.model.scenario import Inflict, Until
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit import three_brokers
from touchstone.suites.kit.coordinators import (
    at,
    coordinator_known,
    log_placed,
    next_coordinator_known,
)
from touchstone.suites.kit.groups import delete, delete_offsets
from touchstone.suites.kit.offsets import (
    CODE,
    MEMBER,
    OFFSET,
    OWN,
    commit,
    describe,
    fetch,
    fetch_many,
    fetched,
    heartbeat,
    join,
    sync,
)

LOG = "__consumer_offsets"
ROW = [1, 2, 0]
CONFIG = three_brokers.SHORT_SESSIONS["config"] | {
    "offsets.topic.num.partitions": "1",
    "group.initial.rebalance.delay.ms": "0",
}
HARMED: dict[str, Any] = three_brokers.SHORT_SESSIONS | {"config": CONFIG}
WHOLE: dict[str, Any] = three_brokers.SHORT_SESSIONS_UNHARMED | {"config": CONFIG}


def coordinator_ready(group):
    """The offsets topic stands where it should, and the group's coordinator answers."""
    serving = fetch(group, None, version=2, name="serving", **at(group, "before"))
    return [
        log_placed(LOG, ROW, name="offsets topic", configs={"cleanup.policy": "compact"}),
        coordinator_known(group),
        Until(serving, "error_code", "==", ErrorCode.NONE),
    ]


def moved(group):
    """The coordinator is gone, and broker 0 knows another, which serves."""
    nothing = [(group, [], None, -1)]
    serving = fetch_many(nothing, version=2, name="serving again", **at(group, "after"))
    return [
        Inflict("kill", Coordinator(group)),
        next_coordinator_known(group),
        Until(serving, "error_code", "==", ErrorCode.NONE),
    ]


def a_case(case):
    topic, group = case.topic(), case.group()
    return topic, group, [three_brokers.placed(topic, {0: ROW}), coordinator_ready(group)]


@claim(
    "offsets.survive-their-coordinator",
    evidence=("OFFS-25", "OFFS-17", "OFFS-20", "GROUP-30"),
    switches=("commit-not-logged",),
    api="OffsetFetch",
    versions=range_("OffsetFetch", 3, 3),
    **HARMED,
)
def test_survive_their_coordinator(case):
    """After its coordinator dies, OffsetFetch at the next coordinator returns every acknowledged
    offset, and OffsetCommit goes on there; 4.3 may return an earlier offset at first."""
    topic, group, steps = a_case(case)
    return case.scenario(
        steps,
        commit(group, topic, 5, name="first", **at(group, "before")),
        commit(group, topic, 7, name="second", **at(group, "before")),
        moved(group),
        Until(
            fetch(group, topic, version=case.version, name="ask", **at(group, "after")),
            OFFSET, "==", 7,
        ),
        commit(group, topic, 9, name="third", **at(group, "after")),
        fetch(group, topic, name="after", **at(group, "after")),
        expect=all_of(
            answer("second", CODE).is_(ErrorCode.NONE),
            answer("ask", OFFSET).is_(7),
            answer("after", OFFSET).is_(9),
        ),
    )  # fmt: skip


@claim(
    "offsets.members-go-on-at-the-next-coordinator",
    evidence=("OFFS-25", "GROUP-30"),
    api="OffsetCommit",
    versions=range_("OffsetCommit", 2, 2),
    **HARMED,
)
def test_members_go_on_at_the_next_coordinator(case):
    """After its coordinator dies, a stable group keeps its members and generation: Heartbeat and
    OffsetCommit of a member succeed at the next coordinator."""
    topic, group, steps = a_case(case)
    before, after = at(group, "before"), at(group, "after")
    return case.scenario(
        steps,
        join(group, "member", **before),
        sync(group, "assigned", member=MEMBER, **before),
        commit(group, topic, 5, **OWN, name="first", **before),
        moved(group),
        heartbeat(group, "alive", member=MEMBER, **after),
        commit(group, topic, 7, **OWN, version=case.version, name="ask", **after),
        commit(group, topic, 9, member=MEMBER, generation=0, name="older", **after),
        describe(group, name="described", **after),
        fetch(group, topic, name="after", **after),
        expect=all_of(
            answer("alive", "error_code").is_(ErrorCode.NONE),
            answer("ask", CODE).is_(ErrorCode.NONE),
            answer("described", "groups[0].group_state").is_("Stable"),
            answer("after", OFFSET).is_(7),
        ),
    )


@claim(
    "offsets.deleted-ones-stay-deleted-at-the-next-coordinator",
    evidence=("OFFS-25", "OFFS-22", "OFFS-24", "KIP-229"),
    switches=("group-tombstones-missing",),
    api="DeleteGroups",
    versions=range_("DeleteGroups", 0, 0),
    **HARMED | {"releases": "2.8,4.3"},
)
def test_deleted_ones_stay_deleted_at_the_next_coordinator(case):
    """Offsets of a deleted group stay deleted at the next coordinator once the deletion is
    replicated, which releases before 4.x do not wait for."""
    topic, group, steps = a_case(case)
    other = case.group("other")
    return case.scenario(
        steps,
        commit(group, topic, 5, name="sent", **at(group, "before")),
        delete(group, version=case.version, name="ask", **at(group, "before")),
        commit(other, topic, 6, name="later one", **at(group, "before")),
        moved(group),
        Until(fetch(other, topic, name="other after", **at(group, "after")), OFFSET, "==", 6),
        fetch(group, topic, name="after", **at(group, "after")),
        expect=all_of(
            answer("ask", "results[0].error_code").is_(ErrorCode.NONE),
            answer("after", OFFSET).is_(-1),
            answer("other after", OFFSET).is_(6),
        ),
    )


@claim(
    "offsets.only-the-coordinator-takes-commits",
    evidence=("OFFS-04", "GROUP-03"),
    api="OffsetCommit",
    versions=range_("OffsetCommit", 1),
    **WHOLE,
)
def test_only_the_coordinator_takes_commits(case):
    """OffsetCommit at a broker that is not the coordinator answers NOT_COORDINATOR and stores
    nothing."""
    topic, group, steps = a_case(case)
    return case.scenario(
        steps,
        commit(group, topic, 7, version=case.version, name="ask"),
        commit(group, case.topic("strange"), 7, name="strange"),
        fetch(group, topic, name="after", **at(group, "before")),
        expect=all_of(
            answer("ask", CODE).is_(ErrorCode.NOT_COORDINATOR), answer("after", OFFSET).is_(-1)
        ),
    )


@claim(
    "offsets.only-the-coordinator-has-them",
    evidence=("OFFS-04", "OFFS-20"),
    switches=("anybody-coordinates",),
    api="OffsetFetch",
    versions=range_("OffsetFetch", 1),
    **WHOLE,
)
def test_only_the_coordinator_has_them(case):
    """OffsetFetch at a broker that is not the coordinator answers NOT_COORDINATOR, for each
    partition in version 1 and once since version 2."""
    topic, group, steps = a_case(case)
    path = CODE if case.version == 1 else fetched("error_code", case.version)
    return case.scenario(
        steps,
        commit(group, topic, 7, name="sent", **at(group, "before")),
        fetch(group, topic, 0, 1, version=case.version, name="ask"),
        expect=answer("ask", path).is_(ErrorCode.NOT_COORDINATOR),
    )


@claim(
    "offsets.only-the-coordinator-deletes-them",
    evidence=("OFFS-04", "KIP-496"),
    switches=("anybody-coordinates",),
    api="OffsetDelete",
    versions=range_("OffsetDelete", 0),
    **WHOLE | {"releases": "2.8,4.3"},
)
def test_only_the_coordinator_deletes_them(case):
    """OffsetDelete and DeleteGroups at a broker that is not the coordinator answer NOT_COORDINATOR
    and delete nothing."""
    topic, group, steps = a_case(case)
    return case.scenario(
        steps,
        commit(group, topic, 7, name="sent", **at(group, "before")),
        delete_offsets(group, topic, name="ask"),
        delete(group, name="group"),
        fetch(group, topic, name="after", **at(group, "before")),
        expect=all_of(
            answer("ask", "error_code").is_(ErrorCode.NOT_COORDINATOR),
            answer("group", "results[0].error_code").is_(ErrorCode.NOT_COORDINATOR),
            answer("after", OFFSET).is_(7),
        ),
    )
