"""Cases that share a target, judged side by side: most of a case is waiting.

Cases take names that no other case has, so they do not see one another, but for those that change
what is everybody's (harness/dry.py says which); these have the target to themselves. Verdicts are
handed out in the order in which they are asked for, so reports do not depend on who was first.
"""

from __future__ import annotations

import contextlib
import functools
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import Future
from typing import Any

SECOND_S = 120.0  # for second pieces, at least
LOOK_S = 0.2  # so often does who waits look up
Piece = Callable[..., Any]  # of work; what it returns is a second piece, or None


class Sharing:
    """A lock that many may share, or one may have alone; who wants it alone is waited for.

    Those who share it agree on a `key`, the state that they want the target in: when nobody is
    left who wants the last one, `switch(key)` brings the next.
    """

    def __init__(self, switch: Callable[[Hashable], None] = lambda key: None) -> None:
        self._changed = threading.Condition()
        self._sharing, self._waiting, self._alone = 0, 0, False
        self._switch, self._key = switch, None

    @contextlib.contextmanager
    def shared(self, key: Hashable = None) -> Iterator[None]:
        with self._changed:
            self._changed.wait_for(lambda: self._may_share(key))
            self._bring(key)
            self._sharing += 1
        try:
            yield
        finally:
            with self._changed:
                self._sharing -= 1
                self._changed.notify_all()

    def _may_share(self, key: Hashable) -> bool:
        free = not self._alone and not self._waiting
        return free and (key == self._key or not self._sharing)

    def _bring(self, key: Hashable) -> None:
        if key != self._key:
            self._key = key
            self._switch(key)

    @contextlib.contextmanager
    def alone(self, key: Hashable = None) -> Iterator[None]:
        with self._changed:
            self._waiting += 1
            self._changed.wait_for(lambda: not self._alone and not self._sharing)
            self._waiting -= 1
            self._alone = True
            self._bring(key)
        try:
            yield
        finally:
            self._leave()

    @contextlib.contextmanager
    def if_free(self) -> Iterator[bool]:
        """Alone if nobody is here or waits to be alone; else the turn is not taken."""
        with self._changed:
            free = not (self._alone or self._sharing or self._waiting)
            self._alone |= free
        try:
            yield free
        finally:
            if free:
                self._leave()

    def _leave(self) -> None:
        with self._changed:
            self._alone = False
            self._changed.notify_all()


class Pool:
    """Runs what it is given, `jobs` at a time, in the order of `work`.

    What a piece of work returns, if anything, is a second piece: those run at the end, one at a
    time, when all first ones are done, and are told whether it is late: when they take longer than
    the first ones together. Threads end with the program, whatever they wait for.
    """

    def __init__(self, work: Sequence[tuple[Hashable, Piece]], jobs: int) -> None:
        self._work = deque(work)
        self._second: list[tuple[Hashable, Piece]] = []
        self._began = self._told = time.perf_counter()
        self._futures: dict[Hashable, Future[None]] = {key: Future() for key, _ in work}
        self._threads = [
            threading.Thread(target=self._first_pieces, daemon=True, name=f"case-{number}")
            for number in range(min(jobs, len(work)))
        ]
        self._last = threading.Thread(target=self._second_pieces, daemon=True, name="case-again")
        for thread in (*self._threads, self._last):
            thread.start()

    def __contains__(self, key: Hashable) -> bool:
        return key in self._futures

    def wait(self, key: Hashable, meanwhile: Callable[[], None], every_s: float) -> None:
        """Waits for all of one piece of work; tells at times that it waits."""
        future = self._futures[key]
        while not future.done():
            if time.perf_counter() - self._told >= every_s:
                self._told = time.perf_counter()
                meanwhile()
            with contextlib.suppress(TimeoutError):
                future.exception(LOOK_S)

    def result(self, key: Hashable) -> None:
        """Waits for all of one piece of work. Raises what it raised."""
        self._futures[key].result()

    def _first_pieces(self) -> None:
        with contextlib.suppress(IndexError):
            while True:
                key, piece = self._work.popleft()
                second = self._done(key, piece)
                if second is not None:
                    self._second.append((key, second))

    def _second_pieces(self) -> None:
        for thread in self._threads:
            thread.join()
        half = time.perf_counter()
        most = max(half - self._began, SECOND_S)
        while self._second:
            key, piece = self._second.pop(0)
            late = time.perf_counter() - half > most
            self._done(key, functools.partial(piece, late))

    def _done(self, key: Hashable, piece: Piece) -> Piece | None:
        """Runs one piece; its second, if it has one and is not done with that."""
        future = self._futures[key]
        try:
            second = piece()
        except BaseException as error:
            future.set_exception(error)
            return None
        if second is None:
            future.set_result(None)
        return second

    def close(self, seconds: float) -> None:
        """Nothing more is begun; what has begun is waited for so long."""
        self._work.clear()
        self._second.clear()
        deadline = time.perf_counter() + seconds
        for thread in (*self._threads, self._last):
            thread.join(max(0.0, deadline - time.perf_counter()))
