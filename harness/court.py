"""Where cases are judged: one target held against one oracle, for as long as a run lasts.

The court decides what a claim's cases are (the versions of the oracle's release), brings scenario
and target together, asks the oracle, and lets `verdict` judge. Three promises. A target that cannot
be reached, or stops answering, costs one deadline and one restart, then the rest is INCONCLUSIVE
and the report is whole. UNSUPPORTED is proved by a probe, once per API and version. Whatever goes
wrong in here is BROKEN, with the stack.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from harness import advertised, driver, dry, pace
from harness.advertised import Table
from harness.case import Judgement
from harness.claim import CaseId, Claim
from harness.expect import Expectation
from harness.oracles import Live, Nobody, Oracle, Recorded
from harness.provenance import teller
from harness.recordings import Missing, Store
from harness.scenario import Ask, Scenario, Send, Until
from harness.target import Endpoint, StartFailed, Target, Unavailable
from harness.targets import parse, probe
from harness.targets.external import ExternalTarget
from harness.targets.recorded import RecordedTarget
from harness.transcript import Transcript
from harness.tuning import Tuning
from harness.verdict import (
    DIVERGES,
    UNSUPPORTED,
    Verdict,
    broken,
    inconclusive,
    judge,
    reached,
    unsupported,
)
from reference_impl.wire.apis import by_name

SANE_S = 5.0  # how long a sane broker may take to answer ApiVersions
RESTARTS = 2  # of a target of ours that stopped answering; then the rest is not run
OWNED = ("reference", "process", "container")
SHARED_KINDS = ("external", "file")  # somebody else's: all cases of one shape share one cluster
SIDE_BY_SIDE = 16  # cases at a time on such a cluster; most of a case is waiting


@dataclass
class StandingTarget:
    """A target as a run sees it: alive, or given up with a reason."""

    target: Target
    release: str | None
    gone: str | None = None
    restarts: int = 0

    def sane(self, endpoint: Endpoint) -> bool:
        try:
            probe.api_versions(endpoint.bootstrap[0], SANE_S)
        except (probe.NotReady, Unavailable):
            return False
        return True

    def after_a_loss(self, endpoint: Endpoint, case: str) -> None:
        """Nobody answered: is it the case or the target? Ours are started again, twice."""
        if self.sane(endpoint):
            return
        if self.target.kind in OWNED and self.restarts < RESTARTS:
            self.restarts += 1
            self.target.stop()
            return
        self.gone = f"the target stopped answering ApiVersions in {case}"


class Court:
    """One target, one oracle."""

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
    ) -> None:
        self.target, self.oracle, self.release = target, oracle, release
        self.nonce, self.seed, self.deadline_s, self.again = nonce, seed, deadline_s, again
        self.strict_oracle, self.strict = strict_oracle, strict
        self.table: Table = advertised.table(release)
        self.standing = StandingTarget(target, target.release)
        self.jobs = SIDE_BY_SIDE if target.kind in SHARED_KINDS else 1  # cases at a time
        self.tuning = Tuning(target if isinstance(target, ExternalTarget) else None)
        self._lock = threading.RLock()  # of what is looked up once: facts, probes
        self._probes: dict[tuple[int, int], Verdict | None] = {}
        self._opened = False
        self._last: str | None = None  # the case that was driven last

    @property
    def name(self) -> str:
        return self.target.name

    def cases(self, claim: Claim) -> list[CaseId]:
        return claim.cases(self.release, self.table)

    def open(self) -> str | None:
        """Look at the target once before the first case; the reason when it cannot be judged."""
        with self._lock:
            if not self._opened:
                self._opened = True
                self.standing.gone = self.target.available()
                if self.standing.gone is None and self.target.kind == "external":
                    self.standing.gone = self._silence()
            return self.standing.gone

    def _silence(self) -> str | None:
        try:
            self.target.advertised()
        except (probe.NotReady, Unavailable) as error:
            return f"the target does not answer ApiVersions ({error})"
        return None

    def judge(self, case: CaseId, scenario: Scenario, expectation: Expectation) -> Judgement:
        """The case's verdict and everything it rests on. Never raises for what a target does.

        What differs is asked again, under new names, as often as the user allows. Only a case that
        then conforms is excused, and what it did first goes with it: chance, not a new verdict.
        """
        first = self._tried(case, scenario, expectation, "")
        for number in range(self.again):
            if first.verdict.kind != DIVERGES:
                break
            found = self._tried(case, scenario, expectation, f"/again-{number + 1}")
            if found.verdict.conforms:
                return replace(found, at_first=first)
        return first

    def _tried(
        self, case: CaseId, scenario: Scenario, expectation: Expectation, suffix: str
    ) -> Judgement:
        try:
            return self._judge(case, scenario, expectation, f"{self.nonce}/{case.id}{suffix}")
        except Exception as error:
            return Judgement(broken(error), scenario, expectation)

    def _judge(
        self, case: CaseId, scenario: Scenario, expectation: Expectation, nonce: str
    ) -> Judgement:
        def without(verdict: Verdict) -> Judgement:
            return Judgement(verdict, scenario, expectation)

        reason = self.open()
        if reason:
            return without(inconclusive(f"not run: {reason}"))
        try:
            found = self._unsupported(case)
            found = self._lacking(scenario) if found is None else found
            if found is not None:
                return without(found)
            if scenario.harms and self.target.kind != "recorded" and not self._nodes(scenario):
                text = f"{self.target.name}: its brokers cannot be harmed from here"
                return without(Verdict(UNSUPPORTED, reason=text))
            # A recording first: do not trouble the target when nobody can judge.
            first = isinstance(self.oracle, Recorded)
            kafkas = self.oracle.transcript(case, scenario, nonce) if first else None
            seen = self._run(case, scenario, nonce)
            kafkas = kafkas if first else self.oracle.transcript(case, scenario, nonce)
        except Unavailable as missing:
            return without(inconclusive(f"not run: {self._lost(missing.reason)}"))
        except (StartFailed, probe.NotReady) as failed:
            return without(inconclusive(f"not run: it did not start: {failed}"))
        except Missing as missing:
            return without(inconclusive(f"not run: {missing}"))
        verdict = judge(
            expectation, seen, kafkas, release=self.release, watch_oracle=self.strict_oracle,
            api=case.claim.api, version=case.version, strict=self.strict,
        )  # fmt: skip
        return Judgement(verdict, scenario, expectation, seen, kafkas)

    def _run(self, case: CaseId, scenario: Scenario, nonce: str) -> Transcript:
        if isinstance(self.target, RecordedTarget):
            return self.target.transcript(case, scenario)
        with self._lock:
            endpoint = self.target.start(scenario.shape)
        _capable(case.claim, endpoint)
        if len(endpoint.ids) > scenario.brokers and dry.fixed_in_place(scenario):
            raise Unavailable("what the claim is about may live on any of the target's brokers")
        fit = self._fit(case.claim, scenario, endpoint)
        by_itself = dry.alone(scenario) or bool(fit.settable)
        with self.tuning.turn(scenario.shape, fit, alone=by_itself):
            if self.standing.gone:  # while this case waited for its turn
                raise Unavailable(self.standing.gone)
            self._last = case.id
            seen = self._drive(scenario, endpoint, nonce, fit)
            if not reached(seen) or "hung" in seen.connections.values():
                with self._lock:
                    self.standing.after_a_loss(endpoint, case.id)
        unmet = next((event for event in seen.events if event.direction == "unmet"), None)
        if fit.slow and unmet is not None:
            slow = ", ".join(f"{name}={value}" for name, value in fit.slow.items())
            raise Unavailable(f"what the claim waits for may take longer than it waits: {slow}")
        return seen

    def _fit(self, claim: Claim, scenario: Scenario, endpoint: Endpoint) -> pace.Fit:
        """What the claim costs under the settings in force. Raises Unavailable when they are not
        those that it is about.
        """
        if endpoint.settings is None:
            return pace.NOTHING_TO_DO
        in_force = self.tuning.in_force(endpoint, scenario.shape)
        fit = pace.fit(scenario.shape, claim.subject, in_force)
        seen = {name: v for name, v in fit.settable.items() if dry.looks_at(scenario, name)}
        if fit.missing or seen:
            wanted = ", ".join(f"{n}={value}" for n, value in {**fit.missing, **seen}.items())
            raise Unavailable(f"wants settings that the target has not: {wanted}")
        return fit

    def quicken(self, claims: Iterable[Claim]) -> list[str]:
        """Set dynamic settings that only set the pace, for the whole run; lines that tell it."""
        return [] if self.open() else self.tuning.quicken(claim.shape for claim in claims)

    def _drive(
        self, scenario: Scenario, endpoint: Endpoint, nonce: str,
        fit: pace.Fit = pace.NOTHING_TO_DO,
    ) -> Transcript:  # fmt: skip
        return driver.run(
            scenario, endpoint, nonce=nonce, deadline_s=self.deadline_s, target=self.name,
            release=self.standing.release, seed=self.seed, fit=fit,
        )  # fmt: skip

    def _lost(self, reason: str) -> str:
        """Why a case could not be run; of a target that is gone, with the case that it met last."""
        if self._last is not None and self.target.available() is not None:
            self.standing.gone = f"the target is gone since {self._last} ({reason})"
            return self.standing.gone
        return reason

    def _nodes(self, scenario: Scenario) -> bool:
        return bool(self.target.start(scenario.shape).nodes)

    def _unsupported(self, case: CaseId) -> Verdict | None:
        """UNSUPPORTED, proved once per API and version; None when the case must be run."""
        if case.claim.api is None or case.version is None or self.target.kind == "recorded":
            return None
        return self._proved(case.claim.api, case.version)

    def _lacking(self, scenario: Scenario) -> Verdict | None:
        """UNSUPPORTED when the target proves to lack what Kafka has and the case's steps need.

        Without this a target that cannot create topics would cost each case a deadline.
        """
        if self.target.kind == "recorded":
            return None
        for api, version in _needs(scenario):
            low, high = self.table.get(by_name(api).key, (0, -1))
            found = self._proved(api, version) if low <= version <= high else None
            if found is not None:
                return replace(found, reason=f"a step needs {api}: {found.reason}")
        return None

    def _proved(self, api: str, version: int) -> Verdict | None:
        asked = by_name(api).key, version
        with self._lock:
            if asked not in self._probes:
                self._probes[asked] = self._probe(api, *asked)
            return self._probes[asked]

    def _probe(self, api: str, key: int, version: int) -> Verdict | None:
        try:
            offered = self.target.advertised()
        except (probe.NotReady, OSError):
            return None  # whoever does not even answer ApiVersions is judged by its cases
        low, high = offered.get(key, (0, -1))
        if low <= version <= high:
            return None
        scenario = Scenario((Ask(api, version, {}, name="probe"),))
        endpoint = self.target.start(scenario.shape)
        seen = self._drive(scenario, endpoint, f"{self.nonce}/probe")
        return unsupported(key, version, offered, seen)

    def close(self) -> None:
        self.tuning.put_back()
        self.target.stop()
        self.oracle.stop()


def _needs(scenario: Scenario) -> Iterator[tuple[str, int]]:
    """The API versions that a scenario's steps ask for, in their order."""
    for step in scenario.steps:
        asked = step.ask if isinstance(step, Until) else step
        if isinstance(asked, Ask | Send):
            yield asked.api, asked.version


