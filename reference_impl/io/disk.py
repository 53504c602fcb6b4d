"""Every touch of the file system that a log makes goes through a `Disk`, so that one can be broken.

Kafka keeps each segment's files open; here descriptors are lent from a pool of bounded size, so
that a thousand partitions fit under any limit. A `File` is written at a position that its owner
keeps, never "at the end": what a failed write left behind is overwritten by the next. A test gives
its own `Disk`, which stops after a byte, forgets what was not synced, or is full
(`tests/log/breaking_disk.py`).

Small files are replaced whole: temporary, fsync, rename, fsync of the folder
(Utils.atomicMoveWithFallback), so a name holds the old bytes or the new ones at any moment.
"""

from __future__ import annotations

import os
from collections import deque
from contextlib import suppress
from pathlib import Path

MOST_OPEN = 512
TEMPORARY = ".tmp"


class Disk:
    """The real one. Anything may raise OSError, which its caller turns into an offline folder."""

    def __init__(self, most_open: int = MOST_OPEN) -> None:
        self.most_open = most_open
        self._lent: deque[File] = deque()  # oldest first; some are closed already

    def file(self, path: Path) -> File:
        """Nothing is opened, or made, before the first read or write."""
        return File(self, path)

    # --- what a broken disk overrides --------------------------------------------------------

    def write(self, file: File, data: bytes | bytearray | memoryview, at: int) -> None:
        descriptor = file.descriptor()
        written = os.pwrite(descriptor, data, at)
        while written < len(data):
            written += os.pwrite(descriptor, memoryview(data)[written:], at + written)

    def truncate(self, file: File, size: int) -> None:
        os.ftruncate(file.descriptor(), size)

    def sync(self, file: File) -> None:
        os.fsync(file.descriptor())

    def replace(self, old: Path, new: Path) -> None:
        os.replace(old, new)

    def remove(self, path: Path) -> None:
        with suppress(FileNotFoundError):
            os.remove(path)

    def make_folder(self, path: Path) -> None:
        path.mkdir(parents=True, exist_ok=True)

    def remove_folder(self, path: Path) -> None:
        """An empty one."""
        with suppress(FileNotFoundError):
            path.rmdir()

    def sync_folder(self, path: Path) -> None:
        """Make names in it durable: made, renamed or removed files."""
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    # --- made of those -----------------------------------------------------------------------

    def write_whole(self, path: Path, data: bytes) -> None:
        """The old file or this one, whatever happens."""
        temporary = self.file(path.with_name(path.name + TEMPORARY))
        try:
            self.truncate(temporary, 0)
            self.write(temporary, data, 0)
            self.sync(temporary)
        finally:
            temporary.close()
        self.replace(temporary.path, path)
        self.sync_folder(path.parent)

    def remove_tree(self, folder: Path) -> None:
        """A partition's folder: files, and nothing deeper."""
        if folder.exists():
            for path in sorted(folder.iterdir()):
                self.remove(path)
            self.remove_folder(folder)

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

    def size(self) -> int:
        return os.fstat(self.descriptor()).st_size

    def read(self, size: int, at: int) -> bytes:
        return os.pread(self.descriptor(), size, at)

    def write(self, data: bytes | bytearray | memoryview, at: int) -> None:
        self._disk.write(self, data, at)

    def truncate(self, size: int) -> None:
        self._disk.truncate(self, size)

    def sync(self) -> None:
        self._disk.sync(self)

    def rename(self, path: Path) -> None:
        """Readers that hold it read on."""
        self._disk.replace(self.path, path)
        self.path = path

    def close(self) -> None:
        if self.number >= 0:
            os.close(self.number)
            self.number = -1
