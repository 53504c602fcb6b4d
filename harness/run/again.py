"""A stored case asked once more, by the judge of a run: what a run forgives is forgiven here.

The oracle is what the bundle holds of it, the claim what the bundle says of it, so neither suites
nor recordings are needed. The rest is a run's: the settings that only set a pace, numbers that a
broker gives, topics that Metadata makes, a second try of what differs, pins.
"""

from __future__ import annotations

import datetime
import secrets
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, replace

from touchstone.harness import known
from touchstone.harness.driver.turns import SHARED_KINDS
from touchstone.harness.judgement.bundle import Bundle, verdict_json
from touchstone.harness.model import profiles
from touchstone.harness.model.advertised import HeldAgainst
from touchstone.harness.model.case import Judgement
from touchstone.harness.model.claim import MUST, CaseId, Claim, suite_of
from touchstone.harness.model.expect import nothing_expected
from touchstone.harness.model.profiles import StatedProfiles
from touchstone.harness.model.scenario import Scenario
from touchstone.harness.model.target import Target
from touchstone.harness.model.transcript import Transcript
from touchstone.harness.results import rows
from touchstone.harness.run import chosen_release
from touchstone.harness.run.judge import AGAIN, Judge
from touchstone.harness.targets import matrix

PROFILE, PREFIX = "--profile", "--prefix"


class OtherRelease(ValueError):
    """A bundle has the answers of another release than the one that is asked for."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """The case as it was judged now; `bundle` is None where nobody asked the target."""

    judgement: Judgement
    bundle: Bundle | None
    known: str | None  # the pin that explains it
    against: HeldAgainst
    told: tuple[str, ...]  # what was set, and what is not as it was before


class Stored:
    """An oracle (harness/run/oracles.py) that knows the case of one bundle."""

    name, kind = "the bundle's oracle", "recorded"

    def __init__(self, answers: Transcript | None, release: str) -> None:
        self.answers, self.release = answers, release

    def transcript(self, case: CaseId, scenario: Scenario, nonce: str) -> Transcript | None:
        return self.answers

    def stop(self) -> None:
        return None


def replayed(
    old: Bundle, target: Target, deadline_s: float, *, word: str, prefix: str | None = None,
    release: str | None = None,
) -> Replayed:  # fmt: skip
    """Judge the case on this target, which a user calls `word`. Raises OtherRelease, BadPin.

    Names begin with `prefix`, or as they did; `release` is what the target wants to be held
    against, where the bundle leaves a choice.
    """
    case, against = _case(old), _against(old, target, release)
    judge = _judge(old, target, against.release, deadline_s, prefix)
    expected = nothing_expected() if old.expectation is None else old.expectation
    told: list[str] = []
    try:
        told += judge.quicken([case.claim])
        found = judge.judgement(case, old.scenario, expected)
    finally:
        told += judge.close()
    row = rows.case(
        case, found.verdict, target=target.name, release=judge.release, duration_ms=0,
        at_first=None,
    )  # fmt: skip
    row["case"] = old.case
    pin = known.explain(row, [*known.load(), *known.of_target(word)], datetime.date.today())
    new = None
    if found.target is not None:
        verdict = verdict_json(found.verdict)
        new = replace(old, target=found.target, verdict=verdict, death=found.death)
    return Replayed(found, new, pin, against, tuple(told))


def _against(old: Bundle, target: Target, wanted: str | None) -> HeldAgainst:
    """Return the release whose answers a bundle has; of one that has none, what is wanted."""
    if old.oracle is None or old.release is None:
        return chosen_release.choose(target, wanted or old.release)
    if wanted is not None and matrix.release(wanted).name != old.release:
        raise OtherRelease(
            f"{chosen_release.FLAG} {wanted}: the bundle has the answers of Kafka {old.release};"
            f" ask all of it again: {old.again} {chosen_release.FLAG} {wanted}"
        )
    return HeldAgainst(old.release, "the bundle has its answers")


def _case(old: Bundle) -> CaseId:
    claim = Claim(
        old.claim, old.sentence, old.evidence, MUST, suite_of(old.claim), old.claim, api=old.api,
        shape=old.scenario.shape, subject=old.subject, capabilities=old.capabilities,
    )  # fmt: skip
    return CaseId(claim, old.version, {}, old.like)


def _judge(
    old: Bundle, target: Target, release: str, deadline_s: float, prefix: str | None
) -> Judge:
    begin = next(_options(old.again, PREFIX), "") if prefix is None else prefix
    names = profiles.named(_options(old.again, PROFILE))
    return Judge(
        target, Stored(old.oracle, release), release, nonce=secrets.token_hex(4),
        deadline_s=deadline_s, again=AGAIN if target.kind in SHARED_KINDS else 0,
        strict=old.strict, told=StatedProfiles(names, release), prefix=begin,
    )  # fmt: skip


def _options(command: str, option: str) -> Iterator[str]:
    """What a command says by this option, which may stand there several times."""
    words = shlex.split(command)
    return (value for word, value in zip(words, words[1:], strict=False) if word == option)
