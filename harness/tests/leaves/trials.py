"""Where recorded answers are changed: each kind of change of each kind of place, a few times.

Tens of thousands of answers are alike. So a place is tried once for each API, path and shape of
value, in each setting on which rules of the judge depend: how many brokers, an internal topic,
beside an error, first of its kind or a later one, and whether epochs are left to chance there; by
day in the newest and the oldest release, by night for each version in all of them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

from touchstone.harness.judgement import internal_logs
from touchstone.harness.model import transcript as transcripts
from touchstone.harness.model.recordings import Store
from touchstone.harness.model.transcript import RoundTrip, Transcript
from touchstone.harness.tests.leaves import endings, record_bytes, values
from touchstone.harness.tests.leaves.walk import Place, at, leaves, spelled
from touchstone.reference_impl.wire import headers
from touchstone.reference_impl.wire.apis import API
from touchstone.reference_impl.wire.schema import Struct

TOPIC = 2  # of a resource's kinds
# Answers that may have rows about what other cases made: what names it.
NAMED = {"Metadata": "name", "ListGroups": "group_id", "ListConfigResources": "resource_name",
         "DescribeLogDirs": "name"}  # fmt: skip
TAG = {99: b"x"}  # a tagged field that no release knows


class Leaf(NamedTuple):
    """What was changed, as the list of what is forgiven names it."""

    api: str
    path: str
    shape: str  # of what stood there
    change: str


@dataclass(frozen=True, slots=True)
class Setting:
    """What rules of the judge depend on beside the leaf."""

    release: str
    brokers: int
    version: int | None = None
    internal: bool = False
    error: bool = False  # beside it, or in a struct around it
    asked: str = ""  # whose topics or groups a request for all of them was about

    def __str__(self) -> str:
        words = [f"{self.release}", f"{self.brokers} broker{'s'[: self.brokers > 1]}"]
        words += [f"v{self.version}"] if self.version is not None else []
        words += ["internal topic"] if self.internal else []
        return ", ".join(words + (["beside an error"] if self.error else []))


@dataclass(frozen=True, slots=True)
class Trial:
    """One change of one place of one recorded case."""

    leaf: Leaf
    setting: Setting
    case: str
    step: str
    oracle: Transcript
    make: Callable[[], Transcript | None]  # None: such an answer has no bytes


@dataclass(slots=True)
class Picker:
    """Which places are tried: the first of each key. `nightly`: releases and versions count too."""

    nightly: bool = False
    met: Counter[str] = field(default_factory=Counter)
    _known: set[Any] = field(default_factory=set)

    def wants(self, setting: Setting, *more: Any) -> bool:
        self.met["leaves"] += 1
        night = (setting.release, setting.version)
        where = night if self.nightly else (setting.release in _CHANCE,)
        key = (where, setting.brokers > 1, setting.internal, setting.error, *more)
        if key in self._known:
            return False
        self._known.add(key)
        return True


_CHANCE = ("1.0", "2.2")  # releases in which epochs of stopped followers are chance


def of_release(release: str, picker: Picker) -> Iterator[Trial]:
    """The trials of one release's recordings, in the order of suites and cases."""
    store = Store(release)
    for suite in sorted(store.suites()):
        cases = store.cases(suite)
        for case in sorted(cases, key=lambda one: (len(cases[one]), one)):
            found = transcripts.loads(cases[case])
            yield from of_case(case, replace(found, header=replace(found.header, release=release)),
                               picker)  # fmt: skip


def of_case(case: str, oracle: Transcript, picker: Picker) -> Iterator[Trial]:
    """The trials of one recorded case."""
    seen = _values_by_name(oracle)
    for trip in oracle.round_trips:
        for leaf, setting, make in (
            *_of_answer(oracle, trip, picker, seen), *_of_ending(oracle, trip, picker),
        ):  # fmt: skip
            yield Trial(leaf, setting, case, trip.label, oracle, make)
    setting = Setting(oracle.header.release or "", oracle.header.brokers)
    for how, kind, events in endings.of_case(oracle):
        if picker.wants(setting, how, kind):
            yield Trial(Leaf("(case)", "(connection)", how, kind), setting, case, "", oracle,
                        lambda events=events: replace(oracle, events=events))  # fmt: skip


Found = Iterator[tuple[Leaf, Setting, Callable[[], Transcript | None]]]


def _of_ending(oracle: Transcript, trip: RoundTrip, picker: Picker) -> Found:
    setting = _setting(oracle, trip)
    api = trip.event.api_name or "(bytes)"
    came = trip.received is not None, trip.ending and trip.ending.direction
    if not picker.wants(setting, api, "(ending)", came):
        return
    for how, kind, events in endings.changes(oracle, trip):
        yield (
            Leaf(api, "(ending)", how, kind),
            setting,
            (lambda events=events: replace(oracle, events=events)),
        )


