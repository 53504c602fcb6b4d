"""Share sessions: how they begin, go on and end, and what becomes of what their members have.

Sources: KIP-932; SharePartitionManager.newContext, ShareSessionCache@4.3.1; observed on 4.3.1.
"""

from touchstone.harness.model.claim import claim, every
from touchstone.harness.model.expect import all_of, answer
from touchstone.harness.model.scenario import Close
from touchstone.harness.model.steps import produce
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.records import batch
from touchstone.suites.kit.shares import (
    ACCEPT,
    BERT,
    BRIEF_MS,
    LONG_MS,
    SEEN,
    TIGHT,
    a_group,
    acknowledge,
    claims,
    close,
    fetch,
    has,
    is_,
    nothing,
    run,
)

API, ACKS = "ShareFetch", "ShareAcknowledge"


sessions = claims(API)


@sessions("sessions-tell-what-is-new")
def test_sessions_tell_what_is_new(case):
    """ShareFetch within a share session leaves out partitions without new records."""
    group, topic = case.topic("group"), case.topic()
    return case.scenario(
        a_group(group, topic, batch(b"one")),
        fetch(group, 0, topic, version=case.version, name="first"),
        fetch(group, 1, topic, partitions=(), version=case.version, name="second"),
        produce(topic, 0, batch(b"two"), name="more"),
        fetch(group, 2, topic, partitions=(), version=case.version, name="third"),
        expect=all_of(has("first", (0, 0, 1)), nothing("second"), has("third", (1, 1, 1))),
    )


@sessions("added-partitions-are-told-once")
def test_added_partitions_are_told_once(case):
    """ShareFetch returns a partition that is added to a share session once, even without
    records."""
    group, topic = case.topic("group"), case.topic()
    return case.scenario(
        a_group(group, topic, partitions=2),
        fetch(group, 0, topic, version=case.version, name="first"),
        fetch(group, 1, topic, partitions=(1,), version=case.version, name="added"),
        fetch(group, 2, topic, partitions=(), version=case.version, name="again"),
        expect=all_of(
            answer("added", "responses[0].partitions[0].partition_index").is_(1),
            nothing("again"),
        ),
    )


@sessions("forgotten-partitions-are-not-read")
def test_forgotten_partitions_are_not_read(case):
    """ShareFetch returns no records of a partition that the request removes from the share
    session."""
    group, topic = case.topic("group"), case.topic()
    return case.scenario(
        a_group(group, topic),
        fetch(group, 0, topic, version=case.version, name="first"),
        produce(topic, 0, batch(b"one"), name="more"),
        fetch(group, 1, topic, partitions=(), forget=(0,), version=case.version, name="forgets"),
        expect=nothing("forgets"),
    )


@sessions("epochs-come-in-turn")
def test_epochs_come_in_turn(case):
    """ShareFetch with a session epoch that is not the next one answers INVALID_SHARE_SESSION_EPOCH
    and leaves the session as it was."""
    group, topic = case.topic("group"), case.topic()
    return case.scenario(
        a_group(group, topic, batch(b"one")),
        fetch(group, 0, topic, version=case.version, name="first"),
        fetch(group, 2, topic, version=case.version, name="early"),
        fetch(group, 1, topic, version=case.version, name="in turn"),
        fetch(group, 1, topic, version=case.version, name="again"),
        expect=all_of(
            is_("early", ErrorCode.INVALID_SHARE_SESSION_EPOCH),
            is_("in turn", 0),
            is_("again", ErrorCode.INVALID_SHARE_SESSION_EPOCH),
        ),
    )


@sessions("acknowledgements-take-epochs", api=ACKS)
def test_acknowledgements_take_epochs(case):
    """ShareAcknowledge advances the session epoch as ShareFetch does, and answers
    INVALID_SHARE_SESSION_EPOCH for a repeated epoch and for epoch 0."""
    group, topic = case.topic("group"), case.topic()
    how = {"version": case.version}
    return case.scenario(
        a_group(group, topic, batch(b"one"), batch(b"two")),
        fetch(group, 0, topic, name="first"),
        acknowledge(group, 1, topic, run(0, 0, ACCEPT), **how, name="in turn"),
        acknowledge(group, 1, topic, run(1, 1, ACCEPT), **how, name="again"),
        acknowledge(group, 0, topic, run(1, 1, ACCEPT), **how, name="anew"),
        fetch(group, 2, topic, name="next"),
        expect=all_of(
            is_("in turn", 0),
            is_("again", ErrorCode.INVALID_SHARE_SESSION_EPOCH),
            is_("anew", ErrorCode.INVALID_SHARE_SESSION_EPOCH),
            is_("next", 0),
        ),
    )


