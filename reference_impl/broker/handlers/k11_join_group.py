"""JoinGroup: a member enters a rebalance, and hears of the new generation when it begins.

v1 rebalance timeout (KIP-62); v4 a first join is given an id (KIP-394); v5 instance ids (KIP-345);
v7 protocol type in the answer (KIP-559); v9 the leader may skip its assignment (KIP-814).

Sources: GROUP-04 to 16, 32; group/coordinator.py; observed on all five releases.
"""

from __future__ import annotations

from functools import partial

from touchstone.reference_impl.broker.coordinators.consumer_groups import ConsumerGroups
from touchstone.reference_impl.broker.coordinators.groups import Groups
from touchstone.reference_impl.broker.coordinators.share_groups import ShareGroups
from touchstone.reference_impl.broker.effects import Request, Wait, waiting
from touchstone.reference_impl.broker.personas.persona import Persona
from touchstone.reference_impl.group.join_messages import Join
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

FIRST_WITH_TIMEOUT, FIRST_ID_REQUIRED, FIRST_NULL_PROTOCOL, FIRST_SKIP = 1, 4, 7, 9


def handle(
    request: Request,
    groups: Groups,
    consumers: ConsumerGroups,
    shares: ShareGroups,
    persona: Persona,
    now: int,
) -> Struct | Wait:
    group_id = request.body["group_id"]
    code = groups.refusal(group_id, member=True, joins=True)
    if not code and shares.is_shared(group_id):
        code = ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    if code:
        generation = persona.quirk("groups.refused-join-has-generation")
        return fail(request, code) | {"generation_id": generation}
    ask, group = _join(request, persona), groups.coordinator.groups.get(group_id)
    if group is not None and group.streams_group is not None:
        if group.streams_group.members:
            return fail(request, ErrorCode.INCONSISTENT_GROUP_PROTOCOL) | {"member_id": ""}
        groups.become_classic(group, now)
    ticket = None if group is None else consumers.join(group, ask, now)
    if ticket is None:
        ticket = groups.coordinator.join(ask, now)
        if group is None:
            groups.write_empty(group_id, now)
    return waiting(ticket, partial(_answer, request.header.version))


def _join(request: Request, persona: Persona) -> Join:
    """What the member asks for, in the words of the newest version."""
    body, version = request.body, request.header.version
    protocols = [(row["name"], bytes(row["metadata"])) for row in body["protocols"]]
    if persona.quirk("groups.protocols-are-a-set"):
        first = dict(reversed(protocols))
        protocols = [(name, first[name]) for name in dict.fromkeys(name for name, _ in protocols)]
    session = body["session_timeout_ms"]
    return Join(
        group_id=body["group_id"],
        member_id=body["member_id"],
        instance_id=body["group_instance_id"],
        client_id=request.header.client_id or "",
        client_host="/" + request.connection.peer_host,
        session_timeout_ms=session,
        rebalance_timeout_ms=(
            body["rebalance_timeout_ms"] if version >= FIRST_WITH_TIMEOUT else session
        ),
        protocol_type=body["protocol_type"],
        protocols=protocols,
        needs_id=version >= FIRST_ID_REQUIRED,
        may_skip=version >= FIRST_SKIP,
    )


def _answer(version: int, answer: Struct) -> Struct:
    if version < FIRST_NULL_PROTOCOL and answer["protocol_name"] is None:
        return {**answer, "protocol_name": ""}
    return answer


def fail(request: Request, code: int) -> Struct:
    nulls = request.header.version >= FIRST_NULL_PROTOCOL
    return {
        "error_code": code,
        "generation_id": -1,
        "protocol_name": None if nulls else "",
        "leader": "",
        "member_id": request.body["member_id"],
        "members": [],
    }
