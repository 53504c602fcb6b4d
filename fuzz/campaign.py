"""A campaign: which frames, which faults, which oracles, how many; and the loop that runs it.

One declarative file each in `campaigns/`. All randomness of case i descends from (seed, i) alone,
so a finding is (campaign, seed, index) and any slice of a campaign can be run on any machine.
"""

from __future__ import annotations

import random
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from touchstone.fuzz.cases import Case, corpus
from touchstone.fuzz.generator import Generator, Pair, harmful
from touchstone.fuzz.mutators import SIZE, Mutate, mutators
from touchstone.fuzz.oracles import ORACLES, Oracle, SentFrame, sent_frame
from touchstone.fuzz.outcome import Outcome, signature
from touchstone.fuzz.runner import ASK_TIMEOUT_S, Link
from touchstone.fuzz.script import Script, Step
from touchstone.fuzz.segments import frames_in, may_wait

FOLDER = Path(__file__).parent / "campaigns"
SOURCES = ("generated", "corpus", "machine", "sequence")
SCRIPTED = ("machine", "sequence")
HELD_TIMEOUT_S = 0.1
"""Seconds for a request that may be held: long enough for an answer, too short to be missed."""
NEED_ONE_HEADER = ("correlates", "parses", "knows_its_errors", "keeps_the_connection")

T = TypeVar("T")


class BadCampaign(ValueError):
    """A campaign file asks for something that does not exist; names file, field and choices."""


@dataclass(frozen=True)
class Campaign:
    """What a campaign file says, with names resolved."""

    name: str
    sentence: str
    source: str
    mutators: dict[str, Mutate]
    faults: tuple[int, int]
    oracles: dict[str, Oracle]
    cases: int
    keys: tuple[int, ...] = ()  # the API keys that it is about; none: all that are served
    machines: tuple[str, ...] = ()  # of source "machine": their names
    mutations: tuple[str, ...] = ()  # of source "sequence": their names, "*" for all


def chosen(path: Path, what: str, names: list[str], known: Mapping[str, T]) -> dict[str, T]:
    """The named entries of `known`; "*" is all of them."""
    if names == ["*"]:
        return dict(known)
    for name in names:
        if name not in known:
            raise BadCampaign(f"{path}: {what}: no {name!r}; there are {', '.join(known)}")
    return {name: known[name] for name in names}


def load(path: Path) -> Campaign:
    """Read one campaign file; raises BadCampaign."""
    fields = tomllib.loads(path.read_text())
    missing = {"sentence", "source", "mutators", "faults", "oracles", "cases"} - fields.keys()
    if missing:
        raise BadCampaign(f"{path}: missing: {', '.join(sorted(missing))}")
    if fields["source"] not in SOURCES:
        raise BadCampaign(f"{path}: source: no {fields['source']!r}; there are {SOURCES}")
    return Campaign(
        path.stem,
        fields["sentence"],
        fields["source"],
        chosen(path, "mutators", fields["mutators"], mutators()),
        tuple(fields["faults"]),
        chosen(path, "oracles", fields["oracles"], ORACLES),
        fields["cases"],
        tuple(fields.get("keys", ())),
        tuple(fields.get("machines", ())),
        tuple(fields.get("mutations", ())),
    )


def campaigns() -> dict[str, Campaign]:
    return {path.stem: load(path) for path in sorted(FOLDER.glob("*.toml"))}


@dataclass(frozen=True)
class Finding:
    """An oracle's complaint about one case, with everything needed to see it again."""

    campaign: str
    oracle: str
    sentence: str
    signature: str
    seed: int
    index: int
    faults: tuple[str, ...]
    wire: bytes  # the frame that was complained about, as it went out
    expected: str | None = None  # the right signature, where it is known
    script: Script | None = None  # of which the frame is a step
    step: int = 0

    @property
    def as_script(self) -> Script:
        """All that has to be sent; a case of one frame is a script of one step."""
        return self.script or Script((Step(self.wire, faults=self.faults),))

    def of_script(self, script: Script, step: int) -> Finding:
        """The finding as one about this step of a script."""
        return replace(self, script=script, step=step)


