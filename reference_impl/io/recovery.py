"""A partition's folder is opened and put right after a crash (LOG-09).

First the leftovers: `.deleted`, `.cleaned` and temporary files go, as do indexes without a log; a
`.swap` is finished, unless a `.cleaned` beside it says that its compaction was still under way.
Then each segment. One that lies behind the recovery point of a folder that was not closed cleanly
is read from its first byte, cut at the first bad batch, and gets new indexes; any other is believed
if its last index entries agree with its log. Nothing follows a segment that was cut.

Sources: LogLoader at 2.8.2, 3.9 and 4.3, Log.loadSegments at 1.0.2; KAFKA-6264.
"""

from __future__ import annotations

import mmap
from dataclasses import dataclass, field
from pathlib import Path

from touchstone.reference_impl.io.disk import TEMPORARY, Disk
from touchstone.reference_impl.io.disk_segment import DiskSegment
from touchstone.reference_impl.log.files import (
    FileFormatError,
    names,
    offset_index,
    scan,
    time_index,
)

_INDEXES = (names.INDEX, names.TIME_INDEX, names.TXN_INDEX)
_ENTRIES = {names.INDEX: offset_index.ENTRY.size, names.TIME_INDEX: time_index.ENTRY.size}


@dataclass(slots=True)
class RecoveryResult:
    segments: list[DiskSegment] = field(default_factory=list)
    epochs: list[tuple[int, int]] = field(default_factory=list)  # of what was read whole
    said: list[str] = field(default_factory=list)  # what was found and done, for the broker's log


@dataclass(frozen=True, slots=True)
class Recovery:
    """Opens the segments of one folder."""

    disk: Disk
    folder: Path
    interval: int
    clean: bool  # the folder was closed by a broker that ended well
    recovery_point: int  # everything below is on disk as it was written
    now: int
    first_offsets: bool = False

    def run(self) -> RecoveryResult:
        found = RecoveryResult(said=tidy(self.disk, self.folder))
        bases = [f.base_offset for _, f in segment_files(self.folder) if f.kind == names.LOG]
        for at, base in enumerate(sorted(bases)):
            later = sorted(bases)[at + 1 :]
            if not self._open(base, later, found):
                self._drop(later, found)
                break
        return found

    def _open(self, base: int, later: list[int], found: RecoveryResult) -> bool:
        """Whether the log may go on behind this segment.

        Behind one that was durable it does, whatever has become of its bytes since: Kafka reads
        none of them at start-up, serves what can be read and keeps the rest.
        """
        trusted = self.clean or (bool(later) and later[0] <= self.recovery_point)
        size = self._path(base, names.LOG).stat().st_size
        if trusted and size:
            end = later[0] if later else None
            try:
                found.segments.append(self._segment(base, size, self._counts(base), end))
                return True
            except FileFormatError as unreadable:
                name = names.name_of(base, names.LOG)
                found.said.append(f"{name}: {unreadable}; reading it whole")
        size, counts, fault = self._rebuild(base, found)
        if size or fault or not later:
            found.segments.append(self._segment(base, size, counts))
        else:
            found.said.append(f"{names.name_of(base, names.LOG)}: empty; removed")
            self._remove(base)
        return fault is None or (trusted and bool(size))

    def _segment(
        self, base: int, size: int, counts: tuple[int, int], end: int | None = None
    ) -> DiskSegment:
        modified = self._path(base, names.LOG).stat().st_mtime_ns // 1_000_000
        return DiskSegment(
            self.disk,
            self.folder,
            base,
            interval=self.interval,
            modified=modified,
            size=size,
            entries=counts,
            first_offsets=self.first_offsets,
            end=end,
        )

    def _path(self, base: int, kind: str) -> Path:
        return self.folder / names.name_of(base, kind)

    def _counts(self, base: int) -> tuple[int, int]:
        """Entries in both indexes, without the filling that a running Kafka puts behind them."""
        counts = []
        for kind, decode in (
            (names.INDEX, offset_index.decode),
            (names.TIME_INDEX, time_index.decode),
        ):
            path, size = self._path(base, kind), _ENTRIES[kind]
            try:
                length = path.stat().st_size
                with open(path, "rb") as file:
                    file.seek(max(0, length - size))
                    filled = length and not file.read().strip(b"\0")
                count, rest = divmod(length, size)
                if filled:
                    count = len(decode(path.read_bytes(), base))
            except FileNotFoundError:
                raise FileFormatError(0, f"{path.name} is missing") from None
            if rest:
                raise FileFormatError(length, f"{path.name} is no multiple of {size} bytes")
            counts.append(count)
        return counts[0], counts[1]

    def _rebuild(self, base: int, found: RecoveryResult) -> tuple[int, tuple[int, int], str | None]:
        """Read a segment whole: its good bytes, its new indexes' entries, why it was cut."""
        path = self._path(base, names.LOG)
        data: mmap.mmap | bytes = b""
        if path.stat().st_size:
            with open(path, "rb") as file:
                data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        scanner, builder = scan.Scanner(data, base), scan.IndexBuilder(self.interval)
        offsets, times = [], []
        for position, size, first, last, stamp, header in scanner:
            indexed, stamped = builder.add(position, size, last, stamp)
            if indexed:
                offsets.append(indexed._replace(offset=first) if self.first_offsets else indexed)
            times += [stamped] if stamped else []
            epoch = header.partition_leader_epoch if header else -1
            if epoch >= 0 and (not found.epochs or epoch > found.epochs[-1][0]):
                found.epochs.append((epoch, first))
        del data
        closing = builder.close()
        times += [closing] if closing else []
        if scanner.fault:
            found.said.append(f"{path.name}: {scanner.fault}; cut to {scanner.valid_bytes} bytes")
            self._resize(path, scanner.valid_bytes)
        for kind, image in (
            (names.INDEX, offset_index.encode(offsets, base)),
            (names.TIME_INDEX, time_index.encode(times, base)),
        ):
            index = self.disk.file(self._path(base, kind))
            index.truncate(0)
            if image:
                index.write(image, 0)
            index.close()
        return scanner.valid_bytes, (len(offsets), len(times)), scanner.fault

    def _resize(self, path: Path, size: int) -> None:
        file = self.disk.file(path)
        file.truncate(size)
        file.sync()
        file.close()

    def _drop(self, bases: list[int], found: RecoveryResult) -> None:
        for base in bases:
            found.said.append(f"{names.name_of(base, names.LOG)}: removed, the log ends before it")
            self._remove(base)

    def _remove(self, base: int) -> None:
        for kind in (names.LOG, *_INDEXES):
            self.disk.remove(self._path(base, kind))


