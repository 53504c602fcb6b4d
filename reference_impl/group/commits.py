"""A group accepts or refuses a commit by membership, generation and state, in Kafka's order.

Releases up to 2.2 look at the state before they look at the member (`Cell.first`); a commit without
a generation is a simple consumer's, and only a group without members takes it. Who commits is
alive. Transactions say who they are or say nothing (KIP-447).

Sources: OFFS-05 to OFFS-13; GroupCoordinator.doCommitOffsets@1.0.2, 2.2.1, 2.8.2.
"""

from __future__ import annotations

from touchstone.reference_impl.group.coordinator import Coordinator
from touchstone.reference_impl.group.members import Group
from touchstone.reference_impl.group.states import Do, Input, State
from touchstone.reference_impl.wire.errors import ErrorCode


def may_commit(
    coordinator: Coordinator,
    group: Group,
    member_id: str,
    instance_id: str | None,
    generation: int,
    now: int,
) -> int:
    """The error code of such a commit, NONE if it is taken."""
    simple = generation < 0 and (
        coordinator.rules.early or group.state is State.EMPTY or not (member_id or instance_id)
    )
    given = Input.COMMIT_SIMPLE if simple else Input.COMMIT
    cell = coordinator.table.peek(group.state, given)
    guarded = not (simple and cell.do is Do.STORE)
    if guarded and not (isinstance(cell.do, ErrorCode) and cell.first):
        code = coordinator.check_member(group, member_id, instance_id, generation)
        if code and not (simple and code == cell.do):
            return code
    cell = coordinator.decide(group, given)
    if isinstance(cell.do, ErrorCode):
        return cell.do
    member = group.members.get(member_id)
    if member is not None:
        group.touch(member, now)
    return ErrorCode.NONE


def may_commit_in_transaction(
    coordinator: Coordinator, group: Group, member_id: str, instance_id: str | None, generation: int
) -> int:
    """The error code of such offsets within a transaction: who says who it is must be it."""
    if generation < 0 and not member_id and instance_id is None:
        return ErrorCode.NONE
    if coordinator.rules.offsets_by_parts:
        named = member_id or instance_id is not None
        code = (
            coordinator.check_member(group, member_id, instance_id, None)
            if named
            else ErrorCode.NONE
        )
        other = generation >= 0 and generation != group.generation
        return code or (ErrorCode.ILLEGAL_GENERATION if other else ErrorCode.NONE)
    if generation < 0 and group.state is State.EMPTY:
        return ErrorCode.NONE
    return coordinator.check_member(group, member_id, instance_id, generation)
