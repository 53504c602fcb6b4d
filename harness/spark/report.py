"""Result files in, a folder out: tables, summary, page. The order of the work, and nothing else.

    OUT/tables/NAME/      Parquet; `verdicts` has one folder per run
    OUT/summary.json      the figures, for programs
    OUT/summary.md        the figures, for a pull request
    OUT/index.html        the page

Everything is made in a folder beside these and renamed into place at the end, page last: a report
that dies leaves the one before it as it was. The same input gives the same bytes of JSON, Markdown
and HTML: nothing here asks what time it is, and every collected table is sorted.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.types import StructType

from touchstone.harness.spark import ingest, inputs, page, schema, summary
from touchstone.harness.spark.inputs import Defect, ResultFile
from touchstone.harness.spark.jobs import detection, evidence, fuzz, history, matrices, trend
from touchstone.harness.spark.runs import Run, adjacent, ordered
from touchstone.harness.spark.session import session

Say = Callable[[str], None]
Names = dict[str, dict[int, str]]  # field name -> value -> what people call it
SWEEPS = 50
PRODUCTS = ("tables", "summary.json", "summary.md", "index.html")


class Refused(Exception):
    """Files of the input cannot be believed; `defects` says which and where."""

    def __init__(self, defects: Sequence[Defect]) -> None:
        super().__init__("\n".join(str(defect) for defect in defects))
        self.defects = list(defects)


def write(
    files: Sequence[ResultFile],
    out: Path,
    *,
    say: Say,
    master: str = "local[*]",
    allow_incomplete: bool = False,
    names: Names | None = None,
    fuzz_files: Sequence[Path] = (),
) -> dict[str, Any]:
    """Aggregate `files` into `out`; the summary as written to summary.json.

    `fuzz_files` are rows of fuzz runs (`results.fuzz_rows`), told beside the targets.
    `names` is for the page only: it lets error code 37 be read as INVALID_PARTITIONS without Spark
    knowing Kafka.

    Raises Refused for files that are not whole (unless allowed: then their rows count and their run
    is marked incomplete), session.NotRun where Spark cannot start.
    """
    out.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=".partial-", dir=out)).resolve()
    try:
        stated = sum((file.footer or {}).get("cases", 0) for file in files)
        say(f"starting Spark on {master}")
        with session(scratch, master, stated) as spark:
            report = Report(spark, scratch, out, say, names or {})
            found = report.build(files, allow_incomplete, fuzz_files)
        publish(scratch / "out", out)
        return found
    finally:
        sweep(scratch)


def sweep(folder: Path) -> None:
    """Remove the scratch folder although Spark's own clean-up may still be removing in it."""
    for _ in range(SWEEPS):
        if not folder.exists():
            return
        shutil.rmtree(folder, ignore_errors=True)


def publish(made: Path, out: Path) -> None:
    """Rename each product into place. A folder cannot replace a folder: the old one steps aside."""
    for name in PRODUCTS:
        place, aside = out / name, made / f"{name}.old"
        if place.is_dir():
            place.rename(aside)
        (made / name).rename(place)


