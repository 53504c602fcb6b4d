"""A transcript: everything that crossed the sockets of one case, in order, and nothing else.

Raw bytes are stored; decoded messages are derived from them when asked for, never stored. So a
transcript can be judged again when a schema, a checker or a normalisation improves, and what a
target sent cannot be embellished by what we understood of it. It stands alone: normalise, compare
and check it without a target, a clock or the scenario that made it.

The file is JSON lines: a header, one line per event, a footer that counts them. A file without its
footer was cut and is refused, naming the line and the reason.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from touchstone.harness.model.translation import Translation
from touchstone.reference_impl.wire import headers
from touchstone.reference_impl.wire.apis import API
from touchstone.reference_impl.wire.schema import Struct

SCHEMA = 1

# What an event may say. `us` acted: opened (with what came of it), sent, half-closed, ended.
# `they` acted: received, closed, reset. Nobody acted: timeout (hung), silent (as hoped).
# The harness gave up: refused, garbled, gone, unresolved, unmet. It hurt a broker: inflicted.
DIRECTIONS = {
    "opened": "a connection was established, by the listener that the note names",
    "refused": "no connection could be established",
    "sent": "the harness sent these bytes (a whole frame without its size, unless unframed)",
    "half-closed": "the harness ended its direction",
    "ended": "the harness closed the connection",
    "received": "the target sent this frame (without its size)",
    "closed": "the target closed the connection in order; raw holds an unfinished frame",
    "reset": "the target broke the connection",
    "timeout": "nothing came although something was awaited; raw holds an unfinished frame",
    "silent": "nothing came, and nothing was awaited",
    "garbled": "what came cannot be a frame (size negative or beyond the limit), or never stops",
    "gone": "a step wanted a connection that had already been lost",
    "unresolved": "a step needed a value that no earlier answer had",
    "unmet": "a condition did not become true within its tries",
    "made": "the topics that the note names were made by Metadata in place of CreateTopics",
    "inflicted": "the harness did to a broker what the note says",
    "unmended": "a broker that a case had harmed could not be brought back",
    "told": "the adapter of a client was given the command in the note",
    "said": "the adapter of a client said the event in the note",
    "babbled": "the adapter of a client said the line in the note, which is no event",
    "joined": "a client opened a connection to its broker",
    "parted": "a connection of a client ended; the note says who ended it",
    "asked": "a client sent this request to its broker",
    "answered": "a client was sent this answer, changed where the scenario says so",
    "unheard": "what a step waited for from a client did not come in time",
    "lacking": "the adapter says that its client has not what the note names",
    "died": "the program of a client ended; the note has its last words",
}
OUTCOMES = ("kept", "closed", "reset", "hung")
_LOST = {"closed": "closed", "reset": "reset", "garbled": "reset", "timeout": "hung"}


class TranscriptError(ValueError):
    """A transcript file cannot be read; says where and why."""


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened, `at_us` microseconds after the case began."""

    at_us: int
    connection: str
    direction: str
    step: int
    raw: bytes = b""
    api: int | None = None
    version: int | None = None
    correlation_id: int | None = None
    broker: int | None = None
    tries: int = 1
    framed: bool = True
    silent: bool = False  # of a sent request: it asks for no answer (acks=0)
    note: str = ""

    @property
    def api_name(self) -> str | None:
        """None where nobody said which message it is, and for a key that no release knows."""
        return API[self.api].name if self.api is not None and self.api in API else None


@dataclass(frozen=True, slots=True)
class Header:
    """Who was asked, what, and which words this run had for the scenario's placeholders."""

    target: str
    kind: str  # "live" or "recorded"
    labels: tuple[str, ...]
    release: str | None = None
    fingerprint: str = ""
    nonce: str = ""
    seed: int | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    times: Mapping[str, int] = field(default_factory=dict)
    clock_ms: int = 0
    brokers: int = 1
    scenario: Mapping[str, Any] | None = None
    translation: Mapping[str, Any] | None = None  # Translation.to_json(), None: words are equal
    origin: Mapping[str, Any] | None = None  # Provenance.to_json() of an answer that is recorded


