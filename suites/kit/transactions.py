"""Transactions: the cluster that they want, requests, and steps into each state.

Requests of the oldest versions take a transactional id through its states, so that every release
gets there in the same way; the version at hand is that of the request a claim is about. Two facts
make states certain. A coordinator that has begun to end a transaction answers
CONCURRENT_TRANSACTIONS until the markers are written, so repeating a request until it answers
otherwise waits for the end. And markers are appended with acks=-1: a partition below
min.insync.replicas holds a transaction in PrepareCommit or PrepareAbort for as long as a case likes
(until 2.8; later the minimum is at most the number of replicas, KIP-966).

Sources: TransactionCoordinator, TransactionMarkerChannelManager at 1.0.2 and 2.8.2; KIP-98.
"""

from collections.abc import Sequence
from typing import Any

from touchstone.harness.model.placeholders import Now, Records, Ref
from touchstone.harness.model.scenario import Ask, Until
from touchstone.harness.model.steps import (
    alter_configs,
    ask,
    coordinator_ready,
    init_producer_id,
    list_offsets,
    produce,
)
from touchstone.reference_impl.wire.errors import ErrorCode

TRANSACTION = 1  # the type of a key in FindCoordinator
COMMIT, ABORT = True, False
READ_UNCOMMITTED, READ_COMMITTED = 0, 1
ABORTS_EVERY = "transaction.abort.timed.out.transaction.cleanup.interval.ms"
# One partition each, so that a cluster is quick to make; what times out does so within a second.
CLUSTER = {
    "transaction.state.log.num.partitions": 1,
    "offsets.topic.num.partitions": 1,
    "group.initial.rebalance.delay.ms": 0,
    ABORTS_EVERY: 200,
}
PRODUCER, EPOCH = Ref("producer", "producer_id"), Ref("producer", "producer_epoch")
OWN = {"producer_id": PRODUCER, "epoch": EPOCH}
CODE = "error_code"
ADDED = "results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code"
ADDED_IN_BATCH = (
    "results_by_transaction[0].topic_results[0].results_by_partition[0].partition_error_code"
)
COMMITTED_OFFSET = "topics[0].partitions[0].error_code"
PRODUCED = "responses[0].partition_responses[0].error_code"
FIRST_BATCHED = 4  # the first version of AddPartitionsToTxn that brokers send among themselves


def record(value: bytes = b"held", sequence: int = 0, *, pid: Any = None, epoch: Any = None,
           **fields: Any) -> Records:  # fmt: skip
    """One transactional batch of a producer, stamped with the run's clock."""
    own = {
        "producer_id": PRODUCER if pid is None else pid,
        "producer_epoch": EPOCH if epoch is None else epoch,
        "base_sequence": sequence,
        "transactional": True,
    }
    return Records({"magic": 2, "records": [value], "timestamp": Now(), **own, **fields})


def initialised(transaction: Any, name: str = "producer", **how: Any) -> list[Any]:
    """A producer that has its id and epoch, once the coordinator serves and nothing is pending."""
    asked = init_producer_id(transaction, name=name, **how)
    return [Until(asked, CODE, "==", 0)]


def a_producer(transaction: Any, **how: Any) -> list[Any]:
    """A producer with id and epoch, once its coordinator has been found."""
    return [coordinator_ready(transaction, TRANSACTION), *initialised(transaction, **how)]


def add_partitions(
    transaction: Any,
    topic: Any,
    *partitions: int,
    version: int = 0,
    producer_id: Any = PRODUCER,
    epoch: Any = EPOCH,
    verify: bool = False,
    **how: Any,
) -> Ask:
    """AddPartitionsToTxn in its version's form; `verify` only asks (KIP-890)."""
    topics = [{"name": topic, "partitions": list(partitions or (0,))}]
    if version < FIRST_BATCHED:
        body = {
            "v3_and_below_transactional_id": transaction,
            "v3_and_below_producer_id": producer_id,
            "v3_and_below_producer_epoch": epoch,
            "v3_and_below_topics": topics,
        }
    else:
        body = {"transactions": [one_of_many(transaction, topics, producer_id, epoch, verify)]}
    return ask("AddPartitionsToTxn", version, body, **how)


def one_of_many(
    transaction: Any,
    topics: Sequence[dict[str, Any]],
    producer_id: Any = PRODUCER,
    epoch: Any = EPOCH,
    verify: bool = False,
) -> dict[str, Any]:
    """One transaction of an AddPartitionsToTxn of many."""
    return {
        "transactional_id": transaction,
        "producer_id": producer_id,
        "producer_epoch": epoch,
        "verify_only": verify,
        "topics": list(topics),
    }


def added_code(version: int) -> str:
    """Where AddPartitionsToTxn says what became of its first partition."""
    return ADDED if version < FIRST_BATCHED else ADDED_IN_BATCH


def add_offsets(
    transaction: Any,
    group: Any,
    *,
    version: int = 0,
    producer_id: Any = PRODUCER,
    epoch: Any = EPOCH,
    **how: Any,
) -> Ask:
    """AddOffsetsToTxn of one group."""
    body = {
        "transactional_id": transaction,
        "producer_id": producer_id,
        "producer_epoch": epoch,
        "group_id": group,
    }
    return ask("AddOffsetsToTxn", version, body, **how)


