"""A version that a broker advertises is one that it serves.

A request inside the advertised range, which we can read ourselves, must not be refused as a whole
with UNSUPPORTED_VERSION, nor lose its connection. (Produce may lose it for what its records hold.)
Kafka 4.x advertises Produce from 0 for the sake of old clients' negotiation and serves it from 3
(KIP-896): the one exception. Who has not said who it is may be refused everything.
"""

from __future__ import annotations

from touchstone.harness.checkers import walks
from touchstone.harness.checkers.listeners import unauthenticated
from touchstone.harness.model.finding import Finding
from touchstone.harness.model.transcript import RoundTrip, Transcript

UNSUPPORTED_VERSION = 35
PRODUCE = 0
LOST = ("closed", "reset")
ADVERTISED_ONLY = {(0, 0), (0, 1), (0, 2)}


def check(transcript: Transcript) -> list[Finding]:
    ranges: dict[int, tuple[int, int]] = {}
    for _, answer in walks.decoded(transcript, "ApiVersions"):
        for row in answer["api_keys"] or ():
            ranges.setdefault(row["api_key"], (row["min_version"], row["max_version"]))
    found = []
    unknown = unauthenticated(transcript)
    for trip in transcript.round_trips:
        sent = trip.sent
        if sent is None or not sent.framed or sent.api not in ranges or sent.version is None:
            continue
        low, high = ranges[sent.api]
        if not low <= sent.version <= high or (sent.api, sent.version) in ADVERTISED_ONLY:
            continue
        word = _refusal(trip)
        if word and trip.step not in unknown:
            text = f"version {sent.version} is advertised ({low} to {high}) but {word}"
            found.append(Finding("advertised-is-served", trip.label, "", text))
    return found


def _refusal(trip: RoundTrip) -> str | None:
    request = trip.request
    if request is None or request.end != len(trip.sent.raw if trip.sent else b""):
        return None
    if trip.received is None and trip.ending and trip.ending.direction in LOST:
        closed_for_its_records = trip.event.api == PRODUCE
        return None if closed_for_its_records else f"its connection was {trip.ending.direction}"
    code = (trip.answer or {}).get("error_code")
    return "refused with UNSUPPORTED_VERSION" if code == UNSUPPORTED_VERSION else None
