"""Twelve made runs on four dates whose truth is known: what a report on them has to say.

Every word is written down here, by hand, and not by the code under test. A track has one letter
per run of its target; "." is a run that has no such case, "/" one that was cut before it.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from touchstone.harness.results import fuzz_rows, rows
from touchstone.harness.tests.spark import made

DATES = ("2026-11-20", "2026-11-21", "2026-11-22", "2026-11-23")
TIMES = ("01:00", "01:20", "01:40")  # three runs within one hour of a night
RUNS = [f"n{day + 1}-{hour + 1}" for day in range(4) for hour in range(3)]
WHEEL = "0.1.0"  # what every wheel of today says for a commit


class Made(NamedTuple):
    """A target: which of the twelve runs judge it, of which builds, and each case's track."""

    runs: tuple[int, ...]
    builds: tuple[str | None, ...]
    tracks: dict[str, str]
    truth: dict[str, tuple[str, str]]  # case -> its course, and the run with which that began
    commits: tuple[str, ...] = (WHEEL,) * 4


UNKNOWN = Made(
    (0, 3, 6, 9), (None,) * 4,
    {
        "topics.steady[v0]": "CCCC", "topics.regressed[v0]": "CCDD", "topics.late[v0]": "CCCD",
        "topics.fixed[v0]": "DDCC", "topics.alternates[v0]": "CDCD", "topics.back[v0]": "CDCC",
        "topics.undecided[v0]": "CCII", "topics.gap[v0]": "CIDD", "topics.pinned[v0]": "DDKK",
        "topics.gone[v0]": "CC..", "topics.new[v0]": "...D", "topics.wavered[v0]": "CCCC",
    },
    {
        "topics.regressed[v0]": ("regressed", "n3-1"), "topics.late[v0]": ("regressed", "n4-1"),
        "topics.fixed[v0]": ("fixed", "n3-1"), "topics.alternates[v0]": ("alternates", ""),
        "topics.back[v0]": ("fixed", "n3-1"), "topics.undecided[v0]": ("unjudged", "n3-1"),
        "topics.gap[v0]": ("regressed", "n3-1"), "topics.pinned[v0]": ("changed", "n3-1"),
        "topics.gone[v0]": ("vanished", "n3-1"), "topics.new[v0]": ("new", "n4-1"),
        "topics.wavered[v0]": ("flaky", ""),
    },
)  # fmt: skip
TWO_BUILDS = Made(
    (1, 4, 7, 10), ("b1", "b1", "b2", "b2"),
    {
        "topics.steady[v0]": "DDDD", "topics.regressed[v0]": "CCDD", "topics.fixed[v0]": "DDCC",
        "topics.flaky[v0]": "CDCD", "topics.once[v0]": "CCCD", "topics.pinned[v0]": "DKDK",
    },
    {
        "topics.regressed[v0]": ("regressed", "n3-2"), "topics.fixed[v0]": ("fixed", "n3-2"),
        "topics.flaky[v0]": ("flaky", ""), "topics.once[v0]": ("flaky", ""),
        "topics.pinned[v0]": ("changed", "n4-2"),
    },
)  # fmt: skip
# Each build is true to itself, so nothing is flaky; nor is what another Touchstone sees otherwise.
TO_AND_FRO = Made(
    (2, 5, 8), ("b1", "b2", "b1"),
    {"topics.by-build[v0]": "CDC", "topics.steady[v0]": "CCC"},
    {"topics.by-build[v0]": ("fixed", "n3-3")},
)  # fmt: skip
OTHER_JUDGE = Made(
    (2, 5, 8), ("b1",) * 3,
    {"topics.by-judge[v0]": "CCD", "topics.steady[v0]": "CCC"},
    {"topics.by-judge[v0]": ("regressed", "n3-3")},
    commits=("one", "one", "two"),
)  # fmt: skip
# The last run was cut after two cases of four: what it did not get to has not vanished.
CUT = Made(
    (5, 8, 11), ("b1", "b1", "b2"),
    {
        "topics.steady[v0]": "CCC", "topics.regressed[v0]": "CCD", "topics.left[v0]": "CC/",
        "topics.differs[v0]": "DD/",
    },
    {"topics.regressed[v0]": ("regressed", "n4-3")},
)  # fmt: skip
NEW = Made((11,), ("b1",), {"topics.steady[v0]": "C", "topics.zero[v0]": "D"}, {})
TARGETS = {
    "ended:9092": CUT, "judged:9092": OTHER_JUDGE, "known:9092": TWO_BUILDS,
    "newcomer:9092": NEW, "unknown:9092": UNKNOWN, "swapped:9092": TO_AND_FRO,
}  # fmt: skip
MANY = 45  # causes of one target, more than a page shows at once
FUZZ = "fuzzed:9092"


