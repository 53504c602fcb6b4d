"""Judges cases: one target held against one oracle, for as long as a run lasts.

The judge decides what a claim's cases are (the versions of the oracle's release), brings scenario
and target together (`driver.turns`), asks the oracle, and lets `verdict` judge. Three promises. A
target that cannot be reached, or stops answering, costs a bounded time, then the rest is
INCONCLUSIVE and the report is whole. UNSUPPORTED is proved: what a case is about by its own
request, what its other steps need by a probe, once per API and version. Whatever goes wrong in here
is BROKEN, with the stack.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from touchstone.harness import driver
from touchstone.harness.driver import auto_creation
from touchstone.harness.driver.lanes import Lanes
from touchstone.harness.driver.turns import SHARED_KINDS, ScenarioRun, Turns, Unharmable
from touchstone.harness.judgement import ending, grades
from touchstone.harness.judgement.verdict import (
    DIVERGES,
    OUT_OF_SCOPE,
    UNSUPPORTED,
    Verdict,
    broken,
    inconclusive,
    judge,
    unsupported,
)
from touchstone.harness.model import advertised, between, profiles, rights, served_versions
from touchstone.harness.model.advertised import HeldAgainst, Table
from touchstone.harness.model.case import Judgement
from touchstone.harness.model.claim import BROKER_ROLE, CaseId, Claim
from touchstone.harness.model.expect import Expectation
from touchstone.harness.model.profiles import NO_PROFILES, StatedProfiles
from touchstone.harness.model.provenance import teller
from touchstone.harness.model.recordings import Missing, Store
from touchstone.harness.model.scenario import Ask, Scenario, Send, asked
from touchstone.harness.model.target import OutOfScope, StartFailed, Target, Twinned, Unavailable
from touchstone.harness.run import chosen_release, dry, oracles
from touchstone.harness.run.oracles import Live, Oracle
from touchstone.harness.run.recorder import Recorder
from touchstone.harness.run.sign import Sign, sign
from touchstone.harness.targets import matrix, parse, probe, reach
from touchstone.harness.targets.recorded import RecordedTarget
from touchstone.reference_impl.wire.apis import by_name

ENOUGH = 3  # cases that ended in the same way twice, after which others are not asked again
AGAIN = 1  # tries more of what differs on a target that is busy with many cases, unless one says


class Judge:
    """Judges one target by one oracle."""

    def __init__(
        self,
        target: Target,
        oracle: Oracle,
        release: str,
        *,
        nonce: str,
        seed: int = 0,
        deadline_s: float = driver.DEADLINE_S,
        strict_oracle: bool = False,
        again: int = 0,
        strict: bool = False,
        gentle: bool = False,
        told: StatedProfiles = NO_PROFILES,
        release_reason: str = "",
        prefix: str = "",
        recorder: Recorder | None = None,
    ) -> None:
        self.target, self.oracle, self.release = target, oracle, release
        self.release_reason = release_reason  # why it is held against this one, in words
        self.nonce, self.again = nonce, again
        self.strict_oracle, self.strict, self.gentle = strict_oracle, strict, gentle
        self.table: Table = advertised.table(release)
        self.recorder = recorder
        self.between = Store(release) if advertised.is_between(release) else None
        self.told = told
        turns = partial(
            Turns, nonce=nonce, deadline_s=deadline_s, seed=seed, gentle=gentle, told=told,
            prefix=prefix,
        )  # fmt: skip
        self.turns = turns(target)
        self.lanes: Lanes | None = None
        if isinstance(target, Twinned) and target.has_twins:
            self.lanes = Lanes(lambda: turns(target.twin()))
        self.jobs = self.turns.jobs  # cases at a time
        self.defers_retries = False  # whoever runs it calls `ask_again` when all others are done
        self._probes: dict[tuple[int, int], Verdict | None] = {}
        self._met_again: set[Hashable] = set()  # differences that need not be asked for again
        self._ended_again: Counter[Hashable] = Counter()  # ways to end that were met again
        self._went_away: set[Hashable] = set()  # differences that were not met again
        self._unreadable: set[str | None] = set()  # APIs of which two answers did not decode

    @property
    def name(self) -> str:
        return self.target.name

    def cases(self, claim: Claim) -> list[CaseId]:
        """Return the cases of a claim that this target is asked; of a release between those that
        are recorded of it.
        """
        if claim.role != BROKER_ROLE:
            return []
        if self.recorder is not None:
            return self.recorder.cases(claim, self.table)
        if self.between is not None:
            return between.recorded(claim, self.between, self.table)
        return claim.cases(self.release, self.table)

    def suites(self) -> int | None:
        """How many suites have a case of this release; None if nothing is recorded of it."""
        return len(Store(self.release).suites()) or None

    def where_clients_go(self) -> list[str]:
        return self.turns.where_clients_go()

    def quicken(self, claims: Iterable[Claim]) -> list[str]:
        """Set dynamic settings that only set the pace, for the whole run; lines that tell it."""
        tuned = self.turns.quicken(claims)
        return [*self._unused(), *self._limited(), *self._disputed(), *tuned]

    def _unused(self) -> list[str]:
        """What a target file says about logging in and nobody obeys; of what an option says that
        is told where it is obeyed.
        """
        login = getattr(self.target, "login", None)
        return [] if login in (None, reach.asked()) else login.unused()

    def _limited(self) -> list[str]:
        """What the user of this run may not do."""
        missing = rights.words(self.turns.missing_rights())
        return [f"its user has not the rights {missing}"] if missing else []

    def _disputed(self) -> list[str]:
        """Where the target tells other settings than it is said to have."""
        known = self.told.profiles and self.turns.open() is None
        tells = getattr(self.target, "settings", None)
        return self.told.disputed(tells()) if known and tells is not None else []

    def judgement(self, case: CaseId, scenario: Scenario, expectation: Expectation) -> Judgement:
        """The case's verdict and everything it rests on. Never raises for what a target does."""
        if self.recorder is not None:
            return self.recorder.judgement(self, case, scenario, expectation)
        first = self.tried(case, scenario, expectation, "")
        return first if self.defers_retries else self.ask_again(case, first)

    def has(self, function: dry.Function, case: CaseId) -> bool:
        """Whether a run that records need not ask a case again (see `Recorder.has`)."""
        return self.recorder is not None and self.recorder.has(function, case)

    def ask_again(self, case: CaseId, first: Judgement) -> Judgement:
        """The verdict of a case that differed, asked again, under new names and with nobody else on
        the cluster, as often as the user allows.

        Only a case that then conforms is excused, and what it did first goes with it: chance, not a
        new verdict. One that differs again is told as it differed alone. A case that ended the
        target was asked alone already. Once a difference has been met again, other cases that begin
        with it are not asked again: of a broker that differs everywhere every case would be.
        """
        found, difference = first, sign(first.verdict)
        if self._is_met_before(difference):
            return first
        for number in range(self.again):
            if found.verdict.kind != DIVERGES or ending.is_one(found.verdict):
                break
            assert first.scenario is not None and first.expectation is not None
            suffix = f"/again-{number + 1}"
            last = self.tried(case, first.scenario, first.expectation, suffix, alone=True)
            self._is_met_again(last, difference)
            if last.verdict.conforms:
                return replace(last, at_first=first)
            found = last if last.verdict.kind == DIVERGES else found
        return found

    def differs_again(self, case: CaseId, first: Judgement) -> bool:
        """Whether a case that differed does so in the same way beside others, under new names; also
        where nobody has to ask (see `ask_again`).
        """
        difference = sign(first.verdict)
        if self._is_met_before(difference) or ending.is_one(first.verdict):
            return True
        assert first.scenario is not None and first.expectation is not None
        last = self.tried(case, first.scenario, first.expectation, "/beside")
        return self._is_met_again(last, difference)

    def _is_met_before(self, first: Hashable) -> bool:
        """Whether nobody has to ask for this difference again. Of an API whose answers cannot be
        read no difference is asked for: what its bytes happen to mean is another one each time.
        """
        known = isinstance(first, Sign) and first.api in self._unreadable
        return known or first in self._met_again

    def _is_met_again(self, last: Judgement, first: Hashable) -> bool:
        """Whether this difference is there again; remembered, so that other cases need not be
        asked. How a step ended depends on deadlines, and each case has its own: that is believed
        when ENOUGH cases have met it again, and none has got rid of it.
        """
        now = sign(last.verdict) if last.verdict.kind == DIVERGES else None
        signs = [one for one in (first, now) if isinstance(one, Sign)]
        if len({one.api for one in signs}) < len(signs) and any(one.unreadable for one in signs):
            self._unreadable.add(signs[0].api)
            return True
        met = now == first
        ended = isinstance(first, Sign) and first.kind == grades.CONNECTION
        self._ended_again[first] += met
        if not met:
            self._went_away.add(first)
        elif not ended or self._ended_again[first] >= ENOUGH and first not in self._went_away:
            self._met_again.add(first)
        return met

    def tried(
        self, case: CaseId, scenario: Scenario, expectation: Expectation, suffix: str, *,
        alone: bool = False,
    ) -> Judgement:  # fmt: skip
        nonce = f"{self.nonce}/{case.id}{suffix}"
        try:
            return self._judgement(case, scenario, expectation, nonce, alone)
        except Exception as error:
            return Judgement(broken(error), scenario, expectation)

    def _judgement(
        self, case: CaseId, scenario: Scenario, expectation: Expectation, nonce: str, alone: bool
    ) -> Judgement:
        def without(verdict: Verdict) -> Judgement:
            return Judgement(verdict, scenario, expectation)

        # What somebody says of the target's settings first: a probe of what they switch off would
        # call it unsupported.
        against = self.told.against(scenario.shape, case.claim.subject)
        if against is not None:
            return without(inconclusive(f"{OUT_OF_SCOPE}: {against}"))
        reason = self.turns.open()
        if reason:
            return without(inconclusive(f"not run: {reason}"))
        if (reason := self.turns.not_allowed(scenario)) is not None:
            return without(inconclusive(f"{OUT_OF_SCOPE}: {reason}"))
        try:
            made: frozenset[str] = frozenset()
            versions: dict[str, int] = {}
            found, made, versions = self._lacking(case, scenario, expectation)
            if found is None:
                found = self._unsupported(case, scenario, expectation, made, versions, nonce)
            if found is not None:
                return without(found)
            # First: do not trouble the target when nobody can judge; and its own numbers of groups
            # are sent in the place of Kafka's.
            kafkas = self.oracle.transcript(case, scenario, nonce)
            prepares = grades.prepares(scenario, expectation, case)
            run = served_versions.asking(scenario, versions)
            seen = self._run(case, run, nonce, alone=alone, prepares=prepares, made=made,
                             kafkas=kafkas)  # fmt: skip
        except Unharmable:
            text = f"{self.target.name}: its brokers cannot be harmed from here"
            return without(Verdict(UNSUPPORTED, reason=text))
        except OutOfScope as missing:
            return without(inconclusive(f"{OUT_OF_SCOPE}: {missing.reason}"))
        except Unavailable as missing:
            return without(inconclusive(f"not run: {missing.reason}"))
        except (StartFailed, probe.NotReady) as failed:
            return without(inconclusive(f"not run: it did not start: {failed}"))
        except Missing as missing:
            return without(inconclusive(f"not run: {missing}"))
        verdict = judge(
            expectation, seen.transcript, kafkas, release=case.like or self.release,
            watch_oracle=self.strict_oracle, api=case.claim.api, version=case.version,
            strict=self.strict,
        )  # fmt: skip
        death = None if seen.end is None else seen.end.death
        if death is not None:
            verdict = ending.ended(verdict, seen.transcript, kafkas, death)
        return Judgement(verdict, scenario, expectation, seen.transcript, kafkas, death=death)

    def _run(self, case: CaseId, scenario: Scenario, nonce: str, **how: Any) -> ScenarioRun:
        if isinstance(self.target, RecordedTarget):
            return ScenarioRun(self.target.transcript(case, scenario))
        if self.lanes is None or not scenario.harms:
            return self.turns.run(case, scenario, nonce, **how)
        with self.lanes.one() as turns:
            return turns.run(case, scenario, nonce, **how)

    def serves(self, case: CaseId) -> bool:
        """Whether a target of somebody else's says that it serves the version of the case's API;
        true of all others, and where there is none.
        """
        shared = self.target.kind in SHARED_KINDS
        if not shared or case.claim.api is None or case.version is None:
            return True
        try:
            low, high = self.target.advertised().get(by_name(case.claim.api).key, (0, -1))
        except (probe.NotReady, Unavailable, OSError):
            return True
        return low <= case.version <= high

    def _unsupported(
        self, case: CaseId, scenario: Scenario, expectation: Expectation, made: frozenset[str],
        versions: Mapping[str, int], nonce: str,
    ) -> Verdict | None:  # fmt: skip
        """The verdict on what the case is about, where the target does not offer it, by the case's
        own request with what stands before it; by a bare probe where that cannot be sent. None when
        the case must be run.
        """
        if case.claim.api is None or case.version is None or self.target.kind == "recorded":
            return None
        api, version = case.claim.api, case.version
        if self._offers(by_name(api).key, version):
            return None
        own = served_versions.up_to(scenario, api, version)
        if own is None:
            return self._proved(api, version, scenario)
        run = served_versions.asking(own, versions)
        waits = grades.prepares(scenario, expectation, case) & set(run.labels)
        try:
            seen = self._run(case, run, f"{nonce}/own", prepares=waits, made=made)
        except (Unavailable, Unharmable):  # the cluster of the scenario cannot be had
            return self._proved(api, version, scenario)
        offered = self.target.advertised()
        found = unsupported(by_name(api).key, version, offered, seen.transcript)
        return self._proved(api, version, scenario) if found is None else found

    def _offers(self, key: int, version: int) -> bool:
        """Whether the target advertises the version; whoever does not even answer ApiVersions is
        judged by its cases.
        """
        try:
            low, high = self.target.advertised().get(key, (0, -1))
        except (probe.NotReady, OSError):
            return True
        return low <= version <= high

    def _lacking(
        self, case: CaseId, scenario: Scenario, expectation: Expectation
    ) -> tuple[Verdict | None, frozenset[str], dict[str, int]]:
        """UNSUPPORTED when the target proves to lack what Kafka has and the case's steps need;
        else labels of the steps whose topics Metadata is to make in place of CreateTopics, and the
        version in which to ask by label, where that is another than the scenario's.

        Without this a target that cannot create topics would cost each case a deadline.
        """
        made: set[str] = set()
        versions: dict[str, int] = {}
        if self.target.kind == "recorded":
            return None, frozenset(), versions
        for label, api, version in _needs(scenario):
            low, high = self.table.get(by_name(api).key, (0, -1))
            is_subject = (api, version) == (case.claim.api, case.version)
            if is_subject or not low <= version <= high:
                continue
            other = self._otherwise(case, api, version)
            if other is not None:
                versions[label] = other
                continue
            found = self._proved(api, version, scenario)
            if found is None:
                continue
            why = self._not_made(case, scenario, expectation) if api == auto_creation.API else ""
            if why is not None:
                reason = f"a step needs {api}: {found.reason}; {why}".removesuffix("; ")
                return replace(found, reason=reason), frozenset(), {}
            made.add(label)
        return None, frozenset(made), versions

    def _otherwise(self, case: CaseId, api: str, version: int) -> int | None:
        """The served version in which to ask a step that only prepares or observes, where its own
        is not advertised. Whether that one is refused does not matter: krafka answers it, in the
        bytes of the version that it has.
        """
        if self.strict or (api, version) == (case.claim.api, case.version):
            return None
        try:
            served = self.target.advertised().get(by_name(api).key)
        except (probe.NotReady, OSError):
            return None
        return None if served is None else served_versions.nearest(api, version, served)

    def _not_made(self, case: CaseId, scenario: Scenario, expectation: Expectation) -> str | None:
        """Why Metadata cannot make the topics of a case on a target that refuses CreateTopics in
        every version; None when it can. For a strict judge set-up decides, so nothing replaces it.
        """
        if self.strict or by_name(auto_creation.API).key in self.target.advertised():
            return ""
        if auto_creation.is_subject(case, scenario, expectation):
            return "the claim is about it"
        with self.turns.looking_at(auto_creation.API):
            gives = self.turns.auto_creation(scenario.shape)
        return auto_creation.unfit(scenario, gives)

    def _proved(self, api: str, version: int, scenario: Scenario) -> Verdict | None:
        """Whether the target lacks this version, by a probe on the cluster of the scenario. Who
        wants to know the same waits for it; an answer that never comes holds up nobody else.
        """
        wanted = by_name(api).key, version
        with self.turns.looking_at(wanted):
            if wanted not in self._probes:
                self._probes[wanted] = self._probe(api, *wanted, scenario)
            return self._probes[wanted]

    def _probe(self, api: str, key: int, version: int, where: Scenario) -> Verdict | None:
        if self._offers(key, version):
            return None
        offered = self.target.advertised()
        steps = (Ask(api, version, {}, name="probe"),)
        try:
            seen = self.turns.ask(replace(where, steps=steps), f"{self.nonce}/probe")
        except Unavailable:  # the cluster of the scenario cannot be had
            seen = self.turns.ask(Scenario(steps), f"{self.nonce}/probe")
        # A target that dies of the question has not refused it: its cases are asked.
        return None if seen is None else unsupported(key, version, offered, seen)

    def halt(self) -> None:
        """End what is under way."""
        self.turns.halt.halt()
        if self.lanes is not None:
            self.lanes.halt()

    def close(self, *, interrupted: bool = False) -> list[str]:
        """Leave the target as it was; what is not so, in words."""
        told = [] if self.lanes is None else self.lanes.close(interrupted=interrupted)
        told += self.turns.close(interrupted=interrupted)
        self.oracle.stop()
        return told


