"""A network, a clock or a disk of a broker's own, so that a fault can take it away.

A process can be killed and paused wherever it runs. To cut it off from some peers, to let its clock
jump or its disk fill, it must have been started with one of these of its own. Each `Isolation`
gives one; by default a broker gets none and runs as any program does. All three need root on Linux
and say in words what is missing (`unsupported`), never by failing half way.

    namespaces   a network namespace for each broker, joined by a bridge (ip-netns(8), veth(4));
                 ZooKeeper and controller stay outside, on the bridge's own address
    clocks       a library of ours, preloaded, adds an offset to the wall clock (wall_clock.c)
    disks        a small ext4 file system for each broker, in a file (loop device)

Names on the machine carry the number of the process that made them; those of a process that is
gone are removed by the next run.
"""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import os
import re
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

CLOCK_SOURCE = Path(__file__).with_name("wall_clock.c")
DISK_MIB = 256
_SERIALS = itertools.count(1)
_SHUTDOWN = 0x8004587D  # FS_IOC_SHUTDOWN of ext4: every later access is an I/O error
_DO_NOT_FLUSH = struct.pack("I", 2)


class Isolation:
    """No isolation: a broker runs as any program does."""

    name = "plain"

    def unsupported(self) -> str | None:
        """Why this isolation cannot be had on this machine, or None."""
        return None

    def open(self, folder: Path) -> None:
        """Before any process starts."""

    def host(self, node: int | None) -> str | None:
        """The address of a broker, or of what keeps the metadata (None); None: as usual."""

    def command(self, node: int, argv: Sequence[str]) -> list[str]:
        """How this broker's program is started."""
        return list(argv)

    def disk(self, node: int, path: Path) -> None:
        """Before this broker's data folder is written to."""

    def close(self) -> None:
        """Leave nothing; harmless when repeated."""


class Namespaces(Isolation):
    """A network namespace for each broker."""

    name = "namespaces"

    def __init__(self) -> None:
        self.serial = next(_SERIALS) % 250
        self.subnet = f"10.{os.getpid() % 200 + 20}.{self.serial}"
        self.made: dict[int, str] = {}
        self.bridge = ""

    def unsupported(self) -> str | None:
        # What faults use inside (iptables, tc) they ask for themselves (`nemesis.cuts`).
        if shutil.which("ip") is None:
            return "no ip"
        return None if os.geteuid() == 0 else "network namespaces need root"

    def open(self, folder: Path) -> None:
        _remove_orphans()
        self.bridge = f"tsb{os.getpid()}.{self.serial}"[:15]
        _do("ip", "link", "add", self.bridge, "type", "bridge")
        _do("ip", "addr", "add", f"{self.host(None)}/24", "dev", self.bridge)
        _do("ip", "link", "set", self.bridge, "up")
        # Where Docker is or was, what crosses any bridge is filtered as if it were routed.
        # Without the tool nothing can be filtered, and this machine may have no filter at all.
        if shutil.which("iptables"):
            _do("iptables", "-w", "-I", "FORWARD", *self._within())

    def host(self, node: int | None) -> str:
        return f"{self.subnet}.{254 if node is None else node + 1}"

    def command(self, node: int, argv: Sequence[str]) -> list[str]:
        if node not in self.made:
            self._make(node)
        return self.inside(node, argv)

    def inside(self, node: int, argv: Sequence[str]) -> list[str]:
        """A command that runs where this broker's network is."""
        return ["ip", "netns", "exec", self.made[node], *argv]

    def close(self) -> None:
        for name in self.made.values():
            _try("ip", "netns", "del", name)
        if self.bridge:
            if shutil.which("iptables"):
                _try("iptables", "-w", "-D", "FORWARD", *self._within())
            _try("ip", "link", "del", self.bridge)
        self.made, self.bridge = {}, ""

    def _within(self) -> tuple[str, ...]:
        return "-i", self.bridge, "-o", self.bridge, "-j", "ACCEPT"

    def _make(self, node: int) -> None:
        name = f"touchstone-{os.getpid()}-{self.serial}-{node}"
        outer = f"tv{os.getpid()}.{self.serial}.{node}"[:15]
        _do("ip", "netns", "add", name)
        self.made[node] = name
        _do("ip", "link", "add", outer, "type", "veth", "peer", "name", "eth0", "netns", name)
        _do("ip", "link", "set", outer, "master", self.bridge, "up")
        for words in (
            f"addr add {self.host(node)}/24 dev eth0", "link set eth0 up", "link set lo up",
        ):  # fmt: skip
            _do("ip", "-n", name, *words.split())


