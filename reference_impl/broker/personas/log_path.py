"""Where releases differ in what they keep of a log and what they let go: one row a behaviour.

A row is the sentence, the value from each release on that changed it, and where it was seen; how it
is read stands in `releases.py`.
"""

from __future__ import annotations

from touchstone.reference_impl.broker.personas.releases import Rows

ROWS: Rows = {
    "append.forgets-producers-with-records": (
        "A producer is forgotten with the last of its records (until KIP-360).",
        {"1.0": True, "2.8": False},
        "ProducerStateManager.truncateHead at 1.0.2, 2.2.1; observed",
    ),
    "cleaner.delete-horizons": (
        "A tombstone goes at a time that its batch bears (KIP-534); before, by the age of the "
        "segments that were clean already.",
        {"1.0": False, "3.9": True},
        "Cleaner.cleanInto at 2.8.2, 3.9; observed",
    ),
}
