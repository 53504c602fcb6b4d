"""A defect changes one method of an object from outside; the code that it changes knows nothing.

A row of the table says which switch changes which method of which class, and how. The change gets
the real method, already bound, then the object and what the method was called with:

    @defect("anybody-coordinates", Groups, "coordinates")
    def anybody_coordinates(real, groups, group_id):
        return True

An object is planted by being given a subclass of its class that has the changed methods; properties
change as methods do. Whatever of its attributes is in the table is planted with it, and what one of
its `MAKERS` makes later is planted then. Objects of the same class elsewhere stay as they are,
so brokers with and without a switch live in one process.

A handler is changed in the same way, by its API key; see `handler_defect`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, partial
from inspect import getattr_static
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")
Change = Callable[..., Any]
ANY = ""  # a row for whatever is planted


class Row(NamedTuple):
    switch: str
    kind: type
    method: str
    change: Change


ROWS: list[Row] = []
HANDLERS: list[tuple[str, int, Change]] = []
_ONCE: list[tuple[str, type, Callable[[Any], None]]] = []
_HOLDERS: set[type] = set()


def defect(switch: str, kind: type, *methods: str) -> Callable[[Change], Change]:
    """Have the switch change these methods of the class."""

    def added(change: Change) -> Change:
        ROWS.extend(Row(switch, kind, method, change) for method in methods)
        return change

    return added


def setting(switch: str, kind: type) -> Callable[[Change], Change]:
    """Have the switch change an object once, when it is planted."""

    def added(change: Change) -> Change:
        _ONCE.append((switch, kind, change))
        return change

    return added


def handler_defect(switch: str, key: int) -> Callable[[Change], Change]:
    """Have the switch change an API: `change(real, broker, request, now)`."""

    def added(change: Change) -> Change:
        HANDLERS.append((switch, key, change))
        return change

    return added


def holder(kind: type) -> None:
    """Objects of this class have no defects of their own, and their attributes do."""
    _HOLDERS.add(kind)


def maker(kind: type, method: str) -> None:
    """What this method makes is planted when it is made."""
    ROWS.append(Row(ANY, kind, method, _planted_result))


def _planted_result(real: Change, one: Any, *args: Any, **named: Any) -> Any:
    return plant(real(*args, **named), type(one).switches_planted)


def plant(one: T, switches: Iterable[str]) -> T:
    """Give the object, and what belongs to it, the defects of its class; returns the object."""
    todo: list[Any] = [one]
    wanted = frozenset(switches)
    while todo:
        each = todo.pop()
        kind: Any = type(each)
        planted = _subclass(kind, wanted)
        if planted is None:
            continue
        each.__class__ = planted
        for switch, known, change in _ONCE:
            if switch in wanted and isinstance(each, known):
                change(each)
        todo += getattr(each, "__dict__", {}).values()
    return one


@cache
def _subclass(kind: type, switches: frozenset[str]) -> type | None:
    """The class with its defects; None for a class without any row, or one that has them."""
    if "switches_planted" in kind.__dict__:
        return None
    rows = [row for row in ROWS if issubclass(kind, row.kind)]
    once = [known for _, known, _ in _ONCE if issubclass(kind, known)]
    if not rows and not once and kind not in _HOLDERS:
        return None
    body: dict[str, Any] = {"__slots__": (), "switches_planted": switches}
    for row in rows:
        if row.switch == ANY or row.switch in switches:
            real = body.get(row.method) or getattr_static(kind, row.method)
            body[row.method] = _changed(real, row.change)
    return type(kind.__name__, (kind,), body)


def _changed(real: Any, change: Change) -> Any:
    if isinstance(real, property):
        assert real.fget is not None
        get = real.fget
        return property(lambda one: change(partial(get, one), one))
    return lambda one, *args, **named: change(partial(real, one), one, *args, **named)
