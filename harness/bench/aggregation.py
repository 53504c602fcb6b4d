"""Rows that Spark aggregates in a second, of a month of nights made up for the purpose.

The goal is 30 nights x 5,000 cases x 30 targets, 4.5 million rows, under
five minutes on two cores. The rows are made from checksums of their own names, so the same
arguments make the same bytes and no seed is needed. They are shaped like a real month, because an
aggregation of rows that all conform measures nothing: one target in six differs by a persistent
share of cases, one case in 400 is flaky, a commit lasts three nights and each brings regressions.
"""

from __future__ import annotations

import json
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from touchstone.harness.bench.contest import Figure, Options
from touchstone.harness.results import rows
from touchstone.harness.spark import inputs, session
from touchstone.reference_impl.broker.personas.releases import RELEASES

SUITES = ("versions", "topics", "racks", "produce", "records", "fetch", "offsets", "metadata")
APIS = (
    ("Produce", 13),
    ("Fetch", 18),
    ("ListOffsets", 11),
    ("Metadata", 13),
    ("CreateTopics", 7),
    ("DeleteTopics", 6),
    ("ApiVersions", 4),
    ("InitProducerId", 5),
    ("DescribeConfigs", 4),
    ("CreatePartitions", 3),
)
KINDS = ("reference", "kafka", "docker", "recorded", "proxy", "mock")
LEVELS = ("MUST", "MUST", "MUST", "SHOULD", "OBSERVED")
BEHAVIOURS = (
    "zero-partitions-are-refused",
    "an-unknown-topic-answers-3",
    "the-high-watermark-never-passes-the-end",
    "a-mid-batch-offset-returns-the-whole-batch",
    "duplicate-sequences-are-acknowledged-once",
    "an-empty-array-is-not-null",
    "throttle-time-stands-first",
    "leader-epochs-are-fenced",
)
NIGHTS, CASES, TARGETS = 30, 5_000, 30
GOAL_SECONDS = 300


def fraction_of(*words: object) -> float:
    """A number in [0, 1) that depends on the words only."""
    return zlib.crc32("/".join(map(str, words)).encode()) / 2**32


def target_names(count: int) -> list[str]:
    names = [f"{kind}@{release}" for kind in KINDS for release in RELEASES]
    if count > len(names):
        raise ValueError(f"at most {len(names)} targets, not {count}")
    return names[:count]


