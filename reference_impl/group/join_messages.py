"""The coordinator takes and gives these values for JoinGroup and SyncGroup.

`Rules` is what a release and its settings decide once; `Join` is one request to join; the three
functions make the answers that refuse or end a join, or end a sync. Answers are dicts with the
newest version's fields; a handler drops what its version does not have.

Sources: GROUP-04, GROUP-14, GROUP-16; observed on all five releases.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from touchstone.reference_impl.group.members import Group, Member, Protocols
from touchstone.reference_impl.group.protocol_tie_break import Order
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

Answer = Struct
# Keeps a group with these assignments at an instant, then calls back with (error code, instant).
Keep = Callable[[Group, dict[str, bytes], int, Callable[[int, int], None]], None]
_REFUSED: Answer = {
    "protocol_type": None,
    "protocol_name": None,
    "members": [],
    "skip_assignment": False,
}


def keep_nowhere(
    group: Group, assignments: dict[str, bytes], now: int, then: Callable[[int, int], None]
) -> None:
    """There is no log to write to: it counts at once."""
    then(ErrorCode.NONE, now)


@dataclass(frozen=True, slots=True)
class Rules:
    """The decisions of releases and settings about groups."""

    early: bool  # the column of `states.table`
    min_session_ms: int
    max_session_ms: int
    initial_delay_ms: int
    max_size: int
    error_generation: int  # what a refused join says its generation is
    awaits_syncs: bool  # members that do not sync in time are removed
    new_members_lapse: bool
    tie: Order  # orders protocols with equal votes (`protocol_tie_break.py`)
    knows_instances: bool  # an instance id nobody has is an unknown member's
    offsets_by_parts: bool = False  # of a transaction: member and generation are looked at apart
    syncs_are_signs_of_life: bool = True  # asking again for an assignment
    counts_everybody: bool = False  # against the size of a group, whatever its state
    keeps_timeouts: bool = False  # a member's timeouts are those of its first join
    reads_subscriptions: bool = False  # a consumer's metadata that cannot be read stops its group
    tries_again: bool = False  # each join tries to end a phase whose end threw
    reverts_protocols: bool = False  # of a replaced static member whose new id was not kept


@dataclass(slots=True, kw_only=True)
class Join:
    group_id: str
    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocol_type: str
    protocols: Protocols
    needs_id: bool  # a first join is only given an id (KIP-394)
    may_skip: bool  # the leader can be told to skip the assignment (KIP-814)


def refusal(code: int, member_id: str, generation: int) -> Answer:
    return _REFUSED | {
        "error_code": code,
        "generation_id": generation,
        "leader": "",
        "member_id": member_id,
    }


def joined(group: Group, member: Member, *, with_members: bool) -> Answer:
    members = []
    if with_members and member.id == group.leader:
        members = [
            {
                "member_id": other.id,
                "group_instance_id": other.instance_id,
                "metadata": other.metadata(group.protocol),
            }
            for other in group.members.values()
        ]
    return {
        "error_code": ErrorCode.NONE,
        "generation_id": group.generation,
        "protocol_type": group.protocol_type,
        "protocol_name": group.protocol,
        "leader": group.leader,
        "member_id": member.id,
        "members": members,
        "skip_assignment": False,
    }


def replaced(group: Group, member: Member, ask: Join, old_leader: str | None) -> Answer:
    """What a static member hears that came back while its group stays as it is (KIP-814)."""
    leads = group.leader == member.id
    answer = joined(group, member, with_members=leads and ask.may_skip)
    if not ask.may_skip:
        answer["leader"] = old_leader
    answer["skip_assignment"] = leads and ask.may_skip
    return answer


def unkept(code: int, group: Group, leader: str | None) -> Answer:
    """What a static member hears whose new id could not be kept."""
    return {
        "error_code": code,
        "generation_id": group.generation,
        "protocol_type": group.protocol_type,
        "protocol_name": group.protocol,
        "leader": leader,
        "member_id": "",
        "members": [],
        "skip_assignment": False,
    }


def synced(code: int, group: Group | None = None, assignment: bytes = b"") -> Answer:
    return {
        "error_code": code,
        "protocol_type": group.protocol_type if group else None,
        "protocol_name": group.protocol if group else None,
        "assignment": assignment,
    }
