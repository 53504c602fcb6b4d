"""Fuzz runs: what each campaign played on each target, and which causes it found."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from touchstone.harness.results.fuzz_rows import REPLAYS

BY = ("target", "campaign")


def campaigns(shards: DataFrame, causes: DataFrame) -> DataFrame:
    """One row per target and campaign, over all runs. `signatures` is the most that one shard saw;
    a cause that decided no exit code is counted as unsteady.

    Shards of one run play at the same time, and runs one after the other: `seconds` is the sum
    over runs of the longest shard.
    """
    of_run = shards.groupBy(*BY, "run", "rows").agg(
        f.count(f.lit(1)).alias("shards"),
        f.sum("executions").alias("executions"),
        f.max("seconds").alias("seconds"),
        f.max("signatures").alias("signatures"),
        f.count("died").alias("died"),
    )
    played = of_run.groupBy(*BY).agg(
        *(f.sum(name).alias(name) for name in ("shards", "executions", "seconds", "died")),
        f.max("signatures").alias("signatures"),
    )
    # Rows of earlier releases do not say what decided.
    decides = f.coalesce(f.col("decides"), f.col("repeats") == REPLAYS)
    found = causes.groupBy(*BY).agg(
        f.count_if(decides).alias("causes"),
        f.count_if(~decides).alias("unsteady"),
    )
    return played.join(found, list(BY), "left").fillna(0, ["causes", "unsteady"])


def distinct(causes: DataFrame) -> DataFrame:
    """One row per cause and target: how often it was met, in how many runs, and the newest file."""
    newest = f.struct("rows", "sentence", "steps", "bytes", "repeats", "file")
    found = causes.groupBy(*BY, "oracle", "key", "behaviour").agg(
        f.sum("members").alias("members"),
        f.count_distinct("rows").alias("runs"),
        f.max(newest).alias("newest"),
    )
    return found.select(*BY, "oracle", "key", "behaviour", "members", "runs", "newest.*")
