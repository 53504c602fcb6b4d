"""Where in a frame each field stands: the byte offsets behind a path. Pure.

A failure's reader wants to find the differing field in a hex dump or in Wireshark, so the slow
codec is run once more with a reader that remembers where each leaf began and ended. Offsets count
from the first byte behind the frame's size. What does not decode is shown up to where it stopped.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from touchstone.harness.model.transcript import RoundTrip
from touchstone.reference_impl.wire import headers
from touchstone.reference_impl.wire.apis import API
from touchstone.reference_impl.wire.interpreter import DecodeError, Reader, walk
from touchstone.reference_impl.wire.schema import Message


@dataclass(frozen=True, slots=True)
class Leaf:
    """One value: its path, its bytes' place, the value."""

    path: str
    start: int
    end: int
    value: Any


class _Remembering(Reader):
    """A reader that notes the first and last byte read under each path."""

    def __init__(self, data: bytes, at: int, flexible: bool) -> None:
        super().__init__(data, at, flexible)
        self.spans: dict[str, tuple[int, int]] = {}

    def take(self, size: int) -> bytes:
        begin = self.at
        piece = super().take(size)
        self._note(begin)
        return piece

    def varint(self, *how: Any) -> int:
        begin = self.at
        value = super().varint(*how)
        self._note(begin)
        return value

    def _note(self, begin: int) -> None:
        first, last = self.spans.get(self.path, (begin, self.at))
        self.spans[self.path] = min(first, begin), max(last, self.at)


def response_leaves(trip: RoundTrip) -> list[Leaf]:
    """Every leaf of the answer, in the order of its bytes; empty when there is no answer."""
    event = trip.received
    if event is None or event.api is None or event.version is None or len(event.raw) < 4:
        return []
    if event.api not in API:
        return []
    tagged = headers.response_header_version(event.api, event.version)
    begin = 4 if not tagged else _behind_tags(event.raw)
    return _leaves(API[event.api].response, event.version, event.raw, begin)


def _behind_tags(raw: bytes) -> int:
    reader = _Remembering(raw, 4, True)
    try:
        for _ in range(reader.varint()):
            reader.varint()
            reader.take(max(0, reader.varint()))
    except DecodeError:
        return len(raw)
    return reader.at


def _leaves(schema: Message, version: int, data: bytes, begin: int) -> list[Leaf]:
    if not schema.has(version):
        return []
    reader = _Remembering(data, begin, schema.is_flexible(version))
    value: Any = None
    try:
        value = walk(reader, schema, version)
    except DecodeError as error:
        found = [Leaf(p, a, b, data[a:b]) for p, (a, b) in reader.spans.items()]
        return [*found, Leaf(error.path, error.offset, len(data), f"({error.reason})")]
    return [Leaf(path, *reader.spans.get(path, (begin, begin)), leaf) for path, leaf in flat(value)]


def flat(value: Any, path: str = "") -> list[tuple[str, Any]]:
    """Every leaf of a decoded message with its path; an empty list or null is a leaf."""
    if isinstance(value, dict) and value:
        return [
            leaf
            for name, inner in value.items()
            for leaf in flat(inner, f"{path}.{name}" if path else str(name))
        ]
    if isinstance(value, list) and value:
        return [leaf for i, inner in enumerate(value) for leaf in flat(inner, f"{path}[{i}]")]
    return [(path, value)]
