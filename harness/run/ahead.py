"""Cases that are judged before pytest asks for them, many at a time, on a target that allows it.

Pytest asks for one case after the other, in its order, and gets each as soon as it is judged. What
differs is asked again when all others are done, so that chance and a busy machine have no part in
it. The rule, of which `side_by_side.Pool` does the timing and `judge` the judging:

1. Up to FEW cases are asked again alone, and their last answer counts.
2. More of them are first asked again side by side. Who differs in the same way as before differs;
   who does not is asked again alone, as in 1.
3. A difference that was met again is not asked for in other cases. How a step ended depends on
   deadlines: that must have been met again in ENOUGH cases, and never have gone away. So the first
   of each difference is asked for before the second.
4. While enough cases wait for an API of which no answer ever came, cases about others go first.
5. What was not asked again within RUN_S of the run (and AGAIN_S at least) is counted and told.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass

from touchstone.harness.driver.side_by_side import LANES, Piece, Pool, Retry, Turn
from touchstone.harness.judgement.verdict import DIVERGES
from touchstone.harness.model.case import Case, ClaimFunction, Judgement, run_case
from touchstone.harness.run import progress
from touchstone.harness.run.judge import Judge
from touchstone.harness.run.sign import sign


@dataclass(frozen=True, slots=True)
class Work:
    """One case with the claim's function that judges it; `alone`: nobody else may be asked;
    `apart`: it has a cluster of its own, and others go on (`driver.lanes`).
    """

    key: str
    function: ClaimFunction
    case: Case[Judge]
    alone: bool
    apart: bool = False


class Ahead:
    """The cases of one run that are judged ahead of their reports."""

    def __init__(self, work: Iterable[Work], jobs: int) -> None:
        self.jobs, self._work = jobs, tuple(work)
        self._again: set[str] = set()
        self.not_again = 0  # cases that differ, for which no time was left
        for judge in self._judges():
            judge.defers_retries = True
        pieces = {
            apart: [(one.key, self._piece(one)) for one in self._work if one.apart is apart]
            for apart in (False, True)
        }
        of_key = {one.key: one.case for one in self._work}

        def retry_group(key: str) -> tuple[Hashable, Hashable]:
            case = of_key[key]
            judgement, turns = case.judgement, case.judge.turns
            cluster = id(turns), turns.cluster_word(case.claim.shape)
            return cluster, key if judgement is None else sign(judgement.verdict)

        def postponed(key: str) -> bool:
            case = of_key[key]
            return case.judge.turns.doubts(case.claim.api)

        self._pool = Pool(pieces[False], jobs, pieces[True], LANES, retry_group, postponed)

    def __contains__(self, key: str) -> bool:
        return key in self._pool

    def wait(self, key: str, meanwhile: Callable[[], None], every_s: float) -> None:
        """Waits until a case is judged; tells at times that it waits."""
        self._pool.wait(key, meanwhile, every_s)

    def result(self, key: str) -> None:
        """Waits until a case is judged. Raises what its function raised."""
        self._pool.result(key)

    def judged(self) -> Iterator[tuple[str, Case[Judge], Judgement]]:
        """The key and case of all that have a verdict; where they differ, it may be the first."""
        for work in self._work:
            if work.case.judgement is not None:
                yield work.key, work.case, work.case.judgement

    def close(self) -> None:
        """End what is under way, and wait for it: it puts back what it has set."""
        for judge in self._judges():
            judge.halt()
        self._pool.close(max((judge.turns.deadline_s for judge in self._judges()), default=0))

    def line(self) -> str:
        """How far it has come."""
        return progress.line([self._standing(one) for one in self._work], self.jobs)

    def _judges(self) -> list[Judge]:
        return list({id(one.case.judge): one.case.judge for one in self._work}.values())

    def _piece(self, work: Work) -> Piece:
        """Judges a case; returns a retry that asks it again, if it differs."""

        def first() -> Retry | None:
            error: BaseException | None = None
            try:
                run_case(work.function, work.case)
            except Exception as failed:
                error = failed
            judgement = work.case.judgement
            if judgement is None or judgement.verdict.kind != DIVERGES or not work.case.judge.again:
                _raise(error)
                return None
            self._again.add(work.key)
            return lambda turn: self._asked_again(work, error, turn)

        return first

    def _asked_again(self, work: Work, error: BaseException | None, turn: Turn) -> Retry | None:
        """Ask a case again; returns a retry that asks it alone."""
        case, judgement = work.case, work.case.judgement
        assert judgement is not None, "it was judged before"
        if turn.late:
            self.not_again += 1
        elif turn.alone:
            case.judgement = judgement = case.judge.ask_again(case.case, judgement)
        elif not case.judge.differs_again(case.case, judgement):
            return lambda turn: self._asked_again(work, error, turn)
        self._again.discard(work.key)
        if not judgement.verdict.conforms:
            _raise(error)
        return None

    def _standing(self, work: Work) -> progress.Standing:
        judgement = work.case.judgement
        if judgement is None:
            return progress.Standing(work.alone, apart=work.apart)
        events = () if judgement.target is None else judgement.target.events
        seconds = events[-1].at_us / 1e6 if events else 0.0
        differs = judgement.verdict.kind == DIVERGES
        again = work.key in self._again
        return progress.Standing(work.alone, seconds, differs, again, work.apart)


def _raise(error: BaseException | None) -> None:
    if error is not None:
        raise error
