"""Tells whoever waits that something is still waited for."""

from __future__ import annotations

import contextlib
import itertools
import threading
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def tells_progress(
    name: str, most: str, tell: Callable[[str], None], every_s: float
) -> Iterator[None]:
    """Tell every so many seconds how long was waited for `name`, for as long as this lasts."""
    done = threading.Event()

    def run() -> None:
        for turn in itertools.count(1):
            if done.wait(every_s):
                return
            tell(f"{name}: waiting, {turn * every_s:g} s {most}")

    teller = threading.Thread(target=run, daemon=True)
    teller.start()
    try:
        yield
    finally:
        done.set()
        teller.join()
