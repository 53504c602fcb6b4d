"""Where releases differ in what Produce, Fetch, ListOffsets and their kin do: one row a behaviour.

A row is the sentence, the value from each release on that changed it, and where it was seen; how it
is read stands in `releases.py`.
"""

from __future__ import annotations

from touchstone.reference_impl.broker.personas.releases import Rows
from touchstone.reference_impl.wire.errors import ErrorCode as E

INT_MAX = 2**31 - 1
_LOG_VALIDATOR = "LogValidator at 1.0.2, 2.2.1, 2.8.2, 3.9; observed"
_PRODUCER_STATE = "ProducerAppendInfo at 1.0.2, 2.2.1, 2.8.2, 3.9; observed"

ROWS: Rows = {
    "delete-records.no-policy-will-do": (
        "Records of a topic whose cleanup.policy is empty may be deleted.",
        {"1.0": False, "4.3": True},
        "observed on 3.9.2 and 4.3.1",
    ),
    "append.invalid-record-code": (
        "The code of an InvalidRecordException: CORRUPT_MESSAGE before KIP-467.",
        {"1.0": E.CORRUPT_MESSAGE, "2.8": E.INVALID_RECORD},
        _LOG_VALIDATOR,
    ),
    "append.names-records": (
        "A refusal lists every refused record with its reason (KIP-467).",
        {"1.0": False, "2.8": True},
        _LOG_VALIDATOR,
    ),
    "append.quotes-faults": (
        "The message of a refusal without timestamp faults repeats the first three faults.",
        {"1.0": False, "3.9": True},
        "observed",
    ),
    "append.trips-over-cut-records": (
        "A record that is longer than what is left of its uncompressed batch is answered with "
        "UNKNOWN_SERVER_ERROR: the reader has null for it.",
        {"1.0": True, "3.9": False},
        "DefaultRecord.readFrom at 1.0.2, 2.8.2 and 3.8.1; observed on 1.0.2 and 2.8.2",
    ),
    "append.gzip-may-end-early": (
        "A gzip payload that ends before its last record does is an InvalidRecordException (one "
        "that ends within its header is none); later releases answer UNKNOWN_SERVER_ERROR.",
        {"1.0": True, "3.9": False},
        "observed on all five releases, cut at every byte",
    ),
    "append.one-batch": (
        "More than one batch, or a mix of formats, is refused in an append.",
        {"1.0": False, "2.8": True},
        _LOG_VALIDATOR,
    ),
    "append.counts-offsets": (
        "The offset range of a batch must equal its record count.",
        {"1.0": False, "2.2": True},
        _LOG_VALIDATOR,
    ),
    "append.skims-compressed": (
        "Of a compressed batch that stays as it is, records are walked but not proved.",
        {"1.0": False, "3.9": True},
        "observed",
    ),
    "append.renumbers-compressed": (
        "A compressed batch with odd offset deltas is written anew; later releases have not read "
        "its records by then and trip (UNKNOWN_SERVER_ERROR).",
        {"1.0": True, "2.8": False},
        "observed",
    ),
    "append.append-time-needs-stamp": (
        "A batch that claims LogAppendTime is refused only where timestamps are not checked.",
        {"1.0": False, "3.9": True},
        _LOG_VALIDATOR,
    ),
    "append.one-stamp-bound": (
        "message.timestamp.difference.max.ms bounds both sides (before KIP-937).",
        {"1.0": True, "3.9": False},
        _LOG_VALIDATOR,
    ),
    "append.ends-sentences": (
        "The message of a record without key on a compacted topic ends in a full stop.",
        {"1.0": True, "3.9": False},
        _LOG_VALIDATOR,
    ),
    "append.old-formats": (
        "message.format.version chooses the stored format.",
        {"1.0": True, "3.9": False},
        "KIP-724; LogConfig at 2.8.2, 3.9",
    ),
    "append.unknown-producer": (
        "The code for an unknown producer id whose first sequence is not 0, or None: accepted.",
        {"1.0": E.UNKNOWN_PRODUCER_ID, "2.8": None},
        _PRODUCER_STATE,
    ),
    "append.unknown-sequence": (
        "The same where only the epoch of the producer is known.",
        {"1.0": E.OUT_OF_ORDER_SEQUENCE_NUMBER, "2.2": E.UNKNOWN_PRODUCER_ID, "2.8": None},
        _PRODUCER_STATE,
    ),
    "produce.parses-records": (
        "What of the records is looked at while the request is parsed, where a fault closes the "
        "connection: all rules of the version, the first entry, or nothing.",
        {"1.0": "all", "2.2": "first", "2.8": ""},
        "ProduceRequest at 1.0.2, 2.2.1; observed",
    ),
    "produce.partitions-exist-first": (
        "A partition that its topic has not is refused before the request's acks are looked at.",
        {"1.0": False, "2.2": True},
        "observed on 1.0.2, 2.2.1, 2.8.2",
    ),
    "produce.looks-at-magic-of-whole-entries": (
        "The magic of an entry is looked at once all its bytes are there; later releases refuse a "
        "wrong one also of an entry that is cut off.",
        {"1.0": True, "2.2": False},
        "ByteBufferLogInputStream.nextBatch at 1.0.2 and 2.2.1; observed on 1.0.2",
    ),
    "produce.judges-repeated-partitions": (
        "Of a partition that a request names twice every entry's shape is judged, and an error of "
        "one is answered; before, only the last entry was looked at.",
        {"1.0": False, "2.8": True},
        "KafkaApis.handleProduceRequest at 2.8.2, 3.9, 4.3.1; observed on all five releases",
    ),
    "produce.unreadable-entry-fails-all": (
        "A first entry that cannot be read fails every partition with its message, because it is "
        "met while looking for transactional batches.",
        {"1.0": False, "2.8": True},
        "RequestUtils.hasTransactionalRecords at 2.8.2, 3.9; observed",
    ),
    "produce.transactional-needs-id": (
        "Transactional batches without a transactional id are not authorized.",
        {"1.0": False, "2.2": True},
        "KafkaApis.handleProduceRequest at 1.0.2, 2.2.1; observed",
    ),
    "produce.verifies-transactions": (
        "A transactional batch is refused unless the coordinator knows the partition (KIP-890).",
        {"1.0": False, "3.9": True},
        "ReplicaManager.handleProduceAppend at 3.9; observed on 3.9.2 and 4.3.1",
    ),
    "produce.old-epochs-are-not-verified": (
        "A batch of an older epoch than its log knows is refused before the coordinator is asked.",
        {"1.0": False, "4.3": True},
        "UnifiedLog.maybeStartTransactionVerification at 4.3.1; observed on 3.9.2 and 4.3.1",
    ),
    "produce.null-records-hang": (
        "Null records are never answered: the error path trips over them as well.",
        {"1.0": False, "3.9": True},
        "ProduceRequest.partitionSizes at 3.9; observed on 3.9.2 and 4.3.1",
    ),
    "produce.foresees-invalid-timestamp": (
        "INVALID_TIMESTAMP is answered without a log start offset.",
        {"1.0": True, "2.8": False},
        "ReplicaManager.appendToLocalLog at 1.0.2, 2.2.1, 2.8.2; observed",
    ),
    "produce.caps-min-isr": (
        "min.insync.replicas asks for no more replicas than the partition has (KIP-966).",
        {"1.0": False, "3.9": True},
        "Partition.effectiveMinIsr at 3.9; observed on 3.9.2 and 4.3.1",
    ),
    "append.knows-zstd": (
        "zstd is a codec (KIP-110), so that older versions can refuse it.",
        {"1.0": False, "2.2": True},
        "observed",
    ),
    "api-versions.fallback-reads-tags": (
        "The header of an ApiVersions request of an unknown version is read as a flexible one.",
        {"1.0": False, "2.8": True},
        "observed",
    ),
    "partition.elsewhere": (
        "The code for a partition that exists but has no replica on the broker asked.",
        {"1.0": E.UNKNOWN_TOPIC_OR_PARTITION, "2.2": E.NOT_LEADER_OR_FOLLOWER},
        "ReplicaManager.getPartitionOrException at 1.0.2, 2.2.1, 2.8.2, 3.9",
    ),
    "partition.elsewhere-for-debuggers": (
        "The same code for a debugging consumer (replica id -2).",
        {"1.0": E.REPLICA_NOT_AVAILABLE, "2.8": E.NOT_LEADER_OR_FOLLOWER},
        "observed",
    ),
    "fetch.fences-negative-epochs": (
        "To Fetch a current leader epoch below -1 is an older epoch instead of none.",
        {"1.0": True, "2.8": False},
        "FetchRequest.optionalEpoch at 2.8.2; observed on 2.2.1, 2.8.2, 3.9.2, 4.3.1",
    ),
    "fetch.debuggers-read-any-replica": (
        "A debugging consumer may read from followers in any version.",
        {"1.0": True, "2.8": False},
        "observed",
    ),
    "fetch.max-bytes": (
        "The default of fetch.max.bytes, the broker's own limit of an answer (KIP-541, 2.4).",
        {"1.0": INT_MAX, "2.8": 57_671_680},
        "KafkaConfig at 2.8.2, 3.9",
    ),
    "fetch.uncommitted-sees-last-stable": (
        "read_uncommitted is told the last stable offset too.",
        {"1.0": False, "2.2": True},
        "observed",
    ),
    "fetch.pads-converted": (
        "Down-converted records keep the size of the stored ones: what is missing is filled with "
        "the head of a batch that never ends (KIP-283).",
        {"1.0": False, "2.2": True},
        "LazyDownConversionRecords at 2.2.1, 2.8.2, 3.9; observed",
    ),
    "fetch.cut-entry-goes-out-raw": (
        "A first entry cut by the limit of v0 to v2 is answered as it is stored, not converted.",
        {"1.0": True, "3.9": False},
        "FileRecords.downConvert at 2.2.1, 2.8.2; observed",
    ),
    "fetch.unknown-lists-aborted": (
        "An unknown partition has an empty list of aborted transactions instead of null.",
        {"1.0": False, "3.9": True},
        "FetchResponse.partitionResponse at 3.9; observed",
    ),
    "fetch.knows-topics-only": (
        "Unknown partitions of a known topic fail as a read does, in their place, instead of "
        "being set aside with unknown topics.",
        {"1.0": True, "2.2": False},
        "KafkaApis.handleFetchRequest at 1.0.2; observed",
    ),
    "fetch.unconverted-is-null": (
        "Records that cannot be converted are null, not empty; nothing is aborted, not null.",
        {"1.0": False, "3.9": True},
        "KafkaApis.convertRecords at 3.9; observed",
    ),
    "fetch.zstd-needs-version-10": (
        "A topic whose codec is zstd refuses versions before 10 (KIP-110).",
        {"1.0": True, "4.3": False},
        "KafkaApis.convertRecords at 2.2.1, 3.9; observed",
    ),
    "fetch.parses-isolation": (
        "An isolation level that does not exist closes the connection instead of failing the "
        "request.",
        {"1.0": True, "2.8": False},
        "observed",
    ),
    "fetch.refuses-strangers": (
        "A fetch in the name of a replica that follows nothing here is NOT_LEADER_OR_FOLLOWER, "
        "or UNKNOWN_LEADER_EPOCH where it names the epoch, instead of empty.",
        {"1.0": False, "3.9": True},
        "Partition.followerReplicaOrThrow at 3.9; observed",
    ),
    "fetch.tells-own-node": (
        "Beside the leader of a partition its address is told (v16, KIP-951) even when that is "
        "the broker itself.",
        {"1.0": True, "4.3": False},
        "observed on 3.9.2 and 4.3.1",
    ),
    "list-offsets.lowest-named": (
        "The lowest timestamp that names an offset; below it is a time before 3.0 and "
        "UNSUPPORTED_VERSION since, as are names that the request's version does not know.",
        {"1.0": -2, "3.9": -5, "4.3": -6},
        "KIP-734, KIP-405, KIP-1005, KIP-1023; observed",
    ),
    "list-offsets.unknown-isolation": (
        "What an isolation level that does not exist does: close the connection, or fail "
        "every partition.",
        {"1.0": "close", "2.8": "fail"},
        "observed",
    ),
    "list-offsets.names-twice-answers-once": (
        "A partition that is asked for twice has one row in the answer, a topic without "
        "partitions none.",
        {"1.0": True, "2.8": False, "4.3": True},
        "observed",
    ),
    "append.epochs-begin-with-leaders": (
        "A leader notes its epoch when it begins to lead, not with its first append.",
        {"1.0": False, "2.2": True},
        "Partition.makeLeader at 1.0.2, 2.2.1; observed",
    ),
    "append.older-epochs-end-with-first": (
        "An epoch older than all that are known ends where the first known one begins.",
        {"1.0": False, "2.2": True},
        "LeaderEpochFileCache.endOffsetFor at 1.0.2, 2.2.1; observed",
    ),
    "fetch.session-shards": (
        "In how many parts of equal size the cache of fetch sessions is kept; a new session falls "
        "to one of them by chance (KAFKA-9401, 3.7).",
        {"1.0": 1, "3.9": 8},
        "FetchSessionCache at 3.9; observed with fewer slots than parts",
    ),
    "connections.unused-ones-are-idle": (
        "A connection on which nothing was ever said is idle like any other.",
        {"1.0": False, "2.2": True},
        "Selector.register at 1.0.2, 2.2.1; observed",
    ),
    "connections.rates-are-bounded": (
        "So many new connections are accepted in a second as settings and quotas say.",
        {"1.0": False, "2.8": True},
        "KIP-612",
    ),
    "connections.limit-waits": (
        "max.connections, a broker's or a listener's, keeps later connections waiting (KIP-402, "
        "2.3); before there is no such limit.",
        {"1.0": False, "2.8": True},
        "SocketServer.Acceptor at 2.2.1, 2.8.2, 3.9; observed",
    ),
    "telemetry.told-of-errors-ask-again": (
        "A client that was told of an unknown subscription or compression may ask before its time.",
        {"1.0": False, "4.3": True},
        "ClientMetricsManager.validateGetRequest at 3.9.2, 4.3.1; observed",
    ),
    "telemetry.clients-go-with-their-connection": (
        "A client's instance is forgotten when the connection that it was made on ends.",
        {"1.0": False, "4.3": True},
        "ClientMetricsManager.ClientConnectionDisconnectListener at 4.3.1; observed",
    ),
    "topics.have-ids": (
        "Topics have ids (KIP-516).",
        {"1.0": False, "2.8": True},
        "observed",
    ),
}
