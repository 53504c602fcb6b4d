"""Offsets follow the order in which records were sent.

A record that is sent after another was acknowledged comes after it in the log, whoever sent either:
the leader appends, and nothing acknowledged by all in-sync replicas is ever cut off. An idempotent
producer's records also keep the order in which it sent them while none was acknowledged yet
(KIP-98: sequences); without idempotence a retry may overtake (PROD-39).
"""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.harness.checkers.histories.anomaly import Anomaly
from touchstone.harness.checkers.histories.history_index import ALL, HistoryIndex, Partition
from touchstone.harness.model.history import Operation


def check(seen: HistoryIndex) -> Iterator[Anomaly]:
    for partition in seen.partitions.values():
        yield from _against_time(partition)
        yield from _within_producer(partition)


def _against_time(partition: Partition) -> Iterator[Anomaly]:
    """The highest offset acknowledged before a send began lies below the send's own."""
    ended = sorted(partition.sends, key=lambda send: send.ended)
    highest: Operation | None = None
    at = 0
    for send in partition.sends:  # by their beginnings
        while at < len(ended) and ended[at].before(send):
            if highest is None or _offset(ended[at]) > _offset(highest):
                highest = ended[at]
            at += 1
        if highest is not None and _offset(send) < _offset(highest):
            yield _anomaly(partition, highest, send, "was acknowledged at", _excuse(highest))


def _within_producer(partition: Partition) -> Iterator[Anomaly]:
    last: dict[str, Operation] = {}
    for send in partition.sends:
        before = last.get(send.process)
        if before is not None and not before.before(send) and _offset(send) < _offset(before):
            known = send.asked.get("idempotent") and before.asked.get("idempotent")
            excuse = "" if known else "its producer is not idempotent"
            yield _anomaly(partition, before, send, "was sent first and stored at", excuse)
        last[send.process] = send


def _anomaly(
    partition: Partition, first: Operation, second: Operation, how: str, excuse: str
) -> Anomaly:
    text = (
        f"{first.asked['value']} {how} offset {_offset(first)},"
        f" {second.asked['value']} after it at {_offset(second)}"
    )
    return Anomaly(partition.name, text, (first, second), excuse)


def _excuse(first: Operation) -> str:
    return "" if first.asked.get("acks", ALL) == ALL else "acks=1 ends with its leader"


def _offset(send: Operation) -> int:
    return send.told["offset"]
