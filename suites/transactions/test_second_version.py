"""Transactions of version 2 (KIP-890): an epoch per transaction, and partitions that Produce adds.

Sources: KIP-890; TransactionCoordinator on trunk of 2024-10; observed on 4.3.1.
"""

from touchstone.harness.model.claim import claim, range_
from touchstone.harness.model.expect import all_of, answer, batches
from touchstone.harness.model.placeholders import Ref
from touchstone.harness.model.scenario import Until
from touchstone.harness.model.steps import a_topic, coordinator_ready, fetch, init_producer_id
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.transactions import (
    ABORT,
    CLUSTER,
    COMMIT,
    COMMITTED_OFFSET,
    EPOCH,
    PRODUCED,
    READ_COMMITTED,
    a_producer,
    add_partitions,
    commit_offset,
    end,
    offset_fetch,
    record,
    send,
    settled,
    stable,
)

CODE = "error_code"
ROW = "responses[0].partitions[0]"
VERIFIED = "results_by_transaction[0].topic_results[*].results_by_partition[*].partition_error_code"
NEXT = Ref("producer", "producer_epoch", 1)
ADDS_ITSELF = 12  # the version of Produce
ENDS = {"api": "EndTxn", "versions": range_("EndTxn", 5), "config": CLUSTER}
SENDS = {"api": "Produce", "versions": range_("Produce", 12), "config": CLUSTER}


@claim("transactions.ends-raise-the-epoch", evidence=("KIP-890",), commit=(COMMIT, ABORT), **ENDS)
def test_ends_raise_the_epoch(case):
    """EndTxn version 5 answers the producer id with the next epoch, which its markers carry and the
    next transaction uses.
    """
    topic, transaction = case.topic(), case.transactional_id()
    return case.scenario(
        a_topic(topic),
        a_producer(transaction),
        send(transaction, topic, record(b"one"), version=12, name="first"),
        end(transaction, case.commit, version=5, name="ask"),
        stable(topic, 2),
        fetch(topic, 0, 1, version=4, max_wait_ms=0, name="marker"),
        Until(send(transaction, topic, record(b"two", epoch=NEXT), version=12, name="second"),
              PRODUCED, "==", 0),
        expect=all_of(
            answer("ask", "producer_id").is_(Ref("producer", "producer_id")),
            answer("ask", "producer_epoch").is_(NEXT),
            batches("marker", "[0].producer_epoch").is_(NEXT),
            answer("second", PRODUCED).is_(ErrorCode.NONE),
        ),
    )  # fmt: skip


@claim("transactions.ended-epochs-are-over", evidence=("KIP-890",), **ENDS)
def test_ended_epochs_are_over(case):
    """After EndTxn version 5 a Produce with the ended epoch answers INVALID_PRODUCER_EPOCH."""
    topic, transaction = case.topic(), case.transactional_id()
    return case.scenario(
        a_topic(topic),
        a_producer(transaction),
        send(transaction, topic, record(b"one"), version=12, name="first"),
        end(transaction, COMMIT, version=5, name="end"),
        stable(topic, 2),
        fetch(topic, 0, 1, version=4, max_wait_ms=0, name="marker"),
        send(transaction, topic, record(b"late", 1), version=12, name="ask"),
        expect=answer("ask", PRODUCED).is_(ErrorCode.INVALID_PRODUCER_EPOCH),
    )


@claim(
    "transactions.ends-can-be-asked-for-again",
    evidence=("KIP-890",),
    commit=(COMMIT, ABORT),
    **ENDS,
)
def test_ends_can_be_asked_for_again(case):
    """A repeated EndTxn version 5 with the ended epoch answers the raised epoch again; the opposite
    end answers INVALID_TXN_STATE.
    """
    topic, transaction = case.topic(), case.transactional_id()
    return case.scenario(
        a_topic(topic),
        a_producer(transaction),
        send(transaction, topic, record(b"one"), version=12, name="first"),
        end(transaction, case.commit, version=5, name="end"),
        settled(end(transaction, case.commit, version=5, name="again")),
        end(transaction, not case.commit, version=5, name="otherwise"),
        expect=all_of(
            answer("again", CODE).is_(ErrorCode.NONE),
            answer("again", "producer_epoch").is_(NEXT),
            answer("otherwise", CODE).is_(ErrorCode.INVALID_TXN_STATE),
        ),
    )


@claim("transactions.sending-adds-the-partition", evidence=("KIP-890",), **SENDS)
def test_sending_adds_the_partition(case):
    """Produce from version 12 on adds its partition to the transaction."""
    topic, transaction = case.topic(), case.transactional_id()
    return case.scenario(
        a_topic(topic, 2),
        a_producer(transaction),
        send(transaction, topic, record(b"one"), 0, version=case.version, name="to 0"),
        send(transaction, topic, record(b"two"), 1, version=case.version, name="to 1"),
        add_partitions(transaction, topic, 0, 1, version=4, verify=True, name="verified"),
        end(transaction, COMMIT, version=5, name="end"),
        settled(end(transaction, COMMIT, version=5, name="ended")),
        [
            fetch(topic, p, version=4, isolation=READ_COMMITTED, max_wait_ms=0, name=f"read {p}")
            for p in (0, 1)
        ],
        expect=all_of(
            *(answer(f"read {p}", f"{ROW}.last_stable_offset").is_(2) for p in (0, 1)),
            answer("verified", VERIFIED).is_([[ErrorCode.NONE] * 2]),
            answer("end", CODE).is_(ErrorCode.NONE),
        ),
    )