def commit_offset(
    transaction: Any,
    group: Any,
    topic: Any,
    offset: int = 7,
    *,
    partition: int = 0,
    version: int = 0,
    producer_id: Any = PRODUCER,
    epoch: Any = EPOCH,
    metadata: str | None = "",
    member: dict[str, Any] | None = None,
    **how: Any,
) -> Ask:
    """TxnOffsetCommit of one partition; `member` holds generation_id, member_id ... (KIP-447)."""
    row = {
        "partition_index": partition,
        "committed_offset": offset,
        "committed_metadata": metadata,
    }
    body = {
        "transactional_id": transaction,
        "group_id": group,
        "producer_id": producer_id,
        "producer_epoch": epoch,
        "topics": [{"name": topic, "partitions": [row]}],
        **(member or {}),
    }
    return ask("TxnOffsetCommit", version, body, **how)


def end(
    transaction: Any,
    commit: bool = COMMIT,
    *,
    version: int = 0,
    producer_id: Any = PRODUCER,
    epoch: Any = EPOCH,
    **how: Any,
) -> Ask:
    """EndTxn: a commit or an abort."""
    body = {
        "transactional_id": transaction,
        "producer_id": producer_id,
        "producer_epoch": epoch,
        "committed": commit,
    }
    return ask("EndTxn", version, body, **how)


def settled(question: Ask, path: str = CODE) -> Until:
    """The request, again and again while the coordinator is still busy with the last one."""
    return Until(question, path, "!=", ErrorCode.CONCURRENT_TRANSACTIONS)


def ended(transaction: Any, commit: bool = COMMIT, word: str = "ended", **own: Any) -> list[Any]:
    """The transaction is over and its markers are written: asking to end it again says so."""
    return [
        end(transaction, commit, name=f"{word} begins", **own),
        settled(end(transaction, commit, name=word, **own)),
    ]


def stable(topic: Any, offset: int, partition: int = 0) -> Until:
    """Readers of committed records may read up to here: what was open below is over."""
    word = f"stable at {offset}" if partition == 0 else f"stable at {offset} of {partition}"
    asked = list_offsets(topic, partition, version=2, isolation=READ_COMMITTED, name=word)
    return Until(asked, "topics[0].partitions[0].offset", ">=", offset)


def send(transaction: Any, topic: Any, records: Any = None, partition: int = 0, **how: Any) -> Ask:
    """Produce within a transaction, of the newest version that adds no partition by itself."""
    records = record() if records is None else records
    return produce(topic, partition, records, transactional_id=transaction, **how)


def offset_fetch(
    group: Any,
    topic: Any,
    partition: int = 0,
    *,
    version: int = 1,
    stable: bool = False,
    **how: Any,
) -> Ask:
    """OffsetFetch of one partition; `stable` wants no pending ones (KIP-447)."""
    topics = [{"name": topic, "partition_indexes": [partition]}]
    body = {"group_id": group, "topics": topics, "require_stable": stable}
    return ask("OffsetFetch", version, body, **how)


def markers(
    producer_id: Any,
    epoch: Any,
    commit: bool,
    topic: Any,
    *partitions: int,
    coordinator_epoch: int = 0,
    version: int = 0,
    transaction_version: int = 0,
    **how: Any,
) -> Ask:
    """WriteTxnMarkers as a coordinator sends it, for one producer and one topic."""
    marker = {
        "producer_id": producer_id,
        "producer_epoch": epoch,
        "transaction_result": commit,
        "topics": [{"name": topic, "partition_indexes": list(partitions or (0,))}],
        "coordinator_epoch": coordinator_epoch,
        "transaction_version": transaction_version,
    }
    return ask("WriteTxnMarkers", version, {"markers": [marker]}, **how)


def held_back(topic: Any) -> list[Any]:
    """From here on no marker gets into this topic (until 2.8); partition 1 tells when."""
    probe = produce(topic, 1, Records({"magic": 2, "records": [b"probe"]}), name="held back")
    return [
        alter_configs(topic, {"min.insync.replicas": 2}, name="hold back"),
        Until(probe, PRODUCED, "==", ErrorCode.NOT_ENOUGH_REPLICAS),
    ]


def let_go(topic: Any, transaction: Any, commit: bool) -> list[Any]:
    """What was held back is written, so that no case leaves a coordinator trying for ever."""
    return [
        alter_configs(topic, {"min.insync.replicas": 1}, name="let go"),
        settled(end(transaction, commit, name="at last")),
    ]


def describe(transaction: Any, **how: Any) -> Ask:
    """DescribeTransactions of one transactional id."""
    return ask("DescribeTransactions", 0, {"transactional_ids": [transaction]}, **how)


def describe_producers(topic: Any, *partitions: int, **how: Any) -> Ask:
    """DescribeProducers of these partitions of a topic, of partition 0 if none is named."""
    row = {"name": topic, "partition_indexes": list(partitions or (0,))}
    return ask("DescribeProducers", 0, {"topics": [row]}, **how)


def list_transactions(
    producer_id: Any = PRODUCER,
    *states: str,
    version: int = 0,
    longer_than: int = -1,
    pattern: str | None = None,
    **how: Any,
) -> Ask:
    """ListTransactions of one producer, because a cluster has those of other cases as well."""
    body = {
        "state_filters": list(states),
        "producer_id_filters": [producer_id],
        "duration_filter": longer_than,
        "transactional_id_pattern": pattern,
    }
    return ask("ListTransactions", version, body, **how)
