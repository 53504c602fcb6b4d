"""What may be wrong with the options of a pytest run, found before anything begins."""

from __future__ import annotations

import math
import re
from pathlib import Path

from touchstone.checkout import ONLY_HERE, ROOT
from touchstone.harness import known, targets
from touchstone.harness.model import shard
from touchstone.harness.options import Options
from touchstone.harness.run import chosen_release
from touchstone.harness.targets import matrix
from touchstone.harness.writable import why_not

CLASHES = {  # by option: those that do not go together with it
    "prefix": ("record", "client"),
    "release": ("record",),
    "shard": ("record", "update_expectations"),  # of which there is one for all parts
}
LEGAL = re.compile(r"[A-Za-z0-9._-]+")
LONGEST_PREFIX = 100  # a topic's name has 249 characters at most, and ours have up to 60
NOBODY = "none"  # as an oracle


def check(asked: Options) -> None:
    """Raise ValueError, with one line that names the option, for what cannot be done.

    Clients and profiles are looked up where the run is made (`Session`), which is as early.
    """
    _numbers(asked)
    if asked.record and ROOT is None:
        raise ValueError(f"--record {ONLY_HERE}")
    if asked.again and asked.record:
        raise ValueError("--again and --record do not go together: flaky is not recorded")
    for option, wanted in (("missing", asked.missing), ("written-as", asked.written_as)):
        if wanted and not asked.record:
            raise ValueError(f"--{option} goes with --record")
    _together(asked)
    check_prefix(asked.prefix)
    if asked.release is not None:
        _release(asked.release)
    if asked.shard:
        _shard(asked, asked.shard)
    for word in [*asked.target, *([asked.oracle] if asked.oracle else [])]:
        if word != NOBODY:
            targets.parse(word)
    _results(asked.results, asked.run)
    _expectations(asked.expectations, update=asked.update_expectations)


def _numbers(asked: Options) -> None:
    if not (asked.deadline > 0 and math.isfinite(asked.deadline)):
        raise ValueError(f"--deadline {asked.deadline:g}: seconds, more than 0")
    if asked.jobs is not None and asked.jobs < 1:
        raise ValueError(f"--jobs {asked.jobs}: 1 case at a time, or more")
    if asked.again is not None and asked.again < 0:
        raise ValueError(f"--again {asked.again}: no further try (0), or more")


def _together(asked: Options) -> None:
    for option, others in CLASHES.items():
        clash = next((name for name in others if getattr(asked, name)), None)
        if clash and getattr(asked, option):
            raise ValueError(f"--{option} and --{clash.replace('_', '-')} do not go together")


def check_prefix(prefix: str) -> None:
    """Raise ValueError if no topic's name can begin so; nothing is no prefix."""
    if prefix and (len(prefix) > LONGEST_PREFIX or not LEGAL.fullmatch(prefix)):
        raise ValueError(
            f"--prefix {prefix!r}: at most {LONGEST_PREFIX} letters, digits, '.', '_' and"
            " '-', as in a topic's name"
        )


def _release(word: str) -> None:
    try:
        matrix.release(word)
    except matrix.UnknownRelease as unknown:
        raise ValueError(f"{chosen_release.FLAG} {word}: {unknown}") from None


def _shard(asked: Options, words: str) -> None:
    if asked.results and not asked.run:
        raise ValueError("--shard with --results needs --run NAME: parts share a run")
    shard.parse(words)


def _results(folder: Path | None, run: str | None) -> None:
    if run is not None and (run in ("", ".", "..") or Path(run).name != run):
        raise ValueError(f"--run {run!r}: it is the name of a folder in that of --results")
    if folder is not None and (reason := why_not(folder / (run or ""), folder=True)):
        raise ValueError(f"--results {folder}: cannot be written: {reason}")


def _expectations(path: Path | None, *, update: bool) -> None:
    if path is None:
        if update:
            raise ValueError("--update-expectations needs --expectations FILE")
        return
    if path.exists():
        known.load([path])
    elif not update:
        raise ValueError(f"--expectations {path}: there is no such file")
    if update and (reason := why_not(path, folder=False)):
        raise ValueError(f"--expectations {path}: cannot be written: {reason}")
