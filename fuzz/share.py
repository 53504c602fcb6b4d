"""What one process plays of a generated campaign: all of it, or each n-th case of n processes.

A share is a value that can be sent to another process, and so is what it comes to. Cases are dealt
out by index, so together the shares play what one process would have played; a guided campaign
learns in each process from that process's cases alone, and the corpora are merged at the end.
"""

from __future__ import annotations

import contextlib
import logging
import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from touchstone.fuzz import interrupts
from touchstone.fuzz.campaign import Campaign, Player, Result, planned_cases, run
from touchstone.fuzz.corpus_folder import Corpus
from touchstone.fuzz.corpus_run import AFTER_DELETION
from touchstone.fuzz.engine import Engine
from touchstone.fuzz.generator import Generator, Pair
from touchstone.fuzz.guided import Guide
from touchstone.fuzz.in_process import InProcess, OneByOne
from touchstone.fuzz.lanes import Kind, Planned
from touchstone.fuzz.novelty import NOTHING, Novelty, novelty
from touchstone.fuzz.preparation import prepare
from touchstone.fuzz.progress import Progress
from touchstone.fuzz.ring import Sent
from touchstone.fuzz.runner import Link, stopwatch
from touchstone.fuzz.world import World
from touchstone.harness.model.target import Versions
from touchstone.reference_impl.wire.headers import API_VERSIONS

MakeGenerator = Callable[[random.Random], Generator]

RESTORE_EVERY = 10_000
RENEW_EVERY = 5_000
"""Cases after which a broker in process is made anew: it is cheap, and a full one is slow."""
MOST_SUSPECTS = 20
LOUDER_THAN_ALL = logging.CRITICAL + 1
ONE_AT_A_TIME = frozenset({
    19, 20,  # CreateTopics, DeleteTopics
    33, 44,  # AlterConfigs, IncrementalAlterConfigs
    49, 51,  # AlterClientQuotas, AlterUserScramCredentials
    57,  # UpdateFeatures
    90,  # DescribeShareGroupOffsets
})  # fmt: skip
"""APIs whose requests Kafka carries out one after another, 40 to 320 a second on 4.3.1 where others
get 650 to 3,000: each waits for the metadata log, or for an answer of a share coordinator
(PersisterStateManager). Dealt like all others they took four fifths of a campaign's time."""
TIMES_AS_OFTEN = 8
"""Cases that each other pair gets for one of such a pair: as many of the slow ones in a minute as
when all are dealt alike, and more of the rest."""


@dataclass(frozen=True)
class Where:
    """Where cases go: to an address, or to a broker of `release` in this process."""

    address: tuple[str, int] | None
    release: str = "4.3"
    switches: tuple[str, ...] = ()
    fresh: bool = False  # a connection for each case
    ours: bool = True  # topics may be deleted
    zookeeper: bool = False  # holds the registry, so a deletion takes longer than it seems

    def link(self) -> Link:
        if self.address is None:
            return InProcess(self.release, switches=self.switches)
        return Link(*self.address)

    def prepare(self, link: Link) -> World:
        """Make what valid requests name, and of a cluster of ours delete the rest. Raises
        NotPrepared.
        """
        if isinstance(link, InProcess):
            link.renew()
        rests = AFTER_DELETION if self.zookeeper else 0
        return prepare(link, listed_by(link), ours=self.ours, rests=rests)


def listed_by(link: Link) -> Versions:
    """What the target lists in ApiVersions; nothing where it hangs up on the question."""
    answer = link.ask(API_VERSIONS, 0, {})
    rows = answer["api_keys"] if answer else ()
    return {row["api_key"]: (row["min_version"], row["max_version"]) for row in rows}


@dataclass(frozen=True)
class Share:
    """`cases` and `seconds` bound it, whichever comes first; None: that does not."""

    campaign: Campaign
    pairs: tuple[Pair, ...]
    where: Where
    seed: int
    cases: int | None
    seconds: float | None
    job: int = 0
    jobs: int = 1
    guided: bool = False
    coverage: bool = False  # in process: what runs for the first time is told, and guides
    warm: int = 0  # cases that are played before the first that counts
    kept: tuple[bytes, ...] = ()  # frames of a corpus, played first by a guided campaign
    world: World | None = None  # of a target that is prepared for all jobs; None: each prepares it
    alone: bool = False  # no other share plays at its target
    begin: int = 0  # the first case of all shares
    left_out: frozenset[Kind] = frozenset()  # what killed the target before

    @cached_property
    def dealt(self) -> list[Pair]:
        """What cases are drawn from: each pair as often as it is to come among the others."""
        return [
            pair
            for pair in self.pairs
            for _ in range(1 if pair.key in ONE_AT_A_TIME else TIMES_AS_OFTEN)
        ]

    def generator(self, draw: random.Random, world: World) -> Generator:
        return Generator(self.dealt, draw, world)

    def planned(self, make: MakeGenerator) -> Iterator[Planned]:
        first = self.begin + self.job
        return planned_cases(self.campaign, make, self.seed, first=first, step=self.jobs)

    def guide(self, make: MakeGenerator) -> Guide:
        return Guide(self.campaign, make, self.seed, kept=self.kept, job=self.job, jobs=self.jobs)

    @property
    def prepares(self) -> bool:
        """Whether this process does it: one for all that share a cluster."""
        return self.alone or self.where.address is None or not self.job


