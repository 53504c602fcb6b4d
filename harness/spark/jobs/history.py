"""One line per (target, case): its verdicts over all runs of that target, and its times.

Everything about change over time is read from this one shuffle of all rows. `track` has one letter
per run of the target, oldest first: "-" where the run asked the case's suite and had no such case,
"/" where the run did not get to it (it was cut, or somebody had chosen among its cases).

`course` is what the letters come to, in one word, and `since` the run (its ordinal) with which the
present verdict began. A case is *flaky* only where one build of the target, judged by one
Touchstone, gave several verdicts, or one run did (`--again`); a pinned difference is a difference.
Where builds are not known, the order of the runs is all there is: one change or two may have a
reason, so the course is that of the last; what went to and fro three times *alternates*. A build
or a commit that ends with "+" had local changes: two of that name are not the same.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

ABSENT, NOT_RUN = "-", "/"
UNSTEADY = ("flaky", "alternates")  # courses that no single run brought
TO_AND_FRO = 3  # changes without known builds, from which on a case alternates
SEEN = ("ordinal", "code", "build", "us", "wavered")
# What judged what: null where two runs that say the same may still be of different builds.
SAME_BUILD = """
    CASE WHEN NOT endswith(build, '+') AND NOT endswith(commit, '+')
    THEN concat_ws(' ', build, commit) END
"""
VERDICT = "translate({}, 'K', 'D')"
SEVERAL = f"""
    exists(
        array_distinct(filter(transform(seen, s -> s.build), b -> b IS NOT NULL)),
        b -> size(array_distinct(transform(
            filter(seen, s -> s.build = b), s -> {VERDICT.format("s.code")}
        ))) > 1
    )
"""
BUILDS_KNOWN = "forall(seen, s -> s.build IS NOT NULL)"
WAVERED = "size(filter(seen, s -> s.wavered))"
PAIRS = "zip_with(slice(seen, 1, size(seen) - 1), slice(seen, 2, size(seen) - 1), (a, b) -> {})"
MOVED = f"{VERDICT.format('a.code')} <> {VERDICT.format('b.code')}"
CHANGED = f"size(filter({PAIRS.format(MOVED)}, moved -> moved))"
TRACK = f"""
    array_join(
        transform(
            sequence(0, runs - 1),
            i -> coalesce(
                map_from_entries(transform(seen, s -> struct(s.ordinal, s.code)))[i],
                IF(array_contains(asked, i), '{ABSENT}', '{NOT_RUN}')
            )
        ),
        ''
    )
"""
TIMES = "array_sort(transform(seen, s -> s.us))"
STANDING = f"right(replace(track, '{NOT_RUN}', ''), 1)"
EARLIER = f"rtrim(concat({STANDING}, '{NOT_RUN}'), track)"  # Spark's order: what, of what
PRESENT = f"ltrim('{NOT_RUN}', substr(track, length({EARLIER}) + 1))"  # runs with it


def history(verdicts: DataFrame, runs: DataFrame) -> DataFrame:
    """`verdicts` joined with their runs' ordinals and builds, folded to one row per case."""
    known = f.expr(SAME_BUILD).alias("build")
    order = runs.select("run", "target", "ordinal", known)
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
        .join(f.broadcast(asked(verdicts, runs)), ["target", "suite"], "left")
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
        f.expr(WAVERED).alias("wavered"),
        f.expr(SEVERAL).alias("one_build"),
        f.expr(BUILDS_KNOWN).alias("builds_known"),
        f.expr("size(filter(seen, s -> s.code <> 'C'))").alias("not_conforming"),
        f.expr(f"element_at({TIMES}, CAST((size(seen) + 1) / 2 AS INT))").alias("median_us"),
        f.expr("array_max(transform(seen, s -> s.us))").alias("max_us"),
        f.expr("element_at(seen, -1).us").alias("last_us"),
    )
    flaky = f.col("one_build") | (f.col("wavered") > 0)
    rate = f.when(f.col("present") > 1, f.col("changes") / (f.col("present") - 1)).otherwise(0.0)
    return (
        measured.withColumn("flaky", flaky)
        .withColumn("flake_rate", f.round(rate, 4))
        .withColumn("since", f.expr(f"length(track) - length({PRESENT})"))
        .withColumn("course", course())
    )


def asked(verdicts: DataFrame, runs: DataFrame) -> DataFrame:
    """The runs of a target that asked all of a suite: a case that one of them lacks is not there.

    Nobody knows that of a run that was cut, or among whose cases somebody had chosen.
    """
    whole = runs.where("incomplete IS NULL AND NOT selected AND cases >= planned")
    found = verdicts.select("run", "target", "suite").distinct()
    joined = found.join(f.broadcast(whole.select("run", "target", "ordinal")), ["run", "target"])
    return joined.groupBy("target", "suite").agg(f.collect_set("ordinal").alias("asked"))


def course() -> Column:
    """What a track comes to: `steady`, `flaky`, `alternates`, or the kind of the last change."""
    last = f.expr(STANDING)
    judged = f.expr(f"translate({EARLIER}, '{NOT_RUN}', '')")
    before = f.expr(f"right(translate({EARLIER}, '{ABSENT}{NOT_RUN}IB', ''), 1)")
    alternates = (f.col("changes") >= TO_AND_FRO) & ~f.col("builds_known")
    return (
        f.when(f.col("flaky"), "flaky")
        .when(alternates, "alternates")
        .when(judged == "", "steady")
        .when((before == "") & (last != ABSENT), kind_of(f.lit("-"), last))
        .when(before == last, "steady")  # nobody could say in between
        .otherwise(kind_of(f.when(before == "", "I").otherwise(before), last))
    )


def changes(history: DataFrame) -> DataFrame:
    """Every step between adjacent runs of a target at which a case's verdict changed, appeared or
    vanished: (target, case, ordinal of the later run, before, after). A run that did not get to a
    case is no step; a step of a case that is flaky or alternates is called that.
    """
    steps = f.expr(
        f"""
        filter(
            transform(
                sequence(1, greatest(length(track) - 1, 1)),
                i -> struct(
                    i AS ordinal,
                    right(translate(left(track, i), '{NOT_RUN}', ''), 1) AS before,
                    substr(track, i + 1, 1) AS after
                )
            ),
            s -> s.before <> s.after AND s.before <> '' AND s.after NOT IN ('', '{NOT_RUN}')
        )
        """
    )
    moved = history.where(f.expr("length(replace(track, substr(track, 1, 1), '')) > 0"))
    found = moved.select("target", "case", "claim", "course", f.explode(steps).alias("step"))
    called = f.when(f.col("course").isin(*UNSTEADY), f.col("course")).otherwise(
        kind("step.before", "step.after")
    )
    return found.select("target", "case", "claim", "step.*", called.alias("kind"))


def kind(before: str, after: str) -> Column:
    return kind_of(f.col(before), f.col(after))


def kind_of(before: Column, after: Column) -> Column:
    """What a change is called. Regressed is what conformed and diverges, fixed the reverse: what
    nobody could judge, or was accepted or unsupported, is neither.
    """
    return (
        f.when(before == ABSENT, "new")
        .when(after == ABSENT, "vanished")
        .when((before == "C") & (after == "D"), "regressed")
        .when((before == "D") & (after == "C"), "fixed")
        .when(~before.isin("I", "B") & after.isin("I", "B"), "unjudged")
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
