"""Our assignors divide as Java's of 4.3.1: range and roundrobin to the partition, by racks too; the
cooperative sticky one gives as many to each and lets as much stay.
"""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from touchstone.harness.adapters.program import QUICK
from touchstone.harness.model.target import Unavailable
from touchstone.harness.targets.java import find_java
from touchstone.harness.targets.maven import class_path, kafka_home
from touchstone.harness.tests.clients.programs import VERSION
from touchstone.reference_impl.client.assignment import Given, Taker
from touchstone.reference_impl.client.assignors import ASSIGNORS
from touchstone.reference_impl.client.flow import TopicPartition

pytestmark = [pytest.mark.maven, pytest.mark.java, pytest.mark.slow]
CLASSES = {
    "range": "RangeAssignor",
    "roundrobin": "RoundRobinAssignor",
    "cooperative-sticky": "CooperativeStickyAssignor",
}
Case = tuple[list[Taker], dict[str, list[list[str]]]]  # members; racks by topic and partition


def cases(count: int, *, alike: bool = False, racks: bool = True) -> list[Case]:
    """Groups of up to six members, with a fixed seed; `alike` ones subscribe to the same topics."""
    dice = random.Random(848)
    made = []
    for _ in range(count):
        names = ["t", "u", "v"][: dice.randint(1, 3)]
        known = ["a", "b", "c"] if racks and dice.random() < 0.8 else []
        replicas = dice.randint(1, 3)
        topics = {
            name: [dice.sample(known, min(replicas, len(known))) for _ in range(dice.randint(1, 6))]
            for name in names
        }
        takers = []
        for index in range(dice.randint(1, 6)):
            wants = names if alike else dice.sample(names, dice.randint(1, len(names)))
            instance = f"i{dice.randint(0, 9)}{index}" if dice.random() < 0.3 else None
            rack = dice.choice([None, *known])
            takers.append(Taker(f"m{index}", instance, frozenset(wants), rack=rack))
        made.append((takers, topics))
    return made


def by_java(assignor: str, given: list[Case]) -> list[Given]:
    try:
        java, home = find_java(), kafka_home(VERSION)
    except Unavailable as missing:
        pytest.skip(f"not run: {missing.reason}")
    program = Path(__file__).with_name("Assignors.java")
    done = subprocess.run(
        [str(java.executable), *QUICK, "-cp", class_path(home), program],
        input="".join(f"{CLASSES[assignor]}\t{_line(*case)}\n" for case in given),
        capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    lines = [line for line in done.stdout.splitlines() if "=" in line]
    return [dict(map(_share, line.split("\t"))) for line in lines]


def _line(takers: list[Taker], topics: dict[str, list[list[str]]]) -> str:
    rows = " ".join(
        f"{name}={';'.join(','.join(racks) for racks in parts)}" for name, parts in topics.items()
    )
    members = [
        "|".join(
            [
                taker.id,
                taker.instance_id or "",
                taker.rack or "",
                ",".join(sorted(taker.topics)),
                ",".join(f"{topic}:{index}" for topic, index in sorted(taker.owned)),
                str(taker.generation),
            ]
        )
        for taker in takers
    ]
    return "\t".join([rows, *members])


def _share(text: str) -> tuple[str, list[TopicPartition]]:
    member, _, places = text.partition("=")
    pairs = (place.split(":") for place in places.split(",") if place)
    return member, [(topic, int(index)) for topic, index in pairs]


def by_ours(assignor: str, takers: list[Taker], topics: dict[str, list[list[str]]]) -> Given:
    racks = {
        (name, index): frozenset(each)
        for name, parts in topics.items()
        for index, each in enumerate(parts)
    }
    counts = {name: len(parts) for name, parts in topics.items()}
    return ASSIGNORS[assignor].divide(takers, counts, racks)


@pytest.mark.parametrize("assignor", ["range", "roundrobin"])
def test_every_partition_goes_where_java_has_it(assignor):
    given = cases(400)
    answers = by_java(assignor, given)
    ours = [by_ours(assignor, *case) for case in given]
    pairs = list(zip(given, ours, answers, strict=True))
    assert [each for each in pairs if each[1] != each[2]] == []


def test_sticky_members_have_as_many_and_keep_as_much():
    """A second division, after one member left and one came, by both from Java's first."""
    first = cases(150, alike=True, racks=False)
    after = []
    for (takers, topics), shares in zip(first, by_java("cooperative-sticky", first), strict=True):
        left = [
            taker._replace(owned=frozenset(shares[taker.id]), generation=1) for taker in takers[1:]
        ]
        after.append(([*left, Taker("new", None, takers[0].topics)], topics))
    for case, theirs in zip(after, by_java("cooperative-sticky", after), strict=True):
        ours = by_ours("cooperative-sticky", *case)
        assert sorted(map(len, ours.values())) == sorted(map(len, theirs.values())), case
        assert _kept(case[0], ours) == _kept(case[0], theirs), case


def _kept(takers: list[Taker], given: Given) -> int:
    return sum(len(taker.owned.intersection(given[taker.id])) for taker in takers)
