"""`touchstone record --target kafka@V`: keep real Kafka's answers for `recorded@V`.

Each case runs twice under different names and is kept only when both runs agree, the claim's
expectation holds and every checker is silent: a recording that nobody can repeat is no oracle.
Of a release without a persona one case a claim is recorded: as for the release with a persona after
it, what does not hold then as for the one before, the rest as for itself; a pytest run each.
With each goes who answered, so only a target whose jar can be hashed is recorded: an address may be
anybody's. A release's table of advertised versions is kept as well. The work is pytest's, with
`--record`. Ctrl-C and SIGTERM end it: what was asked twice and agreed by then is written, each file
as a whole, and the rest keeps the answers it had.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click

from touchstone.checkout import ONLY_HERE, ROOT
from touchstone.harness.exits import CONFORMED, INCOMPLETE
from touchstone.harness.extras import need
from touchstone.harness.model import advertised, between, recordings
from touchstone.harness.model.provenance import teller
from touchstone.harness.model.recordings import Store
from touchstone.harness.model.target import Unavailable
from touchstone.harness.run import chosen_release
from touchstone.harness.run.interruption import ENDS
from touchstone.harness.run.tally import worst
from touchstone.harness.targets import matrix, parse
from touchstone.harness.targets.release import RECORDED

PYTEST = ("-m", "pytest", "-q")


@click.command(context_settings={"ignore_unknown_options": True})
@click.option("--target", "words", metavar="T", multiple=True, help="kafka@VERSION; repeatable.")
@click.option("--missing", is_flag=True,
              help="Only what is not recorded of this version, or has changed since.")  # fmt: skip
@click.option("--check", is_flag=True, help="Count what is recorded; 1 if any lacks provenance.")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def command(words: tuple[str, ...], missing: bool, check: bool, arguments: tuple[str, ...]) -> None:
    """Record real Kafka's answers for `recorded@V` targets.

    ARGUMENTS are pytest's: suites to record (all by default), -k, -x ... A run of all suites also
    drops recordings of cases that no claim has any more. With --missing an interrupted recording is
    taken up again.

    Exit code: pytest's (0: all is recorded, 1: some was not, 2: the harness broke), the worst of
    several targets; of a release without a persona 0, since a claim need not hold there, or 3 where
    nothing was recorded. 3: the target cannot be recorded, 130 or 143: ended by Ctrl-C or SIGTERM,
    and what was recorded by then is kept. With --check 0: every recording says who gave its
    answers, 1: one does not.
    """
    if check:
        sys.exit(checked())
    if not words:
        raise click.UsageError("--target kafka@VERSION says whose answers are kept")
    if ROOT is None:
        raise click.UsageError(f"record {ONLY_HERE}")
    need("pytest")
    asked = [] if any(not one.startswith("-") for one in arguments) else ["suites"]
    asked += arguments
    codes = []
    with ended() as signals:
        for word in words:
            try:
                codes.append(record(word, asked, missing=missing, signals=signals))
            except KeyboardInterrupt:
                click.echo("touchstone record: ended before a case was recorded", err=True)
                codes.append(INCOMPLETE)
            if signals.first:
                break
    code = worst(codes)
    if code == 0:
        click.echo(size())
    sys.exit(128 + signals.first if signals.first else code)


def record(word: str, asked: Sequence[str], *, missing: bool, signals: Signals) -> int:
    """Record one target; the exit code. Raise KeyboardInterrupt if a signal came before pytest
    listened.
    """
    release = write_table(word)
    rest = [*asked, "--target", word, "--record", *(("--missing",) if missing else ())]
    if release is None or not advertised.is_between(release):
        return _pytest(rest, signals)
    for number, like in enumerate(between.ways(release)):
        click.echo(f"Kafka {release}, written as for {like}")
        more = ["--missing"] if number and not missing else []
        _pytest([*rest, *more, "--written-as", like], signals)
        if signals.first:
            return INCOMPLETE
    counted = between.counts(Store(release))
    click.echo(f"Kafka {release}: {counted}")
    return CONFORMED if counted else INCOMPLETE


def _pytest(arguments: Sequence[str], signals: Signals) -> int:
    code = run_pytest(arguments, signals)
    if code < 0:
        raise KeyboardInterrupt
    return code


class Signals:
    """The first signal that asks for an end, and who has to hear of it."""

    def __init__(self) -> None:
        self.first: int | None = None
        self.child: subprocess.Popen[bytes] | None = None

    def come(self, number: int, frame: Any) -> None:
        self.first = self.first or number
        if self.child is None:
            raise KeyboardInterrupt
        # Ctrl-C reaches both processes of a terminal; `Interruption` there heeds the first alone.
        self.child.terminate()


@contextmanager
def ended() -> Iterator[Signals]:
    """Catch both signals, and give them back their handlers afterwards."""
    signals = Signals()
    before = {number: signal.signal(number, signals.come) for number in ENDS}
    try:
        yield signals
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def run_pytest(arguments: Sequence[str], signals: Signals) -> int:
    """pytest's exit code. A signal is handed on; when pytest ends it has written what it has."""
    argv = [sys.executable, *PYTEST, *arguments]
    signals.child = subprocess.Popen(argv, cwd=ROOT)
    return signals.child.wait()


def checked() -> int:
    """Print how many cases of each release say who gave their answer; the exit code."""
    found = recordings.without_provenance()
    for release, (cases, without) in found.items():
        click.echo(f"{release}: {cases} cases, {without} without provenance")
    return int(any(without for _, without in found.values()))


def write_table(word: str) -> str | None:
    """Keep what the target advertises, when it says which release it is; that release."""
    target = parse(word)
    teller(target)
    chosen_release.check_recorded(target)
    try:
        reason = target.available()
        if reason:
            raise Unavailable(reason)
        if target.release is not None:
            release = matrix.release(target.release)
            advertised.write(
                release.name, release.version, target.advertised(),
                between=release.tier == RECORDED,
            )  # fmt: skip
        return target.release
    finally:
        target.stop()


def size() -> str:
    files = [path for path in advertised.RECORDINGS.glob("*/*") if path.is_file()]
    total = sum(path.stat().st_size for path in files)
    return f"recordings: {len(files)} files, {total / 1024:.0f} KiB"
