"""The figures of a report as one dictionary, written as JSON for programs and Markdown for people.

Every list in it is sorted by what it names, so that the same input gives the same bytes. The totals
of a target are Spark's counts of its rows, which `ingest` has proved equal to the footer's.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as f

from touchstone.harness import shown
from touchstone.harness.judgement import causes, wording
from touchstone.harness.model.case_row import CaseRow
from touchstone.harness.spark import plain
from touchstone.harness.spark.jobs.codes import LETTERS
from touchstone.harness.spark.runs import Run, target_order

SCHEMA = 1
SLOWEST = 50
FLAKIEST = 100
REASONS = 200
MARKDOWN_ROWS = 30
EXPLAINED = 20_000  # differing cases whose causes are found, over all targets
EVIDENCE = 100  # differences of one of them that are looked at
LISTS = ("differences", "notes", "findings", "failures")
FACTS = ("release", "kind", "oracle", "oracle_kind", "commit", "seed", "host", "started")
Table = Callable[[str], DataFrame]
Trend = Mapping[tuple[str, str], dict[str, Any]]  # by run and target


def collect(table: Table, latest: DataFrame, runs: Sequence[Run], trend: Trend) -> dict[str, Any]:
    """The whole summary. `trend` maps (run, target) to Spark's counts of that file."""
    newest = [run for run in runs if run.latest]
    targets = [target_facts(run, trend) for run in newest]
    targets.sort(key=lambda t: target_order(t["target"]))
    return {
        "schema": SCHEMA,
        "status": worst([target["status"] for target in targets]),
        "rows": sum(counts_of(run, trend)["cases"] for run in runs),
        "files": len(runs),
        "detection": detection(table("detection")),
        "targets": targets,
        "nights": nights(runs),
        "trend": [trend_row(run, trend) for run in runs],
        "suites": sorted_rows(table("suite_release"), "suite", "family", "release"),
        "claims": sorted_rows(table("claim_target"), "suite", "claim", "target"),
        "apis": sorted_rows(table("api_version"), "api", "version", "target"),
        "changes": step_counts(table("changes"), runs),
        "releases": pair_counts(table("releases")),
        "flaky": flaky(table("history")),
        "slowest": slowest(table("history")),
        "reasons": reasons(latest),
        "causes": causes_of(latest),
    }


def causes_of(latest: DataFrame) -> list[dict[str, Any]]:
    """What each target does differently: equal differences of many cases, told once."""
    differing = latest.where("verdict = 'DIVERGES'").orderBy("target", "case").limit(EXPLAINED)
    shortened = (f.slice(name, 1, EVIDENCE).alias(name) for name in LISTS)
    kept = [name for name in differing.columns if name not in LISTS]
    of_target: dict[str, list[CaseRow]] = {}
    for row in differing.select(*kept, *shortened).toLocalIterator():
        of_target.setdefault(row["target"], []).append(as_read(row))
    return [
        {
            "target": target, "cause": cause.id, "kind": cause.kind, "cases": len(cause.cases),
            "where": wording.title(cause), "what": wording.sentence(cause),
            "example": cause.example["case"],
        }
        for target in sorted(of_target, key=target_order)
        for cause in causes.find(of_target[target]).causes
    ]  # fmt: skip


def as_read(row: Row) -> CaseRow:
    """A row as it stands in a file: its answers are JSON text in the table."""
    found: Any = row.asDict(recursive=True)
    found |= {name: found[name] or [] for name in LISTS}
    for one in (*found["differences"], *found["notes"]):
        sides = ((side, one[side]) for side in ("oracle", "target"))
        one |= {side: None if text is None else json.loads(text) for side, text in sides}
    return found


def detection(planted: DataFrame) -> dict[str, Any]:
    """The score and every planted defect, survivors first. One target that notices is enough."""
    found: dict[str, dict[str, Any]] = {}
    for row in sorted_rows(planted, "switch", "target"):
        one = found.setdefault(row["switch"], {"switch": row["switch"], "targets": [], "by": []})
        one["targets"].append(row["target"])
        one["by"] = sorted({*one["by"], *row["caught_by"]})
    switches = sorted(found.values(), key=lambda one: (bool(one["by"]), one["switch"]))
    caught = sum(bool(one["by"]) for one in switches)
    return {"planted": len(switches), "caught": caught, "switches": switches}


def target_facts(run: Run, trend: Trend) -> dict[str, Any]:
    header, footer = run.source.header, run.source.footer or {}
    counts = counts_of(run, trend)
    planned = header.get("planned") or 0
    facts = {name: header.get(name) for name in FACTS}
    return {
        "target": run.target,
        "run": header["run"],
        **facts,
        "finished": footer.get("finished"),
        "planned": planned,
        **counts,
        "not_run": max(0, planned - counts["cases"]),
        "incomplete": run.incomplete,
        "status": plain.status_of(counts, planned, run.incomplete),
        "runs": run.ordinal + 1,
    }


def counts_of(run: Run, trend: Trend) -> dict[str, Any]:
    row = trend.get((run.source.run, run.target), {})
    return {name: row.get(name, 0) or 0 for name in ("cases", *LETTERS.values(), "us")}


