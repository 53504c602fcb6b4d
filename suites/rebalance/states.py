"""The states of a classic group, as steps that bring it there: the rows of the matrix.

Two members a and b: a joined first and leads. A member that joins a group without an initial delay
gets a generation of its own, so the two meet in the second. In PreparingRebalance a third, c, has
joined and waits for them. A group without members had a once.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from touchstone.harness.model.scenario import Await
from touchstone.suites.kit.groups import (
    JOIN,
    PREPARING,
    again,
    comes,
    coordinated,
    leave,
    sync,
    two,
    until,
)
from touchstone.suites.kit.in_flight import sent

PLAN = {"a": b"part of a", "b": b"part of b"}


class State(NamedTuple):
    """A row: what its steps come to, who is in the group, who waits, and its generation."""

    name: str
    sentence: str
    kafkas: str  # as Kafka calls it
    steps: Callable[[Any], list[Any]]
    members: str
    waiting: str
    generation: int


def together(group: Any) -> list[Any]:
    """Both have joined, in generation 2; nobody has an assignment."""
    return two(group)


def assigned(group: Any) -> list[Any]:
    """And a, who leads, has given both their parts."""
    return [
        *together(group),
        sent(sync("b", group, 2, name="b synced")),
        sync("a", group, 2, PLAN, name="a synced"),
        Await("b synced"),
    ]


def _empty(group: Any) -> list[Any]:
    return [comes("a", group), leave("a", group, name="a left")]


def _preparing(group: Any) -> list[Any]:
    return [*assigned(group), sent(comes("c", group)), until(group, PREPARING, "c has come")]


STATES: dict[str, State] = {
    state.name: state
    for state in (
        State("unknown", "When the group does not exist", "Dead", lambda group: [], "", "", 1),
        State("empty", "When the group is Empty", "Empty", _empty, "", "", 1),
        State("preparing", "In PreparingRebalance", "PreparingRebalance", _preparing,
              "ab", "c", 2),
        State("completing", "In CompletingRebalance", "CompletingRebalance", together,
              "ab", "", 2),
        State("stable", "In Stable", "Stable", assigned, "ab", "", 2),
    )
}  # fmt: skip


def steps_into(name: str, group: Any) -> list[Any]:
    """A coordinator that serves and the steps into the state."""
    return [*coordinated(group), *STATES[name].steps(group)]


def returned(group: Any, *who: str, version: int = JOIN) -> list[Any]:
    """These join again, so that the phase can end; and what they are told."""
    return [
        *[sent(again(one, group, f"{one} returns", version=version)) for one in who],
        *[Await(f"{one} returns") for one in who],
    ]
