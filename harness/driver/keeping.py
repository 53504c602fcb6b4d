"""Keeps the settings of somebody else's brokers: what a case alters is put back right after it.

The case has the cluster to itself, so nothing else changes between the two looks. A run that is
interrupted puts back at its end what such a case could not.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterable, Iterator, Mapping

from touchstone.harness.driver.brokers import Question
from touchstone.harness.driver.preparation import Preparation
from touchstone.harness.model.target import Address, Endpoint, Versions
from touchstone.harness.run import altered
from touchstone.harness.run.altered import LOGGER, Resource, State
from touchstone.reference_impl.wire.apis import by_name
from touchstone.reference_impl.wire.errors import name_of
from touchstone.reference_impl.wire.schema import Struct

ANSWER_S = 5.0
LOOK = "DescribeConfigs"
WITH_SOURCES = 1  # the first version of DescribeConfigs that tells where a setting comes from


class SettingsRestorer:
    """The settings that cases of one run have altered and not yet put back. `memory`: what the
    target has been asked in vain.
    """

    def __init__(self, memory: Preparation | None = None) -> None:
        self._memory = memory or Preparation()
        self._lock = threading.Lock()
        self._open: list[_Kept] = []
        self.words: list[str] = []  # what could not be put back

    def keep(self, found: Iterable[Resource], endpoint: Endpoint, offered: Versions) -> _Kept:
        """Remember the settings of these resources, for `put_back` at the end of the run."""
        one = _Kept(_translated(found, endpoint), endpoint, offered, self._memory)
        with self._lock:
            self._open.append(one)
        return one

    @contextlib.contextmanager
    def kept(
        self, found: Iterable[Resource], endpoint: Endpoint, offered: Versions
    ) -> Iterator[None]:
        """Whatever is altered of these resources meanwhile is as it was, behind this."""
        one = self.keep(found, endpoint, offered)
        try:
            yield
        finally:
            self._put_back(one)

    def put_back(self) -> None:
        """What is still altered, at the end of a run: the newest first, for it may be of the same
        settings as an older one.
        """
        for one in self._open[::-1]:
            self._put_back(one)

    def _put_back(self, one: _Kept) -> None:
        with self._lock:
            if one not in self._open:
                return
            self._open.remove(one)
        words = one.put_back()
        self.words += [word for word in words if word not in self.words]


class _Kept:
    """Some resources of one cluster, as they were."""

    def __init__(
        self, wanted: list[Resource], endpoint: Endpoint, offered: Versions, memory: Preparation
    ) -> None:
        self.wanted, self.endpoint, self.offered = wanted, endpoint, offered
        self._memory = memory
        self.before = self._state()

    def put_back(self) -> list[str]:
        """Bring everything back; what could not be, in words."""
        words = []
        for resource, back in altered.changes(self.before, self._state()).items():
            for name in altered.lost(back):
                words.append(f"{name} of {_word(resource)} (its value before was secret)")
            refused = self._alter(resource, back)
            if refused:
                words.append(f"{', '.join(sorted(back))} of {_word(resource)} ({refused})")
        return words

    def _state(self) -> State:
        found: dict[Resource, Mapping[str, str]] = {}
        for resource in self.wanted:
            if self._memory.mute(LOOK):  # and nobody knows what there would be to put back
                break
            kind, name = resource
            row = {"resource_type": kind, "resource_name": name, "configuration_keys": None}
            answer = self._asked(resource, LOOK, WITH_SOURCES, {"resources": [row]})
            found.update({} if answer is None else altered.own(answer))
        return found

    def _alter(self, resource: Resource, back: dict[str, str | None]) -> str | None:
        """Why it was refused, in words."""
        incremental = self._offers("IncrementalAlterConfigs", 0)
        api = "IncrementalAlterConfigs" if incremental else "AlterConfigs"
        body = (
            altered.increments(resource, back)
            if incremental
            else altered.whole(resource, self.before[resource])
        )
        answer = self._asked(resource, api, 0, body)
        rows = [] if answer is None else answer["responses"]
        codes = [row["error_code"] for row in rows if row["error_code"]]
        return "no answer" if answer is None else name_of(codes[0]) if codes else None

    def _offers(self, api: str, version: int) -> bool:
        low, high = self.offered.get(by_name(api).key, (0, -1))
        return low <= version <= high

    def _asked(self, resource: Resource, api: str, version: int, body: Struct) -> Struct | None:
        """The answer of the broker whose settings these are; None when there is none."""
        low, high = self.offered.get(by_name(api).key, (0, -1))
        version = max(low, version)
        if version > high:
            return None
        began = time.perf_counter()
        with contextlib.suppress(LookupError, OSError, ValueError):
            with Question(self._address(resource), ANSWER_S) as question:
                answer = question.ask(api, version, body)
            self._memory.asked(api, True, time.perf_counter() - began)
            return answer
        self._memory.asked(api, False, time.perf_counter() - began)
        return None

    def _address(self, resource: Resource) -> Address:
        name = resource[1]
        first = self.endpoint.bootstrap[0]
        return self.endpoint.brokers.get(int(name), first) if name.isdigit() else first


def _translated(found: Iterable[Resource], endpoint: Endpoint) -> list[Resource]:
    """These resources as the cluster calls them."""
    ids = {str(number): str(node) for number, node in enumerate(endpoint.ids)}
    return [(kind, ids.get(name, name)) for kind, name in found]


def _word(resource: Resource) -> str:
    kind, name = resource
    levels = "log levels of " if kind == LOGGER else ""
    return f"{levels}broker {name}" if name else "all brokers"
