"""What a claim's function is given, and what it returns.

The function sees its case: a version, parameters, names that no other case has. It returns an
Experiment, made by `case.scenario(steps..., expect=...)`: data, so what a case will ask is known
before anybody is asked (harness/run/dry.py). Whoever runs the claim has it judged, once: a case is
one scenario, one recording, one row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from touchstone.harness.judgement.verdict import Verdict
from touchstone.harness.model.claim import CaseId, Claim
from touchstone.harness.model.expect import Expectation, nothing_expected, steps_named
from touchstone.harness.model.placeholders import Name
from touchstone.harness.model.scenario import Scenario
from touchstone.harness.model.target import Death
from touchstone.harness.model.transcript import Transcript

TOPIC_LENGTH = 30  # what a case's own topic is called is this long, on every target


class Misuse(Exception):
    """A claim's function uses its case wrongly; the case is BROKEN."""


@dataclass(frozen=True, slots=True)
class Experiment:
    """What a case asks, and what it expects of the answers beside that they are Kafka's."""

    scenario: Scenario
    expectation: Expectation


@dataclass(frozen=True)
class Judgement:
    """All that came of a case; transcripts are None when a side was not run."""

    verdict: Verdict
    scenario: Scenario | None = None
    expectation: Expectation | None = None
    target: Transcript | None = None
    oracle: Transcript | None = None
    at_first: Judgement | None = None  # of a case that differed, was asked again and conformed
    death: Death | None = None  # of the target, where it died of the case


class Judge(Protocol):
    """Where a case is judged: one target held against one oracle (harness/run/judge.py)."""

    @property
    def release(self) -> str: ...

    def judgement(
        self, case: CaseId, scenario: Scenario, expectation: Expectation
    ) -> Judgement: ...


J = TypeVar("J", bound=Judge, covariant=True)


class Case(Generic[J]):
    """One case of a claim on one target, with the judge who runs it."""

    def __init__(self, case: CaseId, judge: J) -> None:
        self._case, self._judge = case, judge
        self.judgement: Judgement | None = None

    @property
    def id(self) -> str:
        return self._case.id

    @property
    def case(self) -> CaseId:
        return self._case

    @property
    def judge(self) -> J:
        return self._judge

    @property
    def claim(self) -> Claim:
        return self._case.claim

    @property
    def release(self) -> str:
        """The release that the case is written for, the oracle's ("2.8") or a neighbour of it: what
        a claim may split by where steps must differ.
        """
        return self._case.like or self._judge.release

    @property
    def version(self) -> int:
        if self._case.version is None:
            raise Misuse(f"{self.claim.id} is about no API, so its case has no version")
        return self._case.version

    def __getattr__(self, name: str) -> Any:
        """A parameter by the name of its axis: case.compression, case.acks."""
        params = self.__dict__["_case"].params
        if name in params:
            return params[name]
        raise AttributeError(f"case has no {name!r}; its axes are {', '.join(params) or 'none'}")

    def topic(self, key: str = "topic", *, length: int = TOPIC_LENGTH, **how: Any) -> Name:
        """A topic's name that no other case has, always of the same length."""
        return Name(key, length=length, **how)

    def group(self, key: str = "group", *, length: int = TOPIC_LENGTH, **how: Any) -> Name:
        return Name(key, length=length, **how)

    def transactional_id(
        self, key: str = "transaction", *, length: int = TOPIC_LENGTH, **how: Any
    ) -> Name:
        return Name(key, length=length, **how)

    def scenario(
        self,
        *steps: Any,
        expect: Expectation | None = None,
        brokers: int | None = None,
        racks: Sequence[str] | None = None,
        config: Mapping[str, Any] | None = None,
    ) -> Experiment:
        """What a claim's function returns. The cluster's shape is the claim's unless it is given
        here. Raises Misuse when `expect` names a step that does not exist.
        """
        shape = self.claim.shape
        scenario = Scenario(
            steps,
            brokers=shape.brokers if brokers is None else brokers,
            racks=shape.racks if racks is None else tuple(racks),
            config=self.claim.settings(self.release) if config is None else dict(config),
        )
        expectation = nothing_expected() if expect is None else expect
        unknown = steps_named(expectation) - set(scenario.labels)
        if unknown:
            raise Misuse(f"{self.id} expects something of {', '.join(sorted(unknown))}: no step")
        return Experiment(scenario, expectation)


ClaimFunction = Callable[[Case[Any]], Experiment]


def run_case(function: ClaimFunction, case: Case[Judge]) -> Judgement:
    """Run a case on its target, ask the oracle, compare, and remember what it comes to.

    Raises Misuse when the claim's function returns no experiment, and what the function raises.
    """
    found = function(case)
    if not isinstance(found, Experiment):
        raise Misuse(f"{case.id} returns no scenario: `return case.scenario(steps..., expect=...)`")
    case.judgement = case.judge.judgement(case.case, found.scenario, found.expectation)
    return case.judgement
