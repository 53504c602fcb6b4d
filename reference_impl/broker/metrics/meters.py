"""What one broker did since it is observed: requests, errors, bytes, records, changes of the ISR.

A broker has meters only where somebody asked for metrics. They begin at zero with its core, as
Kafka's do with its process, and those of a topic end with its last replica here. When each counts
is Kafka's choice: bytes and records of a Produce where a leader's log takes them (so what
coordinators write counts as well), bytes of a Fetch with its answer, a partition of a Fetch when it
arrives, however often it is looked into until there is enough.

Sources: ReplicaManager.appendToLocalLog, readFromLog, KafkaApis.handleFetchRequest, UnifiedLog
.analyzeAndValidateRecords, RequestChannel.updateErrorMetrics at 4.3.1;
MISC-07.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from touchstone.reference_impl.broker.data.fetch_sessions import replica_of
from touchstone.reference_impl.broker.metrics.error_counts import counted
from touchstone.reference_impl.broker.metrics.mbeans import Metric, meter
from touchstone.reference_impl.wire.apis import API
from touchstone.reference_impl.wire.errors import ErrorCode

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.effects import Request
    from touchstone.reference_impl.cluster.view import MetadataView
    from touchstone.reference_impl.log.partition_log import AppendResult
    from touchstone.reference_impl.wire.schema import Struct

PRODUCE, FETCH = 0, 1
TOO_LARGE = ErrorCode.MESSAGE_TOO_LARGE
# Errors of a partition of a Produce that Kafka foresees: no failed request (appendToLocalLog).
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
# Refused before a log is asked, and yet counted as a request for the topic.
NOT_ASKED = frozenset(
    {
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.INVALID_TOPIC_EXCEPTION,
    }
)
# Meters of BrokerTopicMetrics that a broker has from its start, those that are never of one topic.
BYTES_IN, BYTES_OUT, MESSAGES_IN, REJECTED = "BytesIn", "BytesOut", "MessagesIn", "BytesRejected"
PRODUCES, FAILED_PRODUCES = "TotalProduceRequests", "FailedProduceRequests"
FETCHES, REPLICATED_IN, REPLICATED_OUT = (
    "TotalFetchRequests",
    "ReplicationBytesIn",
    "ReplicationBytesOut",
)
OF_TOPICS = (BYTES_IN, BYTES_OUT, MESSAGES_IN, REJECTED, PRODUCES, FAILED_PRODUCES, FETCHES)
OF_BROKER = (*OF_TOPICS, REPLICATED_IN, REPLICATED_OUT)
SHRINKS, EXPANDS = "IsrShrinks", "IsrExpands"


class Meters:
    """An `Observer` (`replication.observer`) of one broker, whose view of the cluster it is given.

    `Meters(metadata)` sees nothing until a broker is told of it.
    """

    def __init__(self, metadata: MetadataView) -> None:
        self._metadata = metadata
        self._requests: Counter[tuple[str, int]] = Counter()  # by name and version
        self._errors: Counter[tuple[int, int]] = Counter()  # by API key and error code
        self._of_broker: Counter[str] = Counter(dict.fromkeys(OF_BROKER, 0))
        self._of_topics: dict[str, Counter[str]] = {}
        self._isr: Counter[str] = Counter({SHRINKS: 0, EXPANDS: 0})

    # --- what happens ------------------------------------------------------------------------

    def answered(self, request: Request, body: Struct | None) -> None:
        key, version = request.header.key, request.header.version
        self._requests[API[key].name, version] += 1
        follows = key == FETCH and replica_of(request) >= 0
        if key == FETCH:
            self._requests["FetchFollower" if follows else "FetchConsumer", version] += 1
        if body is None:
            return
        for code in counted(key, version, body):
            self._errors[key, code] += 1
        if key == PRODUCE:
            self._refused_unasked(body)
        elif key == FETCH:
            self._sent(body, follows=follows)

    def appended(self, topic: str, size: int, result: AppendResult | None, code: int) -> None:
        self._mark(topic, PRODUCES)
        if result is not None:
            self._mark(topic, BYTES_IN, size)
            if result.base_offset >= 0:
                self._mark(topic, MESSAGES_IN, result.last_offset - result.base_offset + 1)
        elif code == TOO_LARGE:
            self._mark(topic, REJECTED, size)
        elif code not in FORESEEN:
            self._mark(topic, FAILED_PRODUCES)

    def read(self, topics: Iterable[str]) -> None:
        for topic in topics:
            self._mark(topic, FETCHES)

    def replicated(self, size: int) -> None:
        self._of_broker[REPLICATED_IN] += size

    def isr_changed(self, before: int, after: int) -> None:
        if before != after:
            self._isr[EXPANDS if after > before else SHRINKS] += 1

    def _mark(self, topic: str, name: str, many: int = 1) -> None:
        self._of_broker[name] += many
        self._of_topics.setdefault(topic, Counter())[name] += many

    def _refused_unasked(self, body: Struct) -> None:
        for topic in body.get("responses", ()):
            for row in topic["partition_responses"]:
                if row["error_code"] in NOT_ASKED:
                    self._mark(self._name(topic["name"], topic), PRODUCES)

    def _sent(self, body: Struct, *, follows: bool) -> None:
        for topic in body.get("responses", ()):
            size = sum(len(row["records"] or b"") for row in topic["partitions"])
            if size and follows:
                self._of_broker[REPLICATED_OUT] += size
            elif size:
                self._mark(self._name(topic["topic"], topic), BYTES_OUT, size)

    def _name(self, name: str | None, row: Struct) -> str:
        """A topic's name where an answer may name it by id alone; empty where nobody knows it."""
        known = None if name else self._metadata.by_id.get(row["topic_id"])
        return known.name if known else name or ""

    # --- what is read ------------------------------------------------------------------------

    def keep_topics(self, names: set[str]) -> None:
        """Forget the meters of all other topics."""
        self._of_topics = {each: found for each, found in self._of_topics.items() if each in names}

    def readings(self) -> Iterator[tuple[Metric, float]]:
        of_topics = ("kafka.server", "BrokerTopicMetrics")
        for name, count in self._of_broker.items():
            yield meter(*of_topics, name), count
        for topic, counts in self._of_topics.items():
            for name, count in counts.items():
                yield meter(*of_topics, name, topic=topic), count
        for name, count in self._isr.items():
            yield meter("kafka.server", "ReplicaManager", name), count
        of_requests = ("kafka.network", "RequestMetrics")
        for (api, version), count in self._requests.items():
            yield meter(*of_requests, "Requests", request=api, version=str(version)), count
        for (key, code), count in self._errors.items():
            tags = {"request": API[key].name, "error": ErrorCode(code).name}
            yield meter(*of_requests, "Errors", **tags), count
