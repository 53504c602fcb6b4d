"""A log touches the file system through a `Disk` only, so that a test can break it.

Kafka keeps each segment's files open; here descriptors are lent from a pool of bounded size, so
that a thousand partitions fit under any limit. A `File` is written at a position that its owner
keeps, never "at the end": what a failed write left behind is overwritten by the next. A test gives
its own `Disk`, which stops after a byte, forgets what was not synced, or is full
(`tests/log/breaking_disk.py`).

A file system that fails takes its log directory down (LOG-08, KIP-112): whoever made the `Disk`
is told, and the caller gets a `LogError` of KAFKA_STORAGE_ERROR instead of the OSError.

Small files are replaced whole: temporary, fsync, rename, fsync of the folder
(Utils.atomicMoveWithFallback), so a name holds the old bytes or the new ones at any moment.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from touchstone.reference_impl.log.rules import LogError
from touchstone.reference_impl.log.segment import Stored
from touchstone.reference_impl.wire.errors import ErrorCode

MOST_OPEN = 512
TEMPORARY = ".tmp"


class Disk:
    """The real one."""

    def __init__(
        self,
        most_open: int = MOST_OPEN,
        failed: Callable[[OSError], None] = lambda fault: None,
    ) -> None:
        self.most_open = most_open
        self.failed = failed  # told of every OSError, once each
        self._lent: deque[File] = deque()  # oldest first; some are closed already

    def file(self, path: Path) -> File:
        """The file, which is neither opened nor made before the first read or write."""
        return File(self, path)

    def fault(self, fault: OSError) -> LogError:
        """What to raise in its place."""
        self.failed(fault)
        return LogError(ErrorCode.KAFKA_STORAGE_ERROR, f"the log directory failed: {fault}")

    @contextmanager
    def watched(self) -> Iterator[None]:
        """OSErrors inside become `fault`."""
        try:
            yield
        except OSError as fault:
            raise self.fault(fault) from fault

    # --- what a broken disk overrides --------------------------------------------------------

    def pwrite(self, descriptor: int, data: Stored, at: int, path: Path) -> int:
        return os.pwrite(descriptor, data, at)

    def ftruncate(self, descriptor: int, size: int, path: Path) -> None:
        os.ftruncate(descriptor, size)

    def fsync(self, descriptor: int, path: Path) -> None:
        os.fsync(descriptor)

    def rename(self, old: Path, new: Path) -> None:
        os.replace(old, new)

    def unlink(self, path: Path) -> None:
        os.remove(path)

    # --- files and folders -------------------------------------------------------------------

    def replace(self, old: Path, new: Path) -> None:
        with self.watched():
            self.rename(old, new)

    def remove(self, path: Path) -> None:
        with self.watched(), suppress(FileNotFoundError):
            self.unlink(path)

    def make_folder(self, path: Path) -> None:
        with self.watched():
            path.mkdir(parents=True, exist_ok=True)

    def remove_tree(self, folder: Path) -> None:
        """A partition's folder: files, and nothing deeper."""
        with self.watched():
            if folder.exists():
                for path in sorted(folder.iterdir()):
                    self.remove(path)
                folder.rmdir()

    def sync_folder(self, path: Path) -> None:
        """Make names in it durable: made, renamed or removed files."""
        with self.watched():
            descriptor = os.open(path, os.O_RDONLY)
            try:
                self.fsync(descriptor, path)
            finally:
                os.close(descriptor)

    # --- made of those -----------------------------------------------------------------------

    def write_whole(self, path: Path, data: bytes, *, durable: bool = True) -> None:
        """The old file or this one, whatever happens; unless `durable`, a power cut may take it."""
        temporary = self.file(path.with_name(path.name + TEMPORARY))
        try:
            temporary.truncate(0)
            temporary.write(data, 0)
            if durable:
                temporary.sync()
        finally:
            temporary.close()
        self.replace(temporary.path, path)
        if durable:
            self.sync_folder(path.parent)

    def copy(self, source: Path, target: Path) -> None:
        """All of a file, durable; from any other disk."""
        with self.watched(), open(source, "rb") as original:
            fresh, at = self.file(target), 0
            try:
                fresh.truncate(0)
                while data := original.read(1 << 20):
                    fresh.write(data, at)
                    at += len(data)
                fresh.sync()
            finally:
                fresh.close()

    # --- descriptors -------------------------------------------------------------------------

    def lend(self, file: File) -> int:
        """A descriptor for `file`; another file may lose its own for it."""
        lent = self._lent
        while len(lent) >= self.most_open:
            other = lent.popleft()
            if other.used and other.number >= 0:
                other.used = False
                lent.append(other)
            else:
                other.close()
        lent.append(file)
        return os.open(file.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)

    def close(self) -> None:
        """Take every descriptor back."""
        while self._lent:
            self._lent.pop().close()


class File:
    """A file that is open only while it is used."""

    __slots__ = ("_disk", "number", "path", "used")

    def __init__(self, disk: Disk, path: Path) -> None:
        self._disk = disk
        self.path = path
        self.number = -1
        self.used = False

    def descriptor(self) -> int:
        if self.number < 0:
            self.number = self._disk.lend(self)
        self.used = True
        return self.number

    def exists(self) -> bool:
        return self.number >= 0 or self.path.exists()

    def read(self, size: int, at: int) -> bytes:
        try:
            return os.pread(self.descriptor(), size, at)
        except OSError as fault:
            raise self._disk.fault(fault) from fault

    def write(self, data: Stored, at: int) -> None:
        """All of it, or an error and any part of it."""
        disk, path = self._disk, self.path
        try:
            written = disk.pwrite(self.descriptor(), data, at, path)
            while written < len(data):
                rest = memoryview(data)[written:]
                written += disk.pwrite(self.descriptor(), rest, at + written, path)
        except OSError as fault:
            raise disk.fault(fault) from fault

    def truncate(self, size: int) -> None:
        with self._disk.watched():
            self._disk.ftruncate(self.descriptor(), size, self.path)

    def sync(self) -> None:
        with self._disk.watched():
            self._disk.fsync(self.descriptor(), self.path)

    def rename(self, path: Path) -> None:
        """Readers that hold it read on."""
        self._disk.replace(self.path, path)
        self.path = path

    def rehome(self, disk: Disk, path: Path) -> None:
        """The same bytes lie there now."""
        self.close()
        self._disk, self.path = disk, path

    def close(self) -> None:
        if self.number >= 0:
            os.close(self.number)
            self.number = -1
