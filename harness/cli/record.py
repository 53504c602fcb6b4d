"""`touchstone record --target kafka@V`: keep real Kafka's answers for `recorded@V`.

Each case runs twice under different names and is kept only when both runs agree, the claim's
expectation holds and every checker is silent: a recording that nobody can repeat is no oracle.
With each goes who answered, so only a target whose jar can be hashed is recorded: an address may be
anybody's. A release's table of advertised versions is kept as well. The work is pytest's, with
`--record`.
"""

from __future__ import annotations

import subprocess
import sys

import click

from touchstone.checkout import ONLY_HERE, ROOT
from touchstone.harness.extras import need
from touchstone.harness.model import advertised, recordings
from touchstone.harness.model.provenance import teller
from touchstone.harness.model.target import StartFailed, Unavailable
from touchstone.harness.targets import matrix, parse, probe


@click.command(context_settings={"ignore_unknown_options": True})
@click.option("--target", "word", metavar="T", help="kafka@VERSION.")
@click.option("--check", is_flag=True, help="Count what is recorded; 1 if any lacks provenance.")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def command(word: str | None, check: bool, arguments: tuple[str, ...]) -> None:
    """Record real Kafka's answers for `recorded@V` targets.

    ARGUMENTS are pytest's: suites to record (all by default), -k, -x ... A run of all suites also
    drops recordings of cases that no claim has any more.
    """
    if check:
        sys.exit(checked())
    if word is None:
        raise click.UsageError("--target kafka@VERSION says whose answers are kept")
    if ROOT is None:
        raise click.UsageError(f"record {ONLY_HERE}")
    need("pytest")
    try:
        write_table(word)
    except (ValueError, Unavailable, StartFailed, probe.NotReady) as error:
        click.echo(f"touchstone record: {error}", err=True)
        sys.exit(3)
    paths = [] if any(not one.startswith("-") for one in arguments) else ["suites"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *paths, *arguments, "--target", word, "--record"],
        cwd=ROOT, check=False,
    )  # fmt: skip
    if done.returncode == 0:
        click.echo(size())
    sys.exit(done.returncode)


def checked() -> int:
    """Print how many cases of each release say who gave their answer; the exit code."""
    found = recordings.without_provenance()
    for release, (cases, without) in found.items():
        click.echo(f"{release}: {cases} cases, {without} without provenance")
    return int(any(without for _, without in found.values()))


def write_table(word: str) -> None:
    """Keep what the target advertises, when it says which release it is."""
    target = parse(word)
    teller(target)
    try:
        reason = target.available()
        if reason:
            raise Unavailable(reason)
        if target.release is not None:
            release = matrix.release(target.release)
            advertised.write(release.name, release.version, target.advertised())
    finally:
        target.stop()


def size() -> str:
    files = [path for path in advertised.RECORDINGS.glob("*/*") if path.is_file()]
    total = sum(path.stat().st_size for path in files)
    return f"recordings: {len(files)} files, {total / 1024:.0f} KiB"
