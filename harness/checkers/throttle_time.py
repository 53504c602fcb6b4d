"""A throttle time is a span: never negative (KIP-124)."""

from __future__ import annotations

from touchstone.harness.checkers import walks
from touchstone.harness.model.finding import Finding
from touchstone.harness.model.transcript import Transcript


def check(transcript: Transcript) -> list[Finding]:
    return [
        Finding("throttle-time", trip.label, "throttle_time_ms", f"{span} ms is no span")
        for trip, answer in walks.decoded(transcript)
        if isinstance(span := answer.get("throttle_time_ms", 0), int) and span < 0
    ]
