"""Where the log under test keeps its bytes: one contract, and `conftest` runs it over both."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from touchstone.reference_impl.io.disk import Disk
from touchstone.reference_impl.io.disk_store import DiskStore, Marks
from touchstone.reference_impl.log.memory_store import MemoryStore
from touchstone.reference_impl.log.store import Store
from touchstone.reference_impl.log.topic_config import TopicConfig

Maker = Callable[[Callable[[], TopicConfig]], Store]
chosen: list[Maker] = [MemoryStore]  # the last one is in force


class HastyDisk(Disk):
    """Says that it has synced, at once: for tests without a power cut."""

    def fsync(self, descriptor: int, path: Path) -> None:
        """Nothing."""


def on_disk(root: Path, *, most_open: int = 3) -> Maker:
    """A folder per log, and descriptors so few that they change hands all the time."""
    disk, made = HastyDisk(most_open), []

    def maker(config: Callable[[], TopicConfig]) -> Store:
        made.append(config)
        return DiskStore(disk, root / f"t-{len(made)}", config, marks=Marks())

    return maker