def case(number: int) -> dict[str, Any]:
    """What is the same on every night and target: ten cases to a claim."""
    claim_number, variant = divmod(number, 10)
    api, highest = APIS[claim_number % len(APIS)]
    suite = SUITES[claim_number % len(SUITES)]
    behaviour = BEHAVIOURS[claim_number // 3 % len(BEHAVIOURS)]
    claim = f"{suite}.{behaviour}-{claim_number}"
    version = variant % (highest + 1)
    params = {"compression": ("none", "lz4", "zstd")[variant % 3]} if variant > 6 else {}
    suffix = "".join(f",{name}={value}" for name, value in params.items())
    return {
        "row": "case",
        "claim": claim,
        "case": f"{claim}[v{version}{suffix},{variant}]",
        "suite": suite,
        "sentence": f"{api} {behaviour.replace('-', ' ')}, in situation {claim_number}.",
        "level": LEVELS[claim_number % len(LEVELS)],
        "evidence": [f"{suite.upper()}-{claim_number % 40:02}"],
        "api": api,
        "version": version,
        "params": params,
    }


def verdict_of(number: int, target: str, night: int) -> str:
    """Stable differences per target, some flakes, some that come and go with a commit."""
    if fraction_of("unsupported", number // 10, target) < 0.04:
        return "UNSUPPORTED"
    if fraction_of("flaky", number) < 0.0025 and fraction_of("flip", number, target, night) < 0.3:
        return "DIVERGES"
    if fraction_of("regression", number, target, night // 3) < 0.0005:
        return "DIVERGES"
    weak = 0.03 if target.startswith(("proxy", "mock")) else 0.001
    draw = fraction_of("stable", number, target)
    if draw < weak:
        return "DIVERGES"
    return "BROKEN" if fraction_of("broken", number, target, night) < 0.00002 else "CONFORMS"


def finished_case(fixed: dict[str, Any], number: int, target: str, night: int) -> dict[str, Any]:
    verdict = verdict_of(number, target, night)
    differs = verdict == "DIVERGES"
    answers = [(37, 3), (-1, 0), ("topic", None), ([1, 2, 3], [1, 3])][number % 4]
    difference = {
        "step": "create",
        "path": f"topics[0].partitions[{number % 3}].error_code",
        "oracle": answers[0],
        "target": answers[1],
    }
    finding = {
        "checker": "offsets_monotonic",
        "step": "fetch",
        "path": "responses[0]",
        "sentence": "an offset went back from 7 to 5",
    }
    reasons = {"UNSUPPORTED": "ApiVersions omits it", "BROKEN": "AssertionError in the harness"}
    return fixed | {
        "verdict": verdict,
        "connection": "closed" if differs and number % 5 == 0 else "kept",
        "reason": reasons.get(verdict),
        "differences": [difference] if differs else [],
        "findings": [finding] if differs and number % 7 == 0 else [],
        "known": "KNOWN-3" if differs and number % 11 == 0 else None,
        "duration_ms": round(
            5 + 60 * fraction_of("time", number) ** 4 + 3 * fraction_of(number, night), 3
        ),
        "transcript": f"transcripts/{number}.jsonl" if differs else None,
        "target": target,
        "release": target.split("@")[1],
    }


def lines(fixed: list[dict[str, Any]], target: str, night: int) -> Iterator[dict[str, Any]]:
    """One result file, row by row."""
    day = f"2026-{9 + night // 28:02}-{1 + night % 28:02}"
    kind, release = target.split("@")
    yield {
        "row": "header",
        "schema": rows.SCHEMA,
        "run": f"{day}-nightly",
        "started": f"{day}T01:00:00Z",
        "target": target,
        "release": release,
        "kind": "recorded" if kind == "recorded" else "process",
        "oracle": f"recorded@{release}" if kind != "docker" else f"kafka@{release}",
        "oracle_kind": "recorded" if kind != "docker" else "process",
        "commit": f"{zlib.crc32(str(night // 3).encode()):08x}" * 5,
        "seed": 7,
        "host": {"python": "3.11.7", "platform": "Linux x86_64"},
        "planned": len(fixed),
    }
    counts: Counter[str] = Counter()
    for number, row in enumerate(fixed):
        done = finished_case(row, number, target, night)
        counts[done["verdict"]] += 1
        yield done
    yield {
        "row": "footer",
        "cases": len(fixed),
        "by_verdict": dict(counts),
        "finished": f"{day}T01:09:00Z",
        "exit": 1 if counts["DIVERGES"] else 0,
    }


def generate(folder: Path, nights: int, cases: int, targets: int) -> int:
    """Write nights x targets result files under `folder`; the number of case rows."""
    fixed = [case(number) for number in range(cases)]
    for night in range(nights):
        for target in target_names(targets):
            made = lines(fixed, target, night)
            header = next(made)
            place = folder / header["run"] / f"{target}.jsonl"
            place.parent.mkdir(parents=True, exist_ok=True)
            with place.open("w", encoding="utf-8") as file:
                for row in (header, *made):
                    file.write(json.dumps(row, separators=(",", ":")) + "\n")
    return nights * cases * targets


def run(options: Options) -> Iterator[Figure]:
    """Aggregate a tenth of the month. The peer is the goal: the whole month in five minutes."""
    reason = session.why_not()
    if reason:
        raise session.NotRun(reason)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        count = generate(folder / "results", NIGHTS // 10, CASES, TARGETS)
        seconds = aggregate(folder / "results", folder / "out", options.say)
        page = (folder / "out" / "index.html").stat().st_size
    goal = NIGHTS * CASES * TARGETS / GOAL_SECONDS
    notes = {"rows": count, "seconds": round(seconds, 1), "page_mb": round(page / 1e6, 2)}
    yield Figure("aggregation", "rows", round(count / seconds), "/s", "goal", goal, notes=notes)


def aggregate(results: Path, out: Path, say: Callable[[str], None]) -> float:
    """Seconds from the first file opened to the page written, Spark's start included."""
    from touchstone.harness.spark import report  # pyspark's door opens only when this bench is run

    began = time.monotonic()
    files = [inputs.edges(path) for path in inputs.find([str(results)])]
    report.write(files, out, say=say)
    return time.monotonic() - began


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--nights", default=NIGHTS)
@click.option("--cases", default=CASES)
@click.option("--targets", default=TARGETS)
def main(folder: Path, nights: int, cases: int, targets: int) -> None:
    """Write made-up result files into FOLDER, to aggregate by hand."""
    click.echo(f"{generate(folder, nights, cases, targets):,} rows")


if __name__ == "__main__":
    main()
