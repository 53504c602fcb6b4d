"""ShareAcknowledge: what each type makes of a record, what is refused, locks and deliveries.

Sources: KIP-932, KIP-1222; SharePartition.acknowledge, KafkaApis.validateAcknowledgementBatches
@4.3.1; observed on 4.3.1.
"""

from touchstone.harness.model.claim import range_
from touchstone.harness.model.expect import all_of, answer
from touchstone.harness.model.steps import a_topic
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.records import batch
from touchstone.suites.kit.shares import (
    ACCEPT,
    ACK_CODE,
    BERT,
    BRIEF_MS,
    GAP,
    LONG_MS,
    REJECT,
    RELEASE_IT,
    RENEW,
    a_group,
    acknowledge,
    acquired,
    claims,
    close,
    fetch,
    has,
    is_,
    nothing,
    run,
    wrong,
)

API, FETCHES = "ShareAcknowledge", "ShareFetch"
RENEWING = range_(API, 2)
THREE = (batch(b"one", b"two", b"three"),)


acks = claims(API)


def left(group, topic, wait_ms=LONG_MS):
    """What Bert gets once Anne has nothing any more, which is soon after her session ends."""
    return [
        close(group, name="closed"),
        fetch(group, 0, topic, member=BERT, wait_ms=wait_ms, name="left"),
    ]


@acks("accepted-records-are-done")
def test_accepted_records_are_done(case):
    """Records that a member accepts by ShareAcknowledge are not delivered again."""
    group, topic = case.topic("group"), case.topic()
    return case.scenario(
        acquired(group, topic, *THREE),
        acknowledge(group, 1, topic, run(0, 2, ACCEPT), version=case.version, name="ack"),
        left(group, topic, wait_ms=0),
        expect=all_of(wrong("ack", 0), has("left")),
    )


@acks("rejected-records-are-done")
def test_rejected_records_are_done(case):
    """Records that a member rejects by ShareAcknowledge are not delivered again."""
    group, topic = case.topic("group"), case.topic()
    return case.scenario(
        acquired(group, topic, *THREE),
        acknowledge(group, 1, topic, run(0, 2, REJECT), version=case.version, name="ack"),
        left(group, topic, wait_ms=0),
        expect=all_of(wrong("ack", 0), has("left")),
    )


@acks("gaps-are-done")
def test_gaps_are_done(case):
    """Offsets that a member acknowledges as gaps are not delivered again."""
    group, topic = case.topic("group"), case.topic()
    return case.scenario(
        acquired(group, topic, *THREE),
        acknowledge(group, 1, topic, run(0, 2, GAP), version=case.version, name="ack"),
        left(group, topic, wait_ms=0),
        expect=all_of(wrong("ack", 0), has("left")),
    )


@acks(
    "released-records-are-delivered-again",
    switches=("share-deliveries-not-counted", "share-released-are-lost"),
)
def test_released_records_are_delivered_again(case):
    """Records that a member releases are delivered again with a delivery count one higher."""
    group, topic = case.topic("group"), case.topic()
    return case.scenario(
        acquired(group, topic, *THREE),
        acknowledge(group, 1, topic, run(0, 2, RELEASE_IT), version=case.version, name="ack"),
        fetch(group, 2, topic, name="again"),
        expect=all_of(wrong("ack", 0), has("again", (0, 2, 2))),
    )


@acks("each-record-has-a-type")
def test_each_record_has_a_type(case):
    """An acknowledgement batch may carry a type for each record: ShareAcknowledge accepts, releases
    and rejects them one by one."""
    group, topic = case.topic("group"), case.topic()
    types = run(0, 2, ACCEPT, RELEASE_IT, REJECT)
    return case.scenario(
        acquired(group, topic, *THREE),
        acknowledge(group, 1, topic, types, version=case.version, name="ack"),
        fetch(group, 2, topic, name="again"),
        expect=all_of(wrong("ack", 0), has("again", (1, 1, 2))),
    )