@dataclass
class Result:
    """What a campaign came to. `signatures` counts each distinct behaviour seen."""

    campaign: str
    cases: int = 0
    findings: list[Finding] = field(default_factory=list)
    signatures: Counter[str] = field(default_factory=Counter)


def header_of(wire: bytes, pair: Pair, correlation_id: int) -> SentFrame:
    """The header a frame carries now: a peer answers what it reads, not what we meant."""
    if len(wire) < SIZE + 8:
        return SentFrame(pair.key, pair.version, correlation_id, wire)
    return sent_frame(wire)


def generated(
    campaign: Campaign, generator: Callable[[random.Random], Generator], seed: int
) -> Iterator[tuple[int, SentFrame, tuple[str, ...]]]:
    """Case after case, for ever: (index, what is sent, the faults put in)."""
    names = list(campaign.mutators)
    index = 0
    while True:
        draw = random.Random(f"{seed}/{campaign.name}/{index}")
        pair, wire = generator(draw).frame(correlation_id=index & 0x7FFFFFFF)
        valid, faults = wire, []
        for _ in range(draw.randint(*campaign.faults)):
            name = draw.choice(names)
            wire = campaign.mutators[name](wire, draw)
            faults.append(name)
        if harmful(wire):
            wire, faults = valid, []
        yield index, header_of(wire, pair, index & 0x7FFFFFFF), tuple(faults)
        index += 1


def frozen() -> Iterator[tuple[int, SentFrame, tuple[str, ...]]]:
    """The corpus as cases."""
    for index, case in enumerate(corpus()):
        yield index, frame_of_case(case), (case.name,)


def frame_of_case(case: Case) -> SentFrame:
    return SentFrame(case.key, case.version, case.correlation_id, case.wire)


def run(
    campaign: Campaign,
    link: Link,
    generator: Callable[[random.Random], Generator],
    *,
    seed: int,
    wanted: Callable[[Result], bool],
    recorded: Mapping[str, str] | None = None,
    result: Result | None = None,
) -> Result:
    """Play cases while `wanted(result)` holds and the source has more.

    Raises ConnectionError when the target no longer accepts connections; `result`, if given, says
    how far it came. `recorded` are signatures by case name that frozen cases are held against.
    """
    result = Result(campaign.name) if result is None else result
    source = frozen() if campaign.source == "corpus" else generated(campaign, generator, seed)
    for index, sent, faults in source:
        if not wanted(result):
            break
        outcome = play(link, sent, known=campaign.source == "corpus")
        result.findings += judge(campaign, sent, outcome, seed, index, faults)
        shown = signature(sent.key, sent.version, outcome)
        result.cases += 1
        result.signatures[f"{sent.key}: {shown}"] += 1
        if recorded is not None and recorded.get(faults[0], shown) != shown:
            said = f"{faults[0]}: {shown!r}; real Kafka showed {recorded[faults[0]]!r}"
            result.findings.append(
                Finding(campaign.name, "as_recorded", said, shown, seed, index, faults, sent.wire)
            )
    return result


def play(link: Link, sent: SentFrame, *, known: bool = False) -> Outcome:
    """One case over the wire, in the way its framing asks for; one that is `known` to be answered
    is waited for, and costs no more for it.
    """
    held = not known and may_wait(sent.wire)
    timeout_s = ASK_TIMEOUT_S if known else HELD_TIMEOUT_S if held else None
    whole = frames_in(sent.wire)[1]
    return link.play([sent.wire], probe=whole, timeout_s=timeout_s, may_wait=held)


def judge(
    campaign: Campaign,
    sent: SentFrame,
    outcome: Outcome,
    seed: int,
    index: int,
    faults: tuple[str, ...],
) -> list[Finding]:
    """What the oracles say of one case."""
    # A frame whose size prefix lies, or that holds several frames, is answered by what the peer
    # makes of it; only the oracles that need no single header can judge it.
    frames, whole = frames_in(sent.wire)
    one = whole and len(frames) == 1
    shown = signature(sent.key, sent.version, outcome)
    return [
        Finding(campaign.name, name, complaint, shown, seed, index, faults, sent.wire)
        for name, oracle in campaign.oracles.items()
        if (one or name not in NEED_ONE_HEADER) and (complaint := oracle(sent, outcome))
    ]
