"""Runs of records that overlap: what is left says of each offset what ranks highest there."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.reference_impl.share.state_batches import NO_OFFSET, StateBatch, combined

FEW, STEEPEST = 100, 6.0
"""From n to 4n what is linear grows 4 times, what sorts 4.8 times, what is quadratic 16 times."""
OFFSET = st.integers(0, 12)
ANY = st.builds(StateBatch, OFFSET, OFFSET, st.integers(1, 2), st.sampled_from([0, 2]))
START = st.sampled_from([NO_OFFSET, 0, 3])


def ranks(batches: Iterable[StateBatch]) -> dict[int, tuple[int, int]]:
    """The highest rank of each offset that is named."""
    shown: dict[int, tuple[int, int]] = {}
    for each in batches:
        for offset in range(each.first, each.last + 1):
            shown[offset] = max(shown.get(offset, each.rank), each.rank)
    return shown


@given(st.lists(ANY, max_size=8), st.lists(ANY, max_size=3), START)
def test_each_offset_has_the_highest_rank_of_those_that_name_it(known, new, start):
    """Batches that end before they begin are among them: they name none, and it ends."""
    shown = combined(known, new, start)
    of_all = ranks([*known, *new])
    assert ranks(shown) == {offset: of_all[offset] for offset in of_all if offset >= start}
    assert shown == sorted(shown)


class Counted(int):
    compared = 0

    def __hash__(self) -> int:
        return int.__hash__(self)

    def __eq__(self, other: object) -> bool:
        Counted.compared += 1
        return int(self) == other

    def __lt__(self, other: int) -> bool:
        Counted.compared += 1
        return int(self) < other


def cost(batches: list[StateBatch]) -> int:
    rows = [StateBatch(*map(Counted, each)) for each in batches]
    Counted.compared = 0
    combined((), rows, 0)
    return Counted.compared


SHAPES = {
    "apart": lambda n: [StateBatch(3 * i, 3 * i, 1, 2) for i in range(n)],
    "stairs": lambda n: [StateBatch(i, i + 5, 1 + i % 3, 0) for i in range(n)],
    "nested": lambda n: [StateBatch(i, 10 * n - i, 1 + i % 3, i % 2) for i in range(n)],
    "in one": lambda n: [StateBatch(0, 10 * n, 1, 0), *SHAPES["apart"](n)],
}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_what_it_costs_grows_as_the_batches_do(shape):
    assert cost(shape(4 * FEW)) / cost(shape(FEW)) < STEEPEST
