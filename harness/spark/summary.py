"""The figures of a report as one dictionary, written as JSON for programs and Markdown for people.

Every list in it is sorted by what it names, so that the same input gives the same bytes. The totals
of a target are Spark's counts of its rows, which `ingest` has proved equal to the footer's.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pyspark.sql import Column, DataFrame, Row, Window
from pyspark.sql import functions as f

from touchstone.harness import shown
from touchstone.harness.judgement import causes, wording
from touchstone.harness.model.case_row import CaseRow, Header
from touchstone.harness.spark import plain
from touchstone.harness.spark.jobs.codes import LETTERS
from touchstone.harness.spark.jobs.history import UNSTEADY
from touchstone.harness.spark.runs import Run, seconds, target_order

SCHEMA = 2
SLOWEST = 50
MOVED = 200  # cases of one target whose course is not steady
REASONS = 50  # of one target
FUZZ_CAUSES = 200  # of one target
MARKDOWN_ROWS = 30
EXPLAINED = 5_000  # differing cases of one target whose causes are found
EVIDENCE = 100  # differences of one of them that are looked at
JUDGED_BY = ("build", "commit")
DIFFERS = "verdict = 'DIVERGES'"
LISTS = ("differences", "notes", "findings", "failures")
FACTS = (
    "release", "kind", "oracle", "oracle_kind", "build", "commit", "seed", "host", "started",
    "arguments",
)  # fmt: skip
COURSES = ("regressed", "flaky", "alternates", "unjudged", "fixed", "changed", "new", "vanished")
Table = Callable[[str], DataFrame]
Trend = Mapping[tuple[str, str], dict[str, Any]]  # by run and target


def collect(table: Table, latest: DataFrame, runs: Sequence[Run], trend: Trend) -> dict[str, Any]:
    """The whole summary. `trend` maps (run, target) to Spark's counts of that file."""
    newest = [run for run in runs if run.latest]
    targets = [target_facts(run, trend) for run in newest]
    targets.sort(key=lambda t: target_order(t["target"]))
    told, given = reasons(latest)
    return {
        "schema": SCHEMA,
        "status": worst([target["status"] for target in targets]),
        "rows": sum(counts_of(run, trend)["cases"] for run in runs),
        "files": len(runs),
        "detection": detection(table("detection")),
        "targets": targets,
        "nights": sorted({run.date for run in runs}),
        "runs": run_ids(runs),
        "trend": [trend_row(run, trend) for run in runs],
        "suites": sorted_rows(table("suite_release"), "suite", "family", "release"),
        "claims": sorted_rows(table("claim_target"), "suite", "claim", "target"),
        "apis": sorted_rows(table("api_version"), "api", "version", "target"),
        "changes": step_counts(table("changes"), runs),
        "releases": pair_counts(table("releases")),
        "courses": courses(table("history")),
        "moved": moved(table("history"), runs),
        "slowest": slowest(table("history")),
        "reasons": told,
        "reasons_found": given,
        "causes": causes_of(latest),
        "unexplained": unexplained(latest),
    }


def causes_of(latest: DataFrame) -> list[dict[str, Any]]:
    """What each target does differently: equal differences of many cases, told once."""
    differing = first_of_target(latest.where(DIFFERS), EXPLAINED, f.asc("case"))
    differing = differing.orderBy("target", "case")
    shortened = (f.slice(name, 1, EVIDENCE).alias(name) for name in LISTS)
    kept = [name for name in differing.columns if name not in LISTS]
    of_target: dict[str, list[CaseRow]] = {}
    for row in differing.select(*kept, *shortened).toLocalIterator():
        of_target.setdefault(row["target"], []).append(as_read(row))
    return [
        {
            "target": target, "cause": cause.id, "kind": cause.kind, "cases": len(cause.cases),
            "where": wording.title(cause), "what": wording.sentence(cause),
            "effect": cause.effect, "hits": cause.hits, "light": cause.is_light,
            "example": cause.example["case"],
        }
        for target in sorted(of_target, key=target_order)
        for cause in causes.find(of_target[target]).causes
    ]  # fmt: skip


def unexplained(latest: DataFrame) -> list[dict[str, Any]]:
    """How many differing cases of a target are beyond those whose causes are found."""
    counted = latest.where(DIFFERS).groupBy("target").agg(f.count("*").alias("differing"))
    more = counted.select("target", (f.col("differing") - EXPLAINED).alias("cases"))
    return sorted_rows(more.where("cases > 0"), "target")


