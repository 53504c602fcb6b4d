"""A guard stands before a handler: it passes on what the peer may do, and answers the rest itself.

What is refused is answered in the API's own form, by its handler's `fail`. A request whose parts
stand alone is split: the handler gets those that are allowed, and its answer, now or when it comes,
is joined by the rows of the others. Guards are values; `guards.py` is the table that says which API
has which. A handler knows of none of this, but for the few that keep parts from one request to the
next (sessions): they ask `Request.access`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from touchstone.reference_impl.broker import registry
from touchstone.reference_impl.broker.effects import Hangup, Request, Wait
from touchstone.reference_impl.broker.personas.persona import Persona
from touchstone.reference_impl.broker.security.acls.access import Access
from touchstone.reference_impl.cluster.acls import CLUSTER_NAME, Operation, ResourceType
from touchstone.reference_impl.cluster.view import MetadataView
from touchstone.reference_impl.wire.errors import ErrorCode as E
from touchstone.reference_impl.wire.schema import Struct

TOPIC, GROUP, CLUSTER = ResourceType.TOPIC, ResourceType.GROUP, ResourceType.CLUSTER
TRANSACTIONAL_ID = ResourceType.TRANSACTIONAL_ID
CONSUMER, SHARE, STREAMS = "consumer", "share", "streams"
REFUSALS = {
    TOPIC: E.TOPIC_AUTHORIZATION_FAILED,
    GROUP: E.GROUP_AUTHORIZATION_FAILED,
    CLUSTER: E.CLUSTER_AUTHORIZATION_FAILED,
    TRANSACTIONAL_ID: E.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
}


@dataclass(frozen=True, slots=True)
class Asked:
    """A request, what its peer may do, and what a guard may know to judge it."""

    request: Request
    access: Access
    persona: Persona
    metadata: MetadataView
    config: Mapping[str, str]
    controls: bool  # whether this broker is where the controller is
    speaks: Callable[[str], bool]  # whether a protocol of groups is on: CONSUMER, SHARE, STREAMS

    @property
    def body(self) -> Struct:
        return self.request.body

    @property
    def version(self) -> int:
        return self.request.header.version

    def having(self, **fields: object) -> Asked:
        """The same request with these fields of its body."""
        return replace(self, request=replace(self.request, body={**self.body, **fields}))

    def refused(self, code: int) -> Struct | Hangup:
        """The whole request, refused in its own way."""
        body = registry.refusal(self.request, code)
        return Hangup(f"error {code}, which the answer has no place for") if body is None else body


Serve = Callable[[Asked], Any]
Guard = Callable[[Asked, Serve], Any]
NameOf = Callable[[Asked, Any], str | None]


def once_there(answer: Any, form: Callable[[Struct], Struct]) -> Any:
    """`form` of an answer's body, now or when it comes; of no other answer."""
    if type(answer) is dict:
        return form(answer)
    if not isinstance(answer, Wait):
        return answer
    attempt, expire = answer.attempt, answer.expire
    answer.attempt = lambda now: once_there(attempt(now), form)
    answer.expire = lambda now: once_there(expire(now), form)
    return answer


def open_to_all(asked: Asked, serve: Serve) -> Any:
    return serve(asked)


def chain(*guards: Guard) -> Guard:
    """The first guards before the second, and so on."""

    def guard(asked: Asked, serve: Serve) -> Any:
        for each in reversed(guards):
            serve = _behind(each, serve)
        return serve(asked)

    return guard


def _behind(guard: Guard, serve: Serve) -> Serve:
    return lambda asked: guard(asked, serve)


def cluster(*operations: Operation) -> Guard:
    """Whoever may do one of these to the cluster; CLUSTER_AUTHORIZATION_FAILED for all others."""

    def guard(asked: Asked, serve: Serve) -> Any:
        if any(asked.access.cluster(operation) for operation in operations):
            return serve(asked)
        return asked.refused(E.CLUSTER_AUTHORIZATION_FAILED)

    return guard


def named(kind: ResourceType, operation: Operation, field: str) -> Guard:
    """Whoever may do this to the one resource that the field names; null names none."""

    def guard(asked: Asked, serve: Serve) -> Any:
        name = asked.body[field]
        if name is None or asked.access.may(operation, kind, name):
            return serve(asked)
        return asked.refused(REFUSALS[kind])

    return guard


def at_controller(guard: Guard) -> Guard:
    """The guard where the controller is; elsewhere a ZooKeeper release says NOT_CONTROLLER."""

    def guarded(asked: Asked, serve: Serve) -> Any:
        return guard(asked, serve) if asked.controls else serve(asked)

    return guarded