@claim(
    "transactions.committing-offsets-adds-the-group",
    evidence=("KIP-890",),
    api="TxnOffsetCommit",
    versions=range_("TxnOffsetCommit", 5),
    config=CLUSTER,
)
def test_committing_offsets_adds_the_group(case):
    """TxnOffsetCommit from version 5 on adds the group to the transaction."""
    topic, group, transaction = case.topic(), case.group(), case.transactional_id()
    fetched = "topics[0].partitions[0].committed_offset"
    return case.scenario(
        a_topic(topic),
        coordinator_ready(group),
        a_producer(transaction),
        Until(offset_fetch(group, topic, name="group ready"),
              "topics[0].partitions[0].error_code", "==", 0),
        commit_offset(transaction, group, topic, version=case.version, name="ask"),
        end(transaction, COMMIT, version=5, name="end"),
        Until(offset_fetch(group, topic, name="after"), fetched, "==", 7),
        expect=all_of(
            answer("ask", COMMITTED_OFFSET).is_(ErrorCode.NONE),
            answer("end", CODE).is_(ErrorCode.NONE),
            answer("after", fetched).is_(7),
        ),
    )  # fmt: skip


@claim("transactions.aborts-of-nothing-raise-the-epoch", evidence=("KIP-890",), **ENDS)
def test_aborts_of_nothing_raise_the_epoch(case):
    """EndTxn version 5 without a transaction raises the epoch for an abort and answers
    INVALID_TXN_STATE for a commit.
    """
    topic, transaction = case.topic(), case.transactional_id()
    return case.scenario(
        a_topic(topic),
        a_producer(transaction),
        end(transaction, COMMIT, version=5, name="commit"),
        end(transaction, ABORT, version=5, name="abort"),
        Until(send(transaction, topic, record(epoch=NEXT), version=12, name="next"),
              PRODUCED, "==", 0),
        expect=all_of(
            answer("commit", CODE).is_(ErrorCode.INVALID_TXN_STATE),
            answer("abort", CODE).is_(ErrorCode.NONE),
            answer("abort", "producer_epoch").is_(NEXT),
        ),
    )  # fmt: skip


@claim("transactions.bumped-producers-can-go-on", evidence=("KIP-360", "KIP-890"), **ENDS)
def test_bumped_producers_can_go_on(case):
    """After EndTxn version 5 InitProducerId accepts the epoch that it answered and raises it by
    one.
    """
    topic, transaction = case.topic(), case.transactional_id()
    bumped = Ref("end", "producer_epoch")
    return case.scenario(
        a_topic(topic),
        a_producer(transaction),
        send(transaction, topic, record(b"one"), version=12, name="first"),
        end(transaction, ABORT, version=5, name="end"),
        settled(
            init_producer_id(
                transaction, version=5, producer_id=Ref("end", "producer_id"),
                producer_epoch=bumped, name="ask",
            )
        ),
        end(transaction, ABORT, version=5, name="old", epoch=EPOCH),
        expect=all_of(
            answer("ask", CODE).is_(ErrorCode.NONE),
            answer("ask", "producer_epoch").is_(Ref("end", "producer_epoch", 1)),
            answer("old", CODE).is_(ErrorCode.PRODUCER_FENCED),
        ),
    )  # fmt: skip


@claim("transactions.first-batches-begin-at-zero", evidence=("KIP-890",), begun=(False, True),
       full=True, **SENDS | {"versions": range_("Produce", 3), "releases": "4.3"})  # fmt: skip
def test_first_batches_begin_at_zero(case):
    """The first batch of an unknown producer must have sequence 0 if Produce adds the partition,
    else OUT_OF_ORDER_SEQUENCE_NUMBER; with a partition added before, or an older version, any
    sequence succeeds.
    """
    topic, transaction = case.topic(), case.transactional_id()
    first = [send(transaction, topic, record(b"one"), version=case.version, name="first")]
    adds = [add_partitions(transaction, topic, name="added")]
    return case.scenario(
        a_topic(topic),
        a_producer(transaction),
        adds if case.version < ADDS_ITSELF else [],
        first if case.begun else [],
        send(transaction, topic, record(b"on", 1), version=case.version, name="ask"),
        send(transaction, topic, record(b"far", 9), version=case.version, name="gap"),
        expect=all_of(
            answer("ask", PRODUCED).is_(
                ErrorCode.NONE
                if case.begun or case.version < ADDS_ITSELF
                else ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
            ),
            answer("gap", PRODUCED).is_(ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER),
        ),
    )