class Report:
    """The tables of one report while they are made."""

    def __init__(
        self, spark: SparkSession, scratch: Path, home: Path, say: Say, names: Names
    ) -> None:
        self.spark, self.scratch, self.home, self.say = spark, scratch, home, say
        self.names = names
        self.out = scratch / "out"
        self.tables = self.out / "tables"
        self.tables.mkdir(parents=True)
        self.schemas: dict[str, StructType] = {}
        self.counted: dict[
            tuple[str, str], dict[str, Any]
        ] = {}  # what Spark counted, by (run, target)
        self.defects: list[Defect] = []

    def build(
        self, files: Sequence[ResultFile], allow_incomplete: bool, fuzz_files: Sequence[Path] = ()
    ) -> dict[str, Any]:
        runs = ordered(files)
        self.ingest(runs)
        self.refuse(allow_incomplete)
        healthy = self.table("verdicts").where(~detection.planted())
        self.say("following every case through its runs")
        self.save("history", history.history(healthy, self.runs_df(runs)))
        self.find_repeats(runs)
        self.refuse(allow_incomplete)
        reasons = {defect.path: defect.reason for defect in self.defects}
        runs = [
            replace(run, incomplete=reasons.get(run.source.path, run.incomplete)) for run in runs
        ]
        self.save("runs", self.runs_df(runs).orderBy("number", "target"))
        newest = self.table("runs").where("latest").select("run", "target")
        latest = self.table("verdicts").join(f.broadcast(newest), ["run", "target"]).cache()
        self.save("detection", detection.detection(latest))
        latest = latest.where(~detection.planted())
        runs = [run for run in runs if not run.planted]
        self.jobs(latest, runs)
        self.say("writing the summary and the page")
        found = summary.collect(self.table, latest, runs, self.counted)
        found |= self.fuzz(fuzz_files)
        summary.write(found, self.out)
        model = page.model(found, self.table, latest, runs)
        model |= {"folders": page.folders(runs, self.home), "names": self.names}
        page.write(model, self.out / "index.html")
        return found

    def ingest(self, runs: list[Run]) -> None:
        """Write `verdicts` and `trend`; what disagrees with a footer goes to `defects`."""
        folder = self.scratch / "input"
        ingest.link(runs, folder)
        size = sum(run.source.size for run in runs)
        self.say(f"reading {len(runs)} result files, {size / 1e6:,.1f} MB")
        lines = ingest.read(self.spark, folder, self.runs_df(runs))
        folders = len({run.number for run in runs})
        self.schemas["verdicts"] = ingest.verdicts(lines).schema
        strange = ingest.write_verdicts(lines, self.tables / "verdicts", max(2, folders))
        self.save("trend", trend.trend(self.table("verdicts")))
        counted = self.table("trend").collect()
        self.counted = {(row["run"], row["target"]): row.asDict() for row in counted}
        total = sum(row["cases"] for row in self.counted.values())
        self.say(f"checking {total:,} rows against the footers")
        wrong = {run.file for run in ingest.disagreeing(runs, self.counted)} | strange
        self.defects = ingest.defects([run for run in runs if run.file in wrong])

    def refuse(self, allow_incomplete: bool) -> None:
        if self.defects and not allow_incomplete:
            raise Refused(self.defects)

    def find_repeats(self, runs: list[Run]) -> None:
        """A case that stands twice in a file would count twice, and no footer shows it."""
        twice = self.table("history").where("rows > present").select("target").distinct()
        targets = {row["target"] for row in twice.collect()}
        named = {defect.path for defect in self.defects}
        paths = [run.source.path for run in runs if run.target in targets]
        found = (inputs.examine(path) for path in paths if path not in named)
        self.defects += [defect for defect in found if defect]

    def jobs(self, latest: DataFrame, runs: list[Run]) -> None:
        self.say("matrices, changes, differences, findings")
        self.save("changes", history.changes(self.table("history")))
        pairs = self.spark.createDataFrame(adjacent(runs), "older string, newer string")
        self.save("releases", history.between_releases(latest, pairs))
        self.save("claim_target", matrices.claim_target(latest))
        self.save("suite_release", matrices.suite_release(latest))
        self.save("api_version", matrices.api_version(latest))
        self.save("differences", evidence.differences(self.table("verdicts")))
        self.save("findings", evidence.findings(self.table("verdicts")))

    def fuzz(self, files: Sequence[Path]) -> dict[str, Any]:
        """The tables of fuzz runs; what each campaign came to on each target, and its causes."""
        if not files:
            return {"fuzz": [], "fuzz_causes": [], "fuzz_found": 0}
        folder = self.scratch / "fuzz"
        folder.mkdir()
        for number, path in enumerate(files):  # names that Hadoop reads as names
            (folder / f"{number:06}.jsonl").symlink_to(path)
        for name, kind, schema_ in (
            ("fuzz_shards", "shard", schema.FUZZ_SHARD),
            ("fuzz_causes", "cause", schema.FUZZ_CAUSE),
        ):
            lines = self.spark.read.schema(schema_).json(str(folder))
            file = f.element_at(f.split(f.col("_metadata.file_name"), r"\."), 1).cast("int")
            self.save(name, lines.withColumn("rows", file).where(f.col("fuzz") == kind))
        shards, causes = self.table("fuzz_shards"), self.table("fuzz_causes")
        played = summary.sorted_rows(fuzz.campaigns(shards, causes), "target", "campaign")
        rows, count = summary.fuzz_causes(fuzz.distinct(causes), self.names.get("api_key", {}))
        for row in rows:
            place = files[row.pop("rows")].parent / row["file"]
            row["file"] = Path(os.path.relpath(place, self.home.resolve())).as_posix()
        return {"fuzz": played, "fuzz_causes": rows, "fuzz_found": count}

    def runs_df(self, runs: list[Run]) -> DataFrame:
        return ingest.runs_table(self.spark, runs)

    def save(self, name: str, table: DataFrame) -> None:
        self.schemas[name] = table.schema
        table.write.parquet(str(self.tables / name))

    def table(self, name: str) -> DataFrame:
        """A table as written. Its schema is known: an empty one has no file to read it from."""
        return self.spark.read.schema(self.schemas[name]).parquet(str(self.tables / name))