class Clocks(Isolation):
    """A wall clock for each broker that is ahead by what stands in a file."""

    name = "clocks"

    def __init__(self) -> None:
        self.folder = Path()

    def unsupported(self) -> str | None:
        if not sys.platform.startswith("linux"):
            return "only Linux preloads a clock"
        return None if shutil.which("cc") else "no C compiler (cc) for the clock to preload"

    def open(self, folder: Path) -> None:
        self.folder = folder
        self.library = folder / "wall_clock.so"
        _do("cc", "-shared", "-fPIC", "-O2", "-o", str(self.library), str(CLOCK_SOURCE), "-ldl")

    def command(self, node: int, argv: Sequence[str]) -> list[str]:
        self._file(node).write_bytes(bytes(8))
        words = (f"LD_PRELOAD={self.library}", f"TOUCHSTONE_CLOCK={self._file(node)}")
        return ["env", *words, *argv]

    def set(self, node: int, ms: int) -> None:
        """This broker's wall clock is so many milliseconds ahead (behind, below 0) from now on."""
        with self._file(node).open("r+b") as file:
            file.write(struct.pack("=q", ms * 1_000_000))

    def _file(self, node: int) -> Path:
        return self.folder / f"clock-{node}"


class Disks(Isolation):
    """A small file system for each broker's data."""

    name = "disks"

    def __init__(self) -> None:
        self.mounts: dict[int, Path] = {}
        self.folder = Path()

    def unsupported(self) -> str | None:
        if os.geteuid() != 0:
            return "file systems of one's own need root"
        missing = [tool for tool in ("mount", "umount", "mkfs.ext4") if not shutil.which(tool)]
        if missing:
            return f"no {', '.join(missing)}"
        return None if Path("/dev/loop-control").exists() else "no loop devices"

    def open(self, folder: Path) -> None:
        self.folder = folder

    def disk(self, node: int, path: Path) -> None:
        image = self._image(node)
        with image.open("wb") as file:
            file.truncate(DISK_MIB << 20)
        _do("mkfs.ext4", "-q", "-m", "0", str(image))
        path.mkdir(parents=True)
        self.mounts[node] = path
        self.mount(node)
        with contextlib.suppress(OSError):
            (path / "lost+found").rmdir()  # Kafka refuses a folder that is no partition

    def mount(self, node: int) -> None:
        _do("mount", "-o", "loop", str(self._image(node)), str(self.mounts[node]))

    def unmount(self, node: int) -> None:
        """Whoever has files open keeps a dead file system; nobody new finds it."""
        _try("umount", "-l", str(self.mounts[node]))

    def fail(self, node: int) -> None:
        """From now on every access is an I/O error, until it is mounted again.

        What was written before is on the disk: a cable that is pulled takes the last moments, not
        the files that a broker cannot start without.
        """
        _try("sync", "-f", str(self.mounts[node]))
        door = os.open(self.mounts[node], os.O_RDONLY)
        try:
            fcntl.ioctl(door, _SHUTDOWN, _DO_NOT_FLUSH)
        finally:
            os.close(door)

    def close(self) -> None:
        for node in list(self.mounts):
            self.unmount(node)
            del self.mounts[node]
            self._image(node).unlink(missing_ok=True)

    def _image(self, node: int) -> Path:
        return self.folder / f"disk-{node}.ext4"


class Isolations(Isolation):
    """Several at once."""

    def __init__(self, parts: Sequence[Isolation] = ()) -> None:
        self.parts = list(parts)

    def part(self, name: str) -> Isolation | None:
        return next((part for part in self.parts if part.name == name), None)

    def unsupported(self) -> str | None:
        return next(filter(None, (part.unsupported() for part in self.parts)), None)

    def open(self, folder: Path) -> None:
        for part in self.parts:
            part.open(folder)

    def host(self, node: int | None) -> str | None:
        return next(filter(None, (part.host(node) for part in self.parts)), None)

    def command(self, node: int, argv: Sequence[str]) -> list[str]:
        for part in self.parts:
            argv = part.command(node, argv)
        return list(argv)

    def disk(self, node: int, path: Path) -> None:
        for part in self.parts:
            part.disk(node, path)

    def close(self) -> None:
        for part in self.parts:
            part.close()


ISOLATIONS = {part.name: part for part in (Clocks, Disks, Namespaces)}


def _remove_orphans() -> None:
    """Namespaces of runs that were killed; their ends of the wires go with them."""
    listed = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=False)
    for name in re.findall(r"^touchstone-\d+-\d+-\d+", listed.stdout, re.MULTILINE):
        if not Path("/proc", name.split("-")[1]).exists():
            _try("ip", "netns", "del", name)
    links = subprocess.run(["ip", "-o", "link"], capture_output=True, text=True, check=False)
    for name, pid in re.findall(r"^\d+: (tsb(\d+)\.\d+)", links.stdout, re.MULTILINE):
        if not Path("/proc", pid).exists():
            _try("ip", "link", "del", name)


def _do(*argv: str) -> None:
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(f"{' '.join(argv)}: {done.stderr.strip() or done.returncode}")


def _try(*argv: str) -> None:
    subprocess.run(argv, capture_output=True, check=False)


@runtime_checkable
class Isolable(Protocol):
    """A target whose brokers can be started with isolations of their own."""

    def isolate(self, isolation: Callable[[], Isolations]) -> None:
        """What brokers that are started from now on have of their own."""