@acks("runs-follow-each-other")
def test_runs_follow_each_other(case):
    """ShareAcknowledge applies several acknowledgement batches of one partition in order, across
    record batches."""
    group, topic = case.topic("group"), case.topic()
    batches = [batch(b"1", b"2"), batch(b"3", b"4"), batch(b"5", b"6")]
    runs = [run(0, 2, ACCEPT), run(3, 3, RELEASE_IT), run(4, 5, ACCEPT)]
    return case.scenario(
        acquired(group, topic, *batches),
        acknowledge(group, 1, topic, *runs, version=case.version, name="ack"),
        fetch(group, 2, topic, name="again"),
        expect=all_of(wrong("ack", 0), has("again", (3, 3, 2))),
    )


@acks("part-of-a-run-is-acknowledged")
def test_part_of_a_run_is_acknowledged(case):
    """Records of an acquired batch that are not acknowledged stay with their member until its
    session ends."""
    group, topic = case.topic("group"), case.topic()
    return case.scenario(
        acquired(group, topic, batch(b"1", b"2", b"3", b"4")),
        acknowledge(group, 1, topic, run(1, 2, ACCEPT), version=case.version, name="ack"),
        fetch(group, 2, topic, name="nothing new"),
        left(group, topic),
        expect=all_of(nothing("nothing new"), has("left", (0, 0, 2), (3, 3, 2))),
    )


@acks("what-is-done-may-be-said-again")
def test_what_is_done_may_be_said_again(case):
    """ShareAcknowledge of records below the start offset answers no error and changes nothing."""
    group, topic = case.topic("group"), case.topic()
    how = {"version": case.version}
    return case.scenario(
        acquired(group, topic, *THREE),
        acknowledge(group, 1, topic, run(0, 1, ACCEPT), **how, name="ack"),
        acknowledge(group, 2, topic, run(0, 1, RELEASE_IT), **how, name="again"),
        left(group, topic),
        expect=all_of(wrong("again", 0), has("left", (2, 2, 2))),
    )


@acks("only-acquired-records-are-acknowledged", switches=("share-acks-of-anybody",))
def test_only_acquired_records_are_acknowledged(case):
    """ShareAcknowledge of a record that no member has acquired answers INVALID_RECORD_STATE."""
    group, topic = case.topic("group"), case.topic()
    how = {"version": case.version}
    return case.scenario(
        acquired(group, topic, *THREE),
        acknowledge(group, 1, topic, run(1, 1, RELEASE_IT), **how, name="one back"),
        acknowledge(group, 2, topic, run(1, 1, ACCEPT), **how, name="one"),
        acknowledge(group, 3, topic, run(0, 2, ACCEPT), **how, name="all"),
        acknowledge(group, 4, topic, run(0, 0, ACCEPT), **how, name="the first"),
        expect=all_of(
            wrong("one back", 0),
            wrong("one", ErrorCode.INVALID_RECORD_STATE),
            wrong("all", ErrorCode.INVALID_RECORD_STATE),
            wrong("the first", 0),
        ),
    )


@acks("whole-runs-that-went-back")
def test_whole_runs_that_went_back(case):
    """ShareAcknowledge of records that were released, all or some of them, answers
    INVALID_RECORD_STATE."""
    group, topic = case.topic("group"), case.topic()
    how = {"version": case.version}
    return case.scenario(
        acquired(group, topic, *THREE),
        acknowledge(group, 1, topic, run(0, 2, RELEASE_IT), **how, name="back"),
        acknowledge(group, 2, topic, run(0, 2, ACCEPT), **how, name="all"),
        acknowledge(group, 3, topic, run(1, 1, ACCEPT), **how, name="part"),
        expect=all_of(
            wrong("all", ErrorCode.INVALID_RECORD_STATE),
            wrong("part", ErrorCode.INVALID_RECORD_STATE),
        ),
    )


