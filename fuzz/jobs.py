"""Shares of a campaign in processes of their own.

When the user wants an end, each of them ends its share and hands over what it came to, and this one
waits for them.
"""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor, wait
from dataclasses import replace

from touchstone.fuzz import interrupts
from touchstone.fuzz.share import Played, Share, merged, play
from touchstone.harness.model.target import Address
from touchstone.harness.targets import reach

LOOK_S = 0.1
"""How often the processes are told what this one has noted."""


def play_jobs(
    share: Share, jobs: int, tell: Callable[[str], object], played: Played | None = None
) -> Played:
    """The whole share, dealt out to so many processes; one tells how far it is. Of one process,
    `played` grows meanwhile.
    """
    if jobs == 1:
        return play(share, tell, played)
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
    over = context.Event()
    with ProcessPoolExecutor(
        jobs, mp_context=context, initializer=_of_job, initargs=(over.is_set, reach.logins())
    ) as pool:
        with interrupts.deferred():
            futures = [pool.submit(_play, part) for part in parts]
        while wait(futures, LOOK_S).not_done:
            if interrupts.ended():
                over.set()
    return merged([future.result() for future in futures])


def _of_job(over: Callable[[], bool], logins: Mapping[Address, reach.Login]) -> None:
    """What a process of its own has to know before it plays."""
    interrupts.of_job(over)
    for address, login in logins.items():
        reach.log_in([address], login)


def _play(share: Share) -> Played:
    def tell(line: str) -> None:
        if not share.job:
            print(f"1 of {share.jobs} processes: {line}", file=sys.stderr, flush=True)

    return play(share, tell)
