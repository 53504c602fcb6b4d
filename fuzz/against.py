"""The same cases at two targets: where do they part, and is that reviewed?

One is under test, the other is the oracle, real Kafka as a rule. Each case goes to both at once,
the next when both are done with it. What came back is compared three times: in full (the signature:
which error codes stand where, how it ended), in codes (which there are, in whatever order) and in
class (answered, passed over, hung up on, silent). Differences of one behaviour of one API are one
group. `differences.toml` holds those that were reviewed, each with its reason; a group that is not
there is a finding.
"""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from touchstone.fuzz import interrupts
from touchstone.fuzz.campaign import Campaign, Finding, planned_cases, play
from touchstone.fuzz.deaths import MOST
from touchstone.fuzz.generator import Generator
from touchstone.fuzz.lanes import Kind, Planned
from touchstone.fuzz.outcome import CLOSED, KEPT, RESET, Outcome, signature
from touchstone.fuzz.runner import Link
from touchstone.reference_impl.wire.apis import API

LEDGER = Path(__file__).parent / "differences.toml"
INDEX = re.compile(r"\[\d+\]")
EXAMPLES = 3  # kept of each group
HELD_S = 1.0
"""For what may be held: a change of topics takes longer than a campaign's patience on a busy
machine, and what one of the two has not done by then is a difference in every later case.
"""
CODE = re.compile(r"[^ ,(]+=-?\d+")
SAME_CODES = (
    "The same codes: Kafka answers rows in the order of its hash maps, or one for each time that a"
    " name was repeated."
)


@dataclass(frozen=True)
class Group:
    """One behaviour of one API: what the target showed and what the oracle did, without indexes."""

    key: int
    target: str
    oracle: str

    @property
    def api(self) -> str:
        return API[self.key].name if self.key in API else f"key {self.key}"

    @property
    def same_codes(self) -> bool:
        return codes(self.target) == codes(self.oracle)


@dataclass(frozen=True)
class Reviewed:
    """A row of the ledger: patterns that the whole of a group's texts must match."""

    api: str
    target: str
    oracle: str
    releases: tuple[str, ...]
    reason: str

    def covers(self, group: Group, release: str | None) -> bool:
        return (
            (release is None or release in self.releases)
            and re.fullmatch(self.api, group.api) is not None
            and re.fullmatch(self.target, group.target) is not None
            and re.fullmatch(self.oracle, group.oracle) is not None
        )


@dataclass(frozen=True)
class Example:
    """A case of a group: what the target showed, and the oracle."""

    planned: Planned
    shown: str
    expected: str

    @property
    def wire(self) -> bytes:
        return self.planned.sent.wire


@dataclass
class Comparison:
    """Counts of cases. `examples` are the shortest frames of each group. One that its user
    `interrupted` is whole as far as it came.
    """

    campaign: str = ""
    cases: int = 0
    equal: int = 0
    equal_in_codes: int = 0
    equal_in_class: int = 0
    groups: dict[Group, int] = field(default_factory=dict)
    examples: dict[Group, list[Example]] = field(default_factory=dict)
    deaths: list[list[Planned]] = field(default_factory=list)  # the last cases before each
    interrupted: bool = False

    @property
    def kinds(self) -> tuple[int, str]:
        return len(self.groups), "differences"

    @property
    def found(self) -> str:
        return f"{self.equal / max(self.cases, 1):.1%} equal in full"

    def add(self, group: Group, example: Example) -> None:
        self.groups[group] = self.groups.get(group, 0) + 1
        kept = [*self.examples.get(group, []), example]
        self.examples[group] = sorted(kept, key=lambda one: len(one.wire))[:EXAMPLES]


def codes(shown: str) -> tuple[frozenset[str], str]:
    """Which error codes stand at which paths of a signature without indexes, and how it ended."""
    return frozenset(CODE.findall(shown)), shown.rpartition(" ")[2]


def outcome_class(outcome: Outcome) -> str:
    """What a case came to, whatever the answer says."""
    if outcome.answers:
        return "answered" if outcome.end == KEPT else "answered, then ended"
    end = CLOSED if outcome.end == RESET else outcome.end
    return "passed over" if end == KEPT else end


