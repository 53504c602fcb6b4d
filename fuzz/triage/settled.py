"""From a group of findings to the one that is shown: made small, then replayed five times.

What complains once and never again proves nothing: one "silent" on a busy machine was never seen
again. So a finding is played five more times, each time on a target that was put back in order,
and is called one only when the complaint is made five times; the others are unsteady.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from touchstone.fuzz.campaign import Finding
from touchstone.fuzz.minimise import RUNS, minimised
from touchstone.fuzz.minimise.search import Spent
from touchstone.fuzz.runner import stopwatch
from touchstone.fuzz.script import Script
from touchstone.fuzz.segments import frames_in
from touchstone.fuzz.triage.attempts import Complains
from touchstone.fuzz.triage.causes import Cause, cause_of, grouped
from touchstone.harness.results.fuzz_rows import REPLAYS
from touchstone.reference_impl.wire.headers import decode_request

LONGEST_S = 60.0
"""Seconds that one search for a smaller script may take: a real broker that has to be put in order
for each candidate takes seconds for each."""
BELIEVED = 2
"""Replays that show nothing, before any has shown it; the rest are not played then."""
FIXED = {"as_recorded", "as_expected"}
"""Oracles that know what is right for these very steps only."""


@dataclass(frozen=True)
class Trial:
    """How scripts are tried again: `complains` plays one and `restore` puts the target back in
    order (topics empty again). `hasty` is `complains` with less patience, for mere candidates.
    """

    complains: Complains
    hasty: Complains
    restore: Callable[[], object]


@dataclass(frozen=True)
class Settled:
    """A group of findings: the one that stands for it, how many there were, what it cost."""

    finding: Finding
    members: int
    runs: int  # of the target, to make it small
    repeats: int  # of REPLAYS

    @property
    def cause(self) -> Cause:
        return cause_of(self.finding)

    @property
    def is_steady(self) -> bool:
        return self.repeats == REPLAYS


def settled(
    findings: Iterable[Finding],
    trial: Trial,
    tell: Callable[[str], object] = str,
    has_time: Callable[[], bool] = lambda: True,
) -> Iterator[Settled]:
    """One for each group, as each is done; `tell` hears which one is begun. Where nobody `has_time`
    one is replayed, but not made small. Raises ConnectionError when the target is gone.
    """
    groups = grouped(findings)
    for number, (cause, members) in enumerate(groups.items(), 1):
        tell(f"cause {number} of {len(groups)} is tried again: {cause.oracle} key {cause.key}")
        limit = RUNS if has_time() else 0
        yield settle(members[0], trial, members=len(members), limit=limit)


def settle(finding: Finding, trial: Trial, *, members: int = 1, limit: int = RUNS) -> Settled:
    """The finding made small, if the small one repeats; else as it was."""
    small, runs = small_of(finding, trial, limit=limit)
    count = repeats(small, trial)
    if count < REPLAYS and small.as_script != finding.as_script:
        # What earlier candidates left behind in the target may have been needed: begin anew each
        # time, at the price of putting the target in order as often.
        small, more = small_of(finding, trial, limit=limit - runs, restoring=True)
        runs, count = runs + more, repeats(small, trial)
    if count < REPLAYS and small.as_script != finding.as_script:
        whole = repeats(finding, trial)
        if whole > count:
            small, count = finding, whole
    return Settled(small, members, runs, count)


def small_of(
    finding: Finding, trial: Trial, *, limit: int = RUNS, restoring: bool | None = None
) -> tuple[Finding, int]:
    """(the smallest finding of the same cause, runs of the target), as far as LONGEST_S allow.
    A script of several steps begins on a target in order each time, unless `restoring` says
    otherwise.
    """
    script, elapsed = finding.as_script, stopwatch()
    if finding.oracle in FIXED or limit <= 0:
        return finding, 0
    restores = len(script.steps) > 1 if restoring is None else restoring
    seen: dict[Script, Finding] = {}

    def holds(candidate: Script) -> bool:
        if elapsed() > LONGEST_S:
            raise Spent
        if restores:
            trial.restore()
        found = same_cause(finding, trial.hasty(candidate))
        if found is not None:
            seen[candidate] = found
        return found is not None

    search = minimised(script, holds, limit)
    small = seen.get(search.best, finding)
    told = replace(
        small, campaign=finding.campaign, seed=finding.seed, index=finding.index,
        faults=finding.faults,
    )  # fmt: skip
    return told, search.runs


def repeats(finding: Finding, trial: Trial) -> int:
    """How many of REPLAYS more plays, each on a target in order, are complained about alike."""
    count = 0
    for played in range(REPLAYS):
        if played == BELIEVED and not count:
            break
        trial.restore()
        count += same_cause(finding, trial.complains(finding.as_script)) is not None
    return count


def same_cause(finding: Finding, others: Iterable[Finding]) -> Finding | None:
    """Of these the one that is the same complaint; one about a good request is not the same as one
    about a broken one.
    """
    cause, good = cause_of(finding), is_readable(finding.wire)
    for other in others:
        if cause_of(other) == cause and is_readable(other.wire) == good:
            return other
    return None


def is_readable(wire: bytes) -> bool:
    """Whether this is one request, whole, with nothing behind it."""
    frames, whole = frames_in(wire)
    try:
        return whole and len(frames) == 1 and decode_request(frames[0]).end == len(frames[0])
    except ValueError:
        return False
