"""One line per (target, case): its verdicts over all runs of that target, and its times.

Everything about change over time is read from this one shuffle of all rows: flakes, changes
between adjacent runs, slowest cases. `track` has one letter per run of the target, oldest first,
`-` where the case was not in the run.

A case is flaky when its verdict moved without a reason: at an unchanged commit of the repository,
within one run (`--again`), or to and fro (two changes or more). One change at a new commit is a
change, not a flake. A commit with a `+` had uncommitted changes: two of that name are not the same.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

SEEN = ("ordinal", "code", "commit", "us", "wavered")
PAIRS = "zip_with(slice(seen, 1, size(seen) - 1), slice(seen, 2, size(seen) - 1), (a, b) -> {})"
CHANGED = f"size(filter({PAIRS.format('a.code <> b.code')}, moved -> moved))"
SAME = "a.commit = b.commit AND NOT endswith(a.commit, '+')"
BETWEEN_RUNS = f"size(filter({PAIRS.format(f'a.code <> b.code AND {SAME}')}, moved -> moved))"
UNEXPLAINED = f"{BETWEEN_RUNS} + size(filter(seen, s -> s.wavered))"
TRACK = """
    array_join(
        transform(
            sequence(0, runs - 1),
            i -> coalesce(map_from_entries(transform(seen, s -> struct(s.ordinal, s.code)))[i], '-')
        ),
        ''
    )
"""
TIMES = "array_sort(transform(seen, s -> s.us))"


def history(verdicts: DataFrame, runs: DataFrame) -> DataFrame:
    """`verdicts` joined with their runs' ordinals and commits, folded to one row per case."""
    order = runs.select("run", "target", "ordinal", "commit")
    lengths = runs.groupBy("target").agg(f.max(f.col("ordinal") + 1).alias("runs"))
    folded = (
        verdicts.join(f.broadcast(order), ["run", "target"])
        .withColumn("wavered", f.col("at_first").isNotNull())
        .groupBy("target", "case")
        .agg(
            *(f.max(name).alias(name) for name in ("claim", "suite", "api", "version")),
            f.sort_array(f.collect_list(f.struct(*SEEN))).alias("seen"),
        )
        .join(f.broadcast(lengths), "target")
    )
    measured = folded.select(
        "target",
        "case",
        "claim",
        "suite",
        "api",
        "version",
        f.expr("size(array_distinct(transform(seen, s -> s.ordinal)))").alias("present"),
        f.size("seen").alias("rows"),
        f.expr(TRACK).alias("track"),
        f.expr(CHANGED).alias("changes"),
        f.expr(UNEXPLAINED).alias("unexplained"),
        f.expr("size(filter(seen, s -> s.code <> 'C'))").alias("not_conforming"),
        f.expr(f"element_at({TIMES}, CAST((size(seen) + 1) / 2 AS INT))").alias("median_us"),
        f.expr("array_max(transform(seen, s -> s.us))").alias("max_us"),
        f.expr("element_at(seen, -1).us").alias("last_us"),
    )
    flaky = (f.col("unexplained") > 0) | (f.col("changes") > 1)
    rate = f.when(f.col("present") > 1, f.col("changes") / (f.col("present") - 1)).otherwise(0.0)
    return measured.withColumn("flaky", flaky).withColumn("flake_rate", f.round(rate, 4))


def changes(history: DataFrame) -> DataFrame:
    """Every step between adjacent runs of a target at which a case's verdict changed, appeared or
    vanished: (target, case, ordinal of the later run, before, after)."""
    steps = f.expr(
        """
        filter(
            transform(
                sequence(1, greatest(length(track) - 1, 1)),
                i -> struct(
                    i AS ordinal, substr(track, i, 1) AS before, substr(track, i + 1, 1) AS after
                )
            ),
            s -> s.before <> s.after AND s.after <> ''
        )
        """
    )
    moved = history.where(f.expr("length(replace(track, substr(track, 1, 1), '')) > 0"))
    return moved.select("target", "case", "claim", f.explode(steps).alias("step")).select(
        "target", "case", "claim", "step.*", kind("step.before", "step.after").alias("kind")
    )


def kind(before: str, after: str) -> Column:
    """What a change is called. A known difference is as good as conforming, it was accepted; to
    become unsupported is a change and no regression, it was proved."""
    fine, bad = ["C", "K"], ["D", "I", "B"]
    return (
        f.when(f.col(before) == "-", "new")
        .when(f.col(after) == "-", "vanished")
        .when(~f.col(before).isin(bad) & f.col(after).isin(bad), "regressed")
        .when(f.col(before).isin(bad) & f.col(after).isin(fine), "fixed")
        .otherwise("changed")
    )


def between_releases(latest: DataFrame, pairs: DataFrame) -> DataFrame:
    """The cases whose verdict differs between a release and its neighbour, newest runs only."""
    older = latest.select(
        f.col("target").alias("older"), "case", "claim", f.col("code").alias("before")
    )
    newer = latest.select(f.col("target").alias("newer"), "case", f.col("code").alias("after"))
    both = older.join(f.broadcast(pairs), "older").join(newer, ["newer", "case"])
    return both.where(f.col("before") != f.col("after")).select(
        "older", "newer", "case", "claim", "before", "after", kind("before", "after").alias("kind")
    )
