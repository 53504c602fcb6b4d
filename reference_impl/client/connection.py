"""One connection to one broker: negotiates versions, pipelines requests, checks their answers.

Bytes in, replies out. The first request is ApiVersions in the newest version we know; a broker that
does not know it answers UNSUPPORTED_VERSION in version 0 and says which it does know (KIP-35,
KIP-511), and we ask again. One that closes the connection instead gets a new connection that begins
with version 0 (`first_version=0`; the driver's business). Requests made before that are queued, and
so they are while an `authenticator` still has to say who we are: it begins with version 0, which a
broker on a SASL listener cannot take for a token.

A broker answers in the order of requests, so the head of the queue is the only correlation id that
may come next; anything else, and any byte left behind an answer, ends the connection.

An answer may ask for silence (`throttling.py`): until then requests are queued, as they are before
versions are known, and `resume` sends them. Their patience begins when they are sent, as in Java.
"""

from collections import deque
from dataclasses import dataclass

from touchstone.reference_impl.wire.apis import by_name
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.framing import FrameError, Frames, framed
from touchstone.reference_impl.wire.headers import decode_response, encode_request
from touchstone.reference_impl.wire.interpreter import DecodeError
from touchstone.reference_impl.wire.schema import Struct

from .flow import Ask
from .security.authenticator import Said, SaslAuthenticator
from .throttling import pause_ms

_API_VERSIONS = 18
_PATIENCE_MS = 30_000  # with an answer to a question of our own
SOFTWARE = {"client_software_name": "kafka-touchstone", "client_software_version": "0.1.0"}


class ProtocolFault(Exception):
    """The broker sent what it may not send; the connection is of no use any more."""


class Unsupported(Exception):
    """No version of this API is known to both sides."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What became of one ask on this connection."""

    ticket: int
    version: int
    body: Struct | None  # None: sent, and no answer is expected


@dataclass(frozen=True, slots=True)
class _Waiting:
    correlation_id: int
    key: int
    version: int
    ticket: int | None  # None: our own question, about versions or of the authenticator
    deadline: int


