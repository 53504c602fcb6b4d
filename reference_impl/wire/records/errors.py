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


class PayloadError(RecordError):
    """A compressed payload that its codec cannot read.

    Kafka's brokers have no code for it: at all five releases it is UNKNOWN_SERVER_ERROR.
    """
