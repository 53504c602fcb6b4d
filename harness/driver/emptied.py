"""Answers to Fetch that a quota has emptied: they say nothing of what a broker holds.

Who has read faster than his quota allows is answered without any topic, told how long to wait, and
not read until then (KIP-124, KIP-219; FetchContext.getThrottledResponse). Clients fetch again, and
so does a case. Within a session an empty answer says that nothing is new, and another request of
the same epoch would be refused, so there the answer stands.

Pure.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from touchstone.harness.driver.deadlines import THROTTLE
from touchstone.harness.model.scenario import Ask
from touchstone.harness.model.transcript import Transcript

TOPICS = "responses"
NO_SESSION, FULL = -1, 0  # epochs of requests that ask for all they name, whatever was told before


def again_in_s(
    step: Ask, label: str, answer: Callable[[str], Any], kafkas: Transcript | None
) -> float:
    """Return the seconds after which to fetch again, 0.0 if the answer is one to judge.

    `answer` gives that of the step of a label, None where there is none. A step that Kafka answers
    without topics too is left with what it gets: that is what its case is about.
    """
    if step.api != "Fetch" or step.body.get("session_epoch", NO_SESSION) not in (NO_SESSION, FULL):
        return 0.0
    body = answer(label)
    throttle_ms = body.get(THROTTLE, 0) if isinstance(body, dict) else 0
    if throttle_ms <= 0 or body[TOPICS] or kafkas is None or label not in kafkas.by_label:
        return 0.0
    told = kafkas.by_label[label].answer
    return throttle_ms / 1000 if told is not None and told[TOPICS] else 0.0