CAPABILITIES: dict[str, Callable[[Endpoint], bool]] = {
    "harm": lambda endpoint: bool(endpoint.nodes),  # its brokers can be killed and paused
    "logs": lambda endpoint: endpoint.logs is not None,
    # the claim is about a cluster that has no other broker
    "only-broker": lambda endpoint: len(endpoint.ids) <= 1,
    # brokers are no controllers: as where we start several; of others nobody can tell
    "controller-apart": lambda endpoint: not endpoint.ids,
}


def _capable(claim: Claim, endpoint: Endpoint) -> None:
    for word in claim.capabilities:
        if word not in CAPABILITIES:
            raise ValueError(f"{claim.id} needs {word!r}: no such capability")
        if not CAPABILITIES[word](endpoint):
            raise Unavailable(f"the target has no capability {word!r}")


def convene(
    target_word: str,
    oracle_word: str | None = None,
    *,
    nonce: str,
    seed: int = 0,
    deadline_s: float = driver.DEADLINE_S,
    record: bool = False,
    again: int = 0,
    strict: bool = False,
) -> Court:
    """The court for the words a user typed. Raises UnknownTarget, ValueError.

    Without an oracle's word it is the recording of the target's release, or of the release whose
    versions are nearest to what a stranger advertises. To record, a target is its own oracle, so
    that an answer which changes from run to run is noticed before it is kept; that is judged
    strictly, as `strict` asks for (see `grades`).
    """
    target = parse(target_word)
    if record:
        told = teller(target)
        if target.release is None:
            raise ValueError(f"{target.name} advertises what no known release does")
        oracle: Oracle = Live(target, target.release, deadline_s, told)
        release = target.release
    else:
        oracle, release = _oracle(oracle_word, target, deadline_s)
    return Court(
        target, oracle, release, nonce=nonce, seed=seed, deadline_s=deadline_s,
        strict_oracle=record or oracle.kind == "live", again=again, strict=strict or record,
    )  # fmt: skip


def _oracle(word: str | None, target: Target, deadline_s: float) -> tuple[Oracle, str]:
    if word is None:
        release = _release_of(target)
        return Recorded(Store(release)), release
    if word == "none":
        release = _release_of(target)
        return Nobody(release), release
    other = parse(word)
    other = target if other.name == target.name else other  # one cluster, asked twice
    if isinstance(other, RecordedTarget):
        return Recorded(other.store), other.store.release
    release = _release_of(other)
    return Live(other, release, deadline_s), release


def _release_of(target: Target) -> str:
    """Its release; for a stranger the nearest one, for one that is silent the newest."""
    if target.release is not None:
        return target.release
    try:
        return advertised.nearest(target.advertised())
    except (probe.NotReady, Unavailable, OSError):
        return list(advertised.tables())[-1]
