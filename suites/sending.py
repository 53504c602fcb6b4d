"""What the suites of writing share: batches to send, requests of several partitions, expectations.

Batches hang on the run's clock where they are read back, so that no retention takes them away while
a case looks. A damaged batch is made here by hand, with its checksum right, so that the damage
alone is what a broker refuses. Nothing here judges.

Sources: DefaultRecordBatch and DefaultRecord at 2.8.2; schema Produce.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from touchstone.harness.model.expect import Expectation, all_of, answer
from touchstone.harness.model.placeholders import Now, Records, TopicId
from touchstone.harness.model.scenario import Ask
from touchstone.harness.model.steps import PRODUCE_BY_ID, TIMEOUT_MS, ask, list_offsets
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.records import compression
from touchstone.reference_impl.wire.records.batch import BatchHeader, Record, encode_record

OFFSET = "responses[0].partition_responses[0].base_offset"
CODE = "responses[0].partition_responses[0].error_code"
END = "topics[0].partitions[0].offset"
WITH_BATCHES = 3  # the first version of Produce that carries record batches
LONG_AGO = 1_600_000_000_000
CODECS = {"none": 0, "gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}
RECORD = encode_record(Record(0, 0, b"key", b"value"))


def batch(*values: Any, codec: str = "none", **fields: Any) -> Records:
    """One batch of these records (values, pairs or mappings), stamped with the run's clock."""
    build = {"magic": 2, "records": list(values), "compression": CODECS[codec], "timestamp": Now()}
    return Records(build | fields)


def messages(*values: Any, magic: int = 1, codec: str = "none") -> Records:
    """The same as a message set, for versions before 3."""
    return batch(*values, codec=codec, magic=magic)


def sent(version: int, *values: Any) -> Records:
    """These records in the format that a producer of this version sends."""
    return batch(*values) if version >= WITH_BATCHES else messages(*values)


def damaged(payload: bytes = RECORD, count: int = 1, codec: str = "none", **fields: int) -> bytes:
    """A batch of these record bytes that says what it is told to say, under a right checksum."""
    number = CODECS[codec]
    head = BatchHeader(0, 0, -1, 2, 0, number, count - 1, LONG_AGO, LONG_AGO, -1, -1, -1, count)
    packed = compression.compress(number, payload) if number else payload
    return head._replace(**fields).encode(packed)


def from_producer(
    producer: Any, epoch: int, sequence: int, *values: bytes, **fields: Any
) -> Records:
    """A batch of an idempotent producer."""
    own = {"producer_id": producer, "producer_epoch": epoch, "base_sequence": sequence}
    return batch(*values, **own, **fields)


def produce_many(
    topics: Sequence[tuple[Any, Sequence[tuple[int, Any]]]],
    *,
    version: int,
    acks: int = -1,
    timeout_ms: int = TIMEOUT_MS,
    transactional_id: Any = None,
    **how: Any,
) -> Ask:
    """One Produce of several topics and partitions: ((topic, ((partition, records), ...)), ...)."""
    body = {
        "transactional_id": transactional_id,
        "acks": acks,
        "timeout_ms": timeout_ms,
        "topic_data": [_topic(topic, parts, version) for topic, parts in topics],
    }
    return ask("Produce", version, body, **{"answer": acks != 0} | how)


def _topic(topic: Any, parts: Sequence[tuple[int, Any]], version: int) -> Mapping[str, Any]:
    rows = [{"index": index, "records": records} for index, records in parts]
    if version < PRODUCE_BY_ID:
        return {"name": topic, "partition_data": rows}
    by_id = topic if isinstance(topic, bytes) else TopicId(topic)
    return {"topic_id": by_id, "partition_data": rows}


def log_end(topic: Any, partition: int = 0, *, name: str = "end") -> Ask:
    return list_offsets(topic, partition, name=name)


def stored_at(step: str, offset: int) -> Expectation:
    """The step's one partition was written, from this offset on."""
    return all_of(answer(step, CODE).is_(ErrorCode.NONE), answer(step, OFFSET).is_(offset))


def refused_with(step: str, *codes: int) -> Expectation:
    """The step's one partition answers one of these errors and no offset."""
    return all_of(answer(step, CODE).is_one_of(*codes), answer(step, OFFSET).is_(-1))


def ends_at(offset: int, *, step: str = "end") -> Expectation:
    return answer(step, END).is_(offset)
