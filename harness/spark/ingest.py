"""Result files -> the `verdicts` table, read once, and proved to be what the footers say.

The files are linked under plain names into one folder first: Hadoop reads a path with a colon or a
bracket as a URI or a pattern, and targets are called 127.0.0.1:9092. Every line is parsed once, by
Spark, into Parquet; everything after that reads columns. A line that is not a whole case row is
counted, never dropped in silence: a count that disagrees with a footer sends its file to
`inputs.examine`, which names the line.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.sql import Column, DataFrame, Observation, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.types import StructType

from touchstone.harness.model import former_ids
from touchstone.harness.results import rows
from touchstone.harness.spark import schema
from touchstone.harness.spark.inputs import Defect, examine
from touchstone.harness.spark.jobs.codes import LETTERS, letter
from touchstone.harness.spark.runs import Run

PARTITION = "run"


def link(runs: Sequence[Run], folder: Path) -> None:
    """Give every file its plain name. Links, because 900 files may be gigabytes."""
    folder.mkdir(parents=True)
    for run in runs:
        (folder / run.file).symlink_to(run.source.path.resolve())


def runs_table(spark: SparkSession, runs: Sequence[Run]) -> DataFrame:
    return spark.createDataFrame([run.row() for run in runs], schema.RUNS)


def read(spark: SparkSession, folder: Path, runs: DataFrame) -> DataFrame:
    """Every line of every file, with the run it belongs to and whether it is a whole case row."""
    lines = (
        spark.read.schema(schema.LINE)
        .option("columnNameOfCorruptRecord", schema.CORRUPT)
        .json(str(folder))
        .withColumn("file", f.element_at(f.split(f.col("_metadata.file_path"), "/"), -1))
    )
    owners = f.broadcast(runs.select("file", PARTITION, f.col("target").alias("owner")))
    return lines.join(owners, "file").withColumn("whole", f.coalesce(whole(), f.lit(False)))


def whole() -> Column:
    """Whether a line is a case row that can be counted; null counts as no."""
    named = f.col(schema.CORRUPT).isNull()  # set also when one field is of another type
    for name in rows.REQUIRED:
        named = named & f.col(name).isNotNull()
    known_verdict = f.col("verdict").isin(*rows.VERDICTS)
    return (f.col("row") == "case") & named & known_verdict & (f.col("target") == f.col("owner"))


def verdicts(lines: DataFrame) -> DataFrame:
    """The whole case rows as the table keeps them."""
    plain = [name for name in rows.CASE if name not in ("row", "duration_ms", *WITH_ANSWERS)]
    named = lines.where("whole").withColumns({name: of_today(name) for name in ("claim", "case")})
    return named.select(
        *plain,
        letter().alias("code"),
        f.round(f.coalesce("duration_ms", f.lit(0)) * 1000).cast("long").alias("us"),
        *(answers_as_text(name, kind).alias(name) for name, kind in WITH_ANSWERS.items()),
        PARTITION,
    )


def of_today(column: str) -> Column:
    """A claim's or a case's name as it is today: rows of years are joined by it."""
    claim, found = f.substring_index(column, "[", 1), f.col(column)
    for old, new in former_ids.table().items():
        rest = f.substring(column, len(old) + 1, LONGEST)
        found = f.when(claim == old, f.concat(f.lit(new), rest)).otherwise(found)
    return found


LONGEST = 1 << 16  # characters of a name
WITH_ANSWERS = {"differences": schema.DIFFERENCE, "notes": schema.NOTE}


def answers_as_text(column: str, kind: StructType) -> Column:
    """The column's structs with both answers as JSON text."""
    fields = (
        f"to_json(d.{name}) AS {name}" if name in schema.ANSWERS else f"d.{name}"
        for name in kind.fieldNames()
    )
    return f.expr(f"transform({column}, d -> struct({', '.join(fields)}))")


STRANGE = "NOT whole AND NOT coalesce(row IN ('header', 'footer'), false)"


def write_verdicts(lines: DataFrame, table: Path, parts: int) -> set[str]:
    """Write the whole case rows, one folder per run; the names of files with lines of no kind."""
    seen = Observation("lines")
    observed = lines.observe(seen, f.count_if(f.expr(STRANGE)).alias("strange"))
    split = verdicts(observed).repartition(parts, PARTITION)
    split.write.partitionBy(PARTITION).parquet(str(table))
    try:
        if not seen.get["strange"]:
            return set()
    except Py4JJavaError:  # no row at all was written, so Spark observed nothing
        pass
    return {row["file"] for row in lines.where(STRANGE).select("file").distinct().collect()}


def disagreeing(runs: Sequence[Run], counted: dict[tuple[str, str], dict[str, Any]]) -> list[Run]:
    """The runs that state a footer and whose rows Spark counted otherwise."""
    wrong = []
    for run in runs:
        if run.source.footer is None:
            continue
        stated = {k: n for k, n in run.source.footer["by_verdict"].items() if n}
        row = counted.get((run.source.run, run.target), {})
        found = {name.upper(): row.get(name, 0) for name in LETTERS.values()}
        found["DIVERGES"] += found.pop("KNOWN")
        if stated != {verdict: n for verdict, n in found.items() if n}:
            wrong.append(run)
    return wrong


def defects(suspects: Sequence[Run]) -> list[Defect]:
    """Why the suspects are wrong, line by line; a suspicion that no line proves is one itself."""
    text = "Spark reads other rows from this file than its footer counts"
    return [examine(run.source.path) or Defect(run.source.path, 1, text) for run in suspects]
