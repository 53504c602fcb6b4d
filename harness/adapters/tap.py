"""What crosses the proxy of one case: every frame is noted, and answers are changed as asked.

Brokers' addresses in answers become the proxy's own, so that a client never goes past it. A planted
defect (`liars`) changes requests before they are noted: it stands for a client that sends so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from touchstone.harness.adapters.lying import Lie, Mishear
from touchstone.harness.adapters.proxy import FIXED, GO_ON, HOST, Link, framed
from touchstone.harness.model import path as paths
from touchstone.harness.model.client_steps import Change
from touchstone.reference_impl.wire import headers
from touchstone.reference_impl.wire.apis import by_name

ADDRESSES = frozenset(
    by_name(name).key
    for name in ("Metadata", "FindCoordinator", "Produce", "Fetch", "DescribeCluster", "ShareFetch",
                 "ShareAcknowledge")
)  # fmt: skip
RECORDS, TAGS = "records", "_tags"
Note = Callable[..., None]  # direction, connection, and the event's other fields


@dataclass(slots=True)
class Active:
    """A change in force, and how many answers of its API it has met."""

    change: Change
    met: int = 0

    def take(self, body: dict[str, Any]) -> None:
        """Change this answer if it is due. One without such a place is not counted."""
        places = list(_places(self.change, body))
        self.met += bool(places)
        last = self.change.nth + self.change.times if self.change.times else None
        if self.met >= self.change.nth and (last is None or self.met < last):
            for holder, key in places:
                holder[key] = _changed(self.change, holder, key)


class Tap:
    """A passage (`proxy`) of one case."""

    def __init__(
        self, note: Note, ports: Mapping[int, int], ids: Mapping[int, int],
        lie: Lie | None = None, mishear: Mishear | None = None,
    ) -> None:  # fmt: skip
        """`ports`: a broker's port -> the proxy's; `ids`: an upstream's index -> its broker."""
        self._note, self._ports, self._ids, self._lie = note, ports, ids, lie
        self._mishear = mishear
        self.changes: list[Active] = []
        self._clients: dict[int, str | None] = {}

    def joined(self, link: Link) -> None:
        self._note("joined", f"#{link.number}", broker=self._ids.get(link.upstream))

    def parted(self, link: Link, by: str) -> None:
        self._note("parted", f"#{link.number}", broker=self._ids.get(link.upstream), note=by)

    def request(self, link: Link, content: bytes) -> bytes | None:
        sent = content if self._lie is None else lied(self._lie, content)
        if sent is None:
            return None
        key = version = correlation = None
        if len(sent) >= FIXED.size:  # all that is known of an API or a version from the future
            key, version, correlation = FIXED.unpack_from(sent)
        self._note(
            "asked", f"#{link.number}", raw=sent, api=key, version=version,
            correlation_id=correlation, broker=self._ids.get(link.upstream),
        )  # fmt: skip
        return sent

    def answer(self, link: Link, key: int, version: int, content: bytes) -> tuple[bytes, str]:
        content = self._changed(key, version, content)
        self._note(
            "answered", f"#{link.number}", raw=content, api=key, version=version_of(key, version,
            content), correlation_id=int.from_bytes(content[:4], "big", signed=True),
            broker=self._ids.get(link.upstream),
        )  # fmt: skip
        return self._misheard(key, version, content), GO_ON

    def _misheard(self, key: int, version: int, content: bytes) -> bytes:
        """The frame as a planted defect has it reach the client; nothing where it never does."""
        if self._mishear is None:
            return framed(content)
        try:
            written = version_of(key, version, content)
            answer = headers.decode_response(key, written, content)
        except (ValueError, KeyError):
            return framed(content)
        body = self._mishear(key, answer.body)
        if body is None:
            return b""
        again = headers.encode_response(key, written, answer.correlation_id, body, tags=answer.tags)
        return framed(again)

    def _changed(self, key: int, version: int, content: bytes) -> bytes:
        mine = [one for one in self.changes if by_name(one.change.api).key == key]
        if key not in ADDRESSES and not mine:
            return content
        try:
            written = version_of(key, version, content)
            answer = headers.decode_response(key, written, content)
        except (ValueError, KeyError):
            return content
        readdress(answer.body, self._ports)
        for one in mine:
            one.take(answer.body)
        return headers.encode_response(
            key, written, answer.correlation_id, answer.body, tags=answer.tags
        )


def version_of(key: int, version: int, content: bytes) -> int:
    """The version in which an answer is written: an ApiVersions refused comes in version 0."""
    return 0 if key == headers.API_VERSIONS and content[4:6] == b"\0\x23" else version


def readdress(value: object, ports: Mapping[int, int]) -> None:
    """Put the proxy's port wherever a struct has a host and a port that it stands for."""
    if isinstance(value, dict):
        if value.get("host") and value.get("port") in ports:
            value["host"], value["port"] = HOST, ports[value["port"]]
        for inner in value.values():
            readdress(inner, ports)
    elif isinstance(value, list):
        for inner in value:
            readdress(inner, ports)


def _places(change: Change, body: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
    """What holds the field of a change, and its name or index there."""
    *way, last = paths.parse(change.path)
    for holder in _holders(body, way):
        if isinstance(holder, dict):
            if any(holder.get(name) != value for name, value in change.where.items()):
                continue
            least = 1 if isinstance(change.value, bytes) else change.value
            if last == RECORDS and len(holder.get(RECORDS) or b"") < least:
                continue
            if last in holder or last == TAGS:
                yield holder, last
        elif isinstance(holder, list) and isinstance(last, int) and last < len(holder):
            yield holder, last


def _changed(change: Change, holder: Any, key: Any) -> Any:
    """The value to put there; a number in place of records turns one of their bytes over."""
    if key != RECORDS or isinstance(change.value, bytes):
        return change.value
    data = bytearray(holder[key])
    data[-change.value] ^= 0xFF
    return bytes(data)


def _holders(value: Any, way: list[paths.Step]) -> list[Any]:
    """Everything to which a way leads."""
    found = [value]
    for step in way:
        inner: list[Any] = []
        for one in found:
            if step == paths.EVERY:
                inner += one if isinstance(one, list) else []
            elif isinstance(one, dict):
                inner += [one[step]] if step in one else []
            elif isinstance(one, list) and isinstance(step, int):
                inner += one[step : step + 1]
        found = inner
    return found


def lied(lie: Lie, content: bytes) -> bytes | None:
    """The request as a planted defect would have it sent; None: not at all."""
    try:
        request = headers.decode_request(content)
    except ValueError:
        return content
    found = lie(request.header.key, request.header.version, request)
    if found is False:
        return None
    if not isinstance(found, dict):
        return content
    head = request.header
    return headers.encode_request(
        head.key, head.version, head.correlation_id, head.client_id, found
    )
