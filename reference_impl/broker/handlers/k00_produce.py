"""Produce: append to the logs this broker leads.

Each partition stands alone: one that fails does not stop the others (APPEND-01). acks=0 has no
answer, and an error closes the connection so that the client notices (APPEND-21). acks other than
-1, 0, 1 is refused for every partition (APPEND-03). With acks=-1 the answer waits until the high
watermark has passed what was appended, everywhere (APPEND-22); where the leader is alone in the
in-sync set that is at once.

v0 to v2 carry message sets (magic 0, 1); from v3 exactly one batch of magic 2 per partition
(KIP-98). v7 allows zstd (KIP-110). v8 names refused records (KIP-467). v10 tells the new leader
(KIP-951). v13 knows topics by id only (KIP-516). 4.x lists v0 but serves from v3.

Sources: KafkaApis.handleProduceRequest, ProduceRequest.validateRecords, ReplicaManager
.appendToLocalLog and Partition.appendRecordsToLeader at 1.0.2, 2.2.1, 2.8.2, 3.9; observed on all
five releases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, NamedTuple

from touchstone.reference_impl.broker.data import produced_in_transaction
from touchstone.reference_impl.broker.data.beside_loop import BesideLoop
from touchstone.reference_impl.broker.data.produced_in_transaction import (
    Refusal,
    Refusals,
    TransactionVerification,
)
from touchstone.reference_impl.broker.effects import NEVER, Hangup, NoReply, Request, Wait
from touchstone.reference_impl.broker.personas.persona import Persona
from touchstone.reference_impl.broker.replication.partitions import (
    leader_of,
    log_key,
    name_of,
)
from touchstone.reference_impl.broker.replication.replicas import ALL, Replicas
from touchstone.reference_impl.cluster.replica import Replica
from touchstone.reference_impl.cluster.topology import INTERNAL_TOPICS
from touchstone.reference_impl.cluster.view import MetadataView
from touchstone.reference_impl.log.rules import LogError
from touchstone.reference_impl.log.validation import codec_of
from touchstone.reference_impl.log.walked import may_be_large
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.records import ZSTD, RecordError, entries
from touchstone.reference_impl.wire.schema import Struct

ADMIN_CLIENT = "__admin_client"  # the one client id that may write to internal topics
ACKS = (ALL, 0, 1)
LENGTH_END = 12  # of an entry: its offset and its length, which counts what follows
INT_MOST = 2**31 - 1 - LENGTH_END
PRODUCER_ID_END = 51
FIRST_BY_ID = 13
# A row of the answer, and the offset that the high watermark must reach before the answer is sent;
# None where it need not wait.
Appended = tuple[Struct, int | None]

# Errors that Kafka foresees answer without a log start offset; others tell it.
FORESEEN = frozenset(
    {
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.MESSAGE_TOO_LARGE,
        ErrorCode.RECORD_LIST_TOO_LARGE,
        ErrorCode.CORRUPT_MESSAGE,
        ErrorCode.KAFKA_STORAGE_ERROR,
    }
)


def handle(
    request: Request,
    replicas: Replicas,
    metadata: MetadataView,
    persona: Persona,
    verification: TransactionVerification,
    beside: BesideLoop,
    now: int,
) -> Struct | NoReply | Hangup | Wait:
    trouble = _trouble_before(request, metadata, persona)
    if trouble is not None:
        return trouble
    produce = _Produce(request, replicas, metadata, persona)
    jobs = list(produce.long_walks())
    if not jobs:
        return _verified(produce, request, verification, now)
    walked = beside.done(jobs)

    def go_on(at: int) -> Struct | NoReply | Hangup | Wait | None:
        return _verified(produce, request, verification, at) if walked.answer else None

    return go_on(now) or Wait(NEVER, (), go_on, go_on, walked)


def _verified(
    produce: _Produce, request: Request, verification: TransactionVerification, now: int
) -> Struct | NoReply | Hangup | Wait:
    asked = verification.verify(request, produce.named(), now)
    if asked is None:
        return produce.append({}, now)

    def attempt(at: int) -> Struct | NoReply | Hangup | Wait | None:
        return None if asked.answer is None else produce.append(asked.answer["refusals"], at)

    return attempt(now) or Wait(NEVER, (), attempt, attempt, asked)


class _Produce:
    """One request, whose partitions stand alone: one that fails does not stop the others."""

    __slots__ = ("_acks", "_metadata", "_persona", "_replicas", "_request", "_version")

    def __init__(
        self, request: Request, replicas: Replicas, metadata: MetadataView, persona: Persona
    ) -> None:
        self._request, self._version = request, request.header.version
        self._acks = request.body["acks"]
        self._replicas, self._metadata, self._persona = replicas, metadata, persona

    def named(self) -> Iterator[tuple[str | None, Struct]]:
        """Each partition, and its topic's name, which only a transaction's need beforehand."""
        for topic, row in _all_partitions(self._request.body):
            yield name_of(self._metadata, topic, by_id=self._version >= FIRST_BY_ID), row

    def long_walks(self) -> Iterator[Callable[[], None]]:
        """What is to be done beside the loop before the append: reading large payloads."""
        for topic, row in _all_partitions(self._request.body):
            records = row["records"]
            if not records or not may_be_large(records):
                continue
            name = name_of(self._metadata, topic, by_id=self._version >= FIRST_BY_ID)
            replica = self._replicas.locate(name, row["index"]).replica if name else None
            job = None if replica is None else replica.log.walk_ahead(records)
            if job is not None:
                yield job

    def append(self, refusals: Refusals, now: int) -> Struct | NoReply | Hangup | Wait:
        """Append every partition, but those that their transaction's coordinator refused."""
        responses, failed, open_rows = [], False, []
        for topic, partitions in _by_topic(self._request.body):
            name = name_of(self._metadata, topic, by_id=self._version >= FIRST_BY_ID)
            rows = []
            for given in partitions:
                index = given[-1]["index"]
                row, required = self._append_one(
                    name, given, refusals.get((name or "", index)), now
                )
                if required is not None or row["error_code"]:
                    failed = failed or bool(row["error_code"])
                    open_rows.append(_Open(row, name or "", index, required))
                rows.append(row)
            responses.append(
                {"name": topic["name"], "topic_id": topic["topic_id"], "partition_responses": rows}
            )
        if self._acks == 0:
            return Hangup("an error with acks=0") if failed else NoReply()
        if not open_rows:
            return {"responses": responses, "node_endpoints": []}
        delayed = DelayedProduce(
            self._request, self._replicas, self._metadata, responses, open_rows
        )
        answer = delayed.attempt(now)
        return delayed.wait(now) if answer is None else answer

    def _append_one(
        self, name: str | None, given: list[Struct], refusal: Refusal | None, now: int
    ) -> Appended:
        """The row of a partition. Where the request names it several times, the last entry whose
        records have the right shape is appended; if any entry has not, its error is answered all
        the same.
        """
        last = given[-1]
        judged = len(given) > 1 and self._persona.quirk("produce.judges-repeated-partitions")
        if not judged or self._version < 3 or name is None:
            return self._append(name, last, refusal, now)
        if self._metadata.partition(name, last["index"]) is None:
            return self._append(name, last, refusal, now)
        codes = [_shape_error(each["records"], self._version, self._persona) for each in given]
        fit = [each for each, code in zip(given, codes, strict=True) if not code]
        appended = self._append(name, fit[-1], refusal, now) if fit else None
        wrong = [code for code in codes if code]
        if wrong or appended is None:
            return _error(last["index"], wrong[-1]), None
        return appended

    def _append(
        self, name: str | None, partition: Struct, refusal: Refusal | None, now: int
    ) -> Appended:
        """The row of one partition, and what is to be replicated before it is answered."""
        index, records = partition["index"], partition["records"]
        if name is None:
            return _error(index, ErrorCode.UNKNOWN_TOPIC_ID), None
        if self._metadata.partition(name, index) is None and not self._by_acks(name):
            return _error(index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION), None
        if self._version >= 3:
            code = _shape_error(records, self._version, self._persona)
            if code:
                return _error(index, code), None
        if self._acks not in ACKS:
            if refusal is not None and not refusal.by_log:  # the coordinator was asked before
                return {**_error(index, refusal.code), "error_message": refusal.message}, None
            return _error(index, ErrorCode.INVALID_REQUIRED_ACKS), None
        if name in INTERNAL_TOPICS and self._request.header.client_id != ADMIN_CLIENT:
            return _error(index, ErrorCode.INVALID_TOPIC_EXCEPTION), None
        replica, error = self._replicas.locate(name, index)
        if replica is None:
            return _error(index, error), None
        if records is None:
            return _error(index, ErrorCode.UNKNOWN_SERVER_ERROR, replica), None
        if refusal is not None:
            row = _error(index, refusal.code, replica if refusal.by_log else None)
            return {**row, "error_message": refusal.message}, None
        try:
            result = self._replicas.append(replica, records, now, acks=self._acks)
        except LogError as refused:
            return _refused(self._persona, replica, refused), None
        row = {
            "index": index,
            "error_code": ErrorCode.NONE,
            "base_offset": result.base_offset,
            "log_append_time_ms": result.log_append_time,
            "log_start_offset": result.log_start_offset,
        }
        waits = self._acks == ALL and replica.log.high_watermark <= result.last_offset
        return row, result.last_offset + 1 if waits else None

    def _by_acks(self, name: str) -> bool:
        """Whether a partition that does not exist is refused by the request's acks instead."""
        if self._acks in ACKS or self._persona.quirk("produce.partitions-exist-first"):
            return False
        return self._metadata.partition(name, 0) is not None


