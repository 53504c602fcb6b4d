"""ListGroups: the groups this broker coordinates.

v4 only groups in the states asked for (KIP-518); v5 only groups of the types asked for (KIP-848).
States are named without regard to case from 3.9 on.

Sources: GROUP-31; observed on all five releases.
"""

from __future__ import annotations

from typing import Any

from reference_impl.broker.broker import Broker
from reference_impl.broker.effects import Request
from reference_impl.broker.groups import coordinator_of, state_name
from reference_impl.wire.errors import ErrorCode

CLASSIC, CONSUMER = "classic", "consumer"


def handle(request: Request, broker: Broker, now: int) -> dict[str, Any]:
    states = {_folded(broker, name) for name in request.body["states_filter"]}
    types = {name.lower() for name in request.body["types_filter"]}
    rows = []
    for group in coordinator_of(broker).groups.values():
        state = state_name(broker, group)
        if states and _folded(broker, state) not in states:
            continue
        kind = CLASSIC if group.modern is None else CONSUMER
        if types and kind not in types:
            continue
        rows.append(
            {
                "group_id": group.id,
                "protocol_type": group.protocol_type or "",
                "group_state": state,
                "group_type": kind,
            }
        )
    return {"error_code": ErrorCode.NONE, "groups": rows}


def _folded(broker: Broker, name: str) -> str:
    loosely = broker.persona.quirk("groups.states-are-named-in-any-case")
    return name.lower() if loosely else name
