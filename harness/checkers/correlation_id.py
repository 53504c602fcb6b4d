"""An answer carries the correlation id of the request it answers (protocol guide, headers)."""

from __future__ import annotations

from touchstone.harness.model.finding import Finding
from touchstone.harness.model.transcript import Transcript


def check(transcript: Transcript) -> list[Finding]:
    found = []
    for trip in transcript.round_trips:
        received = trip.received
        if received is None or received.correlation_id is None or len(received.raw) < 4:
            continue
        echoed = int.from_bytes(received.raw[:4], "big", signed=True)
        if echoed != received.correlation_id:
            word = f"answered as {echoed}, asked as {received.correlation_id}"
            found.append(Finding("correlation-id", trip.label, "correlation_id", word))
    return found
