"""Waits that only prepare a case, on a target that never does what is waited for.

A case waits until its topic has a leader or its group a coordinator before it asks what it is
about. A target that answers such a wait in another way than Kafka (DescribeGroups of a group that
does not exist, say) can still be asked: the case goes on, the wait is a note, and what the claim is
about decides. The same wait of later cases is then not worth a deadline each.

On targets of ours nothing of this holds: there a wait that is not met ends its case.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass

from harness import placeholders
from harness.scenario import TYPES, Until

ENOUGH = 2  # cases that wait their whole deadline for the same thing
BRIEF_S = 1.0  # what later ones wait


@dataclass(frozen=True)
class Waits:
    """The waits of one case that only prepare it, by their labels; by default there are none."""

    labels: frozenset[str] = frozenset()
    memory: Preparation | None = None

    def of(self, label: str) -> Preparation | None:
        """What is remembered, if this wait may end in vain; None when it ends its case."""
        return self.memory if label in self.labels else None


NO_WAITS = Waits()


class Preparation:
    """What one target has been waited for in vain; shared by all cases of a run."""

    def __init__(self) -> None:
        self._in_vain: Counter[Hashable] = Counter()
        self._met: set[Hashable] = set()  # waits that this target has satisfied in some case
        self._lock = threading.Lock()

    def patience(self, step: Until, seconds: float) -> float:
        """How long to wait: briefly for what has only ever been waited for in vain."""
        with self._lock:
            never = self._in_vain[_key(step)] >= ENOUGH and _key(step) not in self._met
            return min(seconds, BRIEF_S) if never else seconds

    def ended(self, step: Until, done: bool) -> bool:
        """Remember how a wait ended; whether its case goes on.

        A target that does what is waited for in other cases was too slow in this one: what the case
        asks next would be answered too early.
        """
        with self._lock:
            key = _key(step)
            if done:
                self._met.add(key)
            else:
                self._in_vain[key] += 1
            return done or key not in self._met


def _key(step: Until) -> Hashable:
    """Equal for waits that differ in names only."""
    wanted = [[path, op, placeholders.to_json(value, TYPES)] for path, op, value in step.conditions]
    return step.ask.api, step.ask.version, json.dumps(wanted, sort_keys=True)
