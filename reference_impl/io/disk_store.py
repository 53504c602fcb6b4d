"""One partition's folder: the store on disk behind a `PartitionLog`.

Owns which files there are: segments that begin, go, are replaced; producer snapshots, the leader
epoch checkpoint, the topic's id. What lies inside a segment is `disk_segment`'s affair, what a
crash left behind is `recovery`'s. Removed segments stay as `.deleted` until the folder's owner says
that their time has come (LOG-21); a compaction's result takes its place in Kafka's order of
renames, so that `recovery` finishes it or undoes it (KAFKA-6264).

Sources: LocalLog, UnifiedLog, ProducerStateManager at 2.8.2 to 4.3.1; LOG-09, LOG-11, LOG-21.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from touchstone.reference_impl.io.disk import Disk
from touchstone.reference_impl.io.disk_segment import DiskSegment
from touchstone.reference_impl.io.recovery import Recovery, RecoveryResult, segment_files
from touchstone.reference_impl.log.files import (
    FileFormatError,
    checkpoints,
    names,
    partition_metadata,
    producer_snapshot,
)
from touchstone.reference_impl.log.files.producer_snapshot import KnownProducer
from touchstone.reference_impl.log.segment import Segment
from touchstone.reference_impl.log.store import StoreContents
from touchstone.reference_impl.log.topic_config import TopicConfig
from touchstone.reference_impl.wire.records import batch as v2

_EPOCH_AT = 12  # partition leader epoch of a batch


@dataclass(frozen=True, slots=True)
class Marks:
    """The checkpoints of a partition, as the folder's owner remembers them."""

    clean: bool = False  # the last end was a clean one
    recovery_point: int = 0
    log_start_offset: int | None = None
    high_watermark: int = 0
    cleaned_to: int = 0


