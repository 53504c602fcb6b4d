"""Where releases differ in what transaction coordinators do: one row each, as in `control_path.py`.

`quirks.py` has that order and the names, each persona takes its column.
"""

from __future__ import annotations

from touchstone.reference_impl.broker.personas.releases import Rows

_SEEN = "observed on 1.0.2, 2.2.1, 2.8.2, 3.9.2, 4.3.1"

ROWS: Rows = {
    "transactions.ends-name-the-epoch": (
        "An end must name the epoch that the producer has; without the quirk a higher one is "
        "written down before it is refused, and nobody has its markers written.",
        {"1.0": False, "2.8": True},
        "observed on 1.0.2 and 2.2.1, found by random histories",
    ),
    "append.trusts-coordinators": (
        "Offsets of a transaction may be of an older epoch than their partition has seen.",
        {"1.0": True, "2.8": False},
        "observed on 1.0.2 and 2.2.1, found by random histories",
    ),
    "append.indexes-empty-aborts": (
        "An abort marker of a producer that had nothing open is an aborted transaction of itself.",
        {"1.0": True, "2.8": False},
        _SEEN,
    ),
    "transactions.topics-alone-are-checked": (
        "A partition that its topic does not have may be added to a transaction.",
        {"1.0": True, "2.2": False},
        _SEEN,
    ),
    "transactions.offsets-of-no-group": (
        "TxnOffsetCommit takes the empty group.",
        {"1.0": True, "2.2": False},
        _SEEN,
    ),
    "transactions.producers-of-any-name": (
        "DescribeProducers does not look at a topic's name before it looks for the topic.",
        {"1.0": True, "3.9": False},
        "observed on 2.8.2, 3.9.2, 4.3.1",
    ),
    "transactions.beginnings-are-remembered": (
        "A transactional id without a transaction is described with the time its last one began.",
        {"1.0": True, "4.3": False},
        "observed on 3.9.2, 4.3.1",
    ),
    "transactions.fenced-epochs-may-go-on": (
        "A producer whose transaction was given up may have its bumped epoch by asking with the "
        "one before (KIP-890).",
        {"1.0": False, "4.3": True},
        _SEEN,
    ),
}
