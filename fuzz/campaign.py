"""A campaign: which frames, which faults, which oracles, how many; and the loop that runs it.

One declarative file each in `campaigns/`. All randomness of case i descends from (seed, i) alone,
so a finding is (campaign, seed, index) and any slice of a campaign can be run on any machine.
"""

from __future__ import annotations

import contextlib
import itertools
import random
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol, TypeVar

from touchstone.fuzz import edges
from touchstone.fuzz.cases import Case, corpus
from touchstone.fuzz.draw import draw_of
from touchstone.fuzz.engine import Engine
from touchstone.fuzz.generator import Generator, Pair, harmful
from touchstone.fuzz.lanes import HELD_TIMEOUT_S, Planned
from touchstone.fuzz.mutators import SIZE, Mutate, mutators
from touchstone.fuzz.oracles import ORACLES, Oracle, SentFrame, sent_frame
from touchstone.fuzz.outcome import RAISED, SILENT, Outcome, signature
from touchstone.fuzz.ring import Ring
from touchstone.fuzz.runner import ASK_TIMEOUT_S, Link, Tally
from touchstone.fuzz.script import Script, Step
from touchstone.fuzz.segments import frames_in, may_wait
from touchstone.fuzz.watches import WATCHES
from touchstone.fuzz.watches.watch import Played

FOLDER = Path(__file__).parent / "campaigns"
SOURCES = ("generated", "corpus", "machine", "sequence")
SCRIPTED = ("machine", "sequence")
NEED_ONE_HEADER = (
    "correlates", "parses", "knows_its_errors", "keeps_the_connection", "answers_or_hangs_up",
    "answers_nothing_to_acks_0",
)  # fmt: skip

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
    watches: tuple[str, ...] = ()  # who looks at the target meanwhile: names of `watches.WATCHES`
    keys: tuple[int, ...] = ()  # the API keys that it is about; none: all that are served
    machines: tuple[str, ...] = ()  # of source "machine": their names
    mutations: tuple[str, ...] = ()  # of source "sequence": their names, "*" for all
    weights: dict[str, int] = field(default_factory=dict)  # of mutators; 1 of those not named
    every_edge: bool = False  # is sent once (`edges`) before anything is drawn

    @property
    def dealt(self) -> list[str]:
        """The names that faults are drawn from: each mutator as often as it weighs."""
        return [name for name in self.mutators for _ in range(self.weights.get(name, 1))]

    def own(self, pairs: Iterable[Pair]) -> tuple[Pair, ...]:
        """Of these (API key, version) pairs those that it is about."""
        return tuple(one for one in pairs if one.key in self.keys or not self.keys)


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
        tuple(chosen(path, "watches", fields.get("watches", []), WATCHES)),
        tuple(fields.get("keys", ())),
        tuple(fields.get("machines", ())),
        tuple(fields.get("mutations", ())),
        weights_of(path, fields.get("weights", {}), fields["mutators"]),
        fields.get("every_edge", False),
    )


def weights_of(path: Path, weights: dict[str, int], names: list[str]) -> dict[str, int]:
    """How often each mutator is drawn beside one that is not named. Raises BadCampaign."""
    for name, weight in weights.items():
        if name not in names and names != ["*"]:
            raise BadCampaign(f"{path}: weights: no {name!r}; there are {', '.join(names)}")
        if weight < 1:
            raise BadCampaign(f"{path}: weights: {name} = {weight}; the least is 1")
    return weights


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
    """What a campaign came to. `signatures` counts each distinct behaviour seen; one that its user
    `interrupted` is whole as far as it came.
    """

    campaign: str
    cases: int = 0
    findings: list[Finding] = field(default_factory=list)
    signatures: Counter[str] = field(default_factory=Counter)
    interrupted: bool = False
    edges: int = 0  # cases that were one of every edge

    @property
    def kinds(self) -> tuple[int, str]:
        return len(self.signatures), "behaviours"

    @property
    def found(self) -> str:
        return f"{len(self.findings)} findings"

    def played(self, sent: int) -> Played:
        """What watches are told of it; `sent` is in bytes."""
        silent = sum(count for shown, count in self.signatures.items() if shown.endswith(SILENT))
        return Played(self.cases, sent, silent)


