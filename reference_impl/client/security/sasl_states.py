"""A SASL exchange as the client sees it: every state, everything that may happen, one cell.

A cell says what is done; what comes next stands with the deed (`SaslAuthenticator`). A session that
is renewed (KIP-368) goes through the same states again, on a connection that waits meanwhile.

Java's SEND_ states are no states here, because what is said is only queued; its CLIENT_COMPLETE is
of GSSAPI alone. Sources: SaslClientAuthenticator.SaslState and authenticate at 1.0.2 and 4.3.1;
KIP-43, KIP-152, KIP-368.
"""

from __future__ import annotations

from enum import Enum, auto

from touchstone.reference_impl.tables import Table


class State(Enum):
    UNKNOWN = auto()  # which versions the broker has is awaited
    HANDSHAKE = auto()  # a mechanism was named
    TOKENS = auto()  # in SaslAuthenticate, and its answers
    BARE_TOKENS = auto()  # as whole frames, where the broker knows no SaslAuthenticate
    COMPLETE = auto()
    FAILED = auto()


class Event(Enum):
    VERSIONS = auto()  # an ApiVersions answer
    AGREED = auto()  # a SaslHandshake answer without an error
    NOT_AGREED = auto()
    TOKEN = auto()  # of a SaslAuthenticate answer without an error
    REFUSED = auto()  # a SaslAuthenticate answer with an error
    FRAME = auto()  # that has no header
    EXPIRING = auto()  # something is to be sent, and the session ends soon


class Deed(Enum):
    NAME_MECHANISM = auto()
    SAY_FIRST = auto()
    ANSWER = auto()  # the token, or be done
    EXPLAIN = auto()  # why no mechanism was agreed on
    GIVE_UP = auto()  # with what the broker said
    OUT_OF_TURN = auto()


_S, _E, _D = State, Event, Deed


def _row(state: State, cells: dict[Event, Deed]) -> dict[tuple[State, Event], Deed]:
    return {(state, event): cells.get(event, _D.OUT_OF_TURN) for event in Event}


TABLE: Table[State, Event, Deed] = Table(
    State,
    Event,
    {
        **_row(_S.UNKNOWN, {_E.VERSIONS: _D.NAME_MECHANISM}),
        **_row(_S.HANDSHAKE, {_E.AGREED: _D.SAY_FIRST, _E.NOT_AGREED: _D.EXPLAIN}),
        **_row(_S.TOKENS, {_E.TOKEN: _D.ANSWER, _E.REFUSED: _D.GIVE_UP}),
        **_row(_S.BARE_TOKENS, {_E.FRAME: _D.ANSWER}),
        **_row(_S.COMPLETE, {_E.EXPIRING: _D.NAME_MECHANISM}),
        **_row(_S.FAILED, {}),
    },
)
