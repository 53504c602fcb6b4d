"""A connection of a SASL listener says who it is; until then nothing else of it is served.

The states stand in `sasl_states`. One authenticator belongs to one connection and knows of it only
its state and one exchange, so a peer that says nothing, or the wrong thing, costs no more than that
(frames before the end are bounded by sasl.server.max.receive.size, in `io`). Where sessions have
an end (connections.max.reauth.ms), a handshake begins a re-authentication, at most once in a
second; a request after the end of the session closes the connection (KIP-368).

Sources: SaslServerAuthenticator, KafkaChannel.maybeBeginServerReauthentication,
SocketServer.processCompletedReceives at 1.0.2, 2.8.2, 4.0; observed on all five releases.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from struct import Struct as Layout
from typing import TYPE_CHECKING

from touchstone.reference_impl.broker.configs.listener_changes import ListenerChanges
from touchstone.reference_impl.broker.effects import (
    Close,
    Connection,
    Effect,
    Principal,
    Reply,
    Request,
)
from touchstone.reference_impl.broker.security import sasl_settings
from touchstone.reference_impl.broker.security.mechanism import (
    CredentialsRefused,
    NewSaslServer,
    SaslBroken,
    SaslServer,
)
from touchstone.reference_impl.broker.security.sasl_settings import SaslSettings
from touchstone.reference_impl.broker.security.sasl_states import TABLE, Deed, Frame, State
from touchstone.reference_impl.broker.security.token_keys import TokenKeys
from touchstone.reference_impl.broker.security.token_secrets import secret_key
from touchstone.reference_impl.cluster.hash_order import properties
from touchstone.reference_impl.wire.apis import API
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker

LOG = logging.getLogger("touchstone.server")
HANDSHAKE, VERSIONS, AUTHENTICATE = 17, 18, 36
FRAMES = {HANDSHAKE: Frame.HANDSHAKE, VERSIONS: Frame.VERSIONS, AUTHENTICATE: Frame.AUTHENTICATE}
LEAST_BETWEEN_MS = 1000  # two re-authentications
_KEY = Layout(">h")
_HEADER = 8  # bytes that every request has
_USER = "User"


def settings_of(broker: Broker, listener: str) -> SaslSettings:
    """What the listener was made of; what was altered and cannot be obeyed leaves what it began
    with, where Kafka would not start again.
    """
    try:
        told = broker.room(ListenerChanges).made_of(listener)
        return SaslSettings.of(told, listener, broker.persona)
    except ValueError as fault:
        LOG.error("listener %s has what it began with: %s", listener, fault)
        return SaslSettings.of(broker.config, listener, broker.persona)


class SaslListener:
    """What the connections of one SASL listener of a broker have in common."""

    def __init__(self, broker: Broker, listener: str) -> None:
        self.broker = broker
        self.settings = settings_of(broker, listener)
        self.exchanges: Mapping[str, NewSaslServer] = sasl_settings.exchanges(
            self.settings,
            broker.persona,
            broker.cluster,
            secret_key(broker.config),
            broker.room(TokenKeys).of_listener(listener),
        )
        self.named = properties(self.settings.mechanisms)  # as Java's HashSet lists them
        quirk = broker.persona.quirk
        self.delay_ms = self.settings.failure_delay_ms if quirk("sasl.refusals-wait") else 0
        self.refusal: str = quirk("sasl.refusal")
        self.success: str | None = quirk("sasl.success-message")
        self.closes_expired: bool = quirk("sasl.expired-sessions-are-closed")
        self.tokens_end_sessions: bool = quirk("sasl.tokens-end-sessions")
        self.bare_sessions_end: bool = quirk("sasl.bare-sessions-end")


class SaslListeners:
    """The SASL listeners of one broker, each made when a connection first comes by it."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._listeners: dict[str, SaslListener] = {}

    def forget(self, name: str) -> None:
        """The listener is closed; another of its name may be otherwise."""
        self._listeners.pop(name, None)

    def admit(self, connection: Connection) -> int:
        """Put an authenticator before its requests; returned is how many bytes a frame may have
        until it is done.
        """
        name = connection.listener
        if name not in self._listeners:
            self._listeners[name] = SaslListener(self._broker, name)
        listener = self._listeners[name]
        connection.authenticator = SaslAuthenticator(listener, connection)
        return listener.settings.max_receive


