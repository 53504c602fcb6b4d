"""The loop of campaigns whose cases are scripts: play, judge, confirm, make smaller.

A complaint is looked at again before it is believed: its script is played with other names (so
that no group or transaction is met twice) and more patience, and only a complaint that is made
again is a finding. Of a cause that is known already the first finding is kept and the others are
counted. A finding of a machine is made smaller in actions, not in bytes: each is left out in turn
and the rest is walked through the table again, so that what remains is expected rightly.
"""

from __future__ import annotations

import contextlib
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from touchstone.fuzz import interrupts
from touchstone.fuzz.campaign import Campaign, Finding, Result, judge
from touchstone.fuzz.deaths import ORACLE as STAYS_ALIVE
from touchstone.fuzz.machines.walked_scripts import WalkedScript, WalkedScripts
from touchstone.fuzz.oracles import sent_frame
from touchstone.fuzz.outcome import KEPT, signature
from touchstone.fuzz.runner import is_alive
from touchstone.fuzz.script import Script, renamed
from touchstone.fuzz.sequences.judge import code_of, complaint
from touchstone.fuzz.sequences.played import Played
from touchstone.fuzz.sequences.player import Player

AS_EXPECTED = "as_expected"
SUSPECTS = 2
"""Cases that a target may have died of: of the one before, it may have died after its last answer.
"""
PATIENCE = 4.0
"""How much more patience a complaint is looked at again with."""
SMALLER_TRIES = 60


@dataclass(frozen=True)
class Case:
    """A script of a campaign; of a machine, `walked` says which."""

    index: int
    script: Script
    faults: tuple[str, ...]
    walked: WalkedScript | None = None


@dataclass
class Tally:
    """What the scripts of a campaign came to, beside its Result."""

    steps: int = 0
    valid_steps: int = 0  # of scripts without a fault
    accepted_steps: int = 0  # of those, answered without an error code
    tried: dict[str, Counter[tuple[str, str]]] = field(default_factory=dict)
    unsteady: int = 0  # complaints that were not made again
    known: Counter[tuple[str, int, str]] = field(default_factory=Counter)

    @property
    def accepted(self) -> float:
        """The share of valid scripts' steps that were answered without an error code."""
        return self.accepted_steps / max(self.valid_steps, 1)


