"""The one page: what the newest run of every target showed, embedded once and drawn on demand.

The page must stay under 10 MB for 30 targets x 5,000 cases and must not ask the network for
anything. So a verdict is one letter in a string per target, texts are interned, a difference that
many cases share is stored once, and the browser builds only what somebody looks at. What does not
fit the budget is left out from the least severe end and the page says how much and where it is: a
report that silently shows less is a lie of omission.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import jinja2
from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as f

from touchstone.harness import shown
from touchstone.harness.judgement import wording
from touchstone.harness.spark import summary
from touchstone.harness.spark.jobs.codes import LETTERS
from touchstone.harness.spark.runs import Run, target_order

DASHBOARDS = Path(__file__).with_name("dashboards")
TEMPLATE = "page.html.j2"
DETAIL_BYTES = 4 << 20  # budget of the evidence: reasons, answers, findings
LONGEST_ANSWER = 4_000  # characters of one answer; the Parquet table has all of it
LISTED = 200  # differences of one case: a target that shifts an array differs everywhere
STEPS = 2_000  # changes listed, gravest first; their counts are complete
SEVEREST_FIRST = "BDIKU"
TIMES = ("median_us", "max_us", "last_us")
TEXTS = ("connection", "reason", "known", "transcript")
DIFFERENCE = ("step", "path", "oracle", "target")
TRACK = ("course", "track", "since", "build", "why", "changes")
FINDING = ("checker", "step", "path", "sentence")
SUMMARY = (
    "targets",
    "nights",
    "runs",
    "trend",
    "changes",
    "courses",
    "releases",
    "reasons",
    "reasons_found",
    "causes",
    "unexplained",
    "rows",
    "files",
    "status",
    "detection",
    "fuzz",
    "fuzz_causes",
    "fuzz_found",
)
Table = Callable[[str], DataFrame]


class Interned:
    """Values by number, in the order of first use."""

    def __init__(self) -> None:
        self.numbers: dict[object, int] = {}

    def __call__(self, value: object) -> int:
        return self.numbers.setdefault(value, len(self.numbers))

    def values(self) -> list[Any]:
        return list(self.numbers)


class Model:
    """The embedded data while it is built."""

    def __init__(self, targets: Sequence[str], cases: Iterable[Row], claims: Iterable[Row]) -> None:
        self.targets = {target: i for i, target in enumerate(targets)}
        self.suites, self.strings = Interned(), Interned()
        self.differences, self.findings = Interned(), Interned()
        self.claims: dict[str, int] = {}
        self.claim_rows: list[list[Any]] = []
        self.cases: dict[str, int] = {}
        self.case_rows: list[list[Any]] = []
        for row in claims:
            self.claims[row["claim"]] = len(self.claim_rows)
            suite = self.suites(row["suite"])
            evidence = json.loads(row["evidence"] or "[]")
            said = [row["claim"], suite, row["sentence"], row["level"], evidence]
            self.claim_rows.append([*said, node_of(row["claim"], row["where"])])
        for row in cases:
            self.add_case(row["case"], row["claim"], row["api"], row["version"], row["params"])

    def add_case(
        self,
        case: str,
        claim: str,
        api: str | None = None,
        version: int | None = None,
        params: str | None = None,
    ) -> int:
        """The number of a case; one that only older runs had is added as it is met."""
        if case not in self.cases:
            if claim not in self.claims:
                self.claims[claim] = len(self.claim_rows)
                suite = self.suites(claim.split(".")[0])
                self.claim_rows.append([claim, suite, None, None, [], []])
            label = case.removeprefix(claim) or case
            self.cases[case] = len(self.case_rows)
            fixed = [self.claims[claim], label, self.text(api), version, json.loads(params or "{}")]
            self.case_rows.append(fixed)
        return self.cases[case]

    def text(self, value: str | None) -> int:
        """The number of a string; -1 for none."""
        if value is None:
            return -1
        if len(value) > LONGEST_ANSWER:
            value = f"{value[:LONGEST_ANSWER]} … {len(value):,} characters; see tables/differences"
        return self.strings(value)

    def detail(self, row: Row) -> list[Any]:
        """The evidence of one case, in the order `detail` of model.js takes it apart."""
        differences = [
            self.differences(tuple(self.text(d[name]) for name in DIFFERENCE))
            for d in (row["differences"] or ())[:LISTED]
        ]
        findings = [
            self.findings(tuple(self.text(d[name]) for name in FINDING))
            for d in (row["findings"] or ())[:LISTED]
        ]
        texts = [self.text(row[name]) for name in TEXTS]
        unlisted = [max(0, len(row[name] or ()) - LISTED) for name in ("differences", "findings")]
        return [self.cases[row["case"]], *texts, differences, findings, *unlisted]

    def spent(self) -> int:
        """Bytes of interned evidence so far, roughly; asked now and then, never per row."""
        return sum(len(str(s)) + 4 for s in self.strings.numbers) + 24 * len(
            self.differences.numbers
        )


def node_of(claim: str, where: str | None) -> list[str]:
    """The words that ask pytest for a claim; those of a case stand in brackets behind them."""
    if not where:
        return []
    words = wording.node({"claim": claim, "case": claim, "where": where, "target": ""})
    return [*words[:-1], words[-1].removesuffix("[]")]


def write(model: dict[str, Any], place: Path) -> None:
    """Render the page. `model` is what `model()` made, with `folders` and `names` beside it."""
    told = shown.everything(model)
    embedded = json.dumps(told, separators=(",", ":"), sort_keys=True, ensure_ascii=False)
    place.write_text(render(model["summary"]["status"], embedded), encoding="utf-8")


def render(status: str, embedded: str) -> str:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(DASHBOARDS),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
    )
    # `</script>` in an answer must not end the element it stands in, nor `<!--` open a comment
    safe = embedded.replace("<", "\\u003c")
    return environment.get_template(TEMPLATE).render(data=safe, status=status)


def folders(runs: Sequence[Run], home: Path) -> list[str]:
    """Where each newest run's transcripts lie, as seen from the page, in order of the targets."""
    return [
        Path(os.path.relpath(run.source.path.resolve().parent, home.resolve())).as_posix()
        for run in sorted(runs, key=lambda run: target_order(run.target))
        if run.latest
    ]