def tidy(disk: Disk, folder: Path) -> list[str]:
    """Finish or undo what was under way when the folder was left; what was done, in words."""
    said, swaps, cleaned = [], [], []
    for path in sorted(folder.iterdir()):
        file = names.parse_file(path.name)
        if path.name.endswith(TEMPORARY):
            disk.remove(path)
        elif file and file.mark == names.DELETED:
            disk.remove(path)
            said.append(f"{path.name}: removed")
        elif file and file.mark == names.CLEANED:
            cleaned.append((path, file))
        elif file and file.mark == names.SWAP:
            swaps.append((path, file))
    first_cleaned = min((file.base_offset for _, file in cleaned), default=None)
    for path, _ in cleaned:
        disk.remove(path)
        said.append(f"{path.name}: removed")
    finished = []
    for path, file in swaps:
        if first_cleaned is not None and file.base_offset >= first_cleaned:
            disk.remove(path)
            said.append(f"{path.name}: removed, its compaction had not ended")
        elif file.kind == names.LOG:
            finished.append((path, file))
    _finish_swaps(disk, folder, finished, said)
    for path, file in segment_files(folder):
        log = folder / names.name_of(file.base_offset, names.LOG)
        if file.kind in _INDEXES and not log.exists():
            disk.remove(path)
            said.append(f"{path.name}: removed, it has no log")
    if said:
        disk.sync_folder(folder)
    return said


def _finish_swaps(
    disk: Disk, folder: Path, swaps: list[tuple[Path, names.SegmentFile]], said: list[str]
) -> None:
    """What a swap replaces lies between its first and its last offset; then it takes its name."""
    for path, file in swaps:
        end = file.base_offset + 1
        with open(path, "rb") as opened:
            data = opened.read()
        for stored in scan.Scanner(data, file.base_offset, checksums=False):
            end = stored.last_offset + 1
        for old, segment in segment_files(folder):
            if file.base_offset <= segment.base_offset < end and segment.kind != names.SNAPSHOT:
                disk.remove(old)
                said.append(f"{old.name}: removed for {path.name}")
        for kind in _INDEXES:
            index = folder / f"{names.name_of(file.base_offset, kind)}.{names.SWAP}"
            if index.exists():
                disk.replace(index, index.with_suffix(""))
        disk.replace(path, path.with_suffix(""))
        said.append(f"{path.name}: swap completed")
    for path in sorted(folder.iterdir()):
        left = names.parse_file(path.name)
        if left and left.mark == names.SWAP:
            disk.remove(path)


def segment_files(folder: Path) -> list[tuple[Path, names.SegmentFile]]:
    """The files of segments that are in use, by name."""
    found = [(path, names.parse_file(path.name)) for path in sorted(folder.iterdir())]
    return [(path, file) for path, file in found if file and file.mark is None]
