"""Two questions in bytes of our own: what do you speak, and is the cluster whole?

A target is ready when every broker of it says so, never after some seconds. The questions are the
oldest that every release from 1.0 to 4.3 still answers, ApiVersions v0 (KIP-35) and Metadata v1
(the first with a controller), written here by hand: waiting for a broker must not depend on the
codec that is under test. Who advertises later versions of Metadata only (krafka: v12 alone) is
asked in the first of these that is flexible (KIP-482).
"""

from __future__ import annotations

import errno
import os
import struct
import time
from collections.abc import Iterator
from dataclasses import dataclass

from touchstone.harness.driver.line import Line
from touchstone.harness.model.target import Address, Versions

API_VERSIONS, METADATA = 18, 3
_FIRST, _FLEXIBLE = 1, 9  # versions of Metadata
_WITH_OPERATIONS = range(8, 11)  # those that can be asked for the cluster's authorized operations
_CORRELATION = 0x746F7563
_CLIENT = b"touchstone-probe"
_VARINT_BYTES = 5


@dataclass(frozen=True, slots=True)
class Sight:
    """The cluster as one broker sees it."""

    brokers: dict[int, Address]
    racks: dict[int, str | None]
    controller: int


class NotReady(Exception):
    """It did not answer as a Kafka broker would: refused, closed, or answered an error."""


class Closed(NotReady):
    """It closed the connection instead, as Kafka does when it does not serve the version."""


def api_versions(address: Address, seconds: float = 5.0) -> Versions:
    """API key -> (lowest, highest) as this broker advertises them."""
    body = _Reader(_ask(address, API_VERSIONS, 0, b"", seconds))
    error = body.take(">h")
    if error:
        raise NotReady(f"ApiVersions answered error {error}")
    return {key: (low, high) for key, low, high in body.rows(">hhh", body.take(">i"))}


def metadata(address: Address, seconds: float = 5.0) -> Sight:
    """Brokers and controller as this broker knows them; asks for no topic, so creates none."""
    nobody = Sight({}, {}, -1)
    closed: Closed | None = None
    try:
        nobody = _seen(_ask(address, METADATA, _FIRST, struct.pack(">i", 0), seconds))
        if nobody.brokers:
            return nobody
    except Closed as refusal:
        closed = refusal
    lowest = api_versions(address, seconds).get(METADATA, (_FIRST, _FIRST))[0]
    if lowest > _FIRST:
        return _seen_flexibly(address, max(lowest, _FLEXIBLE), seconds)
    if closed is not None:
        raise closed
    return nobody


def _seen(answer: bytes) -> Sight:
    """What an answer of the first version says."""
    body = _Reader(answer)
    brokers: dict[int, Address] = {}
    racks: dict[int, str | None] = {}
    for _ in range(body.take(">i")):
        node, host, port = body.take(">i"), body.string() or "", body.take(">i")
        brokers[node], racks[node] = (host, port), body.string()
    return Sight(brokers, racks, body.take(">i"))


def _seen_flexibly(address: Address, version: int, seconds: float) -> Sight:
    """The same of a flexible version, whose lengths are one more than they mean."""
    no_topic, nothing_more = b"\x01", b"\x00"
    flags = b"\x00" * (3 if version in _WITH_OPERATIONS else 2)
    asked = nothing_more + no_topic + flags + nothing_more
    body = _Reader(_ask(address, METADATA, version, asked, seconds))
    body.skip_tags()  # of the header
    body.take(">i")  # throttled for so long
    brokers: dict[int, Address] = {}
    racks: dict[int, str | None] = {}
    for _ in range(body.varint() - 1):
        node, host, port = body.take(">i"), body.compact() or "", body.take(">i")
        brokers[node], racks[node] = (host, port), body.compact()
        body.skip_tags()
    body.compact()  # the cluster's id
    return Sight(brokers, racks, body.take(">i"))


def sees(address: Address, expected: set[int]) -> bool:
    """Whether this broker serves, and knows these brokers alive under a controller."""
    return lacks(address, expected) is None


def lacks(address: Address, expected: set[int]) -> str | None:
    """What keeps `sees` from being true, in words."""
    try:
        api_versions(address)
        sight = metadata(address)
    except NotReady as silence:
        return f"it does not answer ApiVersions and Metadata ({silence})"
    if missing := expected - set(sight.brokers):
        return f"its Metadata lacks the brokers {sorted(missing)}"
    return None if sight.controller >= 0 else "its Metadata has no controller"


def _ask(address: Address, key: int, version: int, body: bytes, seconds: float) -> bytes:
    """The answer's body. `seconds` are for all of it, from the connection to the last byte: who
    sends a byte now and then gets no more.
    """
    where, deadline = f"{address[0]}:{address[1]}", time.perf_counter() + seconds
    header = struct.pack(">hhih", key, version, _CORRELATION, len(_CLIENT)) + _CLIENT
    try:
        line = Line(address, seconds)
    except OSError as error:
        raise NotReady(f"{where}: {error.strerror or error}") from error
    try:
        how = line.write(struct.pack(">i", len(header) + len(body)) + header + body, deadline)
        how, came = (how, b"") if how else line.read(deadline)
    finally:
        line.end()
    if how == "closed":
        raise Closed("the connection was closed before the answer")
    if how == "timeout":
        raise NotReady(f"{where}: timed out, no whole answer in {seconds:g} s") from TimeoutError()
    if how == "reset":
        raise NotReady(f"{where}: {os.strerror(errno.ECONNRESET)}") from ConnectionResetError()
    came = came if how == "garbled" else struct.pack(">i", len(came)) + came
    size, correlation = struct.unpack_from(">ii", came.ljust(8, b"\0"))
    if how == "garbled" or size < 4 or correlation != _CORRELATION:
        raise NotReady(
            f"{where} does not speak Kafka: its answer begins with size {size} and id {correlation}"
        )
    return came[8:]


class _Reader:
    """A cursor that turns a short answer into NotReady."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, form: str) -> int:
        try:
            (value,) = struct.unpack_from(form, self.data, self.at)
        except struct.error:
            raise self._cut_off() from None
        self.at += struct.calcsize(form)
        return value

    def rows(self, form: str, count: int) -> Iterator[tuple[int, ...]]:
        """So many times what `form` says: at once, as a start waits for the list of all APIs."""
        data = self.data[self.at : self.at + max(0, count) * struct.calcsize(form)]
        if len(data) < count * struct.calcsize(form):
            raise self._cut_off()
        self.at += len(data)
        return struct.iter_unpack(form, data)

    def string(self) -> str | None:
        return self._text(self.take(">h"))

    def compact(self) -> str | None:
        return self._text(self.varint() - 1)

    def varint(self) -> int:
        value = 0
        for place in range(_VARINT_BYTES):
            byte = self.take(">B")
            value |= (byte & 0x7F) << 7 * place
            if byte < 0x80:
                return value
        raise self._cut_off()

    def skip_tags(self) -> None:
        for _ in range(self.varint()):
            self.varint()  # which tag
            size = self.varint()
            self.at += size

    def _cut_off(self) -> NotReady:
        ends = f"its answer ends at byte {len(self.data)}, in a field that begins at {self.at}"
        return NotReady(f"it does not speak Kafka: {ends}")

    def _text(self, size: int) -> str | None:
        if size < 0:
            return None
        text = self.data[self.at : self.at + size]
        self.at += size
        return text.decode("utf-8", "replace")
