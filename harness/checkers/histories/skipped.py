"""A consumer is given everything on its way: what others read between two of its offsets, too.

Offsets may have gaps (markers of transactions, records that were aborted or compacted), so a gap
is none of the consumer's business until somebody else, under the same isolation, reads a record in
it that compaction cannot have removed meanwhile.

Sources: Jepsen's poll skip; the first of the findings in harness/tests/test_known_findings.py.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from touchstone.harness.checkers.histories.anomaly import Anomaly
from touchstone.harness.checkers.histories.history_index import HistoryIndex, Move
from touchstone.harness.model.history import Operation


def check(seen: HistoryIndex) -> Iterator[Anomaly]:
    for moves in seen.passing.values():
        for move in moves:
            if move.first is not None:
                yield from _between(seen, move, move.first)


def _between(seen: HistoryIndex, move: Move, first: Operation) -> Iterator[Anomaly]:
    known = seen.offsets_read[move.place, move.committed]
    missed = known[bisect_right(known, move.before) : bisect_left(known, move.offset)]
    partition = seen.partitions[move.place]
    reads = partition.committed_reads if move.committed else partition.reads
    excuses = [seen.compaction_of(next(iter(reads[at])), move.second) for at in missed]
    if not missed:
        return
    at = next((at for at, excuse in zip(missed, excuses, strict=True) if not excuse), missed[0])
    value, witness = next(iter(reads[at].items()))
    text = f"from offset {move.before} to {move.offset}, past {len(missed)} others, first {value}"
    told = tuple(dict.fromkeys((first, move.second, witness), None))
    yield Anomaly(move.place, f"{text} at {at}", told, excuses[0] if all(excuses) else "")
