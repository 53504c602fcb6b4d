"""Offsets follow the order in which records were sent.

A record that is sent after another was acknowledged comes after it in the log, whoever sent either:
the leader appends, and nothing acknowledged by all in-sync replicas is ever cut off. An idempotent
producer's records also keep the order in which it sent them while none was acknowledged yet
(KIP-98: sequences); without idempotence a retry may overtake (PROD-39). A send whose end nobody
knows has the offset at which it was read, and was in the log when it had been read.
"""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.harness.checkers.histories.anomaly import Anomaly
from touchstone.harness.checkers.histories.history_index import ALL, HistoryIndex, Landing

ACKS_1 = "acks=1 ends with its leader"


def check(seen: HistoryIndex) -> Iterator[Anomaly]:
    for name, landings in seen.landings.items():
        yield from _against_time(name, landings)
        yield from _within_producer(seen, name, landings)


def _against_time(name: str, landings: list[Landing]) -> Iterator[Anomaly]:
    """The highest offset in the log for certain before a send began lies below the send's own."""
    known = sorted(landings, key=lambda landing: landing.known)
    highest: Landing | None = None
    at = 0
    for each in landings:  # by their beginnings
        while at < len(known) and known[at].known < each.send.began:
            if highest is None or known[at].offset > highest.offset:
                highest = known[at]
            at += 1
        if highest is not None and each.offset < highest.offset:
            excuse = "" if highest.send.asked.get("acks", ALL) == ALL else ACKS_1
            yield _anomaly(name, highest, each, f"was {_how(highest)} at", excuse)


def _within_producer(seen: HistoryIndex, name: str, landings: list[Landing]) -> Iterator[Anomaly]:
    last: dict[str, Landing] = {}
    for each in landings:
        before = last.get(each.send.process)
        if before is not None and not before.send.before(each.send) and each.offset < before.offset:
            yield _anomaly(
                name, before, each, "was sent first and stored at", _sessions(seen, before, each)
            )
        last[each.send.process] = each


def _sessions(seen: HistoryIndex, first: Landing, second: Landing) -> str:
    """Return why two sends that were under way at once owed no order to each other."""
    if not (first.send.asked.get("idempotent") and second.send.asked.get("idempotent")):
        return "its producer is not idempotent"
    # A producer that gives a record up goes on under a new epoch, which fences the record; before
    # KIP-360 it could only take another id, and then nothing fences what it gave up.
    gave_up = first.send.outcome == "unknown" and first.send.ended < second.known
    old = seen.release is not None and seen.release < (2, 5)
    within = first.send.asked.get("transaction") is not None
    return "its producer may have taken another id" if gave_up and old and not within else ""


def _how(landing: Landing) -> str:
    return "acknowledged" if landing.send.outcome == "ok" else "read"


def _anomaly(place: str, first: Landing, second: Landing, how: str, excuse: str) -> Anomaly:
    text = f"{first.value} {how} offset {first.offset}, {second.value} after it at {second.offset}"
    return Anomaly(place, text, (first.send, second.send), excuse)
