"""What is asked of real Kafka so that its answers can be kept.

Each case is asked twice: an answer that nobody can repeat is no oracle. Of a release between
(harness/model/between.py) a case is written as for a release with a persona, and where its answer
is the recorded one of that release it is asked once: an answer that came three times, on two
releases, is no chance.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Protocol

from touchstone.harness.model import advertised, between
from touchstone.harness.model.advertised import Table
from touchstone.harness.model.case import Judgement
from touchstone.harness.model.claim import CaseId, Claim
from touchstone.harness.model.expect import Expectation
from touchstone.harness.model.recordings import Missing, Store, Written
from touchstone.harness.model.scenario import Scenario
from touchstone.harness.model.transcript import Transcript
from touchstone.harness.run import dry
from touchstone.harness.run.oracles import Live, Oracle, Recorded

STORED = "recorded"  # the kind of a transcript that was not asked for just now


class Asker(Protocol):
    """Who asks a target and holds it against an oracle (harness/run/judge.py)."""

    oracle: Oracle

    def tried(
        self, case: CaseId, scenario: Scenario, expectation: Expectation, suffix: str
    ) -> Judgement: ...


class Recorder:
    """Who asks one release. `written_as` is the release as for which cases of a release between are
    written.
    """

    def __init__(self, live: Live, release: str, version: str, written_as: str | None) -> None:
        if advertised.is_between(release) != (written_as is not None):
            raise ValueError(
                f"--written-as is for releases without a persona, which need it (Kafka {release}):"
                " `touchstone record` gives it"
            )
        self.live, self.release, self.version, self.written_as = live, release, version, written_as
        self.store = Store(release)

    def cases(self, claim: Claim, table: Table) -> list[CaseId]:
        """Return what a claim has to be asked."""
        if self.written_as is None:
            return claim.cases(self.release, table)
        return between.as_for(claim, self.written_as, table)

    def took(self, cases: Iterable[CaseId]) -> str:
        """Return how long Kafka took for these cases when they were recorded last, in words."""
        before = Store(self.written_as or self.release)
        took_s = sum(before.took_s(case.claim.suite, case.id) for case in cases)
        return f"Kafka {before.release} took {took_s / 60:.1f} minutes for these cases"

    def judgement(
        self, judge: Asker, case: CaseId, scenario: Scenario, expectation: Expectation
    ) -> Judgement:
        """Return what the case came to."""
        if case.like not in (None, self.release):
            judge.oracle = Recorded(Store(str(case.like)))
            found = judge.tried(case, scenario, expectation, "")
            if found.verdict.conforms and found.oracle is not None:
                origin = self.live.origin(scenario)
                header = replace(found.oracle.header, origin=origin)
                return replace(found, oracle=replace(found.oracle, header=header))
        judge.oracle = self.live
        return judge.tried(case, scenario, expectation, "")

    def has(self, function: dry.Function, case: CaseId) -> bool:
        """Whether this version's answer is recorded for a case as it stands now; of a release
        between, for the case of its claim.
        """
        kept = [case]
        if case.like is not None:
            kept = between.recorded(case.claim, self.store, advertised.table(self.release))
        return any(self._has(function, one) for one in kept)

    def _has(self, function: dry.Function, case: CaseId) -> bool:
        found = dry.run(function, case, self.release)
        origin = self.store.origin(case.claim.suite, case.id)
        if found is None or origin is None or origin.version != self.version:
            return False
        try:
            self.store.transcript(case.claim.suite, case.id, found.scenario.fingerprint())
        except Missing:
            return False
        return True


def written(case: CaseId, kept: Transcript) -> Written | None:
    """Return for which release a case is written whose answer is kept; None of a release that has
    a persona.
    """
    if case.like is None:
        return None
    if kept.header.kind != STORED:
        return Written(case.like)
    origin = Store(case.like).origin(case.claim.suite, case.id)
    assert origin is not None, "a recorded answer says who gave it"
    return Written(case.like, origin.version, kept.header.fingerprint)
