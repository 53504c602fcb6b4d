"""Deletes what a run's cases made on somebody else's cluster, on connections of the harness's own.

Little by little while the run goes on, so that a broker never holds more than a few hundred topics
of ours, and the rest at its end. It has a bounded time and no claim to success: what is still there
is told. Which requests delete what is `clearing`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from touchstone.harness.driver.brokers import Question
from touchstone.harness.driver.preparation import Preparation
from touchstone.harness.model.target import Address, Endpoint, Versions
from touchstone.harness.model.transcript import Transcript
from touchstone.harness.run import clearing
from touchstone.harness.run.clearing import FOR_EVER, Clearing, Left, Talk
from touchstone.harness.run.leftovers import TRANSACTION, Made, made_by

ENOUGH = 150  # names that were drawn, not all of them for topics
ANSWER_S = 12.0  # longer than a request grants its broker
SOME_S = 30.0  # for what is deleted while the run goes on
ALL_S = 60.0  # for what is deleted at its end
PAUSE_S = 0.5  # between tries of what is still there, at the end
NOT_TRIED = "no time, or no answer"
SILENCES = 2  # questions without an answer, after which no more is asked


@dataclass
class _Heap:
    """What was made on one cluster and is there, as far as we know."""

    endpoint: Endpoint
    offered: Versions
    made: Made = field(default_factory=Made)
    tried: Made = field(default_factory=Made)  # what stayed when it was to be deleted
    last: Made = field(default_factory=Made)  # what cases may share: it goes when all are done
    why: Left = field(default_factory=dict)
    silent: bool = False  # a conversation broke off: nothing is tried again before the end

    def left(self) -> Left:
        there = self.made.things() | self.tried.things() | self.last.things()
        return {thing: self.why.get(thing, NOT_TRIED) for thing in there}


class Deleter:
    """What the cases of one run made on one target, which may be several clusters. `memory`: what
    it has been asked in vain.
    """

    def __init__(self, offered: Callable[[], Versions], memory: Preparation | None = None) -> None:
        self._offered, self._memory = offered, memory or Preparation()
        self._books = threading.Lock()
        self._talking = threading.Lock()
        self._heaps: dict[tuple[Address, ...], _Heap] = {}
        self._transactions: set[str] = set()  # which nobody can delete

    def add(self, endpoint: Endpoint, transcript: Transcript) -> bool:
        """Note what a case made; whether enough has come together to be deleted."""
        made = made_by(transcript)
        with self._books:
            heap = self._heaps.get(endpoint.bootstrap)
            if heap is None:
                heap = self._heaps[endpoint.bootstrap] = _Heap(endpoint, self._offered())
            self._transactions |= made.transactions
            heap.last.add(Made(created=made.fixed, topics=made.fixed,
                               fixed_groups=made.fixed_groups))  # fmt: skip
            made.transactions, made.fixed, made.fixed_groups = set(), set(), set()
            heap.made.add(made)
            return len(heap.made.topics) >= ENOUGH and not heap.silent

    def some(self, endpoint: Endpoint) -> None:
        """Delete what has come together on this cluster, unless somebody is at it."""
        if self._talking.acquire(blocking=False):
            try:
                self._clear(self._heaps[endpoint.bootstrap], SOME_S)
            finally:
                self._talking.release()

    def rest(self, seconds: float = ALL_S) -> None:
        """Delete what is there, and again what would not go at once, for so long at most."""
        deadline = time.perf_counter() + seconds
        with self._talking:
            for heap in self._heaps.values():
                self._all(heap, deadline)

    def _all(self, heap: _Heap, deadline: float) -> None:
        heap.made.add(heap.tried)
        heap.made.add(heap.last)
        heap.tried, heap.last = Made(), Made()
        while heap.made and time.perf_counter() < deadline:
            before = heap.left()
            if not self._clear(heap, deadline - time.perf_counter()) or heap.left() == before:
                return
            heap.made, heap.tried = heap.tried, Made()
            if heap.made:
                time.sleep(PAUSE_S)

    def report_lines(self) -> list[str]:
        """What is still there, in words."""
        left: Left = dict.fromkeys(((TRANSACTION, name) for name in self._transactions), FOR_EVER)
        for heap in self._heaps.values():
            left |= heap.left()
        return clearing.leftover_lines(left)

    def forget(self) -> None:
        """The clusters end with this run, and all that was made on them."""
        self._heaps.clear()
        self._transactions.clear()

    def _clear(self, heap: _Heap, seconds: float) -> bool:
        """Delete what is on the heap; whether the conversation came to its end."""
        with self._books:
            made, heap.made = heap.made, Made()
        one = Clearing(made, heap.offered, several=len(heap.endpoint.ids) > 1)
        ended = _held(one.talk(), heap.endpoint.bootstrap[0], seconds, self._memory)
        with self._books:
            heap.tried.add(made.only(one.left) if ended else made)
            heap.why |= one.left
            heap.silent |= not ended
        return ended


def _held(talk: Talk, first: Address, seconds: float, memory: Preparation) -> bool:
    """Hold a conversation; whether it came to its end in time and was answered. What is known to
    get no answer is not asked, and the conversation goes on.
    """
    deadline = time.perf_counter() + seconds
    lines: dict[Address, Question] = {}
    silences, answer = 0, None
    try:
        asked = next(talk)
        while time.perf_counter() < deadline and silences < SILENCES:
            known = memory.mute(asked.api)
            answer = None if known else _asked(asked, lines, asked.to or first, deadline, memory)
            silences = silences + (not known) if answer is None else 0
            asked = talk.send(answer)
    except StopIteration:
        return True
    finally:
        for line in lines.values():
            line.__exit__()
    return False


def _asked(
    asked: clearing.Request, lines: dict[Address, Question], to: Address, deadline: float,
    memory: Preparation,
) -> Any:  # fmt: skip
    """The decoded answer, on a connection that is kept; None when there is none."""
    began = time.perf_counter()
    seconds = min(ANSWER_S, max(deadline - began, 0.1))
    answer = None
    try:
        if to not in lines:
            lines[to] = Question(to, seconds)
        lines[to].seconds = seconds
        answer = lines[to].ask(asked.api, asked.version, dict(asked.body))
    except (LookupError, OSError, ValueError):
        if to in lines:
            lines.pop(to).__exit__()
    took_s = time.perf_counter() - began
    if answer is not None or took_s >= ANSWER_S:
        memory.asked(asked.api, answer is not None, took_s)
    return answer
