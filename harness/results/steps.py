"""The steps of a case as they went on its target, from the transcript. Pure.

A row has only steps that differ; whoever shows a case step by step needs the others as well.
"""

from __future__ import annotations

from touchstone.harness.model.case_row import StepSign
from touchstone.harness.model.transcript import Event, RoundTrip, Transcript

ANSWERED, SENT = "answered", "sent"
AWAIT = "await "  # of a step that waits for the answer to an earlier one, whose label follows


def of(transcript: Transcript | None) -> list[StepSign]:
    """Every step in the order of the scenario; none where the target was not asked."""
    if transcript is None:
        return []
    events: dict[int, list[Event]] = {}
    for event in transcript.events:
        events.setdefault(event.step, []).append(event)
    trips = {trip.step: trip for trip in transcript.round_trips}
    for place, label in enumerate(transcript.header.labels):
        earlier = transcript.by_label.get(label.removeprefix(AWAIT))
        if earlier is not None and label.startswith(AWAIT):  # whose step its events are noted with
            end = earlier.received or earlier.ending
            events[place] = [] if end is None else [end]
    return [
        _step(label, events.get(place, []), trips.get(place))
        for place, label in enumerate(transcript.header.labels)
    ]


def _step(label: str, events: list[Event], trip: RoundTrip | None) -> StepSign:
    api = None if trip is None else trip.event.api_name
    begun = events[0].at_us if events else 0
    return {
        "step": label,
        "api": api,
        "version": None if trip is None or api is None else trip.event.version,
        "at_ms": begun / 1000 if events else None,
        "ms": (events[-1].at_us - begun) / 1000 if events else 0.0,
        "ended": "" if trip is None else _ended(trip),
    }


def _ended(trip: RoundTrip) -> str:
    if trip.received is not None:
        return ANSWERED
    return SENT if trip.ending is None else trip.ending.direction


def title(step: StepSign) -> str:
    """A step in one line: its label, what was asked, how it ended where that is no answer."""
    label, api = step["step"], step["api"]
    version = "" if step["version"] is None else f" v{step['version']}"
    if api is None:
        words = label
    elif label.startswith(api):  # a step that nobody named
        words = f"{label}{version}"
    else:
        words = f"{label}: {api}{version}"
    return words if step["ended"] in (ANSWERED, SENT, "") else f"{words} ({step['ended']})"
