"""Share sessions: epochs in turn, what an answer must hold, and connections that end."""

from __future__ import annotations

import pytest

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.share.sessions import Sessions
from touchstone.reference_impl.wire.errors import ErrorCode as E

KEY, P, Q = ("g", "m"), (b"t" * 16, 0), (b"t" * 16, 1)


def fetch(sessions, epoch, *wanted, key=KEY, forgotten=(), acknowledges=False, connection=1):
    return sessions.fetch(
        key, epoch, wanted, forgotten, acknowledges=acknowledges, connection=connection
    )


def refused(call, *args, **how) -> int:
    with pytest.raises(ApiError) as caught:
        call(*args, **how)
    return caught.value.code


def test_epochs_come_in_turn():
    sessions = Sessions(2)
    assert refused(fetch, sessions, 1) == E.SHARE_SESSION_NOT_FOUND
    assert refused(fetch, sessions, -1) == E.SHARE_SESSION_NOT_FOUND
    assert refused(fetch, sessions, 0, P, acknowledges=True) == E.INVALID_REQUEST
    fetch(sessions, 0, P)
    assert refused(fetch, sessions, 2) == E.INVALID_SHARE_SESSION_EPOCH
    sessions.acknowledge(KEY, 1)
    assert refused(sessions.acknowledge, KEY, 1) == E.INVALID_SHARE_SESSION_EPOCH
    assert refused(sessions.acknowledge, KEY, 0) == E.INVALID_SHARE_SESSION_EPOCH
    fetch(sessions, 2)
    assert fetch(sessions, -1) is None and sessions.end(KEY) == [P] and sessions.end(KEY) is None


def test_there_is_so_much_room():
    sessions = Sessions(1)
    fetch(sessions, 0, P)
    fetch(sessions, 0, P)  # takes its own place
    assert refused(fetch, sessions, 0, key=("g", "n")) == E.SHARE_SESSION_LIMIT_REACHED


def test_answers_hold_what_is_new():
    sessions = Sessions(1)
    fetch(sessions, 0, P)
    session = fetch(sessions, 1, Q)
    assert not session.tells(P, records=False, failed=False)
    assert session.tells(Q, records=False, failed=False)  # it was added
    assert not session.tells(Q, records=False, failed=False)
    assert session.tells(Q, records=False, failed=True)
    assert session.tells(Q, records=False, failed=False)  # it is well again
    assert session.tells(P, records=True, failed=False)
    assert session.rotated(2) == [Q, P] and session.rotated(3) == [P, Q]
    assert fetch(sessions, 2, forgotten=[P]).rotated(2) == [Q]


def test_sessions_go_with_their_connections():
    sessions = Sessions(3)
    fetch(sessions, 0, P)
    fetch(sessions, 0, P, key=("g", "n"), connection=2)
    assert sessions.disconnected(1) == (KEY, None)
    sessions.end(KEY)
    fetch(sessions, 0, P, key=("g", "n"), connection=3)  # anew, elsewhere
    assert sessions.disconnected(2) == (None, None)
    assert sessions.disconnected(3) == (("g", "n"), "g")
    assert sessions.disconnected(3) == (None, None)
