"""A share group's id in requests of other kinds of groups: nobody joins, commits or leaves there.

Sources: KIP-932; GroupMetadataManager.getOrMaybeCreateClassicGroup and its kin, ShareGroup@4.3.1;
observed on 4.3.1.
"""

from touchstone.harness.model.expect import all_of, answer
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit import consumer_groups, groups, offsets, transactions
from touchstone.suites.kit.shares import ANNE, a_group, claims, described, is_

MEMBERS = "groups[0].members"


theirs = claims()


def judged(case, asked, *, expect):
    """A share group with a member, what is asked of it, and that the member is still there."""
    group, topic = case.topic("group"), case.topic()
    return case.scenario(
        a_group(group, topic),
        asked(group, topic),
        described(group, name="described"),
        expect=all_of(expect, answer("described", MEMBERS).has_length(1)),
    )


@theirs("classic-members-do-not-join", "JoinGroup")
def test_classic_members_do_not_join(case):
    """JoinGroup of a share group answers INCONSISTENT_GROUP_PROTOCOL."""
    return judged(
        case,
        lambda group, _: groups.join("x", group, version=case.version, name="ask"),
        expect=is_("ask", ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
    )


@theirs("classic-members-do-not-sync", "SyncGroup")
def test_classic_members_do_not_sync(case):
    """SyncGroup of a share group answers an error (Kafka says UNKNOWN_MEMBER_ID), and its member
    stays."""
    return judged(
        case,
        lambda group, _: groups.sync("x", group, 1, member=ANNE, version=case.version, name="ask"),
        expect=answer("ask", "error_code").is_not(ErrorCode.NONE),
    )


@theirs("classic-members-do-not-beat", "Heartbeat")
def test_classic_members_do_not_beat(case):
    """Heartbeat of a share group answers an error (Kafka says UNKNOWN_MEMBER_ID) even with the id
    of a member, which stays."""
    return judged(
        case,
        lambda group, _: groups.heartbeat(
            "x", group, 3, member=ANNE, version=case.version, name="ask"
        ),
        expect=answer("ask", "error_code").is_not(ErrorCode.NONE),
    )


@theirs("classic-members-do-not-leave", "LeaveGroup")
def test_classic_members_do_not_leave(case):
    """LeaveGroup removes no member of a share group."""
    return judged(
        case,
        lambda group, _: groups.leave("x", group, member=ANNE, version=case.version, name="ask"),
        expect=answer("described", "groups[0].group_state").is_("Stable"),
    )


@theirs("consumers-do-not-join", "ConsumerGroupHeartbeat")
def test_consumers_do_not_join(case):
    """ConsumerGroupHeartbeat of a share group answers GROUP_ID_NOT_FOUND, to join, to stay and to
    leave."""
    group, topic = case.topic("group"), case.topic()
    how = {"version": case.version}
    return case.scenario(
        a_group(group, topic),
        consumer_groups.join(group, "m1", topic, name="joins", **how),
        consumer_groups.beat(group, ANNE, 3, name="goes on", **how),
        consumer_groups.beat(group, ANNE, -1, name="leaves", **how),
        described(group, name="described"),
        expect=all_of(
            *(is_(name, ErrorCode.GROUP_ID_NOT_FOUND) for name in ("joins", "goes on", "leaves")),
            answer("described", MEMBERS).has_length(1),
        ),
    )


@theirs("nobody-commits-offsets", "OffsetCommit")
def test_nobody_commits_offsets(case):
    """OffsetCommit to a share group answers an error, for a member as well as without one, and its
    member stays."""
    group, topic = case.topic("group"), case.topic()
    how = {"version": case.version}
    return case.scenario(
        a_group(group, topic),
        offsets.commit(group, topic, name="nobody", **how),
        offsets.commit(group, topic, member=ANNE, generation=3, name="member", **how),
        offsets.commit(group, case.topic("made up"), version=2, name="no topic"),
        offsets.fetch(group, topic, name="kept"),
        described(group, name="described"),
        expect=all_of(
            answer("nobody", offsets.CODE).is_not(0),
            answer("member", offsets.CODE).is_not(0),
            answer("described", MEMBERS).has_length(1),
        ),
    )


@theirs("transactions-commit-no-offsets", "TxnOffsetCommit")
def test_transactions_commit_no_offsets(case):
    """TxnOffsetCommit to a share group answers an error, and its member stays."""
    group, topic, transaction = case.topic("group"), case.topic(), case.group("transaction")
    how = {"version": case.version}
    asked = transactions.commit_offset(transaction, group, topic, name="ask", **how)
    return case.scenario(
        a_group(group, topic),
        transactions.a_producer(transaction),
        transactions.settled(transactions.add_offsets(transaction, group, version=0, name="added")),
        asked,
        transactions.ended(transaction, word="committed"),
        offsets.fetch(group, topic, name="kept"),
        described(group, name="described"),
        expect=all_of(
            answer("ask", transactions.COMMITTED_OFFSET).is_not(0),
            answer("described", MEMBERS).has_length(1),
        ),
    )


@theirs("offsets-are-not-fetched", "OffsetFetch")
def test_offsets_are_not_fetched(case):
    """OffsetFetch of a share group changes nothing: the group stays Stable."""
    return judged(
        case,
        lambda group, topic: offsets.fetch(group, topic, version=case.version, name="ask"),
        expect=answer("described", "groups[0].group_state").is_("Stable"),
    )


@theirs("offsets-are-not-deleted", "OffsetDelete")
def test_offsets_are_not_deleted(case):
    """OffsetDelete of a share group answers an error (Kafka says GROUP_ID_NOT_FOUND), and its
    member stays."""
    return judged(
        case,
        lambda group, topic: groups.delete_offsets(group, topic, name="ask"),
        expect=answer("ask", "error_code").is_not(ErrorCode.NONE),
    )
