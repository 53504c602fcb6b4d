"""What a run may keep between runs: one folder, filled atomically, shared by parallel processes.

Every entry is built in a temporary sibling and renamed into place, so an entry that exists is
complete: a killed run leaves rubbish with a dot in front, never half a class path. A lock file per
entry makes the second process wait for the first one's download in place of starting its own.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


def cache_dir() -> Path:
    """$TOUCHSTONE_CACHE, or the user's cache folder."""
    named = os.environ.get("TOUCHSTONE_CACHE")
    if named:
        return Path(named).expanduser().resolve()
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "touchstone"


def kept(entry: Path, build: Callable[[Path], None]) -> Path:
    """`entry`, made by `build(temporary folder)` if nobody has made it yet."""
    if entry.exists():
        return entry
    entry.parent.mkdir(parents=True, exist_ok=True)
    with locked(entry):
        if not entry.exists():
            work = Path(tempfile.mkdtemp(prefix=f".{entry.name}-", dir=entry.parent))
            try:
                build(work)
                work.rename(entry)
            finally:
                shutil.rmtree(work, ignore_errors=True)
    return entry


@contextmanager
def locked(entry: Path) -> Iterator[None]:
    """One process at a time for this entry; the lock dies with its holder."""
    entry.parent.mkdir(parents=True, exist_ok=True)
    with open(entry.parent / f".{entry.name}.lock", "w", encoding="ascii") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
