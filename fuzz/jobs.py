"""Shares of a campaign in processes of their own.

Ctrl-C reaches every process of a terminal; each ends its share and hands over what it came to, and
this one waits for them.
"""

from __future__ import annotations

import multiprocessing
import signal
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace

from touchstone.fuzz.campaign import Result
from touchstone.fuzz.share import Played, Share, merged, play


def play_jobs(
    share: Share, jobs: int, tell: Callable[[str], object], result: Result | None = None
) -> Played:
    """The whole share, dealt out to so many processes; one tells how far it is. With one process
    `result` grows meanwhile.
    """
    if jobs == 1:
        return play(share, tell, result)
    cases = share.cases
    parts = [
        replace(
            share, job=job, jobs=jobs,
            cases=None if cases is None else (cases - job + jobs - 1) // jobs,
        )
        for job in range(jobs)
    ]  # fmt: skip
    # Not by fork: a target that runs in this process has threads.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        futures = [pool.submit(_play, part) for part in parts]
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            return merged([future.result() for future in futures])
        finally:
            signal.signal(signal.SIGINT, before)


def _play(share: Share) -> Played:
    def tell(line: str) -> None:
        if not share.job:
            print(f"1 of {share.jobs} processes: {line}", file=sys.stderr, flush=True)

    return play(share, tell)
