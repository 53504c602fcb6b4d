"""Cases that are judged before pytest asks for them, many at a time, on a target that allows it.

Pytest asks for one case after the other, in its order, and gets each as soon as it is judged. What
differs is asked again when all others are done, so that a busy machine has no part in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from harness import progress
from harness.case import Case
from harness.driver.side_by_side import Piece, Pool
from harness.verdict import DIVERGES


@dataclass(frozen=True, slots=True)
class Work:
    """One case with the claim's function that judges it; `alone`: nobody else may be asked."""

    key: str
    function: Callable[[Case], None]
    case: Case
    alone: bool


class Ahead:
    """The cases of one run that are judged ahead of their reports."""

    def __init__(self, work: Iterable[Work], jobs: int) -> None:
        self.jobs, self._work = jobs, tuple(work)
        self._again: set[str] = set()
        self.not_again = 0  # cases that differ, for which no time was left
        for court in self._courts():
            court.later = True
        self._pool = Pool([(one.key, self._piece(one)) for one in self._work], jobs)

    def __contains__(self, key: str) -> bool:
        return key in self._pool

    def wait(self, key: str, meanwhile: Callable[[], None], every_s: float) -> None:
        """Waits until a case is judged; tells at times that it waits."""
        self._pool.wait(key, meanwhile, every_s)

    def result(self, key: str) -> None:
        """Waits until a case is judged. Raises what its function raised."""
        self._pool.result(key)

    def close(self) -> None:
        """End what is under way, and wait for it: it puts back what it has set."""
        for court in self._courts():
            court.turns.halt.halt()
        self._pool.close(max((court.turns.deadline_s for court in self._courts()), default=0))

    def line(self) -> str:
        """How far it has come."""
        return progress.line([self._standing(one) for one in self._work], self.jobs)

    def _courts(self) -> list[Any]:
        return list({id(one.case.court): one.case.court for one in self._work}.values())

    def _piece(self, work: Work) -> Piece:
        """Judges a case; what it returns asks it again, if it differs."""

        def first() -> Piece | None:
            error: BaseException | None = None
            try:
                work.function(work.case)
            except Exception as failed:
                error = failed
            judgement = work.case.judgement
            if judgement is None or judgement.verdict.kind != DIVERGES or not work.case.court.again:
                return _raised(error)
            self._again.add(work.key)
            return lambda late: self._asked_again(work, error, late)

        return first

    def _asked_again(self, work: Work, error: BaseException | None, late: bool) -> None:
        case = work.case
        if late:
            self.not_again += 1
        else:
            case.judgement = case.court.ask_again(case.case, case.judgement)
        self._again.discard(work.key)
        if not case.judgement.verdict.conforms:
            _raised(error)

    def _standing(self, work: Work) -> progress.Standing:
        judgement = work.case.judgement
        if judgement is None:
            return progress.Standing(work.alone)
        events = () if judgement.target is None else judgement.target.events
        seconds = events[-1].at_us / 1e6 if events else 0.0
        differs = judgement.verdict.kind == DIVERGES
        return progress.Standing(work.alone, seconds, differs, work.key in self._again)


def _raised(error: BaseException | None) -> None:
    if error is not None:
        raise error