@dataclass(frozen=True)
class RoundTrip:
    """A request and what came of it; either half may be missing."""

    step: int
    label: str
    sent: Event | None = None
    received: Event | None = None
    extra: tuple[Event, ...] = ()  # further frames attributed to the same request
    ending: Event | None = None  # closed, reset, timeout, ... met while this was awaited
    at: int = 0  # its place among the steps: of what is awaited later, where that is done
    translation: Translation | None = None  # of the target's words into the scenario's

    @property
    def event(self) -> Event:
        found = self.sent or self.received or self.ending
        assert found is not None, "a round trip has at least one event"
        return found

    @cached_property
    def request(self) -> headers.Request | None:
        """The decoded request, its body in the scenario's words; None when there is none that
        decodes.
        """
        if self.sent is None or not self.sent.framed or self.sent.api not in API:
            return None
        try:
            found = headers.decode_request(self.sent.raw)
        except ValueError:
            return None
        if self.translation is None:
            return found
        return replace(found, body=self.translation.answer(found.body))

    @cached_property
    def _decoded(self) -> tuple[headers.Response | None, str | None]:
        """The decoded response and the reason why there is none."""
        if self.received is None:
            return None, "no answer"
        api, version = self.received.api, self.received.version
        if api is None or version is None:
            return None, "nobody said which message this is"
        try:
            return headers.decode_response(api, version, self.received.raw), None
        except ValueError as error:
            return None, str(error)

    @property
    def response(self) -> headers.Response | None:
        """The decoded answer as the target wrote it."""
        return self._decoded[0]

    @cached_property
    def answer(self) -> Struct | None:
        """The decoded body of the answer in the scenario's words, None when there is none or it
        does not decode.
        """
        response = self._decoded[0]
        if response is None or self.translation is None:
            return None if response is None else response.body
        return self.translation.answer(response.body)

    @property
    def undecodable(self) -> str | None:
        """Why the answer that is there does not decode; None when it does or none is there."""
        return None if self.received is None else self._decoded[1]


@dataclass(frozen=True)
class Transcript:
    header: Header
    events: tuple[Event, ...]

    @cached_property
    def round_trips(self) -> list[RoundTrip]:
        """What was asked and what came, in the order of the steps."""
        found: dict[int, dict[str, Any]] = {}
        places: dict[int, int] = {}
        last = 0  # of the steps that were begun
        for event in self.events:
            last = max(last, event.step)
            slot = _SLOTS.get(event.direction)
            if slot is None:
                continue
            parts = found.setdefault(event.step, {})
            if slot != "sent":
                early = last == event.step
                places.setdefault(event.step, event.step if early else self._awaited(event.step))
            if slot == "received" and slot in parts:
                parts["extra"] = (*parts.get("extra", ()), event)
            else:
                parts.setdefault(slot, event)
        words = self.translation
        return [
            RoundTrip(
                step, self.label(step), at=places.get(step, self._awaited(step)),
                translation=words, **parts,
            )
            for step, parts in sorted(found.items())
        ]  # fmt: skip

    def _awaited(self, step: int) -> int:
        """The place of the `Await` of this step; its own, where there is none.

        Between the two, others were asked, on which its answer may depend: one that Kafka gives
        when somebody else has joined is missing because nobody could join.
        """
        return self._places.get(f"await {self.label(step)}", step)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {label: place for place, label in enumerate(self.header.labels)}

    @cached_property
    def translation(self) -> Translation | None:
        """The target's words into the scenario's; None where they are equal."""
        stored = self.header.translation
        return None if stored is None else Translation.from_json(stored)

    @cached_property
    def by_label(self) -> dict[str, RoundTrip]:
        return {trip.label: trip for trip in self.round_trips}

    @property
    def answers(self) -> dict[str, Struct]:
        """Decoded answers by the label of their step; steps without one are missing."""
        decoded = {label: trip.answer for label, trip in self.by_label.items()}
        return {label: answer for label, answer in decoded.items() if answer is not None}

    @cached_property
    def connections(self) -> dict[str, str]:
        """How each connection stood at the end: kept, closed, reset or hung."""
        ends: dict[str, str] = {}
        for event in self.events:
            if event.direction == "opened":
                ends[event.connection] = "kept"
            elif event.direction in _LOST and ends.get(event.connection) == "kept":
                ends[event.connection] = _LOST[event.direction]
        return ends

    @property
    def connection(self) -> str:
        """The worst end of any connection: one word for a result row."""
        order = ("hung", "reset", "closed", "kept")
        ends = set(self.connections.values())
        return next((word for word in order if word in ends), "hung")

    @property
    def complete(self) -> bool:
        """Whether every step was attempted and nothing was given up."""
        given_up = {"refused", "garbled", "timeout", "unresolved", "unmet", "gone"}
        return all(event.direction not in given_up for event in self.events)

    def label(self, step: int) -> str:
        return self.header.labels[step] if 0 <= step < len(self.header.labels) else f"step {step}"