class _Open(NamedTuple):
    """A row of the answer that failed, or whose high watermark has to reach an offset yet."""

    row: Struct
    topic: str
    partition: int
    required: int | None  # None where there is nothing to wait for


class DelayedProduce:
    """A Produce whose answer waits until all followers that count have its records (APPEND-22)."""

    __slots__ = ("_left", "_metadata", "_open", "_replicas", "_request", "_responses")

    def __init__(
        self,
        request: Request,
        replicas: Replicas,
        metadata: MetadataView,
        responses: list[Struct],
        open_rows: list[_Open],
    ) -> None:
        self._request, self._replicas, self._metadata = request, replicas, metadata
        self._responses = responses
        self._open = open_rows
        self._left = open_rows  # what is still waited for

    def wait(self, now: int) -> Wait:
        keys = [log_key(each.topic, each.partition) for each in self._left]
        return Wait(now + self._request.body["timeout_ms"], keys, self.attempt, self.expire)

    def attempt(self, now: int) -> Struct | None:
        """The answer, if nothing is left to wait for."""
        self._left = [each for each in self._left if not self._replicated(each)]
        return None if self._left else self._answer()

    def expire(self, now: int) -> Struct:
        """The answer when time is up; what was written stays written."""
        for each in self._left:
            each.row["error_code"] = ErrorCode.REQUEST_TIMED_OUT
        return self._answer()

    def _replicated(self, open_row: _Open) -> bool:
        """Whether this row is settled; it gets the error if that settles it (APPEND-23)."""
        row, topic, index, required = open_row
        if required is None:
            return True
        located = self._replicas.locate(topic, index)
        if located.replica is None:
            row["error_code"] = located.error
            return True
        if located.replica.log.high_watermark < required:
            return False
        if located.replica.too_few_now:
            row["error_code"] = ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND
        return True

    def _answer(self) -> Struct:
        """The rows, with the new leader where this broker is none any more (KIP-951)."""
        endpoints = {}
        if self._request.header.version >= 10:
            for row, topic, index, _ in self._open:
                if row["error_code"] == ErrorCode.NOT_LEADER_OR_FOLLOWER:
                    row["current_leader"], node = leader_of(
                        self._metadata, topic, index, self._request.connection.listener
                    )
                    if node:
                        endpoints[node["node_id"]] = node
        return {"responses": self._responses, "node_endpoints": list(endpoints.values())}