def first_of_target(rows: DataFrame, most: int, *order: Column) -> DataFrame:
    """The first rows of each target: a target is never left out for others that come before it."""
    place = f.row_number().over(Window.partitionBy("target").orderBy(*order))
    return rows.withColumn("place", place).where(f.col("place") <= most).drop("place")


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
        "incomplete": plain.cut_words(run.incomplete, counts["cases"], planned),
        "status": plain.status_of(counts, planned, run.incomplete),
        "seconds": seconds(run),
        "runs": run.ordinal + 1,
    }


def counts_of(run: Run, trend: Trend) -> dict[str, Any]:
    row = trend.get((run.source.run, run.target), {})
    return {name: row.get(name, 0) or 0 for name in ("cases", *LETTERS.values(), "us")}


def worst(statuses: Sequence[str]) -> str:
    return max(statuses, key=plain.STATUSES.index, default="incomplete")


def run_ids(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Every run id with its start, oldest first."""
    found: dict[int, dict[str, Any]] = {}
    for run in runs:
        started = str(run.source.header["started"])
        one = found.setdefault(
            run.number, {"run": run.source.run, "date": run.date, "started": started}
        )
        one["started"] = min(one["started"], started)
    return [found[number] for number in sorted(found)]


def trend_row(run: Run, trend: Trend) -> dict[str, Any]:
    header = run.source.header
    said = {name: header.get(name) for name in ("run", "target", "started", "build", "commit")}
    counts = counts_of(run, trend)
    cut = plain.cut_words(run.incomplete, counts["cases"], header.get("planned") or 0)
    return said | {"date": run.date, "incomplete": cut, "seconds": seconds(run)} | counts


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


def courses(history: DataFrame) -> list[dict[str, Any]]:
    """How many cases of each target took which course over its runs; the steady ones too."""
    return sorted_rows(history.groupBy("target", "course").agg(f.count("*").alias("cases")),
                       "target", "course")  # fmt: skip


def moved(history: DataFrame, runs: Sequence[Run]) -> list[dict[str, Any]]:
    """The cases that are not steady, gravest first, with the run that brought what they are now."""
    names = (
        "target",
        "case",
        "claim",
        "course",
        "track",
        "since",
        "changes",
        "flake_rate",
        "wavered",
    )
    rows = history.where("course <> 'steady'")
    more = ("one_build", f.col("since").alias("ordinal"))
    order = (gravest("course"), f.desc("changes"), f.asc("case"))
    rows = first_of_target(rows, MOVED, *order)
    overall = (gravest("course"), f.asc("target"), *order[1:])
    found = [row.asDict() for row in rows.orderBy(*overall).select(*names, *more).collect()]
    at = {(run.target, run.ordinal): run.source.header for run in runs}
    for row in found:
        header = at[row["target"], row["ordinal"]]
        began = row["course"] not in UNSTEADY
        row["since"] = header["run"] if began else None
        row["build"] = header.get("build") if began else None
        before = at.get((row["target"], row["ordinal"] - 1))
        row["why"] = why(row, before, header)
    return found


def gravest(column: str) -> Column:
    """The gravest course of a case, or kind of a change, first."""
    return f.array_position(f.array(*map(f.lit, COURSES)), f.col(column))


def why(row: Mapping[str, Any], before: Header | None, now: Header) -> str:
    """Why a case is called what it is called, where its verdicts and builds do not say so.

    `before` and `now` are of the runs between which its present verdict began.
    """
    if row["course"] == "alternates":
        return "to and fro; the builds are not known"
    if row["course"] == "flaky":
        one_build = ["one build gave several verdicts"] if row["one_build"] else []
        wavered = ["one run gave several verdicts"] if row["wavered"] else []
        return ", ".join([*one_build, *wavered])
    builds, judges = ([(run or {}).get(name) for run in (before, now)] for name in JUDGED_BY)
    if builds[0] and builds[0] == builds[1] and judges[0] != judges[1]:
        return "the build is the same, the Touchstone that judged it is not"
    return ""


def slowest(history: DataFrame) -> list[dict[str, Any]]:
    """By median over runs: one slow night on a loaded machine is not a slow case."""
    names = ("target", "case", "median_us", "max_us", "last_us")
    rows = history.orderBy(f.desc("median_us"), "target", "case").limit(SLOWEST).select(*names)
    return [row.asDict() for row in rows.collect()]


def reasons(latest: DataFrame) -> tuple[list[dict[str, Any]], int]:
    """Why cases were not judged, the commonest of each target; and how many reasons there are.

    A difference is its own reason and stands elsewhere; a reason that names its own case is one
    with the others of its kind.
    """
    given = latest.where(f.col("code").isin("U", "I", "B") & f.col("reason").isNotNull())
    given = given.withColumn("reason", f.replace("reason", "case", f.lit("this case")))
    counted = given.groupBy("target", "verdict", "reason").agg(f.count("*").alias("cases"))
    order = (f.desc("cases"), f.asc("verdict"), f.asc("reason"))
    rows = first_of_target(counted, REASONS, *order)
    rows = rows.orderBy(f.desc("cases"), "target", "verdict", "reason")
    return [row.asDict() for row in rows.collect()], counted.count()


def fuzz_causes(told: DataFrame, apis: Mapping[int, str]) -> tuple[list[dict[str, Any]], int]:
    """The causes of fuzz runs by target, the most met first, with their APIs' names; and how many
    there are.
    """
    most_met = (f.desc("members"), f.asc("campaign"), f.asc("oracle"), f.asc("key"))
    order = (f.asc("target"), *most_met, f.asc("behaviour"))
    rows = first_of_target(told, FUZZ_CAUSES, *order[1:]).orderBy(*order).collect()
    found = [row.asDict() for row in rows]
    for row in found:
        row["api"] = apis.get(row["key"], "no API" if row["key"] < 0 else f"API {row['key']}")
    return found, told.count()


def write(found: dict[str, Any], out: Path) -> None:
    text = json.dumps(found, indent=1, sort_keys=True, ensure_ascii=False)
    (out / "summary.json").write_text(text + "\n", encoding="utf-8")
    (out / "summary.md").write_text(markdown(found), encoding="utf-8")


def markdown(found: dict[str, Any]) -> str:
    """The figures for a pull request: targets, suites, what changed, what was not judged."""
    scope = f"{found['rows']:,} rows of {wording.counted(found['files'], 'run')}{when(found)}"
    parts = [f"# Touchstone: {found['status']}", scope, plain.markdown(found["targets"])]
    if not found["targets"]:  # rows of fuzz runs alone
        parts = ["# Touchstone: no target was judged"]
    if found["detection"]["planted"]:
        parts.append("{caught} of {planted} planted defects caught".format(**found["detection"]))
    parts += causes_by_target(found)
    parts += section("Suites", found["suites"], ("suite", "family", "release", *plain.COLUMNS))
    parts += section("Since the run before", found["changes"], ("target", "kind", "cases"))
    parts += section("Over all runs", found["courses"], ("target", "course", "cases"))
    moved = ("course", "target", "case", "track", "since", "build", "why")
    parts += section("Cases that are not steady", found["moved"], moved, total_moved(found))
    between = ("older", "newer", "kind", "cases")
    parts += section("Between neighbouring releases", found["releases"], between)
    reasons = ("cases", "target", "verdict", "reason")
    parts += section("Reasons", found["reasons"], reasons, found["reasons_found"])
    fuzz = ("target", "campaign", "oracle", "api", "sentence", "members", "repeats", "file")
    parts += section("Causes of fuzz runs", found["fuzz_causes"], fuzz, found["fuzz_found"])
    return "\n\n".join(parts) + "\n"


def when(found: dict[str, Any]) -> str:
    dates = found["nights"]
    if len(dates) > 1:
        return f" on {len(dates)} dates, {dates[0]} to {dates[-1]}"
    return f" on {dates[0]}" if dates else ""


def total_moved(found: dict[str, Any]) -> int:
    return sum(row["cases"] for row in found["courses"] if row["course"] != "steady")


def causes_by_target(found: dict[str, Any]) -> list[str]:
    """A table for each target that diverges: one with many causes must not hide another's."""
    of_target: dict[str, list[dict[str, Any]]] = {}
    for row in found["causes"]:
        of_target.setdefault(row["target"], []).append(row)
    parts = []
    for target, rows in of_target.items():
        light = sum(row["light"] for row in rows)
        title = f"Causes: {target}, {wording.counted(len(rows) - light, 'cause')}"
        title += f", {light:,} of what no client can tell" if light else ""
        parts += section(title, rows, ("where", "what", "effect", "hits", "cases"))
    for row in found["unexplained"]:
        cases = wording.counted(row["cases"], "case")
        parts.append(f"{row['target']}: causes of {cases} more were not looked for")
    return parts


def section(
    title: str, rows: Sequence[dict[str, Any]], names: Sequence[str], total: int | None = None
) -> list[str]:
    """A table with its title; of more than MARKDOWN_ROWS rows, how many there are more."""
    if not rows:
        return []
    first = rows[:MARKDOWN_ROWS]
    lines = [names, ["---"] * len(names)]
    lines += [[shown.markdown(cell_of(row[name])) for name in names] for row in first]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    more = (len(rows) if total is None else total) - len(first)
    said = [f"... and {more:,} more, in index.html and summary.json"] if more > 0 else []
    return [f"## {shown.markdown(title)}", table, *said]


def cell_of(value: object) -> str:
    return "" if value is None else str(value)
