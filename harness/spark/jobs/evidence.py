"""What was seen where a case did not conform: one row per difference, one row per finding."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

CASE = ("run", "target", "release", "suite", "claim", "case", "api", "version", "code", "known")


def differences(verdicts: DataFrame) -> DataFrame:
    return exploded(verdicts, "differences")


def findings(verdicts: DataFrame) -> DataFrame:
    return exploded(verdicts, "findings")


def exploded(verdicts: DataFrame, column: str) -> DataFrame:
    seen = verdicts.where(f.size(column) > 0)
    return seen.select(*CASE, f.posexplode(column).alias("place", "item")).select(
        *(name if name != "target" else f.col(name) for name in CASE),
        "place",
        *(f.col(f"item.{field}").alias(as_column(column, field)) for field in FIELDS[column]),
    )


FIELDS = {
    "differences": ("step", "path", "oracle", "target"),
    "findings": ("checker", "step", "path", "sentence"),
}


def as_column(table: str, field: str) -> str:
    """A difference's two answers are named as answers: `target` names who gave it already."""
    return {"oracle": "oracle_answer", "target": "target_answer"}.get(field, field)
