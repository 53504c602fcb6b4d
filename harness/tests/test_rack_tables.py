"""The tables of suites/racks are Kafka's for any order in which a cluster has its ids."""

from __future__ import annotations

from itertools import permutations

import pytest

from touchstone.suites.racks.test_mixed import MIRRORED, SIX


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_a_table_of_kafkas_ids_is_one_in_the_scenarios_numbers(order):
    known = [*SIX, *MIRRORED]
    for table in SIX:
        assert [[order[broker] for broker in row] for row in table] in known


def test_most_tables_are_none():
    assert len({str(table) for table in (*SIX, *MIRRORED)}) == 12
    assert [SIX[0][0]] * 6 not in [*SIX, *MIRRORED], "one leader for all"
