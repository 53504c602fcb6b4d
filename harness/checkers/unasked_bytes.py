"""Nothing comes that nobody asked for: one answer per request, none for acks=0, none after that.

A broker never speaks first (protocol guide, "Network"). Produce with acks=0 has no answer at all;
a client that got one would take it for the answer to its next request.
"""

from __future__ import annotations

from touchstone.harness.model.finding import Finding
from touchstone.harness.model.transcript import Transcript


def check(transcript: Transcript) -> list[Finding]:
    asked = {event.step: event for event in transcript.events if event.direction == "sent"}
    answered: set[int] = set()
    found = []
    for event in transcript.events:
        if event.direction != "received":
            continue
        request = asked.get(event.step)
        word = None
        if request is None or (event.api is None and event.correlation_id is None and answered):
            word = f"{len(event.raw)} bytes that answer no request"
        elif request.silent and request.framed and request.api is not None:
            word = "an answer to a request that asks for none"
        elif event.step in answered:
            word = "a second answer to one request"
        answered.add(event.step)
        if word:
            found.append(Finding("unasked-bytes", transcript.label(event.step), "", word))
    return found
