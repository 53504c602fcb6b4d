"""The one exception of this package: where in the buffer a record is wrong, and why.

Reasons use the words of Kafka's own checks (DefaultRecordBatch, DefaultRecord, LegacyRecord,
ByteBufferLogInputStream), because a broker's answer carries them to the producer. Which error code
a reason becomes is a release's business (InvalidRecordException was CORRUPT_MESSAGE until 2.3 and
INVALID_RECORD after KIP-467) and is decided in the broker, not here.
"""


class RecordError(ValueError):
    """Bytes that are not what they claim to be; `corrupt` tells checksum-class faults apart."""

    def __init__(self, offset: int, reason: str, *, corrupt: bool = False):
        super().__init__(f"{reason} (at byte {offset})")
        self.offset = offset
        self.reason = reason
        self.corrupt = corrupt


class LongVarint(RecordError):
    """A varint of more bytes than its width has."""


class LongLength(RecordError):
    """The length of a record is a LongVarint. Kafka reads the fields of a record in a `try`,
    and its length before, at which a broker trips (DefaultRecord.readFrom, ByteUtils.readVarint;
    observed on all five releases).
    """


class CutRecord(RecordError):
    """A record of a v2 batch that is longer than what is `left` of its batch, in bytes.

    Of an uncompressed batch Kafka's reader returned null for it until 3.x, at which a broker trips;
    behind the last record it first misses nothing left over, and says so (DefaultRecord.readFrom,
    DefaultRecordBatch.RecordIterator.next at 1.0.2, 2.8.2; the former at 3.8.1).
    """

    def __init__(self, offset: int, reason: str, left: int) -> None:
        super().__init__(offset, reason)
        self.left = left


class LengthError(RecordError):
    """A key or value of an old message that is longer than its message.

    Kafka sets a limit beyond its buffer, and has no code for that exception: UNKNOWN_SERVER_ERROR
    (Utils.sizeDelimited at 2.8.2; observed on 2.8.2 and 3.9.2).
    """


class PayloadError(RecordError):
    """A compressed payload that its codec cannot read.

    Kafka's brokers have no code for it: at all five releases it is UNKNOWN_SERVER_ERROR.
    """
