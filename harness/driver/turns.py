"""Runs cases on one target, each in its turn: the judge says which, the driver does it.

Somebody else's cluster is shared by cases, so here is everything that one case owes the others: who
is alone on the cluster, what is set for whom and put back, what is deleted behind whom, and who is
asked once more because the target ended under several at a time.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, replace

from touchstone.harness.driver import auto_creation
from touchstone.harness.driver.auto_creation import CreationDefaults
from touchstone.harness.driver.deleting import ALL_S, Deleter
from touchstone.harness.driver.halt import Halt
from touchstone.harness.driver.keeping import SettingsRestorer
from touchstone.harness.driver.preparation import NO_WAITS, Preparation, Waits
from touchstone.harness.driver.runner import run
from touchstone.harness.driver.side_by_side import Sharing
from touchstone.harness.driver.standing import BACK_S, Standing, TargetEnd, Watch, settle
from touchstone.harness.judgement.verdict import reached
from touchstone.harness.model import pace, profiles, rights
from touchstone.harness.model.claim import CaseId, Claim
from touchstone.harness.model.owner import QUORUM_FEATURE
from touchstone.harness.model.placeholders import Name, Unresolved, unique
from touchstone.harness.model.profiles import NO_PROFILES, StatedProfiles
from touchstone.harness.model.rights import Right
from touchstone.harness.model.scenario import Scenario
from touchstone.harness.model.target import (
    Endpoint,
    OutOfScope,
    Shape,
    Somebodys,
    Target,
    Unavailable,
    Versions,
)
from touchstone.harness.model.transcript import Transcript
from touchstone.harness.run import altered, dry
from touchstone.harness.run.tuning import Alterable, Tuning
from touchstone.harness.targets import probe, reach
from touchstone.harness.targets.external import LEADER_AND_ISR

TELEMETRY = 71  # GetTelemetrySubscriptions
SHARED_KINDS = ("external", "file")  # somebody else's: cases share a cluster
# A step of a case that is asked again alone has so many deadlines: it is the last word, and a busy
# machine must have no part in it (at load 70 on two cores Kafka kept 33 of 1,263 cases waiting).
AGAIN_TIMES = 4
TRIES = 3  # of a case that met a target which is away for a moment
SIDE_BY_SIDE = 16  # cases at a time on such a cluster; most of a case is waiting
INTERRUPTED_S = 5.0  # for deleting what was made, when somebody waits for the end of a run
CONSUMER_HEARTBEAT, NEW_COORDINATOR = 68, 1  # the version since which Kafka has its second one
ALL_BROKERS = (altered.BROKER, "")


class Unharmable(Exception):
    """The scenario harms brokers, and those of this target cannot be harmed from here."""


class _Stale(Exception):
    """The target has ended since its address was looked up: a case has to look it up again."""


@dataclass(frozen=True, slots=True)
class ScenarioRun:
    """What came of a scenario; `end`: the target ended under it, and under nothing else."""

    transcript: Transcript
    end: TargetEnd | None = None


class Turns:
    """One target for as long as a run lasts. `gentle`: no setting of it is changed; `told`: the
    profiles that it is said to have; `prefix`: with which all names of cases begin.
    """

    def __init__(
        self, target: Target, *, nonce: str, deadline_s: float, seed: int = 0,
        gentle: bool = False, told: StatedProfiles = NO_PROFILES, prefix: str = "",
    ) -> None:  # fmt: skip
        self.target, self.nonce, self.deadline_s, self.seed = target, nonce, deadline_s, seed
        self.release, self.told, self.prefix = target.release, told, prefix
        shared = target.kind in SHARED_KINDS
        self.jobs = SIDE_BY_SIDE if shared else 1
        self.standing = Standing(target, watches=shared and not told.few)
        self.halt = Halt()
        self._renewed: TargetEnd | None = None  # the last end that the cluster was looked at for
        alterable = target if isinstance(target, Alterable) and shared and not gentle else None
        self.tuning = Tuning(
            alterable, whole_run=not self.standing.ours, room=getattr(target, "room", 1)
        )
        self.preparation = Preparation() if shared else None
        self.keeper = SettingsRestorer(self.preparation) if shared else None
        self.deleter = Deleter(self._offered, self.preparation) if shared else None
        self._again = Preparation() if shared else None  # of those that are asked again, alone
        self._given: dict[
            int, CreationDefaults | None
        ] = {}  # number of brokers -> what a topic gets
        self._groups: Sharing[None] = Sharing()  # of who uses groups; alone: who deletes topics
        self._looking: dict[Hashable, threading.Lock] = {}  # one for each thing that is looked up
        self._lock = threading.RLock()  # of the target
        self._opened = False
        self._missing: frozenset[Right] | None = None  # rights, once they were asked for

    def open(self) -> str | None:
        """Look at the target once before the first case; the reason when it cannot be judged."""
        with self._lock:
            if not self._opened:
                self._opened = True
                self.standing.gone = self.target.available()
                if self.standing.gone is None and isinstance(self.target, Somebodys):
                    self.standing.gone = self.target.finds_nobody()
            return self.standing.gone

    def quicken(self, claims: Iterable[Claim]) -> list[str]:
        """Set dynamic settings that only set the pace, for the whole run; lines that tell it."""
        if self.open() or self.tuning.cluster is None or not self.tuning.whole_run:
            return []
        self.missing_rights()  # first: from then on the target is asked by names of the prefix
        with contextlib.suppress(Unavailable):
            if self.keeper is not None:
                self.keeper.keep([ALL_BROKERS], self.target.start(Shape()), self._offered())
        return self.tuning.quicken(claim.shape for claim in claims)

    def where_clients_go(self) -> list[str]:
        """Return where somebody else's brokers send clients, in lines; nothing of one of ours."""
        if not isinstance(self.target, Somebodys) or self.open() is not None:
            return []
        return self.target.where_clients_go()

    def missing_rights(self) -> frozenset[Right]:
        """Return what the user of this run may not do on somebody else's cluster; asked once."""
        with self._lock:
            if self._missing is None:
                self._missing = frozenset()
                if isinstance(self.target, Somebodys) and self.open() is None:
                    self._missing = self.target.missing_rights(self.prefix)
            return self._missing

    def not_allowed(self, scenario: Scenario) -> str | None:
        """Return why the user of this run may not ask what a scenario asks; None if he may."""
        if self.prefix and (reason := rights.unnamed(scenario, self.prefix)):
            return reason
        lacks = rights.lacking(scenario, self.missing_rights())
        return None if lacks is None else str(lacks)

    # one case

    def run(
        self, case: CaseId, scenario: Scenario, nonce: str, *, alone: bool = False,
        prepares: frozenset[str] = frozenset(), made: frozenset[str] = frozenset(),
        kafkas: Transcript | None = None,
    ) -> ScenarioRun:  # fmt: skip
        """The scenario's transcript. Raises Unavailable, StartFailed, Unharmable, NotReady.

        A case whose settings must be set is asked again when it is alone. So is one under which the
        target ended, under new names, for the old ones may be there: somebody may have ended it by
        chance, and whoever was under way at two ends, the second time alone, has done it.
        `prepares`: labels of waits that may end in vain; `made`: those of CreateTopics steps whose
        topics Metadata makes; `kafkas`: its answers, where they are known beforehand.
        """
        memory = self._again if alone else self.preparation
        waits = Waits(prepares, memory, made, AGAIN_TIMES if alone else 1) if memory else NO_WAITS
        alone = alone or dry.alone(scenario) or self.told.alone(scenario.shape, case.claim.subject)
        kills, ends, missed = dry.may_kill(scenario), 0, 0
        while True:
            alone = alone or (kills and bool(self.standing.deaths))  # others would be asked again
            try:
                with self._turn(scenario.shape, alone):
                    names = f"{nonce}/{ends}" if ends else nonce
                    found = self._in_turn(case, scenario, names, alone, waits, kafkas)
            except _Stale:
                continue
            if found is not None and found.end is None and not reached(found.transcript):
                missed += 1  # it was away for a moment, and has met nothing of this case
                if missed < TRIES:
                    continue
            if found is not None:
                if found.end is None or not found.end.again:
                    return found
                ends += 1
                if found.end.alone and ends > 1:
                    return found
            alone = True

    def ask(self, scenario: Scenario, nonce: str) -> Transcript | None:
        """The transcript of a question of the judge's own; None where the target ends under it,
        which says nothing about who ends it.
        """
        with self._turn(scenario.shape, self.told.few):
            life = self.standing.life
            endpoint = self._start(scenario.shape)
            self._settle(endpoint)
            with self.standing.asked(nonce, endpoint, scenario.shape, life=life) as watch:
                seen = self._drive(scenario, endpoint, nonce)
                return None if self._end_of_target(watch, scenario, seen) else seen

    def looking_at(self, what: Hashable) -> threading.Lock:
        """Held while this is looked up once, for all cases."""
        return self._looking.setdefault(what, threading.Lock())  # at once, for all threads

    def auto_creation(self, shape: Shape) -> CreationDefaults | None:
        """What a topic gets that Metadata makes, or that it makes none; asked for once for each
        number of brokers. Raises Unavailable, StartFailed.
        """
        if shape.brokers not in self._given:
            name = unique(f"{self.nonce}/made", Name(f"made-{shape.brokers}"), 0, self.prefix)
            with self._turn(shape, False):
                endpoint, found = self._start(shape), None
                with contextlib.suppress(Unresolved):
                    found = auto_creation.given(endpoint.bootstrap[0], name, self.deadline_s)
            if found is not None:
                self._made(endpoint, auto_creation.as_transcript(self.target.name, name))
            self._given[shape.brokers] = found
        return self._given[shape.brokers]

    def doubts(self, api: str | None) -> bool:
        """Whether enough cases are waiting for this API to know soon that it is silent."""
        return api is not None and bool(self.preparation and self.preparation.doubted(api))

    @contextlib.contextmanager
    def _turn(self, shape: Shape, alone: bool) -> Iterator[None]:
        with self.tuning.turn(shape, self.cluster_of(shape), alone=alone):
            self.halt.check()
            if self.standing.gone:  # while this one waited for its turn
                raise Unavailable(self.standing.gone)
            yield

    def cluster_of(self, shape: Shape) -> Hashable:
        """Which of the target's clusters serves this shape; they take turns, as many at a time as
        the target has room for, and none may be ended under a case.
        """
        asked: Callable[[Shape], Hashable] | None = getattr(self.target, "cluster_of", None)
        return None if asked is None else asked(shape)

    def cluster_word(self, shape: Shape) -> str:
        """Equal for shapes that one cluster serves: what is judged one after the other."""
        try:
            return repr(self.cluster_of(shape))
        except Unavailable:
            return ""

    def _in_turn(
        self, case: CaseId, scenario: Scenario, nonce: str, alone: bool, waits: Waits,
        kafkas: Transcript | None,
    ) -> ScenarioRun | None:  # fmt: skip
        """What came of it; None when it has to be asked again, alone."""
        life = self.standing.life
        endpoint = self._start(scenario.shape)
        if scenario.harms and not endpoint.nodes:
            raise Unharmable
        _capable(case.claim, endpoint, self._offered)
        if len(endpoint.ids) > scenario.brokers and dry.fixed_in_place(scenario):
            raise OutOfScope("what the claim is about may live on any of the target's brokers")
        if endpoint.coordinates_nothing and dry.asks_coordinators(scenario):
            raise OutOfScope("the broker that would coordinate leads no partition for it")
        fit = self._fit(case.claim, scenario, endpoint)
        if fit.settable and not alone:
            return None
        self._settle(endpoint)
        with (
            self._beside(scenario),
            self._kept(scenario, endpoint, fit),
            self.standing.asked(
                case.id, endpoint, scenario.shape, life=life, harms=scenario.harms
            ) as watch,
        ):
            if self.standing.life != life:
                raise _Stale
            seen = self._drive(scenario, endpoint, nonce, fit, waits, kafkas)
            end = self._end_of_target(watch, scenario, seen)
        self._made(endpoint, seen)
        self.halt.check()
        if end is None:
            _waited(fit, seen, case.claim, self.told.release)
            return ScenarioRun(seen)
        if not end.again and not end.alone:
            raise Unavailable(self.standing.gone or "the target ended")
        self._renew(end)
        return ScenarioRun(seen, end)

    def _renew(self, end: TargetEnd) -> None:
        """After an end, once: look at the cluster again, and set what was set for the run, which a
        broker that keeps nothing has forgotten.
        """
        with self._lock:
            if end is self._renewed or not end.again:
                return
            self._renewed = end
            forget: Callable[[], None] | None = getattr(self.target, "forget", None)
            if forget is not None:
                forget()
            self.tuning.renew()

    def _settle(self, endpoint: Endpoint) -> None:
        if self.told.few:
            settle(endpoint.bootstrap[0])

    @contextlib.contextmanager
    def _beside(self, scenario: Scenario) -> Iterator[None]:
        """Groups of a case are kept from cases that delete topics.

        Kafka's first group coordinator looks at all groups when any topic is deleted, and forgets
        those that are empty.
        """
        forgets = self.jobs > 1 and self._forgets_groups()
        if forgets and dry.deletes_topics(scenario):
            with self._groups.alone():
                yield
        elif forgets and dry.uses_groups(scenario):
            with self._groups.shared():
                yield
        else:
            yield

    def _forgets_groups(self) -> bool:
        return self._offered().get(CONSUMER_HEARTBEAT, (0, -1))[1] < NEW_COORDINATOR

    def _made(self, endpoint: Endpoint, seen: Transcript) -> None:
        """Delete now and then what cases made, where nobody else's groups suffer from it."""
        enough = self.deleter is not None and self.deleter.add(endpoint, seen)
        if self.deleter is None or not enough or self.halt.on:
            return
        with self._groups.if_free() as free:
            if free or not self._forgets_groups():
                self.deleter.some(endpoint)

    def _end_of_target(
        self, watch: Watch, scenario: Scenario, seen: Transcript
    ) -> TargetEnd | None:
        """The end of the target under this case. Who harms brokers may lose them."""
        ends = set(seen.connections.values())
        if self.halt.on:  # which has cut its connections
            return None
        if scenario.harms:
            if not reached(seen) or "hung" in ends:
                self.standing.end_under(watch, look=True)
            return None
        lost, kills = not reached(seen) or bool(ends - {"kept"}), dry.may_kill(scenario)
        late = lost and (kills or self.standing.watches)
        return self.standing.end_under(watch, look=lost or kills, late=late)

    def _start(self, shape: Shape) -> Endpoint:
        """The cluster of this shape; one that was away for a moment is waited for."""
        deadline = time.monotonic() + BACK_S
        while True:
            try:
                return self._started(shape)
            except OutOfScope:
                raise
            except Unavailable as away:
                if self.standing.ours and self.target.available() is None:
                    raise
                if not self.standing.returns() or time.monotonic() > deadline:
                    raise Unavailable(self.standing.gone or away.reason) from None

    def _started(self, shape: Shape) -> Endpoint:
        keep: Callable[[Iterable[Hashable]], None] | None = getattr(self.target, "keep", None)
        with self._lock:
            if keep is not None:
                keep(self.tuning.clusters)
            return self.target.start(shape)

    def _fit(self, claim: Claim, scenario: Scenario, endpoint: Endpoint) -> pace.Fit:
        """What the claim costs under the settings in force. Raises OutOfScope when they are not
        those that it is about.
        """
        age_s = None if endpoint.started is None else time.monotonic() - endpoint.started
        if endpoint.settings is None:
            first = pace.until_first_tasks_ms(scenario.shape, age_s)
            return pace.Fit(patience_ms=first + pace.until_given_up_ms(scenario, {}))
        in_force = self.told.over(self.tuning.in_force(endpoint, scenario.shape))
        fit = pace.fit(scenario.shape, claim.subject, in_force, age_s, claim.not_awaited)
        noticed = 0 if fit.slow else pace.until_given_up_ms(scenario, in_force)
        fit = replace(fit, patience_ms=fit.patience_ms + noticed)
        unset = {
            name: value
            for name, value in fit.settable.items()
            if self.tuning.cluster is None or dry.looks_at(scenario, name)
        }
        if fit.missing or unset:
            lacking, release = {**fit.missing, **unset}, self.told.release
            raise OutOfScope(profiles.wanting(lacking, scenario.shape, claim.subject, release))
        return fit

    @contextlib.contextmanager
    def _kept(self, scenario: Scenario, endpoint: Endpoint, fit: pace.Fit) -> Iterator[None]:
        """The settings that the case wants, and behind it those that were there."""
        touched = altered.resources(scenario) + ([ALL_BROKERS] if fit.settable else [])
        with contextlib.ExitStack() as stack:
            if self.keeper is not None and touched:
                stack.enter_context(self.keeper.kept(touched, endpoint, self._offered()))
            stack.enter_context(self.tuning.set_for_case(fit.settable))
            yield

    def _drive(
        self, scenario: Scenario, endpoint: Endpoint, nonce: str,
        fit: pace.Fit = pace.NOTHING_TO_DO, waits: Waits = NO_WAITS,
        kafkas: Transcript | None = None,
    ) -> Transcript:  # fmt: skip
        return run(
            scenario, endpoint, nonce=nonce, deadline_s=self.deadline_s * waits.times,
            target=self.target.name, release=self.release, seed=self.seed, fit=fit, halt=self.halt,
            waits=waits, prefix=self.prefix, kafkas=kafkas,
        )  # fmt: skip

    def _offered(self) -> Versions:
        with contextlib.suppress(probe.NotReady, Unavailable, OSError):
            return self.target.advertised()
        return {}

    # the end

    def close(self, *, interrupted: bool = False) -> list[str]:
        """Leave the target as it was; what is not so, in words."""
        told = [
            *self.standing.report_lines(),
            *(self.preparation.report_lines() if self.preparation else []),
        ]
        told += [*self._not_put_back(), *self._left_behind(interrupted)]
        for memory in filter(None, (self.preparation, self._again)):
            memory.close()
        self.standing.close()
        self.target.stop()
        return told

    def _not_put_back(self) -> list[str]:
        """Put settings back; those that could not be."""
        if self.standing.gone is not None:
            names = ", ".join(self.tuning.changed)
            return [f"not put back, for the target is gone: {names}"] if names else []
        refused = self.tuning.put_back()
        if self.keeper is not None:
            self.keeper.put_back()
        words = [*(self.keeper.words if self.keeper else ()), *([refused] if refused else [])]
        return [f"not put back: {word}" for word in words]

    def _left_behind(self, interrupted: bool) -> list[str]:
        """What cases made and nobody can delete; of a cluster that ends with the run, nothing."""
        if self.deleter is None or self.standing.ours:
            return []
        if self.standing.gone is None:
            self.deleter.rest(INTERRUPTED_S if interrupted else ALL_S)
        left = ", ".join(self.deleter.report_lines())
        return [f"left behind on {self.target.name}: {left}"] if left else []