class Scripted:
    """One campaign on one target."""

    def __init__(
        self,
        campaign: Campaign,
        player: Player,
        walks: WalkedScripts | None = None,
        *,
        seed: int = 1,
    ) -> None:
        self.campaign, self.player, self.walks, self.seed = campaign, player, walks, seed
        self.tally = Tally()
        self.deaths = 0
        self.unexplained: list[str] = []  # deaths that no case led to again
        self._suspects: deque[Case] = deque(maxlen=SUSPECTS)
        self._again = 0

    def run(
        self, cases: Iterable[Case], wanted: Callable[[Result], bool], result: Result
    ) -> Result:
        """Play cases while `wanted(result)` holds. Raises ConnectionError when the target no longer
        accepts connections; `result` says how far it came.
        """
        source = iter(cases)
        while wanted(result):
            case = next(source, None)
            if case is None:
                break
            self._suspects.append(case)
            played = self.player.play(case.script)
            result.cases += 1
            self._count(case, played, result)
            for finding in self.findings(case, played):
                self._keep(case, finding, result)
        return result

    def died(self, said: str, start: Callable[[], Player], result: Result) -> None:
        """The target is gone and `said` how. `start` starts it anew; there the last cases are
        played again, and the one that it does not outlive is a finding. It runs afterwards.
        """
        self.deaths += 1
        self.player = start()
        for case in self._suspects:
            self._again += 1
            script = renamed(case.script, f"-alone-{self._again}")
            if not self._outlives(script):
                self._note_killer(case, script, said, result)
                self.player = start()
                break
        else:
            self.unexplained.append(said)
        self._suspects.clear()

    def _outlives(self, script: Script) -> bool:
        with contextlib.suppress(ConnectionError):
            self.player.play(script)
        return is_alive(self.player.address)

    def _note_killer(self, case: Case, script: Script, said: str, result: Result) -> None:
        sentence = f"the target died of this script, in the campaign and when played alone: {said}"
        finding = Finding(
            self.campaign.name, STAYS_ALIVE, sentence, "died", self.seed, case.index, case.faults,
            script.steps[0].wire,
        ).of_script(script, len(script.steps) - 1)  # fmt: skip
        cause = cause_of(finding)
        if not self.tally.known[cause]:
            result.findings.append(finding)
        self.tally.known[cause] += 1

    def findings(self, case: Case, played: Played) -> list[Finding]:
        """What the oracles say of each step, and what was not as the script expects."""
        found = []
        for number, (wire, outcome) in enumerate(zip(played.sent, played.outcomes, strict=False)):
            step = case.script.steps[number]
            if step.expected is not None and (step.expected.held or not step.expected.codes):
                continue  # silence or a close is what is wanted of it
            found += [
                one.of_script(case.script, number)
                for one in judge(
                    self.campaign, sent_frame(wire), outcome, self.seed, case.index, step.faults
                )
            ]
        wrong = complaint(played)
        if wrong is not None:
            found.append(self._unexpected(case, played, *wrong))
        return found

    def _unexpected(self, case: Case, played: Played, number: int, sentence: str) -> Finding:
        sent, outcome = sent_frame(played.sent[number]), played.outcomes[number]
        shown = signature(sent.key, sent.version, outcome)
        return Finding(
            self.campaign.name, AS_EXPECTED, sentence, shown, self.seed, case.index, case.faults,
            sent.wire,
        ).of_script(case.script, number)  # fmt: skip

    def _keep(self, case: Case, finding: Finding, result: Result) -> None:
        cause = cause_of(finding)
        if not self.tally.known[cause]:
            try:
                again = self.confirmed(case, cause)
                if again is None:
                    self.tally.unsteady += 1
                    return
                result.findings.append(self.smaller(case, again) if case.walked else again)
            except KeyboardInterrupt:
                result.findings.append(finding)
                self.tally.known[cause] += 1
                raise
        self.tally.known[cause] += 1

    def confirmed(self, case: Case, cause: tuple[str, int, str]) -> Finding | None:
        """The finding of the same cause when the script is played again under other names."""
        self._again += 1
        script = renamed(case.script, f"-again-{self._again}")
        played = self.player.play(script, self.player.patience.times(PATIENCE))
        found = self.findings(replace(case, script=script), played)
        return next((one for one in found if cause_of(one) == cause), None)

    def smaller(self, case: Case, finding: Finding) -> Finding:
        """The finding with the fewest actions found that lead to the same complaint: those up to
        it, and of these each left out in turn.
        """
        if case.walked is None or self.walks is None or case.faults:
            return finding
        trail = case.walked.trail[: last_of(finding) + 1]
        best, actions = finding, [cell[1] for cell in trail if cell is not None]
        found = self._walked(case, actions, finding)
        place, tries = 0, SMALLER_TRIES
        while found is not None and place < len(actions) and tries and not interrupts.ended():
            best, tries = found, tries - 1
            shorter = actions[:place] + actions[place + 1 :]
            other = self._walked(case, shorter, finding)
            if other is None:
                place += 1
            else:
                found, actions = other, shorter
        return found or best

    def _walked(self, case: Case, actions: Sequence[StrEnum], finding: Finding) -> Finding | None:
        """The same complaint about a walk of these actions."""
        assert case.walked is not None and self.walks is not None
        self._again += 1
        name = f"{self.walks.word}{self.seed}-{case.index}-less-{self._again}"
        walked = self.walks.again(case.walked.machine, actions, name)
        if walked is None:
            return None
        return self._same(Case(case.index, walked.script, (), walked), finding)

    def _same(self, case: Case, finding: Finding) -> Finding | None:
        played = self.player.play(case.script)
        return next(
            (one for one in self.findings(case, played) if cause_of(one) == cause_of(finding)), None
        )

    def _count(self, case: Case, played: Played, result: Result) -> None:
        for number, (wire, outcome) in enumerate(zip(played.sent, played.outcomes, strict=False)):
            sent = sent_frame(wire)
            result.signatures[f"{sent.key}: {signature(sent.key, sent.version, outcome)}"] += 1
            self.tally.steps += 1
            if not case.faults:
                self.tally.valid_steps += 1
                body = played.answers.get(number)
                fine = outcome.end == KEPT and body is not None and not code_of(body)
                self.tally.accepted_steps += fine
        if case.walked is not None:
            tried = self.tally.tried.setdefault(case.walked.machine.name, Counter())
            tried.update(cell for cell in case.walked.trail[: len(played.sent)] if cell is not None)


def last_of(finding: Finding) -> int:
    """The last step that a complaint needs: the one that was to release what is complained of."""
    steps = finding.as_script.steps
    releases = [
        number
        for number, step in enumerate(steps)
        if step.expected is not None and step.expected.releases == finding.step
    ]
    return max(finding.step, *releases) if releases else finding.step


def cause_of(finding: Finding) -> tuple[str, int, str]:
    """What makes two complaints one: the oracle, the API, and what came back; of what was not as
    expected also the words of the expectation.
    """
    key = sent_frame(finding.wire).key
    if finding.oracle != AS_EXPECTED:
        return finding.oracle, key, finding.signature
    return finding.oracle, key, finding.sentence.partition(", ")[2].partition(" is ")[0]


def walked_cases(walks: WalkedScripts, campaign: Campaign, seed: int) -> Iterator[Case]:
    for index, one in walks.walked(seed, campaign.mutators, campaign.faults):
        yield Case(index, one.script, one.faults, one)
