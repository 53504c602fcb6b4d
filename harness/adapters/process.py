"""A client's program as a process: its limits, the lines it says, what memory and time it takes.

Adapters are judged with it (`stage`), and client campaigns of the fuzzer play with it.

Reads Linux's /proc for both; elsewhere they are not measured, only limited.
"""

from __future__ import annotations

import os
import queue
import resource
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Generic, TypeVar

from touchstone.harness.adapters.program import Program

CPU_S = 900
"""Seconds of CPU for a process, which plays many cases."""
END = "end"
EXCERPT = 600


P = TypeVar("P", bound=Program)


class Process(Generic[P]):
    """A running program. `line(timeout_s)` gives what it said next; END once it is dead.

    Whoever gives `heard` is called with each line instead, at once and from another thread.
    """

    def __init__(
        self, program: P, heard: Callable[[str], None] | None = None, cpu_s: int = CPU_S
    ) -> None:
        self.program = program
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the process

        def limited() -> None:
            resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            if program.address_space is not None:
                resource.setrlimit(resource.RLIMIT_AS, (program.address_space,) * 2)

        self._child = subprocess.Popen(
            program.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors,
            env=os.environ | dict(program.environment), text=True, preexec_fn=limited,
            start_new_session=True,  # Ctrl-C is for who judges: a client that dies of it is no news
        )  # fmt: skip
        self._lines: queue.Queue[str] = queue.Queue()
        self._heard = heard or self._lines.put
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def say(self, line: str) -> None:
        """Nothing happens when it is dead: that shows as END."""
        assert self._child.stdin is not None
        with suppress(OSError):
            self._child.stdin.write(line + "\n")
            self._child.stdin.flush()

    def line(self, timeout_s: float) -> str | None:
        """The next line, END when there will be none; None when nothing came in time."""
        try:
            return self._lines.get(timeout=max(0.0, timeout_s))
        except queue.Empty:
            return None

    def wait_for(self, wanted: str, timeout_s: float) -> bool:
        """Whether this line came in time; others are dropped."""
        until = time.monotonic() + timeout_s
        while (line := self.line(until - time.monotonic())) not in (None, END):
            if line == wanted:
                return True
        return False

    def how_it_ended(self) -> str:
        """Of a dead one: the signal or the exit code, and the last it wrote to stderr."""
        code = self._child.wait()
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        return f"{how}; {self.last_words()}"

    def last_words(self) -> str:
        size = self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, size - EXCERPT))
        return " ".join(self._errors.read().decode("utf-8", "replace").split())

    def resident(self) -> int:
        """Bytes now."""
        return self._status("VmRSS")

    def peak(self) -> int:
        """The most bytes since `forget_peak`."""
        return self._status("VmHWM")

    def most_reserved(self) -> int:
        """The most bytes of address space since it began, touched or not; no `forget_peak` resets
        it.
        """
        return self._status("VmPeak")

    def processor_s(self) -> float:
        """Seconds of processor time since it began, of all its threads; 0 where nothing tells."""
        try:
            text = Path(f"/proc/{self._child.pid}/stat").read_text()
        except OSError:
            return 0.0
        user, system = text.rpartition(")")[2].split()[11:13]  # behind its name, which may have any
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def forget_peak(self) -> None:
        with suppress(OSError):
            Path(f"/proc/{self._child.pid}/clear_refs").write_text("5")

    def _status(self, name: str) -> int:
        try:
            text = Path(f"/proc/{self._child.pid}/status").read_text()
        except OSError:
            return 0
        found = [line.split()[1] for line in text.splitlines() if line.startswith(name)]
        return int(found[0]) * 1024 if found else 0

    def end(self) -> None:
        """Kill it, and wait until it is gone."""
        with suppress(ProcessLookupError):
            os.killpg(self._child.pid, signal.SIGKILL)
        self._child.wait()
        self._reader.join()
        for stream in (self._child.stdin, self._child.stdout, self._errors):
            if stream is not None:
                with suppress(OSError):
                    stream.close()

    def _read(self) -> None:
        assert self._child.stdout is not None
        for line in self._child.stdout:
            self._heard(line.rstrip("\n"))
        self._heard(END)
