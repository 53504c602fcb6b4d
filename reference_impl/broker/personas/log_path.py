"""Where releases differ in what they keep of a log and what they let go: one row a behaviour.

A row is the sentence, the value per release in the order of `RELEASES`, and where it was seen.
`quirks.py` has that order and the names, each persona takes its column.
"""

from __future__ import annotations

from typing import Any

ROWS: dict[str, tuple[str, tuple[Any, Any, Any, Any, Any], str]] = {
    "append.forgets-producers-with-records": (
        "A producer is forgotten with the last of its records (until KIP-360).",
        (True, True, False, False, False),
        "ProducerStateManager.truncateHead at 1.0.2, 2.2.1; observed",
    ),
    "cleaner.delete-horizons": (
        "A tombstone goes at a time that its batch bears (KIP-534); before, by the age of the "
        "segments that were clean already.",
        (False, False, False, True, True),
        "Cleaner.cleanInto at 2.8.2, 3.9; observed",
    ),
}
