"""The watches of a campaign at work, in a thread beside the cases.

    with Watching(["canary_records"], watched, played) as watching:
        ...the campaign...
    watching.complaints

A thread of its own, for a campaign that waits for a silent target must not keep a canary waiting.
"""

from __future__ import annotations

import threading
import traceback
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from touchstone.fuzz import interrupts
from touchstone.fuzz.runner import is_alive, stopwatch
from touchstone.fuzz.watches import WATCHES
from touchstone.fuzz.watches.watch import NotWatched, Played, Watch, Watched, Wrong
from touchstone.reference_impl.client.flow import ClientError

TURN_S = 0.02
EXIT_S = 0.2
"""Seconds within which a process that ends one of its connections has closed its listener too."""


@dataclass(frozen=True)
class Complaint:
    """What a watch saw, how many seconds after the campaign began, and whether the target was dead
    then: it refused connections or answered nobody. `cases` were drawn at the last good look, and
    at this one.
    """

    watch: str
    sentence: str
    seconds: float
    dead: bool = False
    cases: tuple[int, int] = (0, 0)


class Watching:
    """`not_watched` says why a watch did not look, `figures` what each of the others measured."""

    def __init__(self, names: Iterable[str], target: Watched, played: Callable[[], Played]) -> None:
        self.target, self.played = target, played
        self.watches: dict[str, Watch] = {name: WATCHES[name]() for name in names}
        self.complaints: list[Complaint] = []
        self.not_watched: dict[str, str] = {}
        self.figures: dict[str, str] = {}
        self.looked: Counter[str] = Counter()  # how often each watch has checked
        self._drawn: dict[str, int] = {}  # cases at the begin of each watch's last good look
        self._elapsed = stopwatch()
        self._over = threading.Event()
        self.last_look = True  # set to False, nobody looks once more after the campaign
        self._due = dict.fromkeys(self.watches, 0.0)
        self._thread = threading.Thread(target=self._run, name="watches", daemon=True)
        self._broken: BaseException | None = None

    def __enter__(self) -> Watching:
        for name, watch in list(self.watches.items()):
            try:
                if interrupts.ended():  # nothing will be played
                    raise NotWatched("interrupted")
                self._look(name, partial(_before, watch, self.target))
            except NotWatched as reason:
                self.not_watched[name] = str(reason)
            if name in self.not_watched or name in self._complained:
                self.watches.pop(name).close()
        self._thread.start()
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self._over.set()
        self._thread.join()
        try:
            if kind is None and self.last_look:
                self._after()
        finally:
            for watch in self.watches.values():
                watch.close()
        if self._broken is not None:  # a mistake of ours is no complaint about a target
            raise self._broken

    def _after(self) -> None:
        """The last look of who has not complained yet; one at a time, so that none disturbs."""
        for name, watch in self.watches.items():
            late = interrupts.hurried() or (interrupts.ended() and not self.played().cases)
            if name not in self._complained and not late:
                self._look(name, partial(watch.after, self._elapsed(), self.played()))
            self.figures[name] = watch.figures()

    @property
    def saw_it_dead(self) -> bool:
        """Whether a watch complained about a target that was dead."""
        return any(one.dead for one in self.complaints)

    def forget_death(self) -> None:
        """Drop what was complained about a target that was dead: its death is told by itself."""
        self.complaints = [one for one in self.complaints if not one.dead]

    @property
    def _complained(self) -> set[str]:
        return {complaint.watch for complaint in self.complaints}

    def _look(self, name: str, look: Callable[[], str | None]) -> None:
        drawn = self.played().cases
        try:
            sentence = look()
        except Wrong as wrong:
            sentence = str(wrong)
        except (OSError, ClientError) as problem:
            sentence = f"{type(problem).__name__}: {problem}"
        except LookupError as missing:  # an answer to something else, say
            line = traceback.extract_tb(missing.__traceback__)[-1].line
            sentence = f"an answer lacks what was asked for: {line}"
        if sentence:
            seconds = self._elapsed()
            dead = not is_alive(self.target.address, EXIT_S)
            cases = self._drawn.get(name, 0), self.played().cases
            self.complaints.append(Complaint(name, sentence, seconds, dead, cases))
        else:
            self._drawn[name] = drawn

    def _run(self) -> None:
        try:
            while not self._over.wait(TURN_S):
                for name, watch in self.watches.items():
                    if self._over.is_set():  # at a target that hangs each look would wait in turn
                        return
                    now = self._elapsed()
                    if now >= self._due[name] and name not in self._complained:
                        self._due[name] = now + watch.every_s
                        self._look(name, partial(watch.check, now))
                        self.looked[name] += 1
        except BaseException as broken:
            self._broken = broken


def _before(watch: Watch, target: Watched) -> None:
    watch.before(target)