_SLOTS = {"sent": "sent", "received": "received"} | dict.fromkeys(
    (
        "closed",
        "reset",
        "timeout",
        "garbled",
        "refused",
        "gone",
        "unresolved",
        "unmet",
        "silent",
        "made",
    ),
    "ending",
)


def dumps(transcript: Transcript) -> str:
    """The transcript as JSON lines."""
    head = {"transcript": SCHEMA} | _sparse(transcript.header)
    lines = [head, *(_event_to_json(event) for event in transcript.events)]
    lines.append({"end": len(transcript.events)})
    return "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)


def loads(text: str, *, source: str = "transcript") -> Transcript:
    """The inverse of `dumps`. TranscriptError names the line and the reason."""
    found = list(load_many(text.splitlines(keepends=True), source=source))
    if len(found) != 1:
        raise TranscriptError(f"{source}: {len(found)} transcripts where one was wanted")
    return found[0]


def load_many(lines: Iterable[str], *, source: str = "transcripts") -> Iterable[Transcript]:
    """Transcripts that stand one after another in one file, one by one."""
    header: Header | None = None
    events: list[Event] = []
    number = 0
    for number, line in enumerate(lines, 1):
        where = f"{source}, line {number}"
        if not line.endswith("\n"):
            raise TranscriptError(f"{where}: cut off inside a line of {len(line)} characters")
        try:
            data = json.loads(line)
        except ValueError as error:
            raise TranscriptError(f"{where}: not JSON: {error}") from error
        if header is None:
            header = _header(data, where)
        elif "end" in data:
            if data["end"] != len(events):
                raise TranscriptError(f"{where}: {len(events)} events, footer says {data['end']}")
            yield Transcript(header, tuple(events))
            header, events = None, []
        else:
            events.append(_event(data, where))
    if header is not None:
        raise TranscriptError(f"{source}, line {number}: ends without a footer, it was cut")


def write(transcript: Transcript, path: Path) -> None:
    """Written whole or not at all: beside its place first, then moved."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            out.write(dumps(transcript))
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def read(path: Path) -> Transcript:
    text = path.read_text(encoding="utf-8", errors="surrogateescape")  # which is no JSON
    return loads(text, source=str(path))


_EVENT_KEYS = {
    "at_us": "t", "connection": "c", "direction": "d", "step": "s", "raw": "raw", "api": "api",
    "version": "v", "correlation_id": "id", "broker": "b", "tries": "tries", "framed": "framed",
    "silent": "silent", "note": "note",
}  # fmt: skip
_EVENT_FIELDS = {short: name for name, short in _EVENT_KEYS.items()}
_NEEDED = ("c", "d", "s")


def _sparse(value: Any) -> dict[str, Any]:
    """A dataclass's fields, those left out that stand at a plain default."""
    kept = {}
    for name, spec in value.__dataclass_fields__.items():
        found = getattr(value, name)
        if found != spec.default and found != {}:
            kept[name] = dict(found) if isinstance(found, Mapping) else found
    return kept


def _event_to_json(event: Event) -> dict[str, Any]:
    kept = _sparse(event)
    if event.raw:
        kept["raw"] = event.raw.hex()
    return {_EVENT_KEYS[name]: value for name, value in kept.items()}


def _header(data: Any, where: str) -> Header:
    if not isinstance(data, dict) or data.get("transcript") != SCHEMA:
        raise TranscriptError(f"{where}: not the header of a transcript of schema {SCHEMA}")
    try:
        fields = {name: value for name, value in data.items() if name != "transcript"}
        return Header(**fields | {"labels": tuple(fields["labels"])})
    except (KeyError, TypeError) as error:
        raise TranscriptError(f"{where}: header: {error}") from error


def _event(data: Any, where: str) -> Event:
    if not isinstance(data, dict) or not all(key in data for key in _NEEDED):
        raise TranscriptError(f"{where}: an event needs {', '.join(_NEEDED)}")
    if data["d"] not in DIRECTIONS:
        raise TranscriptError(f"{where}: {data['d']!r} is no direction")
    unknown = data.keys() - _EVENT_FIELDS.keys()
    if unknown:
        raise TranscriptError(f"{where}: an event has no {', '.join(sorted(unknown))}")
    fields = {_EVENT_FIELDS[key]: value for key, value in data.items()}
    try:
        return Event(**fields | {"raw": bytes.fromhex(data.get("raw", ""))})
    except (TypeError, ValueError) as error:
        raise TranscriptError(f"{where}: {error}") from error
