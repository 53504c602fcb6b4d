"""An answer can be read by its schema, in the version of the request, to its last byte.

The version decides the response header too (KIP-482; ApiVersions always keeps the old one, so that
a client that guessed too high can read it). Bytes left over mean that writer and reader disagree
about the version, even if what was read made sense.
"""

from __future__ import annotations

from touchstone.harness.model.finding import Finding
from touchstone.harness.model.transcript import Transcript

ANSWER = "answer"  # the whole of it, as a difference between two answers calls it


def check(transcript: Transcript) -> list[Finding]:
    found = []
    for trip in transcript.round_trips:
        received = trip.received
        if received is None or received.api is None or received.version is None:
            continue
        if trip.undecodable is not None:
            found.append(Finding("answer-parses", trip.label, ANSWER, trip.undecodable))
        elif (answer := trip.response) is not None and answer.end != len(received.raw):
            left = len(received.raw) - answer.end
            word = f"{left} bytes are left after the answer"
            found.append(Finding("answer-parses", trip.label, "", word))
    return found
