"""How long offsets live: a retention per commit, the broker's, and who is spared.

The cluster looks for old offsets five times a second and its retention is a minute, the least there
is. A commit of version 1 may say when it was made, so that a minute has passed already; those of
versions 2 to 4 may bring a retention of their own. Partition 1 is each case's clock: its offset is
of the kind that goes, and when it has gone the sweep has been there.

Sources: GroupMetadata.removeExpiredOffsets at 1.0.2, 2.2.1, 2.8.2; OffsetExpirationCondition at
4.3; KIP-211.
"""

from touchstone.harness.model.claim import claim, range_
from touchstone.harness.model.expect import all_of, answer, by_release, own_batches
from touchstone.harness.model.placeholders import Now, Ref
from touchstone.harness.model.scenario import Until
from touchstone.harness.model.steps import alter_configs
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.internal_logs import OFFSETS as LOG
from touchstone.suites.kit.internal_logs import log_end, since
from touchstone.suites.kit.offsets import (
    CLUSTER,
    CODE,
    MEMBER,
    NOTHING,
    OFFSET,
    OWN,
    a_group,
    a_member,
    commit,
    describe,
    fetch,
    leave,
    part,
    rows,
    serving,
    subscription,
)
from touchstone.suites.kit.transactions import a_producer, add_offsets, commit_offset, ended

SWEPT = CLUSTER | {
    "offsets.retention.minutes": 1,
    "offsets.retention.check.interval.ms": 200,
}
WITH_RETENTION = {
    "api": "OffsetCommit",
    "versions": range_("OffsetCommit", 2, 4),
    "config": SWEPT,
}
WITH_TIME = {
    "api": "OffsetCommit",
    "versions": range_("OffsetCommit", 1, 1),
    "config": SWEPT,
    "releases": "1.0-3.9",
}
LONG_AGO, AN_HOUR = Now(-120_000), 3_600_000
WRAPS = 2**63 - 1
"""ms that end in the past: a broker adds them to its clock as a long."""


def swept(group, topic):
    """Ask until partition 1 has no offset any more, then see what partition 0 has."""
    asked = fetch(group, topic, 1, name="swept")
    return [Until(asked, OFFSET, "==", NOTHING), fetch(group, topic, name="after")]


def left(offset):
    return answer("after", OFFSET).is_(offset)


def removed():
    return answer("swept", OFFSET).is_(NOTHING)


def old(offset, partition=0):
    """A row of version 1 that was made two minutes ago."""
    return part(offset, partition, commit_timestamp=LONG_AGO)


@claim(
    "offsets.retention-of-a-commit-ends",
    evidence=("OFFS-23",),
    switches=("expired-offsets-kept",),
    retention=(0, 1, 400, WRAPS),
    full=True,
    **WITH_RETENTION,
)
def test_retention_of_a_commit_ends(case):
    """An offset committed with retention_time_ms is removed when that time has passed; other
    offsets of the group stay."""
    topic, group, steps = a_group(case)
    return case.scenario(
        steps,
        rows(group, [(topic, [part(5)])], retention=AN_HOUR, version=case.version, name="kept"),
        rows(
            group, [(topic, [part(6, 1)])], retention=case.retention, version=case.version,
            name="ask",
        ),
        swept(group, topic),
        expect=all_of(answer("ask", CODE).is_(ErrorCode.NONE), removed(), left(5)),
    )  # fmt: skip


@claim("offsets.a-new-commit-begins-a-new-life", evidence=("OFFS-23",), **WITH_RETENTION)
def test_a_new_commit_begins_a_new_life(case):
    """A later commit replaces the retention of an earlier one of the same partition."""
    topic, group, steps = a_group(case)
    return case.scenario(
        steps,
        commit(group, topic, 5, retention=700, version=case.version, name="first"),
        commit(group, topic, 6, retention=AN_HOUR, version=case.version, name="second"),
        commit(group, topic, 7, 1, retention=900, version=case.version, name="clock"),
        swept(group, topic),
        expect=left(6),
    )


@claim("offsets.old-commits-of-a-simple-group-go", evidence=("OFFS-23", "KIP-211"), **WITH_TIME)
def test_old_commits_of_a_simple_group_go(case):
    """Offsets of a group that never had members expire offsets.retention.minutes after the commit
    timestamp."""
    topic, group, steps = a_group(case)
    return case.scenario(
        steps,
        commit(group, topic, 5, name="kept"),
        rows(group, [(topic, [old(6, 1)])], version=case.version, name="ask"),
        swept(group, topic),
        expect=all_of(answer("ask", CODE).is_(ErrorCode.NONE), removed(), left(5)),
    )


