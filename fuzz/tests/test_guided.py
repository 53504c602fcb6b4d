"""A guided campaign finds more than an unguided one of the same mutators and as many executions."""

from __future__ import annotations

import itertools
import random

import pytest

from touchstone.fuzz.campaign import Result, campaigns, run
from touchstone.fuzz.corpus_run import create_topics
from touchstone.fuzz.generator import TOPICS, Generator, harmless, pairs_of
from touchstone.fuzz.guided import Chances, Guide
from touchstone.fuzz.in_process import InProcess, OneByOne
from touchstone.fuzz.lanes import Planned
from touchstone.harness.model import advertised

FRAMES = campaigns()["frames"]
TABLE = advertised.table("4.3")
PAIRS = harmless(pairs_of({key: advertised.served("4.3", key, TABLE) for key in TABLE}))
SEED = 1


def generator(draw) -> Generator:
    return Generator(PAIRS, draw)


def played(cases: int, guide: Guide | None = None) -> Result:
    link = InProcess()
    create_topics(link, dict.fromkeys(TOPICS, False))
    return run(
        FRAMES, link, generator, seed=SEED, wanted=lambda so_far: so_far.cases < cases,
        player=OneByOne(link), cases=guide.cases() if guide else None,
        learn=guide.learn if guide else None,
    )  # fmt: skip


def another_of_its_key(guide: Guide) -> Planned:
    key = guide.case(0).sent.key
    return next(case for case in map(guide.case, itertools.count(1)) if case.sent.key == key)


@pytest.mark.slow
def test_a_guided_run_finds_more_behaviours_than_an_unguided_one():
    """The difference grows with them: fuzz/README.md has the figures of 50,000."""
    guided = played(5000, Guide(FRAMES, generator, SEED))
    assert len(guided.signatures) > 1.1 * len(played(5000).signatures)


def test_equal_seeds_are_guided_alike():
    one, other = (played(400, Guide(FRAMES, generator, SEED)) for _ in range(2))
    assert one.signatures == other.signatures


def test_what_showed_something_new_is_kept():
    guide = Guide(FRAMES, generator, SEED)
    case = guide.case(0)
    assert (guide.learn(case, "answer() kept"), len(guide.corpus)) == (True, 1)


def test_what_showed_nothing_new_is_not_kept():
    guide = Guide(FRAMES, generator, SEED)
    guide.learn(guide.case(0), "answer() kept")
    same = next(
        case
        for case in map(guide.case, itertools.count(1))
        if case.sent.key == guide.case(0).sent.key
    )
    assert (guide.learn(same, "answer() kept"), len(guide.corpus)) == (False, 1)


def test_a_new_line_is_worth_keeping_though_the_behaviour_is_known():
    guide = Guide(FRAMES, generator, SEED)
    guide.learn(guide.case(0), "answer() kept")
    assert guide.learn(another_of_its_key(guide), "answer() kept", ran_new=True)


def test_a_kept_corpus_is_played_first():
    kept = [generator(random.Random(n)).frame(7)[1] for n in range(3)]
    guide = Guide(FRAMES, generator, SEED, kept=kept)
    sent = [case.sent.wire for case in itertools.islice(guide.cases(), 3)]
    assert [wire[12:] for wire in sent] == [wire[12:] for wire in kept]


def test_a_mutator_that_finds_is_drawn_more_often():
    chances, draw = Chances(["finds", "never"]), random.Random(1)
    for _ in range(200):
        chances.tell(["finds"], new=True)
        chances.tell(["never"], new=False)
    drawn = [chances.pick(draw) for _ in range(300)]
    assert drawn.count("finds") > 200
    assert "never" in drawn
