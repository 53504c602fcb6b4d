"""A member takes one step towards its target: it gives up first and takes afterwards.

A task is free for a process only when nobody else has it active and this process has nothing of it,
so that the state on a disk is never opened twice. A total table says what a member does; the step
itself is the same from every state.

Sources: KIP-1071; CurrentAssignmentBuilder@4.3.1; observed on 4.3.1.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from touchstone.reference_impl.group.streams.group import MemberState, StreamsMember
from touchstone.reference_impl.group.streams.holders import Holders
from touchstone.reference_impl.group.streams.tasks import HeldTasks, Task, Tasks, overlap
from touchstone.reference_impl.tables import Table


class Report(Enum):
    """What a member's heartbeat means for its tasks."""

    CURRENT = "the target's epoch is the member's"
    BEHIND = "the target is of another epoch than the member"
    HOLDS = "the member may still own what it has to give up"


class Step(Enum):
    STAY = "nothing changes"
    ADVANCE = "walk towards the target from the member's epoch"
    NEXT_EPOCH = "what was given up is gone: walk on from the epoch after the member's"
    IMPOSSIBLE = "cannot happen"


_M, _R, _S = MemberState, Report, Step
MEMBERS: Table[MemberState, Report, Step] = Table(
    MemberState,
    Report,
    {
        (_M.STABLE, _R.CURRENT): _S.STAY,
        (_M.STABLE, _R.BEHIND): _S.ADVANCE,
        (_M.STABLE, _R.HOLDS): _S.IMPOSSIBLE,
        (_M.UNREVOKED, _R.CURRENT): _S.NEXT_EPOCH,
        (_M.UNREVOKED, _R.BEHIND): _S.NEXT_EPOCH,
        (_M.UNREVOKED, _R.HOLDS): _S.STAY,
        (_M.UNRELEASED, _R.CURRENT): _S.ADVANCE,
        (_M.UNRELEASED, _R.BEHIND): _S.ADVANCE,
        (_M.UNRELEASED, _R.HOLDS): _S.IMPOSSIBLE,
    },
)


def reconcile(
    member: StreamsMember, target: Tasks, epoch: int, *, owned: Tasks | None, taken: Holders
) -> StreamsMember:
    """The member after its step; itself where it stays.

    `owned` is None if it said nothing; `taken` are the holders before this step, itself among them.
    """
    step = MEMBERS[member.state, _report(member, epoch, owned)]
    if step is Step.STAY:
        return member
    at = member.epoch + (step is Step.NEXT_EPOCH)
    return _advance(member, target, epoch, at, owned, taken)


def _report(member: StreamsMember, epoch: int, owned: Tasks | None) -> Report:
    holds = owned is None or overlap(owned, member.revoking)
    if member.state is MemberState.UNREVOKED and holds:
        return Report.HOLDS
    return Report.CURRENT if member.epoch == epoch else Report.BEHIND


def _advance(
    member: StreamsMember,
    target: Tasks,
    epoch: int,
    at: int,
    owned: Tasks | None,
    taken: Holders,
) -> StreamsMember:
    held = member.assigned

    def is_mine(task: Task) -> bool:
        return (task, member.process_id) in taken.passive

    def active_taken(task: Task) -> bool:
        return task in taken.active or is_mine(task)

    def passive_taken(task: Task) -> bool:
        return taken.active.get(task) == member.process_id or is_mine(task)

    kept = HeldTasks(
        {task: since for task, since in held.active.items() if task in target.active},
        held.standby & target.standby,
        held.warmup & target.warmup,
    )
    revoking = HeldTasks(
        {task: since for task, since in held.active.items() if task not in target.active},
        held.standby - target.standby,
        held.warmup - target.warmup,
    )
    if revoking and (owned is None or overlap(owned, revoking)):
        return member.walked_to(at, MemberState.UNREVOKED, kept, revoking)
    active, active_waits = _free(target.active - kept.active.keys(), active_taken)
    standby, standby_waits = _free(target.standby - kept.standby, passive_taken)
    warmup, warmup_waits = _free(target.warmup - kept.warmup, passive_taken)
    waits = active_waits or standby_waits or warmup_waits
    state = MemberState.UNRELEASED if waits else MemberState.STABLE
    free = HeldTasks(dict.fromkeys(active, epoch), standby, warmup)
    return member.walked_to(epoch, state, kept.joined(free), HeldTasks())


def _free(
    wanted: frozenset[Task], is_taken: Callable[[Task], bool]
) -> tuple[frozenset[Task], bool]:
    """The tasks that can be taken now, and whether others have to be waited for."""
    free = frozenset(task for task in wanted if not is_taken(task))
    return free, free != wanted