@sessions("sessions-must-be-there")
def test_sessions_must_be_there(case):
    """ShareFetch that continues or closes a session that does not exist answers
    SHARE_SESSION_NOT_FOUND."""
    group, topic = case.topic("group"), case.topic()
    return case.scenario(
        a_group(group, topic, batch(b"one")),
        fetch(group, 1, topic, version=case.version, name="goes on"),
        close(group, version=case.version, name="ends"),
        fetch(group, 0, topic, version=case.version, name="begins"),
        fetch(group, 1, topic, member=BERT, version=case.version, name="another"),
        expect=all_of(
            is_("goes on", ErrorCode.SHARE_SESSION_NOT_FOUND),
            is_("ends", ErrorCode.SHARE_SESSION_NOT_FOUND),
            is_("another", ErrorCode.SHARE_SESSION_NOT_FOUND),
        ),
    )


@sessions("acknowledgements-need-a-session", api=ACKS)
def test_acknowledgements_need_a_session(case):
    """ShareAcknowledge without a share session answers SHARE_SESSION_NOT_FOUND."""
    group, topic = case.topic("group"), case.topic()
    how = {"version": case.version}
    return case.scenario(
        a_group(group, topic, batch(b"one")),
        acknowledge(group, 1, topic, run(0, 0, ACCEPT), **how, name="goes on"),
        acknowledge(group, -1, topic, run(0, 0, ACCEPT), **how, name="ends"),
        expect=all_of(
            is_("goes on", ErrorCode.SHARE_SESSION_NOT_FOUND),
            is_("ends", ErrorCode.SHARE_SESSION_NOT_FOUND),
        ),
    )


@sessions("beginning-acknowledges-nothing")
def test_beginning_acknowledges_nothing(case):
    """ShareFetch that opens a session and acknowledges records answers INVALID_REQUEST."""
    group, topic = case.topic("group"), case.topic()
    return case.scenario(
        a_group(group, topic, batch(b"one")),
        fetch(group, 0, topic, run(0, 0, ACCEPT), version=case.version, name="begins"),
        expect=is_("begins", ErrorCode.INVALID_REQUEST),
    )


@sessions("ids-are-needed")
def test_ids_are_needed(case):
    """ShareFetch without a group id or member id, or with a member id over 36 characters, answers
    INVALID_REQUEST."""
    topic = case.topic()
    return case.scenario(
        fetch(None, 0, bytes(16), version=case.version, name="no group"),
        fetch(topic, 0, bytes(16), member="", version=case.version, name="no member"),
        fetch(topic, 0, bytes(16), member="m" * 37, version=case.version, name="long member"),
        expect=all_of(
            is_("no group", ErrorCode.INVALID_REQUEST),
            is_("no member", ErrorCode.INVALID_REQUEST),
            is_("long member", ErrorCode.INVALID_REQUEST),
        ),
    )


@sessions("ids-are-needed-to-acknowledge", api=ACKS)
def test_ids_are_needed_to_acknowledge(case):
    """ShareAcknowledge without a group id or member id answers INVALID_REQUEST."""
    topic = case.topic()
    how = {"version": case.version}
    return case.scenario(
        acknowledge(None, 1, bytes(16), **how, name="no group"),
        acknowledge(topic, 1, bytes(16), member="", **how, name="no member"),
        expect=all_of(
            is_("no group", ErrorCode.INVALID_REQUEST), is_("no member", ErrorCode.INVALID_REQUEST)
        ),
    )


@sessions("ended-sessions-give-back")
def test_ended_sessions_give_back(case):
    """Records that a member has acquired become available to others when it closes its session,
    with a delivery count one higher."""
    group, topic = case.topic("group"), case.topic()
    return case.scenario(
        a_group(group, topic, batch(b"one", b"two")),
        fetch(group, 0, topic, version=case.version, name="first"),
        fetch(group, 0, topic, member=BERT, version=case.version, wait_ms=BRIEF_MS, name="second"),
        close(group, version=case.version, name="ends"),
        fetch(
            group, 1, topic, member=BERT, version=case.version, wait_ms=LONG_MS,
            name="second again",
        ),
        expect=all_of(has("first", (0, 1, 1)), has("second"), has("second again", (0, 1, 2))),
    )  # fmt: skip


