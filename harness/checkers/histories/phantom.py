"""Only what somebody sent can be read, where it was sent to, and not before.

A send that was refused for certain (the broker named an error that it finds before it appends)
counts as not sent; a send whose end is unknown counts as sent.
"""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.harness.checkers.histories.anomaly import Anomaly
from touchstone.harness.checkers.histories.history_index import HistoryIndex
from touchstone.harness.model.history import Operation, place


def check(seen: HistoryIndex) -> Iterator[Anomaly]:
    for name, partition in seen.partitions.items():
        for offset, values in partition.reads.items():
            for value, poll in values.items():
                send = seen.sends.get(value)
                why = _impossible(name, send, poll)
                if why:
                    text = f"{value} was read at {offset}; {why}"
                    yield Anomaly(name, text, (poll,) if send is None else (send, poll))


def _impossible(name: str, send: Operation | None, poll: Operation) -> str:
    if send is None:
        return "nobody sent it"
    sent_to = place(send.asked["topic"], send.asked["partition"])
    if sent_to != name:
        return f"it was sent to {sent_to}"
    if send.outcome == "fail":
        return f"it was refused with {send.told.get('error')}"
    return "it was sent afterwards" if poll.ended < send.began else ""
