"""One connection says who it is, before anything else is asked on it, and again in time.

Sans-IO: events and an instant in, what is to be said next out. The states stand in `sasl_states`.
Where the broker gives the session an end (KIP-368), it is renewed by the first request after 85 to
95 % of its time, on the same connection: what is asked meanwhile waits.

A wrong secret is told apart from a lost connection only by brokers that know SaslAuthenticate (1.0
and later); older ones just close, and then so does Java's client.

Source: SaslClientAuthenticator at 4.3.1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from touchstone.reference_impl.wire.apis import by_name
from touchstone.reference_impl.wire.errors import ErrorCode, name_of
from touchstone.reference_impl.wire.schema import Struct

from .errors import (
    AuthenticationException,
    IllegalSaslStateException,
    SaslAuthenticationException,
    UnsupportedSaslMechanismException,
)
from .mechanisms import BadChallenge, NewSaslClient, SaslClient
from .sasl_states import TABLE, Deed, Event, State

HANDSHAKE, AUTHENTICATE = by_name("SaslHandshake").key, by_name("SaslAuthenticate").key
_NO_REASON = "SASL Authentication failed."  # Errors.SASL_AUTHENTICATION_FAILED
_EARLIEST, _SPREAD = 0.85, 0.10  # of a session's time, when it is renewed


class Said(NamedTuple):
    """A request of this version, or (key None) a frame without any header."""

    key: int | None
    version: int
    body: Struct
    frame: bytes = b""


class SaslAuthenticator:
    """`draw` gives a number of [0, 1), so that clients do not renew all at once."""

    def __init__(
        self, mechanism: str, new_client: NewSaslClient, draw: Callable[[], float]
    ) -> None:
        self.state = State.UNKNOWN
        self._mechanism, self._new_client, self._draw = mechanism, new_client, draw
        self._client: SaslClient | None = None
        self._handshake = 0
        self._authenticate: int | None = None  # None: tokens go bare
        self._renew_at: int | None = None  # ms

    @property
    def complete(self) -> bool:
        return self.state is State.COMPLETE

    @property
    def bare(self) -> bool:
        """Whether the next frame has no header."""
        return self.state is State.BARE_TOKENS

    def expiring(self, now: int) -> bool:
        """Whether the session is to be renewed before the next request."""
        return self.complete and self._renew_at is not None and now >= self._renew_at

    def versions(self, ranges: Mapping[int, tuple[int, int]], now: int) -> Said | None:
        """The broker has these versions of these APIs."""
        if HANDSHAKE not in ranges:
            self.state = State.FAILED
            raise IllegalSaslStateException("the broker knows no SaslHandshake")
        self._handshake = min(ranges[HANDSHAKE][1], by_name("SaslHandshake").latest)
        if AUTHENTICATE in ranges:
            latest = by_name("SaslAuthenticate").latest
            self._authenticate = min(ranges[AUTHENTICATE][1], latest)
        return self._happened(Event.VERSIONS, {}, b"", now)

    def answered(self, key: int, body: Struct, now: int) -> Said | None:
        """The answer to what was said last; None where all is said. AuthenticationException."""
        good = body["error_code"] == ErrorCode.NONE
        if key == HANDSHAKE:
            event = Event.AGREED if good else Event.NOT_AGREED
        else:
            event = Event.TOKEN if good else Event.REFUSED
        return self._happened(event, body, body.get("auth_bytes", b""), now)

    def framed(self, token: bytes, now: int) -> Said | None:
        """As `answered`, of a frame without a header."""
        return self._happened(Event.FRAME, {}, token, now)

    def renew(self, now: int) -> Said | None:
        return self._happened(Event.EXPIRING, {}, b"", now)

    def _happened(self, event: Event, body: Struct, token: bytes, now: int) -> Said | None:
        deed = TABLE[self.state, event]
        try:
            return self._done(deed, body, token, now)
        except AuthenticationException:
            self.state = State.FAILED
            raise

    def _done(self, deed: Deed, body: Struct, token: bytes, now: int) -> Said | None:
        if deed is Deed.NAME_MECHANISM:
            self._client, self._renew_at = self._new_client(), None
            self.state = State.HANDSHAKE
            return Said(HANDSHAKE, self._handshake, {"mechanism": self._mechanism})
        if deed is Deed.EXPLAIN:
            raise self._explained(body)
        if deed is Deed.GIVE_UP:
            raise SaslAuthenticationException(body["error_message"] or _NO_REASON)
        client = self._client
        if deed is Deed.OUT_OF_TURN or client is None:
            raise IllegalSaslStateException(f"nothing of this kind is awaited ({self.state.name})")
        if deed is Deed.SAY_FIRST:
            bare = self._authenticate is None
            self.state = State.BARE_TOKENS if bare else State.TOKENS
            return self._token(client.first(now))
        return self._answer(client, token, body.get("session_lifetime_ms", 0), now)

    def _answer(self, client: SaslClient, token: bytes, lifetime_ms: int, now: int) -> Said | None:
        try:
            said = client.answer(token)
        except BadChallenge as bad:
            raise SaslAuthenticationException(
                "An error: (java.util.concurrent.CompletionException:"
                f" javax.security.sasl.SaslException: {bad}) occurred when evaluating SASL token"
                " received from the Kafka Broker. Kafka Client will go to AUTHENTICATION_FAILED"
                " state."
            ) from bad
        if said is not None:
            return self._token(said)
        self._client, self.state = None, State.COMPLETE
        if lifetime_ms > 0:
            self._renew_at = now + int(lifetime_ms * (_EARLIEST + _SPREAD * self._draw()))
        return None

    def _token(self, token: bytes) -> Said:
        if self._authenticate is None:
            return Said(None, 0, {}, token)
        return Said(AUTHENTICATE, self._authenticate, {"auth_bytes": token})

    def _explained(self, body: Struct) -> AuthenticationException:
        code, enabled = body["error_code"], f"[{', '.join(body['mechanisms'])}]"
        if code == ErrorCode.UNSUPPORTED_SASL_MECHANISM:
            return UnsupportedSaslMechanismException(
                f"Client SASL mechanism '{self._mechanism}' not enabled in the server, enabled"
                f" mechanisms are {enabled}"
            )
        if code == ErrorCode.ILLEGAL_SASL_STATE:
            return IllegalSaslStateException(
                f"Unexpected handshake request with client mechanism {self._mechanism}, enabled"
                f" mechanisms are {enabled}"
            )
        return IllegalSaslStateException(
            f"Unknown error code {name_of(code)}, client mechanism is {self._mechanism}, enabled"
            f" mechanisms are {enabled}"
        )