def worst(statuses: Sequence[str]) -> str:
    return max(statuses, key=plain.STATUSES.index, default="incomplete")


def nights(runs: Sequence[Run]) -> list[dict[str, Any]]:
    found: dict[int, dict[str, Any]] = {}
    for run in runs:
        started = str(run.source.header["started"])
        night = found.setdefault(run.night, {"run": run.source.run, "started": started})
        night["started"] = min(night["started"], started)
    return [found[night] for night in sorted(found)]


def trend_row(run: Run, trend: Trend) -> dict[str, Any]:
    row = {"night": run.night, "target": run.target, "incomplete": run.incomplete}
    commit = run.source.header.get("commit")
    return row | {"commit": commit} | counts_of(run, trend)


def sorted_rows(table: DataFrame, *keys: str) -> list[dict[str, Any]]:
    return [row.asDict() for row in table.orderBy(*keys).collect()]


def last_steps(changes: DataFrame, runs: Sequence[Run]) -> DataFrame:
    """The changes that the newest run of each target brought."""
    spark = changes.sparkSession
    newest = [(run.target, run.ordinal) for run in runs if run.latest and run.ordinal]
    return changes.join(
        f.broadcast(spark.createDataFrame(newest, "target string, ordinal int")),
        ["target", "ordinal"],
    )


def step_counts(changes: DataFrame, runs: Sequence[Run]) -> list[dict[str, Any]]:
    counted = last_steps(changes, runs).groupBy("target", "kind").agg(f.count("*").alias("cases"))
    return sorted_rows(counted, "target", "kind")


def pair_counts(releases: DataFrame) -> list[dict[str, Any]]:
    counted = releases.groupBy("older", "newer", "kind").agg(f.count("*").alias("cases"))
    return sorted_rows(counted, "older", "newer", "kind")


def flaky(history: DataFrame) -> list[dict[str, Any]]:
    names = ("target", "case", "track", "changes", "unexplained", "flake_rate")
    worst_first = [f.desc("unexplained"), f.desc("changes"), f.asc("target"), f.asc("case")]
    rows = history.where("flaky").orderBy(*worst_first).limit(FLAKIEST).select(*names)
    return [row.asDict() for row in rows.collect()]


def slowest(history: DataFrame) -> list[dict[str, Any]]:
    """By median over runs: one slow night on a loaded machine is not a slow case."""
    names = ("target", "case", "median_us", "max_us", "last_us")
    rows = history.orderBy(f.desc("median_us"), "target", "case").limit(SLOWEST).select(*names)
    return [row.asDict() for row in rows.collect()]


def reasons(latest: DataFrame) -> list[dict[str, Any]]:
    """Why cases were not judged. A difference is its own reason and stands elsewhere; a reason
    that names its own case is one with the others of its kind."""
    given = latest.where(f.col("code").isin("U", "I", "B") & f.col("reason").isNotNull())
    given = given.withColumn("reason", f.replace("reason", "case", f.lit("this case")))
    counted = given.groupBy("target", "verdict", "reason").agg(f.count("*").alias("cases"))
    rows = counted.orderBy(f.desc("cases"), "target", "verdict", "reason").limit(REASONS)
    return [row.asDict() for row in rows.collect()]


def write(found: dict[str, Any], out: Path) -> None:
    text = json.dumps(found, indent=1, sort_keys=True, ensure_ascii=False)
    (out / "summary.json").write_text(text + "\n", encoding="utf-8")
    (out / "summary.md").write_text(markdown(found), encoding="utf-8")


def markdown(found: dict[str, Any]) -> str:
    """The figures for a pull request: targets, suites, what changed, what was not judged."""
    scope = f"{found['rows']:,} rows of {found['files']} runs on {len(found['nights'])} nights"
    parts = [f"# Touchstone: {found['status']}", scope, plain.markdown(found["targets"])]
    if found["detection"]["planted"]:
        parts.append("{caught} of {planted} planted defects caught".format(**found["detection"]))
    why = ("target", "where", "what", "cases")
    parts += section("Causes", found["causes"][:MARKDOWN_ROWS], why)
    parts += section("Suites", found["suites"], ("suite", "family", "release", *plain.COLUMNS))
    parts += section("Since the run before", found["changes"], ("target", "kind", "cases"))
    between = ("older", "newer", "kind", "cases")
    parts += section("Between neighbouring releases", found["releases"], between)
    reasons = ("cases", "target", "verdict", "reason")
    parts += section("Reasons", found["reasons"][:MARKDOWN_ROWS], reasons)
    flaky = ("target", "case", "track", "flake_rate")
    parts += section("Flaky", found["flaky"][:MARKDOWN_ROWS], flaky)
    return "\n\n".join(parts) + "\n"


def section(title: str, rows: Sequence[dict[str, Any]], names: Sequence[str]) -> list[str]:
    if not rows:
        return []
    lines = [names, ["---"] * len(names)]
    lines += [[shown.markdown(str(row[name])) for name in names] for row in rows]
    return [f"## {title}", "\n".join(f"| {' | '.join(line)} |" for line in lines)]