def results(folder: Path) -> Path:
    """Write the twelve runs, and the rows of a fuzz run beside them."""
    for target, one in TARGETS.items():
        for place, (number, build) in enumerate(zip(one.runs, one.builds, strict=True)):
            codes = {case: track[place] for case, track in one.tracks.items()}
            cases = {case: code for case, code in codes.items() if code not in "./"}
            lines = made.result_lines(
                RUNS[number], target, cases, started=started(number), build=build,
                commit=one.commits[place], arguments=["--target", f"{target}"],
            )  # fmt: skip
            lines[0]["planned"] = sum(code != "." for code in codes.values())
            lines[-1]["finished"] = started(number).replace("0:00Z", "9:00Z")  # after nine minutes
            if target == "known:9092" and place == 3:
                lines[1:1] = many(target)
                lines = counted(lines)
            if target == "unknown:9092":
                wavered(lines, place)
            if "/" in codes.values():
                del lines[-1]  # the run was cut: nobody wrote its footer
            made.write(folder, lines)
    fuzz(folder / "fuzz")
    return folder


def started(number: int) -> str:
    return f"{DATES[number // 3]}T{TIMES[number % 3]}:00Z"


def many(target: str) -> list[dict]:
    """Cases that each differ in a way of their own."""
    return [
        made.case_row(f"produce.many-{number:02}[v0]", "D", target, findings=[], notes=[],
                      differences=[made.DIFFERENCE | {"path": f"field_{number:02}", "oracle": 1,
                                                      "target": 2, "kind": "value"}])
        for number in range(MANY)
    ]  # fmt: skip


def counted(lines: list[dict]) -> list[dict]:
    """The lines with a header and a footer that count them."""
    body = lines[1:-1]
    lines[0]["planned"] = len(body)
    return [lines[0], *body, lines[-1] | rows.footer(body, finished=lines[-1]["finished"],
                                                     exit_code=1)]  # fmt: skip


def wavered(lines: list[dict], place: int) -> None:
    """One case conformed only when its second run asked it again."""
    for line in lines:
        if line.get("case") == "topics.wavered[v0]" and place == 1:
            line["at_first"] = "status 5"


def fuzz(folder: Path) -> None:
    folder.mkdir(parents=True)
    both = {"schema": 1, "run": "f", "target": FUZZ, "campaign": "frames", "seed": 1}
    shards = [
        both | {
            "fuzz": "shard", "shard": number, "shards": 2, "executions": 500, "seconds": 2.0,
            "signatures": 40, "complaints": 3, "died": None,
        }
        for number in range(2)
    ]  # fmt: skip
    cause = both | {
        "fuzz": "cause", "oracle": "parses", "key": 3, "behaviour": "trailing",
        "sentence": "<b>trailing</b> bytes behind the answer", "members": 3, "steps": 1,
        "bytes": 27, "runs": 9, "repeats": 5, "file": "frames/00-parses-key-3.toml",
        "api": "Metadata", "decides": True,
    }  # fmt: skip
    other = cause | {
        "oracle": "alive",
        "key": -1,
        "sentence": "it died",
        "repeats": 2,
        "api": "",
        "decides": False,
    }
    fuzz_rows.write(folder / fuzz_rows.NAME, [*shards, cause, other])
