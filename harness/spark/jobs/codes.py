"""A verdict in one letter, for histories and matrices.

`K` is a DIVERGES that `harness/known/` has accepted: it is counted apart, because folding it into
conforms would launder a verdict and folding it into diverges would hide a new difference.
The letters are ordered from best to worst; the worst of a set is what a matrix cell shows.
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as f

LETTERS: dict[str, str] = {
    "C": "conforms",
    "U": "unsupported",
    "K": "known",
    "I": "inconclusive",
    "D": "diverges",
    "B": "broken",
}
VERDICT_LETTER = {
    "CONFORMS": "C",
    "UNSUPPORTED": "U",
    "INCONCLUSIVE": "I",
    "DIVERGES": "D",
    "BROKEN": "B",
}


def letter() -> Column:
    """The code of a verdict row."""
    codes = f.create_map(*[f.lit(word) for pair in VERDICT_LETTER.items() for word in pair])
    known = (f.col("verdict") == "DIVERGES") & f.col("known").isNotNull()
    return f.when(known, f.lit("K")).otherwise(codes[f.col("verdict")])


def counts() -> list[Column]:
    """One column per letter, named in words, and their sum as `cases`."""
    each = [f.count_if(f.col("code") == code).alias(name) for code, name in LETTERS.items()]
    return [f.count(f.lit(1)).alias("cases"), *each]
