"""Ctrl-C and SIGTERM end a campaign, and never cut what it came to.

An exception that may come at any instant cannot be caught at each: between an answer and its
judgement, between a judgement and its file. So within `kept` a signal is only noted, and who plays
cases asks `ended` before each. Where there is something to wait for and nothing to lose (a target
that starts, a finding that is tried again) a region is `prompt`, and only there a signal is a
KeyboardInterrupt.

The first Ctrl-C ends the cases, or, if these are over, the trying again of what was found. The
second one, or SIGTERM, whose sender rarely waits, ends both: `hurried`. Whoever asks once more has
a KeyboardInterrupt wherever the program is. Signals are sent to a whole process, so what is noted
of them is kept once for it.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Iterator
from types import FrameType

ENDS = (signal.SIGINT, signal.SIGTERM)
ENDED, HURRIED = 1, 2
SAID = {
    ENDED: b"interrupted: no more cases; what was played is judged and written\n",
    HURRIED: b"interrupted: what was played is written without being tried again\n",
}


class _Noted:
    def __init__(self) -> None:
        self.asked = 0
        self.kept = self.prompt = False
        self.elsewhere: Callable[[], bool] = bool  # what another process has noted


_noted = _Noted()


def ended() -> bool:
    """Whether no more cases are wanted."""
    return _noted.asked >= ENDED or _noted.elsewhere()


def hurried() -> bool:
    """Whether nothing is to be waited for any more."""
    return _noted.asked >= HURRIED


def _come(number: int, frame: FrameType | None) -> None:
    _noted.asked = max(_noted.asked + 1, HURRIED if number == signal.SIGTERM else ENDED)
    if _noted.kept:  # by the number of the stream: sys.stderr may be amid a line
        with contextlib.suppress(OSError):
            os.write(2, SAID.get(_noted.asked, b""))
    if not _noted.kept or _noted.prompt or _noted.asked > HURRIED:
        raise KeyboardInterrupt


@contextlib.contextmanager
def listening() -> Iterator[None]:
    """Note signals from here on; until something is `kept` each is a KeyboardInterrupt. Only the
    main thread can; in another one nothing changes.
    """
    global _noted
    _noted = _Noted()
    before = {}
    with contextlib.suppress(ValueError):  # what Python says to another thread
        before = {number: signal.signal(number, _come) for number in ENDS}
    try:
        yield
    finally:
        _noted = _Noted()
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def kept() -> Iterator[None]:
    """Do all of this, whatever comes: signals are noted."""
    before, _noted.kept = _noted.kept, True
    try:
        yield
    finally:
        _noted.kept = before


@contextlib.contextmanager
def prompt() -> Iterator[None]:
    """Leave this with a KeyboardInterrupt when a signal comes in it, though something is `kept`."""
    before, _noted.prompt = _noted.prompt, True
    try:
        yield
    finally:
        _noted.prompt = before


@contextlib.contextmanager
def deferred() -> Iterator[None]:
    """Processes that are started in this hear of no signal until they have called `of_job`."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def of_job(elsewhere: Callable[[], bool]) -> None:
    """Note signals in a process that plays for another one, which has noted its own `elsewhere`.
    Ctrl-C reaches all processes of a terminal, SIGTERM as a rule one.
    """

    def come(number: int, frame: FrameType | None) -> None:
        _noted.asked = ENDED

    _noted.kept, _noted.elsewhere = True, elsewhere
    for number in ENDS:
        signal.signal(number, come)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDS)
