"""How long the answer of one step is waited for."""

from __future__ import annotations

from typing import Any

from touchstone.harness.driver.preparation import Waits
from touchstone.harness.model.scenario import Raw

# A deadline is never shorter than so many connection set-ups; one that is brief, than so few.
ROUND_TRIPS, BRIEF_TRIPS = 50, 10
LONGEST_S = 60.0
OWN_WAITS = ("max_wait_ms", "timeout_ms")


def seconds(step: Any, waits: Waits, patience_s: float, round_trip_s: float) -> float:
    """The case's patience, or longer where the request or the way need it; at most LONGEST_S."""
    closes = isinstance(step, Raw) and step.expect == "close"
    api = None if closes else getattr(step, "api", None)
    granted_s = waits.for_answer(api, patience_s)
    brief = granted_s < patience_s
    way_s = min(BRIEF_TRIPS * round_trip_s, patience_s) if brief else ROUND_TRIPS * round_trip_s
    body = {} if waits.silent(api) else getattr(step, "body", None) or {}
    own = [body[word] / 1000 for word in OWN_WAITS if isinstance(body.get(word), int)]
    # A request that may wait for ages is one that the scenario means to end by something else: a
    # target that forgets to wake it costs a deadline like any other silence.
    own = [each + granted_s for each in own if each + granted_s <= LONGEST_S]
    return min(max(granted_s, way_s, *own), LONGEST_S)
