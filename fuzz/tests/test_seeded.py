"""Forty seeded findings (`seeded.py`), each hidden among other requests: made small, grouped.

The targets are a median reproducer of at most two requests and 1.5 times what was
made by hand, at most 200 runs each, 5 of 5 replays for 95 of 100, 1.2 groups a cause.
"""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache
from statistics import mean, median

import pytest

from touchstone.fuzz.campaign import Finding
from touchstone.fuzz.minimise import RUNS
from touchstone.fuzz.script import Script
from touchstone.fuzz.tests.seeded import ALL, Seeded
from touchstone.fuzz.tests.seeded_bench import Bench, bench, bulked
from touchstone.fuzz.triage import REPLAYS, Settled, grouped, settle

TRIES = 200
VARIANTS = 5
# Each goes the same way through the same code: a third of them by day, all at night.
BY_DAY = range(0, len(ALL), 3)


def weight(script: Script) -> int:
    return sum(len(step.wire) for step in script.steps)


def hidden(one: Seeded, made: Bench, count: int) -> list[Finding]:
    """What is complained about in scripts that hide the defect; a script in which the noise undoes
    what shows it is drawn again.
    """
    found: list[Finding] = []
    for number in range(TRIES):
        made.restore()
        script = bulked(one, random.Random(f"{one.name}/{number}"))
        found += made.complains(script)[:1]
        if len(found) == count:
            return found
    raise AssertionError(f"{one.name}: {TRIES} scripts show it {len(found)} times")


@cache
def small(number: int) -> Settled:
    one = ALL[number]
    with bench(one) as made:
        return settle(hidden(one, made, 1)[0], made.trial)


@pytest.mark.slow
def test_by_hand_shows_each_defect():
    quiet = []
    for one in ALL:
        with bench(one) as made:
            if not made.complains(one.by_hand):
                quiet.append(one.name)
    assert quiet == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "number",
    [
        pytest.param(n, id=one.name, marks=() if n in BY_DAY else pytest.mark.nightly)
        for n, one in enumerate(ALL)
    ],
)
def test_a_hidden_finding_is_made_small_and_repeats(number):
    done = small(number)
    assert done.runs <= RUNS
    assert weight(done.finding.as_script) <= 1.5 * weight(ALL[number].by_hand)
    assert done.repeats == REPLAYS


ALL_AT_NIGHT = pytest.mark.parametrize(
    "numbers",
    [
        pytest.param(BY_DAY, id="a third"),
        pytest.param(range(len(ALL)), id="all", marks=pytest.mark.nightly),
    ],
)


@pytest.mark.slow
@ALL_AT_NIGHT
def test_the_middle_one_has_two_requests_at_most_and_is_as_small_as_by_hand(numbers):
    done = [small(number) for number in numbers]
    ratios = [
        weight(one.finding.as_script) / weight(ALL[number].by_hand)
        for one, number in zip(done, numbers, strict=True)
    ]
    steps = median(len(one.finding.as_script.steps) for one in done)
    print(
        f"{len(done)} findings: median {steps} requests, {median(ratios):.2f} of by hand"
        f" (worst {max(ratios):.2f}); runs median {median(one.runs for one in done)},"
        f" most {max(one.runs for one in done)};"
        f" {sum(one.is_steady for one in done)} repeat {REPLAYS} of {REPLAYS}"
    )
    assert len(ALL) >= 40
    assert steps <= 2
    assert median(ratios) <= 1.5


@pytest.mark.slow
@ALL_AT_NIGHT
def test_a_defect_is_about_one_group(numbers):
    counts = {}
    for one in (ALL[number] for number in numbers):
        with bench(one) as made:
            found = hidden(one, made, VARIANTS)
        cases = [replace(each, index=number) for number, each in enumerate(found)]
        counts[one.name] = len(grouped(cases))
    print(f"groups a defect: {mean(counts.values()):.2f}; {counts}")
    assert mean(counts.values()) <= 1.2