@sessions("ending-may-acknowledge", api=ACKS)
def test_ending_may_acknowledge(case):
    """ShareAcknowledge that closes a session is applied before the other acquired records are
    released."""
    group, topic = case.topic("group"), case.topic()
    return case.scenario(
        a_group(group, topic, batch(b"one"), batch(b"two")),
        fetch(group, 0, topic, name="first"),
        acknowledge(group, -1, topic, run(0, 0, ACCEPT), version=case.version, name="ends"),
        fetch(group, 0, topic, member=BERT, wait_ms=LONG_MS, name="second"),
        expect=has("second", (1, 1, 2)),
    )


@sessions("ending-fetches-may-acknowledge")
def test_ending_fetches_may_acknowledge(case):
    """ShareFetch that closes a session applies its acknowledgements and acquires nothing."""
    group, topic = case.topic("group"), case.topic()
    return case.scenario(
        a_group(group, topic, batch(b"one"), batch(b"two")),
        fetch(group, 0, topic, version=case.version, max_records=1, name="first"),
        fetch(group, -1, topic, run(0, 0, ACCEPT), version=case.version, name="ends"),
        fetch(group, 0, topic, member=BERT, version=case.version, wait_ms=LONG_MS, name="second"),
        expect=all_of(has("ends"), has("second", (1, 1, 1))),
    )


@sessions("sessions-begin-anew")
def test_sessions_begin_anew(case):
    """A member that opens its session again keeps the records that it has acquired and may
    acknowledge them; no other member acquires them."""
    group, topic = case.topic("group"), case.topic()
    return case.scenario(
        a_group(group, topic, batch(b"one")),
        fetch(group, 0, topic, version=case.version, name="first"),
        fetch(group, 0, topic, version=case.version, wait_ms=BRIEF_MS, name="anew"),
        fetch(group, 0, topic, member=BERT, version=case.version, wait_ms=BRIEF_MS, name="another"),
        fetch(group, 1, topic, run(0, 0, ACCEPT), version=case.version, name="accepts"),
        expect=all_of(
            has("anew"),
            has("another"),
            is_("accepts", 0, "responses[0].partitions[0].acknowledge_error_code"),
        ),
    )


@sessions("sessions-go-with-their-connections")
def test_sessions_go_with_their_connections(case):
    """Records that a member has acquired become available to others when its connection closes."""
    group, topic = case.topic("group"), case.topic()
    return case.scenario(
        a_group(group, topic, batch(b"one")),
        fetch(group, 0, topic, version=case.version, name="first", connection="b"),
        fetch(group, 0, topic, member=BERT, version=case.version, wait_ms=BRIEF_MS, name="second"),
        Close("b"),
        fetch(group, 1, topic, member=BERT, version=case.version, wait_ms=LONG_MS, name="has it"),
        expect=all_of(has("first", (0, 0, 1)), has("second"), has("has it", (0, 0, 2))),
    )


@claim("share.there-is-no-room-for-sessions", evidence=SEEN, api=API, versions=every(API), **TIGHT)
def test_there_is_no_room_for_sessions(case):
    """ShareFetch that opens a session beyond group.share.max.share.sessions answers
    SHARE_SESSION_LIMIT_REACHED, and succeeds when another one is closed."""
    group, topic = case.topic("group"), case.topic()
    return case.scenario(
        a_group(group, topic, batch(b"one")),
        fetch(group, 0, topic, version=case.version, name="first"),
        fetch(group, 0, topic, member=BERT, version=case.version, name="second"),
        close(group, version=case.version, name="ends"),
        fetch(
            group, 0, topic, member=BERT, version=case.version, wait_ms=LONG_MS,
            name="second at last",
        ),
        close(group, member=BERT, version=case.version, name="ends as well"),
        expect=all_of(
            is_("second", ErrorCode.SHARE_SESSION_LIMIT_REACHED), has("second at last", (0, 0, 2))
        ),
    )  # fmt: skip
