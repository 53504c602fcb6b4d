"""Every way to log in on a broker: smoke, four suites and a fuzz campaign each; every wrong one.

    python -m touchstone.harness.tests.targets.secured_matrix kafka@4.3 [--seconds 60] [--way N ...]

prints a line for each. `test_live_login` has what is demanded of them.
"""

from __future__ import annotations

import collections
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import click
from click.testing import CliRunner

from touchstone.harness.cli import smoke
from touchstone.harness.targets import command_config, reach
from touchstone.harness.tests.targets.every_way import WAYS, Everything, Wrong, running
from touchstone.harness.tests.targets.secured import written

SUITES = ("produce", "fetch", "rebalance", "offsets", "transactions")
PLAIN = ("PLAINTEXT", "")
PATIENCE_S = 900
MINUTE_S = 60.0


class Ended(NamedTuple):
    """How a command ended."""

    code: int
    said: str

    @property
    def last(self) -> str:
        return self.said.rstrip().rpartition("\n")[2]


class Cell(NamedTuple):
    """What came of one way: commands as they ended, and the verdict of each case."""

    smoke: Ended
    verdicts: Mapping[str, str]
    fuzz: Ended

    def complaints(self, expected: Mapping[str, str]) -> Iterator[str]:
        """What differs from a plain listener, whose cases come to what is expected."""
        if self.smoke.code:
            yield f"smoke {self.smoke.code}: {self.smoke.last}"
        if self.fuzz.code:
            yield f"fuzz {self.fuzz.code}: {self.fuzz.said}"
        for case in sorted({*expected, *self.verdicts}):
            was, verdict = expected.get(case), self.verdicts.get(case)
            if verdict in ("DIVERGES", "BROKEN") or was != verdict:
                yield f"{case}: {verdict}, and {was} on the plain listener"

    def __str__(self) -> str:
        counted = collections.Counter(self.verdicts.values())
        judged = ", ".join(f"{count} {verdict}" for verdict, count in sorted(counted.items()))
        return f"smoke {self.smoke.code}; {judged}; fuzz {self.fuzz.code}: {self.fuzz.last}"


def cell(
    broker: Everything, way: tuple[str, str], folder: Path, seconds: float,
    suites: Sequence[str] = SUITES,
) -> Cell:  # fmt: skip
    listener, mechanism = way
    plain = {"security.protocol": "PLAINTEXT"}
    folder.mkdir()
    path = written(folder, broker.properties(listener, mechanism) if mechanism else plain)
    asked = ("--target", broker.where[listener], "--command-config", str(path))
    smoked = ran("touchstone", "smoke", *asked, cwd=folder)
    found = verdicts(asked, folder, suites)
    bounds = ("--seconds", str(seconds), "--out", str(folder / "found"))
    fuzzed = ran("touchstone", "fuzz", *asked, *bounds, cwd=folder)
    return Cell(smoked, found, fuzzed)


def ran(*words: str, cwd: Path) -> Ended:
    done = subprocess.run(
        [sys.executable, "-m", *words], cwd=cwd, capture_output=True, text=True,
        timeout=PATIENCE_S,
    )  # fmt: skip
    return Ended(done.returncode, done.stdout + done.stderr)


def verdicts(asked: Sequence[str], folder: Path, suites: Sequence[str]) -> dict[str, str]:
    """What each case comes to, by a run of its own."""
    done = ran(
        "pytest", "-q", "-p", "no:cacheprovider", "--pyargs",
        *(f"touchstone.suites.{suite}" for suite in suites), *asked, "--newest",
        "--results", str(folder / "results"), "--run", "one", cwd=folder,
    )  # fmt: skip
    (folder / "pytest.txt").write_text(done.said, encoding="utf-8")
    assert done.code in (0, 1, 3), done.said
    (rows,) = (folder / "results" / "one").glob("*.jsonl")
    found = (json.loads(line) for line in rows.read_text().splitlines())
    return {row["case"]: row["verdict"] for row in found if "verdict" in row}


def refused(wrong: Wrong, folder: Path) -> Ended:
    """What `touchstone smoke` says where nobody is let in."""
    asked = ["--target", wrong.address]
    if wrong.properties is not None:
        asked += ["--command-config", str(written(folder, wrong.properties))]
    try:
        done = CliRunner().invoke(smoke.command, asked)
    finally:
        command_config.obey(None)
        reach.log_in(reach.logins(), None)
    return Ended(done.exit_code, done.output)


def complaints(wrong: Wrong, ended: Ended) -> Iterator[str]:
    """What is not as it should be in that."""
    if ended.code != smoke.UNREACHABLE:
        yield f"exit code {ended.code}"
    if wrong.words not in ended.said:
        yield f"not said: {wrong.words}"
    if len(ended.said.splitlines()) != 1:
        yield "not one line"
    if re.search(r"wr0ng|eyJ[\w-]{9}|secret\"", ended.said):
        yield "a secret"


@click.command()
@click.argument("word")
@click.option("--seconds", default=MINUTE_S, help="Of each fuzz campaign.")
@click.option("--way", "numbers", multiple=True, type=click.IntRange(0, len(WAYS)),
              help="0 is the plain listener; all by default.")  # fmt: skip
@click.option("--suite", "suites", multiple=True, default=SUITES, help="Instead of all five.")
@click.option("--keep", type=click.Path(path_type=Path), help="Leave what runs leave here.")
def main(word: str, seconds: float, numbers: tuple[int, ...], suites: tuple[str, ...],
         keep: Path | None) -> None:  # fmt: skip
    """Print what comes of each way, and of each wrong one, on the target WORD."""
    with tempfile.TemporaryDirectory(prefix="touchstone-ways-") as scratch:
        folder = keep or Path(scratch)
        folder.mkdir(exist_ok=True, parents=True)
        (keys := folder / "keys").mkdir()
        with running(word, keys) as broker:
            for wrong in broker.wrong():
                ended = refused(wrong, folder)
                state = "; ".join(complaints(wrong, ended)) or "one line"
                click.echo(f"{word}  {wrong.name}: {state}\n    {ended.said.strip()}")
            for number, way in enumerate((PLAIN, *WAYS)):
                if not numbers or number in numbers:
                    found = cell(broker, way, folder / str(number), seconds, suites)
                    click.echo(f"{word}  {' '.join(way)}: {found}")


if __name__ == "__main__":
    main()
