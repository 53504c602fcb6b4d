"""An answer is written in the one way Kafka writes it: what was read encodes to the same bytes.

This holds the small rules of the format together: tagged fields in ascending order and each once,
no varint longer than it must be, null as -1 and nothing below (KIP-482, KIP-893).
"""

from __future__ import annotations

from touchstone.harness.model.finding import Finding
from touchstone.harness.model.transcript import Transcript
from touchstone.reference_impl.wire import headers


def check(transcript: Transcript) -> list[Finding]:
    found = []
    for trip in transcript.round_trips:
        received, response = trip.received, trip.response
        if received is None or response is None or response.end != len(received.raw):
            continue
        if response.tags or received.api is None or received.version is None:
            continue
        again = headers.encode_response(
            received.api, received.version, response.correlation_id, response.body
        )
        if again != received.raw:
            at = next(
                (i for i, (a, b) in enumerate(zip(again, received.raw, strict=False)) if a != b),
                min(len(again), len(received.raw)),
            )
            theirs, ours = received.raw[at : at + 1].hex(), again[at : at + 1].hex()
            word = f"byte {at} is {theirs or 'missing'}, Kafka writes {ours or 'nothing'}"
            found.append(Finding("canonical-bytes", trip.label, "", word))
    return found
