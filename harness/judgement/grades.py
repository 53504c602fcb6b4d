"""Where something that is wrong stands in its case, and of what kind it is. Pure.

One harmless field of one setup step must not decide hundreds of cases, and must not be lost either.
So everything that differs gets two grades. `stands` says how near it is to what the claim is about:

    claim   the claim's expectation names this place
    asked   another place of an asked step: one whose API is the claim's in the case's version, one
            that the expectation looks at, or raw bytes, which no step sends for preparation
    setup   any other step

`kind` says what is wrong: `connection` (a step ended in another way, frames, bytes that do not
decode), `code` (an error code), `check` (a property of the protocol), `absence` (a field or element
that only one side has, or null against a value), `value`, and what no client can tell (`light`):
`number` (an epoch or generation that counts from elsewhere), `stale` (what follows from such a
number of Kafka's that the case itself names), `filler` (what stands beside an error code), `order`
(of an array in which clients look for keys), `prose` (text for people). Kinds stand in KINDS from
the gravest to the lightest.

A claim without an expectation and without an API is about the whole conversation: there, and where
no step at all would be asked, every step is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from touchstone.harness.model import path as paths
from touchstone.harness.model.claim import CaseId
from touchstone.harness.model.expect import ByRelease, Expectation, Location, fits, steps_named
from touchstone.harness.model.placeholders import Ref
from touchstone.harness.model.scenario import Scenario, Until
from touchstone.harness.model.transcript import Transcript

CLAIM, ASKED, SETUP = "claim", "asked", "setup"
STANDS = (CLAIM, ASKED, SETUP)
CONNECTION, CODE, CHECK, ABSENCE, VALUE, NUMBER, STALE, FILLER, ORDER, PROSE = (
    "connection", "code", "check", "absence", "value", "number", "stale", "filler", "order",
    "prose",
)  # fmt: skip
KINDS = (CONNECTION, CODE, CHECK, ABSENCE, VALUE, NUMBER, STALE, FILLER, ORDER, PROSE)
NOTED = frozenset({ORDER, PROSE})  # kinds on which no client acts

MISSING = "(missing)"  # what one side has in place of a field or element that it lacks
# Fields whose text is written for people: no client may act on it, and each release words it anew.
PROSE_FIELDS = frozenset(
    {
        "error_message", "batch_index_error_message", "acknowledge_error_message", "documentation",
        "status_detail",
    }
)  # fmt: skip
# (API, array) of which clients make a map: NodeApiVersions of Kafka 4.3.1 holds a Map of ApiKeys.
# Kafka itself tells them in the order of its enum, every time.
BY_KEY = frozenset({("ApiVersions", "api_keys")})
PROSE_CHECKS = frozenset({"error-messages"})
MADE = "made"  # how a set-up step ended whose topics were made in another way than asked
UNOFFERED = "unoffered"  # path of a version that was not offered and not refused
VERSION = "version"  # a step was asked in another version (harness/model/served_versions.py)
ENDINGS = frozenset({"connection", "outcome", "frames", "size"})  # paths of how a step went


def is_code(path: str) -> bool:
    """Whether a path leads to an error code, whatever the API calls it."""
    return path.endswith("error_code")


def kind_of(path: str, oracle: Any, target: Any) -> str:
    """The kind of a difference inside two decoded answers."""
    if path.rpartition(".")[2] in PROSE_FIELDS:
        return PROSE
    if any(side is None or side == MISSING for side in (oracle, target)):
        return ABSENCE
    return CODE if is_code(path) else VALUE


def kind_of_order(api: str | None, path: str) -> str:
    """The kind of a difference in nothing but the order of an array's elements."""
    return ORDER if (api, path) in BY_KEY else VALUE


def kind_of_failure(path: str) -> str:
    """The kind of an expectation that did not hold, by the place it names."""
    if path in ENDINGS:
        return CONNECTION
    if path.rpartition(".")[2] in PROSE_FIELDS:
        return PROSE
    return CODE if is_code(path) else VALUE


def kind_of_finding(checker: str) -> str:
    return PROSE if checker in PROSE_CHECKS else CHECK


def decides(stands: str, kind: str, strict: bool = False) -> bool:
    """Whether something of these grades makes its case diverge; the rest are notes."""
    return strict or (stands != SETUP and kind not in NOTED)


@dataclass(frozen=True, slots=True)
class StepFacts:
    """What one step was: its place (see RoundTrip.at), its API and version, its connection."""

    at: int
    api: str | None
    version: int | None
    connection: str


