"""Findings are made small on a target that may die of a candidate, for a user who may not wait.

It is started again, and of the script that killed it nothing is said here: a death is a finding of
the campaign, not of the search for a smaller script. A target that cannot be started again leaves
the rest untried, which is written as unsteady, and so does a Ctrl-C: what a campaign saw is never
lost with its target, nor with its user's patience.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from touchstone.fuzz import interrupts
from touchstone.fuzz.campaign import Finding
from touchstone.fuzz.script import Script
from touchstone.fuzz.triage.attempts import Complains
from touchstone.fuzz.triage.settled import Trial
from touchstone.harness.model.target import Unavailable

MOST = 20
"""Deaths after which the rest stays untried: what is left would be starts."""


class Surviving:
    """`trial`, but for the deaths of its target; `start` starts that anew and puts it in order, and
    is None where others started it. `gone` says how it died for good, or that its user interrupted.
    """

    def __init__(self, trial: Trial, start: Callable[[], object] | None) -> None:
        self.deaths = 0
        self.gone: str | None = None
        self.interrupted = False
        self._inner, self._start = trial, start
        self.trial = Trial(
            partial(self._tried, trial.complains), partial(self._tried, trial.hasty), self._restore
        )

    def _tried(self, complains: Complains, script: Script) -> list[Finding]:
        if self._over():
            return []
        try:
            with interrupts.prompt():
                return complains(script)
        except ConnectionError as death:
            self._died(death)
        except KeyboardInterrupt:
            self._interrupted()
        return []

    def _restore(self) -> None:
        if self._over():
            return
        try:
            with interrupts.prompt():
                self._inner.restore()
        except (ConnectionError, Unavailable) as death:  # or it lives, and no longer does as asked
            self._died(death)
        except KeyboardInterrupt:
            self._interrupted()

    def _died(self, death: Exception) -> None:
        self.deaths += 1
        if self._start is None or self.deaths > MOST:
            self.gone = str(death)
            return
        try:
            with interrupts.prompt():
                self._start()
        except (ConnectionError, Unavailable) as worse:
            self.gone = str(worse)
        except KeyboardInterrupt:
            self._interrupted()

    def _over(self) -> bool:
        if self.gone is None and interrupts.hurried():
            self._interrupted()
        return self.gone is not None

    def _interrupted(self) -> None:
        self.interrupted, self.gone = True, "interrupted"