@dataclass
class Played:
    """What a share came to."""

    result: Result
    connects: int = 0
    gone: str | None = None  # the target, with the cases that were in flight
    suspects: list[Planned] = field(default_factory=list)  # these cases
    ring: list[Sent] = field(default_factory=list)  # what it was sent in its last seconds
    corpus: list[bytes] = field(default_factory=list)
    places: int = 0  # lines and branches that ran
    seconds: float = 0.0  # that it took, of the process that took longest
    sent: int = 0  # bytes

    @property
    def rate(self) -> float:
        """Cases a second."""
        return self.result.cases / max(self.seconds, 1e-9)


def play(share: Share, tell: Callable[[str], object], played: Played | None = None) -> Played:
    """Play until the share's end, the target's, or a Ctrl-C. `played.result` grows meanwhile."""
    played = played or Played(Result(share.campaign.name))
    with contextlib.ExitStack() as stack:
        link = stack.enter_context(share.where.link())
        player = stack.enter_context(playing(share.where, link))
        watching = stack.enter_context(watched()) if share.coverage else None
        worlds = [share.world or World()]  # what the target said last: later cases draw from it

        def make(draw: random.Random) -> Generator:
            return share.generator(draw, worlds[0])

        def prepare_anew() -> None:
            with interrupts.prompt():  # no case is in flight
                worlds[0] = share.where.prepare(link)

        guide = share.guide(make) if share.guided else None

        def learn(planned: Planned, shown: str) -> None:
            news = watching.new_places() if watching else NOTHING
            played.places += len(news)
            if guide is not None:
                guide.learn(planned, shown, ran_new=bool(news))

        try:
            if share.prepares and share.world is None:
                prepare_anew()
        except KeyboardInterrupt:
            played.result.interrupted = True
            return played
        if share.warm:  # so that what is made at first use (codecs, handlers) is there
            run(
                share.campaign, link, make, seed=share.seed + 1, player=player,
                wanted=lambda so_far: so_far.cases < share.warm,
            )  # fmt: skip
        cases = share.planned(make) if guide is None else guide.cases()
        elapsed = stopwatch()
        progress = Progress(elapsed, tell, cases=share.cases, seconds=share.seconds)
        try:
            run(
                share.campaign, link, make, seed=share.seed, result=played.result,
                wanted=progress.wanted, player=player, learn=learn,
                cases=(one for one in cases if one.kind not in share.left_out),
                every=RENEW_EVERY if share.where.address is None else RESTORE_EVERY,
                pause=lambda: prepare_anew() if share.prepares and played.result.cases else None,
            )  # fmt: skip
        except KeyboardInterrupt:
            played.result.interrupted = True
        except ConnectionError as gone:
            played.suspects = player.in_flight()
            played.gone = f"{gone}{in_words(played.suspects)}"
        if share.jobs == 1 or played.gone is not None:
            played.ring = player.ring.last()
        played.result.interrupted |= interrupts.ended()
        played.seconds = progress.over_at or elapsed()
        played.connects, played.sent = player.tally.connects, player.tally.sent
        if guide is not None:
            played.corpus = [entry.wire for entry in guide.corpus.entries]
    return played


@contextlib.contextmanager
def playing(where: Where, link: Link) -> Iterator[Player]:
    """What sends cases there."""
    if isinstance(link, InProcess):
        with silent_broker():
            yield OneByOne(link)
    else:
        with Engine(link.address, fresh=where.fresh) as engine:
            yield engine


@contextlib.contextmanager
def watched() -> Iterator[Novelty]:
    """The reference broker, in this process."""
    watching = novelty()
    try:
        yield watching
    finally:
        watching.stop()


@contextlib.contextmanager
def silent_broker() -> Iterator[None]:
    """What a broker in process has to say of each bad request is not worth its time."""
    log = logging.getLogger("touchstone")
    level = log.level
    log.setLevel(LOUDER_THAN_ALL)
    try:
        yield
    finally:
        log.setLevel(level)


def in_words(suspects: list[Planned]) -> str:
    shown = ", ".join(str(case.index) for case in suspects[:MOST_SUSPECTS])
    return f" (in flight: {shown})" if shown else ""


def merged(parts: Iterable[Played]) -> Played:
    """What the shares of all jobs came to together: the same whichever was ready first."""
    whole = Played(Result(""))
    corpus = Corpus()
    for part in parts:
        whole.result.campaign = part.result.campaign
        whole.result.cases += part.result.cases
        whole.result.signatures += part.result.signatures
        whole.result.findings += part.result.findings
        whole.result.edges += part.result.edges
        whole.result.interrupted |= part.result.interrupted
        whole.connects += part.connects
        whole.sent += part.sent
        whole.seconds = max(whole.seconds, part.seconds)
        whole.places = max(whole.places, part.places)
        whole.gone = whole.gone or part.gone
        whole.suspects += part.suspects
        whole.ring += part.ring
        for wire in part.corpus:
            corpus.add(wire)
    whole.ring.sort(key=lambda sent: sent.at)
    whole.result.findings.sort(key=lambda finding: (finding.index, finding.oracle))
    whole.corpus = [entry.wire for entry in corpus.entries]
    return whole
