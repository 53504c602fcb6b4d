"""A segment in Kafka's files: `.log`, `.index`, `.timeindex` and, where needed, `.txnindex`.

An append is one write to the log; the indexes follow in lumps (`index_file`). A read finds the
place by the offset index, walks at most an interval of headers from there, and takes one slice.
What is held in memory is the tail since the last index entry, so memory grows neither with a
segment nor with their number. The log is written before its indexes: those can be rebuilt from it,
never the other way round (LOG-09).

Sources: LogSegment, FileRecords at 2.8.2 and 4.3.1; LOG-10 to LOG-13, LOG-21.
"""

from __future__ import annotations

import os
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from struct import Struct
from typing import NamedTuple

from touchstone.reference_impl.io.disk import Disk, File
from touchstone.reference_impl.io.index_file import IndexFile
from touchstone.reference_impl.log.files import FileFormatError, names, offset_index, time_index
from touchstone.reference_impl.log.files import transaction_index as txn_index
from touchstone.reference_impl.log.files.transaction_index import Aborted
from touchstone.reference_impl.log.rules import LogError
from touchstone.reference_impl.log.segment import Stored
from touchstone.reference_impl.wire.errors import ErrorCode

NO_TIMESTAMP = -1
_WINDOW = 1 << 13
_CHUNK = 1 << 20
_FRONT = Struct(">qi")
_MAGIC_AT, _DELTA_AT, _MAX_STAMP_AT, _OLD_STAMP_AT = 16, 23, 35, 18
_NEEDED = 43  # bytes of an entry that tell its offsets and timestamp
_LONG, _INT = Struct(">q"), Struct(">i")
KINDS = (names.LOG, names.INDEX, names.TIME_INDEX, names.TXN_INDEX)


class Extent(NamedTuple):
    """The place of an entry, and what its first bytes say."""

    position: int
    size: int
    last_offset: int
    timestamp: int


class DamagedEntry(FileFormatError, LogError):
    """Bytes in a log that are no entry: whoever wants to read them is told CORRUPT_MESSAGE."""

    def __init__(self, where: int, reason: str) -> None:
        LogError.__init__(self, ErrorCode.CORRUPT_MESSAGE, f"{reason} (at {where})")
        self.where, self.reason = where, reason


