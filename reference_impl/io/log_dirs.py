"""All log directories of one broker: where a new partition goes, what happens there by the clock.

Takes the place of `MemoryLogs` under `broker.replicas`. A new partition goes to the live directory
that holds the fewest (LOG-01). A directory that fails takes its logs with it: whoever asked for it
is told which, and the others serve on (KIP-112). Recovery points, log starts and high watermarks
are written down every so often, closed segments flushed beside the loop, files whose time has come
removed (LOG-03); `schedule` puts all of it into the broker's purgatory.

Sources: LogManager, ReplicaManager at 1.0.2, 2.8.2 and 4.3.1; KIP-112, KIP-113.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Protocol

from touchstone.reference_impl.cluster.replica import LeaderState
from touchstone.reference_impl.io.background import Background
from touchstone.reference_impl.io.disk import Disk
from touchstone.reference_impl.io.disk_store import DiskStore
from touchstone.reference_impl.io.log_dir import LogDir, Maker, TopicPartition
from touchstone.reference_impl.io.log_dir_error import LogDirError
from touchstone.reference_impl.log.directories import Directory
from touchstone.reference_impl.log.files.meta_properties import MetaProperties
from touchstone.reference_impl.log.partition_log import PartitionLog
from touchstone.reference_impl.log.rules import LogError, Rules
from touchstone.reference_impl.log.topic_config import TopicConfig

NEVER = 2**63 - 1
_TASKS = {
    "log.flush.offset.checkpoint.interval.ms": LogDir.write_recovery_points,
    "log.flush.start.offset.checkpoint.interval.ms": LogDir.write_log_starts,
    "log.cleaner.backoff.ms": LogDir.write_cleaner_offsets,
}
_HIGH_WATERMARKS = "replica.high.watermark.checkpoint.interval.ms"
_FLUSHER = "log.flush.scheduler.interval.ms"


class Alarms(Protocol):
    """The part of `broker.purgatory` that is used here."""

    def remind(self, key: object, at: int | None, call: Callable[[int], None]) -> None: ...


@dataclass(frozen=True, slots=True)
class LogDirRules:
    """The differences between releases in what they write beside the logs."""

    topic_ids: bool = True  # partition.metadata
    first_offsets: bool = False  # offset indexes name a batch by its first offset, not its last
    clean_epoch: bool = True  # the marker of a clean end names the broker epoch
    foreign: bool = False  # another program's directory: leftovers in it stay


class LogDirs:
    def __init__(
        self,
        roots: Sequence[Path],
        config_of: Callable[[str], TopicConfig],
        *,
        rules: Rules | None = None,
        dir_rules: LogDirRules | None = None,
        say: Callable[[str], None] = lambda sentence: None,
        failed: Callable[[str, Sequence[TopicPartition]], None] = lambda path, keys: None,
        disk: Callable[..., Disk] = Disk,
        background: Background | None = None,
    ) -> None:
        """Locks the directories; `failed(path, partitions)` hears of each that goes offline.

        LogDirError for one that is in use, or when all of them fail.
        """
        self._rules = rules or Rules()
        self._dir_rules = dir_rules or LogDirRules()
        self._say, self.failed = say, failed
        self._background = background
        self._alarms: Alarms | None = None
        self._config_of = config_of
        self._homeless: set[TopicPartition] = set()  # their directory is offline
        self.elsewhere: AbstractSet[TopicPartition] = frozenset()  # in one that is not served
        self._wakes_at = NEVER  # when files are to be removed next
        make = Maker(
            config_of,
            partial(self._new_log, config_of),
            say,
            background.submit if background else None,
            self._wake,
            disk,
            self._dir_rules.first_offsets,
            self._dir_rules.topic_ids,
            self._dir_rules.foreign,
        )
        self.dirs: list[LogDir] = []
        self.lost: dict[Path, str] = {}  # those that could not even be opened, and why
        for root in roots:
            try:
                self.dirs.append(LogDir(root, make, self._went_offline))
            except (LogError, OSError) as fault:
                self.lost[root] = str(fault)
                say(f"{root} is offline: {fault}")
            except LogDirError:
                self.release()
                raise
        if not self.dirs:
            raise LogDirError(f"none of the log directories can be used: {self.lost}")

    def _new_log(
        self,
        config_of: Callable[[str], TopicConfig],
        topic: str,
        index: int,
        store: DiskStore,
        now: int,
    ) -> PartitionLog:
        return PartitionLog(
            topic,
            index,
            partial(config_of, topic),
            rules=self._rules,
            store=store,
            now=now,
        )

    # --- identity and contents ---------------------------------------------------------------

    def owner(self) -> MetaProperties | None:
        """What the first directory that says anything says about its owner."""
        return next(filter(None, (each.owner() for each in self.dirs)), None)

    def identify(self, mine: MetaProperties, directory_ids: Sequence[str], written: str) -> None:
        """Write or check `meta.properties`; an id each where the release gives directories one."""
        for at, each in enumerate(self.dirs):
            directory = directory_ids[at] if directory_ids else None
            each.identify(replace(mine, directory_id=directory), written)

    def load(self, now: int) -> None:
        """Open what is there; LogDirError when a partition lies in two directories."""
        seen: dict[TopicPartition, Path] = {}
        for each in self._live():
            each.load(now)
            for key in each.logs:
                if key in seen:
                    raise LogDirError(
                        f"Duplicate log directories for {key[0]}-{key[1]}: {seen[key]}, {each.root}"
                    )
                seen[key] = each.root

    def partition_ids(self) -> dict[TopicPartition, bytes | None]:
        """Every partition that has a folder, with its topic's id where that is known."""
        return {key: each.topic_id(key) for each in self._live() for key in each.logs}

    def logs(self) -> dict[TopicPartition, PartitionLog]:
        """All that can be used."""
        return {key: log for each in self._live() for key, log in each.logs.items()}

    def _live(self) -> Iterator[LogDir]:
        return (each for each in self.dirs if not each.offline)

    def _home(self, key: TopicPartition) -> LogDir | None:
        return next((each for each in self.dirs if key in each.logs), None)

    # --- what replicas ask -------------------------------------------------------------------

    def open(self, state: LeaderState, now: int) -> PartitionLog:
        """The log of this partition, a new one if there is none, or it was another topic's.

        One that may lie in a directory that is offline is not begun anew elsewhere (LOG-08): what
        comes back then is a log that nobody may use, and `offline` says so.
        """
        key = state.topic, state.index
        home = self._home(key)
        if home is not None and not home.offline:
            named = home.topic_id(key) if any(state.topic_id) else None
            if named is None or named == state.topic_id:
                return home.logs[key]
            home.set_aside(key)
        missing = self.lost or any(each.offline for each in self.dirs)
        live = list(self._live())
        if not live or (not state.is_new and (missing or key in self.elsewhere)):
            gone = ", ".join(each.path for each in self.directories() if each.offline)
            gone = gone or "of this broker that are not served"
            self._say(
                f"Can not create log for {state.topic}-{state.index} because log directories"
                f" {gone} are offline"
            )
            self._homeless.add(key)
            return PartitionLog(*key, partial(self._config_of, state.topic), now=now)
        return min(live, key=lambda each: len(each.logs)).add(key, state.topic_id, now)

    def remove(self, topic: str, index: int, now: int) -> None:
        home = self._home((topic, index))
        if home is not None:
            home.remove((topic, index), now)

    def offline(self, topic: str, index: int) -> bool:
        return (topic, index) in self._homeless

    def move(self, topic: str, index: int, path: str, now: int) -> None:
        """Copy a log to another directory and go on there; LogError when a disk fails."""
        home = self._home((topic, index))
        target = next(each for each in self.dirs if str(each.root) == path)
        if home is not None and home is not target:
            target.take((topic, index), home, now)

    def directories(self) -> list[Directory]:
        """Each with its logs; an offline one has none that can be used (KIP-113)."""
        found = []
        for each in self.dirs:
            total, usable = (-1, -1) if each.offline else each.space()
            found.append(Directory(str(each.root), each.logs, total, usable, each.offline))
        return found + [Directory(str(root), {}, offline=True) for root in self.lost]

    # --- failures ----------------------------------------------------------------------------

    def _went_offline(self, gone: LogDir, fault: OSError) -> None:
        self._homeless.update(gone.logs)
        self.failed(str(gone.root), list(gone.logs))

    # --- the clock ---------------------------------------------------------------------------

    def schedule(self, alarms: Alarms, number: Callable[[str], int], now: int) -> None:
        """Do by the clock what is done by the clock; `number` gives a broker setting."""
        self._alarms = alarms
        for name, task in _TASKS.items():
            self._again(name, number(name), partial(self._each, task), now)
        self._again(_HIGH_WATERMARKS, number(_HIGH_WATERMARKS), self._write_high_watermarks, now)
        if number(_FLUSHER) < NEVER:
            self._again(_FLUSHER, number(_FLUSHER), self._flush_due, now)
        self._wake(now)

    def _again(self, name: str, interval: int, task: Callable[[int], None], now: int) -> None:
        def run(at: int) -> None:
            self._again(name, interval, task, at)
            task(at)

        assert self._alarms is not None
        self._alarms.remind((name, id(self)), now + interval, run)

    def _each(self, task: Callable[[LogDir], None], now: int) -> None:
        if self._background is not None:
            self._background.settle()
        for each in list(self._live()):
            self._survive(partial(task, each))

    def _write_high_watermarks(self, now: int) -> None:
        beside = self._background
        if beside is None:
            self._each(LogDir.write_high_watermarks, now)
        else:
            self._each(lambda each: each.write_high_watermarks_beside(beside), now)

    def _flush_due(self, now: int) -> None:
        for each in list(self._live()):
            self._survive(partial(each.flush_due, now))

    def _wake(self, at: int) -> None:
        if self._alarms is not None and at < self._wakes_at:
            self._wakes_at = at
            self._alarms.remind(("expired files", id(self)), at, self._remove_expired)

    def _remove_expired(self, now: int) -> None:
        due: list[int | None] = []
        self._wakes_at = NEVER

        def remove(each: LogDir) -> None:
            due.append(each.remove_expired(now))

        for each in list(self._live()):
            self._survive(partial(remove, each))
        soonest = min((at for at in due if at is not None), default=None)
        if soonest is not None:
            self._wake(soonest)

    @staticmethod
    def _survive(task: Callable[[], object]) -> None:
        """A directory that fails is offline by now, and has said so."""
        try:
            task()
        except LogError:
            return

    # --- endings -----------------------------------------------------------------------------

    def close(self, now: int, broker_epoch: int = -1) -> None:
        """A clean end (LOG-26)."""
        if self._background is not None:
            self._background.stop()
        for each in self.dirs:
            epoch = broker_epoch if self._dir_rules.clean_epoch else None
            self._survive(partial(each.close, now, epoch))

    def release(self) -> None:
        """Let go of everything, as the end of a killed process does."""
        if self._background is not None:
            self._background.stop()
        for each in self.dirs:
            each.release()
