"""Kafka's own Java programs: one that ends by itself, and one that is watched line by line.

They are of the newest release; what they print is what is looked at, as their users do.
"""

from __future__ import annotations

import json
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from touchstone.harness.targets import jvm, matrix
from touchstone.harness.targets.java import find_java
from touchstone.harness.targets.maven import kafka_home

VERSION = "4.3.1"
PATIENCE_S = 150.0
# Go builds from what was fetched, and a cold compiler on a busy machine takes its time.
GO_ALONE = {"GOPROXY": "off", "GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "local", "GOSUMDB": "off"}
GO_SECONDS = 300
POLL_S = 0.05
# Commands wait as long as we do; of themselves they end after 30 s.
WITH_TIMEOUT = ("--timeout", str(int(PATIENCE_S * 1000)))


class Program:
    """A running Java program. `lines` grows while it lives; use it as a context manager."""

    def __init__(
        self, folder: Path, main: str, *arguments: str, more: tuple[str, ...] = (),
        stdin: int = subprocess.DEVNULL,
    ) -> None:  # fmt: skip
        release, home = matrix.release(VERSION), kafka_home(VERSION, *more)
        folder.mkdir(parents=True, exist_ok=True)
        logging = jvm.write_logging(release, folder)
        logging.write_text(logging.read_text().replace("level=INFO", "level=ERROR"))
        java = find_java()
        argv = jvm.command(
            java, home, main, *arguments, profile="test", logging=logging,
            options=jvm.sharing(jvm.archive(java, home)),
        )  # fmt: skip
        self.name = main.rpartition(".")[2]
        self.process = subprocess.Popen(
            argv, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, cwd=folder,
        )  # fmt: skip
        self.lines: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def kill(self) -> None:
        """SIGKILL: no goodbye to the group."""
        self.process.kill()
        self._end()

    def ended(self) -> str:
        """All it said, once it has ended by itself."""
        self.process.wait(PATIENCE_S)
        self._end()
        return "\n".join(self.lines)

    def terminated(self) -> str:
        self.process.terminate()
        return self.ended()

    def events(self, *names: str) -> list[dict[str, Any]]:
        """What the Verifiable programs say is JSON lines with a name; in the order it was said."""
        found = [json.loads(line) for line in list(self.lines) if line.startswith("{")]
        return [row for row in found if row.get("name") in names]

    def until(self, done: Callable[[], Any], what: str) -> None:
        wait_for(done, lambda: f"{self.name}: {what}; it said\n" + "\n".join(self.lines[-15:]))

    def _read(self) -> None:
        for line in self.process.stdout:
            self.lines.append(line.rstrip())

    def _end(self) -> None:
        self.process.wait(PATIENCE_S)
        self._reader.join(PATIENCE_S)
        self.process.stdout.close()


def wait_for(done: Callable[[], Any], story: Callable[[], str]) -> None:
    """Look until it is so; AssertionError with the story when it does not come about."""
    until = time.monotonic() + PATIENCE_S
    pause = threading.Event()
    while not done():
        assert time.monotonic() < until, story()
        pause.wait(POLL_S)


class Commands(Program):
    """Kafka's own commands, one after the other in one JVM (`Commands.java`), for a JVM of its own
    costs each of them a second of a processor.
    """

    def __init__(self, folder: Path) -> None:
        source = str(Path(__file__).with_name("Commands.java"))
        super().__init__(folder, source, stdin=subprocess.PIPE)
        self._asked = 0

    def __call__(self, main: str, *arguments: str) -> str:
        """Return what the command prints."""
        begin, end = len(self.lines), f"== {self._asked}"
        self._asked += 1
        words = (f"org.apache.kafka.tools.{main}", *arguments)
        self.process.stdin.write("\t".join(words) + "\n")
        self.process.stdin.flush()
        self.until(lambda: end in self.lines[begin:], f"{main} does not end")
        return "\n".join(self.lines[begin : self.lines.index(end, begin)]).rstrip()

    def kill(self) -> None:
        self.process.stdin.close()
        super().kill()