def model(
    found: dict[str, Any], table: Table, latest: DataFrame, runs: Sequence[Run]
) -> dict[str, Any]:
    targets = [target["target"] for target in found["targets"]]
    built = Model(targets, cases_of(latest), claims_of(latest))
    codes, times = grids(latest, built)
    details, left_out = details_of(latest, built)
    tracks = tracks_of(found, built)
    steps = steps_of(summary.last_steps(table("changes"), runs), built)
    between = between_of(table("releases"), built)
    slowest = [
        [built.targets[s["target"]], built.cases[s["case"]], *(s[n] for n in TIMES)]
        for s in found["slowest"]
        if s["case"] in built.cases
    ]
    return {
        "letters": LETTERS,
        "summary": {name: found[name] for name in SUMMARY},
        "suites": built.suites.values(),
        "claims": built.claim_rows,
        "cases": built.case_rows,
        "codes": [line.ljust(len(built.case_rows), ".") for line in codes],
        "times": times,
        "details": details,
        "left_out": left_out,
        "tracks": tracks,
        "steps": steps,
        "between": between,
        "slowest": slowest,
        "strings": built.strings.values(),
        "differences": built.differences.values(),
        "findings": built.findings.values(),
    }


def claims_of(latest: DataFrame) -> list[Row]:
    said = latest.groupBy("claim").agg(
        *(f.max(name).alias(name) for name in ("suite", "sentence", "level", "where")),
        f.max(f.to_json("evidence")).alias("evidence"),
    )
    return said.orderBy("suite", "claim").collect()


def cases_of(latest: DataFrame) -> list[Row]:
    known = latest.groupBy("case").agg(
        *(f.max(name).alias(name) for name in ("suite", "claim", "api", "version")),
        f.max(f.to_json("params")).alias("params"),
    )
    return known.orderBy("suite", "claim", "api", "version", "case").collect()


def grids(latest: DataFrame, built: Model) -> tuple[list[str], list[list[int]]]:
    """Per target: a letter and a time in tenths of a millisecond for every case."""
    size = len(built.case_rows)
    codes = [["."] * size for _ in built.targets]
    times = [[0] * size for _ in built.targets]
    for row in latest.select("target", "case", "code", "us").collect():
        target, case = built.targets[row["target"]], built.cases[row["case"]]
        codes[target][case] = row["code"]
        times[target][case] = round(row["us"] / 100)
    return ["".join(line) for line in codes], times


def details_of(latest: DataFrame, built: Model) -> tuple[list[list[Any]], int]:
    """Evidence per target, severest verdicts first, until the budget is spent."""
    severity = f.instr(f.lit(SEVEREST_FIRST), f.col("code"))
    rows = (
        latest.where(f.col("code") != "C")
        .select("target", "case", severity.alias("severity"), *TEXTS, "differences", "findings")
        .orderBy("severity", "case", "target")
    )
    details: list[list[Any]] = [[] for _ in built.targets]
    taken = left_out = spent = 0
    for row in rows.toLocalIterator():
        if spent > DETAIL_BYTES:
            left_out += 1
            continue
        details[built.targets[row["target"]]].append(built.detail(row))
        taken += 1
        if taken % 500 == 0:
            spent = built.spent() + 30 * taken
    return details, left_out


def tracks_of(found: dict[str, Any], built: Model) -> list[list[Any]]:
    """The histories that are not one steady line, as the summary has them."""
    return [
        [
            built.targets[row["target"]],
            built.add_case(row["case"], row["claim"]),
            *(row[name] for name in TRACK),
        ]
        for row in found["moved"]
    ]


def steps_of(steps: DataFrame, built: Model) -> list[list[Any]]:
    rows = steps.orderBy(summary.gravest("kind"), "claim", "case", "target").limit(STEPS).collect()
    return [
        [
            built.targets[row["target"]],
            built.add_case(row["case"], row["claim"]),
            row["before"],
            row["after"],
            row["kind"],
        ]
        for row in rows
    ]


def between_of(releases: DataFrame, built: Model) -> list[list[Any]]:
    rows = (
        releases.orderBy(summary.gravest("kind"), "older", "newer", "claim", "case")
        .limit(STEPS)
        .collect()
    )
    return [
        [
            built.targets[row["older"]],
            built.targets[row["newer"]],
            built.cases[row["case"]],
            row["before"],
            row["after"],
            row["kind"],
        ]
        for row in rows
    ]