@claim(
    "offsets.retention-counts-from-the-last-member-on",
    evidence=("OFFS-23", "KIP-211"),
    switches=("retention-counts-from-the-commit",),
    **WITH_TIME,
)
def test_retention_counts_from_the_last_member_on(case):
    """Offsets of a group that has just become empty do not expire by their commit timestamp since
    2.1; on 1.0 they do."""
    topic, group, steps = a_group(case)
    clock = case.group("clock")
    sent = [(topic, [old(5), old(6, 1)])]
    return case.scenario(
        steps,
        serving(clock),
        a_member(group),
        rows(group, sent, version=case.version, **OWN, name="ask"),
        leave(group, "left", member=MEMBER),
        rows(clock, sent, version=case.version, name="clock"),
        swept(clock, topic)[0],
        fetch(group, topic, name="after"),
        expect=all_of(
            answer("ask", CODE).is_(ErrorCode.NONE),
            by_release({"1.0": answer("after", OFFSET).is_(NOTHING),
                        "2.2+": answer("after", OFFSET).is_(5)}),
        ),
    )  # fmt: skip


@claim("offsets.expired-ones-of-active-groups", evidence=("OFFS-23", "KIP-211"),
       subscribed=(True, False), full=True, **WITH_TIME)  # fmt: skip
def test_expired_ones_of_active_groups(case):
    """Expired offsets of a group with members are removed on 1.0, kept on 2.2, and since 2.8 kept
    for topics that members subscribe to only."""
    topic, group, steps = a_group(case)
    clock = case.group("clock")
    other = case.topic("other", length=topic.length)
    sent = [(topic, [old(5), old(6, 1)])]
    return case.scenario(
        steps,
        serving(clock),
        a_member(group, metadata=subscription(topic if case.subscribed else other)),
        rows(group, sent, version=case.version, **OWN, name="ask"),
        rows(clock, sent, version=case.version, name="clock"),
        swept(clock, topic)[0],
        fetch(group, topic, name="after"),
        expect=all_of(
            answer("ask", CODE).is_(ErrorCode.NONE),
            by_release(
                {
                    "1.0": answer("after", OFFSET).is_(-1),
                    "2.2": answer("after", OFFSET).is_(5),
                    "2.8+": answer("after", OFFSET).is_(5 if case.subscribed else -1),
                }
            ),
        ),
    )


@claim("offsets.retention-of-a-commit-in-an-active-group", evidence=("OFFS-23", "KIP-211"),
       subscribed=(True, False), full=True, **WITH_RETENTION)  # fmt: skip
def test_retention_of_a_commit_in_an_active_group(case):
    """An offset whose own retention has passed is removed from a group with members on 1.0, kept on
    2.2, and since 2.8 kept for topics that members subscribe to only."""
    topic, group, steps = a_group(case)
    clock = case.group("clock")
    other = case.topic("other", length=topic.length)
    return case.scenario(
        steps,
        serving(clock),
        a_member(group, metadata=subscription(topic if case.subscribed else other)),
        commit(group, topic, 5, retention=1, version=case.version, **OWN, name="ask"),
        commit(clock, topic, 6, 1, retention=1, version=case.version, name="clock"),
        swept(clock, topic)[0],
        fetch(group, topic, name="after"),
        expect=all_of(
            answer("ask", CODE).is_(ErrorCode.NONE),
            by_release(
                {
                    "1.0": answer("after", OFFSET).is_(-1),
                    "2.2": answer("after", OFFSET).is_(5),
                    "2.8+": answer("after", OFFSET).is_(5 if case.subscribed else -1),
                }
            ),
        ),
    )


@claim("offsets.groups-go-with-their-last-offset", evidence=("OFFS-24",), **WITH_RETENTION)
def test_groups_go_with_their_last_offset(case):
    """An Empty group whose last offset expires becomes Dead."""
    topic, group, steps = a_group(case)
    return case.scenario(
        steps,
        commit(group, topic, 6, 1, retention=1, version=case.version, name="ask"),
        swept(group, topic)[0],
        Until(describe(group, name="after"), "groups[0].group_state", "==", "Dead"),
        expect=answer("after", "groups[0].group_state").is_("Dead"),
    )


# A group that is Dead and not yet out of its coordinator's cache still tells its protocol.
FORGOTTEN = (("groups[0].protocol_type", "==", ""),)