@acks("members-acknowledge-their-own")
def test_members_acknowledge_their_own(case):
    """ShareAcknowledge of records that another member has acquired answers INVALID_RECORD_STATE."""
    group, topic = case.topic("group"), case.topic()
    how = {"member": BERT, "version": case.version}
    return case.scenario(
        acquired(group, topic, *THREE),
        fetch(group, 0, topic, member=BERT, wait_ms=BRIEF_MS, name="bert begins"),
        acknowledge(group, 1, topic, run(0, 2, ACCEPT), **how, name="all"),
        acknowledge(group, 2, topic, run(1, 1, ACCEPT), **how, name="one"),
        expect=all_of(
            wrong("all", ErrorCode.INVALID_RECORD_STATE),
            wrong("one", ErrorCode.INVALID_RECORD_STATE),
        ),
    )


@acks("faults-take-all-back")
def test_faults_take_all_back(case):
    """ShareAcknowledge applies no batch of a partition if one of its batches is invalid, and
    answers INVALID_RECORD_STATE."""
    group, topic = case.topic("group"), case.topic()
    batches = [batch(b"1", b"2"), batch(b"3", b"4")]
    runs = [run(0, 1, ACCEPT), run(2, 3, ACCEPT)]
    how = {"version": case.version}
    return case.scenario(
        acquired(group, topic, *batches),
        acknowledge(group, 1, topic, run(3, 3, RELEASE_IT), **how, name="back"),
        acknowledge(group, 2, topic, *runs, **how, name="ack"),
        acknowledge(group, 3, topic, run(0, 2, RELEASE_IT), **how, name="the others back"),
        fetch(group, 4, topic, name="again"),
        expect=all_of(
            wrong("ack", ErrorCode.INVALID_RECORD_STATE),
            wrong("the others back", 0),
            has("again", (0, 3, 2)),
        ),
    )


@acks("runs-are-checked-first")
def test_runs_are_checked_first(case):
    """ShareAcknowledge answers INVALID_REQUEST for batches that end before they begin, overlap, or
    have a wrong number of types or an unknown type, and changes nothing."""
    group, topic = case.topic("group"), case.topic()
    odd = {
        "backwards": [run(2, 1, ACCEPT)],
        "overlapping": [run(0, 2, ACCEPT), run(1, 2, ACCEPT)],
        "out of order": [run(2, 2, ACCEPT), run(0, 0, ACCEPT)],
        "no type": [run(0, 2)],
        "too few types": [run(0, 2, ACCEPT, ACCEPT)],
        "unknown type": [run(0, 0, 5)],
        "negative type": [run(0, 0, -1)],
        "renewal": [run(0, 0, RENEW)],
    }
    steps = [
        acknowledge(group, epoch, topic, *runs, version=case.version, name=name)
        for epoch, (name, runs) in enumerate(odd.items(), 1)
    ]
    return case.scenario(
        acquired(group, topic, *THREE),
        *steps,
        left(group, topic),
        expect=all_of(
            *[wrong(name, ErrorCode.INVALID_REQUEST) for name in odd], has("left", (0, 2, 2))
        ),
    )


@acks("runs-share-no-record")
def test_runs_share_no_record(case):
    """ShareAcknowledge of a batch that begins with the last record of the batch before answers
    INVALID_RECORD_STATE."""
    group, topic = case.topic("group"), case.topic()
    runs = [run(0, 1, ACCEPT), run(1, 2, ACCEPT)]
    return case.scenario(
        acquired(group, topic, *THREE),
        acknowledge(group, 1, topic, *runs, version=case.version, name="ack"),
        expect=wrong("ack", ErrorCode.INVALID_RECORD_STATE),
    )


@acks("runs-lie-within-what-is-acquired")
def test_runs_lie_within_what_is_acquired(case):
    """ShareAcknowledge of offsets beyond those ever acquired answers INVALID_REQUEST."""
    group, topic = case.topic("group"), case.topic()
    how = {"version": case.version}
    return case.scenario(
        acquired(group, topic, *THREE),
        acknowledge(group, 1, topic, run(0, 5, ACCEPT), **how, name="too long"),
        acknowledge(group, 2, topic, run(7, 8, ACCEPT), **how, name="behind"),
        expect=all_of(
            wrong("too long", ErrorCode.INVALID_REQUEST), wrong("behind", ErrorCode.INVALID_REQUEST)
        ),
    )


