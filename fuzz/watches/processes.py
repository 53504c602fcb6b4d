"""What Linux says of a process: memory, open files, sockets, whether it runs."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

CLOSE_WAIT = "08"
RUNNABLE = "R"


@dataclass(frozen=True)
class ProcessUse:
    """What some processes hold together; `files` are descriptors that are neither sockets nor
    regular files, which a log has as many of as it has segments.
    """

    memory: int  # bytes, resident
    sockets: int
    files: int
    threads: int


def held_by(processes: list[int]) -> ProcessUse:
    memory = sockets = files = threads = 0
    for number in processes:
        folder = Path(f"/proc/{number}")
        rows = dict(line.split(":", 1) for line in (folder / "status").read_text().splitlines())
        memory += int(rows["VmRSS"].split()[0]) * 1024
        threads += int(rows["Threads"])
        for target in _open_files(folder / "fd"):
            if target.startswith("socket:"):
                sockets += 1
            elif target.startswith(("/dev/", "anon_inode:", "pipe:")):
                files += 1
    return ProcessUse(memory, sockets, files, threads)


def _open_files(folder: Path) -> list[str]:
    found = []
    for entry in folder.iterdir():
        try:
            found.append(os.readlink(entry))
        except FileNotFoundError:
            continue  # closed since
    return found


def wants_a_processor(processes: list[int]) -> bool:
    """Whether a thread of theirs runs, or would if a processor were free."""
    for number in processes:
        for task in Path(f"/proc/{number}/task").iterdir():
            try:
                # The name, in parentheses, may hold anything; the state follows it.
                state = (task / "stat").read_text().rpartition(")")[2].split()[0]
            except FileNotFoundError:
                continue  # ended since
            if state == RUNNABLE:
                return True
    return False


def is_java(process: int) -> bool:
    return Path(f"/proc/{process}/comm").read_text().strip() == "java"


def half_closed(port: int) -> int:
    """Connections to this port whose peer has closed and that the listener's process keeps open."""
    count = 0
    for table in (Path("/proc/net/tcp"), Path("/proc/net/tcp6")):
        if not table.exists():
            continue
        for line in table.read_text().splitlines()[1:]:
            _, local, _, state, *_ = line.split()
            count += state == CLOSE_WAIT and int(local.rpartition(":")[2], 16) == port
    return count
