"""A process of brokers that is killed with SIGKILL and comes back: same ports, same data.

A signal only asks: the next one starts when the last is gone, for a directory has one owner.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from touchstone.harness.bench.contest import served
from touchstone.harness.targets.ports import in_a_row
from touchstone.reference_impl.io.client import Client


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
