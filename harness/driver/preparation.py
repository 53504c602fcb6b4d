"""How long a target is waited for, when it never does what is waited for.

A case waits until its topic has a leader or its group a coordinator before it asks what it is
about. A target that answers such a wait in another way than Kafka (DescribeGroups of a group that
does not exist, say) can still be asked: the case goes on, the wait is a note, and what the claim is
about decides.

The same wait of later cases is then not worth a deadline each, and neither is an API that never
answers: a broker that leaves out one thing would be waited for in a hundred cases. Where it has
come at times, it is waited for twice as long as it ever took. What differs for that reason is
asked again when all others are done, and there waits are long at first.

An API is believed silent when ENOUGH cases have waited for it, each a whole deadline on its own
connection, and no answer of it ever came on any. Waits for it that are under way end then, and
meanwhile cases about other APIs are taken first: a broker that is half mute costs about a deadline
for several of its APIs. The harness's own questions of such an API are not asked any more. One
answer, whoever gets it, ends the belief; the connections of the first that waited in vain stay
open, so that an answer that comes late is seen.

On targets of ours nothing of this holds: there a wait that is not met ends its case.
"""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from touchstone.harness.driver.late_answers import LateAnswers
from touchstone.harness.driver.line import Line
from touchstone.harness.model import placeholders
from touchstone.harness.model.scenario import TYPES, Until
from touchstone.harness.model.target import Address
from touchstone.reference_impl.wire.apis import API

ENOUGH = 3  # cases that wait their whole deadline for what has never come yet
OFTEN = 5  # the same, where it has come in other cases
BRIEF_S = 1.0  # what later ones wait, at least
CLOSING = "the end of a connection"
API_NAMES = frozenset(api.name for api in API.values())
LOOK_S = 0.25  # so often does who waits for an answer look whether it is known not to come
SILENT_S = 0.25  # the same of an API that is believed silent: late answers are seen, too
TIMES = 2  # and how much longer than it ever took


@dataclass(frozen=True)
class Waits:
    """The steps of one case that only prepare it, by their labels; by default there are none.

    `labels` are waits; `topics` are CreateTopics steps whose topics Metadata is to make
    (`auto_creation`). `times`: how many deadlines each step gets.
    """

    labels: frozenset[str] = frozenset()
    memory: Preparation | None = None
    topics: frozenset[str] = frozenset()
    times: int = 1

    def patience(self, step: Until, seconds: float) -> float:
        """How long this wait may last."""
        return seconds if self.memory is None else self.memory.patience(_key(step), seconds)

    def ended(self, step: Until, label: str, done: bool, seconds: float | None) -> bool:
        """Remember how a wait ended; whether its case goes on. `seconds` is None for one that was
        given up at once.
        """
        if self.memory is None:
            return done
        if seconds is not None:
            self.memory.waited(_key(step), done, seconds)
        if done:
            self.memory.met(_question(step))
        return done or (label in self.labels and self.memory.never(_question(step)))

    def for_answer(self, api: str | None, seconds: float) -> float:
        """How long an answer of this API may take; None: the end of a connection."""
        return seconds if self.memory is None else self.memory.patience(api or CLOSING, seconds)

    def silent(self, api: str | None) -> bool:
        """Whether this API never answered: what its requests grant is then not waited for."""
        return self.memory is not None and self.memory.silent(api or CLOSING)

    def answered(self, api: int | None, done: bool, seconds: float) -> None:
        """Remember whether an answer came, or the connection ended."""
        if self.memory is not None:
            self.memory.waited(_name(api), done, seconds)

    def read(self, line: Line, api: int | None, began: float, deadline: float) -> tuple[str, bytes]:
        """What a connection brings (`Line.read`) until the deadline, or until it is known that an
        answer of this API never comes.
        """
        how, raw = line.read(min(deadline, began + LOOK_S))
        if how != "timeout" or self.memory is None or time.perf_counter() >= deadline:
            return (how, raw) if how != "timeout" else line.read(deadline)
        with self.memory.lasting(_name(api)):
            while how == "timeout" and time.perf_counter() < deadline:
                if self.memory.silent(_name(api)):
                    deadline = min(deadline, began + SILENT_S)
                how, raw = line.read(min(deadline, time.perf_counter() + LOOK_S))
        if how == "timeout":
            self.memory.unanswered(_name(api), line.socket, began)
        return how, raw

    def round_trip(self, address: Address, seconds: float) -> float:
        """The way to this address: the quickest connection, for a slow one may be chance."""
        return seconds if self.memory is None else self.memory.round_trip(address, seconds)


NO_WAITS = Waits()


# What is waited for: the answer of an API by its name, CLOSING, or a condition (`_key`).
Wait = str | tuple[str, str]


