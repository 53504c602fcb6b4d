"""What a claim expects of a transcript's decoded answers, as data. Pure.

    answer("create", "topics[0].error_code").is_(37)
    no_answer("send")
    connection("a").is_("closed")
    all_of(...), any_of(...), by_release({"1.0": ..., "2.2+": ...})

An expectation is a value: it holds on the oracle and on the target alike (a claim that Kafka does
not meet is BROKEN, not the target's failure), it is stored in a failure's bundle as JSON, and it is
judged again offline. So it has no lambdas; what these words cannot say belongs into a checker.
Wanted values may hold `Name`, `Ref` and `Now`: they are looked up in the transcript at hand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import IntEnum
from typing import Any

from touchstone.harness.judgement import internal_logs
from touchstone.harness.model import (
    advertised,
    client_view,
    placeholders,
    record_view,
    sasl_messages,
)
from touchstone.harness.model import path as paths
from touchstone.harness.model.placeholders import Name, Now, Ref, Scram
from touchstone.harness.model.transcript import Transcript
from touchstone.reference_impl.wire import records as wire_records

NOTHING = "(nothing)"


class Undecided(LookupError):
    """A wanted value or a branch cannot be found for this transcript."""


@dataclass(frozen=True, slots=True)
class Failure:
    """One expectation that did not hold: where, what was wanted, what was there."""

    step: str
    path: str
    wanted: str
    got: str
    kind: str = "value"  # see `grades`, which also says of which API and step it is
    api: str | None = None
    version: int | None = None
    at: int = 0

    def __str__(self) -> str:
        place = f"{self.step}: {self.path}" if self.path else self.step
        return f"{place}: expected {self.wanted}, got {self.got}"


class Expectation:
    """Anything with `failures(transcript, release)`; an empty list means it holds."""

    __slots__ = ()

    def failures(self, transcript: Transcript, release: str | None = None) -> list[Failure]:
        raise NotImplementedError

    def __and__(self, other: Expectation) -> Expectation:
        return all_of(self, other)

    def __bool__(self) -> bool:
        raise TypeError("an expectation is no truth by itself: join them with & or all_of(...)")


# places: where to look


@dataclass(frozen=True, slots=True)
class Location:
    """Somewhere in a transcript; a verb makes it an expectation."""

    source: str  # answer | records | batches | own batches | connection | outcome | size
    step: str
    path: str = ""
    at: str = ""  # of records and batches: where the bytes stand in the answer
    of: tuple[tuple[str, Any], ...] = ()  # of a client: which of what it did

    def is_(self, wanted: Any) -> Holds:
        return Holds(self, "is", plain(wanted))

    def is_not(self, wanted: Any) -> Holds:
        return Holds(self, "is not", plain(wanted))

    def is_one_of(self, *wanted: Any) -> Holds:
        return Holds(self, "is one of", plain(list(wanted)))

    def matches(self, pattern: str) -> Holds:
        """The whole text matches this regular expression."""
        re.compile(pattern)
        return Holds(self, "matches", pattern)

    def contains(self, wanted: Any) -> Holds:
        return Holds(self, "contains", plain(wanted))

    def lacks(self, wanted: Any) -> Holds:
        """The list does not hold this; an answer without the list does not do."""
        return Holds(self, "lacks", plain(wanted))

    def at_least(self, wanted: Any) -> Holds:
        return Holds(self, "is at least", plain(wanted))

    def at_most(self, wanted: Any) -> Holds:
        return Holds(self, "is at most", plain(wanted))

    def has_length(self, wanted: int) -> Holds:
        return Holds(self, "has length", plain(wanted))

    def each_is(self, wanted: Any) -> Holds:
        """Every element (`[*]` in the path) is this; there must be at least one."""
        return Holds(self, "each is", plain(wanted))

    def each_is_one_of(self, *wanted: Any) -> Holds:
        return Holds(self, "each is one of", plain(list(wanted)))

    @property
    def words(self) -> str:
        if self.source == "answer":
            return self.path
        if self.source == CLIENT:
            return client_view.words(self.path, self.of)
        return ".".join(word for word in (self.source, self.at, self.path) if word)


CLIENT = "client"


def client(what: str, **of: Any) -> Location:
    """What a client did, by a name of `client_view.LOOKS`: client("batches", topic=topic)."""
    client_view.check(what, of)
    return Location(CLIENT, CLIENT, what, of=tuple(of.items()))


def plain(wanted: Any) -> Any:
    """Names of numbers (ErrorCode) as numbers: so an expectation reads and is stored alike."""
    if isinstance(wanted, IntEnum):
        return int(wanted)
    if type(wanted) in (list, tuple):
        return type(wanted)(plain(inner) for inner in wanted)
    if isinstance(wanted, dict):
        return {key: plain(inner) for key, inner in wanted.items()}
    return wanted


def answer(step: str, path: str) -> Location:
    """A field of a step's decoded answer."""
    paths.parse(path)
    return Location("answer", step, path)


