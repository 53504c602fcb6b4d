"""SASL on a SASL_PLAINTEXT listener with PLAIN: what a connection may say before and after it has
proved who it is (KIP-43, KIP-152, KIP-255).

A connection that is refused gets its answer and is closed: in REFUSED, what comes next is on a
connection that the target ends, and then a new one begins. Whether a handshake on an authenticated
connection begins a re-authentication (KIP-368) depends on the time, so it is not asked.

Sources: SaslServerAuthenticator at 4.3.1; observed on 4.3.1 with the account below.
"""

from __future__ import annotations

from enum import StrEnum

from touchstone.fuzz.machines.machine import Act, Machine, closed, column, no, ok, row, unasked
from touchstone.reference_impl.wire.errors import ErrorCode as E

USER, PASSWORD = "fuzz", "fuzz-secret"
"""The account that the target must know."""


class State(StrEnum):
    CONNECTED = "nothing was said"
    VERSIONS_TOLD = "versions were asked for"
    CHOSEN = "PLAIN was chosen"
    AUTHENTICATED = "the connection has proved who it is"
    REFUSED = "the connection was refused"


class Action(StrEnum):
    VERSIONS = "ApiVersions"
    HANDSHAKE = "the mechanism PLAIN"
    HANDSHAKE_UNKNOWN = "a mechanism that the listener does not have"
    AUTHENTICATE = "the right password"
    AUTHENTICATE_WRONG = "a wrong password"
    METADATA = "Metadata"


_S, _A = State, Action


def _handshake(mechanism: str) -> Act:
    return Act(17, (1, 1), {"mechanism": mechanism})


def _authenticate(password: str) -> Act:
    return Act(36, (0, 2), {"auth_bytes": f"\0{USER}\0{password}".encode()})


METADATA = Act(3, (4, 13), {"topics": [], "allow_auto_topic_creation": False})

MACHINE = Machine(
    "sasl",
    "A connection of a SASL listener: mechanism, password, and what is said too early.",
    State,
    Action,
    {
        **row(_S.CONNECTED, {
            _A.VERSIONS: ok(_S.VERSIONS_TOLD),
            _A.HANDSHAKE: ok(_S.CHOSEN),
            _A.HANDSHAKE_UNKNOWN: no(E.UNSUPPORTED_SASL_MECHANISM, to=_S.REFUSED),
            _A.AUTHENTICATE: closed(_S.CONNECTED),
            _A.AUTHENTICATE_WRONG: closed(_S.CONNECTED),
            _A.METADATA: closed(_S.CONNECTED),
        }),
        **row(_S.VERSIONS_TOLD, {
            _A.VERSIONS: closed(_S.CONNECTED),
            _A.HANDSHAKE: ok(_S.CHOSEN),
            _A.HANDSHAKE_UNKNOWN: no(E.UNSUPPORTED_SASL_MECHANISM, to=_S.REFUSED),
            _A.AUTHENTICATE: closed(_S.CONNECTED),
            _A.AUTHENTICATE_WRONG: closed(_S.CONNECTED),
            _A.METADATA: closed(_S.CONNECTED),
        }),
        **row(_S.CHOSEN, {
            _A.VERSIONS: no(E.ILLEGAL_SASL_STATE, to=_S.REFUSED),
            _A.HANDSHAKE: no(E.ILLEGAL_SASL_STATE, to=_S.REFUSED),
            _A.HANDSHAKE_UNKNOWN: no(E.ILLEGAL_SASL_STATE, to=_S.REFUSED),
            _A.AUTHENTICATE: ok(_S.AUTHENTICATED),
            _A.AUTHENTICATE_WRONG: no(E.SASL_AUTHENTICATION_FAILED, to=_S.REFUSED),
            # An answer of Metadata has a code of its own from version 13 on.
            _A.METADATA: no(E.NONE, E.ILLEGAL_SASL_STATE, to=_S.REFUSED),
        }),
        **row(_S.AUTHENTICATED, {
            _A.VERSIONS: ok(),
            _A.HANDSHAKE: unasked("it may begin a re-authentication"),
            _A.HANDSHAKE_UNKNOWN: unasked("it may begin a re-authentication"),
            _A.AUTHENTICATE: no(E.ILLEGAL_SASL_STATE),
            _A.AUTHENTICATE_WRONG: no(E.ILLEGAL_SASL_STATE),
            _A.METADATA: ok(),
        }),
        **{(_S.REFUSED, action): closed(_S.CONNECTED) for action in _A},
    },
    {
        _A.VERSIONS: Act(18, (0, 2), {}),
        _A.HANDSHAKE: _handshake("PLAIN"),
        _A.HANDSHAKE_UNKNOWN: _handshake("NO-SUCH-MECHANISM"),
        _A.AUTHENTICATE: _authenticate(PASSWORD),
        _A.AUTHENTICATE_WRONG: _authenticate("not " + PASSWORD),
        _A.METADATA: METADATA,
    },
    listener="SASL_PLAINTEXT",
)  # fmt: skip


class PlainState(StrEnum):
    CONNECTED = "a connection without SASL"


PLAIN = Machine(
    "sasl_on_plaintext",
    "A connection of a listener without SASL: mechanisms and passwords are refused, it lives on.",
    PlainState,
    Action,
    {
        **column(_A.VERSIONS, PlainState, ok()),
        **column(_A.HANDSHAKE, PlainState, no(E.ILLEGAL_SASL_STATE)),
        **column(_A.HANDSHAKE_UNKNOWN, PlainState, no(E.ILLEGAL_SASL_STATE)),
        **column(_A.AUTHENTICATE, PlainState, no(E.ILLEGAL_SASL_STATE)),
        **column(_A.AUTHENTICATE_WRONG, PlainState, no(E.ILLEGAL_SASL_STATE)),
        **column(_A.METADATA, PlainState, ok()),
    },
    MACHINE.acts,
)  # fmt: skip
