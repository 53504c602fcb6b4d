"""TxnOffsetCommit: offsets that count when their transaction commits.

They are appended to the group's partition of `__consumer_offsets` under the producer's id and wait
beside the group's own until the marker comes. Since KIP-890 the coordinator of the transaction is
asked whether that partition is in it; before, anybody's offsets were taken.

v2 leader epochs (KIP-320); v3 member and generation, checked like a commit's (KIP-447); v4 answers
TRANSACTION_ABORTABLE; v5 adds the group to the transaction by itself (KIP-890).

Sources: KafkaApis.handleTxnOffsetCommitRequest, GroupCoordinator.handleTxnCommitOffsets at 1.0.2,
2.2.1, 2.8.2, trunk of 2024-10; observed on all five releases.
"""

from __future__ import annotations

from typing import Any

from touchstone.reference_impl.broker.broker import Broker
from touchstone.reference_impl.broker.control.internal_topics import OFFSETS
from touchstone.reference_impl.broker.coordinators import (
    add_partitions_to_txn,
    offset_commits,
)
from touchstone.reference_impl.broker.coordinators.add_partitions_to_txn import AddPartitionsToTxn
from touchstone.reference_impl.broker.coordinators.groups import Groups
from touchstone.reference_impl.broker.coordinators.offset_commits import OffsetCommits
from touchstone.reference_impl.broker.coordinators.share_groups import ShareGroups
from touchstone.reference_impl.broker.effects import Request, Wait, waiting
from touchstone.reference_impl.group.commits import may_commit_in_transaction
from touchstone.reference_impl.group.consumer_requests import commit_fault
from touchstone.reference_impl.group.coordinator import Coordinator
from touchstone.reference_impl.group.members import Group, Ticket
from touchstone.reference_impl.group.offsets import CommittedOffset
from touchstone.reference_impl.txn.coordinator import Producer
from touchstone.reference_impl.txn.transaction import NO_PRODUCER_ID
from touchstone.reference_impl.wire.errors import ErrorCode

FIRST_ABORTABLE, FIRST_ADDING, FIRST_LOADING = 4, 5, 2
TopicPartition = tuple[str, int]
CodesByPartition = dict[TopicPartition, int]


def handle(request: Request, broker: Broker, now: int) -> dict[str, Any] | Wait:
    codes = {key: _unknown(broker, key) for key in _named(request)}
    whole = Ticket()
    waits = [key for key, code in codes.items() if not code]
    if not waits:
        whole.give(codes)
    else:
        group_id = request.body["group_id"]
        code = broker.room(Groups).refusal(group_id, member=False)
        if not group_id and not broker.persona.quirk("transactions.offsets-of-no-group"):
            code = ErrorCode.INVALID_GROUP_ID
        if code:
            code = _for_its_age(request.header.version, code)
            whole.give(codes | dict.fromkeys(waits, code))
        else:
            _verified(request, broker, codes, whole, now)
    return waiting(whole, lambda found: _answer(request, found))


def fail(request: Request, code: int) -> dict[str, Any]:
    return _answer(request, dict.fromkeys(_named(request), code))


def _unknown(broker: Broker, key: TopicPartition) -> int:
    name, index = key
    topic = broker.cluster.topics.get(name)
    there = broker.room(OffsetCommits).present(topic, (index,))
    return ErrorCode.NONE if there else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def _verified(
    request: Request, broker: Broker, codes: CodesByPartition, whole: Ticket, now: int
) -> None:
    """Ask the transaction's coordinator where that is done, then go on."""
    body, version = request.body, request.header.version
    if not broker.persona.quirk("produce.verifies-transactions"):
        _keep(request, broker, codes, whole, now)
        return
    if not broker.persona.quirk("groups.newer-coordinator"):
        # The older one has the group before it asks, and keeps it whatever the answer is (3.9).
        broker.room(OffsetCommits).group_for(body["group_id"], now, missing=ErrorCode.NONE)
    partition = (OFFSETS, broker.room(Groups).partition_to_be(body["group_id"]))
    producer = Producer(body["producer_id"], body["producer_epoch"])
    asked = broker.room(AddPartitionsToTxn).ask(
        body["transactional_id"],
        producer,
        frozenset({partition}),
        adds=version >= FIRST_ADDING,
        now=now,
    )

    def then() -> None:
        code = _in_words_of(version, asked.answer["codes"][partition])
        if code:
            whole.give({key: known or code for key, known in codes.items()})
        else:
            _keep(request, broker, codes, whole, now)

    if asked.answer is None:
        asked.watch = then
    else:
        then()


