"""Large payloads are walked before their append, beside the loop; what was found is known then.

A payload of records is as large as its producer makes it: 767 bytes of a compressed batch may hold
a million records, and one Python loop over them takes seconds of the only thread. So whoever takes
a Produce asks first whether there is such a payload (`job`), has the job done where it holds up
nobody, and appends afterwards: the append finds the facts here. What is found for time lookups is
kept for them as well (`by_time`). Facts are known by the very bytes that they are about.

What is not large is unpacked here to see that, and handed on, so that it is unpacked once.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from touchstone.reference_impl.log import by_time
from touchstone.reference_impl.wire.records import batch as v2
from touchstone.reference_impl.wire.records import compression as codecs
from touchstone.reference_impl.wire.records import walk
from touchstone.reference_impl.wire.records.check import Checked, check_records
from touchstone.reference_impl.wire.records.errors import RecordError

LARGE = 1 << 18  # bytes of a payload, unpacked
_MOST = 16  # payloads of which something is known and not asked for yet
_Key = tuple[bytes, int, int, bool]  # stored payload, records, base timestamp, whether skimmed


def may_be_large(records: bytes) -> bool:
    """Whether `job` has to look: most appends are one small batch that is not compressed."""
    if not v2.HEADER_SIZE <= len(records) <= LARGE:
        return len(records) > LARGE
    alone = int.from_bytes(records[8:12], "big") + v2.LOG_OVERHEAD == len(records)
    return not alone or bool(records[v2.ATTRIBUTES_AT + 1] & v2.CODEC_MASK)


class WalkedPayloads:
    """Of one partition. A job may run in another thread than everything else."""

    def __init__(self) -> None:
        self._unpacked: dict[bytes, bytes] = {}
        self._facts: dict[_Key, Checked | RecordError] = {}

    def job(self, records: bytes, limit: int, skims: bool) -> Callable[[], None] | None:
        """Return what to do beside the loop before these are appended; None: there is nothing.

        `limit` is the most bytes that a payload may have; `skims`: of compressed ones only their
        shape is read.
        """
        large = []
        try:
            for pos, size, magic in walk.entries(records):
                whole = magic == 2 and size >= v2.HEADER_SIZE  # else the append refuses it
                if whole and self._is_large(records, pos, size):
                    large.append(records[pos : pos + size])
        except RecordError:  # the append says what is wrong
            pass
        if not large:
            return None

        def walk_all() -> None:
            for each in large:
                self._walk(each, limit, skims)

        return walk_all

    def unpacked(self, raw: bytes) -> bytes | None:
        """What `job` unpacked already; once."""
        return self._unpacked.pop(raw, None) if self._unpacked else None

    def facts(self, raw: bytes, header: v2.BatchHeader, skim: bool) -> Checked | None:
        """What is known of a payload, once. Raise the RecordError that was found there."""
        if not self._facts:
            return None
        key = raw, header.records_count, header.base_timestamp, skim
        found = self._facts.pop(key, None)
        if isinstance(found, RecordError):
            raise found
        return found

    def _is_large(self, records: bytes, pos: int, size: int) -> bool:
        codec = records[pos + v2.ATTRIBUTES_AT + 1] & v2.CODEC_MASK
        if not codec:
            return size > LARGE
        raw = records[pos + v2.HEADER_SIZE : pos + size]
        try:
            payload = codecs.decompress(codec, raw, LARGE)
        except codecs.CompressionError:  # too much, or nothing that can be read at all
            return True
        if len(self._unpacked) >= _MOST:
            self._unpacked.clear()
        self._unpacked[raw] = payload
        return False

    def _walk(self, entry: bytes, limit: int, skims: bool) -> None:
        header = v2.BatchHeader._make(v2.HEADER.unpack_from(entry))
        raw = entry[v2.HEADER_SIZE :]
        try:
            payload = v2.payload_of(entry, 0, header, limit)
        except RecordError:  # the append finds as soon that it cannot be read
            return
        skim = skims and bool(header.compression)
        count, base = header.records_count, header.base_timestamp
        found: Checked | RecordError
        try:
            found = check_records(payload, count, base, skim=skim)
        except RecordError as fault:
            found = fault
        with suppress(RecordError):  # skimming takes what a lookup cannot read
            by_time.walk(entry)
        if len(self._facts) >= _MOST:
            self._facts.clear()
        self._facts[raw, count, base, skim] = found
