"""How each run came out: counts by verdict and the time its cases took. One row per file.

This is also the check of the input: what Spark counted here must be what the footers say.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from touchstone.harness.spark.jobs.codes import counts


def trend(verdicts: DataFrame) -> DataFrame:
    return verdicts.groupBy("run", "target").agg(*counts(), f.sum("us").alias("us"))
