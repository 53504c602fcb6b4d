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
# A piece of work. It returns what has to be done again when all others are done, or None.
Piece = Callable[[], "Retry | None"]
Retry = Callable[["Turn"], "Retry | None"]


@dataclass(frozen=True, slots=True)
class Turn:
    """How a retry is run: with nobody beside it, or `late`: no time is left, so not at all."""

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
    """Runs the pieces of `work` in their order, `jobs` at a time, and beside them those of `apart`,
    `lanes` at a time.

    A piece may return a retry. Retries run when all pieces are done: side by side where they are
    more than FEW, and what these return one at a time. A retry gets its Turn, which is late when
    the run would take longer than RUN_S, or all retries longer than AGAIN_S. Threads end with the
    program, whatever they wait for.

    `retry_group` gives a key's (cluster, difference). Retries of one cluster run one after the
    other, the first of each difference before the second of any: it may excuse the others.
    `postponed` says of a key whether pieces that wait should go first.
    """

    def __init__(
        self, work: Sequence[tuple[K, Piece]], jobs: int,
        apart: Sequence[tuple[K, Piece]] = (), lanes: int = 0,
        retry_group: Callable[[K], tuple[Hashable, Hashable]] = lambda key: (None, key),
        postponed: Callable[[K], bool] = lambda key: False,
    ) -> None:  # fmt: skip
        self._retry_group, self._postponed = retry_group, postponed
        self._taking = threading.Lock()
        self._work, self._apart = deque(work), deque(apart)
        self._retries: list[tuple[K, Retry]] = []
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
                retry = self._done(key, piece)
                if retry is not None:
                    self._retries.append((key, retry))

    def _taken(self, queue: deque[tuple[K, Piece]]) -> tuple[K, Piece]:
        """The first that may begin now, or the first of all. Raises IndexError."""
        with self._taking:
            at = next((at for at, (key, _) in enumerate(queue) if not self._postponed(key)), 0)
            taken = queue[at]
            del queue[at]
            return taken

    def _rest(self) -> None:
        """Retries: side by side if there are many, then one at a time."""
        for thread in self._threads:
            thread.join()
        now = time.perf_counter()
        until = max(self._began + RUN_S, now + max(AGAIN_S, (now - self._began) / 2))
        if len(self._retries) > FEW and self._take_retries(until, alone=False):
            self._threads = self._started()
            for thread in self._threads:
                thread.join()
        if self._take_retries(until, alone=True):
            self._pieces(self._work)

    def _take_retries(self, until: float, *, alone: bool) -> bool:
        """Make the retries the work; False when the pool is closed."""
        retries, self._retries = _one_of_each(self._retries, self._retry_group), []
        pieces = [(key, _with_turn(retry, until, alone=alone)) for key, retry in retries]
        self._work.extend([] if self._closed else pieces)
        return not self._closed

    def _done(self, key: K, piece: Piece) -> Retry | None:
        """Runs one piece; returns its retry, or None when that is all."""
        future = self._futures[key]
        try:
            retry = piece()
        except BaseException as error:
            future.set_exception(error)
            return None
        if retry is None:
            future.set_result(None)
        return retry

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
    retries: Sequence[tuple[K, Retry]], group_of: Callable[[K], tuple[Hashable, Hashable]]
) -> list[tuple[K, Retry]]:
    """Cluster by cluster; on each the first of every difference, then the second of every one, and
    so on; else in their order.
    """
    clusters: dict[Hashable, int] = {}
    counted: Counter[Hashable] = Counter()
    ranks = []
    for key, _ in retries:
        cluster, difference = group_of(key)
        counted[difference] += 1
        ranks.append((clusters.setdefault(cluster, len(clusters)), counted[difference]))
    return [retries[at] for at in sorted(range(len(retries)), key=ranks.__getitem__)]


def _with_turn(retry: Retry, until: float, *, alone: bool) -> Piece:
    """The retry as a piece, which looks at the clock when its turn comes."""
    return lambda: retry(Turn(alone=alone, late=time.perf_counter() > until))
