"""What a run came to over all its campaigns: closing lines, and rows for `touchstone report`."""

from __future__ import annotations

import contextlib
import shlex
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from touchstone.fuzz.campaign import Finding
from touchstone.fuzz.runner import stopwatch
from touchstone.fuzz.share import Played
from touchstone.fuzz.triage import Cause, Settled
from touchstone.harness.results import fuzz_rows
from touchstone.reference_impl.wire.apis import API

PLAYING, STARTING, TRYING_AGAIN = "playing", "starting the target", "trying findings again"
REST = "preparing and watching it"


@dataclass
class Account:
    """`again` is the command that plays a file again, up to the file's name. Rows are written
    whenever a campaign is over, so that a run which is killed leaves those of the others.
    """

    target: str
    seed: int
    out: Path
    again: tuple[str, ...] = ()
    cases: int = 0
    findings: int = 0
    causes: int = 0  # that decide the exit code
    unsteady: int = 0
    files: int = 0
    rows: list[dict[str, Any]] = field(default_factory=list)
    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))

    def __post_init__(self) -> None:
        self.elapsed = stopwatch()

    def replay(self, path: Path) -> str:
        """The command that plays a file again, as a shell takes it."""
        return shlex.join([*self.again, "--replay", str(path)])

    @contextlib.contextmanager
    def timed(self, what: str) -> Iterator[None]:
        """Add the seconds that this takes."""
        elapsed = stopwatch()
        try:
            yield
        finally:
            self.seconds[what] += elapsed()

    def played(
        self, played: Played, shard: int = 0, shards: int = 1, *, findings: int | None = None
    ) -> None:
        """Count what a campaign, or a shard of it, has played; `findings` where its result has no
        list of them.
        """
        result = played.result
        complaints = len(result.findings) if findings is None else findings
        self.cases += result.cases
        self.findings += complaints
        self.seconds[PLAYING] += played.seconds
        self.rows.append(
            self._shared | {
                "fuzz": "shard", "campaign": result.campaign, "shard": shard, "shards": shards,
                "executions": result.cases, "seconds": round(played.seconds, 3),
                "signatures": len(result.signatures), "complaints": complaints,
                "died": played.gone,
            }
        )  # fmt: skip

    def settled(self, campaign: str, one: Settled, path: Path) -> None:
        """Count a group of findings of which a file was written."""
        self.cause(
            campaign, one.cause, one.finding, path,
            members=one.members, runs=one.runs, repeats=one.repeats, decides=one.is_steady,
        )  # fmt: skip

    def cause(
        self, campaign: str, cause: Cause, finding: Finding, path: Path, *,
        members: int = 1, runs: int = 0, repeats: int = 0, decides: bool = True,
    ) -> None:  # fmt: skip
        """The same of any other file."""
        steps = finding.as_script.steps
        self.found(
            campaign, cause, finding.sentence, decides=decides, members=members,
            steps=len(steps), bytes=sum(len(step.wire) for step in steps), runs=runs,
            repeats=repeats, file=str(path.relative_to(self.out)),
        )  # fmt: skip

    def complaint(self, campaign: str, watch: str, sentence: str, path: Path | None = None) -> None:
        """Count what a watch complained about: no file plays it again, unless there is `path`."""
        file = "" if path is None else str(path.relative_to(self.out))
        cause = Cause(watch, fuzz_rows.NO_API, "")
        self.found(campaign, cause, sentence, decides=True, file=file)

    def found(
        self, campaign: str, cause: Cause, sentence: str, *, decides: bool, file: str,
        members: int = 1, steps: int = 0, bytes: int = 0, runs: int = 0, repeats: int = 0,
    ) -> None:  # fmt: skip
        """Count a cause; `file` is beside the rows, empty where nothing plays it again."""
        self.files += bool(file)
        self.causes += decides
        self.unsteady += not decides
        api = API[cause.key].name if cause.key in API else ""
        self.rows.append(
            self._shared | {
                "fuzz": "cause", "campaign": campaign, "oracle": cause.oracle, "key": cause.key,
                "api": api, "behaviour": cause.behaviour, "sentence": sentence, "decides": decides,
                "members": members, "steps": steps, "bytes": bytes, "runs": runs,
                "repeats": repeats, "file": file,
            }
        )  # fmt: skip

    @property
    def _shared(self) -> dict[str, Any]:
        """What all rows of a run share."""
        run = f"{self.target} seed {self.seed}"
        return {"schema": fuzz_rows.SCHEMA, "run": run, "target": self.target, "seed": self.seed}

    def write(self) -> None:
        """The rows, for `touchstone report`."""
        self.out.mkdir(parents=True, exist_ok=True)
        fuzz_rows.write(self.out / fuzz_rows.NAME, self.rows)

    def closing_lines(self) -> Iterator[str]:
        """The run in two lines: what it found and where that is, and where its time went."""
        unsteady = f", {self.unsteady} unsteady" if self.unsteady else ""
        where = f"in {self.out}" if self.files else "no file to replay"
        yield (
            f"total: {counted(self.cases, 'case')}, {counted(self.findings, 'finding')} in "
            f"{counted(self.causes, 'cause')}{unsteady}; {where}"
        )
        whole = self.elapsed()
        rest = max(0.0, whole - sum(self.seconds.values()))
        parts = [(what, self.seconds[what]) for what in (STARTING, PLAYING, TRYING_AGAIN)]
        told = ", ".join(f"{took:.1f} s {what}" for what, took in [*parts, (REST, rest)])
        yield f"time: {whole:.1f} s: {told}"


@contextlib.contextmanager
def concluded(account: Account) -> Iterator[None]:
    """Say at the end, however it comes, what was found."""
    try:
        yield
    finally:
        account.write()
        for line in account.closing_lines():
            click.echo(line)


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"
