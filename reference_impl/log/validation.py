"""What a leader checks and changes in the records a producer sends, before they become log.

Three steps, in Kafka's order (UnifiedLog.analyzeAndValidateRecords, LogValidator; APPEND-06 to
APPEND-13): `analyze` walks the entries as bytes (base offset, size, checksum); `assign` checks
batches and records and gives them offsets, in place where the stored bytes may stay as they are;
where format or codec must change, the batch is written anew. Nothing here knows the log beyond its
end offset, and nothing is changed in the caller's bytes, so a refusal leaves no trace.

The common case (one uncompressed batch of magic 2) costs one header, one CRC, one walk without
objects and two patched fields; the rest of this file is the uncommon cases.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from struct import Struct

from touchstone.reference_impl.log.record_faults import NO_TIMESTAMP, RecordJudge
from touchstone.reference_impl.log.rules import CLIENT, AppendContext, LogError, Rules
from touchstone.reference_impl.log.topic_config import TopicConfig
from touchstone.reference_impl.log.walked import WalkedPayloads
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.records import batch as v2
from touchstone.reference_impl.wire.records import compression as codecs
from touchstone.reference_impl.wire.records import convert, message_set, patch, walk
from touchstone.reference_impl.wire.records.check import Checked, check_records, wrapped
from touchstone.reference_impl.wire.records.crc import crc32c
from touchstone.reference_impl.wire.records.errors import (
    CutRecord,
    LengthError,
    LongLength,
    PayloadError,
    RecordError,
)

_PLACE = Struct(">qii")  # base offset, length, partition leader epoch: the bytes a leader stamps
_DECOMPRESSED_LIMIT = v2.DEFAULT_LIMIT


@dataclass(slots=True)
class Entry:
    """A batch, or a message of an old format, ready to be stored."""

    data: bytes | bytearray
    first_offset: int
    last_offset: int
    max_timestamp: int
    header: v2.BatchHeader | None = None  # of magic 2; its offsets may be those that came in


@dataclass(frozen=True, slots=True)
class Analysis:
    entries: list[tuple[int, int, int]]  # position, size, magic
    codec: int
    valid_bytes: int


def target_magic(config: TopicConfig, rules: Rules) -> int:
    """The format that is stored: 2, unless an old release was told an older one."""
    if not rules.old_formats:
        return 2
    version = config.message_format_version
    if version.startswith(("0.8", "0.9")):
        return 0
    return 1 if version.startswith("0.10") else 2


class Validator:
    """The checks of one topic partition under one release's rules."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._judge = RecordJudge(rules)
        self._walked = WalkedPayloads()

    def walk_ahead(self, records: bytes) -> Callable[[], None] | None:
        """What to do beside the loop before these are appended; None: nothing."""
        return self._walked.job(records, _DECOMPRESSED_LIMIT, self._rules.skims_compressed)

    def invalid(self, message: str) -> LogError:
        return LogError(self._rules.invalid_record, message)

    def checksum_ok(self, data: bytes, header: v2.BatchHeader) -> bool:
        return crc32c(memoryview(data)[v2.ATTRIBUTES_AT :]) == header.crc

    def plain(
        self, records: bytes, config: TopicConfig, context: AppendContext
    ) -> list[Entry] | None:
        """The entry of a plain single-batch append; None for what must be analyzed first.

        Most appends are one: `analyze` and `assign` would say the same and read the bytes twice.
        """
        size = len(records)
        if size < v2.HEADER_SIZE or records[v2.MAGIC_AT] != 2 or size > config.max_message_bytes:
            return None
        header = v2.BatchHeader._make(v2.HEADER.unpack_from(records))
        if (
            header.batch_length + v2.LOG_OVERHEAD != size
            or header.base_offset
            or header.compression
            or config.compression_type != "producer"
            or self._rules.old_formats
        ):
            return None
        if not self.checksum_ok(records, header):
            return None
        return [self.one_batch(records, header, 0, config, context)]

    # --- the bytes ---------------------------------------------------------------------------

    def analyze(self, records: bytes, config: TopicConfig, context: AppendContext) -> Analysis:
        entries, codec, valid = [], codecs.NONE, 0
        try:
            whole_first = self._rules.whole_entries_first
            for pos, size, magic in walk.entries(records, whole_first=whole_first):
                self._check_entry(records, pos, size, magic, config, context)
                entries.append((pos, size, magic))
                valid = pos + size
                codec = codec_of(records, pos, magic) or codec
        except RecordError as fault:
            raise self._refused(fault, context) from None
        return Analysis(entries, codec, valid)

    def _check_entry(
        self,
        records: bytes,
        pos: int,
        size: int,
        magic: int,
        config: TopicConfig,
        context: AppendContext,
    ) -> None:
        if magic >= 2:
            base_offset = int.from_bytes(records[pos : pos + 8], "big", signed=True)
            if context.origin == CLIENT and base_offset != 0:
                raise self.invalid(
                    f"The baseOffset of the record batch in the append to {context.name} should be"
                    f" 0, but it is {base_offset}"
                )
        if size > config.max_message_bytes:
            raise self._too_large(size, config, context)
        self._check_crc(records, pos, size, magic)

    def _check_crc(self, records: bytes, pos: int, size: int, magic: int) -> None:
        if magic < 2:
            message_set.check_crc(records, pos, size)
        else:
            v2.check_crc(records, pos, v2.read_header(records, pos))

    @staticmethod
    def _too_large(size: int, config: TopicConfig, context: AppendContext) -> LogError:
        return LogError(
            ErrorCode.MESSAGE_TOO_LARGE,
            f"The record batch size in the append to {context.name} is {size} bytes which exceeds"
            f" the maximum configured value of {config.max_message_bytes}.",
        )

    def _refused(self, fault: RecordError, context: AppendContext) -> LogError:
        code = ErrorCode.CORRUPT_MESSAGE if fault.corrupt else self._rules.invalid_record
        return LogError(code, f"{fault.reason} in topic partition {context.name}.")

    # --- offsets -----------------------------------------------------------------------------

    def assign(
        self, records: bytes, analysis: Analysis, config: TopicConfig, context: AppendContext
    ) -> list[Entry]:
        """The entries as they will be stored, offsets counted up from `context.next_offset`."""
        source = analysis.codec
        target = _target_codec(config, source)
        magic = target_magic(config, self._rules)
        magics = {entry[2] for entry in analysis.entries}
        first_magic = analysis.entries[0][2]
        alone = first_magic >= 2 or source
        if alone and len(analysis.entries) > 1 and self._rules.one_batch:
            raise self.invalid("Compressed outer record has more than one batch")
        if magics == {2} and magic == 2:
            return self._assign_batches(records, analysis, target, config, context)
        if magics == {magic} and not source and not target:
            return self._assign_messages(records, analysis, config, context)
        return self._convert(records, analysis, (magic, target), config, context)

    def _assign_batches(
        self,
        records: bytes,
        analysis: Analysis,
        target: int,
        config: TopicConfig,
        context: AppendContext,
    ) -> list[Entry]:
        stored = []
        for pos, size, _ in analysis.entries:
            header = v2.read_header(records, pos)
            try:
                entry = self.one_batch(records[pos : pos + size], header, target, config, context)
            except RecordError as fault:  # a record that had been skimmed is read after all
                raise self._unreadable(fault, context) from None
            stored.append(entry)
            context = AppendContext(
                context.name,
                entry.last_offset + 1,
                context.leader_epoch,
                context.now,
                context.origin,
            )
        return stored

    def one_batch(
        self,
        data: bytes,
        header: v2.BatchHeader,
        target: int,
        config: TopicConfig,
        context: AppendContext,
    ) -> Entry:
        """One magic 2 batch whose checksum was proved: in place if nothing forbids it."""
        self._check_batch(header, 2, context)
        codec = header.compression
        payload = raw = bytes(data[v2.HEADER_SIZE :])
        skim = False
        if codec == codecs.ZSTD and not self._rules.knows_zstd:
            raise LogError(ErrorCode.UNKNOWN_SERVER_ERROR, f"Unknown compression type id: {codec}")
        if codec:
            payload = self._walked.unpacked(raw) or self._decompressed(raw, header)
            skim = self._rules.skims_compressed and codec == target
        facts = self._records_of(payload, raw, header, context, skim)
        self._check_facts(facts, payload, header, config, context, skim)
        odd = bool(codec) and not facts.sequential
        if odd and codec == target and not self._rules.renumbers_compressed:
            raise LogError(
                ErrorCode.UNKNOWN_SERVER_ERROR, "offset deltas of a compressed batch are odd"
            )
        if codec != target or odd:
            return self._rebuilt(data, header, target, config, context)
        return self._placed(data, header, facts, config, context)

    def _decompressed(self, payload: bytes, header: v2.BatchHeader) -> bytes:
        try:
            return codecs.decompress(header.compression, payload, _DECOMPRESSED_LIMIT)
        except codecs.EndOfStream as fault:
            ends_early = isinstance(fault, codecs.EndOfMember)
            if ends_early or self._ends_within_a_record(fault.read, header):
                said = "Incorrect declared batch size, premature EOF reached"
                raise self.invalid(said) from None
            raise LogError(ErrorCode.UNKNOWN_SERVER_ERROR, str(fault)) from None
        except codecs.CompressionError as fault:
            raise LogError(ErrorCode.UNKNOWN_SERVER_ERROR, str(fault)) from None

    def _ends_within_a_record(self, read: bytes, header: v2.BatchHeader) -> bool:
        """Whether the reader misses a byte of a record, and says so; behind the last one it is no
        longer the record that it misses.
        """
        if header.compression == codecs.GZIP and not self._rules.gzip_may_end_early:
            return False
        try:
            check_records(read, header.records_count, header.base_timestamp)
        except RecordError:
            return True
        return False

    def _records_of(
        self, payload: bytes, raw: bytes, header: v2.BatchHeader, context: AppendContext, skim: bool
    ) -> Checked:
        try:
            known = self._walked.facts(raw, header, skim)
            return known or check_records(
                payload, header.records_count, header.base_timestamp, skim=skim
            )
        except CutRecord as fault:
            if self._rules.trips_over_cut_records and not header.compression:
                raise LogError(ErrorCode.UNKNOWN_SERVER_ERROR, fault.reason) from None
            raise self._unreadable(fault, context) from None
        except LongLength as fault:
            raise LogError(ErrorCode.UNKNOWN_SERVER_ERROR, fault.reason) from None
        except RecordError as fault:
            raise self._unreadable(fault, context) from None

    def _unreadable(self, fault: RecordError, context: AppendContext) -> LogError:
        said = f"{fault.reason} in topic partition {context.name}"
        return LogError(self._rules.invalid_record, said)

    def _placed(
        self,
        data: bytes,
        header: v2.BatchHeader,
        facts: Checked,
        config: TopicConfig,
        context: AppendContext,
    ) -> Entry:
        out = bytearray(data)
        first = context.next_offset
        last = first + header.records_count - 1
        # The last offset decides, so a delta that lies (1.0 takes it) moves the base.
        base = last - header.last_offset_delta
        _PLACE.pack_into(out, 0, base, header.batch_length, context.leader_epoch)
        if config.log_append_time:
            kind, newest = v2.LOG_APPEND_TIME, context.now
        else:
            kind, newest = v2.CREATE_TIME, facts.max_timestamp
            if header.timestamp_type == v2.LOG_APPEND_TIME:
                newest = header.max_timestamp
        if newest != header.max_timestamp or kind != header.timestamp_type:
            patch.set_timestamp(out, 0, len(out), kind, newest)
        return Entry(out, first, last, newest, header)

    def _rebuilt(
        self,
        data: bytes,
        header: v2.BatchHeader,
        target: int,
        config: TopicConfig,
        context: AppendContext,
    ) -> Entry:
        flat = convert.records_of(data, 0, 2, _DECOMPRESSED_LIMIT)
        return self._written(flat, (2, target), header, config, context)

    # --- conversions -------------------------------------------------------------------------

    def _convert(
        self,
        records: bytes,
        analysis: Analysis,
        target: tuple[int, int],
        config: TopicConfig,
        context: AppendContext,
    ) -> list[Entry]:
        """Everything sent, as one batch or set of another format or codec."""
        flat: list[convert.Flat] = []
        first: v2.BatchHeader | None = None
        for pos, size, magic in analysis.entries:
            if magic != analysis.entries[0][2] and self._rules.one_batch:
                raise self.invalid(
                    f"Batch magic {magic} is not the same as the first batch's magic byte"
                    f" {analysis.entries[0][2]} in topic partition {context.name}"
                )
            if magic == 2:
                header = v2.read_header(records, pos)
                self._check_batch(header, target[0], context)
                first = first or header
            flat += self._checked_flat(records, pos, size, magic, config, context)
        entry = self._written(flat, target, first, config, context)
        if target[0] == 2 or target[1]:
            return [entry]
        return _split(entry, context)

    def _checked_flat(
        self,
        records: bytes,
        pos: int,
        size: int,
        magic: int,
        config: TopicConfig,
        context: AppendContext,
    ) -> list[convert.Flat]:
        try:
            flat = convert.records_of(records[pos : pos + size], 0, magic, _DECOMPRESSED_LIMIT)
            stamped = False
            if magic < 2:
                wrapper, _ = message_set.decode_message(records, pos, strict=False)
                message_set.check_inner_crcs(wrapper, limit=_DECOMPRESSED_LIMIT)
                stamped = magic == 1 and bool(wrapper.timestamp_type)
        except (LengthError, PayloadError) as fault:
            raise LogError(ErrorCode.UNKNOWN_SERVER_ERROR, str(fault)) from None
        except RecordError as fault:
            raise self._refused(fault, context) from None
        self._judge.check(flat, stamped, config, context)
        return flat

    def _assign_messages(
        self, records: bytes, analysis: Analysis, config: TopicConfig, context: AppendContext
    ) -> list[Entry]:
        """Uncompressed messages of the format that is stored: each keeps its bytes."""
        stored, offset = [], context.next_offset
        for pos, size, magic in analysis.entries:
            flat = self._checked_flat(records, pos, size, magic, config, context)
            out = bytearray(records[pos : pos + size])
            patch.set_base_offset(out, 0, offset)
            newest = flat[0].timestamp if magic else NO_TIMESTAMP
            if magic and config.log_append_time:
                newest = context.now
                patch.set_timestamp(out, 0, size, v2.LOG_APPEND_TIME, newest)
            stored.append(Entry(out, offset, offset, newest))
            offset += 1
        return stored

    def _written(
        self,
        flat: list[convert.Flat],
        target: tuple[int, int],
        like: v2.BatchHeader | None,
        config: TopicConfig,
        context: AppendContext,
    ) -> Entry:
        magic, codec = target
        data = convert.rebuild(
            flat,
            magic=magic,
            base_offset=context.next_offset,
            compression=codec,
            log_append_time=context.now if config.log_append_time else None,
            like=like,
            partition_leader_epoch=context.leader_epoch,
        )
        size = len(data)
        if size > config.max_message_bytes and (magic == 2 or codec):
            raise self._too_large(size, config, context)
        last = context.next_offset + len(flat) - 1
        newest = max((record.timestamp for record in flat), default=NO_TIMESTAMP)
        newest = context.now if config.log_append_time else newest if magic else NO_TIMESTAMP
        header = v2.read_header(data) if magic == 2 else None
        return Entry(data, context.next_offset, last, newest, header)

    # --- batches and records -----------------------------------------------------------------

    def _check_batch(self, header: v2.BatchHeader, to_magic: int, context: AppendContext) -> None:
        where = f"in topic partition {context.name}"
        if context.origin == CLIENT:
            self._check_counts(header, where)
            if header.control:
                raise self.invalid(f"Clients are not allowed to write control records {where}")
            if header.producer_id >= 0 and header.base_sequence < 0:
                raise self.invalid(
                    f"Invalid sequence number {header.base_sequence} in record batch with"
                    f" producerId {header.producer_id} {where}"
                )
        if to_magic < 2 and (header.transactional or header.producer_id >= 0):
            kind = "Transactional" if header.transactional else "Idempotent"
            raise LogError(
                ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT,
                f"{kind} records cannot be used with magic version {to_magic}",
            )

    def _check_counts(self, header: v2.BatchHeader, where: str) -> None:
        count, by_offsets = header.records_count, header.last_offset_delta + 1
        if not self._rules.counts_offsets:
            if count == 0:
                raise self.invalid("Record batches must contain at least one record")
            return
        if by_offsets <= 0:
            raise self.invalid(
                f"Batch has an invalid offset range: [{header.base_offset},"
                f" {header.last_offset}] {where}"
            )
        if count <= 0:
            raise self.invalid(f"Invalid reported count for record batch: {count} {where}")
        if by_offsets != count:
            raise self.invalid(
                f"Inconsistent batch offset range [{header.base_offset}, {header.last_offset}]"
                f" and count of records {count} {where}"
            )

    def _check_facts(
        self,
        facts: Checked,
        payload: bytes,
        header: v2.BatchHeader,
        config: TopicConfig,
        context: AppendContext,
        skim: bool,
    ) -> None:
        """Key and timestamp rules from the summary; record by record only if it says so."""
        stamped = header.timestamp_type == v2.LOG_APPEND_TIME
        if not self._judge.suspects(facts, stamped, config, context.now):
            return
        fixed = header.max_timestamp if stamped else None
        flat = [
            convert.Flat(
                record.offset_delta,
                wrapped(header.base_timestamp + record.timestamp_delta) if fixed is None else fixed,
                record.key,
                record.value,
            )
            for record in v2.decode_records(payload, header.records_count, strict=False, skim=skim)
        ]
        self._judge.check(flat, stamped, config, context)


def codec_of(records: bytes, pos: int, magic: int) -> int:
    at = pos + (v2.ATTRIBUTES_AT + 1 if magic == 2 else message_set.ATTRIBUTES_AT)
    return records[at] & v2.CODEC_MASK


def _target_codec(config: TopicConfig, source: int) -> int:
    name = config.compression_type
    if name == "producer":
        return source
    return 0 if name == "uncompressed" else codecs.NAMES.index(name)


def _split(entry: Entry, context: AppendContext) -> list[Entry]:
    """An uncompressed message set as the single messages it is stored as."""
    return [
        Entry(
            entry.data[pos : pos + size],
            context.next_offset + i,
            context.next_offset + i,
            message_set.decode_message(entry.data, pos)[0].timestamp,
        )
        for i, (pos, size, _) in enumerate(walk.entries(entry.data))
    ]