def _in_words_of(version: int, code: int) -> int:
    if code == ErrorCode.PRODUCER_FENCED:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    if code == ErrorCode.TRANSACTION_ABORTABLE and version < FIRST_ABORTABLE:
        return ErrorCode.INVALID_TXN_STATE
    if code in add_partitions_to_txn.PASSING and code != ErrorCode.CONCURRENT_TRANSACTIONS:
        code = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS  # of the transaction's, not of the group's
    return _for_its_age(version, code)


def _for_its_age(version: int, code: int) -> int:
    """Producers before 2.0 do not know that a coordinator may still be loading."""
    unknown = code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS and version < FIRST_LOADING
    return ErrorCode.COORDINATOR_NOT_AVAILABLE if unknown else code


def _admitted(
    coordinator: Coordinator, group: Group, body: dict[str, Any], generation: int, now: int
) -> int:
    if group.consumer_group is None:
        return may_commit_in_transaction(
            coordinator, group, body["member_id"], body["group_instance_id"], generation
        )
    simple = generation < 0 and not body["member_id"]
    code = (
        0
        if simple
        else commit_fault(group.consumer_group, body["member_id"], generation, frozenset())
    )
    stale = code == ErrorCode.STALE_MEMBER_EPOCH
    return ErrorCode.ILLEGAL_GENERATION if stale else code


def _keep(
    request: Request, broker: Broker, codes: CodesByPartition, whole: Ticket, now: int
) -> None:
    """Check the member, append, and let the offsets wait for their transaction."""
    body = request.body
    group_id, generation = body["group_id"], body["generation_id"]
    newer = generation >= 0 and broker.persona.quirk("groups.newer-coordinator")
    missing = ErrorCode.ILLEGAL_GENERATION if newer else ErrorCode.NONE
    group: Group | int = ErrorCode.GROUP_ID_NOT_FOUND  # a share group keeps no offsets of others
    if not broker.room(ShareGroups).is_shared(group_id):
        group = broker.room(OffsetCommits).group_for(group_id, now, missing=missing)
    code = group
    if isinstance(group, Group):
        code = _admitted(broker.room(Groups).coordinator, group, body, generation, now)
    if code or not isinstance(group, Group):
        whole.give({key: known or code for key, known in codes.items()})
        return
    offsets = _offsets(request, broker, codes, now)
    if not offsets:
        whole.give(codes)
        return
    owned = body["producer_id"] != NO_PRODUCER_ID  # who is no producer commits at once
    producer = Producer(body["producer_id"], body["producer_epoch"]) if owned else None

    def kept(code: int, at: int) -> None:
        if not code:
            visible = producer is None or "pending-offsets-visible" in broker.switches
            known = group.offsets if visible else group.unstable.setdefault(producer.id, {})
            known.update(offsets)
        whole.give({key: known if key not in offsets else code for key, known in codes.items()})

    broker.room(Groups).log.keep_offsets(group_id, offsets, now, kept, producer=producer)


def _offsets(
    request: Request, broker: Broker, codes: CodesByPartition, now: int
) -> dict[TopicPartition, CommittedOffset]:
    """What may be kept; `codes` are told of what may not."""
    kept, take = {}, broker.room(OffsetCommits).taker(now)
    for topic in request.body["topics"]:
        for row in topic["partitions"]:
            key = (topic["name"], row["partition_index"])
            if codes[key]:
                continue
            found = take(row, broker.cluster.topics[topic["name"]], offset_commits.UNSET)
            if isinstance(found, CommittedOffset):
                kept[key] = found
            else:
                codes[key] = found
    return kept


def _named(request: Request) -> list[TopicPartition]:
    return [
        (topic["name"], row["partition_index"])
        for topic in request.body["topics"]
        for row in topic["partitions"]
    ]


def _answer(request: Request, codes: CodesByPartition) -> dict[str, Any]:
    topics: dict[str, list[dict[str, int]]] = {}
    for (topic, index), code in codes.items():
        row = {"partition_index": index, "error_code": code}
        topics.setdefault(topic, []).append(row)
    return {"topics": [{"name": name, "partitions": rows} for name, rows in topics.items()]}
