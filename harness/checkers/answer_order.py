"""On one connection answers come in the order of their requests (SocketServer mutes a channel).

A request that asks for no answer (acks=0) is left out; so are frames nobody asked for, which
`unasked-bytes` reports.
"""

from __future__ import annotations

from touchstone.harness.model.finding import Finding
from touchstone.harness.model.transcript import Transcript


def check(transcript: Transcript) -> list[Finding]:
    waiting: dict[str, list[int]] = {}
    found = []
    for event in transcript.events:
        queue = waiting.setdefault(event.connection, [])
        if event.direction == "sent" and not event.silent:
            queue.append(event.step)
        elif event.direction == "received" and event.step in queue:
            if queue[0] != event.step:
                word = f"answered before {transcript.label(queue[0])}, which was asked earlier"
                found.append(Finding("answer-order", transcript.label(event.step), "", word))
            queue.remove(event.step)
    return found
