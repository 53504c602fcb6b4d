"""An offset holds one value, and a value has the offset that its producer was told.

Whoever reads an offset, at any time and from any replica, finds the same record there; and it is
the record whose producer was told that offset. Two readers who differ are never excused: both read
below a high watermark. A producer with acks=1 may have been told an offset that a fallen leader
took with it and that somebody else's record has now.
"""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.harness.checkers.histories.anomaly import Anomaly
from touchstone.harness.checkers.histories.history_index import ALL, HistoryIndex, Partition
from touchstone.harness.model.history import Operation


def check(seen: HistoryIndex) -> Iterator[Anomaly]:
    for partition in seen.partitions.values():
        told: dict[int, dict[str, Operation]] = {}
        for send in partition.sends:
            told.setdefault(send.told["offset"], {})[send.asked["value"]] = send
        for offset in sorted({*told, *partition.reads}):
            found = _two_values(partition, offset, told.get(offset, {}))
            if found is not None:
                yield found
        yield from _elsewhere(seen, partition)


def _two_values(partition: Partition, offset: int, told: dict[str, Operation]) -> Anomaly | None:
    read = partition.reads.get(offset, {})
    claims = {**told, **read}
    if len(claims) < 2:
        return None
    promised = {value: send for value, send in told.items() if send.asked.get("acks", ALL) == ALL}
    excuse = "" if len({*promised, *read}) > 1 else "acks=1 ends with its leader"
    words = [f"{value} ({'read' if value in read else 'acknowledged'})" for value in sorted(claims)]
    text = f"offset {offset} holds {' and '.join(words)}"
    return Anomaly(partition.name, text, tuple(claims.values()), excuse)


def _elsewhere(seen: HistoryIndex, partition: Partition) -> Iterator[Anomaly]:
    """Values whose producer was told one offset and that were read at others only."""
    for send in partition.sends:
        value, told = send.asked["value"], send.told["offset"]
        found = seen.found.get(value)
        if not found or (partition.name, told) in found:
            continue
        name, offset = min(found)
        poll = seen.partitions[name].reads[offset][value]
        plain = send.asked.get("acks", ALL) != ALL and not send.asked.get("idempotent")
        excuse = "an earlier try of a producer that is not idempotent" if plain else ""
        text = f"{value} was acknowledged at offset {told} and read in {name} at {offset}"
        yield Anomaly(partition.name, text, (send, poll), excuse)
