"""One case of a claim, asked of many versions of Apache Kafka, which are started in turn."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence

from touchstone.harness.judgement import causes, wording
from touchstone.harness.judgement.verdict import DIVERGES, Verdict, inconclusive, judge
from touchstone.harness.model import advertised
from touchstone.harness.model.advertised import Table
from touchstone.harness.model.case import Experiment
from touchstone.harness.model.claim import CaseId, Claim
from touchstone.harness.model.expect import nothing_expected
from touchstone.harness.model.recordings import Missing
from touchstone.harness.model.scenario import Ask, Send, asked
from touchstone.harness.model.target import StartFailed, Unavailable
from touchstone.harness.model.transcript import Transcript
from touchstone.harness.results import rows
from touchstone.harness.run import dry
from touchstone.harness.run.bisection import Found, Undecided
from touchstone.harness.run.oracles import Live
from touchstone.harness.targets.probe import NotReady
from touchstone.harness.targets.process import KafkaProcess
from touchstone.harness.targets.release import Release
from touchstone.reference_impl.wire.apis import by_name

DEADLINE_S = 10.0  # of a step


class AskedVersions:
    """Who asks them. `name` is the claim's id, or that of one of its cases."""

    def __init__(
        self, claim: Claim, function: dry.Function, name: str, versions: Sequence[str]
    ) -> None:
        self.claim, self.function, self.name = claim, function, name
        self.first, self.last = versions[0], versions[-1]
        self.count = 0
        self._target: KafkaProcess | None = None
        self._case: CaseId | None = None
        self._made: Experiment | None = None
        self._before: Transcript | None = None

    def choose(self) -> str:
        """Choose the newest case that the first and the last version serve, ask the first, and say
        what is asked. Raise Undecided if there is no such case, or the first cannot be asked.
        """
        try:
            newer, older = (self._start(one).advertised() for one in (self.last, self.first))
        except (Unavailable, StartFailed, NotReady) as failed:
            raise Undecided(f"Kafka {self._target and self._target.name}: {failed}") from None
        table = {
            key: (max(low, newer[key][0]), min(high, newer[key][1]))
            for key, (low, high) in older.items()
            if key in newer
        }
        for case, like in self._cases(table):
            made = dry.run(self.function, case, like)
            if made is not None and _serves(table, made):
                self._case, self._made = case, made
                break
        else:
            raise Undecided(
                f"no case of {self.name} asks only what both {self.first} and {self.last} serve"
            )
        self.count += 1
        try:
            self._before = self._transcript()
        except Missing as missing:
            raise Undecided(f"Kafka {self.first} cannot be asked: {missing}") from None
        return f"{case.id}, from {self.first} to {self.last}"

    def _cases(self, table: Table) -> Iterator[tuple[CaseId, str]]:
        """Yield the claim's cases, the newest first, with the release as for which each is written:
        of those with a persona the one of the first version, or near it.
        """
        minor = Release(self.first).name
        near = [minor] if minor in advertised.tables() else list(advertised.neighbours(minor))
        for like in [*near, *(one for one in advertised.tables() if one not in near)]:
            for case in reversed(self.claim.cases(like, table)):
                if self.name in (self.claim.id, case.id):
                    yield case, like

    def ask(self, version: str) -> Verdict:
        """Hold a version's answer against the first one's. What differs is asked twice."""
        assert self._case is not None and self._before is not None
        self._start(version)
        self.count += 1
        try:
            found = self._verdict(self._case, self._before)
            return self._verdict(self._case, self._before) if found.kind == DIVERGES else found
        except Missing as missing:
            return inconclusive(str(missing))

    def _verdict(self, case: CaseId, before: Transcript) -> Verdict:
        return judge(
            nothing_expected(), self._transcript(), before, api=case.claim.api, version=case.version
        )

    def _transcript(self) -> Transcript:
        assert self._case is not None and self._made is not None and self._target is not None
        live = Live(self._target, self._target.release, DEADLINE_S)
        return live.transcript(self._case, self._made.scenario, secrets.token_hex(4))

    def _start(self, version: str) -> KafkaProcess:
        self.stop()
        self._target = KafkaProcess(version)
        return self._target

    def stop(self) -> None:
        """End what was started."""
        if self._target is not None:
            self._target.stop()

    def lines(self, found: Found) -> Iterator[str]:
        """Yield what was found, as lines."""
        assert self._case is not None
        yield f"Kafka {found.new} changed it: {self.claim.sentence}"
        row = rows.case(
            self._case, found.verdict, target=found.new, release=found.old, duration_ms=0
        )
        for cause in causes.find([row]).causes:
            sentence = wording.sentence(cause).replace(wording.TARGET, f"Kafka {found.new}")
            yield f"  {wording.title(cause)}: {sentence}"
        for version, reason in found.between:
            yield f"  {version} may have changed it as well, which was not asked: {reason}"


def _serves(table: Table, made: Experiment) -> bool:
    """Whether each request of a scenario is within these ranges."""
    requests = [step for step in map(asked, made.scenario.steps) if isinstance(step, Ask | Send)]
    ranges = [(table.get(by_name(one.api).key, (0, -1)), one.version) for one in requests]
    return all(low <= version <= high for (low, high), version in ranges)