def compare(
    campaign: Campaign, link: Link, oracle: Link,
    generator: Callable[[random.Random], Generator], *,
    seed: int, wanted: Callable[[Comparison], bool],
    revive: Callable[[], bool] = lambda: False,
) -> Comparison:  # fmt: skip
    """Play the campaign's generated cases at both while `wanted` says so. When one of them no
    longer accepts connections, `revive` starts it anew, and cases like the last two, of one of
    which it died, are left out. Raises ConnectionError where `revive` cannot.
    """
    found = Comparison(campaign.name)
    last: Planned | None = None
    killers: set[Kind] = set()
    try:
        for planned in planned_cases(campaign, generator, seed):
            if not wanted(found):
                break
            if planned.kind in killers:
                continue
            try:
                one, other = play_both(planned, link, oracle)
            except ConnectionError:
                if len(found.deaths) >= MOST:
                    raise
                found.deaths.append([last, planned] if last else [planned])
                with interrupts.prompt():
                    if not revive():
                        raise
                killers |= {each.kind for each in found.deaths[-1]}
                continue
            note(found, planned, one, other)
            last = planned
    except KeyboardInterrupt:
        found.interrupted = True
    found.interrupted |= interrupts.ended()
    return found


def play_both(planned: Planned, link: Link, oracle: Link) -> tuple[Outcome, Outcome]:
    """At the same time, for each may take a second over it. Raises ConnectionError.

    A broker may hang up on the last case when it has answered the probe behind it: what only one of
    the two hangs up on, without a word, goes there again.
    """
    with ThreadPoolExecutor(1) as beside:  # which waits for the oracle, whatever the target does
        told = beside.submit(play, oracle, planned.sent, held_s=HELD_S)
        one = play(link, planned.sent, held_s=HELD_S)
    other = told.result()
    if outcome_class(one) == CLOSED != outcome_class(other):
        one = play(link, planned.sent, held_s=HELD_S)
    elif outcome_class(other) == CLOSED != outcome_class(one):
        other = play(oracle, planned.sent, held_s=HELD_S)
    return one, other


def note(found: Comparison, planned: Planned, one: Outcome, other: Outcome) -> None:
    sent = planned.sent
    shown, expected = (signature(sent.key, sent.version, each) for each in (one, other))
    found.cases += 1
    found.equal += shown == expected
    found.equal_in_class += outcome_class(one) == outcome_class(other)
    if shown == expected:
        found.equal_in_codes += 1
        return
    group = Group(sent.key, INDEX.sub("[*]", shown), INDEX.sub("[*]", expected))
    found.add(group, Example(planned, shown, expected))
    found.equal_in_codes += group.same_codes


@cache
def ledger(path: Path = LEDGER) -> tuple[Reviewed, ...]:
    rows = tomllib.loads(path.read_text()).get("difference", [])
    return tuple(Reviewed(**{**row, "releases": tuple(row["releases"])}) for row in rows)


def reason_of(group: Group, release: str | None) -> str | None:
    """The reason of a reviewed difference; None of one that was not reviewed."""
    if group.same_codes:
        return SAME_CODES
    return next((row.reason for row in ledger() if row.covers(group, release)), None)


def report_lines(found: Comparison, release: str | None) -> Iterator[str]:
    """The comparison in lines: shares, then each group, those without a review first."""
    reviewed = {group: reason_of(group, release) for group in found.groups}
    known = sum(found.groups[group] for group, reason in reviewed.items() if reason)
    if not found.cases:
        yield "no case was played"
        return
    cases = found.cases
    yield (
        f"{found.cases} cases: {found.equal / cases:.2%} equal in full, "
        f"{found.equal_in_codes / cases:.2%} in codes, {found.equal_in_class / cases:.2%} in class;"
        f" {known} differ as reviewed, {len(unreviewed(found, release))} new groups"
    )
    for suspects in found.deaths:
        shown = " or ".join(
            f"case {one.index} (key {one.sent.key}, {' '.join(one.faults) or 'no fault'})"
            for one in suspects
        )
        yield f"  one of the two died of {shown} and was started again; no such case came after it"
    for group, count in sorted(
        found.groups.items(), key=lambda row: (bool(reviewed[row[0]]), -row[1])
    ):
        example = found.examples[group][0]
        yield f"  {count:6} x {group.api}: {group.target or 'nothing'}"
        yield f"           oracle: {group.oracle or 'nothing'}"
        yield f"           {reviewed[group] or 'new'}; {' '.join(example.planned.faults)}"
        yield f"           {example.wire.hex()[:400]}"


def findings(
    found: Comparison, release: str | None, seed: int, names: tuple[str, str]
) -> Iterator[Finding]:
    """One for each group without a review; `names` are those of the target and of the oracle."""
    for group in unreviewed(found, release):
        one = found.examples[group][0]
        said = f"{names[0]} showed {one.shown!r}, {names[1]} {one.expected!r}"
        planned = one.planned
        yield Finding(
            found.campaign, "differs", said, one.shown, seed, planned.index, planned.faults,
            one.wire, one.expected,
        )  # fmt: skip


def unreviewed(found: Comparison, release: str | None) -> Mapping[Group, int]:
    return {g: n for g, n in found.groups.items() if reason_of(g, release) is None}
