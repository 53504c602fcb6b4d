"""Where releases differ in what transaction coordinators do: one row each, as in `control_path.py`.

`quirks.py` has that order and the names, each persona takes its column.
"""

from __future__ import annotations

from typing import Any

_SEEN = "observed on 1.0.2, 2.2.1, 2.8.2, 3.9.2, 4.3.1"

ROWS: dict[str, tuple[str, tuple[Any, Any, Any, Any, Any], str]] = {
    "transactions.ends-name-the-epoch": (
        "An end must name the epoch that the producer has; without the quirk a higher one is "
        "written down before it is refused, and nobody has its markers written.",
        (False, False, True, True, True),
        "observed on 1.0.2 and 2.2.1, found by random histories",
    ),
    "append.trusts-coordinators": (
        "Offsets of a transaction may be of an older epoch than their partition has seen.",
        (True, True, False, False, False),
        "observed on 1.0.2 and 2.2.1, found by random histories",
    ),
    "append.indexes-empty-aborts": (
        "An abort marker of a producer that had nothing open is an aborted transaction of itself.",
        (True, True, False, False, False),
        _SEEN,
    ),
    "transactions.topics-alone-are-checked": (
        "A partition that its topic does not have may be added to a transaction.",
        (True, False, False, False, False),
        _SEEN,
    ),
    "transactions.offsets-of-no-group": (
        "TxnOffsetCommit takes the empty group.",
        (True, False, False, False, False),
        _SEEN,
    ),
    "transactions.producers-of-any-name": (
        "DescribeProducers does not look at a topic's name before it looks for the topic.",
        (True, True, True, False, False),
        "observed on 2.8.2, 3.9.2, 4.3.1",
    ),
    "transactions.beginnings-are-remembered": (
        "A transactional id without a transaction is described with the time its last one began.",
        (True, True, True, True, False),
        "observed on 3.9.2, 4.3.1",
    ),
    "transactions.fenced-epochs-may-go-on": (
        "A producer whose transaction was given up may have its bumped epoch by asking with the "
        "one before (KIP-890).",
        (False, False, False, False, True),
        _SEEN,
    ),
}