def _needs(scenario: Scenario) -> Iterator[tuple[str, str, int]]:
    """The label, API and version of every request of a scenario, in their order."""
    for label, step in zip(scenario.labels, map(asked, scenario.steps), strict=True):
        if isinstance(step, Ask | Send):
            yield label, step.api, step.version


def judge_for(
    target_word: str,
    oracle_word: str | None = None,
    *,
    nonce: str,
    seed: int = 0,
    deadline_s: float = driver.DEADLINE_S,
    record: bool = False,
    again: int | None = None,
    strict: bool = False,
    gentle: bool = False,
    having: Iterable[str] = (),
    release: str | None = None,
    prefix: str = "",
    written_as: str | None = None,
) -> Judge:
    """The judge for the words a user typed. Raises UnknownTarget, ValueError.

    Without an oracle's word it is the recording of the target's release, or of the release whose
    versions are nearest to what a stranger advertises. To record, a target is its own oracle, so
    that an answer which changes from run to run is noticed before it is kept; that is judged
    strictly, as `strict` asks for (see `grades`). `having` are names of profiles that the target
    is said to have, `release` names the one that it wants to be held against;
    all names that cases draw begin with `prefix`. `written_as` is the release as for which cases of
    a release between are written where they are recorded.
    """
    target = parse(target_word)
    if release is not None:
        chosen_release.check(target, release)
    recorder = None
    if again is None:
        again = AGAIN if target.kind in SHARED_KINDS and not record else 0
    if record:
        told = teller(target)
        chosen_release.check_recorded(target)
        if target.release is None:
            raise ValueError(f"{target.name} advertises what no known release does")
        oracle: Oracle = (live := Live(target, target.release, deadline_s, told))
        against = HeldAgainst(target.release)
        version = matrix.release(target.release).version
        recorder = Recorder(live, target.release, version, written_as)
    else:
        oracle, against = oracles.chosen(oracle_word, target, deadline_s, release)
    return Judge(
        target, oracle, against.release, nonce=nonce, seed=seed, deadline_s=deadline_s,
        strict_oracle=record or oracle.kind == "live", again=again, strict=strict or record,
        gentle=gentle, told=_told(target, having, against.release),
        release_reason=against.reason, prefix=prefix, recorder=recorder,
    )  # fmt: skip


def _told(target: Target, names: Iterable[str], release: str) -> StatedProfiles:
    """The profiles that the target is said to have. Raises ValueError."""
    found = profiles.named(names)
    if found and target.kind not in SHARED_KINDS:
        raise ValueError(
            f"{target.name} gets the settings of each claim; a profile is said of a target that "
            "somebody else runs"
        )
    return StatedProfiles(found, release)
