"""Which error codes of an answer `ErrorsPerSec` counts, NONE among them.

Nearly every answer counts each code that its version has a place for: its own, and that of each
row. The tables are the exceptions that Kafka's response classes make.

Source: errorCounts() of all subclasses of AbstractResponse at 4.3.1, whose choices hold for older
personas here as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from touchstone.reference_impl.wire.apis import API
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import fields_of

if TYPE_CHECKING:
    from touchstone.reference_impl.wire.schema import Rows, Struct

FETCH, METADATA, DELETE_ACLS, DESCRIBE_LOG_DIRS, ELECT_LEADERS = 1, 3, 31, 35, 43
DESCRIBE_SCRAM, UNREGISTER_BROKER, ADD_RAFT_VOTER, REMOVE_RAFT_VOTER = 50, 64, 80, 81
ROWS_ALONE = frozenset({METADATA, DESCRIBE_SCRAM})  # their own code is not counted
OWN_IN_ALL_VERSIONS = frozenset({FETCH, DESCRIBE_LOG_DIRS, ELECT_LEADERS})
FAILURES_ALONE = frozenset({UNREGISTER_BROKER, ADD_RAFT_VOTER, REMOVE_RAFT_VOTER})
NOT_ENTERED = frozenset({(DELETE_ACLS, "matching_acls")})
CODE = "error_code"


class _Plan(NamedTuple):
    """Where a struct has codes: one of its own, and in fields that are structs or arrays."""

    own: bool
    fields: tuple[tuple[str, _Plan], ...]


def counted(key: int, version: int, body: Struct) -> Iterator[int]:
    """The codes of an answer, in which a field that is left out has its default."""
    found = _codes(_plan_of(key, version), body)
    return (code for code in found if code) if key in FAILURES_ALONE else found


def _codes(plan: _Plan, row: Struct) -> Iterator[int]:
    if plan.own:
        yield row.get(CODE, ErrorCode.NONE)
    for name, inner in plan.fields:
        value = row.get(name) or ()
        for each in (value,) if isinstance(value, dict) else value:
            yield from _codes(inner, each)


@cache
def _plan_of(key: int, version: int) -> _Plan:
    found = _plan(key, API[key].response.fields, version)
    if key in ROWS_ALONE:
        return found._replace(own=False)
    return found._replace(own=True) if key in OWN_IN_ALL_VERSIONS else found


def _plan(key: int, rows: Rows, version: int) -> _Plan:
    fields = fields_of(rows, version)
    inner = [
        (each.name, _plan(key, each.fields, version))
        for each in fields
        if each.fields and (key, each.name) not in NOT_ENTERED
    ]
    own = any(each.name == CODE for each in fields)
    return _Plan(own, tuple((name, plan) for name, plan in inner if plan.own or plan.fields))