@dataclass(frozen=True)
class Grading:
    """Which steps of one case are asked, and which places its expectation names."""

    steps: Mapping[str, StepFacts]
    named: Mapping[str, frozenset[tuple[str, ...]]]  # step -> field paths without indexes
    asked: frozenset[str] | None  # None: all of them

    def stands(self, step: str, path: str) -> str:
        words = _words(path)
        if path in (MADE, VERSION):
            return SETUP
        if any(_covers(place, words) for place in self.named.get(step, ())):
            return CLAIM
        # What belongs to no step that was seen (a frame that nobody asked for) is never setup.
        known = step in self.steps
        return ASKED if self.asked is None or step in self.asked or not known else SETUP

    def facts(self, step: str) -> StepFacts:
        return self.steps.get(step, StepFacts(0, None, None, ""))


def grading(
    expectation: Expectation | None,
    transcripts: Iterable[Transcript],
    *,
    api: str | None = None,
    version: int | None = None,
    release: str | None = None,
) -> Grading:
    """How the places of one case are graded. `api` and `version`: the claim's and the case's;
    the target's transcript comes last, whose steps stand where they ended there.
    """
    steps: dict[str, StepFacts] = {}
    for transcript in transcripts:
        for trip in transcript.round_trips:
            event = trip.event
            facts = StepFacts(trip.at, event.api_name, event.version, event.connection)
            known = steps.get(trip.label, facts)
            best = facts if known.version is None else known
            steps[trip.label] = replace(best, at=trip.at)
    named: dict[str, set[tuple[str, ...]]] = {}
    for step, words in _places(expectation, steps, release):
        named.setdefault(step, set()).add(words)
    # How a connection ended shows in any of its steps, none of which is asked for that.
    asked = {step for step, _ in _places(expectation, {}, release)}
    return Grading(
        steps,
        {step: frozenset(words) for step, words in named.items()},
        _asked(steps, asked, api, version),
    )


def prepares(scenario: Scenario, expectation: Expectation, case: CaseId) -> frozenset[str]:
    """The labels of a scenario's waits that only prepare its case: nothing is asked by them."""
    waits = {
        label: step.ask
        for label, step in zip(scenario.labels, scenario.steps, strict=True)
        if isinstance(step, Until)
    }
    about = (case.claim.api, case.version)
    if case.claim.api is None and not steps_named(expectation):
        return frozenset()
    return frozenset(
        label for label, asked in waits.items() if (asked.api, asked.version) != about
    ) - steps_named(expectation)


def _asked(
    steps: Mapping[str, StepFacts], named: Iterable[str], api: str | None, version: int | None
) -> frozenset[str] | None:
    found = set(named)
    if api is not None:
        found |= {
            step for step, facts in steps.items() if (facts.api, facts.version) == (api, version)
        }
    if not found:
        return None
    return frozenset(found | {step for step, facts in steps.items() if facts.api is None})


def _places(
    part: Any, steps: Mapping[str, StepFacts], release: str | None
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """(step, field names) of every place that an expectation looks at for this release."""
    if isinstance(part, Location):
        yield from _of_place(part, steps)
    elif isinstance(part, Ref):
        yield part.step, _words(part.path)
    elif isinstance(part, ByRelease):
        for words, branch in part.branches.items():
            if release is None or fits(release, words):
                yield from _places(branch, steps, release)
    elif is_dataclass(part):
        for field in fields(part):
            yield from _places(getattr(part, field.name), steps, release)
    elif isinstance(part, Mapping):
        for inner in part.values():
            yield from _places(inner, steps, release)
    elif isinstance(part, list | tuple):
        for inner in part:
            yield from _places(inner, steps, release)


def _of_place(
    place: Location, steps: Mapping[str, StepFacts]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    if place.source == "connection":
        # How a connection ended shows in whichever of its steps met the end.
        for step, facts in steps.items():
            if facts.connection == place.step:
                yield step, ("connection",)
    elif place.source == "answer":
        yield place.step, _words(place.path)
    elif place.source in ("records", "batches", "own batches"):
        yield place.step, ("records",)
    else:  # outcome, size
        yield place.step, ("connection",)


def _words(path: str) -> tuple[str, ...]:
    """The field names of a path. Indexes are left out: normalisation may sort an array anew."""
    try:
        return tuple(word for word in paths.parse(path) if isinstance(word, str) and word != "*")
    except ValueError:
        return (path,)


def _covers(named: tuple[str, ...], words: tuple[str, ...]) -> bool:
    """Whether an expectation's place and a difference's are one place, or one holds the other."""
    if named == ("records",):
        return "records" in words
    shorter = min(len(named), len(words))
    return named[:shorter] == words[:shorter]
