"""A purgatory keeps the requests of one broker that wait: for bytes, for replicas, for time.

Kafka keeps a purgatory per kind of request and per broker; ours is one table per broker, because an
answer says itself to which connection it goes, and because what is due at a broker that is killed
or paused must not happen. A waiting request is watched under keys; `touch(key)`
marks it for another attempt, `settle(now)` attempts what was marked, `expire(now)` gives up on
what is late. Each is answered exactly once (APPEND-24): it leaves the table before its answer is
made. Beside requests, `remind` keeps one alarm per key for those who have something due without
anybody asking (a member's session). Nothing here knows what is waited for.

Whoever would have to watch a thousand keys (a follower's fetch) watches `ANY` instead, and asks
`since` what was touched: the last touches are kept in their order, and to remember how far one has
read is all it takes. There is nothing to sign off from.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from touchstone.reference_impl.broker.effects import NEVER, Connection, Wait, WaitKey

ANY = "any"  # the key under which every touch is a change
_REMEMBERED = 4096  # touches, at least


class Purgatory:
    def __init__(self) -> None:
        self._waiting: dict[int, tuple[Wait, Any]] = {}  # by order; insertion order is age
        self._watched: dict[WaitKey, set[int]] = {}
        self._keys: dict[int, tuple[WaitKey, ...]] = {}
        self._by_connection: dict[Connection, int] = {}
        self._deadlines: list[tuple[int, int]] = []
        self._touched: set[int] = set()
        self._touches: list[WaitKey] = []  # the last ones, oldest first
        self._forgotten = 0  # touches before those
        self._alarms: dict[WaitKey, tuple[int, Callable[[int], None]]] = {}
        self._alarm_order: list[tuple[int, int, WaitKey]] = []
        self._next = 0

    def __len__(self) -> int:
        return len(self._waiting)

    def park(self, wait: Wait, request: Any) -> None:
        """Keep `request` (any value with a `connection`) until `wait` has an answer for it."""
        self._next += 1
        wait.order = order = self._next
        self._waiting[order] = (wait, request)
        if wait.watch:
            self._keys[order] = keys = tuple(wait.watch)
            for key in keys:
                self._watched.setdefault(key, set()).add(order)
        if wait.ticket is not None:
            wait.ticket.watch = partial(self._touched.add, order)
        if request is not None:
            self._by_connection[request.connection] = order
        if wait.deadline >= NEVER:
            return
        heapq.heappush(self._deadlines, (wait.deadline, order))
        if len(self._deadlines) > 2 * len(self._waiting) + 64:
            # Answered requests leave their deadline behind; far ones would stay for ever.
            self._deadlines = [(kept.deadline, at) for at, (kept, _) in self._waiting.items()]
            heapq.heapify(self._deadlines)

    def follow(
        self,
        keys: Iterable[WaitKey],
        attempt: Callable[[int], bool],
        *,
        until: int = NEVER,
        give_up: Callable[[int], bool] | None = None,
    ) -> None:
        """Call `attempt(now)` whenever something under a key changed, until it says that is all.

        For what waits without a request: nobody is answered. `give_up` is called in its place at
        the instant `until`.
        """
        self.park(Wait(until, keys, attempt, give_up or attempt), None)

    def touch(self, key: WaitKey) -> None:
        """Something under `key` changed."""
        self._touches.append(key)
        if len(self._touches) > 2 * _REMEMBERED:
            del self._touches[:_REMEMBERED]
            self._forgotten += _REMEMBERED
        for watching in (self._watched.get(key), self._watched.get(ANY)):
            if watching:
                self._touched |= watching

    @property
    def touches(self) -> int:
        """The number of touches so far: a place for `since`."""
        return self._forgotten + len(self._touches)

    def since(self, place: int) -> Iterable[WaitKey] | None:
        """The keys touched since then, in order; None where that is too long ago to tell."""
        if place < self._forgotten:
            return None
        return dict.fromkeys(self._touches[place - self._forgotten :])

    def remind(self, key: WaitKey, at: int | None, call: Callable[[int], None]) -> None:
        """Call at that instant; a later word about the same key replaces it, None takes it back."""
        standing = self._alarms.get(key)
        if at is None:
            self._alarms.pop(key, None)
        elif standing is None or standing[0] != at:
            self._alarms[key] = (at, call)
            self._next += 1
            heapq.heappush(self._alarm_order, (at, self._next, key))

    def hurry(self, key: WaitKey) -> None:
        """Let the alarm under this key, if there is one, go off at the next tick."""
        standing = self._alarms.get(key)
        if standing is not None:
            self.remind(key, 0, standing[1])

    def forget_alarm(self, key: WaitKey) -> None:
        self._alarms.pop(key, None)

    def _next_alarm(self) -> int | None:
        order = self._alarm_order
        while order:
            at, _, key = order[0]
            standing = self._alarms.get(key)
            if standing is not None and standing[0] == at:
                return at
            heapq.heappop(order)
        return None

    def settle(self, now: int) -> Iterator[tuple[Any, Any]]:
        """(request, answer) of everything that can be answered by now, oldest first."""
        while self._touched:
            orders = sorted(self._touched)
            self._touched.clear()
            for order in orders:
                entry = self._waiting.get(order)
                if entry is None:
                    continue
                answered = self._try(order, entry, entry[0].attempt, now)
                if answered is not None:
                    yield answered

    def expire(self, now: int) -> Iterator[tuple[Any, Any]]:
        """(request, answer) of everything whose time is up; alarms go off on the way."""
        while (at := self._next_alarm()) is not None and at <= now:
            _, _, key = heapq.heappop(self._alarm_order)
            self._alarms.pop(key)[1](now)
        while self._deadlines and self._deadlines[0][0] <= now:
            _, order = heapq.heappop(self._deadlines)
            entry = self._waiting.get(order)
            if entry is not None:
                answered = self._try(order, entry, entry[0].expire, now)
                if answered is not None:
                    yield answered

    def _try(
        self, order: int, entry: tuple[Wait, Any], ask: Callable[[int], Any], now: int
    ) -> tuple[Any, Any] | None:
        try:
            answer = ask(now)
        except Exception as fault:  # the broker turns it into the request's error answer
            answer = fault
        if entry[1] is None:
            if isinstance(answer, Exception):
                self._forget(order)
                raise answer
            if answer:
                self._forget(order)
        elif answer is not None:
            self._forget(order)
            return entry[1], answer
        return None

    def deadline(self) -> int | None:
        """When there is something to do next; at once (0) where a key was touched from outside."""
        if self._touched:
            return 0
        while self._deadlines and self._deadlines[0][1] not in self._waiting:
            heapq.heappop(self._deadlines)
        instants = [self._deadlines[0][0]] if self._deadlines else []
        alarm = self._next_alarm()
        return min(instants if alarm is None else [*instants, alarm], default=None)

    def drop(self, connection: Connection) -> None:
        """The peer is gone; nobody wants the answer (WIRE-17)."""
        order = self._by_connection.get(connection)
        if order is not None:
            self._forget(order)

    def _forget(self, order: int) -> None:
        _, request = self._waiting.pop(order)
        if request is not None:
            self._by_connection.pop(request.connection, None)
        for key in self._keys.pop(order, ()):
            watching = self._watched.get(key)
            if watching is not None:
                watching.discard(order)
                if not watching:
                    del self._watched[key]
