"""Two runs of one target: what is new, what is fixed, what is no longer judged. Pure.

Cases are compared, and causes only name them: a cause that one more case rests on is the same
cause. What is not in both runs is counted apart, for nobody knows what it would have come to.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from touchstone.harness.judgement import wording
from touchstone.harness.judgement.verdict import BROKEN, CONFORMS, DIVERGES, INCONCLUSIVE
from touchstone.harness.model.case_row import CaseRow
from touchstone.harness.results.summary import Report

JUDGED = (CONFORMS, DIVERGES)
UNDECIDED = (INCONCLUSIVE, BROKEN)
NEW, OTHERWISE, FIXED, UNJUDGED = "new", "differs otherwise", "fixed", "no longer judged"
AGAIN, CHANGED, LEFT, MORE = "judged again", "changed", "not in the later", "not in the earlier"
KINDS: dict[str, str] = {
    NEW: "conformed, and diverges",
    OTHERWISE: "diverges in another way than it did",
    FIXED: "diverged, and conforms",
    UNJUDGED: "was judged, and nobody could",
    AGAIN: "nobody could judge it, and it is judged",
    CHANGED: "any other change of the verdict",
    LEFT: "the earlier run has it only",
    MORE: "the later run has it only",
}


@dataclass(frozen=True)
class Since:
    """What a later run of a target brought: the cases of each kind that has some, by name."""

    earlier: Report
    later: Report
    cases: Mapping[str, Sequence[str]]

    def causes(self, kind: str) -> dict[str, list[str]]:
        """The cases of a kind by the cause that they rest on, in the run in which they diverge."""
        report = self.earlier if kind == FIXED else self.later
        wanted = set(self.cases.get(kind, ()))
        found = {
            f"{wording.title(cause)}: {wording.sentence(cause)}": mine
            for cause in report.causes.causes
            if (mine := [case for case in cause.cases if case in wanted])
        }
        others = wanted - {case for cases in found.values() for case in cases}
        return found | ({"": sorted(others)} if others else {})


def between(earlier: Report, later: Report) -> Since:
    """Compare two runs of one target, case by case."""
    found: dict[str, list[str]] = {}
    before, now = earlier.by_case, later.by_case
    for case in sorted({*before, *now}):
        if kind := kind_of(before.get(case), now.get(case)):
            found.setdefault(kind, []).append(case)
    return Since(earlier, later, {kind: found[kind] for kind in KINDS if kind in found})


def kind_of(before: CaseRow | None, now: CaseRow | None) -> str | None:
    """What became of one case; None where it came out as it did."""
    if before is None or now is None:
        return MORE if before is None else LEFT
    verdicts = before["verdict"], now["verdict"]
    if verdicts == (DIVERGES, DIVERGES):
        return OTHERWISE if before["signature"] != now["signature"] else None
    if verdicts[0] == verdicts[1]:
        return None
    if verdicts in ((CONFORMS, DIVERGES), (DIVERGES, CONFORMS)):
        return NEW if verdicts[0] == CONFORMS else FIXED
    if verdicts[1] in UNDECIDED:
        return UNJUDGED if verdicts[0] in JUDGED else CHANGED
    return AGAIN if verdicts[0] in UNDECIDED and verdicts[1] in JUDGED else CHANGED


def pairs(reports: Iterable[Report]) -> list[Since]:
    """Each later run of a target against the one before it, where there are several."""
    of_target: dict[str, list[Report]] = {}
    for report in sorted(reports, key=lambda one: str(one.header["started"])):
        of_target.setdefault(report.target, []).append(report)
    return [
        between(earlier, later)
        for runs in of_target.values()
        for earlier, later in zip(runs, runs[1:], strict=False)
    ]
