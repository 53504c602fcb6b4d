"""The lives of a consumer group and of its members, as total tables.

A member's heartbeat is classified by what it says and by the target's epoch; the cell says which
step it takes (`reconciliation.py`). A group is in the state that its epochs and members make, so
its table says where it is after an operation by what is seen of it then.

Sources: KIP-848; CurrentAssignmentBuilder, ConsumerGroup.maybeUpdateGroupState@4.3.1 (facts);
observed on 4.3.1.
"""

from __future__ import annotations

from enum import Enum

from touchstone.reference_impl.group.consumer_group import GroupState, MemberState, ModernGroup
from touchstone.reference_impl.tables import Table


class Said(Enum):
    CURRENT = "the target's epoch is the member's, which wants what it wanted"
    NARROWED = "the target's epoch is the member's, which wants other topics now"
    BEHIND = "the target is of another epoch than the member"
    HOLDS = "the member may still own what it has to give up"
    HOLDS_NARROWED = "the member may still own it, and wants other topics now"


class Step(Enum):
    STAY = "nothing changes"
    DROP = "give up what is not wanted any more"
    ADVANCE = "walk towards the target: give up first, else take what is free"
    FAULT = "cannot happen"


class Seen(Enum):
    NOBODY = "no member is left"
    UNASSIGNED = "the group's epoch is past its target's"
    WALKING = "a member is not where its target is"
    ARRIVED = "every member has its target"


_M, _S = MemberState, Step
MEMBERS: Table[MemberState, Said, Step] = Table(
    MemberState,
    Said,
    {
        (_M.STABLE, Said.CURRENT): _S.STAY,
        (_M.STABLE, Said.NARROWED): _S.DROP,
        (_M.STABLE, Said.BEHIND): _S.ADVANCE,
        (_M.STABLE, Said.HOLDS): _S.FAULT,
        (_M.STABLE, Said.HOLDS_NARROWED): _S.FAULT,
        (_M.UNREVOKED, Said.CURRENT): _S.ADVANCE,
        (_M.UNREVOKED, Said.NARROWED): _S.ADVANCE,
        (_M.UNREVOKED, Said.BEHIND): _S.ADVANCE,
        (_M.UNREVOKED, Said.HOLDS): _S.STAY,
        (_M.UNREVOKED, Said.HOLDS_NARROWED): _S.DROP,
        (_M.UNRELEASED, Said.CURRENT): _S.ADVANCE,
        (_M.UNRELEASED, Said.NARROWED): _S.ADVANCE,
        (_M.UNRELEASED, Said.BEHIND): _S.ADVANCE,
        (_M.UNRELEASED, Said.HOLDS): _S.FAULT,
        (_M.UNRELEASED, Said.HOLDS_NARROWED): _S.FAULT,
    },
)

_BY_SIGHT = {
    Seen.NOBODY: GroupState.EMPTY,
    Seen.UNASSIGNED: GroupState.ASSIGNING,
    Seen.WALKING: GroupState.RECONCILING,
    Seen.ARRIVED: GroupState.STABLE,
}
GROUPS: Table[GroupState, Seen, GroupState] = Table(
    GroupState,
    Seen,
    {(state, sight): _BY_SIGHT[sight] for state in GroupState for sight in Seen},
)


def seen(group: ModernGroup) -> Seen:
    if not group.members:
        return Seen.NOBODY
    if group.epoch > group.assignment_epoch:
        return Seen.UNASSIGNED
    arrived = all(m.reconciled(group.assignment_epoch) for m in group.members.values())
    return Seen.ARRIVED if arrived else Seen.WALKING


def stand(group: ModernGroup) -> None:
    """The state that the group is in after an operation."""
    group.state = GROUPS[group.state, seen(group)]


def loaded(group: ModernGroup) -> None:
    """The state of a group that was read from the log, where no state stands."""
    group.state = _BY_SIGHT[seen(group)]