class Preparation:
    """What one target has been waited for, and how long; shared by all cases of a run."""

    def __init__(self) -> None:
        self._in_vain: Counter[Wait] = Counter()
        self._longest: dict[Wait, float] = {}  # of the waits that this target has satisfied
        self._met: set[str] = set()  # questions of such waits
        self._brief: set[Wait] = set()  # what is waited for briefly by now
        self._cut: Counter[Wait] = Counter()  # such waits that were in vain
        self._own: Counter[Wait] = Counter()  # questions of the harness without an answer
        self._lasting: Counter[Wait] = Counter()  # waits that are under way
        self._trips: dict[Address, float] = {}
        self._late = LateAnswers()
        self._lock = threading.Lock()

    def patience(self, key: Wait, seconds: float) -> float:
        """How long to wait: briefly for what has often been waited for in vain."""
        self._look(key)
        with self._lock:
            longest = self._longest.get(key)
            if self._in_vain[key] < (ENOUGH if longest is None else OFTEN):
                return seconds
            never = longest is None and key in API_NAMES
            brief = SILENT_S if never else max(BRIEF_S, TIMES * (longest or 0))
            if brief < seconds:
                self._brief.add(key)
            return min(seconds, brief)

    def silent(self, key: Wait) -> bool:
        """Whether cases have waited for this often enough and it never came."""
        self._look(key)
        with self._lock:
            return key not in self._longest and self._in_vain[key] >= ENOUGH

    def unanswered(self, key: Wait, connection: socket.socket, began: float) -> None:
        """A wait for this ended in vain: its answer may still come."""
        with self._lock:
            never = key in API_NAMES and key not in self._longest
        if never:
            self._late.keep(key, connection, began)

    def _look(self, key: Wait) -> None:
        """Believe no longer that this never comes, if it came when nobody waited for it."""
        seconds = self._late.came(key)
        if seconds is not None:
            self.waited(key, True, seconds)
            self._late.close(key)

    def close(self) -> None:
        """Nobody waits any more, for anything."""
        self._late.end()

    def mute(self, api: str) -> bool:
        """The same, where nothing is judged by it: questions of the harness's own count, too."""
        with self._lock:
            return api not in self._longest and self._in_vain[api] + self._own[api] >= ENOUGH

    def doubted(self, key: Wait) -> bool:
        """Whether enough cases are waiting for this to know soon that it never comes."""
        with self._lock:
            return (
                key not in self._longest
                and self._in_vain[key] < ENOUGH
                and self._in_vain[key] + self._lasting[key] >= ENOUGH
            )

    @contextlib.contextmanager
    def lasting(self, key: Wait) -> Iterator[None]:
        """A wait for this is under way."""
        with self._lock:
            self._lasting[key] += 1
        try:
            yield
        finally:
            with self._lock:
                self._lasting[key] -= 1

    def asked(self, api: str, done: bool, seconds: float) -> None:
        """Remember whether a question of the harness's own was answered."""
        if done:
            self.waited(api, True, seconds)
        else:
            with self._lock:
                self._own[api] += 1

    def round_trip(self, address: Address, seconds: float) -> float:
        """The quickest way to this address so far."""
        with self._lock:
            least = min(seconds, self._trips.get(address, seconds))
            self._trips[address] = least
            return least

    def met(self, question: str) -> None:
        """Remember that a wait was satisfied by asking this."""
        with self._lock:
            self._met.add(question)

    def never(self, question: str) -> bool:
        """Whether this was asked in vain by every wait that asked it.

        A target that does what is waited for in other cases was too slow in this one: what the case
        asks next would be answered too early. Another version, or other fields that are null, may
        be answered where this is not.
        """
        with self._lock:
            return question not in self._met

    def waited(self, key: Wait, done: bool, seconds: float) -> None:
        """Remember how a wait ended, and after how many seconds."""
        with self._lock:
            if done:
                self._longest[key] = max(self._longest.get(key, 0.0), seconds)
            else:
                self._cut[key] += key in self._brief
                self._in_vain[key] += 1

    def report_lines(self) -> list[str]:
        """What never came, and what was waited for more briefly than the deadline, in words."""
        with self._lock:
            never, cut = Counter[str](), Counter[str]()
            for key, count in self._in_vain.items():
                if key in API_NAMES and key not in self._longest and count >= ENOUGH:
                    never[str(key)] += count
            for key, count in self._cut.items():
                cut[key if isinstance(key, str) else key[0]] += 0 if key in never else count
        lines = []
        if never:
            brief = f"later ones waited {SILENT_S:g} s, not the deadline"
            lines.append(f"never answered: {_counted(never, ' cases')}; {brief}")
        if any(cut.values()):
            lines.append(f"waited for only briefly, for it never came before: {_counted(cut)}")
        return lines


def _name(api: int | None) -> str:
    return API[api].name if api is not None and api in API else CLOSING


def _counted(names: Counter[str], of: str = "") -> str:
    """Names with their numbers, the commonest first; `of` says once what is counted."""
    found = [(name, count) for name, count in names.most_common() if count]
    return ", ".join(
        f"{name} ({count:,}{of if not at else ''})" for at, (name, count) in enumerate(found)
    )


def _key(step: Until) -> tuple[str, str]:
    """Equal for waits that differ in names and in numbers only; an error code is no number."""
    wanted = [
        [path, op, "number" if _counts(path, value) else placeholders.to_json(value, TYPES)]
        for path, op, value in step.conditions
    ]
    return step.ask.api, json.dumps(wanted, sort_keys=True)


def _question(step: Until) -> str:
    """Equal for waits that ask and want the same, but for names and numbers."""
    asked = [step.ask.api, step.ask.version, _blank(step.ask.body), _key(step)]
    return json.dumps(asked, sort_keys=True)


def _blank(value: Any) -> Any:
    """What is left of a body without its names and numbers."""
    if isinstance(value, Mapping):
        return {name: _blank(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_blank(inner) for inner in value]
    return value if value is None or isinstance(value, bool) else "something"


def _counts(path: str, value: Any) -> bool:
    return isinstance(value, int) and not path.endswith("error_code")
