"""A connection on a SASL listener before it is served: every state, every kind of frame, one cell.

A cell says what is done with the frame; what comes next stands with the deed (`SaslAuthenticator`).
Nothing but ApiVersions and SaslHandshake is looked into before a mechanism is chosen; afterwards
only a token is, or any request gets its own ILLEGAL_SASL_STATE and the end of the connection.

Sources: SaslServerAuthenticator.SaslState and authenticate at 1.0.2, 2.2.1, 2.8.2, 4.0; KIP-43,
KIP-152, KIP-368; SEC-03, SEC-04; observed on all five releases.
"""

from __future__ import annotations

from enum import Enum, auto

from touchstone.reference_impl.tables import Table


class State(Enum):
    INITIAL = auto()
    VERSIONS_REFUSED = auto()  # an ApiVersions was answered, but with an error
    VERSIONS_TOLD = auto()  # a handshake has to follow
    TOKENS = auto()  # in SaslAuthenticate, after a handshake of version 1 or later
    BARE_TOKENS = auto()  # as whole frames, after a handshake of version 0
    WRONG_MECHANISM = auto()  # a re-authentication chose another one than before (KIP-368)
    COMPLETE = auto()
    FAILED = auto()  # its end is on its way


class Frame(Enum):
    VERSIONS = auto()
    HANDSHAKE = auto()
    AUTHENTICATE = auto()
    OTHER = auto()  # a request of any other API
    UNREADABLE = auto()  # no request at all


class Deed(Enum):
    TELL_VERSIONS = auto()
    CHOOSE = auto()  # the mechanism
    EVALUATE = auto()  # the token of a SaslAuthenticate
    EVALUATE_FRAME = auto()  # the frame is the token
    REFUSE = auto()  # answer ILLEGAL_SASL_STATE, then hang up
    HANG_UP = auto()  # at once
    HANG_UP_LATE = auto()  # after connection.failed.authentication.delay.ms
    CHOOSE_AGAIN = auto()  # a re-authentication, where the session has an end
    SERVE = auto()
    DROP = auto()


_S, _F, _D = State, Frame, Deed
_REFUSED = dict.fromkeys((_F.AUTHENTICATE, _F.OTHER), _D.HANG_UP_LATE)


def _row(state: State, cells: dict[Frame, Deed]) -> dict[tuple[State, Frame], Deed]:
    return {(state, frame): deed for frame, deed in cells.items()}


TABLE: Table[State, Frame, Deed] = Table(
    State,
    Frame,
    {
        **_row(_S.INITIAL, {
            _F.VERSIONS: _D.TELL_VERSIONS,
            _F.HANDSHAKE: _D.CHOOSE,
            **_REFUSED,
            _F.UNREADABLE: _D.HANG_UP_LATE,  # it may be a token of GSSAPI, which nobody has here
        }),
        **_row(_S.VERSIONS_REFUSED, {
            _F.VERSIONS: _D.TELL_VERSIONS,
            _F.HANDSHAKE: _D.CHOOSE,
            **_REFUSED,
            _F.UNREADABLE: _D.HANG_UP,
        }),
        **_row(_S.VERSIONS_TOLD, {
            _F.VERSIONS: _D.HANG_UP,
            _F.HANDSHAKE: _D.CHOOSE,
            **_REFUSED,
            _F.UNREADABLE: _D.HANG_UP,
        }),
        **_row(_S.TOKENS, {
            _F.VERSIONS: _D.REFUSE,
            _F.HANDSHAKE: _D.REFUSE,
            _F.AUTHENTICATE: _D.EVALUATE,
            _F.OTHER: _D.REFUSE,
            _F.UNREADABLE: _D.HANG_UP,
        }),
        **_row(_S.BARE_TOKENS, dict.fromkeys(Frame, _D.EVALUATE_FRAME)),
        **_row(_S.WRONG_MECHANISM, dict.fromkeys(Frame, _D.HANG_UP_LATE)),
        **_row(_S.COMPLETE, dict.fromkeys(Frame, _D.SERVE) | {_F.HANDSHAKE: _D.CHOOSE_AGAIN}),
        **_row(_S.FAILED, dict.fromkeys(Frame, _D.DROP)),
    },
)  # fmt: skip
