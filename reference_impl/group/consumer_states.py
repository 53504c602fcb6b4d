"""A consumer group and its members change state by total tables.

A member's heartbeat is classified by what it says and by the target's epoch; the cell says which
step it takes (`reconciliation.py`). A group is in the state that its epochs and members make, so
its table says where it is after an operation by what is seen of it then.

Sources: KIP-848; CurrentAssignmentBuilder, ConsumerGroup.maybeUpdateGroupState@4.3.1;
observed on 4.3.1.
"""

from __future__ import annotations

from enum import Enum

from touchstone.reference_impl.group.consumer_group import ConsumerGroup, GroupState, MemberState
from touchstone.reference_impl.tables import Table


class MemberReport(Enum):
    CURRENT = "the target's epoch is the member's, which wants what it wanted"
    NARROWED = "the target's epoch is the member's, which wants other topics now"
    BEHIND = "the target is of another epoch than the member"
    HOLDS = "the member may still own what it has to give up"
    HOLDS_NARROWED = "the member may still own it, and wants other topics now"


class Step(Enum):
    STAY = "nothing changes"
    DROP = "give up what is not wanted any more"
    ADVANCE = "walk towards the target: give up first, else take what is free"
    IMPOSSIBLE = "cannot happen"


class GroupProgress(Enum):
    NOBODY = "no member is left"
    UNASSIGNED = "the group's epoch is past its target's"
    WALKING = "a member is not where its target is"
    ARRIVED = "every member has its target"


_M, _S = MemberState, Step
MEMBERS: Table[MemberState, MemberReport, Step] = Table(
    MemberState,
    MemberReport,
    {
        (_M.STABLE, MemberReport.CURRENT): _S.STAY,
        (_M.STABLE, MemberReport.NARROWED): _S.DROP,
        (_M.STABLE, MemberReport.BEHIND): _S.ADVANCE,
        (_M.STABLE, MemberReport.HOLDS): _S.IMPOSSIBLE,
        (_M.STABLE, MemberReport.HOLDS_NARROWED): _S.IMPOSSIBLE,
        (_M.UNREVOKED, MemberReport.CURRENT): _S.ADVANCE,
        (_M.UNREVOKED, MemberReport.NARROWED): _S.ADVANCE,
        (_M.UNREVOKED, MemberReport.BEHIND): _S.ADVANCE,
        (_M.UNREVOKED, MemberReport.HOLDS): _S.STAY,
        (_M.UNREVOKED, MemberReport.HOLDS_NARROWED): _S.DROP,
        (_M.UNRELEASED, MemberReport.CURRENT): _S.ADVANCE,
        (_M.UNRELEASED, MemberReport.NARROWED): _S.ADVANCE,
        (_M.UNRELEASED, MemberReport.BEHIND): _S.ADVANCE,
        (_M.UNRELEASED, MemberReport.HOLDS): _S.IMPOSSIBLE,
        (_M.UNRELEASED, MemberReport.HOLDS_NARROWED): _S.IMPOSSIBLE,
    },
)

_BY_SIGHT = {
    GroupProgress.NOBODY: GroupState.EMPTY,
    GroupProgress.UNASSIGNED: GroupState.ASSIGNING,
    GroupProgress.WALKING: GroupState.RECONCILING,
    GroupProgress.ARRIVED: GroupState.STABLE,
}
GROUPS: Table[GroupState, GroupProgress, GroupState] = Table(
    GroupState,
    GroupProgress,
    {(state, sight): _BY_SIGHT[sight] for state in GroupState for sight in GroupProgress},
)


def seen(group: ConsumerGroup) -> GroupProgress:
    if not group.members:
        return GroupProgress.NOBODY
    if group.epoch > group.assignment_epoch:
        return GroupProgress.UNASSIGNED
    arrived = all(m.reconciled(group.assignment_epoch) for m in group.members.values())
    return GroupProgress.ARRIVED if arrived else GroupProgress.WALKING


def stand(group: ConsumerGroup) -> None:
    """The state that the group is in after an operation."""
    group.state = GROUPS[group.state, seen(group)]


def loaded(group: ConsumerGroup) -> None:
    """The state of a group that was read from the log, where no state stands."""
    group.state = _BY_SIGHT[seen(group)]
