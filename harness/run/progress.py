"""How far a long run has come, in one line. Pure.

A target that somebody else runs is judged many cases at a time, and reports come in their order:
without this line nobody knows whether anything happens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from touchstone.harness.driver.side_by_side import FEW, LANES


@dataclass(frozen=True, slots=True)
class Standing:
    """One case of a run: whether it must be alone, how long it took (None: it is not judged yet),
    and whether it differs; `again`: it is still to be asked again; `apart`: it has a cluster of its
    own.
    """

    alone: bool
    seconds: float | None = None
    differs: bool = False
    again: bool = False
    apart: bool = False


def line(cases: Sequence[Standing], jobs: int) -> str:
    """The line that a reader sees."""
    judged = sum(one.seconds is not None for one in cases)
    differ = sum(one.differs for one in cases)
    words = [f"{judged} of {len(cases)} cases judged", f"{differ} differ"]
    again = sum(one.again for one in cases)
    if judged == len(cases) and again:
        words.append(f"{again} of them to be asked again")
    left = seconds_left(cases, jobs)
    if left is not None:
        words.append(f"about {duration(left)} left")
    return ", ".join(words)


def seconds_left(cases: Sequence[Standing], jobs: int) -> float | None:
    """How much longer it probably takes; None as long as nobody can say.

    Cases take as long as those before them did; those that must be alone go one by one, and so does
    what is asked again, if it is little. Cases with clusters of their own go on beside all others.
    """
    known = [one.seconds for one in cases if one.seconds is not None]
    if not known:
        return None

    def left(alone: bool, apart: bool) -> float:
        kind = [one for one in cases if (one.alone and not one.apart, one.apart) == (alone, apart)]
        mean = fmean([one.seconds for one in kind if one.seconds is not None] or known)
        return mean * sum(one.seconds is None for one in kind)

    repeated = [one.seconds or 0 for one in cases if one.again]
    again = sum(repeated) / (jobs if len(repeated) > FEW else 1)
    shared = left(False, False) / jobs + left(True, False)
    return max(shared, left(False, True) / LANES) + again


def duration(seconds: float) -> str:
    """5 s, 2 min 10 s, 1 h 5 min: as exact as an estimate may be."""
    whole = max(1, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        minutes, rest = divmod(whole, 60)
        return f"{minutes} min {rest // 10 * 10} s" if rest >= 10 else f"{minutes} min"
    hours, rest = divmod(whole, 3600)
    return f"{hours} h {rest // 60} min" if rest >= 60 else f"{hours} h"