def header_of(wire: bytes, pair: Pair, correlation_id: int) -> SentFrame:
    """The header a frame carries now: a peer answers what it reads, not what we meant."""
    if len(wire) < SIZE + 8:
        return SentFrame(pair.key, pair.version, correlation_id, wire)
    return sent_frame(wire)


def generated(
    campaign: Campaign,
    generator: Callable[[random.Random], Generator],
    seed: int,
    *,
    first: int = 0,
    step: int = 1,
) -> Iterator[tuple[int, SentFrame, tuple[str, ...]]]:
    """Case `first` and every `step`-th behind it, for ever: (index, what is sent, the faults)."""
    names = campaign.dealt
    once = edges_before(campaign, generator, seed)
    for index in itertools.count(first, step):
        draw = draw_of(seed, campaign.name, index)
        if index < len(once):
            edge, correlation = once[index], index & 0x7FFFFFFF
            wire = edges.frame_of(edge, generator(draw), correlation)
            sent = SentFrame(edge.pair.key, edge.pair.version, correlation, wire)
            yield index, sent, (edge.fault,)
            continue
        pair, wire = generator(draw).frame(correlation_id=index & 0x7FFFFFFF)
        valid, faults = wire, []
        for _ in range(draw.randint(*campaign.faults)):
            name = draw.choice(names)
            wire = campaign.mutators[name](wire, draw)
            faults.append(name)
        if faults and harmful(wire):
            wire, faults = valid, []
        yield index, header_of(wire, pair, index & 0x7FFFFFFF), tuple(faults)


def edges_before(
    campaign: Campaign, generator: Callable[[random.Random], Generator], seed: int
) -> list[edges.Edge]:
    """Return the edges that a campaign sends before it draws; none of one that does not ask."""
    if not campaign.every_edge:
        return []
    pairs = generator(draw_of(seed, campaign.name, 0)).pairs
    return edges.every_edge(tuple(dict.fromkeys(pairs)), seed)


def frozen() -> Iterator[tuple[int, SentFrame, tuple[str, ...]]]:
    """The corpus as cases."""
    for index, case in enumerate(corpus()):
        yield index, frame_of_case(case), (case.name,)


def frame_of_case(case: Case) -> SentFrame:
    return SentFrame(case.key, case.version, case.correlation_id, case.wire)


def planned_cases(
    campaign: Campaign,
    generator: Callable[[random.Random], Generator],
    seed: int,
    *,
    first: int = 0,
    step: int = 1,
) -> Iterator[Planned]:
    """`generated` as players take it."""
    return (Planned(*case) for case in generated(campaign, generator, seed, first=first, step=step))


class Player(Protocol):
    """Sends cases and gives each with its outcome, in order. `in_flight` are those it has sent and
    not given yet, `ring` those of the last seconds.
    """

    tally: Tally
    ring: Ring

    def play(self, cases: Iterable[Planned], /) -> Iterator[tuple[Planned, Outcome]]: ...
    def in_flight(self) -> list[Planned]: ...


def run(
    campaign: Campaign,
    link: Link,
    generator: Callable[[random.Random], Generator],
    *,
    seed: int,
    wanted: Callable[[Result], bool],
    recorded: Mapping[str, str] | None = None,
    result: Result | None = None,
    player: Player | None = None,
    every: int = 0,
    pause: Callable[[], object] = lambda: None,
    cases: Iterable[Planned] | None = None,
    learn: Callable[[Planned, str], object] | None = None,
) -> Result:
    """Play cases while `wanted(result)` holds and the source has more.

    Generated cases are played by `player`, or over many connections at once that are made like
    `link`; frozen ones, which build upon each other, go over `link` one by one. `cases` may say
    which they are, and `learn` is told each one's signature. `wanted` is asked before each case is
    drawn: `result.cases` counts what was drawn, findings and signatures follow.
    First of all, and whenever `every` cases were drawn (0: never again), `pause()` is called while
    none is in flight. Raises ConnectionError when the target no longer accepts connections;
    `result`, if given, says how far it came, whatever ends the run. `recorded` are signatures by
    case name that frozen cases are held against.
    """
    result = Result(campaign.name) if result is None else result
    if campaign.source == "corpus":
        return run_frozen(campaign, link, wanted, result, recorded or {}, seed)

    kept = 0

    def drawn() -> Iterator[Planned]:
        for planned in planned_cases(campaign, generator, seed) if cases is None else cases:
            if not wanted(result):
                return
            result.cases += 1
            yield planned

    with contextlib.ExitStack() as stack:
        if player is None:
            made = Engine(link.address, timeout_s=link.timeout_s, settle=link.own_settle)
            player = stack.enter_context(made)
        source = drawn()
        try:
            while wanted(result):
                pause()
                block = itertools.islice(source, every or None)
                for planned, outcome in player.play(block):
                    shown = keep(campaign, result, planned, outcome, seed)
                    if learn is not None:
                        learn(planned, shown)
                    kept += 1
        finally:
            result.cases = kept
    return result


