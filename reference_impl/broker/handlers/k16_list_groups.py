"""ListGroups: the groups this broker coordinates.

v4 only groups in the states asked for (KIP-518); v5 only groups of the types asked for (KIP-848).
States are named without regard to case from 3.9 on.

While a partition is being loaded the answer says so (GroupManager.isLoading@2.8.2).

Sources: GROUP-31; observed on all five releases.
"""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.reference_impl.broker.coordinators.groups import Groups
from touchstone.reference_impl.broker.coordinators.share_groups import SHARE, ShareGroups
from touchstone.reference_impl.broker.effects import Request
from touchstone.reference_impl.broker.personas.persona import Persona
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

CLASSIC, CONSUMER, STREAMS = "classic", "consumer", "streams"


def handle(
    request: Request, groups: Groups, shares: ShareGroups, persona: Persona, now: int
) -> Struct:
    states = {_folded(persona, name) for name in request.body["states_filter"]}
    types = {name.lower() for name in request.body["types_filter"]}
    code = ErrorCode.NONE
    if groups.log.loads():
        code = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        if not persona.quirk("groups.loaded-ones-are-listed-meanwhile"):
            return {"error_code": code, "groups": []}
    rows = []
    for group_id, protocol, state, kind in _groups(groups, shares):
        if states and _folded(persona, state) not in states:
            continue
        if types and kind not in types:
            continue
        rows.append(
            {
                "group_id": group_id,
                "protocol_type": protocol,
                "group_state": state,
                "group_type": kind,
            }
        )
    return {"error_code": code, "groups": rows}


def _groups(groups: Groups, shares: ShareGroups) -> Iterator[tuple[str, str, str, str]]:
    """(id, protocol type, state, type) of every group there is."""
    for group in groups.coordinator.groups.values():
        newer = CONSUMER if group.streams_group is None else STREAMS
        kind = CLASSIC if group.newer_half is None else newer
        yield group.id, group.protocol_type or "", groups.state_name(group), kind
    for share_group in shares.groups.values():
        yield share_group.id, SHARE, share_group.state, SHARE


def _folded(persona: Persona, name: str) -> str:
    loosely = persona.quirk("groups.states-are-named-in-any-case")
    return name.lower() if loosely else name