def _trouble_before(
    request: Request, metadata: MetadataView, persona: Persona
) -> Struct | Hangup | Wait | None:
    """The answer that ends the request before any partition is looked at, if any."""
    quirk, version = persona.quirk, request.header.version
    transactional = False
    for topic, partition in _all_partitions(request.body):
        records = partition["records"]
        if records is None:
            if quirk("produce.null-records-hang"):
                name = name_of(metadata, topic, by_id=version >= FIRST_BY_ID)
                if name is not None and metadata.partition(name, partition["index"]):
                    return Wait(NEVER, (), lambda _: None, lambda _: Hangup("null records"))
                continue  # the partition does not exist: its records are not looked at
            if quirk("produce.parses-records"):
                return Hangup("null records")
            continue
        parsed = quirk("produce.parses-records")
        if parsed and (version >= 3 or parsed == "first"):
            first_only = parsed == "first"
            if _unreadable(records) or (not first_only and _shape_error(records, version, persona)):
                return Hangup("records of the wrong shape")
        if quirk("produce.unreadable-entry-fails-all"):
            if _overflows(records):
                return _everywhere(request, ErrorCode.UNKNOWN_SERVER_ERROR)
            try:
                next(entries(records), None)
            except RecordError as fault:
                return _everywhere(request, ErrorCode.CORRUPT_MESSAGE, fault.reason)
        transactional = transactional or produced_in_transaction.transactional(records)
    nameless = transactional and request.body["transactional_id"] is None
    if nameless and quirk("produce.transactional-needs-id"):
        return _everywhere(request, ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    return None


def _by_topic(body: Struct) -> Iterator[tuple[Struct, list[list[Struct]]]]:
    """Each topic once with its partitions, and each of these with all that was sent for it."""
    topics: dict[Any, tuple[Struct, dict[int, list[Struct]]]] = {}
    for topic in body["topic_data"]:
        for partition in topic["partition_data"]:
            _, rows = topics.setdefault((topic["topic_id"], topic["name"]), (topic, {}))
            rows.setdefault(partition["index"], []).append(partition)
    for topic, rows in topics.values():
        yield topic, list(rows.values())


def fail(request: Request, code: int) -> Struct | None:
    """Every partition with this error; None closes, which is all acks=0 can hear."""
    answer = _everywhere(request, code)
    return answer if isinstance(answer, dict) else None


def _refused(persona: Persona, replica: Replica, refusal: LogError) -> Struct:
    foreseen = refusal.code in FORESEEN or (
        refusal.code == ErrorCode.INVALID_TIMESTAMP
        and persona.quirk("produce.foresees-invalid-timestamp")
    )
    row = _error(replica.index, refusal.code, None if foreseen else replica)
    if refusal.told:
        row["error_message"] = refusal.message
        row["record_errors"] = [
            {"batch_index": fault.index, "batch_index_error_message": fault.message}
            for fault in refusal.record_errors
        ]
    return row


def _error(index: int, code: int, replica: Replica | None = None) -> Struct:
    """A row that says `code`, and where the log of `replica` begins if one is given."""
    return {
        "index": index,
        "error_code": code,
        "base_offset": -1,
        "log_append_time_ms": -1,
        "log_start_offset": -1 if replica is None else replica.log.log_start_offset,
    }


def _shape_error(records: bytes | None, version: int, persona: Persona) -> int:
    """The error of the records of a v3+ request, found before any log is asked."""
    if records is None:
        return ErrorCode.NONE  # the append itself trips over it
    quirk = persona.quirk
    invalid = quirk("append.invalid-record-code")
    try:
        whole_first = quirk("produce.looks-at-magic-of-whole-entries")
        found = list(islice(entries(records, whole_first=whole_first), 2))
    except RecordError:
        return ErrorCode.CORRUPT_MESSAGE
    if not found or found[0][2] != 2:
        return invalid
    if version < 7 and quirk("append.knows-zstd") and codec_of(records, 0, 2) == ZSTD:
        return ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
    return invalid if len(found) > 1 else ErrorCode.NONE


def _overflows(records: bytes) -> bool:
    """Whether the first entry's size is no Java int: then a negative limit is set on a buffer
    (ByteBufferLogInputStream.nextBatch at 2.8.2, 3.9 and 4.3.1; observed).
    """
    return (
        len(records) >= LENGTH_END
        and int.from_bytes(records[8:LENGTH_END], "big", signed=True) > INT_MOST
    )


def _unreadable(records: bytes) -> bool:
    """Whether there is no entry, or one too short for the producer id that 2.2 looks for."""
    try:
        first = next(entries(records), None)
    except RecordError:
        return True
    return first is None or (first[2] == 2 and first[1] < PRODUCER_ID_END)


def _all_partitions(body: Struct) -> list[tuple[Struct, Struct]]:
    """(topic, partition) rows as they came."""
    return [(topic, row) for topic in body["topic_data"] for row in topic["partition_data"]]


def _everywhere(request: Request, code: int, message: str | None = None) -> Struct | Hangup:
    """The request's answer when it fails as a whole."""
    if request.body["acks"] == 0:
        return Hangup("an error with acks=0")
    return {
        "responses": [
            {
                "name": topic["name"],
                "topic_id": topic["topic_id"],
                "partition_responses": [
                    {**_error(given[-1]["index"], code), "error_message": message}
                    for given in partitions
                ],
            }
            for topic, partitions in _by_topic(request.body)
        ]
    }
