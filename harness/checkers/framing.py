"""Whatever a broker sends is a frame: a size that can be one, then a correlation id.

The size is a signed 32-bit number of the bytes that follow (Kafka protocol guide, "Common
structure"); a negative one, one beyond the limit, a frame too short for a correlation id, and a
frame that ends with its connection are not frames. A token of SASL may be a frame of any size.
"""

from __future__ import annotations

from touchstone.harness.checkers.listeners import is_token, unauthenticated
from touchstone.harness.model.finding import Finding
from touchstone.harness.model.transcript import Transcript

SMALLEST = 4


def check(transcript: Transcript) -> list[Finding]:
    found = []
    unknown = unauthenticated(transcript)
    for event in transcript.events:
        word = None
        if event.direction == "garbled":
            word = event.note or f"these bytes begin no frame: {event.raw[:16].hex(' ')}"
        elif event.direction == "received" and len(event.raw) < SMALLEST:
            if is_token(event, unknown):
                continue
            word = f"a frame of {len(event.raw)} bytes has no correlation id"
        elif event.direction in ("closed", "timeout") and event.raw:
            word = f"{event.direction} inside a frame, after {len(event.raw)} bytes of it"
        if word:
            found.append(Finding("framing", transcript.label(event.step), "", word))
    return found
