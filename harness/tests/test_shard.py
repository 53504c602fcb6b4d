"""Parts of a run: every case is in exactly one, shapes stay together, no part waits for another."""

import itertools
import random
from collections import Counter

import pytest

from touchstone.harness.model import shard
from touchstone.harness.model.claim import CaseId, claim, claim_of


def some_claims():
    """As in the suites: one shape that most share, harm in a shape of its own, many small ones."""

    def make(name, **how):
        def demo(case):
            """A sentence."""

        return claim_of(claim(f"demo.{name}", evidence=("KIP-98",), **how)(demo))

    plain = [make(f"plain-{i}", axes=range(8)) for i in range(100)]
    small = [make(f"small-{i}", config={"a": i}, axes=range(5)) for i in range(12)]
    harm = [make(f"harm-{i}", brokers=3, capabilities=("harm",)) for i in range(40)]
    calm = [make(f"calm-{i}", brokers=3, axes=range(3)) for i in range(10)]
    return [*plain, *small, *harm, *calm]


CASES = [
    CaseId(one, None, {"axes": value})
    for one in some_claims()
    for value in one.axes.get("axes", (None,))
]
COUNTS = (1, 2, 3, 4, 7)


def dealt(count, cases=CASES):
    return dict(zip([case.id for case in cases], shard.by_shape(cases, count), strict=True))


@pytest.mark.parametrize("count", COUNTS)
def test_every_part_has_work_and_no_part_much_more_than_another(count):
    loads = Counter()
    for case, part in zip(CASES, shard.by_shape(CASES, count), strict=True):
        loads[part] += shard.HARMFUL if case.claim.capabilities else 1
    assert set(loads) == set(range(1, count + 1))
    assert max(loads.values()) <= 1.1 * min(loads.values())


@pytest.mark.parametrize("count", COUNTS)
def test_the_parts_do_not_depend_on_the_order(count):
    mixed = random.Random(1).sample(CASES, len(CASES))
    assert dealt(count, mixed) == dealt(count)


def test_a_small_shape_stays_in_one_part():
    parts = zip((case.claim.shape for case in CASES), shard.by_shape(CASES, 4), strict=True)
    for config, pairs in itertools.groupby(sorted(parts, key=str), key=lambda p: p[0].config):
        assert not config or len({part for _, part in pairs}) == 1


def test_no_shape_is_cut_where_whole_ones_make_even_parts():
    made = [
        CaseId(claim_of(claim(f"demo.{name}", evidence=("KIP-98",), config={"a": name},
                              axes=range(size))(_demo)), None, {"axes": value})
        for name, size in {"a": 40, "b": 24, "c": 16, "d": 10, "e": 10}.items()
        for value in range(size)
    ]  # fmt: skip
    pairs = zip((case.claim.id for case in made), shard.by_shape(made, 2), strict=True)
    assert len(set(pairs)) == 5


def _demo(case):
    """A sentence."""


def test_more_parts_than_cases_leave_some_empty():
    assert sorted(shard.by_shape(CASES[:2], 5)) == [1, 2]
    assert shard.by_shape([], 3) == []


@pytest.mark.parametrize("word", ["0/2", "3/2", "2", "1/0", "a/b", "-1/2", "1/2/3"])
def test_what_is_no_part(word):
    with pytest.raises(ValueError, match="I/N"):
        shard.parse(word)


def test_a_part_is_written_as_it_is_said():
    assert str(shard.parse("2/3")) == "2/3" and shard.parse("1/1") == shard.Shard(1, 1)


def test_known_weights_are_dealt_evenly():
    weights = [10.0 if place % 4 == 0 else 1.0 for place in range(len(CASES))]  # no round robin
    dealt = shard.by_weight(CASES, weights, 4)
    sums = [
        sum(w for w, n in zip(weights, dealt, strict=True) if n == part) for part in range(1, 5)
    ]
    assert max(sums) - min(sums) <= max(weights)
