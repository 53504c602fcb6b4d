"""Mutants of what a release's tables say: a quirk, or a setting's default, as a neighbour has it.

An author of a broker who reads the documentation of another release gets these wrong. They stand in
no function, so the value is changed in this process where every broker that starts reads it, and
the cases that could see it are those that run a function which names it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import CodeType
from typing import Any

from touchstone.harness.mutation import planting
from touchstone.harness.mutation.operators import Mutant
from touchstone.harness.mutation.planting import Place
from touchstone.reference_impl.broker.configs.config_view import broker_definitions
from touchstone.reference_impl.broker.personas import PERSONAS, RELEASES

QUIRKS, DEFAULTS = "quirks", "defaults"
SHOWN = (f"{planting.PAIR}.broker.configs.config_view", "broker_entries")  # tells every default


class Values:
    """The quirks, or the defaults of a broker's settings, of one release, with their mutants."""

    def __init__(self, room: str, release: str, names: list[str]) -> None:
        """`names` are the modules whose functions may name a value."""
        self.room, self.release = room, release
        self._readers: dict[str, list[Place]] = defaultdict(list)
        for code, place in planting.functions(names).items():
            for text in _texts(code):
                self._readers[text].append(place)
        self._others: list[tuple[str, Any]] = []
        self.mutants: list[Mutant] = []
        for name, was, now in _quirks(release) if room == QUIRKS else _defaults(release):
            mutant = Mutant(room, name, 0, room, repr(was), repr(now), len(self.mutants))
            self.mutants.append(mutant)
            self._others.append((name, now))

    def plant(self, mutant: Mutant) -> None:
        """Change the value in this process, for good."""
        name, now = self._others[mutant.number]
        if self.room == QUIRKS:
            quirks = PERSONAS[self.release].quirks
            assert isinstance(quirks, dict)
            quirks[name] = now
        else:
            definitions = broker_definitions(self.release)
            assert isinstance(definitions, dict)
            definitions[name] = replace(definitions[name], default=now)

    def readers(self, mutant: Mutant) -> list[Place]:
        """The functions that name the value, and those that tell defaults."""
        found = self._readers.get(mutant.function, [])
        return [*found, SHOWN] if self.room == DEFAULTS else found


def _neighbours(release: str) -> list[str]:
    at = RELEASES.index(release)
    return [RELEASES[other] for other in (at - 1, at + 1) if 0 <= other < len(RELEASES)]


def _quirks(release: str) -> Iterator[tuple[str, Any, Any]]:
    """(name, value, other value): what a release beside this one has; of a flag the other one."""
    for name, was in PERSONAS[release].quirks.items():
        others = [PERSONAS[one].quirks[name] for one in _neighbours(release)]
        if isinstance(was, bool):
            others = [not was]
        yield from ((name, was, now) for now in _apart(was, others))


def _defaults(release: str) -> Iterator[tuple[str, Any, Any]]:
    """The same; a number is also twice as large."""
    for name, row in broker_definitions(release).items():
        known: list[Mapping[str, Any]] = [broker_definitions(one) for one in _neighbours(release)]
        others = [one[name].default for one in known if name in one]
        if row.type == "BOOLEAN":
            others = [str(row.default != "true").lower()]
        elif row.type in ("INT", "LONG") and row.default is not None:
            others.append(str(2 * int(row.default)) if int(row.default) else "1")
        yield from ((name, row.default, now) for now in _apart(row.default, others))


def _apart(was: Any, others: list[Any]) -> list[Any]:
    """Those that are another value, each once."""
    found: list[Any] = []
    for now in others:
        if now != was and now not in found:
            found.append(now)
    return found


def _texts(code: CodeType) -> set[str]:
    """Every text that stands in a function, and in those within it."""
    found = {one for one in code.co_consts if isinstance(one, str)}
    for one in code.co_consts:
        if isinstance(one, CodeType):
            found |= _texts(one)
        elif isinstance(one, tuple | frozenset):
            found |= {inner for inner in one if isinstance(inner, str)}
    return found
