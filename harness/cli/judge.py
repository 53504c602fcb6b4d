"""`touchstone judge FILES`: today's judgement of what was seen then. No broker, no pytest.

A transcript keeps raw bytes, so a better checker, schema or normalisation judges old nights anew.
Bundles are judged whole; recordings and single transcripts have no expectation and no second side,
so they are held against every checker. The exit code is a run's: 0, 1, 2, and 3 for a file that
cannot be read.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import click

from touchstone.harness import shown
from touchstone.harness.judgement import bundle
from touchstone.harness.judgement.bundle import BadBundle
from touchstone.harness.judgement.verdict import BROKEN, DIVERGES, INCONCLUSIVE, Verdict, judge
from touchstone.harness.model import bounded, recordings, transcript
from touchstone.harness.model.recordings import BadRecording
from touchstone.harness.model.transcript import TranscriptError

UNREADABLE = (BadBundle, BadRecording, TranscriptError, bounded.TooMuch, OSError)


@dataclass(frozen=True)
class Rejudgement:
    """One thing that was judged: where it stood, what it came to, what it was called then."""

    source: str
    verdict: Verdict
    before: str | None = None


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--quiet", "-q", is_flag=True, help="Only what does not conform, and the count.")
def command(files: tuple[Path, ...], quiet: bool) -> None:
    """Judge stored FILES again, without any broker.

    FILES are bundles (*.bundle.json), transcripts (*.jsonl), recordings (*.jsonl.xz), or folders
    of them. Exit code 0: all conform, 1: something diverges, 2: the harness broke or Kafka denies
    an expectation, 3: something could not be judged or read.
    """
    sys.exit(main(files, quiet))


def main(files: Iterable[Path], quiet: bool = False) -> int:
    kinds: dict[str, int] = {}
    unreadable = changed = 0
    for path in everything(files):
        try:
            for judged in judge_file(path):
                kinds[judged.verdict.kind] = kinds.get(judged.verdict.kind, 0) + 1
                changed += judged.before not in (None, judged.verdict.kind)
                if not (quiet and judged.verdict.conforms):
                    show(judged)
        except UNREADABLE as error:
            unreadable += 1
            click.echo(f"touchstone judge: {error}", err=True)
    words = ", ".join(f"{count} {kind}" for kind, count in kinds.items()) or "nothing judged"
    click.echo(f"{words}; {changed} changed; {unreadable} unreadable")
    if kinds.get(BROKEN):
        return 2
    if kinds.get(DIVERGES):
        return 1
    return 3 if unreadable or kinds.get(INCONCLUSIVE) or not kinds else 0


def everything(files: Iterable[Path]) -> Iterator[Path]:
    """The files, and those in folders that can be judged."""
    for path in files:
        if not path.is_dir():
            yield path
            continue
        for found in sorted(path.rglob("*")):
            if found.name.endswith((".bundle.json", recordings.SUFFIX)):
                yield found


def judge_file(path: Path) -> Iterator[Rejudgement]:
    if path.name.endswith(recordings.SUFFIX):
        for case, text in recordings.read(path).items():
            if not text:  # the answer is another release's
                continue
            seen = transcript.loads(text, source=f"{path}: {case}")
            yield Rejudgement(f"{path}: {case}", judge(None, seen, None))
    elif path.suffix == ".jsonl":
        lines = bounded.lines(path)
        for number, seen in enumerate(transcript.load_many(lines, source=str(path)), 1):
            yield Rejudgement(f"{path}: {number}", judge(None, seen, None))
    else:
        found = bundle.read(path)
        yield Rejudgement(f"{path}: {found.case}", found.judge(), found.verdict.get("kind"))


def show(judged: Rejudgement) -> None:
    word = "" if judged.before in (None, judged.verdict.kind) else f" (was {judged.before})"
    lines = f"{judged.source}\n{judged.verdict}{word}".split("\n")
    click.echo("\n  ".join(map(shown.line, lines)))
