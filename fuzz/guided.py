"""Cases that are drawn by what earlier cases showed.

Half of them are made as those of any campaign; the others are mutants of frames that showed
something new. What counts as new is a behaviour (`outcome.signature`) that no case showed before,
and in process a line or a branch that none ran before. The draws of case i descend from (seed, i)
and from what was learned until then: in process equal seeds give equal cases; over sockets that
depends on which answers came first, which is why a finding is bytes and not a number.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterable, Iterator, Sequence

from touchstone.fuzz.campaign import Campaign, header_of
from touchstone.fuzz.corpus_folder import Corpus, Entry
from touchstone.fuzz.draw import draw_of
from touchstone.fuzz.generator import Generator, Pair, harmful
from touchstone.fuzz.lanes import Planned
from touchstone.fuzz.oracles import sent_frame

ANEW = 0.3
"""Share of cases that do not build on others."""
TRUSTED = 8
"""Tries, all of them good, that each mutator is believed to have had."""
LEAST = 0.02
"""What a mutator that never shows anything new keeps of its chance."""
LONGEST = 1024
"""Bytes of a frame that is worth keeping: longer ones cost more than they show."""


def identity(index: int) -> bytes:
    """The correlation id of a case."""
    return (index & 0x7FFFFFFF).to_bytes(4, "big")


class Chances:
    """Draws the names of mutators, more often those whose mutants showed something new."""

    def __init__(self, names: Iterable[str]) -> None:
        self._tries = dict.fromkeys(names, TRUSTED)
        self._news = dict.fromkeys(self._tries, TRUSTED)

    def __bool__(self) -> bool:
        return bool(self._tries)

    def pick(self, draw: random.Random) -> str:
        names = list(self._tries)
        weights = [self._news[name] / self._tries[name] + LEAST for name in names]
        return draw.choices(names, weights)[0]

    def tell(self, names: Iterable[str], *, new: bool) -> None:
        for name in names:
            if name in self._tries:
                self._tries[name] += 1
                self._news[name] += new


class Guide:
    """Says which case is next, and learns from what came of it."""

    def __init__(
        self,
        campaign: Campaign,
        generator: Callable[[random.Random], Generator],
        seed: int,
        *,
        kept: Sequence[bytes] = (),
        job: int = 0,
        jobs: int = 1,
    ) -> None:
        """`kept` are frames of an earlier corpus, played before anything is drawn. It is process
        `job` of so many.
        """
        self.corpus = Corpus()
        self._kept = kept
        self._job, self._jobs = job, jobs
        self._campaign, self._generator, self._seed = campaign, generator, seed
        self._chances = Chances(campaign.mutators)
        self._parents: dict[int, Entry] = {}
        self._shown: set[str] = set()

    def cases(self) -> Iterator[Planned]:
        """Case after case, for ever."""
        for index in itertools.count(self._job, self._jobs):
            yield self.case(index)

    def case(self, index: int) -> Planned:
        """What is sent as case number `index`, by what is known now."""
        draw = draw_of(self._seed, f"{self._campaign.name}/guided", index)
        correlation = index & 0x7FFFFFFF
        if index // self._jobs < len(self._kept):
            kept = self._kept[index // self._jobs]
            return Planned(index, sent_frame(kept[:8] + identity(index) + kept[12:]), ("kept",))
        if not self.corpus.entries or draw.random() < ANEW:
            pair, valid = self._generator(draw).frame(correlation_id=correlation)
            least, most = self._campaign.faults
        else:
            entry = self.corpus.pick(draw)
            valid = entry.wire[:8] + identity(index) + entry.wire[12:]
            header = sent_frame(valid)
            pair = Pair(header.key, header.version)
            least, most = 1, max(1, self._campaign.faults[1])
            self._parents[index] = entry
        wire, faults = self._mutated(valid, draw, draw.randint(least, most))
        return Planned(index, header_of(wire, pair, correlation), faults)

    def _mutated(
        self, valid: bytes, draw: random.Random, count: int
    ) -> tuple[bytes, tuple[str, ...]]:
        wire, faults = valid, []
        for _ in range(count if self._chances else 0):
            name = self._chances.pick(draw)
            wire = self._campaign.mutators[name](wire, draw)
            faults.append(name)
        return (valid, ()) if harmful(wire) else (wire, tuple(faults))

    def learn(self, planned: Planned, shown: str, *, ran_new: bool = False) -> bool:
        """Whether the case showed something new, and is kept for it."""
        parent = self._parents.pop(planned.index, None)
        behaviour = f"{planned.sent.key}: {shown}"
        new = ran_new or behaviour not in self._shown
        self._chances.tell(planned.faults, new=new)
        self._shown.add(behaviour)
        wire = planned.sent.wire
        if not new or not 12 <= len(wire) <= LONGEST:
            return new
        if self.corpus.add(wire[:8] + bytes(4) + wire[12:]) and parent is not None:
            self.corpus.reward(parent)
        return new
