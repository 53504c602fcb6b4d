"""A broker's core turns a frame and an instant into effects: no socket, no clock, no thread.

What stands here is what all APIs share: is the header readable, is this version served on this
listener, does the body decode, what becomes of an exception. What an API means stands in its
handler. Kafka hangs up on everything it cannot name (an unreadable header, an unknown key, a
version it does not serve, a body that does not decode), with one exception: an ApiVersions request
of an unknown version is answered in version 0, so that a newer client can find out (WIRE-18,
WIRE-19, KIP-511). An exception in a handler becomes that request's UNKNOWN_SERVER_ERROR and a line
in the log, never a dead broker (WIRE-14, WIRE-16).

Brokers of one process share a `Cluster`, the registry; what one of them knows of it is its own
(`metadata`), and so is what waits at it (`Purgatory`).
"""

from __future__ import annotations

import logging
import struct
from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from touchstone.reference_impl.broker import registry
from touchstone.reference_impl.broker.configs.config_view import ConfiguredNode
from touchstone.reference_impl.broker.control import forwarding, internal_topics, metadata_publisher
from touchstone.reference_impl.broker.control.controller_channel_manager import (
    ControllerChannelManager,
)
from touchstone.reference_impl.broker.coordinators import leadership
from touchstone.reference_impl.broker.data.client_quotas import ClientQuotas, HeldFrame
from touchstone.reference_impl.broker.data.log_manager import LogManager
from touchstone.reference_impl.broker.effects import (
    Ask,
    Close,
    Connection,
    Effect,
    Hangup,
    NoReply,
    OwnConnection,
    Reply,
    Request,
    ThreadTime,
    Unmute,
    Wait,
)
from touchstone.reference_impl.broker.faults.fault_injection import FaultInjector
from touchstone.reference_impl.broker.faults.fault_plan import Plan
from touchstone.reference_impl.broker.personas.persona import Persona
from touchstone.reference_impl.broker.purgatory import Purgatory
from touchstone.reference_impl.broker.replication.replicas import Logs, Replicas
from touchstone.reference_impl.cluster.topology import Change, Cluster
from touchstone.reference_impl.cluster.view import MetadataView
from touchstone.reference_impl.wire.apis import API
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.headers import (
    API_VERSIONS,
    RequestHeader,
    decode_request_header,
    decode_response,
    encode_request,
    encode_response,
    encode_response_parts,
)
from touchstone.reference_impl.wire.late_tags import decode_known
from touchstone.reference_impl.wire.schema import Struct

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.replication.observer import Observer

LOG = logging.getLogger("touchstone.broker")
_MOST_TOLD, _MOST_LINES = 500, 20  # characters of a header, lines of a traceback: in the log
_KEY_AND_VERSION = struct.Struct(">hh")
T = TypeVar("T")
Handle = Callable[[Request, int], Any]


