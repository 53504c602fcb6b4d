"""How long the answer of one step is waited for."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from touchstone.harness.driver.preparation import Waits
from touchstone.harness.model.scenario import Raw

# A deadline is never shorter than so many connection set-ups; one that is brief, than so few.
ROUND_TRIPS, BRIEF_TRIPS = 50, 10
LONGEST_S = 60.0
OWN_WAITS = ("max_wait_ms", "timeout_ms")
THROTTLE = "throttle_time_ms"


def granted(api: str, body: Any, patience_s: float) -> Any:
    """The body with the time that the controller may take, as long as the run has patience.

    Answers REQUEST_TIMED_OUT of a loaded machine say nothing of the broker. Timeouts of a second or
    less are what a scenario is about, and those of Produce always are (its acks wait for them).
    """
    own_ms = body.get("timeout_ms") if isinstance(body, dict) and api != "Produce" else None
    if not isinstance(own_ms, int) or not 1000 < own_ms < patience_s * 1000:
        return body
    return body | {"timeout_ms": int(patience_s * 1000)}


class Waited:
    """How long a wait lasts that asks again and again, from its first answer on.

    A broker whose user is above his rate answers at once, says for how long, and reads nothing of
    him until then (KIP-219): that is no time in which what is waited for could have been seen, as
    far as it did pass, and LONGEST_S at most.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._first: float | None = None
        self._last = self._told_s = self._muted_s = 0.0

    def answered(self, body: Any) -> float:
        """Note an answer, None if it cannot be read; return the seconds until it."""
        now = self._clock()
        if self._first is None:
            self._first = self._last = now
        muted_s = self._muted_s + min(self._told_s, now - self._last)
        self._muted_s, self._last = min(muted_s, LONGEST_S), now
        told = body.get(THROTTLE) if isinstance(body, dict) else None
        self._told_s = max(told, 0) / 1000 if isinstance(told, int) else 0.0
        return now - self._first - self._muted_s


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
