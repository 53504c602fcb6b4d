"""A disk that stops: after so many bytes and operations, and if asked with what was not synced.

`Power` is shared by all disks of a run. Every byte written and every other change costs one; when
the budget is spent, the write under way ends where it is and `PowerCut` comes, now and at every
later touch. A killed process leaves it at that: `kill`. A power cut also loses, at random, what was
never synced (`lose`): the ends of files, or zeros in their place, and the latest changes of names
in a folder since it was synced, latest first, as a journal does.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path

from touchstone.reference_impl.io.disk import Disk


class PowerCut(BaseException):
    """Nothing of this process happens any more."""


class Power:
    def __init__(self, budget: int, grave: Path) -> None:
        self.budget = budget
        self.spent = 0
        self._grave = grave  # where removed files wait for their removal to be durable
        self._synced: dict[Path, int] = {}  # bytes of each file that are safe
        self._names: dict[Path, list[Callable[[], None]]] = {}  # undo of each change, by folder

    def draw(self, cost: int) -> int:
        """How much of `cost` there is power for; PowerCut when there is none at all."""
        left = self.budget - self.spent
        if left <= 0:
            raise PowerCut
        self.spent += cost
        return min(cost, left)

    def changed(self, path: Path, undo: Callable[[], None]) -> None:
        self._names.setdefault(path.parent, []).append(undo)

    def lose(self, chance: random.Random) -> None:
        for undone in self._names.values():
            kept = chance.randrange(len(undone) + 1)
            for undo in reversed(undone[kept:]):
                undo()
        for path, safe in self._synced.items():
            if path.exists() and path.stat().st_size > safe:
                size = path.stat().st_size
                kept = chance.randrange(safe, size + 1)
                os.truncate(path, kept)
                if chance.random() < 0.3:
                    os.truncate(path, size)

    # --- what disks tell ---------------------------------------------------------------------

    def wrote(self, path: Path, at: int) -> None:
        self._synced[path] = min(self._synced.get(path, 0), at)

    def found(self, path: Path) -> None:
        """What was there before this power came on has survived already."""
        self._synced.setdefault(path, path.stat().st_size)

    def cut(self, path: Path, size: int) -> None:
        if path in self._synced:
            self._synced[path] = min(self._synced[path], size)

    def synced(self, path: Path) -> None:
        if path.is_dir():
            self._names.pop(path, None)
        else:
            self._synced[path] = path.stat().st_size

    def made(self, path: Path) -> None:
        self._synced[path] = 0
        self.changed(path, lambda: path.unlink(missing_ok=True))

    def renamed(self, old: Path, new: Path, covered: bool) -> None:
        self._synced[new] = self._synced.pop(old, 0 if new.is_file() else 1 << 62)
        if not covered:
            self.changed(new, lambda: new.exists() and os.replace(new, old))

    def remove(self, path: Path) -> None:
        place = self._grave / f"{self.spent}-{path.name}"
        os.replace(path, place)
        self.changed(path, lambda: place.exists() and os.replace(place, path))


class BreakingDisk(Disk):
    def __init__(self, power: Power, *, failed: Callable[[OSError], None]) -> None:
        super().__init__(4, failed)
        self.power = power

    def lend(self, file):
        new = not file.path.exists()
        descriptor = super().lend(file)
        if new:
            self.power.made(file.path)
        else:
            self.power.found(file.path)
        return descriptor

    def pwrite(self, descriptor, data, at, path):
        granted = self.power.draw(len(data))
        self.power.wrote(path, at)
        return os.pwrite(descriptor, memoryview(data)[:granted], at)

    def ftruncate(self, descriptor, size, path):
        self.power.draw(1)
        os.ftruncate(descriptor, size)
        self.power.cut(path, size)

    def fsync(self, descriptor, path):
        self.power.draw(1)
        self.power.synced(path)

    def rename(self, old, new):
        self.power.draw(1)
        covered = new.exists()
        os.replace(old, new)
        self.power.renamed(old, new, covered)

    def unlink(self, path):
        self.power.draw(1)
        if path.exists():
            self.power.remove(path)