class Connection:
    def __init__(
        self,
        client_id: str | None,
        *,
        now: int,
        first_version: int | None = None,
        authenticator: SaslAuthenticator | None = None,
    ):
        self.client_id = client_id
        self.advertised: dict[int, tuple[int, int]] | None = None
        self._frames = Frames()
        self._out: list[bytes] = []
        self._next_id = 0
        self._waiting: deque[_Waiting] = deque()
        self._queued: deque[tuple[int, Ask, int]] = deque()
        self._quiet_until = 0
        self._own_deadline = now + _PATIENCE_MS
        self._authenticator = authenticator
        if authenticator is not None:
            first_version = 0
        elif first_version is None:
            first_version = by_name("ApiVersions").latest
        self._hello(first_version)

    @property
    def negotiated(self) -> bool:
        return self.advertised is not None

    @property
    def ready(self) -> bool:
        """Whether requests may be sent: versions are known, and so are we where that is asked."""
        known = self._authenticator is None or self._authenticator.complete
        return known and self.negotiated

    def _hello(self, version: int) -> None:
        self._write(_API_VERSIONS, version, SOFTWARE, None, self._own_deadline)

    def _write(
        self, key: int, version: int, body: Struct, ticket: int | None, deadline: int | None
    ) -> None:
        self._out.append(framed(encode_request(key, version, self._next_id, self.client_id, body)))
        if deadline is not None:
            self._waiting.append(_Waiting(self._next_id, key, version, ticket, deadline))
        self._next_id = (self._next_id + 1) & 0x7FFFFFFF

    def version_of(self, ask: Ask) -> int:
        """The highest version of both sides and the ask."""
        api = by_name(ask.api)
        known = self.advertised or {}
        if api.key not in known:
            raise Unsupported(f"the broker does not list {ask.api}")
        lowest, highest = known[api.key]
        version = min(highest, api.latest, ask.versions[1])
        if version < max(lowest, api.versions[0], ask.versions[0]):
            wanted = (
                f"{max(api.versions[0], ask.versions[0])} to {min(api.latest, ask.versions[1])}"
            )
            raise Unsupported(f"{ask.api} {wanted}; the broker has {lowest} to {highest}")
        return version

    def ask(self, ticket: int, ask: Ask, *, now: int) -> list[Reply]:
        """Send `ask` now, or as soon as versions are known. Raises Unsupported."""
        if self._authenticator is not None and self._authenticator.expiring(now):
            self._own_deadline = now + _PATIENCE_MS
            self._say(self._authenticator.renew(now))
        if not self.ready or now < self._quiet_until:
            self._queued.append((ticket, ask, max(now, self._quiet_until) + ask.timeout_ms))
            return []
        return self._send(ticket, ask, now + ask.timeout_ms)

    def _send(self, ticket: int, ask: Ask, deadline: int) -> list[Reply]:
        version = self.version_of(ask)
        body = ask.body(version) if callable(ask.body) else ask.body
        key = by_name(ask.api).key
        self._write(key, version, body, ticket, deadline if ask.answer else None)
        return [] if ask.answer else [Reply(ticket, version, None)]

    def outgoing(self) -> bytes:
        """Bytes to be written, each given once."""
        out, self._out = b"".join(self._out), []
        return out

    def receive(
        self, chunk: bytes, *, now: int
    ) -> tuple[list[Reply], list[tuple[int, Unsupported]]]:
        """Replies that these bytes complete, and queued asks that turned out impossible.

        Raises ProtocolFault, or AuthenticationException where the broker does not believe us.
        """
        replies: list[Reply] = []
        impossible: list[tuple[int, Unsupported]] = []
        try:
            frames = self._frames.feed(chunk)
        except FrameError as fault:
            raise ProtocolFault(f"an answer of an impossible size: {fault}") from None
        for frame in frames:
            reply = self._answered(frame, now)
            if reply is not None:
                replies.append(reply)
            else:
                more, never = self.resume(now)
                replies += more
                impossible += never
        return replies, impossible

    def due(self) -> int | None:
        """When somebody has to look: for an answer that is late, or for what may be sent again."""
        waits = (self.deadline(), self.resumes_at())
        return min((each for each in waits if each is not None), default=None)

    def resumes_at(self) -> int | None:
        """When `resume` has something to send, if it has."""
        return self._quiet_until if self._queued and self.ready else None

    def resume(self, now: int) -> tuple[list[Reply], list[tuple[int, Unsupported]]]:
        """Send what was queued, unless silence is still asked for; the rest as of `receive`."""
        replies: list[Reply] = []
        impossible: list[tuple[int, Unsupported]] = []
        while self._queued and self.ready and now >= self._quiet_until:
            ticket, ask, deadline = self._queued.popleft()
            try:
                replies += self._send(ticket, ask, deadline)
            except Unsupported as fault:
                impossible.append((ticket, fault))
        return replies, impossible

    def _say(self, said: Said | None) -> None:
        """What the authenticator says next."""
        if said is None:
            return
        if said.key is not None:
            self._write(said.key, said.version, said.body, None, self._own_deadline)
            return
        self._out.append(framed(said.frame))
        self._waiting.append(_Waiting(-1, -1, 0, None, self._own_deadline))

    def _answered(self, frame: bytes, now: int) -> Reply | None:
        if not self._waiting:
            raise ProtocolFault("an answer that nobody asked for")
        head = self._waiting[0]  # stays there while its answer may be unreadable: see `abandon`
        if self._authenticator is not None and self._authenticator.bare:
            self._waiting.popleft()
            self._say(self._authenticator.framed(frame, now))
            return None
        found = int.from_bytes(frame[:4], "big")
        if len(frame) < 4 or found != head.correlation_id:
            raise ProtocolFault(f"correlation id {found}, expected {head.correlation_id}")
        version = head.version
        if head.ticket is None and frame[4:6] == _UNSUPPORTED:
            version = 0  # the answer to a version the broker does not know is always version 0
        try:
            response = decode_response(head.key, version, frame)
        except DecodeError as fault:
            raise ProtocolFault(f"an answer that does not decode: {fault}") from None
        if response.end != len(frame):
            raise ProtocolFault(f"{len(frame) - response.end} bytes after an answer")
        self._waiting.popleft()
        if pause := pause_ms(head.key, version, response.body):
            self._quiet_until = max(self._quiet_until, now + pause)
        if head.ticket is not None:
            return Reply(head.ticket, version, response.body)
        if head.key == _API_VERSIONS:
            self._welcome(head.version, response.body, now)
        elif self._authenticator is not None:
            self._say(self._authenticator.answered(head.key, response.body, now))
        return None

    def _welcome(self, asked: int, body: Struct, now: int) -> None:
        ranges = {
            row["api_key"]: (row["min_version"], row["max_version"]) for row in body["api_keys"]
        }
        code = body["error_code"]
        if code == ErrorCode.UNSUPPORTED_VERSION and asked:
            # Kafka before 2.4 sends no ranges with this error; version 0 is always understood.
            again = min(ranges.get(_API_VERSIONS, (0, 0))[1], asked - 1)
            self._hello(again)
        elif code:
            raise ProtocolFault(f"ApiVersions failed with {code}")
        else:
            self.advertised = ranges
            if self._authenticator is not None:
                self._say(self._authenticator.versions(ranges, now))

    def deadline(self) -> int | None:
        """When the first of the waiting requests will have waited too long."""
        waits = [each.deadline for each in self._waiting]
        waits += [deadline for _, _, deadline in self._queued]
        return min(waits, default=None)

    def expired(self, now: int) -> bool:
        """A broker owes an answer for too long. Kafka's client then drops the connection."""
        first = self.deadline()
        return first is not None and first <= now

    def abandon(self) -> list[tuple[int, bool]]:
        """The connection is gone: the tickets nobody will answer, and whether each was sent."""
        sent = [(each.ticket, True) for each in self._waiting if each.ticket is not None]
        unsent = [(ticket, False) for ticket, _, _ in self._queued]
        self._waiting.clear()
        self._queued.clear()
        return sent + unsent


_UNSUPPORTED = ErrorCode.UNSUPPORTED_VERSION.to_bytes(2, "big")
