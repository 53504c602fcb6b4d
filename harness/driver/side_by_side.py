"""Cases that share a target, judged side by side: most of a case is waiting.

Cases take names that no other case has, so they do not see one another, but for those that change
what is everybody's (harness/dry.py says which); these have the target to themselves. Verdicts are
handed out in the order in which they are asked for, so reports do not depend on who was first.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor


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
            with self._changed:
                self._alone = False
                self._changed.notify_all()


class Pool:
    """Runs what it is given, `jobs` at a time, in the order of `work`."""

    def __init__(self, work: Sequence[tuple[Hashable, Callable[[], None]]], jobs: int) -> None:
        self._threads = ThreadPoolExecutor(jobs, thread_name_prefix="case")
        self._futures: dict[Hashable, Future[None]] = {
            key: self._threads.submit(one) for key, one in work
        }

    def __contains__(self, key: Hashable) -> bool:
        return key in self._futures

    @property
    def done(self) -> int:
        """How many pieces of work are done."""
        return sum(one.done() for one in self._futures.values())

    def __len__(self) -> int:
        return len(self._futures)

    def result(self, key: Hashable) -> None:
        """Waits for one piece of work. Raises what it raised."""
        self._futures[key].result()

    def close(self) -> None:
        """Nothing more is begun; what has begun ends by its own deadlines."""
        self._threads.shutdown(wait=False, cancel_futures=True)