class DiskStore:
    def __init__(
        self,
        disk: Disk,
        folder: Path,
        config: Callable[[], TopicConfig],
        *,
        marks: Marks,
        say: Callable[[str], None] = lambda sentence: None,
        expire: Callable[[int, Sequence[Path]], None] | None = None,
        cut: Callable[[int], None] = lambda offset: None,
        later: Callable[[Callable[[], None], Callable[[], None]], None] | None = None,
        first_offsets: bool = False,
    ) -> None:
        """`say` hears what was recovered; `expire(at, paths)` removes files when it is `at`;
        `cut(offset)` must be in force before the log is written at `offset` again;
        `later(job, then)` runs a job beside the loop, without it jobs are done at once."""
        self.disk = disk
        self.folder = folder
        self._config = config
        self._marks = marks
        self._say = say
        self._expire = expire or self._remove_at_once
        self._cut = cut
        self._later = later
        self._first_offsets = first_offsets
        self._epochs_loose = False  # written, and not yet durable
        self._trusted: int | None = None  # snapshots above it may miss what the log has
        self._segments: set[DiskSegment] = set()

    # --- opening -----------------------------------------------------------------------------

    def open(self, now: int) -> StoreContents:
        marks = self._marks
        self.disk.make_folder(self.folder)
        interval = self._config().index_interval_bytes
        found = Recovery(
            self.disk,
            self.folder,
            interval,
            marks.clean,
            marks.recovery_point,
            now,
            self._first_offsets,
        ).run()
        start = marks.log_start_offset or 0
        segments = found.segments or [self._segment(start, now)]
        self._segments.update(segments)
        if segments[-1].next_offset < start:
            found.said.append(
                f"the log ends at {segments[-1].next_offset}, below its start {start}"
            )
            self.remove(segments, now)
            segments = [self._segment(start, now)]
        end = segments[-1].next_offset
        self._trusted = end if marks.clean else min(end, marks.recovery_point)
        self.drop_producers(above=self._trusted)
        epochs = self._epochs(found, segments)
        for sentence in found.said:
            self._say(f"{self.folder.name}: {sentence}")
        return StoreContents(
            segments=[*segments],
            log_start_offset=max(start, segments[0].base_offset),
            high_watermark=marks.high_watermark,
            recovery_point=marks.recovery_point if not marks.clean else end,
            cleaned_to=min(marks.cleaned_to, end),
            epochs=epochs,
        )

    def _epochs(self, found: RecoveryResult, segments: list[DiskSegment]) -> list[tuple[int, int]]:
        """The checkpoint's, and what recovery saw; from all batches where it cannot be read."""
        path = self.folder / names.LEADER_EPOCHS
        try:
            image = path.read_bytes()
            epochs = checkpoints.decode_epochs(image) if image else _epochs_of(segments)
        except FileNotFoundError:
            epochs = _epochs_of(segments)
        except FileFormatError as fault:
            found.said.append(f"{path.name}: {fault}; rebuilt")
            epochs = _epochs_of(segments)
        newest = epochs[-1][0] if epochs else -1
        return epochs + [(epoch, start) for epoch, start in found.epochs if epoch > newest]

    def _segment(self, base_offset: int, now: int, mark: str = "") -> DiskSegment:
        config = self._config()
        segment = DiskSegment(
            self.disk,
            self.folder,
            base_offset,
            interval=config.index_interval_bytes,
            modified=now,
            mark=mark,
            preallocate=config.segment_bytes if config.preallocate and not mark else 0,
            first_offsets=self._first_offsets,
        )
        segment.create()
        self._segments.add(segment)
        return segment

    # --- segments ----------------------------------------------------------------------------

    def _own(self, segments: Sequence[Segment]) -> list[DiskSegment]:
        """These segments as the files that they are: a log has them from this store."""
        own = [each for each in segments if isinstance(each, DiskSegment)]
        if len(own) != len(segments):
            raise TypeError(f"{self.folder}: a segment that is not on disk")
        return own

    def _remove_at_once(self, at: int, paths: Sequence[Path]) -> None:
        for path in paths:
            self.disk.remove(path)

    def begin(self, base_offset: int, now: int) -> Segment:
        return self._segment(base_offset, now)

    def remove(self, segments: Sequence[Segment], now: int) -> None:
        paths: list[Path] = []
        for segment in self._own(segments):
            segment.rename("." + names.DELETED)
            paths += segment.paths()
            segment.close()
            self._segments.discard(segment)
        if paths:
            self._expire(now + self._config().file_delete_delay_ms, paths)

    def begin_cleaned(self, base_offset: int, now: int) -> Segment:
        return self._segment(base_offset, now, "." + names.CLEANED)

    def replace(
        self, old: Sequence[Segment], cleaned: Sequence[Segment], now: int
    ) -> Sequence[Segment]:
        made = self._own(cleaned)
        for segment in made:
            segment.seal()
            segment.flush()
            segment.stamp()
        for segment in reversed(made):
            segment.rename("." + names.SWAP)
        self.disk.sync_folder(self.folder)
        self.remove(old, now)
        for segment in made:
            segment.rename("")
        self.disk.sync_folder(self.folder)
        return cleaned

    # --- what stands beside them -------------------------------------------------------------

    def write_epochs(self, epochs: Sequence[tuple[int, int]]) -> None:
        path = self.folder / names.LEADER_EPOCHS
        self.disk.write_whole(path, checkpoints.encode_epochs(epochs), durable=False)
        self._epochs_loose = True

    def write_producers(self, offset: int, producers: Iterable[KnownProducer]) -> None:
        path = self.folder / names.name_of(offset, names.SNAPSHOT)
        self.disk.write_whole(path, producer_snapshot.encode(producers))

    def latest_producers(self, offset: int) -> tuple[int, list[KnownProducer]]:
        for path, at in sorted(self._snapshots(), key=lambda pair: -pair[1]):
            if at > offset:
                continue
            try:
                return at, producer_snapshot.decode(path.read_bytes())
            except FileFormatError as fault:
                self._say(f"{self.folder.name}: {path.name}: {fault}; removed")
                self.disk.remove(path)
        return 0, []

    def drop_producers(self, *, below: int | None = None, above: int | None = None) -> None:
        for path, at in self._snapshots():
            if (below is not None and at < below) or (above is not None and at > above):
                self.disk.remove(path)

    def _snapshots(self) -> list[tuple[Path, int]]:
        return [
            (path, file.base_offset)
            for path, file in segment_files(self.folder)
            if file.kind == names.SNAPSHOT
        ]

    def topic_id(self) -> bytes | None:
        """The id in `partition.metadata`; None without the file, FileFormatError if damaged."""
        path = self.folder / names.PARTITION_METADATA
        return partition_metadata.decode(path.read_bytes()) if path.exists() else None

    def write_topic_id(self, topic_id: bytes) -> None:
        self.disk.make_folder(self.folder)
        path = self.folder / names.PARTITION_METADATA
        self.disk.write_whole(path, partition_metadata.encode(topic_id), durable=False)

    # --- endings -----------------------------------------------------------------------------

    def flush(self, segments: Sequence[Segment]) -> None:
        for segment in segments:
            segment.flush()
        if self._epochs_loose:
            epochs = self.disk.file(self.folder / names.LEADER_EPOCHS)
            epochs.sync()
            epochs.close()
            self._epochs_loose = False
        self.disk.sync_folder(self.folder)

    def flush_sealed(self, segments: Sequence[Segment], durable: Callable[[], None]) -> None:
        if self._later is None:
            self.flush(segments)
            durable()
            return
        paths = [path for segment in self._own(segments) for path in segment.paths()]
        paths.append(self.folder / names.LEADER_EPOCHS)
        self._later(partial(_sync, [*paths, self.folder]), durable)

    def cut(self, offset: int) -> None:
        self._cut(offset)

    def close(self) -> None:
        for segment in self._segments:
            segment.close()

    def move_to(self, folder: Path) -> None:
        """Rename the folder with all that is open in it."""
        self.disk.replace(self.folder, folder)
        self.folder = folder
        for segment in self._segments:
            segment.move_to(folder)

    def rehome(
        self,
        disk: Disk,
        folder: Path,
        expire: Callable[[int, Sequence[Path]], None],
        cut: Callable[[int], None],
    ) -> None:
        """The folder was copied to another log directory, and belongs to it from now on."""
        self.disk, self.folder, self._expire, self._cut = disk, folder, expire, cut
        for segment in self._segments:
            segment.rehome(disk, folder)

    def delete(self, now: int) -> None:
        self.close()
        self.disk.remove_tree(self.folder)


def _sync(paths: Iterable[Path]) -> None:
    """Sync by its own descriptors, for another thread; what was removed meanwhile is skipped."""
    for path in paths:
        with suppress(FileNotFoundError):
            descriptor = os.open(path, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


def _epochs_of(segments: Iterable[DiskSegment]) -> list[tuple[int, int]]:
    """Where each leader epoch began, by the batches themselves."""
    epochs: list[tuple[int, int]] = []
    for segment in segments:
        for entry in segment.entries():
            if entry[v2.MAGIC_AT] == 2:
                epoch = int.from_bytes(entry[_EPOCH_AT : _EPOCH_AT + 4], "big", signed=True)
                if epoch >= 0 and (not epochs or epoch > epochs[-1][0]):
                    epochs.append((epoch, int.from_bytes(entry[:8], "big")))
    return epochs
