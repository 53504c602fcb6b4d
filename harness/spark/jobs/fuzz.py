"""Fuzz runs: what each campaign played on each target, and how many causes it found."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from touchstone.harness.results.fuzz_rows import REPLAYS

BY = ("target", "campaign")


def campaigns(shards: DataFrame, causes: DataFrame) -> DataFrame:
    """One row per target and campaign, over all runs. `signatures` is the most that one shard saw;
    a cause that decided no exit code is counted as unsteady.
    """
    played = shards.groupBy(*BY).agg(
        f.count(f.lit(1)).alias("shards"),
        f.sum("executions").alias("executions"),
        f.sum("seconds").alias("seconds"),
        f.max("signatures").alias("signatures"),
        f.count("died").alias("died"),
    )
    # Rows of earlier releases do not say what decided.
    decides = f.coalesce(f.col("decides"), f.col("repeats") == REPLAYS)
    found = causes.groupBy(*BY).agg(
        f.count_if(decides).alias("causes"),
        f.count_if(~decides).alias("unsteady"),
    )
    return played.join(found, list(BY), "left").fillna(0, ["causes", "unsteady"])
