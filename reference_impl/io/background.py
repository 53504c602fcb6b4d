"""Slow work beside the loop: making things durable without holding up requests.

Kafka flushes a rolled segment (LOG-11), and checkpoints high watermarks, on its scheduler's
threads; so does this, on one thread of its own. What follows from a finished job is done by whoever
calls `settle`, in that caller's thread, so nothing outside of this file is shared between threads.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable

LOG = logging.getLogger("touchstone.server")
Job = Callable[[], None]


class Background:
    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[tuple[Job, Job] | None] = queue.SimpleQueue()
        self._finished: queue.SimpleQueue[Job] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def submit(self, job: Job, then: Job) -> None:
        """Run `job` soon; `then` belongs to it and runs in `settle`, unless it failed."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="touchstone-flush", daemon=True)
            self._thread.start()
        self._jobs.put((job, then))

    def settle(self) -> None:
        """Do what follows from the jobs that are done."""
        while not self._finished.empty():
            self._finished.get()()

    def stop(self) -> None:
        """Return when all jobs are done."""
        if self._thread is not None:
            self._jobs.put(None)
            self._thread.join()
            self._thread = None
        self.settle()

    def _run(self) -> None:
        while (pair := self._jobs.get()) is not None:
            job, then = pair
            try:
                job()
            except OSError:  # not durable, then; the next flush in the loop meets the same disk
                continue
            self._finished.put(then)


class LoopSide:
    """Work of brokers on a thread of its own; what follows happens in the loop's.

    `call(job)` has `job(now)` happen in the loop's thread.
    """

    def __init__(self, call: Callable[[Callable[[int], None]], object]) -> None:
        self._background, self._call = Background(), call

    def submit(self, job: Job, then: Job) -> None:
        """Run `job`; then, whatever became of it, `then`."""

        def run() -> None:
            try:
                job()
            except Exception:
                LOG.exception("work beside the loop failed")
            self._call(lambda now: then())

        self._background.submit(run, lambda: None)
