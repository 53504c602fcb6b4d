"""The explicit Spark schemas: of a case row as it stands in a file, and of each table we write.

Explicit, because an inferred schema costs a second pass over gigabytes and changes with the data:
a night without findings would drop the column. The fields come from `harness/results/rows.py`, the
one definition of a row; here stands only which Spark type each kind of field takes.

The two answers of a difference are any JSON value. They are read as VARIANT and kept as JSON text:
read as a string, the answers 5 and "5" would become the same.
"""

from __future__ import annotations

from pyspark.sql import types as t

from touchstone.harness.results import fuzz_rows, rows

CORRUPT = "_corrupt"


def struct(texts: tuple[str, ...], answers: tuple[str, ...] = ()) -> t.StructType:
    """Fields that are text, two answers where there are any, and what grades them."""
    return t.StructType(
        [t.StructField(name, t.StringType()) for name in (*texts, "kind", "api")]
        + [t.StructField(name, t.VariantType()) for name in answers]
        + [t.StructField(name, t.LongType()) for name in ("version", "at")]
    )


ANSWERS = ("oracle", "target")
DIFFERENCE = struct(("step", "path", "stands", "entity"), ANSWERS)
FINDING = struct(("checker", "step", "path", "sentence", "stands"))
FAILURE = struct(("step", "path", "wanted", "got"))
NOTE = struct(("checker", "step", "path", "sentence", "stands", "entity"), ANSWERS)
TYPES: dict[str, t.DataType] = {
    "text": t.StringType(),
    "texts": t.ArrayType(t.StringType()),
    "number": t.DoubleType(),
    "whole": t.LongType(),
    "flag": t.BooleanType(),
    "map": t.MapType(t.StringType(), t.StringType()),
    "differences": t.ArrayType(DIFFERENCE),
    "findings": t.ArrayType(FINDING),
    "failures": t.ArrayType(FAILURE),
    "notes": t.ArrayType(NOTE),
}
LINE = t.StructType(
    [t.StructField(name, TYPES[kind]) for name, kind in rows.CASE.items()]
    + [t.StructField(CORRUPT, t.StringType())]
)

FUZZ_SHARD, FUZZ_CAUSE = (
    t.StructType([t.StructField(name, TYPES[kind]) for name, kind in fields.items()])
    for fields in (fuzz_rows.SHARD, fuzz_rows.CAUSE)
)

RUNS = t.StructType(
    [
        t.StructField("file", t.StringType(), False),  # the name it is staged under
        t.StructField("run", t.StringType(), False),
        t.StructField("number", t.IntegerType(), False),  # of the run id; 0 is the oldest
        t.StructField("date", t.StringType(), False),  # of its start
        t.StructField("ordinal", t.IntegerType(), False),  # 0 is the oldest run of the target
        t.StructField("latest", t.BooleanType(), False),  # the newest run of the target
        t.StructField("target", t.StringType(), False),
        t.StructField("release", t.StringType()),
        t.StructField("kind", t.StringType()),
        t.StructField("started", t.StringType()),
        t.StructField("finished", t.StringType()),
        t.StructField("oracle", t.StringType()),
        t.StructField("oracle_kind", t.StringType()),
        t.StructField("build", t.StringType()),  # of the target, null where nobody knows
        t.StructField("commit", t.StringType()),  # of the harness
        t.StructField("seed", t.StringType()),
        t.StructField("host", t.MapType(t.StringType(), t.StringType())),
        t.StructField("planned", t.LongType()),
        t.StructField("cases", t.LongType()),
        t.StructField("selected", t.BooleanType(), False),  # whether cases were deselected
        t.StructField("incomplete", t.StringType()),  # why, or null
    ]
)