def while_on(protocol: str, guard: Guard) -> Guard:
    """The guard while this protocol of groups is on; else everybody hears that it is not."""

    def guarded(asked: Asked, serve: Serve) -> Any:
        return guard(asked, serve) if asked.speaks(protocol) else serve(asked)

    return guarded


def of_field(field: str | None) -> NameOf:
    """A row's name stands in this field, or is the row."""
    return lambda asked, row: row if field is None else row[field]


def of_topic(field: str = "name") -> NameOf:
    """A row's topic, by name or by id; None for an id that nobody has."""

    def name_of(asked: Asked, row: Struct) -> str | None:
        if row.get(field):
            return row[field]
        topic = asked.metadata.by_id.get(row.get("topic_id", b""))
        return None if topic is None else topic.name

    return name_of


@dataclass(frozen=True)
class Rows:
    """A request whose rows are allowed one by one.

    `field` holds the rows of the request and `answers` those of the answer. A row without a name is
    passed on: what it means, its handler knows.
    """

    kind: ResourceType
    operation: Operation
    field: str
    answers: str
    name_of: NameOf
    first: bool = False  # whether refused rows come before the others
    denied: Callable[[Any, int], Struct] | None = None  # a refused row, where `fail` makes none
    empty: bool = False  # whether the handler is asked even when nothing is left

    def __call__(self, asked: Asked, serve: Serve) -> Any:
        rows = asked.body[self.field]
        if not rows:
            return serve(asked)
        denied = [row for row in rows if not self._allowed(asked, row)]
        if not denied:
            return serve(asked)
        refused = self._refused(asked, denied)
        if isinstance(refused, Hangup):
            return refused
        allowed = [row for row in rows if self._allowed(asked, row)]
        if not allowed and not self.empty:
            return {self.answers: refused}
        served = serve(asked.having(**{self.field: allowed}))
        return once_there(served, lambda body: self._joined(body, refused))

    def _allowed(self, asked: Asked, row: Any) -> bool:
        name = self.name_of(asked, row)
        return name is None or asked.access.may(self.operation, self.kind, name)

    def _refused(self, asked: Asked, rows: list[Any]) -> list[Struct] | Hangup:
        code = REFUSALS[self.kind]
        if self.denied is not None:
            return [self.denied(row, code) for row in rows]
        whole = asked.having(**{self.field: rows}).refused(code)
        return whole if isinstance(whole, Hangup) else whole[self.answers]

    def _joined(self, body: Struct, refused: list[Struct]) -> Struct:
        """An error of the whole answer leaves no room for rows."""
        if body.get("error_code"):
            return body
        served = body.get(self.answers, ())
        pair = [*refused, *served] if self.first else [*served, *refused]
        return {**body, self.answers: pair}


def left_out(
    kind: ResourceType,
    operation: Operation,
    answers: str,
    field: str,
    *,
    unless: Operation | None = None,
) -> Guard:
    """Rows of the answer that the peer may not see are not in it; `unless` it may do that to the
    cluster.
    """

    def guard(asked: Asked, serve: Serve) -> Any:
        may = asked.access.may
        if unless is not None and asked.access.cluster(unless):
            return serve(asked)

        def form(body: Struct) -> Struct:
            rows = [row for row in body.get(answers, ()) if may(operation, kind, row[field])]
            return {**body, answers: rows}

        return once_there(serve(asked), form)

    return guard


def told_bits(kind: ResourceType, answers: str, field: str, bits: str) -> Guard:
    """Of the operations that a row of the answer names, those that are allowed (KIP-430)."""

    def guard(asked: Asked, serve: Serve) -> Any:
        def told(row: Struct) -> Struct:
            if row.get(bits, -1) < 0:  # not asked for
                return row
            return {**row, bits: asked.access.bits(row[bits], kind, row[field] or "")}

        def form(body: Struct) -> Struct:
            return {**body, answers: [told(row) for row in body.get(answers, ())]}

        return once_there(serve(asked), form)

    return guard


def cluster_bits(asked: Asked, serve: Serve) -> Any:
    """The same of the cluster: none to whoever may not describe it."""
    bits = "cluster_authorized_operations"

    def form(body: Struct) -> Struct:
        if body.get(bits, -1) < 0:
            return body
        seen = asked.access.cluster(Operation.DESCRIBE)
        allowed = asked.access.bits(body[bits], CLUSTER, CLUSTER_NAME) if seen else 0
        return {**body, bits: allowed}

    return once_there(serve(asked), form)