def keep(campaign: Campaign, result: Result, planned: Planned, outcome: Outcome, seed: int) -> str:
    """Count a case's behaviour and keep what the oracles say of it; returns its signature."""
    shown = signature(planned.sent.key, planned.sent.version, outcome)
    result.signatures[f"{planned.sent.key}: {shown}"] += 1
    result.edges += edges.is_edge(planned.faults)
    at = seed, planned.index, planned.faults
    result.findings += judge(campaign, planned.sent, outcome, *at, shown)
    if outcome.end.startswith(RAISED):  # no campaign has to ask for that
        said = f"an exception left the broker: {outcome.end}"
        result.findings.append(
            Finding(campaign.name, "lets_nothing_escape", said, shown, *at, planned.sent.wire)
        )
    return shown


def run_frozen(
    campaign: Campaign,
    link: Link,
    wanted: Callable[[Result], bool],
    result: Result,
    recorded: Mapping[str, str],
    seed: int,
) -> Result:
    """The corpus, one by one; an outcome that is not the recorded one is a finding."""
    for index, sent, faults in frozen():
        if not wanted(result):
            break
        result.cases += 1
        outcome = play(link, sent, known=True)
        shown = keep(campaign, result, Planned(index, sent, faults), outcome, seed)
        if recorded.get(faults[0], shown) != shown:
            said = f"{faults[0]}: {shown!r}; real Kafka showed {recorded[faults[0]]!r}"
            result.findings.append(
                Finding(
                    campaign.name,
                    "as_recorded",
                    said,
                    shown,
                    seed,
                    index,
                    faults,
                    sent.wire,
                    recorded[faults[0]],
                )  # fmt: skip
            )
    return result


def play(
    link: Link, sent: SentFrame, *, known: bool = False, held_s: float = HELD_TIMEOUT_S
) -> Outcome:
    """One case over the wire, in the way its framing asks for; one that is `known` to be answered
    is waited for, and costs no more for it. `held_s`: for how long one that may be held.
    """
    held = not known and may_wait(sent.wire)
    timeout_s = ASK_TIMEOUT_S if known else held_s if held else None
    whole = frames_in(sent.wire)[1]
    return link.play([sent.wire], probe=whole, timeout_s=timeout_s, may_wait=held)


def judge(
    campaign: Campaign,
    sent: SentFrame,
    outcome: Outcome,
    seed: int,
    index: int,
    faults: tuple[str, ...],
    shown: str | None = None,
) -> list[Finding]:
    """What the oracles say of one case; `shown` is its signature, where that is known already."""
    # A frame whose size prefix lies, or that holds several frames, is answered by what the peer
    # makes of it; only the oracles that need no single header can judge it.
    frames, whole = frames_in(sent.wire)
    one = whole and len(frames) == 1
    if not faults and campaign.source == "generated":
        sent = replace(sent, broken=False)
    if shown is None:
        shown = signature(sent.key, sent.version, outcome)
    return [
        Finding(campaign.name, name, complaint, shown, seed, index, faults, sent.wire)
        for name, oracle in campaign.oracles.items()
        if (one or name not in NEED_ONE_HEADER) and (complaint := oracle(sent, outcome))
    ]
