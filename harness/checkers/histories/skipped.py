"""A consumer is given everything on its way: what others read between two of its offsets, too.

Offsets may have gaps (markers of transactions, records that were aborted or compacted), so a gap
is none of the consumer's business until somebody else, under the same isolation, reads a record in
it. Sources: Jepsen's poll skip; the first of the findings in harness/tests/test_known_findings.py.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from touchstone.harness.checkers.histories.anomaly import Anomaly
from touchstone.harness.checkers.histories.history_index import READ_COMMITTED, HistoryIndex
from touchstone.harness.model.history import Operation, place


def check(seen: HistoryIndex) -> Iterator[Anomaly]:
    for operations in seen.by_process.values():
        last: dict[str, tuple[int, Operation]] = {}
        for each in operations:
            if each.do == "seek":
                name = place(each.asked["topic"], each.asked["partition"])
                last[name] = (each.asked["offset"] - 1, each)
                continue
            for name, rows in each.told.get("records", {}).items():
                for offset, _ in rows:
                    before, poll = last.get(name, (offset - 1, each))
                    if offset > before + 1:
                        yield from _between(seen, name, (before, poll), (offset, each))
                    last[name] = (offset, each)


def _between(
    seen: HistoryIndex, name: str, left: tuple[int, Operation], right: tuple[int, Operation]
) -> Iterator[Anomaly]:
    (before, first), (offset, second) = left, right
    committed = second.asked.get("isolation") == READ_COMMITTED
    known = seen.offsets_read[name, committed]
    missed = known[bisect_right(known, before) : bisect_left(known, offset)]
    if not missed:
        return
    partition = seen.partitions[name]
    reads = partition.committed_reads if committed else partition.reads
    value, witness = next(iter(reads[missed[0]].items()))
    text = f"from offset {before} to {offset}, past {len(missed)} others, first {value}"
    operations = tuple(dict.fromkeys((first, second, witness), None))
    yield Anomaly(name, f"{text} at {missed[0]}", operations)
