"""A share group's id in requests of other kinds of groups: nobody joins, commits or leaves there.

Sources: KIP-932; GroupMetadataManager.getOrMaybeCreateClassicGroup and its kin, ShareGroup@4.3.1;
observed on 4.3.1.
"""

from touchstone.harness.claim import claim
from touchstone.harness.expect import all_of, answer
from touchstone.suites.offsets import commits
from touchstone.suites.rebalance import acts as classic
from touchstone.suites.rebalance import beats
from touchstone.suites.share.acts import ANNE, GROUP_ID_NOT_FOUND, a_group, card, described, is_
from touchstone.suites.transactions import acts as transactions

INCONSISTENT = 23
MEMBERS = "groups[0].members"


def theirs(name, api, **how):
    return claim(f"share.{name}", **card(api), **how)


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
    """JoinGroup into a share group is INCONSISTENT_GROUP_PROTOCOL."""
    return judged(
        case,
        lambda group, _: classic.join("x", group, version=case.version, name="ask"),
        expect=is_("ask", INCONSISTENT),
    )


@theirs("classic-members-do-not-sync", "SyncGroup")
def test_classic_members_do_not_sync(case):
    """SyncGroup in a share group is of nobody that is known there."""
    return judged(
        case,
        lambda group, _: classic.sync("x", group, 1, member=ANNE, version=case.version, name="ask"),
        expect=answer("ask", "error_code").is_not(0),
    )


@theirs("classic-members-do-not-beat", "Heartbeat")
def test_classic_members_do_not_beat(case):
    """Heartbeat in a share group is of nobody that is known there, also with a member's id."""
    return judged(
        case,
        lambda group, _: classic.heartbeat(
            "x", group, 3, member=ANNE, version=case.version, name="ask"
        ),
        expect=answer("ask", "error_code").is_not(0),
    )


@theirs("classic-members-do-not-leave", "LeaveGroup")
def test_classic_members_do_not_leave(case):
    """LeaveGroup does not take a member out of a share group."""
    return judged(
        case,
        lambda group, _: classic.leave("x", group, member=ANNE, version=case.version, name="ask"),
        expect=answer("described", "groups[0].group_state").is_("Stable"),
    )


@theirs("consumers-do-not-join", "ConsumerGroupHeartbeat")
def test_consumers_do_not_join(case):
    """A consumer of KIP-848 neither joins a share group nor goes on or leaves there."""
    group, topic = case.topic("group"), case.topic()
    how = {"version": case.version}
    return case.scenario(
        a_group(group, topic),
        beats.join(group, "m1", topic, name="joins", **how),
        beats.beat(group, ANNE, 3, name="goes on", **how),
        beats.beat(group, ANNE, -1, name="leaves", **how),
        described(group, name="described"),
        expect=all_of(
            *(is_(name, GROUP_ID_NOT_FOUND) for name in ("joins", "goes on", "leaves")),
            answer("described", MEMBERS).has_length(1),
        ),
    )


@theirs("nobody-commits-offsets", "OffsetCommit")
def test_nobody_commits_offsets(case):
    """A share group keeps no offsets of others: neither a member's nor anybody's."""
    group, topic = case.topic("group"), case.topic()
    how = {"version": case.version}
    return case.scenario(
        a_group(group, topic),
        commits.commit(group, topic, name="nobody", **how),
        commits.commit(group, topic, member=ANNE, generation=3, name="member", **how),
        commits.commit(group, case.topic("made up"), version=2, name="no topic"),
        commits.fetch(group, topic, name="kept"),
        described(group, name="described"),
        expect=all_of(
            answer("nobody", commits.CODE).is_not(0),
            answer("member", commits.CODE).is_not(0),
            answer("described", MEMBERS).has_length(1),
        ),
    )


@theirs("transactions-commit-no-offsets", "TxnOffsetCommit")
def test_transactions_commit_no_offsets(case):
    """Nor does a share group keep the offsets of a transaction."""
    group, topic, transaction = case.topic("group"), case.topic(), case.group("transaction")
    how = {"version": case.version}
    asked = transactions.commit_offset(transaction, group, topic, name="ask", **how)
    return case.scenario(
        a_group(group, topic),
        transactions.a_producer(transaction),
        transactions.settled(transactions.add_offsets(transaction, group, version=0, name="added")),
        asked,
        transactions.ended(transaction, word="committed"),
        commits.fetch(group, topic, name="kept"),
        described(group, name="described"),
        expect=all_of(
            answer("ask", transactions.COMMITTED_OFFSET).is_not(0),
            answer("described", MEMBERS).has_length(1),
        ),
    )


@theirs("offsets-are-not-fetched", "OffsetFetch")
def test_offsets_are_not_fetched(case):
    """OffsetFetch finds nothing in a share group, and says no more than that."""
    return judged(
        case,
        lambda group, topic: commits.fetch(group, topic, version=case.version, name="ask"),
        expect=answer("described", "groups[0].group_state").is_("Stable"),
    )


@theirs("offsets-are-not-deleted", "OffsetDelete")
def test_offsets_are_not_deleted(case):
    """OffsetDelete finds no group of its kind."""
    return judged(
        case,
        lambda group, topic: commits.offset_delete(group, topic, name="ask"),
        expect=answer("ask", "error_code").is_not(0),
    )
