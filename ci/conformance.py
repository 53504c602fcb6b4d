"""`make conformance`: judge the reference broker's personas, then aggregate and show the result.

Each target is judged in parts (`--shard`), each by a process of its own and all at once: a claim
that kills brokers and starts them again, or lets a group's member fall silent, waits most of its
time, so processes are many and processors need not be. Those of a persona are forked from one that
has collected the suites (`ci/parts.py`). The parts write into one run;
`touchstone join` makes them one file per target, and refuses where a part is missing; `touchstone
report` makes tables and a dashboard of those. The judgement does not depend on the dashboard: where
Java is missing the table is still printed and the missing dashboard is said loudly, but the exit
code is the judgement's.
"""

from __future__ import annotations

import argparse
import compileall
import contextlib
import os
import re
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from touchstone.harness.exits import BROKE, CONFORMED, INCOMPLETE
from touchstone.harness.run.build import commit
from touchstone.harness.run.tally import worst
from touchstone.harness.spark import inputs
from touchstone.harness.spark.session import why_not

ROOT = Path(__file__).resolve().parent.parent
PERSONAS = ("reference@1.0", "reference@2.2", "reference@2.8", "reference@3.9", "reference@4.3")
# A persona's parts cost nothing but memory; one of another target collects for itself, and has
# brokers of its own or shares those of somebody else.
FORKED, PARTS, JOBS = 6, 2, 30  # parts of a persona, of another target; processes at once
# Claims say themselves what went wrong, and rewriting asserts in every module costs each process
# seconds; plugins of other packages have nothing to do here.
LEAN = ["--assert=plain"]
LEAN += [word for name in ("cacheprovider", "hypothesispytest", "allure_pytest")
         for word in ("-p", f"no:{name}")]  # fmt: skip
# Thirty processes share few processors: an answer may take long (nobody waits in vain for one that
# conforms), and what such a crowd upsets once all the same is told as flaky.
CROWDED = ["--deadline", "45", "--again", "1"]
# Ours and Kafka itself: what differs in their setup and in their texts is a defect like any other.
OURS = ("reference", "recorded", "kafka@", "docker@")
_PROGRESS = re.compile(r"[.sFExX]+( +\[ *\d+%\])?")
CASE_ROW = b'{"row":"case"'  # how such a row begins in a result file
_LOOK_SECONDS, _TELL_SECONDS = 0.2, 10


@dataclass(frozen=True)
class Part:
    """What is started by one command: a part of a target, or all of them where `index` is None."""

    target: str
    index: int | None
    count: int

    @property
    def processes(self) -> int:
        return self.count if self.index is None else 1

    def start(self, results: Path, run: str, output: IO[str]) -> subprocess.Popen[bytes]:
        forked = ["ci.parts", str(self.count)]
        argv = [sys.executable, "-m", *(forked if self.index is None else ["pytest"])]
        argv += ["-q", "suites/", "--target", self.target]
        argv += [
            "--results",
            str(results),
            "--run",
            run,
            "--shard",
            f"{self.index or 1}/{self.count}",
        ]
        argv += ["--strict-notes"] if self.target.startswith(OURS) else []
        argv += [*CROWDED, *LEAN]
        return subprocess.Popen(argv, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT)


def parts_of(target: str, count: int) -> list[Part]:
    """Brokers in our own process can be forked with it before they are started; others cannot."""
    if target.startswith("reference"):
        return [Part(target, None, count)]
    return [Part(target, index, count) for index in range(1, count + 1)]


def judge(targets: Mapping[str, int], results: Path, run: str, jobs: int) -> int:
    """Run the suites on every target in so many parts; the worst exit code of all. What went wrong
    is printed.
    """
    every = [part for target, count in targets.items() for part in parts_of(target, count)]
    waiting = deque(sorted(every, key=lambda part: (part.index or 0, -part.count)))
    running: dict[Part, tuple[subprocess.Popen[bytes], IO[str]]] = {}
    codes = []
    told = time.monotonic()
    try:
        while waiting or running:
            while waiting and _fits(waiting[0], running, jobs):
                part = waiting.popleft()
                log = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115 (see `_told`)
                running[part] = part.start(results, run, log), log
            time.sleep(_LOOK_SECONDS)
            for part, (process, output) in list(running.items()):
                if process.poll() is not None:
                    del running[part]
                    codes.append(process.returncode)
                    said = _told(output)
                    if process.returncode:
                        print(said, flush=True)
            if running and time.monotonic() - told > _TELL_SECONDS:
                told = time.monotonic()
                counts = (f"{target} {_rows(results / run, target)}" for target in targets)
                print("cases judged: " + ", ".join(counts), file=sys.stderr, flush=True)
    finally:
        for process, _ in running.values():
            process.terminate()
    return worst(codes)


