"""Requests out of order that random histories of two producers found, whose effect differs by
release.

Sources: TransactionCoordinator.endTransaction at 1.0.2, 2.2.1; GroupCoordinator.storeOffsets at
2.8.2 and handleTxnCommitOffsets at 3.9.2; KIP-890; found by
harness/tests/groups/test_random_transactions.py, observed on the releases that are named.
"""

from touchstone.harness.model.claim import claim, every, range_
from touchstone.harness.model.expect import all_of, answer, by_release
from touchstone.harness.model.placeholders import Ref
from touchstone.harness.model.scenario import Until
from touchstone.harness.model.steps import a_topic, ask, coordinator_ready
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.transactions import (
    ABORT,
    CLUSTER,
    CODE,
    COMMIT,
    COMMITTED_OFFSET,
    a_producer,
    add_partitions,
    commit_offset,
    end,
    offset_fetch,
)

FETCHED = "topics[0].partitions[0].committed_offset"
READY = "topics[0].partitions[0].error_code"
STATE = "groups[0].group_state"
NOBODY = -1
NEXT = Ref("producer", "producer_epoch", 1)


@claim(
    "transactions.ends-of-a-later-epoch-stay-half-done",
    evidence=("KIP-98", "observed on 1.0.2 and 2.2.1"),
    api="EndTxn",
    versions=every("EndTxn"),
    releases="1.0-2.2",
    config=CLUSTER,
    commit=(COMMIT, ABORT),
)
def test_ends_of_a_later_epoch_stay_half_done(case):
    """EndTxn with a later producer epoch answers INVALID_PRODUCER_EPOCH, yet leaves the transaction
    in PrepareCommit or PrepareAbort for good.
    """
    topic, transaction = case.topic(), case.transactional_id()
    return case.scenario(
        a_topic(topic),
        a_producer(transaction),
        add_partitions(transaction, topic, name="added"),
        end(transaction, case.commit, epoch=NEXT, version=case.version, name="ask"),
        end(transaction, case.commit, name="then"),
        end(transaction, not case.commit, name="otherwise"),
        expect=all_of(
            answer("ask", CODE).is_(ErrorCode.INVALID_PRODUCER_EPOCH),
            answer("otherwise", CODE).is_(ErrorCode.INVALID_TXN_STATE),
            answer("then", CODE).is_(ErrorCode.CONCURRENT_TRANSACTIONS),
        ),
    )


@claim(
    "transactions.offsets-of-no-producer-are-committed",
    evidence=("KIP-98", "observed on 1.0.2, 2.2.1, 2.8.2"),
    api="TxnOffsetCommit",
    versions=every("TxnOffsetCommit"),
    releases="1.0-2.8",
    config=CLUSTER,
)
def test_offsets_of_no_producer_are_committed(case):
    """TxnOffsetCommit with producer id -1 commits at once, like OffsetCommit."""
    topic, group, transaction = case.topic(), case.group(), case.transactional_id()
    sent = {"producer_id": NOBODY, "epoch": 0, "version": case.version}
    return case.scenario(
        a_topic(topic),
        coordinator_ready(group),
        Until(offset_fetch(group, topic, name="group ready"), READY, "==", 0),
        commit_offset(transaction, group, topic, 7, name="ask", **sent),
        offset_fetch(group, topic, name="then"),
        expect=all_of(
            answer("ask", COMMITTED_OFFSET).is_(ErrorCode.NONE),
            answer("then", FETCHED).is_(7),
        ),
    )


@claim(
    "transactions.offsets-that-are-refused-may-leave-a-group",
    evidence=("KIP-890", "observed on 3.9.2 and 4.3.1"),
    api="TxnOffsetCommit",
    versions=range_("TxnOffsetCommit", 0, 3),
    releases="3.9+",
    config=CLUSTER,
)
def test_offsets_that_are_refused_may_leave_a_group(case):
    """TxnOffsetCommit for a group that the transaction lacks answers INVALID_TXN_STATE; in 3.9 it
    leaves an empty group behind.
    """
    topic, group, transaction = case.topic(), case.group(), case.transactional_id()
    return case.scenario(
        a_topic(topic),
        coordinator_ready(group),
        a_producer(transaction),
        Until(offset_fetch(group, topic, name="group ready"), READY, "==", 0),
        commit_offset(transaction, group, topic, 7, version=case.version, name="ask"),
        ask("DescribeGroups", 0, {"groups": [group]}, name="then"),
        expect=all_of(
            answer("ask", COMMITTED_OFFSET).is_(ErrorCode.INVALID_TXN_STATE),
            by_release({
                "3.9": answer("then", STATE).is_("Empty"),
                "4.3": answer("then", STATE).is_("Dead"),
            }),
        ),
    )  # fmt: skip


@claim(
    "transactions.offsets-of-an-older-epoch",
    evidence=("KIP-98", "observed on 1.0.2, 2.2.1, 2.8.2"),
    api="TxnOffsetCommit",
    versions=every("TxnOffsetCommit"),
    releases="1.0-2.8",
    config=CLUSTER,
)
def test_offsets_of_an_older_epoch(case):
    """TxnOffsetCommit with an older producer epoch than the last one succeeds until 2.2 and answers
    INVALID_PRODUCER_EPOCH in 2.8.
    """
    topic, group, transaction = case.topic(), case.group(), case.transactional_id()
    return case.scenario(
        a_topic(topic),
        coordinator_ready(group),
        a_producer(transaction),
        Until(offset_fetch(group, topic, name="group ready"), READY, "==", 0),
        commit_offset(transaction, group, topic, 7, name="later", epoch=NEXT),
        commit_offset(transaction, group, topic, 8, name="ask", version=case.version),
        expect=all_of(
            answer("later", COMMITTED_OFFSET).is_(ErrorCode.NONE),
            by_release({
                "1.0": answer("ask", COMMITTED_OFFSET).is_(ErrorCode.NONE),
                "2.2": answer("ask", COMMITTED_OFFSET).is_(ErrorCode.NONE),
                "2.8": answer("ask", COMMITTED_OFFSET).is_(ErrorCode.INVALID_PRODUCER_EPOCH),
            }),
        ),
    )  # fmt: skip
