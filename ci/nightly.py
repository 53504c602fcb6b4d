"""The nightly run: every target of the matrix, fuzz campaigns, one report, in a budget of hours.

    python ci/nightly.py --hours 2 --results nightly

Order matters when time is short: first real Kafka against its recordings (drift makes everything
behind it doubtful; of the releases without a persona those that are newer than all others each
night, the rest each once a week), then the personas, then each release aged by the night's seed and
judged by its address, then campaigns with whatever time is left, then the report over all nights
kept in the results folder, which has a tenth of the budget and at least fifteen minutes. A step
that the budget ends is interrupted, so that it writes what it judged; one that the budget no longer
covers is printed as "not run: no time left". Both make the exit code 3; nothing that was not run is
ever green.
"""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from touchstone.harness.exits import INCOMPLETE
from touchstone.harness.run.tally import worst
from touchstone.harness.targets.release import RECORDED

ROOT = Path(__file__).resolve().parent.parent
MATRIX = ROOT / "ci" / "matrix.toml"
WEEK = 7  # days, on one of which an older release without a persona is judged
REPORT_SHARE = 0.1
REPORT_LEAST_S = 900.0  # a report reads all nights that were kept, however short this one was
FUZZ_SHARE = 0.3
GRACE_S = 120.0  # for a job that was interrupted: it writes what it has and stops its brokers


@dataclass(frozen=True)
class Job:
    """One command of the night; a fuzz job is told how many seconds it may take."""

    name: str
    argv: tuple[str, ...]


def releases() -> list[str]:
    """Short names of the releases of the matrix that have a persona, oldest first."""
    return [release["name"] for release in _matrix() if release["tier"] != RECORDED]


def without_persona(day: int) -> list[str]:
    """Short names of the others that are judged on this day, oldest first."""
    entries = [(release["name"], release["tier"] == RECORDED) for release in _matrix()]
    newest = max(at for at, (_, recorded) in enumerate(entries) if not recorded)
    older = [name for name, recorded in entries[:newest] if recorded]
    return [*older[day % WEEK :: WEEK], *(name for name, _ in entries[newest + 1 :])]


def _matrix() -> list[dict[str, str]]:
    entries: list[dict[str, str]] = tomllib.loads(MATRIX.read_text("utf-8"))["release"]
    return entries


def suites_on(target: str, results: Path) -> Job:
    argv = ("-m", "pytest", "-q", "suites/", "--target", target, "--again", "1")
    return Job(f"suites on {target}", (*argv, "--strict-notes", "--results", str(results)))


def suites_on_aged(name: str, results: Path, seed: int) -> Job:
    """A cluster that has lived as this seed says, judged by its address, one case a claim; where
    its life has a listener with a login, by that one.
    """
    suites = (sys.executable, "-m", "pytest", "-q", "suites/", "--newest", "--again", "1")
    where = ("--target", "{secured}", "--command-config", "{config}")
    judged = (*suites, *where, "--results", str(results))
    aged = ("-m", "touchstone", "age", f"kafka@{name}", "--seed", str(seed), "--brokers", "1")
    return Job(f"suites on kafka@{name}, aged by seed {seed}", (*aged, "--", *judged))


def fuzz_on(target: str, seconds: int, seed: int, against: str | None = None) -> Job:
    """Campaigns at one target; with `against` the same cases at both, compared."""
    argv = ["-m", "touchstone", "fuzz", "--target", target, "--seconds", str(seconds)]
    name = f"fuzz {target}"
    if against is not None:
        argv += ["--against", against]
        name += f" against {against}"
    return Job(name, (*argv, "--seed", str(seed)))


def night(results: Path, hours: float, seed: int) -> list[Job]:
    """Everything a night would do, in the order in which it is given up when time runs out."""
    names = releases()
    fuzzed: list[tuple[str, str | None]] = [
        (f"reference@{names[-1]}", None),
        (f"kafka@{names[-1]}", None),
    ]
    fuzzed += [(f"reference@{name}", f"kafka@{name}") for name in (names[-1], names[0])]
    seconds = int(hours * 3600 * FUZZ_SHARE / len(fuzzed))
    return [
        *(suites_on(f"kafka@{name}", results) for name in names),
        *(suites_on(f"kafka@{name}", results) for name in without_persona(seed)),
        *(suites_on(f"reference@{name}", results) for name in names),
        *(suites_on_aged(name, results, seed) for name in names),
        *(fuzz_on(target, seconds, seed, other) for target, other in fuzzed),
    ]


def run(argv: tuple[str, ...], timeout_s: float) -> int:
    """The exit code of a command, INCOMPLETE when it took longer than it may."""
    process = started(argv)
    try:
        return process.wait(timeout_s)
    except subprocess.TimeoutExpired:
        print(f"cut by the budget after {timeout_s / 60:.0f} minutes", flush=True)
        end(process)
        return INCOMPLETE


def started(argv: tuple[str, ...]) -> subprocess.Popen[bytes]:
    """A command that can be interrupted, also where a shell's background had it ignore that."""
    return subprocess.Popen([sys.executable, *argv], cwd=ROOT, preexec_fn=_hear)


def _hear() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def end(process: subprocess.Popen[bytes]) -> None:
    """Interrupt a command as Ctrl-C does; kill it if it takes longer than GRACE_S."""
    process.send_signal(signal.SIGINT)
    try:
        process.wait(GRACE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def play(
    jobs: list[Job],
    seconds: float,
    now: Callable[[], float],
    start: Callable[[tuple[str, ...], float], int] = run,
) -> dict[str, int]:
    """Exit codes by job. Jobs that the budget does not reach count as incomplete."""
    end = now() + seconds
    codes: dict[str, int] = {}
    for job in jobs:
        left = end - now()
        if left <= 0:
            print(f"{job.name}: not run: no time left", flush=True)
            codes[job.name] = INCOMPLETE
            continue
        print(f"{job.name}: {left / 60:.0f} minutes left", flush=True)
        codes[job.name] = start(job.argv, left)
    return codes


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hours", type=float, default=2.0)
    parser.add_argument("--results", type=Path, default=Path("nightly"))
    parser.add_argument("--seed", type=int, help="default: the day, so that nights differ")
    given = parser.parse_args()
    seed = given.seed if given.seed is not None else int(time.time() // 86400)
    jobs = night(given.results, given.hours, seed)
    codes = play(jobs, given.hours * 3600 * (1 - REPORT_SHARE), time.monotonic)
    out = str(given.results / "dashboard")
    report = ("-m", "touchstone", "report", str(given.results), "--allow-incomplete", "--out", out)
    codes["report"] = run(report, max(given.hours * 3600 * REPORT_SHARE, REPORT_LEAST_S))
    for name, code in codes.items():
        print(f"{code}  {name}")
    return worst(codes.values())


if __name__ == "__main__":
    sys.exit(main())
