"""One group on one broker, in the hands of a machine that does the same to another broker.

A side has a connection for each member and one for everything else. Joins and syncs may be answered
much later, so their answers are collected; all other requests are answered at once. Ids that a
broker made up are called by the slot of the member they were given to, or by the order in which
they were seen first, so that two brokers' answers can be equal.
"""

from __future__ import annotations

import selectors
from typing import Any

from touchstone.harness.bench.line import Line, frame
from touchstone.reference_impl.wire import headers
from touchstone.reference_impl.wire.apis import by_name

_IDS = ("member_id", "leader", "topic_id")
_PRODUCER = "producer_id"
_NOISE = ("throttle_time_ms", "transaction_start_time_ms")


class Side:
    """`group` on the broker at `bootstrap`; `slots` members at most."""

    def __init__(self, name: str, bootstrap: str, group: str, slots: int) -> None:
        self.name, self.group, self.bootstrap = name, group, bootstrap
        self.control = Line(bootstrap)
        self.lines = [Line(bootstrap) for _ in range(slots)]
        self.ids = [""] * slots
        self._names: dict[Any, str] = {}  # every id that was ever given out
        self._producers: list[int] = [-1]
        self.generation = -1
        self.leader: str | None = None
        self.producer: tuple[int, int] = (-1, -1)
        self.asked: dict[int, tuple[str, int]] = {}  # slot -> what it waits for
        self.answers: dict[int, dict[str, Any]] = {}
        self._selector = selectors.DefaultSelector()
        for slot, line in enumerate(self.lines):
            self._selector.register(line.socket, selectors.EVENT_READ, slot)

    def close(self) -> None:
        self._selector.close()
        for line in (self.control, *self.lines):
            line.close()

    def ask(self, api: str, version: int, body: dict[str, Any]) -> dict[str, Any]:
        """The answer, now, with ids by slot."""
        return self.plain(self.control.ask(api, version, body))

    def send(self, slot: int, api: str, version: int, body: dict[str, Any]) -> None:
        """For an answer that may wait."""
        self.asked[slot] = api, version
        self.lines[slot].socket.sendall(frame(api, version, body))

    def collect(self, seconds: float) -> None:
        """Take what has come by then."""
        for key, _ in self._selector.select(seconds):
            api, version = self.asked.pop(key.data)
            data = self.lines[key.data].take()
            body = headers.decode_response(by_name(api).key, version, data).body
            self.answers[key.data] = body
            if api == "JoinGroup":
                self._meet(key.data, body["member_id"])
                if not body["error_code"]:
                    self.generation, self.leader = body["generation_id"], body["leader"]

    def plain(self, body: Any) -> Any:
        """Without ids of its own, noise and orders that mean nothing."""
        if isinstance(body, dict):
            return {
                key: self._plain(key, value) for key, value in body.items() if key not in _NOISE
            }
        if isinstance(body, list):
            return sorted((self.plain(each) for each in body), key=repr)
        return body

    def call(self, given: Any, word: str) -> None:
        """An id goes by this word from now on."""
        self._names[given] = word

    def _plain(self, key: str, value: Any) -> Any:
        if key == _PRODUCER:
            if value not in self._producers:
                self._producers.append(value)
            return self._producers.index(value)
        return self.word(value) if key in _IDS else self.plain(value)

    def word(self, given: Any) -> str:
        return self._names.get(given, "somebody" if given else "")

    def _meet(self, slot: int, member_id: str) -> None:
        if member_id and member_id not in self._names:
            known = sum(name.startswith(f"member {slot}.") for name in self._names.values())
            self._names[member_id] = f"member {slot}.{known}"
        if member_id:
            self.ids[slot] = member_id
