"""Cases that share a target, judged side by side: most of a case is waiting.

Cases take names that no other case has, so they do not see one another, but for those that change
what is everybody's (harness/run/dry.py); these have the target to themselves. Verdicts are
handed out in the order in which they are asked for, so reports do not depend on who was first.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Generic, TypeVar

RUN_S = 600.0  # what a run may take, with all that is asked again
AGAIN_S = 120.0  # for what is asked again, at least, and half of what all had before
FEW = 16  # so many are asked again one at a time, more of them side by side first
LANES = 3  # clusters of up to three brokers apart: more would starve one another of two cores
LOOK_S = 0.2  # so often does who waits look up
# A piece of work; what it returns is done again later, None is the end.
Piece = Callable[[], "Later | None"]
Later = Callable[["Again"], "Later | None"]


@dataclass(frozen=True, slots=True)
class Again:
    """How a piece of work is done again: with nobody beside it, or too `late` to be done at all."""

    alone: bool
    late: bool


K = TypeVar("K", bound=Hashable)


class Sharing(Generic[K]):
    """A lock that many may share, or one may have alone; who wants it alone is waited for.

    Those who share it agree on a `key`, the state that they want the target in: when nobody is
    left who wants the last one, `switch(key)` brings the next. Where there is `room` for several,
    so many are wanted at a time, and who is alone is alone with one key: nobody waits for the
    slowest of those who want another.
    """

    def __init__(
        self, switch: Callable[[K | None], None] = lambda key: None, room: int = 1
    ) -> None:
        self._changed = threading.Condition()
        self._sharing: Counter[K | None] = Counter()
        self._waiting: Counter[K | None] = Counter()  # what those wait for who want to be alone
        self._alone: dict[K | None, K | None] = {}  # what somebody has alone, and the key
        self._key: K | None = None
        self._switch, self._room = switch, room

    @contextlib.contextmanager
    def shared(self, key: K | None = None) -> Iterator[None]:
        with self._changed:
            self._changed.wait_for(lambda: self._may_share(key))
            self._bring(key)
            self._sharing[key] += 1
        try:
            yield
        finally:
            with self._changed:
                self._sharing[key] -= 1
                self._sharing = +self._sharing
                self._changed.notify_all()

    @property
    def keys(self) -> list[K | None]:
        """What those who are here want."""
        with self._changed:
            return list(self._here())

    def _here(self) -> set[K | None]:
        return {*self._sharing, *self._alone.values()}

    def _part(self, key: K | None) -> K | None:
        """What one who is alone has: everything, or what this key stands for."""
        return key if self._room > 1 else None

    def _has_room(self, key: K | None) -> bool:
        here = self._here()
        return key in here or len(here) < self._room

    def _may_share(self, key: K | None) -> bool:
        part = self._part(key)
        return part not in self._alone and not self._waiting[part] and self._has_room(key)

    def _may_be_alone(self, key: K | None) -> bool:
        part = self._part(key)
        others = self._sharing[key] if self._room > 1 else self._sharing.total()
        return part not in self._alone and not others and self._has_room(key)

    def _bring(self, key: K | None) -> None:
        if key != self._key:
            self._key = key
            self._switch(key)

    @contextlib.contextmanager
    def alone(self, key: K | None = None) -> Iterator[None]:
        part = self._part(key)
        with self._changed:
            self._waiting[part] += 1
            self._changed.wait_for(lambda: self._may_be_alone(key))
            self._waiting[part] -= 1
            self._alone[part] = key
            self._bring(key)
        try:
            yield
        finally:
            self._leave(part)

    @contextlib.contextmanager
    def if_free(self) -> Iterator[bool]:
        """Alone if nobody is here or waits to be alone; else the turn is not taken."""
        with self._changed:
            free = not (self._alone or self._sharing or self._waiting.total())
            if free:
                self._alone[None] = None
        try:
            yield free
        finally:
            if free:
                self._leave(None)

    def _leave(self, part: K | None) -> None:
        with self._changed:
            del self._alone[part]
            self._changed.notify_all()


class Pool(Generic[K]):
    """Runs what it is given, `jobs` at a time, in the order of `work`; and beside it `apart`, some
    `lanes` at a time.

    What a piece of work returns, if anything, is done again when all others are done: side by side
    like those, unless they are FEW, and what is returned then one at a time. Such a piece is told
    so (`Again`), and whether it is late: when the run would take longer than RUN_S, or what is done
    again longer than AGAIN_S. Threads end with the program, whatever they wait for.

    `place` says where a piece is done again, and what kind it is of: what is done at one place is
    done together, and there the first of each kind comes before the second, for it may leave
    nothing to do for the others. `later` says which pieces are rather not begun now.
    """

    def __init__(
        self, work: Sequence[tuple[K, Piece]], jobs: int,
        apart: Sequence[tuple[K, Piece]] = (), lanes: int = 0,
        place: Callable[[K], tuple[Hashable, Hashable]] = lambda key: (None, key),
        later: Callable[[K], bool] = lambda key: False,
    ) -> None:  # fmt: skip
        self._place, self._later = place, later
        self._taking = threading.Lock()
        self._work, self._apart = deque(work), deque(apart)
        self._again: list[tuple[K, Later]] = []
        self._began = self._told = time.perf_counter()
        self._closed = False
        self._futures: dict[K, Future[None]] = {key: Future() for key, _ in (*work, *apart)}
        self._jobs, self._lanes = min(jobs, len(work)), min(lanes, len(apart))
        self._threads = self._started()
        self._last = threading.Thread(target=self._rest, daemon=True, name="case-again")
        self._last.start()

    def __contains__(self, key: K) -> bool:
        return key in self._futures

    def wait(self, key: K, meanwhile: Callable[[], None], every_s: float) -> None:
        """Waits for all of one piece of work; tells at times that it waits."""
        future = self._futures[key]
        while not future.done():
            if time.perf_counter() - self._told >= every_s:
                self._told = time.perf_counter()
                meanwhile()
            with contextlib.suppress(TimeoutError):
                future.exception(LOOK_S)

    def result(self, key: K) -> None:
        """Waits for all of one piece of work. Raises what it raised."""
        self._futures[key].result()

    def _started(self) -> list[threading.Thread]:
        """Threads that take what is to be done, until nothing is left."""
        takers = [self._work] * self._jobs + [self._apart] * self._lanes
        threads = [
            threading.Thread(target=self._pieces, args=(queue,), daemon=True, name=f"case-{number}")
            for number, queue in enumerate(takers)
        ]
        for thread in threads:
            thread.start()
        return threads

    def _pieces(self, queue: deque[tuple[K, Piece]]) -> None:
        with contextlib.suppress(IndexError):
            while True:
                key, piece = self._taken(queue)
                again = self._done(key, piece)
                if again is not None:
                    self._again.append((key, again))

    def _taken(self, queue: deque[tuple[K, Piece]]) -> tuple[K, Piece]:
        """The first that may begin now, or the first of all. Raises IndexError."""
        with self._taking:
            at = next((at for at, (key, _) in enumerate(queue) if not self._later(key)), 0)
            taken = queue[at]
            del queue[at]
            return taken

    def _rest(self) -> None:
        """What is done again: side by side if there is much of it, then one at a time."""
        for thread in self._threads:
            thread.join()
        now = time.perf_counter()
        until = max(self._began + RUN_S, now + max(AGAIN_S, (now - self._began) / 2))
        if len(self._again) > FEW and self._take_again(until, alone=False):
            self._threads = self._started()
            for thread in self._threads:
                thread.join()
        if self._take_again(until, alone=True):
            self._pieces(self._work)

    def _take_again(self, until: float, *, alone: bool) -> bool:
        """Make what is to be done again the work; False when the pool is closed."""
        work, self._again = _one_of_each(self._again, self._place), []
        told = [(key, _told(piece, until, alone=alone)) for key, piece in work]
        self._work.extend([] if self._closed else told)
        return not self._closed

    def _done(self, key: K, piece: Piece) -> Later | None:
        """Runs one piece; what it returns to be done again, None when that is all."""
        future = self._futures[key]
        try:
            again = piece()
        except BaseException as error:
            future.set_exception(error)
            return None
        if again is None:
            future.set_result(None)
        return again

    def close(self, seconds: float) -> None:
        """Nothing more is begun; what has begun is waited for so long."""
        self._closed = True
        with self._taking:
            self._work.clear()
            self._apart.clear()
        deadline = time.perf_counter() + seconds
        for thread in (*self._threads, self._last):
            thread.join(max(0.0, deadline - time.perf_counter()))


def _one_of_each(
    work: Sequence[tuple[K, Later]], place: Callable[[K], tuple[Hashable, Hashable]]
) -> list[tuple[K, Later]]:
    """The pieces of one place after those of another; at each the first of each kind, then the
    second of each, and so on; else in their order.
    """
    places: dict[Hashable, int] = {}
    counted: Counter[Hashable] = Counter()
    ranks = []
    for key, _ in work:
        where, kind = place(key)
        counted[kind] += 1
        ranks.append((places.setdefault(where, len(places)), counted[kind]))
    return [work[at] for at in sorted(range(len(work)), key=ranks.__getitem__)]


def _told(piece: Later, until: float, *, alone: bool) -> Piece:
    """The piece, told how it is done again when its turn comes."""
    return lambda: piece(Again(alone=alone, late=time.perf_counter() > until))