@acks("nothing-was-ever-acquired")
def test_nothing_was_ever_acquired(case):
    """ShareAcknowledge on a partition without acquired records answers INVALID_RECORD_STATE."""
    group, topic = case.topic("group"), case.topic()
    return case.scenario(
        a_group(group, topic),
        fetch(group, 0, topic, name="begins"),
        acknowledge(group, 1, topic, run(0, 0, ACCEPT), version=case.version, name="ack"),
        expect=wrong("ack", ErrorCode.INVALID_RECORD_STATE),
    )


@acks("no-runs-are-no-fault")
def test_no_runs_are_no_fault(case):
    """ShareAcknowledge of a partition without batches answers no error and returns no partition."""
    group, topic = case.topic("group"), case.topic()
    return case.scenario(
        acquired(group, topic, *THREE),
        acknowledge(group, 1, topic, version=case.version, name="ack"),
        expect=all_of(is_("ack", 0), answer("ack", "responses").has_length(0)),
    )


@acks("unknown-partitions-are-not-acknowledged")
def test_unknown_partitions_are_not_acknowledged(case):
    """ShareAcknowledge answers UNKNOWN_TOPIC_ID for an unknown topic id and
    UNKNOWN_TOPIC_OR_PARTITION for a partition that its topic lacks."""
    group, topic = case.topic("group"), case.topic()
    how = {"version": case.version}
    return case.scenario(
        acquired(group, topic, *THREE),
        acknowledge(group, 1, bytes(range(16)), run(0, 0, ACCEPT), **how, name="no topic"),
        acknowledge(group, 2, topic, run(0, 0, ACCEPT), partition=7, **how, name="no partition"),
        expect=all_of(
            wrong("no topic", ErrorCode.UNKNOWN_TOPIC_ID),
            wrong("no partition", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ),
    )


@acks("partitions-that-nobody-fetched")
def test_partitions_that_nobody_fetched(case):
    """ShareAcknowledge of a partition that the group never fetched from this broker answers
    UNKNOWN_TOPIC_OR_PARTITION."""
    group, topic, other = case.topic("group"), case.topic(), case.topic("other")
    return case.scenario(
        a_topic(other),
        acquired(group, topic, *THREE),
        acknowledge(group, 1, other, run(0, 0, ACCEPT), version=case.version, name="ack"),
        expect=wrong("ack", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    )


@acks("fetches-acknowledge", api=FETCHES)
def test_fetches_acknowledge(case):
    """ShareFetch applies the acknowledgements it carries before it acquires further records."""
    group, topic = case.topic("group"), case.topic()
    how = {"version": case.version}
    return case.scenario(
        a_group(group, topic, batch(b"one"), batch(b"two")),
        fetch(group, 0, topic, max_records=1, **how, name="first"),
        fetch(group, 1, topic, run(0, 0, ACCEPT), **how, wait_ms=LONG_MS, name="second"),
        fetch(group, 2, topic, run(1, 1, RELEASE_IT), wait_ms=LONG_MS, **how, name="third"),
        expect=all_of(
            is_("second", 0, ACK_CODE), has("second", (1, 1, 1)), has("third", (1, 1, 2))
        ),
    )


@acks("fetches-tell-what-was-wrong", api=FETCHES)
def test_fetches_tell_what_was_wrong(case):
    """ShareFetch answers INVALID_REQUEST for an invalid acknowledgement and acquires records all
    the same."""
    group, topic = case.topic("group"), case.topic()
    how = {"version": case.version}
    return case.scenario(
        a_group(group, topic, batch(b"one"), batch(b"two")),
        fetch(group, 0, topic, max_records=1, **how, name="first"),
        fetch(group, 1, topic, run(0, 4, ACCEPT), **how, wait_ms=LONG_MS, name="second"),
        fetch(group, 2, topic, run(1, 0, ACCEPT), **how, name="third"),
        expect=all_of(
            is_("second", ErrorCode.INVALID_REQUEST, ACK_CODE),
            has("second", (1, 1, 1)),
            is_("third", ErrorCode.INVALID_REQUEST, ACK_CODE),
        ),
    )
