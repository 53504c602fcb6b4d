"""Judges cases of a client: one adapter, one broker that it speaks to, for as long as a run lasts.

The broker is any target, ours by default: it alone can be told to misbehave, and cases that want
that are out of scope elsewhere. Cases run one after the other, each with clients of its own. A
client that cannot be started costs a run a sentence; one that dies is started again for the next
case; one that does not answer costs each case a deadline.
"""

from __future__ import annotations

from collections.abc import Iterable

from touchstone.harness.adapters import adapter_file, liars, stage
from touchstone.harness.adapters.adapter_file import ClientFile
from touchstone.harness.adapters.lying import HONEST, Liar
from touchstone.harness.adapters.stage import Adapter
from touchstone.harness.judgement import client_verdict
from touchstone.harness.judgement.verdict import OUT_OF_SCOPE, broken, inconclusive
from touchstone.harness.model import advertised
from touchstone.harness.model.advertised import Table
from touchstone.harness.model.case import Judgement
from touchstone.harness.model.claim import CLIENT_ROLE, CaseId, Claim
from touchstone.harness.model.expect import Expectation
from touchstone.harness.model.profiles import NO_PROFILES, StatedProfiles
from touchstone.harness.model.scenario import Scenario
from touchstone.harness.model.target import OutOfScope, StartFailed, Target, Unavailable
from touchstone.harness.run import chosen_release
from touchstone.harness.run.oracles import Nobody
from touchstone.harness.targets import UnknownTarget, parse, probe

ENOUGH = 3  # cases in which the adapter cannot be started, after which it is not tried again


class ClientJudge:
    """Judges one client by what its claims expect."""

    jobs = 1
    later = False
    lanes = None
    strict = False

    def __init__(
        self, client: ClientFile, broker: Target, *, nonce: str, deadline_s: float,
        liar: Liar = HONEST, word: str = "", release: str | None = None,
    ) -> None:  # fmt: skip
        """`release`: what somebody else's broker wants to be held against."""
        self.client, self.target = client, broker
        against = chosen_release.choose(broker, release)
        self.release, self.release_reason = against.release, against.reason
        self.oracle = Nobody(self.release)
        self.table: Table = advertised.table(self.release)
        self.told: StatedProfiles = NO_PROFILES
        self.nonce, self.deadline_s = nonce, deadline_s
        self.liar = liar
        self.word = word or client.name
        self.name = f"{self.word}:{broker.name}"
        self.adapter: Adapter | None = None
        self._refused = 0
        self._why = ""

    def cases(self, claim: Claim) -> list[CaseId]:
        return claim.cases(self.release, self.table) if claim.role == CLIENT_ROLE else []

    def suites(self) -> None:
        """Nothing is recorded of a client, so nobody can say which suites have a case of it."""

    def where_clients_go(self) -> list[str]:
        return []

    def quicken(self, claims: Iterable[Claim]) -> list[str]:
        """Nothing is set for a run: each case gets a cluster as it wants one."""
        return []

    def serves(self, case: CaseId) -> bool:
        return True

    def judgement(self, case: CaseId, scenario: Scenario, expectation: Expectation) -> Judgement:
        """The case's verdict and everything it rests on. Never raises for what a client does."""
        try:
            return self._judgement(case, scenario, expectation)
        except OutOfScope as missing:
            verdict = inconclusive(f"{OUT_OF_SCOPE}: {missing.reason}")
        except Unavailable as missing:
            verdict = inconclusive(f"not run: {missing.reason}")
        except (StartFailed, probe.NotReady) as failed:
            verdict = inconclusive(f"not run: the broker did not start: {failed}")
        except Exception as error:
            verdict = broken(error)
        return Judgement(verdict, scenario, expectation)

    def _judgement(self, case: CaseId, scenario: Scenario, expectation: Expectation) -> Judgement:
        reason = self.target.available()
        if reason:
            raise Unavailable(reason)
        adapter = self._started()
        endpoint = self.target.start(scenario.shape)
        seen = stage.run(
            scenario, endpoint, adapter, nonce=f"{self.nonce}/{case.id}",
            deadline_s=self.deadline_s, target=self.name, release=self.release, liar=self.liar,
        )  # fmt: skip
        verdict = client_verdict.judge(expectation, seen, self.release)
        return Judgement(verdict, scenario, expectation, seen)

    def _started(self) -> Adapter:
        """The adapter, running. Raises Unavailable."""
        if self._refused >= ENOUGH:
            raise Unavailable(self._why)
        if self.adapter is None:
            self.adapter = Adapter(self.client.program(), self.client.start.seconds)
        why = self.adapter.start()
        if why is not None:
            self._refused += 1
            self._why = f"the adapter of {self.client.name} does not start: {why}"
            raise Unavailable(self._why)
        self._refused = 0
        return self.adapter

    def end_adapter(self) -> None:
        """End the client's process; the next case starts another."""
        if self.adapter is not None:
            self.adapter.end()

    def close(self, *, interrupted: bool = False) -> list[str]:
        """End what was started."""
        self.end_adapter()
        self.target.stop()
        return []


def judge_for(
    word: str, broker: str, *, nonce: str, deadline_s: float, release: str | None = None
) -> ClientJudge:
    """The judge for `--client WORD --target BROKER`; a client with a planted defect is NAME+DEFECT.
    Raises UnknownTarget, ValueError.
    """
    name, plus, planted = word.partition("+")
    if plus and planted not in liars.DEFECTS:
        known = ", ".join(liars.DEFECTS)
        raise UnknownTarget(f"client {word!r}: there is no defect {planted!r}; there are {known}")
    target = parse(broker)
    if target.kind == "recorded":
        raise UnknownTarget(f"target {broker!r}: a client speaks to a broker, not to a recording")
    if release is not None:
        chosen_release.check(target, release)
    liar = liars.DEFECTS[planted] if plus else HONEST
    return ClientJudge(
        adapter_file.find(name), target, nonce=nonce, deadline_s=deadline_s, liar=liar,
        word=word, release=release,
    )  # fmt: skip