def records(step: str, path: str = "", *, at: str = "") -> Location:
    """The records an answer carries, flat, whatever their format: records("fetch", "[0].value").

    `at` is where the bytes stand; by default the first field that holds records.
    """
    return Location("records", step, path, at)


def batches(step: str, path: str = "", *, at: str = "") -> Location:
    """The same bytes as batches (or messages) with their headers: batches("fetch", "[0].magic")."""
    return Location("batches", step, path, at)


def own_batches(step: str, path: str = "") -> Location:
    """The batches that a Fetch of one partition of an internal topic brought, with this case's
    records decoded (harness/judgement/internal_logs.py): own_batches("log", "[0].records[*].kind")
    """
    return Location("own batches", step, path)


def size(step: str) -> Location:
    """How many bytes the step's answer frame has."""
    return Location("size", step)


def connection(name: str = "a") -> Location:
    """How a connection stood at the end: kept, closed, reset, hung."""
    return Location("connection", name)


def outcome(step: str) -> Location:
    """What a step met: received, or closed, reset, timeout, silent, refused, unmet ..."""
    return Location("outcome", step)


def answered(step: str) -> Holds:
    return outcome(step).is_("received")


def no_answer(step: str) -> Expectation:
    """The step was sent and got no answer, however that came about."""
    return outcome(step).is_one_of("nothing", "silent", "closed", "reset")


def refused(step: str) -> Expectation:
    """The step was answered by a lost connection and nothing else."""
    return outcome(step).is_one_of("closed", "reset")


# looking


def _found(place: Location, transcript: Transcript) -> Any:
    """What stands at the place. Raises PathError or Undecided."""
    if place.source == "connection":
        return transcript.connections.get(place.step, "never opened")
    if place.source == CLIENT:
        of = {name: _wanted(value, transcript) for name, value in place.of}
        return client_view.look(transcript, place.path, of)
    trip = transcript.by_label.get(place.step)
    if place.source == "outcome":
        return _outcome(trip)
    if trip is None or trip.received is None:
        raise Undecided(f"no answer ({_outcome(trip)})")
    if place.source == "size":
        return len(trip.received.raw)
    if trip.answer is None:
        raise Undecided(f"an answer that does not decode: {trip.undecodable}")
    if place.source == "answer":
        return paths.get(trip.answer, place.path)
    if place.source == "own batches":
        found = _own_batches(trip.answer, transcript.header.names)
        return paths.get(found, place.path) if place.path else found
    data = paths.get(trip.answer, place.at) if place.at else _first_records(trip.answer)
    reader = record_view.view if place.source == "batches" else wire_records.read
    try:
        opened = reader(bytes(data or b"")) or []
    except ValueError as error:
        raise Undecided(f"record bytes that do not decode: {error}") from error
    return _listed(paths.get(opened, place.path) if place.path else opened)


def _listed(value: Any) -> Any:
    """Pairs as lists, as wanted values have them: a record's headers are tuples."""
    return [_listed(inner) for inner in value] if type(value) in (list, tuple) else value


def _outcome(trip: Any) -> str:
    if trip is None:
        return "not attempted"
    if trip.received is not None:
        return "received"
    return trip.ending.direction if trip.ending else "nothing"


