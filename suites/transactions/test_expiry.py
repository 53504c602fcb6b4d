"""Unused transactional ids: the coordinator forgets them after transactional.id.expiration.ms.

Sources: TransactionStateManager.removeExpiredTransactionalIds at 1.0.2, 2.8.2; KIP-98; all five
releases were asked.
"""

from touchstone.harness.model.claim import claim, range_
from touchstone.harness.model.expect import all_of, answer
from touchstone.harness.model.placeholders import Ref
from touchstone.harness.model.scenario import Until
from touchstone.harness.model.steps import a_topic
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.transactions import (
    ABORT,
    ADDED,
    CLUSTER,
    COMMIT,
    a_producer,
    add_partitions,
    end,
    ended,
    initialised,
    send,
)

FORGETFUL = CLUSTER | {
    "transactional.id.expiration.ms": 1000,
    "transaction.remove.expired.transaction.cleanup.interval.ms": 200,
}


@claim(
    "transactions.unused-ids-are-forgotten",
    evidence=("KIP-98",),
    api="InitProducerId",
    versions=range_("InitProducerId", 0),
    config=FORGETFUL,
)
def test_unused_ids_are_forgotten(case):
    """An unused transactional id expires: requests with its producer id answer
    INVALID_PRODUCER_ID_MAPPING, and InitProducerId answers a new producer id.
    """
    topic, transaction = case.topic(), case.transactional_id()
    over = end(transaction, COMMIT, name="forgotten")
    return case.scenario(
        a_topic(topic),
        a_producer(transaction),
        end(transaction, COMMIT, name="known"),
        Until(over, "error_code", "==", ErrorCode.INVALID_PRODUCER_ID_MAPPING),
        add_partitions(transaction, topic, name="add"),
        initialised(transaction, "again", version=case.version),
        expect=all_of(
            answer("known", "error_code").is_(ErrorCode.INVALID_TXN_STATE),
            answer("add", ADDED).is_(ErrorCode.INVALID_PRODUCER_ID_MAPPING),
            answer("again", "producer_id").is_not(Ref("producer", "producer_id")),
            answer("again", "producer_epoch").is_(0),
        ),
    )


@claim(
    "transactions.ended-ids-are-forgotten",
    evidence=("KIP-98",),
    api="EndTxn",
    versions=range_("EndTxn", 0, 0),
    config=FORGETFUL,
    commit=(COMMIT, ABORT),
)
def test_ended_ids_are_forgotten(case):
    """A transactional id expires after its last transaction, whether that was
    committed or aborted.
    """
    topic, transaction = case.topic(), case.transactional_id()
    return case.scenario(
        a_topic(topic),
        a_producer(transaction),
        add_partitions(transaction, topic, name="begun"),
        send(transaction, topic, name="sent"),
        ended(transaction, case.commit),
        Until(
            end(transaction, case.commit, name="ask"),
            "error_code",
            "==",
            ErrorCode.INVALID_PRODUCER_ID_MAPPING,
        ),
        add_partitions(transaction, topic, name="add"),
        initialised(transaction, "again"),
        expect=all_of(
            answer("ended", "error_code").is_(ErrorCode.NONE),
            answer("add", ADDED).is_(ErrorCode.INVALID_PRODUCER_ID_MAPPING),
            answer("again", "producer_id").is_not(Ref("producer", "producer_id")),
            answer("again", "producer_epoch").is_(0),
        ),
    )
