"""The assignors of the reference broker's persona 3.9 divide as those in the jars of 3.9.2.

Groups of up to six members with a fixed seed, each with a target from before that may be uneven;
where Kafka's heterogeneous assignor fails ours fails.
"""

from __future__ import annotations

import random
import subprocess
from base64 import urlsafe_b64encode
from pathlib import Path

import pytest

from touchstone.harness.adapters.program import QUICK
from touchstone.harness.model.target import Unavailable
from touchstone.harness.targets import matrix
from touchstone.harness.targets.java import find_java
from touchstone.harness.targets.maven import class_path, kafka_home
from touchstone.reference_impl.group.assignors import Before, Taker, Target
from touchstone.reference_impl.group.consumer_group import TopicIdPartition
from touchstone.reference_impl.group.java_maps import uuid_hash
from touchstone.reference_impl.group.preview_assignor import PREVIEW, AssignmentFailed

pytestmark = [pytest.mark.maven, pytest.mark.java, pytest.mark.slow]
VERSION = matrix.release("3.9").version
Case = tuple[list[Taker], dict[bytes, int], Before]


def cases(count: int, *, alike: bool) -> list[Case]:
    dice = random.Random(848)
    made: list[Case] = []
    while len(made) < count:
        ids = _apart(dice, dice.randint(1, 4))
        topics = {each: dice.randint(1, 7) for each in ids}
        takers = []
        for index in range(dice.randint(1, 6)):
            wanted = (
                sorted(topics)
                if alike
                else dice.sample(sorted(topics), dice.randint(1, len(topics)))
            )
            name = f"i{index}" if dice.random() < 0.3 else None
            takers.append(Taker(f"member-{dice.randint(0, 99)}-{index}", name, frozenset(wanted)))
        seen = {
            each: count for each, count in topics.items() if any(each in t.topics for t in takers)
        }
        held: dict[str, set[TopicIdPartition]] = {taker.id: set() for taker in takers}
        few = dice.sample(takers, dice.randint(1, len(takers)))
        for topic, partitions in seen.items():
            for place in range(partitions):
                if dice.random() < 0.7:
                    held[dice.choice(few).id].add((topic, place))
        made.append((takers, seen, {each: frozenset(places) for each, places in held.items()}))
    return made


def _apart(dice: random.Random, count: int) -> list[bytes]:
    """Topic ids in buckets of their own: how a map came about decides within one of Java's."""
    while True:
        ids = [dice.randbytes(16) for _ in range(count)]
        if len(ids) == len({(h ^ h >> 16) & 15 for h in map(uuid_hash, ids)}):
            return ids


def by_java(assignor: str, given: list[Case], *, alike: bool) -> list[Target | None]:
    try:
        java, home = find_java(), kafka_home(VERSION)
    except Unavailable as missing:
        pytest.skip(f"not run: {missing.reason}")
    program = Path(__file__).with_name("CoordinatorAssignors.java")
    word = "alike" if alike else "apart"
    done = subprocess.run(
        [str(java.executable), *QUICK, "-cp", class_path(home), program],
        input="".join(f"{assignor}\t{word}\t{_line(*case)}\n" for case in given),
        capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    lines = [line for line in done.stdout.splitlines() if "=" in line or line == "failed"]
    ids = {_name(topic): topic for _, topics, _ in given for topic in topics}
    return [
        None if line == "failed" else dict(_share(row, ids) for row in line.split("\t"))
        for line in lines
    ]


def _name(topic: bytes) -> str:
    return urlsafe_b64encode(topic).decode().rstrip("=")


def _line(takers: list[Taker], topics: dict[bytes, int], before: Before) -> str:
    rows = " ".join(f"{_name(topic)}={count}" for topic, count in topics.items())
    members = [
        "|".join(
            [
                taker.id,
                taker.instance_id or "",
                ",".join(_name(topic) for topic in sorted(taker.topics)),
                ",".join(f"{_name(topic)}:{at}" for topic, at in sorted(before[taker.id])),
            ]
        )
        for taker in takers
    ]
    return "\t".join([rows, *members])


def _share(row: str, ids: dict[str, bytes]) -> tuple[str, frozenset[TopicIdPartition]]:
    member, _, places = row.partition("=")
    parts = (place.rpartition(":") for place in places.split(",") if place)
    return member, frozenset((ids[topic], int(at)) for topic, _, at in parts)


def by_us(assignor: str, case: Case, *, alike: bool) -> Target | None:
    takers, topics, before = case
    try:
        return PREVIEW[assignor](takers, topics, before, alike)
    except AssignmentFailed:
        return None


@pytest.mark.parametrize("alike", [True, False], ids=["alike", "apart"])
@pytest.mark.parametrize("assignor", ["range", "uniform"])
def test_they_divide_alike(assignor: str, alike: bool) -> None:
    given = cases(1500, alike=alike)
    ours = [by_us(assignor, case, alike=alike) for case in given]
    kafkas = by_java(assignor, given, alike=alike)
    assert len(kafkas) == len(given)
    apart = [at for at, pair in enumerate(zip(ours, kafkas, strict=True)) if pair[0] != pair[1]]
    assert apart == [], f"{len(apart)} of {len(given)} differ, first {given[apart[0]]}"
    if (assignor, alike) == ("uniform", False):
        assert None in ours and any(ours)