class SaslAuthenticator:
    def __init__(self, listener: SaslListener, connection: Connection) -> None:
        self._listener, self._broker = listener, listener.broker
        self._connection = connection
        self.state = State.INITIAL
        self._mechanism = ""  # the one that was chosen first
        self._exchange: SaslServer | None = None
        self._known: Principal | None = None  # whom a re-authentication has to find again
        self._session_end: int | None = None  # ms
        self._again_at: int | None = None  # when a re-authentication began last

    def receive(self, frame: bytes, now: int) -> Iterable[Effect] | None:
        """The effects of a frame; None where it is an ordinary request, to be served."""
        kind = _kind(frame)
        deed = TABLE[self.state, kind]
        if deed is Deed.CHOOSE_AGAIN and not self._may_begin_again(now):
            deed = Deed.SERVE
        if deed is Deed.SERVE:
            if self._session_end is not None and now > self._session_end:
                closed = self._hang_up("the session has expired")
                return closed if self._listener.closes_expired else ()
            return None
        try:
            return self._done(deed, frame, now)
        except SaslBroken:
            return self._hang_up("the exchange broke")
        except ValueError as fault:  # no request of an API that is served
            return self._hang_up(f"cannot read the request: {fault}")

    def _done(self, deed: Deed, frame: bytes, now: int) -> Iterable[Effect]:
        if deed is Deed.EVALUATE_FRAME:
            return self._evaluate_frame(frame, now)
        if deed is Deed.DROP:
            return ()
        if deed is Deed.HANG_UP:
            return self._hang_up("out of turn")
        if deed is Deed.HANG_UP_LATE:
            return self._refused(None)
        request = self._broker.parse(self._connection, frame)
        if type(request) is Reply:  # an ApiVersions of a version that nobody knows
            if deed is not Deed.TELL_VERSIONS:
                return self._hang_up("out of turn")
            self.state = State.VERSIONS_REFUSED
            return (request,)
        if deed is Deed.TELL_VERSIONS:
            return self._tell_versions(request, now)
        if deed is Deed.CHOOSE:
            return self._choose(request)
        if deed is Deed.CHOOSE_AGAIN:
            return self._choose_again(request, now)
        if deed is Deed.EVALUATE:
            return self._evaluate(request, now)
        return self._refused(self._broker.refuse(request, ErrorCode.ILLEGAL_SASL_STATE))

    # --- before the tokens --------------------------------------------------------------------

    def _tell_versions(self, request: Request, now: int) -> Iterable[Effect]:
        answer = self._broker.handler(VERSIONS)(request, now)
        refused = answer["error_code"] != ErrorCode.NONE
        self.state = State.VERSIONS_REFUSED if refused else State.VERSIONS_TOLD
        return (self._broker.reply(request, answer),)

    def _choose(self, request: Request) -> Iterable[Effect]:
        mechanism = request.body["mechanism"]
        if mechanism not in self._listener.exchanges:
            answer = self._mechanisms(request, ErrorCode.UNSUPPORTED_SASL_MECHANISM)
            return self._refused(answer)
        self._begin(mechanism, request)
        return (self._mechanisms(request, ErrorCode.NONE),)

    def _begin(self, mechanism: str, request: Request) -> None:
        self._mechanism, self._exchange = mechanism, self._listener.exchanges[mechanism]()
        self.state = State.TOKENS if request.header.version >= 1 else State.BARE_TOKENS

    def _mechanisms(self, request: Request, code: int) -> Effect:
        answer: Struct = {"error_code": code, "mechanisms": list(self._listener.named)}
        return self._broker.reply(request, answer)

    # --- re-authentication --------------------------------------------------------------------

    def _may_begin_again(self, now: int) -> bool:
        if self._session_end is None:
            return False
        return self._again_at is None or now - self._again_at >= LEAST_BETWEEN_MS

    def _choose_again(self, request: Request, now: int) -> Iterable[Effect]:
        """An unknown mechanism is hung up on, and another one than before at the next frame."""
        self._again_at, self._known = now, self._connection.principal
        mechanism = request.body["mechanism"]
        if mechanism not in self._listener.exchanges:
            return self._hang_up(f"Unsupported SASL mechanism {mechanism}")
        if mechanism == self._mechanism:
            self._begin(mechanism, request)
        else:
            self.state = State.WRONG_MECHANISM
        return (self._mechanisms(request, ErrorCode.NONE),)

    # --- the tokens ---------------------------------------------------------------------------

    def _evaluate(self, request: Request, now: int) -> Iterable[Effect]:
        code, said, token = int(ErrorCode.NONE), self._listener.success, b""
        try:
            token = self._evaluated(request.body["auth_bytes"], now)
        except CredentialsRefused as refused:
            code = int(ErrorCode.SASL_AUTHENTICATION_FAILED)
            said = refused.said or self._refusal()
        answer: Struct = {"error_code": code, "error_message": said, "auth_bytes": token}
        if request.header.version >= 1:
            left = self._session_end is not None and self.state is State.COMPLETE
            answer["session_lifetime_ms"] = (self._session_end or now) - now if left else 0
        reply = self._broker.reply(request, answer)
        return (reply,) if code == ErrorCode.NONE else self._refused(reply)

    def _evaluate_frame(self, frame: bytes, now: int) -> Iterable[Effect]:
        """A refusal has no bytes of its own here: the connection just ends."""
        try:
            return (Reply(self._connection, (self._evaluated(frame, now),)),)
        except CredentialsRefused:
            return self._refused(None)

    def _evaluated(self, token: bytes, now: int) -> bytes:
        exchange = self._exchange
        if exchange is None:
            raise CredentialsRefused
        wall = self._broker.cluster.wall(now)  # tokens name times of day
        answer = exchange.evaluate(token, wall)
        if exchange.user is not None:
            expires = None if exchange.expires is None else exchange.expires - wall + now
            self._complete(Principal(_USER, exchange.user), expires, now)
            self._connection.by_token = exchange.by_token
        return answer

    def _complete(self, principal: Principal, expires: int | None, now: int) -> None:
        known = self._known
        if known is not None and principal != known:
            raise CredentialsRefused(
                f"Cannot change principals during re-authentication from {known.type}.{known.name}:"
                f" {principal.type}.{principal.name}"
            )
        self._session_end = self._end_of_session(expires, now)
        self._exchange, self.state = None, State.COMPLETE
        self._connection.authenticated(principal)
        if self._session_end is None:
            self._connection.authenticator = None  # it stands in nobody's way any more

    def _end_of_session(self, expires: int | None, now: int) -> int | None:
        if self.state is State.BARE_TOKENS and not self._listener.bare_sessions_end:
            return None
        session = self._listener.settings.mechanisms[self._mechanism].session_ms
        counts = session > 0 or self._listener.tokens_end_sessions
        ends = [expires] if expires is not None and counts else []
        if session > 0:
            ends.append(now + session)
        return max(now, min(ends)) if ends else None

    def _refusal(self) -> str:
        during = "authentication" if self._known is None else "re-authentication"
        return self._listener.refusal.format(during, self._mechanism)

    # --- ends ---------------------------------------------------------------------------------

    def _hang_up(self, why: str) -> Iterable[Effect]:
        self._fail()
        return (Close(self._connection, why),)

    def _refused(self, answer: Effect | None) -> Iterable[Effect]:
        """What it is told, and the end: both wait, so that guessing is slow (KIP-306)."""
        self._fail()
        end = Close(self._connection, "authentication failed")
        effects = (answer, end) if isinstance(answer, Reply) else (end,)
        delay = self._listener.delay_ms
        if delay <= 0:
            return effects
        self._broker.later(("refused", self._connection.id), delay, *effects)
        return ()

    def _fail(self) -> None:
        self.state, self._exchange = State.FAILED, None


def _kind(frame: bytes) -> Frame:
    if len(frame) < _HEADER:
        return Frame.UNREADABLE
    (key,) = _KEY.unpack_from(frame)
    return FRAMES.get(key, Frame.OTHER if key in API else Frame.UNREADABLE)
