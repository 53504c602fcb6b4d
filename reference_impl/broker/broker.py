"""One broker: a frame and an instant in, effects out. No socket, no clock, no thread.

What stands here is what all APIs share: is the header readable, is this version served on this
listener, does the body decode, what becomes of an exception. What an API means stands in its
handler. Kafka hangs up on everything it cannot name (an unreadable header, an unknown key, a
version it does not serve, a body that does not decode), with one exception: an ApiVersions request
of an unknown version is answered in version 0, so that a newer client can find out (WIRE-18,
WIRE-19, KIP-511). An exception in a handler becomes that request's UNKNOWN_SERVER_ERROR and a line
in the log, never a dead broker (WIRE-14, WIRE-16).

Brokers of one process share a `Cluster`; what waits at one of them is its own (`Purgatory`).
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from struct import Struct
from typing import Any

from reference_impl.broker import registry
from reference_impl.broker.effects import (
    Close,
    Connection,
    Effect,
    Hangup,
    NoReply,
    Reply,
    Request,
    Unmute,
    Wait,
)
from reference_impl.broker.personas.persona import Persona
from reference_impl.broker.purgatory import Purgatory
from reference_impl.cluster.topology import Cluster
from reference_impl.wire.apis import API
from reference_impl.wire.codec import decode
from reference_impl.wire.errors import ErrorCode
from reference_impl.wire.headers import (
    API_VERSIONS,
    RequestHeader,
    decode_request_header,
    encode_response,
    encode_response_parts,
)

LOG = logging.getLogger("touchstone.broker")
_KEY_AND_VERSION = Struct(">hh")


class Broker:
    def __init__(
        self,
        node_id: int,
        *,
        cluster: Cluster,
        persona: Persona,
        purgatory: Purgatory | None = None,
        config: Mapping[str, str] | None = None,
        switches: frozenset[str] = frozenset(),
    ) -> None:
        self.id = node_id
        self.cluster = cluster
        self.persona = persona
        self.purgatory = purgatory if purgatory is not None else Purgatory()
        self.config = dict(config or {})  # broker settings as text; unset ones have defaults
        self.switches = switches
        self._known: set[tuple[int, int, bool]] = set()  # what `_served` said yes to
        self.state: dict[str, Any] = {}  # what a handler keeps between requests, by its name

    def number(self, name: str, default: int) -> int:
        """A whole-number broker setting."""
        text = self.config.get(name)
        return default if text is None else int(text)

    # --- the three entries -------------------------------------------------------------------

    def receive(self, connection: Connection, frame: bytes, now: int) -> list[Effect]:
        """One frame (without its size), whole: what to do about it, and what it set free."""
        effects = [*self._serve(connection, frame, now)]
        effects += self._settled(now)
        return effects

    def tick(self, now: int) -> list[Effect]:
        """What is due by now."""
        effects: list[Effect] = []
        try:
            for request, answer in self.purgatory.expire(now):
                effects += self._effects(request, answer, now)
        except Exception:  # it has left the table, so the next tick goes on with the rest (WIRE-16)
            LOG.exception("something that was due failed")
        effects += self._settled(now)
        return effects

    def deadline(self) -> int | None:
        return self.purgatory.deadline()

    def closed(self, connection: Connection) -> None:
        """The rim says this peer is gone."""
        self.purgatory.drop(connection)

    # --- one request -------------------------------------------------------------------------

    def _serve(self, connection: Connection, frame: bytes, now: int) -> Iterator[Effect]:
        try:
            request = self._parse(connection, frame)
        except _Refused as refusal:
            yield Close(connection, str(refusal))
            return
        except ValueError as fault:  # DecodeError
            yield Close(connection, f"cannot read the request: {fault}")
            return
        if isinstance(request, Reply):
            yield request
            return
        module = registry.handler(request.header.key)
        try:
            answer = module.handle(request, self, now)
        except Exception as fault:
            answer = fault
        yield from self._effects(request, answer, now)

    def _parse(self, connection: Connection, frame: bytes) -> Request | Reply:
        if len(frame) < 8:
            raise _Refused(f"a request of {len(frame)} bytes has no header")
        key, version = _KEY_AND_VERSION.unpack_from(frame)
        if not self._served(connection, key, version):
            if key == API_VERSIONS:
                if not self.persona.quirk("api-versions.fallback-reads-tags"):
                    frame = frame[:2] + b"\0\0" + frame[4:]
                header, _ = decode_request_header(frame)
                return self._version_fallback(connection, header)
            if "unknown-version-answered" not in self.switches or key not in API:
                raise _Refused(f"key {key} version {version} is not served")
            version = API[key].latest
            frame = frame[:2] + version.to_bytes(2, "big") + frame[4:]
        header, at = decode_request_header(frame)
        body, _ = decode(API[key].request, version, frame, at, fill=True)
        return Request(header, body, connection)

    def _served(self, connection: Connection, key: int, version: int) -> bool:
        asked = (key, version, connection.controller)
        if asked in self._known:
            return True
        api = API.get(key)
        served = (
            api is not None
            and api.request.has(version)
            and self.persona.serves(key, version, controller=connection.controller)
            and registry.handler(key) is not None
        )
        if served:  # what is not served is not remembered: a peer may ask for 2**32 pairs
            self._known.add(asked)
        return served

    def _version_fallback(self, connection: Connection, header: RequestHeader) -> Reply:
        """The answer to an ApiVersions request of a version that is not known (WIRE-19)."""
        rows = []
        if self.persona.quirk("api-versions.fallback-lists-itself"):
            low, high = self.persona.listed(controller=connection.controller)[API_VERSIONS]
            rows = [{"api_key": API_VERSIONS, "min_version": low, "max_version": high}]
        body = {"error_code": ErrorCode.UNSUPPORTED_VERSION, "api_keys": rows}
        frame = encode_response(API_VERSIONS, 0, header.correlation_id, body)
        return Reply(connection, (frame,))

    # --- answers -----------------------------------------------------------------------------

    def _settled(self, now: int) -> list[Effect]:
        return [
            effect
            for request, answer in self.purgatory.settle(now)
            for effect in self._effects(request, answer, now)
        ]

    def _effects(self, request: Request, answer: Any, now: int) -> Iterator[Effect]:
        """What a handler's answer means for its connection."""
        connection = request.connection
        if type(answer) is dict:
            yield self._reply(request, answer)
        elif isinstance(answer, Wait):
            self.purgatory.park(answer, request)
        elif isinstance(answer, NoReply):
            yield Unmute(connection)
        elif isinstance(answer, Hangup):
            yield Close(connection, answer.reason)
        elif isinstance(answer, Exception):
            yield self._failure(request, answer)
        else:
            yield self._failure(request, TypeError(f"a handler gave {answer!r}"))

    def _reply(self, request: Request, body: dict[str, Any]) -> Effect:
        header = request.header
        try:
            parts = encode_response_parts(header.key, header.version, header.correlation_id, body)
        except Exception as fault:
            LOG.exception("cannot encode the answer to %s", header)
            return Close(request.connection, f"cannot encode the answer: {fault}")
        return Reply(request.connection, parts)

    def _failure(self, request: Request, fault: Exception) -> Effect:
        """The request's own way to say UNKNOWN_SERVER_ERROR, or a closed connection."""
        header = request.header
        LOG.error("error when handling request %s", header, exc_info=fault)
        api, module = API[header.key], registry.handler(header.key)
        fail = getattr(module, "fail", None)
        if fail is not None:
            body = fail(request, ErrorCode.UNKNOWN_SERVER_ERROR)
            if body is not None:
                return self._reply(request, body)
        elif any(f.name == "error_code" for f in api.response.fields):
            return self._reply(request, {"error_code": ErrorCode.UNKNOWN_SERVER_ERROR})
        return Close(request.connection, f"{type(fault).__name__}: {fault}")


class _Refused(Exception):
    """Kafka closes the connection on such a request."""
