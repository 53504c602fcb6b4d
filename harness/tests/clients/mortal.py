"""A process of brokers that is killed with SIGKILL and comes back: same ports, same data.

Nobody holds a dead process's ports for it, so they lie below those that the kernel hands out: else
whoever connects somewhere in that second may be given one of them as its own end (a client that
looks for the broker even itself, TCP's simultaneous open), and the next process cannot bind it. And
a signal only asks: the next one starts when the last is gone, for a directory has one owner.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from touchstone.harness.bench.contest import served
from touchstone.reference_impl.io.client import Client

FIRST_PORT = 15_000
HANDED_OUT = Path("/proc/sys/net/ipv4/ip_local_port_range")  # Linux; 49152 is the lowest elsewhere
USUAL_LOWEST = 32_768


class Brokers:
    """All brokers in one process on one data directory; another takes its place when killed."""

    def __init__(
        self, stack: ExitStack, data: Path, brokers: int, settings: Mapping[str, object], *more: str
    ) -> None:
        self._argv = [sys.executable, "-m", "touchstone", "broker", "--brokers", str(brokers)]
        self._argv += ["--port", str(in_a_row(brokers)), "--data", str(data), *more]
        for name, value in settings.items():
            self._argv += ["--config", f"{name}={value}"]
        self._stack, self.replicas = stack, brokers
        self._start()

    def kill(self) -> None:
        """Returns when the next process serves."""
        os.kill(self._process, signal.SIGKILL)
        os.waitid(os.P_PID, self._process, os.WEXITED | os.WNOWAIT)  # its parent reaps it later
        self._start()

    def create(self, topic: str, partitions: int) -> None:
        with Client(self.bootstrap.split(",")) as client:
            client.admin.create_topic(topic, partitions, self.replicas)

    def _start(self) -> None:
        self.bootstrap, self._process = self._stack.enter_context(served(self._argv))


def in_a_row(count: int, start: int | None = None) -> int:
    """The first of so many neighbouring ports that nobody uses and the kernel gives to nobody.

    Processes that look at the same time begin at different places. LookupError when there is none.
    """
    end = lowest_handed_out() - count
    places = range(FIRST_PORT, end, count)
    turn = os.getpid() * 7 % len(places) if start is None else places.index(start)
    for first in (*places[turn:], *places[:turn]):
        if all(map(_is_free, range(first, first + count))):
            return first
    raise LookupError(f"no {count} free ports between {FIRST_PORT} and {end}")


def lowest_handed_out() -> int:
    """From here on the kernel gives ports to whoever binds or connects without naming one."""
    return int(HANDED_OUT.read_text().split()[0]) if HANDED_OUT.exists() else USUAL_LOWEST


def _is_free(port: int) -> bool:
    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
