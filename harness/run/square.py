"""The square: the same scenario as two clients on two brokers, so that a difference has a suspect.

    ours on ours | ours on Kafka's
    Kafka's on ours | Kafka's on Kafka's

A scenario is a case of a claim about clients that needs no misbehaving broker (AREAS). Where both
clients differ on one broker, that broker is the suspect; where one client differs on both, that
client; where only one of four differs, the pair; where all do, the scenario itself.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from touchstone.harness.judgement.verdict import CONFORMS, DIVERGES, Verdict
from touchstone.harness.model.case import Case, Judgement
from touchstone.harness.model.claim import CaseId, Claim, module_of
from touchstone.harness.model.expect import Expectation
from touchstone.harness.model.scenario import Scenario
from touchstone.harness.run.client_judge import ClientJudge

AREAS: Mapping[str, Sequence[str]] = {
    "produce": (
        "producer.records-of-a-partition-stay-in-order", "producer.keys-are-divided-by-murmur2",
        "producer.records-are-compressed-as-configured", "producer.headers-and-time-are-kept",
        "producer.acks-are-those-of-the-configuration",
        "producer.a-delivered-record-has-its-offset",
        "producer.sequences-count-records", "producer.a-single-record-too-large-fails",
    ),
    "fetch": (
        "consumer.records-come-once-and-in-order", "consumer.latest-begins-at-the-end",
        "consumer.seek-moves-the-position", "consumer.out-of-range-is-reset",
        "consumer.records-below-the-position-are-left-out",
        "consumer.a-batch-above-the-fetch-size-is-read", "consumer.every-codec-is-read",
    ),
    "groups": (
        "consumer.a-member-joins-and-syncs", "consumer.two-members-share-all-partitions",
        "consumer.callbacks-of-a-rebalance-are-in-order", "consumer.heartbeats-are-sent",
        "consumer.closing-leaves-the-group",
    ),
    "offsets": (
        "consumer.the-offset-of-the-next-record-is-committed",
        "consumer.a-group-goes-on-where-it-was",
        "consumer.given-offsets-are-committed", "consumer.closing-commits-what-was-read",
        "consumer.an-assigned-reader-commits-to-its-group",
    ),
    "transactions": (
        "producer.a-commit-makes-its-records-stable", "producer.an-abort-ends-with-end-txn",
        "producer.a-fenced-producer-gives-up", "producer.offsets-go-with-the-transaction",
        "consumer.aborted-records-are-not-handed-out", "consumer.markers-are-not-records",
        "consumer.an-open-transaction-is-waited-for",
    ),
}  # fmt: skip
# One cluster serves all scenarios of a square; nobody waits for members that do not come.
CONFIG = {
    "group.initial.rebalance.delay.ms": "0", "offsets.topic.num.partitions": "1",
    "offsets.topic.replication.factor": "1", "transaction.state.log.num.partitions": "1",
    "transaction.state.log.replication.factor": "1", "transaction.state.log.min.isr": "1",
}  # fmt: skip
OLD_JAVA = "java-2.8"
AGREE, NOBODY, SCENARIO = "", "not decided", "the scenario: it differs everywhere"


def kafkas_client(release: str) -> str:
    """Kafka's own client for a broker of a release: 4.x speaks to brokers from 2.1 on (KIP-896)."""
    return "java" if release not in ("1.0", "2.2") else OLD_JAVA


@dataclass(frozen=True, slots=True)
class Cell:
    """What a scenario came to with one client on one broker."""

    verdict: str
    reason: str

    @property
    def conforms(self) -> bool:
        return self.verdict == CONFORMS


@dataclass(frozen=True, slots=True)
class ScenarioRow:
    """One scenario in all corners: (client, broker) -> cell."""

    area: str
    case: str
    sentence: str
    cells: Mapping[tuple[str, str], Cell]

    @property
    def suspect(self) -> str:
        return suspect(self.cells)


def suspect(cells: Mapping[tuple[str, str], Cell]) -> str:
    """Who is to be looked at; "" where all corners conform. Pure."""
    bad = {corner for corner, cell in cells.items() if cell.verdict == DIVERGES}
    if not bad:
        return AGREE if all(cell.conforms for cell in cells.values()) else NOBODY
    if len(bad) == len(cells):
        return SCENARIO
    for side in (0, 1):
        names = {corner[side] for corner in bad}
        if len(names) == 1:
            (name,) = names
            whole = {corner for corner in cells if corner[side] == name}
            if bad == whole and len(whole) > 1:
                return name
    return "only together: " + ", ".join(f"{client} on {broker}" for client, broker in sorted(bad))


class Corner(ClientJudge):
    """A judge who brings every scenario to the one cluster of the square."""

    def judgement(self, case: CaseId, scenario: Scenario, expectation: Expectation) -> Judgement:
        return super().judgement(case, replace(scenario, config=CONFIG), expectation)


def rows(
    claims: Iterable[Claim], corners: Sequence[ClientJudge],
    show: Callable[[str], None] = lambda line: None,
) -> list[ScenarioRow]:  # fmt: skip
    """Every scenario in every corner, one cluster and one client after the other."""
    by_id = {claim.id: claim for claim in claims}
    seen: dict[tuple[str, str], dict[tuple[str, str], Cell]] = {}
    sentences: dict[str, str] = {}
    for judge in corners:
        try:
            for area, ids in AREAS.items():
                for claim in (by_id[id] for id in ids):
                    for case in judge.cases(claim):
                        verdict = judged(claim, case, judge)
                        cell = Cell(verdict.kind, verdict.reason)
                        seen.setdefault((area, case.id), {})[judge.word, judge.target.name] = cell
                        sentences[case.id] = claim.sentence
                        show(f"{judge.name}: {case.id}: {verdict.kind}")
        finally:
            judge.close()
    return [ScenarioRow(area, case, sentences[case], cells) for (area, case), cells in seen.items()]


def judged(claim: Claim, case: CaseId, judge: ClientJudge) -> Verdict:
    """The verdict of one case. Raises what a claim's function raises."""
    module, _, name = claim.where.rpartition(".")
    function = getattr(importlib.import_module(module_of(module)), name)
    found = function(Case(case, judge))
    return judge.judgement(case, found.scenario, found.expectation).verdict