@claim("offsets.groups-without-any-go", evidence=("OFFS-24",), api="LeaveGroup",
       versions=range_("LeaveGroup", 0, 0), config=SWEPT)  # fmt: skip
def test_groups_without_any_go(case):
    """A group without members and offsets becomes Dead at the next expiration check."""
    _, group, steps = a_group(case)
    return case.scenario(
        steps,
        a_member(group),
        leave(group, "ask", member=MEMBER),
        Until(describe(group, name="after"), "groups[0].group_state", "==", "Dead", also=FORGOTTEN),
        expect=all_of(
            answer("ask", "error_code").is_(ErrorCode.NONE),
            answer("after", "groups[0].group_state").is_("Dead"),
        ),
    )


@claim("offsets.expired-ones-leave-tombstones", evidence=("OFFS-23", "OFFS-24"),
       lived=(True, False), full=True, **WITH_RETENTION)  # fmt: skip
def test_expired_ones_leave_tombstones(case):
    """An offset that expires leaves a tombstone in __consumer_offsets, and so does its group if it
    ever had a generation."""
    topic, group, steps = a_group(case)
    lived = [a_member(group), leave(group, "left", member=MEMBER)] if case.lived else []
    return case.scenario(
        steps,
        log_end(LOG),
        commit(group, topic, 8, retention=1500, name="first"),
        lived and [Until(describe(group, name="founded"), "groups[0].group_state", "==", "Empty")],
        lived,
        commit(group, topic, 6, 1, retention=1, version=case.version, name="ask"),
        swept(group, topic)[0],
        Until(describe(group, name="after"), "groups[0].group_state", "==", "Dead"),
        since(LOG),
        expect=all_of(
            answer("ask", CODE).is_(ErrorCode.NONE),
            own_batches("log", "[*].records[*].value").contains([None]),
            own_batches("log", "[*].records[*].kind").contains([1, 2] if case.lived else [1]),
        ),
    )


@claim("offsets.pending-ones-do-not-expire", evidence=("OFFS-23", "KIP-98"), **WITH_TIME)
def test_pending_ones_do_not_expire(case):
    """A group with pending offsets of an open transaction is not removed, and the offsets count
    when the transaction commits."""
    topic, group, steps = a_group(case)
    transaction = case.transactional_id()
    return case.scenario(
        steps,
        a_producer(transaction),
        add_offsets(transaction, group, name="group added"),
        # The first of a new broker of 3.9 answers COORDINATOR_NOT_AVAILABLE.
        Until(
            commit_offset(transaction, group, topic, 7, name="pending"), CODE, "==", ErrorCode.NONE
        ),
        rows(group, [(topic, [old(6, 1)])], version=case.version, name="ask"),
        swept(group, topic)[0],
        ended(transaction, epoch=Ref("producer", "producer_epoch")),
        Until(fetch(group, topic, name="after"), OFFSET, "==", 7),
        expect=answer("after", OFFSET).is_(7),
    )


@claim(
    "offsets.commits-that-cannot-be-appended",
    evidence=("OFFS-17", "OFFS-18"),
    api="OffsetCommit",
    versions=range_("OffsetCommit", 1),
    config=SWEPT,
    releases="1.0-3.9",
)
def test_commits_that_cannot_be_appended(case):
    """OffsetCommit whose record exceeds max.message.bytes of __consumer_offsets answers
    INVALID_COMMIT_OFFSET_SIZE and stores nothing."""
    topic, group, steps = a_group(case)
    log = "__consumer_offsets"
    big = {"committed_metadata": "m" * 4000}
    hour = {"retention": AN_HOUR} if case.release == "1.0" else {}
    return case.scenario(
        steps,
        commit(group, topic, 5, **hour, name="before"),
        alter_configs(log, {"max.message.bytes": 1000, "cleanup.policy": "compact"}, name="small"),
        Until(
            commit(group, topic, 8, 1, fields=big, name="in force"),
            CODE, "==", ErrorCode.INVALID_COMMIT_OFFSET_SIZE,
        ),
        commit(group, topic, 7, fields=big, version=case.version, name="ask"),
        fetch(group, topic, name="after"),
        alter_configs(log, {"cleanup.policy": "compact"}, name="large"),
        Until(
            commit(group, topic, 9, fields=big, version=case.version, name="again"),
            CODE, "==", ErrorCode.NONE,
        ),
        expect=all_of(
            answer("ask", CODE).is_(ErrorCode.INVALID_COMMIT_OFFSET_SIZE),
            answer("after", OFFSET).is_(5),
            answer("again", CODE).is_(ErrorCode.NONE),
        ),
    )  # fmt: skip