def _of_answer(
    oracle: Transcript, trip: RoundTrip, picker: Picker, seen: dict[str, list[Any]]
) -> Found:
    event = trip.received
    if trip.response is None or event is None or event.api is None or event.version is None:
        return
    api, body, version = API[event.api], trip.response.body, event.version
    header = oracle.header
    names = tuple(header.names.values())
    internal = internal_logs.concerns_internal_topic(api.name, body)

    def changed(place: Place, new: Any) -> Callable[[], Transcript | None]:
        return lambda: answered(oracle, trip, at(body, place, new() if callable(new) else new))

    for place, row, value in leaves(api.response.fields, version, body):
        path, shape = spelled(place), values.shape(row, value, header.clock_ms, names)
        error = _beside_error(body, place)
        setting = _setting(oracle, trip, internal, error)
        later = any(isinstance(step, int) and step for step in place)
        if row.type == "records" and value:
            yield from _of_records(
                api.name, path, place, bytes(value), setting, picker, changed,
                header.clock_ms, names, _kinds(body, place, internal),
            )  # fmt: skip
        foreign = _others(api.name, body, place, names)
        if foreign:
            path, shape = foreign, "any"
        if not picker.wants(setting, api.name, path, shape, later):
            continue
        own = partial(_is_own, api.name, names=names)
        for kind, new in values.changes(row, version, value, seen.get(row.name, []), own):
            yield Leaf(api.name, path, shape, kind), setting, changed(place, new)
    setting = _setting(oracle, trip)
    if api.response.is_flexible(version) and picker.wants(setting, api.name, "_tags"):
        tagged = {**body, "_tags": {**body.get("_tags", {}), **TAG}}
        yield Leaf(api.name, "_tags", "tags", "unknown tag"), setting, changed((), tagged)


def _of_records(
    api: str, path: str, place: Place, data: bytes, setting: Setting, picker: Picker,
    changed: Callable[[Place, Any], Callable[[], Transcript | None]], clock_ms: int,
    names: tuple[str, ...], kinds: Any,
) -> Found:  # fmt: skip
    for inner, shape, kind, make in record_bytes.changes(data, clock_ms, names, kinds):
        here = f"{path}:{inner}" if inner else path
        if picker.wants(setting, api, here, shape, kind):
            yield Leaf(api, here, shape, kind), setting, changed(place, make)


def answered(oracle: Transcript, trip: RoundTrip, body: Struct) -> Transcript | None:
    """The transcript with this answer; None where it has no bytes, or they say the same."""
    event, response = trip.received, trip.response
    assert event is not None and response is not None
    assert event.api is not None and event.version is not None
    try:
        raw = headers.encode_response(
            event.api, event.version, response.correlation_id, body, tags=response.tags
        )
    except Exception:  # whatever a codec says of what cannot be written
        return None
    if raw == event.raw:
        return None
    new = replace(event, raw=raw)
    doctored = replace(oracle, events=tuple(new if one is event else one for one in oracle.events))
    # What was decoded of the other steps is decoded once.
    doctored.__dict__["round_trips"] = [
        replace(one, received=new) if one is trip else one for one in oracle.round_trips
    ]
    return doctored


def _setting(
    oracle: Transcript, trip: RoundTrip, internal: bool = False, error: bool = False
) -> Setting:
    version = trip.received.version if trip.received else trip.event.version
    return Setting(oracle.header.release or "", oracle.header.brokers, version, internal, error)


def _beside_error(body: Struct, place: Place) -> bool:
    """Whether a struct around the leaf says an error; its own code is none beside it."""
    around: Any = body
    for step in place[:-1]:
        if isinstance(around, dict) and _says_error(around):
            return True
        around = around[step]
    return (
        isinstance(around, dict)
        and not str(place[-1]).endswith("error_code")
        and (_says_error(around))
    )


def _others(api: str, body: Struct, place: Place, names: tuple[str, ...]) -> str:
    """The path of a leaf that stands in a row about what other cases made; else ""."""
    around: Any = body
    for depth, step in enumerate(place[:-1]):
        around = around[step]
        if isinstance(step, int) and not _is_own(api, around, names):
            below = spelled(place[depth + 1 :])
            return f"{spelled((*place[:depth], ''))}{record_bytes.OTHERS}.{below}"
    return ""


def _is_own(api: str, element: Any, names: tuple[str, ...]) -> bool:
    """Whether a row is about something that the case named, or about nothing that has a name."""
    if not isinstance(element, dict) or element.get("resource_type", TOPIC) != TOPIC:
        return True
    named = element.get(NAMED.get(api, ""))
    return not isinstance(named, str) or any(name in named for name in names)


def _says_error(found: Struct) -> bool:
    return bool(found.get("error_code") or found.get("acknowledge_error_code"))


def _kinds(body: Struct, place: Place, internal: bool) -> Any:
    """The kinds of records of the internal topic that this field is of; None of another one."""
    if not internal:
        return None
    return internal_logs._KINDS.get(body["responses"][place[1]]["topic"], (None,))[0]


def _values_by_name(oracle: Transcript) -> dict[str, list[Any]]:
    """What stands in the fields of each name in the answers of a case."""
    found: dict[str, dict[Any, None]] = defaultdict(dict)
    for trip in oracle.round_trips:
        event = trip.received
        if trip.response is None or event is None or event.api is None or event.version is None:
            continue
        for _, row, value in leaves(API[event.api].response.fields, event.version,
                                       trip.response.body):  # fmt: skip
            if isinstance(value, str | int) or row.element == "uuid" and isinstance(value, bytes):
                found[row.name][value] = None
    return {name: list(known) for name, known in found.items()}
