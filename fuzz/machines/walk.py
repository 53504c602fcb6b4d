"""From a table to scripts: a model in some state, the steps it has taken, and walks through it.

All that a walk decides is drawn from `draw`, so a script is (machine, seed, index). A walk goes to
a cell that the index chooses, by the shortest way with some detours, so that as many scripts as
there are cells try them all; then it goes on at random, mostly where nothing is refused.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Any

from touchstone.fuzz.machines.machine import Act, Batch, Cell, Machine, Var
from touchstone.fuzz.mutators import frame
from touchstone.fuzz.script import Expected, Reference, Script, Step
from touchstone.reference_impl.tables import Table
from touchstone.reference_impl.wire.apis import API
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.headers import encode_request
from touchstone.reference_impl.wire.records import build
from touchstone.reference_impl.wire.schema import Field, Struct, fields_of

Ranges = Mapping[int, tuple[int, int]]
CLIENT = "touchstone-fuzz"
BATCH_TIME = 1_700_000_000_000
OPENED = (0, int(ErrorCode.TOPIC_ALREADY_EXISTS))
"""What an opening step is answered; a topic that took long to make is there at the second try."""
VALID_SHARE = 0.9
"""Of the steps of a walk that are drawn among cells without an error code."""


class Model:
    """Where a machine stands after its steps. `take` makes the step of an action, with what its
    answer must be, and moves on as if that were the answer.
    """

    def __init__(
        self, machine: Machine, ranges: Ranges, release: str, draw: random.Random, name: str
    ) -> None:
        self.machine, self.ranges, self.draw = machine, ranges, draw
        self.table: Table[StrEnum, StrEnum, Cell] = machine.table(release)
        self.state = machine.start
        self.served = machine.served(ranges)
        self.steps: list[Step] = []
        self.trail: list[tuple[StrEnum, StrEnum] | None] = []
        self.bound: dict[str, Any] = dict(machine.unbound)
        self.names = tuple(f"{word}-{name}" for word in machine.names)
        self.bound |= dict(zip(machine.names, self.names, strict=True))
        self._waiting: dict[StrEnum, int] = {}
        self._versions: dict[tuple[int, tuple[int, int]], int] = {}
        for act in machine.opening:
            if act.served(ranges):
                self._say(act, "opening", Expected(OPENED), newest=True)
                self._bind(act, len(self.steps) - 1)

    @property
    def script(self) -> Script:
        return Script(tuple(self.steps), self.names)

    def available(self) -> list[StrEnum]:
        """The actions that can be asked in this state."""
        return [action for action in self.served if not self.table.peek(self.state, action).unasked]

    def take(self, action: StrEnum) -> Step:
        """Take an action of `available`."""
        cell, act = self.table[self.state, action], self.machine.acts[action]
        self.trail += [None] * (len(self.steps) - len(self.trail)) + [(self.state, action)]
        waiting = next((one for one in cell.releases if one in self._waiting), None)
        number = None if waiting is None else self._release(waiting, cell.released)
        expected = self._expected(cell, number)
        step = self._say(act, f"{action} [{self.state}]", expected)
        if cell.held:
            self._waiting[action] = len(self.steps) - 1
        elif cell.brings:
            self._bind(act, len(self.steps) - 1)
        if waiting is not None and number is not None and not cell.released:
            self._bind(self.machine.acts[waiting], number)
        self._set(cell.sets, cell.counts)
        self.state = cell.to or self.state
        return step

    def attempt(self, action: StrEnum) -> Step:
        """The step of an action whose bytes will be broken: nothing is expected of it, and the
        model stays where it is.
        """
        self.trail += [None] * (len(self.steps) - len(self.trail)) + [(self.state, action)]
        return self._say(self.machine.acts[action], f"{action} [{self.state}]", None)

    def _release(self, waiting: StrEnum, code: ErrorCode) -> int:
        """The number of the step that waits, which gets to know what it is to be answered."""
        number = self._waiting.pop(waiting)
        step = self.steps[number]
        assert step.expected is not None
        self.steps[number] = replace(step, expected=replace(step.expected, codes=(int(code),)))
        return number

    def _value(self, value: Any) -> Any:
        """A literal, or what a Var is bound to."""
        if not isinstance(value, Var):
            return value
        bound = self.bound[value.name]
        if isinstance(bound, Reference):
            return replace(bound, plus=bound.plus + value.plus)
        return bound + value.plus if value.plus else bound

    def _expected(self, cell: Cell, releases: int | None) -> Expected:
        values: list[tuple[str, Any]] = []
        equal: list[Reference] = []
        for path, shown in cell.shows.items():
            value = self._value(shown)
            if isinstance(value, Reference):
                equal.append(replace(value, into=path))
            else:
                values.append((path, value))
        codes = tuple(int(code) for code in cell.codes)
        return Expected(codes, tuple(values), tuple(equal), cell.held, releases)

    def _say(self, act: Act, note: str, expected: Expected | None, *, newest: bool = False) -> Step:
        place = act.key, act.versions
        served = act.served(self.ranges)
        # One version for a script: what is kept between requests may depend on it.
        drawn = served[-1] if newest else self.draw.choice(served)
        version = self._versions.setdefault(place, drawn)
        references: list[Reference] = []
        body = _of_version(API[act.key].request.fields, version, act.body)
        body = self._resolved(body, "", references)
        number = len(self.steps)
        wire = frame(encode_request(act.key, version, number + 1, CLIENT, body))
        step = Step(
            wire, act.connection, tuple(references), note=f"{API[act.key].name} {note}",
            expected=expected, again=tuple(int(code) for code in act.again), until=act.until,
        )  # fmt: skip
        self.steps.append(step)
        return step

    def _resolved(self, value: Any, path: str, references: list[Reference]) -> Any:
        """The body with bound values in it; where an answer brings one, a reference as well."""
        if isinstance(value, Var):
            bound = self._value(value)
            if isinstance(bound, Reference):
                references.append(replace(bound, into=path))
                return self.machine.unbound[value.name]
            return bound
        if isinstance(value, Batch):
            names = ("producer_id", "producer_epoch", "base_sequence")
            header = {
                n: self._resolved(getattr(value, n), f"{path}.{n}", references) for n in names
            }
            return build(
                2, value.values, timestamp=BATCH_TIME, transactional=value.transactional, **header
            )
        if isinstance(value, Mapping):
            return {
                name: self._resolved(inner, f"{path}.{name}" if path else name, references)
                for name, inner in value.items()
            }
        if isinstance(value, list):
            return [
                self._resolved(inner, f"{path}[{at}]", references) for at, inner in enumerate(value)
            ]
        return value

    def _bind(self, act: Act, number: int) -> None:
        for name, path in act.brings.items():
            self.bound[name] = Reference("", number, path)
        self._set(act.sets, act.counts)

    def _set(self, sets: Mapping[str, Any], counts: Mapping[str, int]) -> None:
        self.bound |= {name: self._value(value) for name, value in sets.items()}
        self.bound |= {name: self._value(Var(name, count)) for name, count in counts.items()}


def _of_version(fields: Sequence[Field], version: int, body: Mapping[str, Any]) -> Struct:
    """The fields of this version, of the structs within as well."""
    out: Struct = {}
    for row in fields_of(list(fields), version):
        if row.name not in body:
            continue
        value = body[row.name]
        if row.element == "struct" and isinstance(value, list):
            value = [_of_version(row.fields, version, inner) for inner in value]
        elif row.element == "struct" and isinstance(value, Mapping):
            value = _of_version(row.fields, version, value)
        out[row.name] = value
    return out


def cells_of(machine: Machine, ranges: Ranges, release: str) -> list[tuple[StrEnum, StrEnum]]:
    """The cells that can be reached and asked on a target, in the order of the table."""
    table, served = machine.table(release), machine.served(ranges)
    reached = ways(table, served, machine.start)
    return [
        (state, action)
        for state, action in table
        if state in reached and action in served and not table.peek(state, action).unasked
    ]


def ways(
    table: Table[StrEnum, StrEnum, Cell], served: Sequence[StrEnum], start: StrEnum
) -> dict[StrEnum, list[StrEnum]]:
    """The shortest actions to each state that can be reached."""
    found: dict[StrEnum, list[StrEnum]] = {start: []}
    waiting = deque([start])
    while waiting:
        state = waiting.popleft()
        for action in served:
            cell = table.peek(state, action)
            if not cell.unasked and cell.to is not None and cell.to not in found:
                found[cell.to] = [*found[state], action]
                waiting.append(cell.to)
    return found


def walk(model: Model, goal: tuple[StrEnum, StrEnum], steps: int, *, broken: bool = False) -> int:
    """Take the way to the goal and its action, then others up to `steps` in all; returns the number
    of the goal's step. One that is to be `broken` leaves the model where it is.
    """
    for _ in range(model.draw.randrange(3)):
        _wander(model, goal[0])
    for action in ways(model.table, model.served, model.state)[goal[0]]:
        model.take(action)
    (model.attempt if broken else model.take)(goal[1])
    number = len(model.steps) - 1
    while len(model.steps) < steps and model.available():
        _wander(model)
    if model.state in model.machine.closing:
        model.take(model.machine.closing[model.state])
    return number


def _wander(model: Model, within_reach: StrEnum | None = None) -> None:
    """A step at random; not away from a state that has to be reached."""
    there = model.available()
    if within_reach is not None:
        there = [action for action in there if _leads(model, action, within_reach)]
    valid = [action for action in there if model.table.peek(model.state, action).valid]
    chosen = valid if valid and model.draw.random() < VALID_SHARE else there
    if chosen:
        model.take(model.draw.choice(chosen))


def _leads(model: Model, action: StrEnum, state: StrEnum) -> bool:
    after = model.table.peek(model.state, action).to or model.state
    return state in ways(model.table, model.served, after)
