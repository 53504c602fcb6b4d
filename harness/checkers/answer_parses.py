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
    for exchange in transcript.exchanges:
        received = exchange.received
        if received is None or received.api is None or received.version is None:
            continue
        if exchange.undecodable is not None:
            found.append(Finding("answer-parses", exchange.label, ANSWER, exchange.undecodable))
        elif (answer := exchange.response) is not None and answer.end != len(received.raw):
            left = len(received.raw) - answer.end
            word = f"{left} bytes are left after the answer"
            found.append(Finding("answer-parses", exchange.label, "", word))
    return found