def _fits(part: Part, running: Iterable[Part], jobs: int) -> bool:
    """Whether it may start now; one that has more processes than there may be starts alone."""
    busy = sum(other.processes for other in running)
    return not busy or busy + part.processes <= jobs


def _told(output: IO[str]) -> str:
    """What pytest said, without its dots."""
    with output:
        output.seek(0)
        return "".join(line for line in output if not _PROGRESS.fullmatch(line.rstrip()))


def _rows(folder: Path, target: str) -> int:
    """Cases judged so far."""
    found = 0
    for path in folder.glob(f"{target}.part-*.jsonl"):
        with path.open("rb") as rows:
            found += sum(row.startswith(CASE_ROW) for row in rows)
    return found


def conformed(results: Path) -> str | None:
    """Return the run in which each persona conformed at this commit, None where there is none or
    where a file has changed since. `ci/run` asks, so that nothing is judged twice in a row.
    """
    at = _unchanged_commit()
    if at is None:
        return None
    for folder in sorted(results.glob("*/"), reverse=True):
        files = [folder / f"{name}.jsonl" for name in PERSONAS]
        if all(path.exists() and _conforms(path, at) for path in files):
            return folder.name
    return None


def _conforms(path: Path, commit: str) -> bool:
    """Whether a result file is whole, of all cases, of this commit, and ends with CONFORMED."""
    found = inputs.edges(path)
    if found.defect is not None or found.footer is None:
        return False
    whole = found.header["planned"] == found.footer["cases"] and not found.header["deselected"]
    return whole and (found.header["commit"], found.footer["exit"]) == (commit, CONFORMED)


def _unchanged_commit() -> str | None:
    """The commit of this checkout as results name it; None where it has changes, or no git is."""
    changes = subprocess.run(
        ["git", "status", "--porcelain"], cwd=ROOT, check=False, capture_output=True
    )
    return None if changes.returncode or changes.stdout else commit()


def in_long_turns() -> None:
    """Whoever wakes up does not interrupt who computes. Thirty processes, each of two threads that
    answer each other, else take the processor from one another at every request: a third more time.
    """
    if hasattr(os, "SCHED_BATCH"):  # Linux
        with contextlib.suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


def compile_once() -> None:
    """What every process imports; else a fresh checkout is compiled by each of them at once."""
    for folder in ("touchstone", "ci", "harness", "reference_impl", "suites"):
        compileall.compile_dir(ROOT / folder, rx=re.compile(r"/tests/"), quiet=2)


def touchstone(*argv: str) -> int:
    command = [sys.executable, "-m", "touchstone", *argv]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--target", action="append", help="default: the five personas")
    parser.add_argument("--results", type=Path, default=Path("results"))
    parser.add_argument(
        "--parts", type=int, help=f"processes per target; default {FORKED} or {PARTS}"
    )
    parser.add_argument("--jobs", type=int, default=JOBS, help=f"processes at once; default {JOBS}")
    arguments = parser.parse_args(words)
    run = f"{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}-{secrets.token_hex(4)}"
    targets = {
        target: arguments.parts or (FORKED if target.startswith("reference") else PARTS)
        for target in arguments.target or PERSONAS
    }
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(BROKE))  # no part is left behind
    in_long_turns()
    compile_once()
    judged = judge(targets, arguments.results, run, arguments.jobs)
    folder = arguments.results / run
    if not folder.is_dir():
        return judged or BROKE
    judged = worst([judged, touchstone("join", str(folder))])
    if len(list(folder.glob("*.jsonl"))) < len(targets):  # all parts of one left no file
        judged = worst([judged, INCOMPLETE])
    # Only this run is shown: an older one that was cut off must not spoil today's dashboard. The
    # trend over many runs is `touchstone report results/ --out DIR`, for whoever keeps them.
    shown = touchstone("report", str(folder), "--out", str(arguments.results / "dashboard"))
    if shown == CONFORMED or (shown == INCOMPLETE and why_not()):
        return judged
    print(f"touchstone: the report failed with exit code {shown}", file=sys.stderr)
    return judged or BROKE


if __name__ == "__main__":
    sys.exit(main())