class Broker:
    def __init__(
        self,
        node_id: int,
        *,
        cluster: Cluster,
        persona: Persona,
        config: Mapping[str, str],
        logs: Logs,
        faults: Plan | None,
        thread_time: ThreadTime,
    ) -> None:
        """`logs` are what outlives this broker. It is made by `assembly`."""
        self.id, self.thread_time = node_id, thread_time
        self.cluster = cluster
        self.metadata = MetadataView()
        self.persona = persona
        self.purgatory = Purgatory()
        self.config = dict(config)  # broker settings as text; unset ones have defaults
        self.quotas = ClientQuotas(self)
        self.fault_injector = FaultInjector(self, Plan() if faults is None else faults)
        self._known: set[tuple[int, int, bool]] = set()  # what `_served` said yes to
        self.controller_epoch = 0  # the newest that a ZooKeeper controller's request told it
        self._led_anew: dict[str, None] = {}  # internal topics: their coordinators are to be told
        self._changes: list[Change] = []  # of the cluster, not yet acted on
        self._soon: dict[Hashable, Callable[[int], None]] = {}
        self._when_closed: dict[Connection, dict[str, Callable[[int], None]]] = {}
        self._handlers: dict[int, Handle] = {}
        self._outbox: list[Effect] = []
        self._asked: dict[int, _PendingAsk] = {}  # by correlation id, oldest first
        self._ask_alarm = False  # an alarm stands for the oldest of them
        self._correlation = 0
        self._instant = 0  # of the entry that is running
        self.since = 0  # when it began: its first entry, which receives the whole state
        self.config_of = partial(cluster.config_of, broker=node_id)  # of a topic, on this broker
        self.replicas = Replicas(self, logs)
        self.observer: Observer | None = None  # of its requests, once somebody asks for metrics
        self.log_manager = LogManager(self)
        self._rooms: dict[type[Any], Any] = {
            ClientQuotas: self.quotas,
            Cluster: cluster,
            ConfiguredNode: ConfiguredNode(node_id, cluster, persona, self.config),
            MetadataView: self.metadata,
            Persona: persona,
            Purgatory: self.purgatory,
            Replicas: self.replicas,
        }
        self._act = (
            partial(metadata_publisher.publish, self)
            if persona.kraft
            else ControllerChannelManager(self, self._serve_itself).publish
        )
        self.cluster_changed = self._changes.append  # acted on at the next entry
        cluster.subscribe(node_id, self.cluster_changed)

    def room(self, kind: type[T]) -> T:
        """This broker's one `kind`, made of the broker when it is first asked for.

        What a part of the broker keeps between requests are the fields of such a class. It is not
        made sooner, and its module not loaded sooner, than something needs it: a broker that is
        asked little loads little (`touchstone bench startup`).
        """
        found = self._rooms.get(kind)
        if found is None:
            found = self._rooms[kind] = kind(self)  # type: ignore[call-arg]  # all kinds but those above
        return found

    def handler(self, key: int) -> Handle:
        """The API's handler, with what its signature says that it takes of this broker."""
        found = self._handlers.get(key)
        if found is None:
            module = registry.module_of(key)
            services: list[object] = [self.room(kind) for kind in registry.services(key)]
            found = self._handlers[key] = self._guarded(
                key, lambda request, now: module.handle(request, *services, now)
            )
        return found

    def _guarded(self, key: int, handle: Handle) -> Handle:
        """The handler behind its guard, where there is an authorizer."""
        if not self.config.get("authorizer.class.name"):
            return handle
        module = import_module("touchstone.reference_impl.broker.security.acls.access_control")
        return self.room(module.AccessControl).guarded(key, handle)

    def number(self, name: str, default: int) -> int:
        """A whole-number broker setting."""
        text = self.config.get(name)
        return default if text is None else int(text)

    # --- the entries -------------------------------------------------------------------------

    def receive(self, connection: Connection, frame: bytes, now: int) -> list[Effect]:
        """Serve one frame (without its size): return its effects and those of what it set free."""
        self._begin(now)
        return [*self._serve(connection, frame, now), *self._settled(now)]

    def tick(self, now: int) -> list[Effect]:
        """Do what is due by now."""
        self._begin(now)
        effects: list[Effect] = []
        try:
            for request, answer in self.purgatory.expire(now):
                effects += self._effects(request, answer, now)
        except Exception:  # it has left the table, so the next tick goes on with the rest (WIRE-16)
            LOG.exception("something that was due failed")
        effects += self._settled(now)
        return effects

    def answered(self, correlation_id: int, frame: bytes | None, now: int) -> list[Effect]:
        """Take a peer's answer to an `Ask`; None where it cannot be reached or hung up."""
        self._begin(now)
        asked = self._asked.pop(correlation_id, None)
        if asked is not None:  # else it was timed out before
            self._hand_over(asked, frame, now)
        return self._settled(now)

    def deadline(self) -> int | None:
        """When `tick` has something to do: an instant, 0 for at once, None for never."""
        if (
            self._changes
            or self._soon
            or self._led_anew
            or self._outbox
            or self.cluster.unpublished
        ):
            return 0
        return self.purgatory.deadline()

    def closed(self, connection: Connection) -> None:
        """The connection has ended."""
        connection.authenticator = None  # which knows the connection in its turn
        self.purgatory.drop(connection)
        self.fault_injector.closed(connection)
        for key, call in self._when_closed.pop(connection, {}).items():
            self.soon(("closed", connection.id, key), call)

    # --- peers and things to do --------------------------------------------------------------

    def ask(
        self,
        peer: int,
        key: int,
        version: int,
        body: Struct,
        then: Callable[[Struct | None, int], None],
        *,
        channel: str = "fetch",
    ) -> None:
        """Send a request to another broker; `then(answer, now)` gets its body, or None.

        None comes where the peer hangs up, is not there, or says nothing for
        `replica.socket.timeout.ms`.
        """
        self._correlation += 1
        number = self._correlation
        at = self._instant + self.number("replica.socket.timeout.ms", 30_000)
        if not self._ask_alarm:
            self._ask_alarm = True
            self.purgatory.remind(("asked", self.id), at, self._time_out_asks)
        self._asked[number] = _PendingAsk(key, version, then, at)
        frame = encode_request(key, version, number, f"broker-{self.id}-{channel}", body)
        self._outbox.append(Ask(self.id, peer, channel, (frame,), number))

    def soon(self, key: Hashable, call: Callable[[int], None]) -> None:
        """Have `call(now)` happen once before this entry ends, however often it is asked for."""
        self._soon[key] = call

    def leadership_changed(self, topic: str) -> None:
        """A partition of this topic has another leader: tell its coordinators, if it has any."""
        if topic in internal_topics.ALL:
            self._led_anew[topic] = None

    def topics_deleted(self) -> None:
        """Some topic was deleted: tell whoever keeps something of it."""
        self.soon("topics deleted", lambda now: leadership.topics_deleted(self))

    def when_closed(self, connection: Connection, key: str, call: Callable[[int], None]) -> None:
        """Have `call(now)` happen once this peer is gone; a later word of that key replaces it."""
        self._when_closed.setdefault(connection, {})[key] = call

    def later(self, key: Hashable, ms: int, *effects: Effect) -> None:
        """Give the effects to the event loop so many milliseconds from now."""
        at = self._instant + ms
        self.purgatory.remind(key, at, lambda now: self._outbox.extend(effects))

    def _begin(self, now: int) -> None:
        """Every entry acts first on what the cluster said."""
        self._instant = now
        if self.cluster.unpublished:
            self.cluster.publish()
        if self._changes:
            changes, self._changes[:] = list(self._changes), []
            self.since = self.since or now
            try:
                self._act(changes, now)
            except Exception:
                LOG.exception("cannot act on %s", changes)
        if self._led_anew:
            self._tell_coordinators(now)

    def _tell_coordinators(self, now: int) -> None:
        """Tell coordinators of new leaders of their topics, before serving anything."""
        topics, self._led_anew = self._led_anew, {}
        for topic in topics:
            try:
                leadership.changed(self, topic, now)
            except Exception:
                LOG.exception("the coordinator cannot act on the new leaders of %s", topic)

    def _hand_over(self, asked: _PendingAsk, frame: bytes | None, now: int) -> None:
        body = None
        try:
            if frame is not None:
                body = decode_response(asked.key, asked.version, frame).body
        except ValueError as fault:
            LOG.error("cannot read the answer of a peer: %s", fault)
        try:
            asked.then(body, now)
        except Exception:
            LOG.exception("cannot deal with the answer of a peer")

    def _time_out_asks(self, now: int) -> None:
        """Give up on what was asked too long ago; the answer is not wanted any more."""
        self._ask_alarm = False
        while self._asked:
            number, oldest = next(iter(self._asked.items()))
            if oldest.until > now:
                self._ask_alarm = True
                self.purgatory.remind(("asked", self.id), oldest.until, self._time_out_asks)
                return
            self._hand_over(self._asked.pop(number), None, now)

    # --- one request -------------------------------------------------------------------------

    def _serve(self, connection: Connection, frame: bytes, now: int) -> Iterable[Effect]:
        metered = bool(self.quotas)
        if metered and self.quotas.hold(connection, frame, now):
            return ()
        if connection.authenticator is not None:
            effects = connection.authenticator.receive(frame, now)
            if effects is not None:
                return effects
        began = self.thread_time() if metered else 0
        try:
            request = self.parse(connection, frame)
        except _UnreadableRequest as refusal:
            return (Close(connection, str(refusal)),)
        except ValueError as fault:  # DecodeError
            return (Close(connection, f"cannot read the request: {fault}"),)
        if type(request) is Reply:
            return (request,)
        if self.fault_injector:
            spoiled = self.fault_injector.before(request)
            if spoiled is not None:
                return spoiled
        try:
            if forwarding.stuck(self, request):
                answer = forwarding.wait(self, request, now)
            else:
                answer = self.handler(request.header.key)(request, now)
        except Exception as fault:
            return self._effects(request, fault, now)
        request.thread_ns = self.thread_time() - began if metered else 0
        return self._effects(request, answer, now)

    def _serve_itself(self, key: int, version: int, body: Struct, now: int) -> None:
        """A request of this broker to itself, without a wire; nobody waits for the answer."""
        if registry.handler(key) is not None:
            request = Request(RequestHeader(key, version, 0, None), body, OwnConnection())
            self.handler(key)(request, now)

    def parse(self, connection: Connection, frame: bytes) -> Request | Reply:
        """The request, or the answer to an ApiVersions of an unknown version; ValueError."""
        if len(frame) < 8:
            raise _UnreadableRequest(f"a request of {len(frame)} bytes has no header")
        key, version = _KEY_AND_VERSION.unpack_from(frame)
        if not self._served(connection, key, version):
            if key == API_VERSIONS:
                if not self.persona.quirk("api-versions.fallback-reads-tags"):
                    frame = frame[:2] + b"\0\0" + frame[4:]
                header, _ = decode_request_header(frame)
                return self._version_fallback(connection, header)
            raise _UnreadableRequest(f"key {key} version {version} is not served")
        header, at = decode_request_header(frame)
        body = decode_known(API[key].request, version, frame, at, self.persona.newest(key))
        return Request(header, body, connection, len(frame))

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
        """The effects of what became possible, and requests to peers; nothing is left to do."""
        effects: list[Effect] = []
        while True:
            if self.cluster.unpublished or self._changes:
                self._begin(now)
            if self._led_anew:
                self._tell_coordinators(now)
            for request, answer in self.purgatory.settle(now):
                effects += self._effects(request, answer, now)
            if not self._soon and not self._led_anew:
                break
            calls, self._soon = self._soon, {}
            for call in calls.values():
                try:
                    call(now)
                except Exception:
                    LOG.exception("something to do failed")
        if self._outbox:  # first: a follower that an answer wakes ought to know of what it follows
            effects, self._outbox = self._outbox + effects, []
        return effects

    def _effects(self, request: Request, answer: Any, now: int) -> Iterable[Effect]:
        """The effects of a handler's answer on its connection, unless the fault plan spoils it."""
        if self.quotas:
            if type(answer) is HeldFrame:
                return self._serve(request.connection, answer.frame, now)
            answer = self.quotas.charge(request, answer, now)
        effects = self._outcome(request, answer)
        if self.observer is not None and not isinstance(answer, Wait):
            self._tell_observer(self.observer, request, answer)
        return self.fault_injector.after(list(effects)) if self.fault_injector else effects

    def _outcome(self, request: Request, answer: Any) -> tuple[Effect, ...]:
        connection = request.connection
        if type(answer) is dict:
            try:
                return (self.reply(request, answer),)
            except Exception as fault:  # it has no bytes: a message of over 32,767 of them
                return (self._failure(request, fault),)
        if isinstance(answer, Wait):
            self.purgatory.park(answer, request)
            return ()
        if isinstance(answer, NoReply):
            return (Unmute(connection),)
        if isinstance(answer, Hangup):
            return (Close(connection, answer.reason),)
        if isinstance(answer, Exception):
            return (self._failure(request, answer),)
        return (self._failure(request, TypeError(f"a handler gave {answer!r}")),)

    def _tell_observer(self, observer: Observer, request: Request, answer: Any) -> None:
        """Of an answer, whose failure to be one counts as the error that is answered for it."""
        if isinstance(answer, dict):
            observer.answered(request, answer)
        elif isinstance(answer, Exception):
            refusal = registry.refusal(request, ErrorCode.UNKNOWN_SERVER_ERROR)
            observer.answered(request, refusal)
        else:
            observer.answered(request, None)

    def reply(self, request: Request, body: Struct) -> Effect:
        """Raises what the codec raises for a value that its field cannot hold."""
        header = request.header
        parts = encode_response_parts(header.key, header.version, header.correlation_id, body)
        return Reply(request.connection, parts)

    def _failure(self, request: Request, fault: Exception) -> Effect:
        """The request's own way to say UNKNOWN_SERVER_ERROR, or a closed connection."""
        told = str(request.header)[:_MOST_TOLD]
        LOG.error("error when handling request %s", told, exc_info=_shortened(fault))
        said = f"{type(fault).__name__}: {fault}"
        return self.refuse(request, ErrorCode.UNKNOWN_SERVER_ERROR, said)

    def refuse(self, request: Request, code: int, said: str = "") -> Effect:
        """The request's own way to say this error, wherever its answer has a place for one."""
        if (request.header.key, code) == (API_VERSIONS, ErrorCode.UNSUPPORTED_VERSION):
            return self._version_fallback(request.connection, request.header)
        body = registry.refusal(request, code)
        if body is not None:
            try:
                return self.reply(request, body)
            except Exception as fault:
                LOG.error("no error of %s has bytes", request.header, exc_info=fault)
        return Close(request.connection, said or f"error {code}")


def _shortened(fault: Exception) -> Exception:
    """With the innermost lines of its traceback: one of a recursion has a thousand."""
    lines = []
    trace = fault.__traceback__
    while trace is not None:
        lines.append(trace)
        trace = trace.tb_next
    return fault.with_traceback(lines[-_MOST_LINES]) if len(lines) > _MOST_LINES else fault


class _PendingAsk(NamedTuple):
    """A request to a peer that is not answered yet."""

    key: int
    version: int
    then: Callable[[Struct | None, int], None]
    until: int  # ms: how long an answer is waited for


class _UnreadableRequest(ValueError):
    """Kafka closes the connection on such a request."""
