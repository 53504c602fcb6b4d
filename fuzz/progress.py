"""What a user sees of a campaign that runs: how far, how fast, what is new, how long to go."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from touchstone.fuzz import interrupts

EVERY_S = 2.0


class Counted(Protocol):
    """What a campaign came to so far."""

    campaign: str
    cases: int

    @property
    def kinds(self) -> tuple[int, str]:
        """How many different ones there are, and of what."""

    @property
    def found(self) -> str:
        """What a user wants to know beside."""


class Progress:
    """Tells a line every two seconds. The campaign ends after so many `cases` or `seconds`;
    `elapsed` are the seconds since it began, whenever it is asked.
    """

    def __init__(
        self,
        elapsed: Callable[[], float],
        tell: Callable[[str], object],
        *,
        cases: int | None,
        seconds: float | None,
    ) -> None:
        self._elapsed, self._tell = elapsed, tell
        self._cases, self._seconds = cases, seconds
        self._at, self._done, self._known = 0.0, 0, 0
        self.over_at: float | None = None
        """When the seconds were over. Cases that a peer still holds then take seconds more, in
        which others would have gone on: a rate does not count them."""

    def wanted(self, result: Counted) -> bool:
        """Whether another case is to be drawn: not once its user has asked for an end."""
        now = self._elapsed()
        if now - self._at >= EVERY_S:
            self._tell(self.line(result, now))
            self._at, self._done, self._known = now, result.cases, result.kinds[0]
        if interrupts.ended():
            return False
        if self._seconds is not None and now >= self._seconds:
            self.over_at = self.over_at or now
            return False
        return self._cases is None or result.cases < self._cases

    def line(self, result: Counted, now: float) -> str:
        """Rate and news are those since the last line."""
        rate = (result.cases - self._done) / max(now - self._at, 1e-9)
        known, of = result.kinds
        left = self._left(result, now)
        return (
            f"{result.campaign}: {result.cases} cases, {rate:.0f}/s, {known} {of} "
            f"({known - self._known} new), {result.found}"
            + ("" if left is None else f", {left:.0f} s left")
        )

    def _left(self, result: Counted, now: float) -> float | None:
        left = [] if self._seconds is None else [self._seconds - now]
        if self._cases is not None and result.cases:
            left.append((self._cases - result.cases) * now / result.cases)
        return max(0.0, min(left)) if left else None
