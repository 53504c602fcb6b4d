"""Processes that end when we say so, and also when we can no longer say anything.

Three ends are covered. A child is the leader of its own process group and is signalled as a group.
A normal end of this program runs `stop`. And a program that is killed outright leaves a watchdog: a
shell that reads the groups' numbers from a pipe and, when the pipe closes because its only writer
died, kills the groups it still knows and removes their folder. The kernel's parent-death signal was
rejected: it fires when the *thread* that started the child ends, and only Linux has it.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

_GUARD = """
trap '' INT TERM HUP
groups= folder=$1
while read -r sign group; do
    [ "$sign" = keep ] && folder= && continue
    left=
    for known in $groups; do
        [ "$known" = "$group" ] || left="$left $known"
    done
    groups=$left
    [ "$sign" = + ] && groups="$groups $group"
done
for group in $groups; do kill -KILL "-$group"; done
[ -z "$folder" ] || rm -rf "$folder"
"""

_COMPLAINT = re.compile(r"\b(FATAL|ERROR)\b|^Exception in|^Error")

# Lines with which a program says why it ends; what follows is a trace.
_LAST = re.compile(
    r"^(panic|fatal error|runtime error): |panicked at|^Exception in|^Traceback|\bFATAL\b|^Killed",
    re.MULTILINE,
)
LAST_WORDS = 400
"""Characters that an obituary quotes."""
KEPT = 64 << 10
"""Characters of a log that are kept of who died."""


class Watchdog:
    """Kills registered process groups and removes `folder` when this process is gone."""

    def __init__(self, folder: Path | None) -> None:
        self._shell = subprocess.Popen(
            ["/bin/sh", "-c", _GUARD, "touchstone-watchdog", str(folder or "")],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True, cwd="/",
        )  # fmt: skip
        assert self._shell.stdin is not None, "it was opened with a pipe"
        self._stdin = self._shell.stdin

    def note(self, sign: str, group: int) -> None:
        """ "+" a group to kill, "-" one that is over (its number may soon be somebody else's)."""
        self._say(f"{sign} {group}\n")

    def spare_folder(self) -> None:
        """Leave the folder where it is: it holds the logs of a failure."""
        self._say("keep folder\n")

    def _say(self, line: str) -> None:
        if not self._stdin.closed:
            with contextlib.suppress(BrokenPipeError):
                os.write(self._stdin.fileno(), line.encode())

    def close(self) -> None:
        """Let it do its duty now and wait for it."""
        if not self._stdin.closed:
            self._stdin.close()
            self._shell.wait()


class Child:
    """One program with a log file: started, signalled and waited for."""

    def __init__(
        self, argv: Sequence[str], *, log: Path, cwd: Path, watchdog: Watchdog | None = None
    ) -> None:
        self.argv, self.log, self.cwd = list(argv), log, cwd
        self.paused = False
        self._from = 0
        self._watchdog = watchdog
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Begin; the log is appended to, so a restart keeps what led to it."""
        with open(self.log, "ab") as log:
            self._from = log.tell()
            self._process = subprocess.Popen(
                self.argv, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                cwd=self.cwd, start_new_session=True,
            )  # fmt: skip
        if self._watchdog:
            self._watchdog.note("+", self._process.pid)

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    @property
    def exit_code(self) -> int | None:
        """None while it runs (or before it was ever started)."""
        return self._process.poll() if self._process else None

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def signal(self, number: int) -> None:
        """To the whole group; harmless when it is already gone."""
        if self._process is not None and self.alive:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, number)

    def pause(self) -> None:
        self.signal(signal.SIGSTOP)
        self.paused = True

    def resume(self) -> None:
        self.signal(signal.SIGCONT)
        self.paused = False

    def wait(self, seconds: float) -> bool:
        """Whether it ended by itself in that time."""
        try:
            if self._process:
                self._process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            return False
        self._over()
        return True

    def stop(self, seconds: float) -> bool:
        """Ask politely and wait; True if that was enough, else it was killed."""
        if self.paused:
            self.resume()
        self.signal(signal.SIGTERM)
        ended = self.wait(seconds)
        if not ended:
            self.kill()
        return ended

    def kill(self) -> None:
        """End the group at once and reap it."""
        self.signal(signal.SIGKILL)
        if self._process:
            self._process.wait()
        self._over()

    def _over(self) -> None:
        self.paused = False
        if self._watchdog and self._process:
            self._watchdog.note("-", self._process.pid)

    def said(self) -> str:
        """What it wrote since it was last started."""
        try:
            with open(self.log, "rb") as log:
                log.seek(self._from)
                return log.read().decode("utf-8", "replace")
        except OSError as error:
            return f"(no log: {error})"

    def obituary(self, seconds: float) -> str | None:
        """How it ended and what it said last; None of one that still runs after so many seconds."""
        if self._process is None or not self.wait(seconds):
            return None
        code = self._process.returncode
        how = f"exit code {code}" if code >= 0 else f"killed by {signal.Signals(-code).name}"
        return f"{self.log.stem}: {how}, {last_words(self.said()) or 'it said nothing'}"

    def excerpt(self) -> str:
        """The lines of its last run that an error message should quote."""
        return excerpt(self.said())


def last_words(log: str) -> str:
    """Why a program ended, in its own words: from the last line on that says so, else the end."""
    reasons = [found.start() for found in _LAST.finditer(log)]
    words = log[reasons[-1] :][:LAST_WORDS] if reasons else log[-LAST_WORDS:]
    return " ".join(words.split())


def excerpt(log: str, count: int = 12) -> str:
    """From the first complaint on, else the last lines.

    A server that dies says why first and then spends a screen on shutting down tidily.
    """
    lines = log.splitlines()
    complaint = next((at for at, line in enumerate(lines) if _COMPLAINT.search(line)), None)
    shown = lines[-count:] if complaint is None else lines[complaint : complaint + count]
    return "\n".join(f"    {line[:300]}" for line in shown) or "    (it said nothing)"


def remove(folder: Path) -> None:
    """A folder and all in it; a file that vanished meanwhile is what we wanted."""
    shutil.rmtree(folder, ignore_errors=True)
