"""One log directory: its lock, its owner, its partitions' folders, and the checkpoints over them.

Order is everything here. Opening takes the lock, reads the marker of a clean end and removes it
once every partition was opened, so that a crash in between is unclean again (LOG-06). Closing
flushes every log, writes the checkpoints, then the marker, then lets the lock go (LOG-26). A
checkpoint that cannot be read is as good as none, and said so (LOG-07). An I/O error anywhere takes
this directory down and no other (LOG-08).

Sources: LogManager at 1.0.2, 2.8.2 and 4.3.1; LOG-03 to LOG-08, LOG-15, LOG-22, LOG-26.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from heapq import heappop, heappush
from pathlib import Path
from uuid import uuid4

from touchstone.reference_impl.io import portable
from touchstone.reference_impl.io.background import Background
from touchstone.reference_impl.io.disk import Disk
from touchstone.reference_impl.io.disk_store import DiskStore, Marks
from touchstone.reference_impl.io.log_dir_error import LogDirError
from touchstone.reference_impl.log.files import (
    FileFormatError,
    checkpoints,
    clean_shutdown,
    meta_properties,
    names,
)
from touchstone.reference_impl.log.files.meta_properties import MetaProperties
from touchstone.reference_impl.log.partition_log import PartitionLog
from touchstone.reference_impl.log.rules import LogError
from touchstone.reference_impl.log.topic_config import TopicConfig

TopicPartition = tuple[str, int]
METADATA_TOPIC = (
    "__cluster_metadata"  # a KRaft quorum's own log: not a partition of anybody's topic
)


@dataclass(frozen=True, slots=True)
class Maker:
    """The parts with which the logs of a directory are made."""

    config_of: Callable[[str], TopicConfig]
    new_log: Callable[[str, int, DiskStore, int], PartitionLog]  # topic, index, store, now
    say: Callable[[str], None] = lambda sentence: None
    later: Callable[[Callable[[], None], Callable[[], None]], None] | None = None
    wake: Callable[[int], None] = lambda at: None  # something is to be removed then
    disk: Callable[..., Disk] = Disk
    first_offsets: bool = False  # what an offset index names of a batch
    topic_ids: bool = True  # folders say whose they are (`partition.metadata`, KIP-516)
    foreign: bool = False  # what Kafka left on its way out or in is Kafka's to finish


class LogDir:
    def __init__(
        self, root: Path, make: Maker, failed: Callable[[LogDir, OSError], None] | None = None
    ) -> None:
        self.root = root
        self.logs: dict[TopicPartition, PartitionLog] = {}
        self._stores: dict[TopicPartition, DiskStore] = {}  # of the logs
        self.offline = False
        self._make = make
        self._failed = failed
        self.disk = make.disk(failed=self._fail)
        self._expiring: list[tuple[int, Path]] = []  # what to remove when, soonest first
        self.disk.make_folder(root)
        self._lock = open(root / names.LOCK, "ab")  # noqa: SIM115 - held until release
        try:
            portable.locked(self._lock)
        except NotImplementedError as lacking:
            self._lock.close()
            raise LogDirError(str(lacking)) from None
        except OSError:
            self._lock.close()
            raise LogDirError(
                f"Failed to acquire lock on file .lock in {root}. A Kafka instance in another"
                " process or thread is using this directory."
            ) from None
        self.clean = (root / names.CLEAN_SHUTDOWN).exists()
        self._recovery_points = self._read(names.RECOVERY_POINTS)
        self._high_watermarks = self._read(names.HIGH_WATERMARKS)
        self._log_starts = self._read(names.LOG_STARTS)
        self._cleaned = self._read(names.CLEANER_OFFSETS)
        self._written: dict[str, Mapping[TopicPartition, int]] = {
            names.RECOVERY_POINTS: dict(self._recovery_points),
            names.LOG_STARTS: dict(self._log_starts),
            names.CLEANER_OFFSETS: dict(self._cleaned),
        }
        self._current: set[str] = set()  # of those, what this process wrote

    def _fail(self, fault: OSError) -> None:
        if not self.offline:
            self.offline = True
            self._make.say(f"{self.root} goes offline: {fault}")
            if self._failed is not None:
                self._failed(self, fault)

    # --- whose it is -------------------------------------------------------------------------

    def owner(self) -> MetaProperties | None:
        """What `meta.properties` says, if it is there; LogDirError if it cannot be read."""
        return read_owner(self.root)

    def identify(self, mine: MetaProperties, written: str) -> None:
        """Write who owns this directory, or refuse it when that is somebody else.

        `written` is the date in its second line, in Java's words.
        """
        found = self.owner()
        if found is None:
            properties = meta_properties.properties_of(mine, ("", written))
            path = self.root / names.META_PROPERTIES
            self.disk.write_whole(path, meta_properties.encode(properties))
            return
        for what in ("node_id", "cluster_id"):
            theirs, ours = getattr(found, what), getattr(mine, what)
            if theirs is not None and ours is not None and theirs != ours:
                raise LogDirError(
                    f"{self.root}: {what.replace('_', '.')} in {names.META_PROPERTIES} is"
                    f" {theirs}, and this broker's is {ours}"
                )

    # --- opening -----------------------------------------------------------------------------

    def load(self, now: int) -> None:
        """Open every partition that has a folder here (LOG-05); an error takes the folder down."""
        if not self.clean and any(self._folders()):
            self._make.say(f"recovering {self.root}: it was not closed cleanly")
        try:
            for path, folder in list(self._folders()):
                if folder.mark is not None:
                    if self._make.foreign:
                        continue
                    self.disk.remove_tree(path)
                    self._make.say(f"{path.name}: removed")
                else:
                    self.logs[folder.topic, folder.partition] = self._open(
                        (folder.topic, folder.partition), path, now
                    )
            self.disk.remove(self.root / names.CLEAN_SHUTDOWN)
        except (LogError, OSError) as fault:
            if isinstance(fault, OSError):
                self._fail(fault)
        self.clean = False

    def _folders(self) -> Iterator[tuple[Path, names.PartitionFolder]]:
        for path in sorted(self.root.iterdir()):
            folder = names.parse_folder(path.name) if path.is_dir() else None
            if folder and folder.topic != METADATA_TOPIC:
                yield path, folder

    def take(self, key: TopicPartition, source: LogDir, now: int) -> None:
        """A partition moves here with all its files; its log goes on as if nothing was (KIP-113).

        The copy bears the mark of a future replica until it is complete and durable, and only then
        does the original go. A crash between the two renames leaves both, and a start that refuses
        them, as Kafka's does.
        """
        log, store = source.logs[key], source._stores[key]
        log.flush(now)
        for segment in log.segments:
            segment.seal()
        future = self.root / str(names.PartitionFolder(*key, uuid4().hex, names.FUTURE_MARK))
        self.disk.make_folder(future)
        for path in sorted(store.folder.iterdir()):
            if not path.name.endswith("." + names.DELETED):
                self.disk.copy(path, future / path.name)
        self.disk.sync_folder(future)
        home = self.root / str(names.PartitionFolder(*key))
        self.disk.replace(future, home)
        left = source.root / str(names.PartitionFolder(*key, uuid4().hex, names.DELETE_MARK))
        source.disk.replace(store.folder, left)
        self.disk.sync_folder(self.root)
        store.rehome(self.disk, home, self._expire, lambda offset: self._cut(key, offset))
        self.logs[key], self._stores[key] = source.logs.pop(key), source._stores.pop(key)
        self.write_recovery_points()
        source._expire(now, [left])

    def _open(self, key: TopicPartition, path: Path, now: int) -> PartitionLog:
        marks = Marks(
            self.clean,
            self._recovery_points.get(key, 0),
            self._log_starts.get(key),
            self._high_watermarks.get(key, 0),
            self._cleaned.get(key, 0),
        )
        store = DiskStore(
            self.disk,
            path,
            lambda: self._make.config_of(key[0]),
            marks=marks,
            say=self._make.say,
            expire=self._expire,
            cut=lambda offset: self._cut(key, offset),
            later=self._make.later,
            first_offsets=self._make.first_offsets,
        )
        log = self._make.new_log(*key, store, now)
        self._stores[key] = store
        return log

    def add(self, key: TopicPartition, topic_id: bytes, now: int) -> PartitionLog:
        """The log of a partition that is new here."""
        for known in (
            self._recovery_points, self._log_starts, self._high_watermarks, self._cleaned,
        ):  # fmt: skip
            known.pop(key, None)
        log = self._open(key, self.root / str(names.PartitionFolder(*key)), now)
        self.logs[key] = log
        if self._make.topic_ids and any(topic_id):
            self._stores[key].write_topic_id(topic_id)
        return log

    def topic_id(self, key: TopicPartition) -> bytes | None:
        try:
            return self._stores[key].topic_id()
        except FileFormatError as fault:
            self._make.say(f"{key[0]}-{key[1]}: {names.PARTITION_METADATA}: {fault}")
            return None

    # --- removing ----------------------------------------------------------------------------

    def remove(self, key: TopicPartition, now: int) -> None:
        """Free the name at once, the bytes after `file.delete.delay.ms` (LOG-22)."""
        del self.logs[key]
        store = self._stores.pop(key)
        store.close()
        if not self.offline:
            gone = names.PartitionFolder(*key, uuid4().hex, names.DELETE_MARK)
            store.move_to(self.root / str(gone))
            delay = self._make.config_of(key[0]).file_delete_delay_ms
            self._expire(now + delay, [store.folder])

    def set_aside(self, key: TopicPartition) -> None:
        """Free the name of a folder that is another topic's, and keep the folder.

        LogManager of 3.9.2 and 4.3.1 does so while it loads, and never removes what it renamed.
        """
        del self.logs[key]
        store = self._stores.pop(key)
        store.close()
        stray = names.PartitionFolder(*key, uuid4().hex, names.STRAY_MARK)
        store.move_to(self.root / str(stray))
        self._make.say(f"{key[0]}-{key[1]}: belongs to another topic; kept as {stray}")

    def _expire(self, at: int, paths: Sequence[Path]) -> None:
        for path in paths:
            heappush(self._expiring, (at, path))
        self._make.wake(self._expiring[0][0])

    def remove_expired(self, now: int) -> int | None:
        """Remove what is due; when the next is."""
        while self._expiring and self._expiring[0][0] <= now:
            _, path = heappop(self._expiring)
            if path.is_dir():
                self.disk.remove_tree(path)
            else:
                self.disk.remove(path)
        return self._expiring[0][0] if self._expiring else None

    # --- checkpoints -------------------------------------------------------------------------

    def write_recovery_points(self) -> None:
        self._write(names.RECOVERY_POINTS, {k: log.recovery_point for k, log in self.logs.items()})

    def write_log_starts(self) -> None:
        """Only of logs that start above their first segment (LOG-15)."""
        starts = {
            key: log.log_start_offset
            for key, log in self.logs.items()
            if log.log_start_offset > log.segments[0].base_offset
        }
        self._write(names.LOG_STARTS, starts)

    def write_cleaner_offsets(self) -> None:
        """Only of logs that compaction has seen."""
        seen = {key: log.cleaned_to for key, log in self.logs.items() if log.cleaned_to}
        self._write(names.CLEANER_OFFSETS, seen)

    def write_high_watermarks(self) -> None:
        self._write(names.HIGH_WATERMARKS, {k: log.high_watermark for k, log in self.logs.items()})

    def write_high_watermarks_beside(self, background: Background) -> None:
        """The same by another thread: with much to write, a sync takes a tenth of a second.

        That thread has a `Disk` of its own; that it failed is told when its job is settled.
        """
        offsets = {key: log.high_watermark for key, log in self.logs.items()}
        if self._is_written(names.HIGH_WATERMARKS, offsets):
            return
        path, image = self.root / names.HIGH_WATERMARKS, checkpoints.encode_offsets(offsets)
        faults: list[OSError] = []

        def write() -> None:
            with suppress(LogError):
                Disk(failed=faults.append).write_whole(path, image)

        def report() -> None:
            for fault in faults:
                self.disk.failed(fault)

        background.submit(write, report)
        self._written[names.HIGH_WATERMARKS] = offsets
        self._current.add(names.HIGH_WATERMARKS)

    def _cut(self, key: TopicPartition, offset: int) -> None:
        """Let no checkpoint say that a log is durable, or begins, behind where it was cut."""
        for name in (names.RECOVERY_POINTS, names.LOG_STARTS, names.CLEANER_OFFSETS):
            if self._written[name].get(key, 0) > offset:
                self._write(name, {**self._written[name], key: offset})

    def _write(self, name: str, offsets: Mapping[TopicPartition, int]) -> None:
        if not self._is_written(name, offsets):
            self.disk.write_whole(self.root / name, checkpoints.encode_offsets(offsets))
            self._written[name] = offsets
            self._current.add(name)

    def _is_written(self, name: str, offsets: Mapping[TopicPartition, int]) -> bool:
        return name in self._current and self._written[name] == offsets

    def _read(self, name: str) -> dict[TopicPartition, int]:
        try:
            return checkpoints.decode_offsets((self.root / name).read_bytes())
        except FileNotFoundError:
            return {}
        except (FileFormatError, OSError) as fault:
            self._make.say(f"{self.root / name}: {fault}; as if it were empty")
            return {}

    # --- endings -----------------------------------------------------------------------------

    def flush_due(self, now: int) -> None:
        """Flush the logs whose `flush.ms` is over (LOG-14)."""
        for (topic, _), log in self.logs.items():
            if now - log.flushed_at >= self._make.config_of(topic).flush_ms:
                log.flush(now)

    def close(self, now: int, broker_epoch: int | None) -> None:
        """A clean end (LOG-26), unless this directory is offline."""
        try:
            if not self.offline:
                for log in self.logs.values():
                    log.close(now)
                self.write_recovery_points()
                self.write_high_watermarks()
                self.write_log_starts()
                self.write_cleaner_offsets()
                marker = self.root / names.CLEAN_SHUTDOWN
                self.disk.write_whole(marker, clean_shutdown.encode(broker_epoch))
        finally:
            self.release()

    def release(self) -> None:
        """Let go of everything without a word, as the end of a killed process does."""
        self.disk.close()
        self._lock.close()

    def space(self) -> tuple[int, int]:
        """(bytes, usable bytes) of its volume (KIP-827)."""
        usage = shutil.disk_usage(self.root)
        return usage.total, usage.free


def read_owner(root: Path) -> MetaProperties | None:
    """Whose log directory it is, by its `meta.properties`; None without one.

    LogDirError, which names the file, for one that cannot be read.
    """
    path = root / names.META_PROPERTIES
    try:
        return meta_properties.meta_of(meta_properties.decode(path.read_bytes()))
    except FileNotFoundError:
        return None
    except FileFormatError as fault:
        raise LogDirError(f"{path}: {fault}") from None
