"""What makes one release differ from another, as a value that handlers ask.

A persona says which (key, version) pairs a release lists and serves on each listener, which
features it claims, how its configs are defined, and which named quirks it has. A handler never
asks "is this 2.2?"; it asks for a quirk by the name of the behaviour. `QUIRKS` is the register of
those names: one sentence each, every persona has a value for every name (a test holds it so), and
each value carries the evidence it was observed or read in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypedDict

from touchstone.reference_impl.broker.personas.quirks import QUIRKS

Ranges = Mapping[int, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Feature:
    """A feature the release knows, and the levels it can run at."""

    name: str
    min_supported: int
    max_supported: int


@dataclass(frozen=True, slots=True)
class Setting:
    """A list that a broker starts with, and what the release does otherwise where it has `word`."""

    name: str
    word: str
    quirks: Mapping[str, Any]
    evidence: str

    def is_in(self, config: Mapping[str, str]) -> bool:
        return self.word in {one.strip().lower() for one in config.get(self.name, "").split(",")}


@dataclass(frozen=True, slots=True)
class Persona:
    release: str  # "4.3", as targets name it
    observed: str  # "4.3.1", the release that was asked
    kraft: bool
    broker_listener: Ranges  # as ApiVersions lists them
    controller_listener: Ranges
    features: tuple[Feature, ...] = ()  # in the order in which they are listed
    finalized: Mapping[str, int] = field(default_factory=dict)  # what a fresh cluster runs at
    listed_but_refused: frozenset[tuple[int, int]] = frozenset()
    unlisted_but_served: Ranges = field(default_factory=dict)  # on the broker listener
    quirks: Mapping[str, Any] = field(default_factory=dict)  # name -> value
    evidence: Mapping[str, str] = field(default_factory=dict)  # name -> where it was seen
    settings: tuple[Setting, ...] = ()  # those that change quirks when the broker starts

    def listed(self, *, controller: bool = False) -> Ranges:
        return self.controller_listener if controller else self.broker_listener

    def newest(self, key: int) -> int:
        """The newest version of this request that the release lists, to anybody; -1 for none."""
        return max(
            rows.get(key, (0, -1))[1] for rows in (self.broker_listener, self.controller_listener)
        )

    def serves(self, key: int, version: int, *, controller: bool = False) -> bool:
        """Whether such a request is answered at all; what is not served closes the connection."""
        hidden = {} if controller else self.unlisted_but_served
        low, high = self.listed(controller=controller).get(key) or hidden.get(key, (0, -1))
        return low <= version <= high and (key, version) not in self.listed_but_refused

    def quirk(self, name: str) -> Any:
        return self.quirks[name]

    def started_with(self, config: Mapping[str, str]) -> Persona:
        """The persona of a broker that starts with these settings."""
        found = self
        for one in self.settings:
            if one.is_in(config):
                seen = dict.fromkeys(one.quirks, one.evidence)
                found = replace(
                    found,
                    quirks={**found.quirks, **one.quirks},
                    evidence={**found.evidence, **seen},
                )
        return found


def ranges(text: str) -> Ranges:
    """`"0:0-13 1:4-18"` -> {0: (0, 13), 1: (4, 18)}, in the order in which they are listed."""
    table = {}
    for row in text.split():
        key, _, span = row.partition(":")
        low, _, high = span.partition("-")
        table[int(key)] = (int(low), int(high))
    return table


class Quirks(TypedDict):
    """What a Persona holds of its column: each quirk's value, and where it was seen."""

    quirks: Mapping[str, Any]
    evidence: Mapping[str, str]


def after(before: Persona, changes: Mapping[str, tuple[Any, str]]) -> Quirks:
    """What the release after `before` has of quirks: those that changed, `{name: (value, where it
    was seen)}`, and for all others what `before` has. Raises KeyError for a name that no quirk has.
    """
    rows = {name: (value, before.evidence[name]) for name, value in before.quirks.items()}
    return values({**rows, **changes})


def values(rows: Mapping[str, tuple[Any, str]]) -> Quirks:
    """`{name: (value, evidence)}` as the two keyword arguments of a Persona."""
    unknown = set(rows) ^ set(QUIRKS)
    if unknown:
        raise KeyError(f"quirks without a value, or values without a quirk: {sorted(unknown)}")
    return {
        "quirks": {name: value for name, (value, _) in rows.items()},
        "evidence": {name: evidence for name, (_, evidence) in rows.items()},
    }
