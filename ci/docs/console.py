"""Runs the commands that a page shows and compares what they say with what it says they say.

    python -m ci.docs.console docs/tutorials/broker.md            compare; exit code 1 if it differs
    python -m ci.docs.console --update docs/tutorials/broker.md   write what was said into the page

A block of language `console` holds commands (`$ ` in front; a line that ends with a backslash goes
on) and their output. A block whose title says "terminal" is started and left running until the
page ends; it is there when it has written a line that begins with `ready`. A block of another
language whose title is the name of a file is written to that file. All happens in one empty
folder. Ports 90xx are other ports while the commands run, so that a page can say 9092.

What is compared: every line of output that the page shows, in its order. A number must be the one
that is printed, so a count on a page cannot grow old; only what differs from run to run is taken
for equal (`VARIES`: times and rates, addresses, names and ids drawn by chance, and the counts of a
load that runs for some seconds). A line `...` stands for lines that are left out.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

FENCE = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TITLE = re.compile(r'title="([^"]*)"')
SHOWN = re.compile(r"(?<![\d.])90(\d\d)(?!\d)")
PORTS = (9080, 9092, 9093)  # what pages name
HUNDREDS = range(270, 280)  # where 90xx is, one hundred for each page that is run at a time
READY_S, COMMAND_S, LOOK_S = 600.0, 3600.0, 0.05  # after the first two, a command hangs
# Variables that change what a command prints: in CI pytest does not shorten its summary.
NOT_A_READERS = re.compile(r"PYTEST|TOUCHSTONE_|CI$|BUILD_NUMBER$|GITHUB_|FORCE_COLOR$")
_COUNT = r"\d[\d,]*"
VARIES = tuple(
    re.compile(pattern)
    for pattern in (
        r"\b\d{8}T\d{6}(?:-[0-9a-f]{8})?",  # when a run began, and its nonce
        r"\b\d{4}-\d\d-\d\d\b",
        r"(?:0x|\b)[0-9a-f]{8,}\b(?:-[0-9a-f]{4}){0,3}",  # nonces, bytes, checksums
        r"(?<=:)\d{4,5}\b",  # ports
        r"\d[\d.,]* ?(?:ns|us|ms|s|min|h|hours|seconds|KB|MB|MiB|bytes|/s|%)(?!\w)"
        r"(?: \(\d+:\d\d:\d\d\))?",  # how pytest shows a minute and more once again
        rf"{_COUNT}(?= (?:operations|records? read|sends|simulated|acknowledged|connections"
        r"|behaviours|faults|that no promise))",
        rf"{_COUNT}(?:/{_COUNT}){{2}}(?= sends)",
        rf"(?<!corpus: )(?<=: ){_COUNT}(?= cases, )",  # how far a campaign comes in its time
    )
)
ELISION = "..."


@dataclass
class Command:
    """One command of a page, what the page says it answers, and what it did answer."""

    text: str
    shown: list[str]
    said: list[str] = field(default_factory=list)
    code: int = 0

    def agrees(self) -> bool:
        """Whether every line shown was said, in this order."""
        said = iter([levelled(line) for line in self.said])
        return all(levelled(line) in said for line in self.shown if line.strip() != ELISION)

    def is_whole(self) -> bool:
        """Whether nothing that was said is missing without a sign."""
        left_out = any(line.strip() == ELISION for line in self.shown)
        return left_out or list(map(levelled, self.shown)) == list(map(levelled, self.said))


def levelled(line: str) -> str:
    """Without what differs from run to run, and without the widths of columns."""
    line = re.sub(r"--pyargs 'touchstone\.([\w.]+)::", as_in_a_checkout, line)
    line = re.sub(r"^[.sFxE]{5,}(?=\s)", "dots", line)
    for each in VARIES:
        line = each.sub("N", line)
    return re.sub(r"[\s=]+", " ", line).strip()


def as_in_a_checkout(found: re.Match[str]) -> str:
    """What a hint says in a checkout; where Touchstone is installed it names the module."""
    return f"'{found[1].replace('.', '/')}.py::"


def free_hundred() -> int:
    """The first hundred of ports in which those that pages name are free. Raises OSError."""
    for hundred in HUNDREDS:
        with contextlib.suppress(OSError), contextlib.ExitStack() as held:
            for port in PORTS:
                taken = held.enter_context(socket.socket())
                taken.bind(("127.0.0.1", hundred * 100 + port % 100))
            return hundred
    raise OSError(f"no free ports between {HUNDREDS[0]}00 and {HUNDREDS[-1]}99")


def commands(block: str) -> list[Command]:
    """The commands of a block with the lines below each."""
    found: list[Command] = []
    open_line = False
    for line in block.splitlines():
        if open_line:
            found[-1].text += "\n" + line
        elif line.startswith("$ "):
            found.append(Command(line[2:], []))
        elif found:
            found[-1].shown.append(line)
        open_line = bool(found) and not found[-1].shown and found[-1].text.endswith("\\")
    return found


class Terminal:
    """The folder in which a page's commands run, and what they left running."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self.folder, self.environment = folder, dict(environment)
        self._left: list[subprocess.Popen[bytes]] = []
        self._hundred = free_hundred()
        self._used = re.compile(rf"(?<![\d.]){self._hundred}(\d\d)(?!\d)")

    def used(self, text: str) -> str:
        """A page's text with the ports that are used while it runs."""
        return SHOWN.sub(rf"{self._hundred}\g<1>", text)

    def seen(self, output: str) -> list[str]:
        """Lines of output with the ports that the page names."""
        return self._used.sub(r"90\1", output.rstrip("\n")).splitlines()

    def run(self, one: Command) -> None:
        done = subprocess.run(
            ["bash", "-c", self.used(one.text)], cwd=self.folder, env=self.environment,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=COMMAND_S,
            stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip
        one.said = self.seen(done.stdout)
        one.code = done.returncode

    def leave_running(self, one: Command) -> None:
        """Raises TimeoutError when it does not say that it is ready."""
        log = self.folder / f".terminal-{len(self._left)}"
        with log.open("wb") as out:
            self._left.append(subprocess.Popen(
                ["bash", "-c", f"exec {self.used(one.text)}"], cwd=self.folder,
                env=self.environment, stdout=out, stderr=subprocess.STDOUT,
            ))  # fmt: skip
        until = time.monotonic() + READY_S
        while not re.search(r"^ready", log.read_text("utf-8"), re.MULTILINE):
            if self._left[-1].poll() is not None or time.monotonic() > until:
                raise TimeoutError(f"{one.text}: {log.read_text('utf-8')}")
            time.sleep(LOOK_S)
        one.said = self.seen(log.read_text("utf-8"))

    def close(self) -> None:
        for process in reversed(self._left):
            process.send_signal(signal.SIGTERM)
            process.wait(READY_S)


def environment(programs: Path) -> dict[str, str]:
    """With these programs in front, and nothing that colours or shortens output."""
    given = {name: value for name, value in os.environ.items() if not NOT_A_READERS.match(name)}
    return {
        **given, "PATH": f"{programs}{os.pathsep}{given.get('PATH', '')}", "COLUMNS": "100",
        "NO_COLOR": "1", "PYTHONUNBUFFERED": "1",
    }  # fmt: skip


def walk(text: str, terminal: Terminal, leave_out: Mapping[str, str]) -> Iterator[Command]:
    """Run a page's commands; `leave_out` names those that do not run here, each with the reason."""
    for fence in FENCE.finditer(text):
        titled = TITLE.search(fence[2])
        language, title = fence[1], titled[1] if titled else ""
        if language != "console":
            if re.fullmatch(r"[\w./-]+\.\w+", title):
                path = terminal.folder / title
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(terminal.used(fence[3]), encoding="utf-8")
            continue
        for one in commands(fence[3]):
            if one.text not in leave_out:
                if "terminal" in title.lower():
                    terminal.leave_running(one)
                else:
                    terminal.run(one)
                yield one


def run(
    text: str,
    leave_out: Mapping[str, str] | None = None,
    where: Path | None = None,
    programs: Path | None = None,
) -> list[Command]:
    """All commands of a page, run in an empty folder, or in `where`, with the programs of this
    Python or of another environment.
    """
    with tempfile.TemporaryDirectory() as folder:
        found = environment(programs or Path(sys.executable).parent)
        terminal = Terminal((where or Path(folder)).resolve(), found)
        try:
            return list(walk(text, terminal, leave_out or {}))
        finally:
            terminal.close()


def updated(text: str, done: list[Command]) -> str:
    """The page with what its commands said where that is not what it shows."""
    rest = iter(done)

    def fill(fence: re.Match[str]) -> str:
        if fence[1] != "console":
            return fence[0]
        lines = []
        for _ in commands(fence[3]):
            one = next(rest)
            kept = one.agrees() and one.is_whole()
            lines += [f"$ {one.text}", *(one.shown if kept else one.said)]
        return f"```console{fence[2]}\n" + "".join(f"{line}\n" for line in lines) + "```"

    return FENCE.sub(fill, text)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m ci.docs.console", description=__doc__)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--where", type=Path, metavar="DIR", help="a folder that is not empty")
    parser.add_argument("pages", nargs="+", type=Path)
    asked = parser.parse_args(arguments)
    wrong = 0
    for path in asked.pages:
        text = path.read_text(encoding="utf-8")
        done = run(text, where=asked.where)
        if asked.update:
            path.write_text(updated(text, done), encoding="utf-8")
        for one in done:
            if not one.agrees():
                wrong += 1
                said = "\n    ".join(one.said)
                print(f"{path}: {one.text}\n  says (exit code {one.code}):\n    {said}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
