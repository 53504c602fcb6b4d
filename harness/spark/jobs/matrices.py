"""Who conforms where: claim x target, suite x release, api x version. Newest runs only."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from touchstone.harness.spark.jobs.codes import counts


def claim_target(latest: DataFrame) -> DataFrame:
    return latest.groupBy("suite", "claim", "target").agg(*counts())


def suite_release(latest: DataFrame) -> DataFrame:
    """A release is tried as persona, JVM and recording: the family keeps them apart."""
    family = f.element_at(f.split("target", "@"), 1).alias("family")
    return latest.groupBy("suite", family, "release").agg(*counts())


def api_version(latest: DataFrame) -> DataFrame:
    """Cases that name no API (a raw frame, a cluster's life) have no cell."""
    named = latest.where(f.col("api").isNotNull() & f.col("version").isNotNull())
    return named.groupBy("api", "version", "target").agg(*counts())