def _first_records(value: Any) -> bytes | memoryview | None:
    for name, inner in _fields(value):
        if name == "records" and (inner is None or isinstance(inner, bytes | memoryview)):
            return inner
    raise Undecided("an answer without records")


def _own_batches(answer: Any, names: Mapping[str, str]) -> list[Any]:
    """Raises Undecided where the answer is none about an internal topic's log."""
    if not internal_logs.concerns_internal_topic("Fetch", answer):
        raise Undecided("an answer without an internal topic")
    try:
        opened = internal_logs.opened("Fetch", answer)
    except ValueError as error:
        raise Undecided(f"record bytes that do not decode: {error}") from error
    found = internal_logs.own("Fetch", opened, frozenset(names.values()))
    return [
        batch
        for row in found["responses"]
        for part in row["partitions"]
        for batch in part["records"]
    ]


def _fields(value: Any) -> Iterable[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield name, inner
            yield from _fields(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _fields(inner)


def _wanted(value: Any, transcript: Transcript) -> Any:
    """The wanted value with placeholders replaced by this transcript's words."""
    if isinstance(value, Name):
        if value.key not in transcript.header.names:
            raise Undecided(f"no name {value.key!r} in this run")
        text = transcript.header.names[value.key]
        return text.encode() if value.binary else text
    if isinstance(value, Ref):
        found = paths.get(transcript.answers.get(value.step), value.path)
        return found + value.plus if value.plus else found
    if isinstance(value, Now):
        return transcript.header.clock_ms + value.plus
    if isinstance(value, Scram):
        return sasl_messages.scram(
            **{one.name: _wanted(getattr(value, one.name), transcript) for one in fields(value)}
        )
    if isinstance(value, list | tuple):
        return [_wanted(inner, transcript) for inner in value]
    if isinstance(value, Mapping):
        return {key: _wanted(inner, transcript) for key, inner in value.items()}
    return value


def _length(found: Any) -> int:
    return -1 if found is None else len(found)


_VERBS: dict[str, Callable[[Any, Any], bool]] = {
    "is": lambda found, wanted: found == wanted,
    "is not": lambda found, wanted: found != wanted,
    "is one of": lambda found, wanted: found in wanted,
    "matches": lambda found, wanted: (
        isinstance(found, str) and re.fullmatch(wanted, found, re.DOTALL) is not None
    ),
    "contains": lambda found, wanted: found is not None and wanted in found,
    "lacks": lambda found, wanted: found is not None and wanted not in found,
    "is at least": lambda found, wanted: found is not None and found >= wanted,
    "is at most": lambda found, wanted: found is not None and found <= wanted,
    "has length": lambda found, wanted: _length(found) == wanted,
    "each is": lambda found, wanted: bool(found) and all(one == wanted for one in _leaves(found)),
    "each is one of": lambda found, wanted: (
        bool(found) and all(one in wanted for one in _leaves(found))
    ),
}


def _leaves(value: Any) -> Iterable[Any]:
    if isinstance(value, list):
        for inner in value:
            yield from _leaves(inner)
    else:
        yield value


# expectations


@dataclass(frozen=True, slots=True)
class Holds(Expectation):
    """A place and what must be true of it."""

    place: Location
    verb: str
    wanted: Any

    def failures(self, transcript: Transcript, release: str | None = None) -> list[Failure]:
        def failed(wanted: Any, got: str) -> list[Failure]:
            said = f"{self.verb} {wanted!r}" if self.verb != "is" else repr(wanted)
            return [Failure(self.place.step, self.place.words, said, got)]

        try:
            wanted = _wanted(self.wanted, transcript)
        except (Undecided, paths.PathError) as error:
            return failed(self.wanted, f"{NOTHING} to compare with: {error}")
        try:
            found = _found(self.place, transcript)
        except (Undecided, paths.PathError) as error:
            return failed(wanted, f"{NOTHING}: {error}")
        try:
            true = _VERBS[self.verb](found, wanted)
        except TypeError:  # a list where a number was expected is a failure, not a crash
            true = False
        return [] if true else failed(wanted, _short(found))


def _short(found: Any) -> str:
    text = repr(found)
    return text if len(text) <= 300 else f"{text[:297]}..."


@dataclass(frozen=True, slots=True)
class All(Expectation):
    parts: tuple[Expectation, ...]

    def failures(self, transcript: Transcript, release: str | None = None) -> list[Failure]:
        return [f for part in self.parts for f in part.failures(transcript, release)]


@dataclass(frozen=True, slots=True)
class Any_(Expectation):
    """At least one part holds; when none does, the failures of all are told."""

    parts: tuple[Expectation, ...]

    def failures(self, transcript: Transcript, release: str | None = None) -> list[Failure]:
        found = [part.failures(transcript, release) for part in self.parts]
        return [] if not all(found) else [failure for part in found for failure in part]


@dataclass(frozen=True, slots=True)
class ByRelease(Expectation):
    """Another expectation for other releases; exactly one branch must fit a release."""

    branches: Mapping[str, Expectation]

    def failures(self, transcript: Transcript, release: str | None = None) -> list[Failure]:
        release = release or transcript.header.release
        if release is None:
            raise Undecided("an expectation by release, and nobody knows the release")
        fitting = [part for words, part in self.branches.items() if fits(release, words)]
        if len(fitting) != 1:
            raise Undecided(f"{len(fitting)} branches of {list(self.branches)} fit {release}")
        return fitting[0].failures(transcript, release)


def all_of(*parts: Expectation) -> Expectation:
    return All(tuple(parts))


def any_of(*parts: Expectation) -> Expectation:
    return Any_(tuple(parts))


def by_release(branches: Mapping[str, Expectation]) -> Expectation:
    """Keys: "1.0", "2.2+", "1.0-2.8", "1.0,2.8"; exactly one must fit each release."""
    for words in branches:
        fits("1.0", words)
    return ByRelease(dict(branches))


def nothing_expected() -> Expectation:
    """No expectation beyond equality with the oracle."""
    return All(())


_RELEASES = re.compile(r"(\d+\.\d+)(?:(\+)|-(\d+\.\d+))?")


def fits(release: str, words: str) -> bool:
    """Whether a release is among those that "2.2+", "1.0-2.8" or "1.0,3.9" name."""
    number = advertised.number(release)
    for word in words.split(","):
        match = _RELEASES.fullmatch(word.strip())
        if match is None:
            raise ValueError(f"not a range of releases: {words!r} (as 1.0, 2.2+, 1.0-2.8)")
        first, onwards, last = match.groups()
        if number == advertised.number(first) or (number > advertised.number(first) and onwards):
            return True
        if last and advertised.number(first) <= number <= advertised.number(last):
            return True
    return False


# as JSON, for bundles

_TYPES: dict[str, type] = {
    kind.__name__: kind for kind in (Holds, All, Any_, ByRelease, Location, Name, Ref, Now, Scram)
}
_FORMER_TYPES: dict[str, type] = {"Place": Location}  # in bundles written before it had this name


def to_json(expectation: Expectation | None) -> Any:
    return None if expectation is None else placeholders.to_json(expectation, _TYPES)


def from_json(data: Any) -> Expectation | None:
    found = None if data is None else placeholders.from_json(data, _TYPES | _FORMER_TYPES)
    if found is not None and not isinstance(found, Expectation):
        raise ValueError(f"not an expectation: {data!r}")
    return found


def steps_named(expectation: Any) -> set[str]:
    """Every step an expectation looks at: a name that no step has is a mistake of the claim."""
    if isinstance(expectation, Location):
        return set() if expectation.source in ("connection", CLIENT) else {expectation.step}
    if isinstance(expectation, Ref):
        return {expectation.step}
    if is_dataclass(expectation):
        parts = [getattr(expectation, one.name) for one in fields(expectation)]
    elif isinstance(expectation, Mapping):
        parts = list(expectation.values())
    elif isinstance(expectation, list | tuple):
        parts = list(expectation)
    else:
        return set()
    return set().union(*(steps_named(part) for part in parts))
