"""Transactions beyond their timeout: the coordinator aborts them and fences their producer.

Sources: TransactionCoordinator.abortTimedOutTransactions at 1.0.2, 2.8.2; KIP-98; all five releases
were asked.
"""

from touchstone.harness.model.claim import claim, range_
from touchstone.harness.model.expect import all_of, answer, batches, records
from touchstone.harness.model.placeholders import Ref
from touchstone.harness.model.scenario import Until
from touchstone.harness.model.steps import a_topic, fetch, list_offsets
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.transactions import (
    ABORT,
    CLUSTER,
    READ_COMMITTED,
    a_producer,
    add_partitions,
    describe,
    end,
    record,
    send,
)

ROW = "responses[0].partitions[0]"
END = "topics[0].partitions[0].offset"
SHORT_MS = 300


def _own(step):
    return {"producer_id": Ref(step, "producer_id"), "epoch": Ref(step, "producer_epoch")}


def given_up(topic):
    """Until the coordinator's marker is there."""
    stable = list_offsets(topic, version=2, isolation=READ_COMMITTED, name="given up")
    return Until(stable, END, ">=", 2)


@claim(
    "transactions.long-ones-are-aborted",
    evidence=("MISC-06", "KIP-98"),
    api="EndTxn",
    versions=range_("EndTxn", 0, 0),
    config=CLUSTER,
    switches=("transactions-never-time-out",),
)
def test_long_ones_are_aborted(case):
    """The coordinator aborts a transaction that exceeds its timeout, under a higher
    producer epoch.
    """
    topic, transaction = case.topic(), case.transactional_id()
    return case.scenario(
        a_topic(topic),
        a_producer(transaction, timeout_ms=SHORT_MS),
        add_partitions(transaction, topic, name="begun"),
        send(transaction, topic, record(b"late"), name="sent"),
        given_up(topic),
        fetch(topic, version=4, isolation=READ_COMMITTED, max_wait_ms=0, name="read"),
        expect=all_of(
            answer("read", f"{ROW}.aborted_transactions").has_length(1),
            records("read", "[1].key").is_(b"\0\0\0\0"),
            batches("read", "[1].producer_epoch").is_(Ref("producer", "producer_epoch", 1)),
        ),
    )


@claim(
    "transactions.timeouts-count-from-the-first-partition",
    evidence=("KIP-98",),
    api="AddPartitionsToTxn",
    versions=range_("AddPartitionsToTxn", 0, 3),
    config=CLUSTER,
)
def test_timeouts_count_from_the_first_partition(case):
    """A transactional id without an open transaction does not time out: its next partition is
    accepted.
    """
    topic, transaction = case.topic(), case.transactional_id()
    other = case.transactional_id("other")
    return case.scenario(
        a_topic(topic, 2),
        a_producer(transaction, timeout_ms=SHORT_MS, name="idle"),
        a_producer(other, timeout_ms=SHORT_MS),
        add_partitions(other, topic, 0, name="begun"),
        send(other, topic, record(b"late"), name="sent"),
        given_up(topic),
        end(transaction, ABORT, **_own("idle"), name="nothing to end"),
        add_partitions(transaction, topic, 1, version=case.version, **_own("idle"), name="ask"),
        expect=all_of(
            answer("nothing to end", "error_code").is_(ErrorCode.INVALID_TXN_STATE),
            answer(
                "ask",
                "results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code",
            ).is_(ErrorCode.NONE),
        ),
    )


@claim(
    "transactions.long-ones-are-described-as-aborted",
    evidence=("KIP-664",),
    api="DescribeTransactions",
    versions=range_("DescribeTransactions", 0),
    config=CLUSTER,
)
def test_long_ones_are_described_as_aborted(case):
    """After a timeout DescribeTransactions answers CompleteAbort without partitions."""
    topic, transaction = case.topic(), case.transactional_id()
    state = "transaction_states[0].transaction_state"
    return case.scenario(
        a_topic(topic),
        a_producer(transaction, timeout_ms=SHORT_MS),
        add_partitions(transaction, topic, name="begun"),
        Until(describe(transaction, name="ask"), state, "==", "CompleteAbort"),
        expect=all_of(
            answer("ask", state).is_("CompleteAbort"),
            answer("ask", "transaction_states[0].topics").has_length(0),
            answer("ask", "transaction_states[0].transaction_timeout_ms").is_(SHORT_MS),
        ),
    )