def _waited(fit: pace.Fit, seen: Transcript, claim: Claim, release: str) -> None:
    """Raises OutOfScope when the case may have waited for too short a time, or was answered while
    a pace lasted that answers show.
    """
    if fit.shown:
        answers = ((trip.event.api_name or "", trip.answer) for trip in seen.round_trips)
        if lasting := pace.met(fit.shown, answers):
            raise OutOfScope(profiles.wanting(lasting, claim.shape, claim.subject, release))
    unmet = any(event.direction == "unmet" for event in seen.events)
    if fit.slow and unmet:
        raise OutOfScope(profiles.too_slow(fit.slow))


def _offsets_partitions(endpoint: Endpoint) -> int:
    """How many partitions __consumer_offsets has: Kafka's default where nobody has set it."""
    return endpoint.internal.get("__consumer_offsets", (50, 0))[0]


CAPABILITIES: dict[str, Callable[[Endpoint, Versions], bool]] = {
    "harm": lambda endpoint, _: bool(endpoint.nodes),  # its brokers can be killed and paused
    "logs": lambda endpoint, _: endpoint.logs is not None,
    # the claim is about a cluster that has no other broker
    "only-broker": lambda endpoint, _: len(endpoint.ids) <= 1,
    # the claim counts with offsets.topic.num.partitions as Kafka has it
    "offsets-in-50-partitions": lambda endpoint, _: _offsets_partitions(endpoint) == 50,
    # voters that the settings name: no request adds one, and none is taken away
    "fixed-voters": lambda endpoint, _: not endpoint.finalized.get(QUORUM_FEATURE),
    # the claim is about ids themselves, which are translated on clusters that have their own
    "ids-as-they-are": lambda endpoint, _: not endpoint.ids,
    # APIs that Kafka answers and lists only where a plug-in receives metrics; who does not list
    # them need not answer, and only of those that we start is known that they do
    "client-telemetry": lambda endpoint, offered: endpoint.settings is None or TELEMETRY in offered,
    # the claim is about settings that nobody has set
    "settings-as-released": lambda endpoint, _: endpoint.settings is None,
    # the claim is about clients that have not said who they are, and ours are logged in
    "anonymous-clients": lambda endpoint, _: reach.is_anonymous(endpoint.bootstrap[0]),
    # the death of two of three brokers leaves a quorum: under ZooKeeper, and where we start several
    # of our own; of other KRaft clusters nobody can tell
    "controller-apart": lambda endpoint, offered: not endpoint.ids or LEADER_AND_ISR in offered,
}


def _capable(claim: Claim, endpoint: Endpoint, offered: Callable[[], Versions]) -> None:
    for word in claim.capabilities:
        if word not in CAPABILITIES:
            raise ValueError(f"{claim.id} needs {word!r}: no such capability")
        if not CAPABILITIES[word](endpoint, offered()):
            raise OutOfScope(f"the target has no capability {word!r}")
