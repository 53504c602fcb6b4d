"""`make conformance`: judge the reference broker's personas, then aggregate and show the result.

Each target is judged by a pytest process of its own, all at once: a claim that kills brokers and
starts them again waits most of its time. They write into one run, of which `touchstone report`
makes tables and a dashboard. The judgement does not depend on the dashboard: where Java is missing
the table is still printed and the missing dashboard is said loudly, but the exit code is the
judgement's.
"""

from __future__ import annotations

import argparse
import re
import secrets
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterable
from pathlib import Path
from typing import IO

ROOT = Path(__file__).resolve().parent.parent
PERSONAS = [f"reference@{release}" for release in ("1.0", "2.2", "2.8", "3.9", "4.3")]
NOT_RUN = 4  # `touchstone report`: the rows are fine, Spark cannot start here
WORST_FIRST = (2, 1, 3, 0)  # broken, differs, incomplete, conforms
_PROGRESS = re.compile(r"[.sFExX]+( +\[ *\d+%\])?")
_LOOK_SECONDS, _TELL_SECONDS = 0.2, 10


def judge(targets: Iterable[str], results: Path, run: str, jobs: int) -> int:
    """Run the suites on every target; the worst exit code of all."""
    waiting, codes = deque(targets), []
    running: dict[str, tuple[subprocess.Popen, IO[str]]] = {}
    told = time.monotonic()
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                target = waiting.popleft()
                running[target] = _start(target, results, run)
            time.sleep(_LOOK_SECONDS)
            for target, (process, output) in list(running.items()):
                if process.poll() is not None:
                    del running[target]
                    codes.append(process.returncode)
                    print(_told(output), flush=True)
            if running and time.monotonic() - told > _TELL_SECONDS:
                told = time.monotonic()
                counts = (f"{name} {_rows(results / run, name)}" for name in running)
                print("cases judged: " + ", ".join(counts), file=sys.stderr, flush=True)
    finally:
        for process, _ in running.values():
            process.terminate()
    return next((code for code in WORST_FIRST if code in codes), 2)


def _start(target: str, results: Path, run: str) -> tuple[subprocess.Popen, IO[str]]:
    output = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115 (read in `_told`)
    argv = [sys.executable, "-m", "pytest", "-q", "suites/", "--target", target]
    argv += ["--results", str(results), "--run", run, "-p", "no:cacheprovider"]
    process = subprocess.Popen(argv, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT)
    return process, output


def _told(output: IO[str]) -> str:
    """What pytest said, without its dots."""
    with output:
        output.seek(0)
        return "".join(line for line in output if not _PROGRESS.fullmatch(line.rstrip()))


def _rows(folder: Path, target: str) -> int:
    """Cases judged so far."""
    try:
        with (folder / f"{target}.jsonl").open("rb") as rows:
            return max(0, sum(1 for _ in rows) - 1)
    except OSError:
        return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--target", action="append", help="default: the five personas")
    parser.add_argument("--results", type=Path, default=Path("results"))
    parser.add_argument("--jobs", type=int, default=5, help="targets judged at once; default 5")
    arguments = parser.parse_args()
    run = f"{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}-{secrets.token_hex(4)}"
    judged = judge(arguments.target or PERSONAS, arguments.results, run, arguments.jobs)
    # Only this run is shown: an older one that was cut off must not spoil today's dashboard. The
    # trend over many runs is `touchstone report results/ --out DIR`, for whoever keeps them.
    folder = arguments.results / run
    if judged in (0, 1, 3) and folder.is_dir():
        report = ["report", str(folder), "--out", str(arguments.results / "dashboard")]
        shown = subprocess.run(
            [sys.executable, "-m", "harness", *report], cwd=ROOT, check=False
        ).returncode
        if shown not in (0, NOT_RUN):
            print(f"touchstone: the report failed with exit code {shown}", file=sys.stderr)
            return judged or 2
    return judged


if __name__ == "__main__":
    sys.exit(main())
