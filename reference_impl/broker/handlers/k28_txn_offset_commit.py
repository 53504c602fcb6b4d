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

from collections.abc import Collection

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
from touchstone.reference_impl.broker.personas.persona import Persona
from touchstone.reference_impl.cluster.topology import Cluster
from touchstone.reference_impl.group import member_epochs
from touchstone.reference_impl.group.commits import may_commit_in_transaction
from touchstone.reference_impl.group.coordinator import Coordinator
from touchstone.reference_impl.group.member_epochs import Place
from touchstone.reference_impl.group.members import Group
from touchstone.reference_impl.group.offsets import CommittedOffset
from touchstone.reference_impl.ticket import Ticket
from touchstone.reference_impl.txn.coordinator import Producer
from touchstone.reference_impl.txn.transaction import NO_PRODUCER_ID
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

FIRST_ABORTABLE, FIRST_ADDING, FIRST_LOADING = 4, 5, 2
TopicPartition = tuple[str, int]
CodesByPartition = dict[TopicPartition, int]


def handle(
    request: Request,
    groups: Groups,
    shares: ShareGroups,
    commits: OffsetCommits,
    verification: AddPartitionsToTxn,
    cluster: Cluster,
    persona: Persona,
    now: int,
) -> Struct | Wait:
    commit = _TxnOffsetCommit(request, groups, shares, commits, cluster, persona)
    if commit.left and not commit.refused():
        if persona.quirk("produce.verifies-transactions"):
            commit.verify(verification, now)
        else:
            commit.keep(now)
    else:
        commit.tell()
    return waiting(commit.ticket, lambda told: _answer(request, told["codes"]))


class _TxnOffsetCommit:
    """One request: `codes` are what is known of its partitions; the ticket gives them."""

    def __init__(
        self,
        request: Request,
        groups: Groups,
        shares: ShareGroups,
        commits: OffsetCommits,
        cluster: Cluster,
        persona: Persona,
    ) -> None:
        self._request, self._body = request, request.body
        self._groups, self._shares, self._commits = groups, shares, commits
        self._cluster, self._persona = cluster, persona
        self._group_id = request.body["group_id"]
        self._producer = Producer(request.body["producer_id"], request.body["producer_epoch"])
        self.ticket: Ticket[Struct] = Ticket()
        self.codes = {key: self._unknown(key) for key in _named(request)}

    @property
    def left(self) -> bool:
        """Whether any partition is to be kept."""
        return not all(self.codes.values())

    def tell(self, code: int = ErrorCode.NONE) -> None:
        """Answer; partitions that were refused for themselves keep their code."""
        self.ticket.give({"codes": {key: known or code for key, known in self.codes.items()}})

    def refused(self) -> bool:
        """Whether the group cannot be asked here; then all that is left has the code."""
        code = self._groups.refusal(self._group_id, member=False)
        if not self._group_id and not self._persona.quirk("transactions.offsets-of-no-group"):
            code = ErrorCode.INVALID_GROUP_ID
        code = _for_its_age(self._request.header.version, code)
        self.codes = {key: known or code for key, known in self.codes.items()}
        return bool(code)

    def _unknown(self, key: TopicPartition) -> int:
        name, index = key
        there = self._commits.present(self._cluster.topics.get(name), (index,))
        return ErrorCode.NONE if there else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION

    def verify(self, verification: AddPartitionsToTxn, now: int) -> None:
        """Ask the transaction's coordinator, then go on."""
        version = self._request.header.version
        if not self._persona.quirk("groups.newer-coordinator"):
            # The older one has the group before it asks, and keeps it whatever the answer is (3.9).
            self._commits.group_for(self._group_id, now, missing=ErrorCode.NONE)
        partition = (OFFSETS, self._groups.partition_to_be(self._group_id))
        asked = verification.ask(
            self._body["transactional_id"],
            self._producer,
            frozenset({partition}),
            adds=version >= FIRST_ADDING,
            now=now,
        )

        def verified(told: Struct) -> None:
            code = _in_words_of(version, told["codes"][partition])
            if code:
                self.tell(code)
            else:
                self.keep(now)

        asked.then(verified)

    def keep(self, now: int) -> None:
        """Check the member, append, and let the offsets wait for their transaction."""
        group = self._admitting(now)
        if not isinstance(group, Group):
            self.tell(group)
            return
        offsets = self._offsets(now)
        if not offsets:
            self.tell()
            return
        owned = self._producer.id != NO_PRODUCER_ID  # who is no producer commits at once
        producer = self._producer if owned else None

        def kept(code: int, at: int) -> None:
            if not code:
                known = group.unstable.setdefault(producer.id, {}) if producer else group.offsets
                known.update(offsets)
            self.tell(code)

        self._groups.log.keep_offsets(self._group_id, offsets, now, kept, producer=producer)

    def _admitting(self, now: int) -> Group | int:
        """The group that takes the offsets, or why none does."""
        generation = self._body["generation_id"]
        if self._shares.is_shared(self._group_id):  # it keeps no offsets of others
            return ErrorCode.GROUP_ID_NOT_FOUND
        newer = generation >= 0 and self._persona.quirk("groups.newer-coordinator")
        missing = ErrorCode.ILLEGAL_GENERATION if newer else ErrorCode.NONE
        group = self._commits.group_for(self._group_id, now, missing=missing)
        if not isinstance(group, Group):
            return group
        coordinator = self._groups.coordinator
        return _admitted(coordinator, group, self._body, self._places(), generation) or group

    def _places(self) -> list[Place]:
        """The partitions that are to be kept."""
        topics = self._cluster.topics
        return [
            Place(name, topics[name].id, index)
            for (name, index), code in self.codes.items()
            if not code
        ]

    def _offsets(self, now: int) -> dict[TopicPartition, CommittedOffset]:
        """What may be kept; `codes` are told of what may not."""
        kept, take = {}, self._commits.taker(now)
        for topic in self._body["topics"]:
            for row in topic["partitions"]:
                key = (topic["name"], row["partition_index"])
                if self.codes[key]:
                    continue
                found = take(row, self._cluster.topics[topic["name"]], offset_commits.UNSET)
                if isinstance(found, CommittedOffset):
                    kept[key] = found
                else:
                    self.codes[key] = found
        return kept


def fail(request: Request, code: int) -> Struct:
    return _answer(request, dict.fromkeys(_named(request), code))


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
    coordinator: Coordinator,
    group: Group,
    body: Struct,
    places: Collection[Place],
    generation: int,
) -> int:
    if group.newer_half is None:
        return may_commit_in_transaction(
            coordinator, group, body["member_id"], body["group_instance_id"], generation
        )
    if generation < 0 and not body["member_id"]:
        return ErrorCode.NONE
    code = member_epochs.check_commit(group, body["member_id"], generation, places)
    stale = code == ErrorCode.STALE_MEMBER_EPOCH
    return ErrorCode.ILLEGAL_GENERATION if stale else code


def _named(request: Request) -> list[TopicPartition]:
    return [
        (topic["name"], row["partition_index"])
        for topic in request.body["topics"]
        for row in topic["partitions"]
    ]


def _answer(request: Request, codes: CodesByPartition) -> Struct:
    topics: dict[str, list[dict[str, int]]] = {}
    for (topic, index), code in codes.items():
        row = {"partition_index": index, "error_code": code}
        topics.setdefault(topic, []).append(row)
    return {"topics": [{"name": name, "partitions": rows} for name, rows in topics.items()]}