class DiskSegment:
    __slots__ = (
        "_aborted",
        "_damaged_from",
        "_disk",
        "_files",
        "_first_offsets",
        "_first_timestamp",
        "_interval",
        "_log",
        "_newest_offset",
        "_offsets",
        "_preallocated",
        "_since_index",
        "_tail_from",
        "_tail_offsets",
        "_tail_positions",
        "_times",
        "base_offset",
        "largest_timestamp",
        "modified",
        "next_offset",
        "size",
    )

    def __init__(
        self,
        disk: Disk,
        folder: Path,
        base_offset: int,
        *,
        interval: int,
        modified: int,
        size: int = 0,
        entries: tuple[int, int] = (0, 0),
        mark: str = "",
        preallocate: int = 0,
        first_offsets: bool = False,
        end: int | None = None,
    ) -> None:
        """Over files as they are: `size` good bytes of log, so many good entries of each index.

        The offset index names the last offset of a batch, or with `first_offsets` its first. Behind
        a durable segment the log goes on at `end`: bytes of it that are no entries stay, and
        reading them raises `DamagedEntry`.
        """
        paths = {kind: folder / (names.name_of(base_offset, kind) + mark) for kind in KINDS}
        self._disk = disk
        self._files: dict[str, File] = {kind: disk.file(path) for kind, path in paths.items()}
        self._log = self._files[names.LOG]
        self._offsets = IndexFile(self._files[names.INDEX], offset_index.ENTRY, entries[0])
        self._times = IndexFile(self._files[names.TIME_INDEX], time_index.ENTRY, entries[1])
        self._interval = interval
        self._first_offsets = first_offsets
        self.base_offset = base_offset
        self.modified = modified
        self.size = size
        self._preallocated = preallocate
        self._first_timestamp: int | None = None
        self._aborted = self._read_aborted(paths[names.TXN_INDEX])
        if size:
            self._resume(sealed=True, end=end)
        else:
            self._begin()

    def _begin(self) -> None:
        """Set the state of an empty segment."""
        self.next_offset = self.base_offset
        self.largest_timestamp = NO_TIMESTAMP
        self._newest_offset = self.base_offset
        self._since_index = 0
        self._tail_from = self.base_offset - 1  # the tail holds what lies behind this offset
        self._damaged_from: int | None = None  # the tail ends there, and the file does not
        self._tail_offsets = array("q")
        self._tail_positions = array("q")

    def create(self) -> None:
        """Make its files, empty, over whatever bears their names."""
        for kind in (names.LOG, names.INDEX, names.TIME_INDEX):
            self._files[kind].truncate(0)
        if self._preallocated:
            self._log.truncate(self._preallocated)

    # --- writing -----------------------------------------------------------------------------

    def append(self, entry: Stored, last_offset: int, timestamp: int, now: int) -> None:
        position = self.size
        self._log.write(entry, position)
        if timestamp > self.largest_timestamp:
            self.largest_timestamp = timestamp
            self._newest_offset = last_offset
        if self._since_index > self._interval:
            named = int.from_bytes(entry[:8], "big") if self._first_offsets else last_offset
            self._offsets.append(named - self.base_offset, position)
            self._stamp()
            self._tail_from = self.next_offset - 1
            del self._tail_offsets[:], self._tail_positions[:]
            self._since_index = 0
        if not position:
            self._first_timestamp = timestamp
        self._tail_offsets.append(last_offset)
        self._tail_positions.append(position)
        self._since_index += len(entry)
        self.size = position + len(entry)
        self.next_offset = last_offset + 1
        self.modified = now

    def _stamp(self) -> None:
        """Note the largest timestamp so far, if the time index does not have it."""
        times = self._times
        if self.largest_timestamp > (times[times.count - 1][0] if times.count else NO_TIMESTAMP):
            times.append(self.largest_timestamp, self._newest_offset - self.base_offset)

    @property
    def first_timestamp(self) -> int:
        if self._first_timestamp is None:
            first = next(self._extents(0, 0), None)
            self._first_timestamp = first.timestamp if first else NO_TIMESTAMP
        return self._first_timestamp

    @property
    def index_entries(self) -> int:
        return self._offsets.count

    @property
    def time_entries(self) -> int:
        return self._times.count

    def add_aborted(self, aborted: Aborted) -> None:
        if self._aborted and self._aborted[-1].last_offset >= aborted.last_offset:
            return
        at = len(self._aborted) * txn_index.ENTRY.size
        self._files[names.TXN_INDEX].write(txn_index.encode([aborted]), at)
        self._aborted.append(aborted)

    def aborted(self) -> Sequence[Aborted]:
        return self._aborted

    def truncate_to(self, offset: int, now: int) -> int:
        found = self._find(offset)
        if found is None:
            return 0
        dropped, self.size = self.size - found.position, found.position
        self._log.truncate(self.size)
        relative = offset - self.base_offset
        kept_entries = self._offsets.floor(relative - 1) + 1
        while kept_entries and self._offsets[kept_entries - 1][1] >= self.size:
            kept_entries -= 1
        self._offsets.truncate(kept_entries)
        self._times.truncate(self._first_time(lambda _, at: at >= relative))
        kept = [each for each in self._aborted if each.last_offset < offset]
        if len(kept) < len(self._aborted):
            self._aborted = kept
            self._files[names.TXN_INDEX].truncate(len(kept) * txn_index.ENTRY.size)
        self.modified = now
        self._first_timestamp = None
        if self.size:
            self._resume(sealed=False)
        else:
            self._begin()
        return dropped

    def seal(self) -> None:
        self._stamp()
        self._offsets.write_out()
        self._times.write_out()
        if self._preallocated:
            self._log.truncate(self.size)

    def flush(self) -> None:
        self._log.sync()
        self._offsets.flush()
        self._times.flush()
        if self._aborted:
            self._files[names.TXN_INDEX].sync()

    # --- reading -----------------------------------------------------------------------------

    def position_of(self, offset: int) -> int:
        if offset >= self.next_offset:
            return self.size
        found = self._find(offset)
        return found.position if found else self.size

    def read(self, offset: int, max_bytes: int, limit: int, min_one: bool) -> bytes | None:
        found = self._find(offset)
        if found is None:
            return None
        if min_one and found.size > max_bytes:
            max_bytes = found.size
        wanted = min(limit - found.position, max_bytes)
        return self._log.read(wanted, found.position) if wanted > 0 else b""

    def first_size(self, offset: int) -> int:
        found = self._find(offset)
        return found.size if found else 0

    def entry_with(self, offset: int) -> Stored | None:
        found = self._find(offset)
        return self._log.read(found.size, found.position) if found else None

    def entries(self, offset: int = 0) -> Iterator[Stored]:
        found = self._find(max(offset, self.base_offset))
        if found:
            yield from (entry for _, entry in self._whole(found.position))

    def since(self, timestamp: int) -> Iterator[Stored]:
        at = self._first_time(lambda stamp, _: stamp >= timestamp) - 1
        offset = self.base_offset + self._times[at][1] if at >= 0 else self.base_offset
        found = self._find(offset)
        reached = False
        for extent, entry in self._whole(found.position if found else self.size):
            reached = reached or extent.timestamp >= timestamp
            if reached:
                yield entry

    def newest(self) -> Stored:
        entry = self.entry_with(self._newest_offset)
        assert entry is not None, f"no entry holds offset {self._newest_offset}"
        return entry

    # --- finding -----------------------------------------------------------------------------

    def _find(self, offset: int) -> Extent | None:
        """The entry that holds `offset`, or else the next one."""
        if offset >= self.next_offset:
            return None
        tail = self._tail_offsets
        if offset > self._tail_from and tail:
            at = bisect_left(tail, offset)
            whole = self.size if self._damaged_from is None else self._damaged_from
            if at == len(tail):
                return next(self._extents(whole, offset), None)
            start = self._tail_positions[at]
            end = self._tail_positions[at + 1] if at + 1 < len(tail) else whole
            return Extent(start, end - start, tail[at], NO_TIMESTAMP)
        at = self._offsets.floor(offset - self.base_offset)
        position = self._offsets[at][1] if at >= 0 else 0
        return next(self._extents(position, offset), None)

    def _extents(self, position: int, offset: int) -> Iterator[Extent]:
        """Entries from `position` on whose last offset is not below `offset`."""
        window, start = b"", 0
        end = self.size
        if self._damaged_from is not None:  # as Kafka, which takes so few bytes for the end
            end -= _MAGIC_AT
        while position < end:
            at = position - start
            if at + _NEEDED > len(window):
                window, start, at = self._log.read(_WINDOW, position), position, 0
            extent = self._extent(window, at, position)
            if extent.last_offset >= offset:
                yield extent
            position += extent.size

    def _extent(self, window: bytes, at: int, position: int) -> Extent:
        if at + _OLD_STAMP_AT > len(window):
            raise DamagedEntry(position, f"{self._log.path} ends before its {self.size} bytes")
        offset, length = _FRONT.unpack_from(window, at)
        magic = window[at + _MAGIC_AT]
        if length <= 0 or magic > 2:
            raise DamagedEntry(position, f"no entry in {self._log.path}")
        stamp = NO_TIMESTAMP
        if magic == 2:
            offset += _INT.unpack_from(window, at + _DELTA_AT)[0]
            (stamp,) = _LONG.unpack_from(window, at + _MAX_STAMP_AT)
        elif magic == 1:
            (stamp,) = _LONG.unpack_from(window, at + _OLD_STAMP_AT)
        return Extent(position, length + _FRONT.size, offset, stamp)

    def _whole(self, position: int) -> Iterator[tuple[Extent, bytes]]:
        """Every entry from `position` on, read in large pieces."""
        chunk, start = b"", position
        for extent in self._extents(position, -1):
            at = extent.position - start
            if at + extent.size > len(chunk):
                chunk = self._log.read(max(_CHUNK, extent.size), extent.position)
                start, at = extent.position, 0
            yield extent, chunk[at : at + extent.size]

    def _first_time(self, reached: Callable[[int, int], bool]) -> int:
        """Index of the first time index entry for which `reached(timestamp, offset)` holds."""
        low, high = 0, self._times.count
        while low < high:
            middle = (low + high) // 2
            if reached(*self._times[middle]):
                high = middle
            else:
                low = middle + 1
        return low

    # --- going on with what is there ---------------------------------------------------------

    def _resume(self, *, sealed: bool, end: int | None = None) -> None:
        """Learn the end from the indexes and the entries behind their last ones.

        The time index of a sealed segment ends with its largest timestamp; otherwise a larger one
        may lie anywhere behind the entry it names.
        FileFormatError when log and indexes do not agree: then they must be rebuilt.
        """
        self._begin()
        count = self._offsets.count
        indexed, start = self._offsets[count - 1] if count else (-1, 0)
        position = 0  # from where larger timestamps are looked for
        if self._times.count:
            stamp, relative = self._times[self._times.count - 1]
            self.largest_timestamp, self._newest_offset = stamp, self.base_offset + relative
            at = self._offsets.floor(relative)
            if sealed:
                position = start
            elif at >= 0:
                position = self._offsets[at][1]
        behind = 0
        try:
            for extent in self._extents(min(position, start), -1):
                if extent.timestamp > self.largest_timestamp:
                    self.largest_timestamp = extent.timestamp
                    self._newest_offset = extent.last_offset
                self.next_offset = extent.last_offset + 1
                behind = extent.position + extent.size
                if extent.position >= start:
                    self._since_index += extent.size
                    self._tail_offsets.append(extent.last_offset)
                    self._tail_positions.append(extent.position)
        except DamagedEntry:
            if end is None or self.next_offset > end:
                raise
        self._tail_from = self.base_offset + indexed  # its own entry may not be the first to ask
        self._agree(indexed, start)
        if behind != self.size:
            if end is None:
                raise FileFormatError(behind, f"{self._log.path} does not end with a whole entry")
            self._damaged_from, self.next_offset = behind, end
        else:
            self._agree_on_time()

    def _agree(self, indexed: int, start: int) -> None:
        named, tail = self.base_offset + indexed, self._tail_offsets
        if indexed >= 0 and not (tail and self._first_offset(start) <= named <= tail[0]):
            raise FileFormatError(start, f"the offset index points elsewhere in {self._log.path}")

    def _agree_on_time(self) -> None:
        if self._times.count:
            stamp, relative = self._times[self._times.count - 1]
            found = self._find(self.base_offset + relative)
            if found is None or next(self._extents(found.position, -1)).timestamp < stamp:
                raise FileFormatError(0, f"the time index points past {self._log.path}")

    def _first_offset(self, position: int) -> int:
        return int.from_bytes(self._log.read(8, position), "big")

    @staticmethod
    def _read_aborted(path: Path) -> list[Aborted]:
        try:
            return txn_index.decode(path.read_bytes())
        except FileNotFoundError:
            return []

    # --- the files themselves ----------------------------------------------------------------

    def stamp(self) -> None:
        """Let the file be as old as the segment says, for whoever opens it next."""
        with self._disk.watched():
            os.utime(self._log.path, ns=(self.modified * 1_000_000,) * 2)

    def rename(self, mark: str) -> None:
        """Each file under its plain name with `mark` behind it, the log first."""
        for kind, file in self._files.items():
            if file.exists():
                file.rename(file.path.with_name(names.name_of(self.base_offset, kind) + mark))

    def paths(self) -> list[Path]:
        return [file.path for file in self._files.values() if file.exists()]

    def move_to(self, folder: Path) -> None:
        """The folder has another name now."""
        for file in self._files.values():
            file.path = folder / file.path.name

    def rehome(self, disk: Disk, folder: Path) -> None:
        """All files were copied there."""
        self._disk = disk
        for file in self._files.values():
            file.rehome(disk, folder / file.path.name)

    def close(self) -> None:
        for file in self._files.values():
            file.close()
