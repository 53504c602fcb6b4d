"""The detection score: which planted defects the suites noticed.

A target like reference@4.3+accepts-zero-partitions is our broker with a named defect. A case kills
the defect when it diverges with the defect and conforms on the same target without it; where the
input has no run without it, a divergence counts and `baseline` says that it was not compared.
A planted target is no target to judge: it is kept out of every other table but `verdicts`.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

MARK = "+"


def planted() -> Column:
    return f.contains("target", f.lit(MARK))


def detection(latest: DataFrame) -> DataFrame:
    """One row per planted target of the newest runs: what it was, and which claims killed it."""
    name = f.split("target", r"\+", 2)
    defects = latest.where(planted()).select(
        "target",
        name[0].alias("without"),
        name[1].alias("switch"),
        "case",
        "claim",
        "code",
    )
    base = latest.where(~planted()).select(
        f.col("target").alias("without"), "case", f.col("code").alias("healthy")
    )
    killed = (f.col("code") == "D") & f.coalesce(f.col("healthy") == "C", f.lit(True))
    joined = defects.join(base, ["without", "case"], "left").withColumn("killed", killed)
    return joined.groupBy("switch", "target").agg(
        f.count(f.lit(1)).alias("cases"),
        f.count_if("killed").alias("kills"),
        f.sort_array(f.collect_set(f.when(f.col("killed"), f.col("claim")))).alias("caught_by"),
        f.max(f.col("healthy").isNotNull()).alias("baseline"),
    )
