"""What a log is told about its topic and release, and how it complains.

A log knows no personas and no requests: who opens it hands it a `Rules` (which checks this release
makes) and a way to ask for the topic's config. A refusal is a `LogError` with Kafka's code; its
message and record errors are what Produce v8+ carries to the producer (KIP-467).
"""

from __future__ import annotations

from dataclasses import dataclass

from touchstone.reference_impl.wire.errors import ErrorCode

CLIENT, COORDINATOR, REPLICATION = "client", "coordinator", "replication"


@dataclass(frozen=True, slots=True)
class Rules:
    """Where releases differ in what they accept; the defaults are those of 4.3."""

    invalid_record: int = ErrorCode.INVALID_RECORD  # CORRUPT_MESSAGE before KIP-467 (2.4)
    names_records: bool = True  # record_errors and a message, not the first fault alone
    quotes_faults: bool = True  # the message repeats the first three record errors
    one_batch: bool = True  # batches may not follow one another, formats may not mix (2.4)
    counts_offsets: bool = True  # last offset delta + 1 must equal the record count (2.0)
    whole_entries_first: bool = False  # of one that is cut off the magic is not looked at (1.0)
    skims_compressed: bool = True  # of a compressed batch only its shape is read (3.0)
    renumbers_compressed: bool = False  # odd offset deltas are put right instead of failing
    append_time_needs_stamp: bool = True  # LogAppendTime is refused on records without a timestamp
    trips_over_cut_records: bool = False  # one longer than its batch is no InvalidRecord (to 2.8)
    gzip_may_end_early: bool = False  # a payload that is cut off is an InvalidRecord (to 2.8)
    knows_zstd: bool = True  # codec 4 (KIP-110, 2.1)
    one_stamp_bound: bool = False  # message.timestamp.difference.max.ms alone counts (until 3.5)
    ends_sentences: bool = False  # record errors end in a full stop (2.4 to 3.0)
    old_formats: bool = False  # message.format.version still chooses what is stored (until 3.0)
    epochs_begin_with_leaders: bool = True  # a leader notes its epoch before it appends
    older_epochs_end_with_first: bool = True  # asked for an epoch older than all it knows
    indexes_empty_aborts: bool = False  # an abort marker of nothing counts as one of itself
    trusts_coordinators: bool = False  # their data, not their markers, is of any epoch (to 2.2)
    forgets_producers_with_records: bool = False  # when retention took their last (until 2.4)
    unknown_producer: int | None = None  # code for a first sequence other than 0, or accepted
    unknown_sequence: int | None = None  # the same after a marker told only the epoch


@dataclass(frozen=True, slots=True)
class AppendContext:
    """Where and when records are appended."""

    name: str  # "topic-partition"
    next_offset: int
    leader_epoch: int
    now: int
    origin: str = CLIENT


@dataclass(frozen=True, slots=True)
class RecordFault:
    """One record that was refused: its index within the batch, and why."""

    index: int
    message: str
    code: int


class LogError(Exception):
    """An append or a read that Kafka refuses.

    `told` says whether the message goes to the client or only to the broker's log: Kafka sends the
    message of a record validation, and of nothing else.
    """

    def __init__(
        self,
        code: int,
        message: str,
        record_errors: tuple[RecordFault, ...] = (),
        *,
        told: bool = False,
    ) -> None:
        super().__init__(message)
        self.code = int(code)
        self.message = message
        self.record_errors = record_errors
        self.told = told
