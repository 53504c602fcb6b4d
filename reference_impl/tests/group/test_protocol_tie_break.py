"""Ties between protocols go as they went on real brokers, pair by pair."""

from __future__ import annotations

import pytest

from touchstone.reference_impl.group.protocol_tie_break import ORDERS

# From best to worst; a pair whose keys are equal is left out.
OBSERVED = {
    "scala 2.12": [("range", "b", "sticky", "roundrobin", "uniform", "cooperative-sticky")],
    "scala 2.13": [
        ("cooperative-sticky", "roundrobin", "a", "uniform", "range", "sticky", "zz"),
        ("uniform", "b", "range"),
    ],
    "java": [
        ("zz", "uniform", "a", "b", "sticky", "range", "roundrobin"),
        ("sticky", "range", "cooperative-sticky"),
    ],
}


@pytest.mark.parametrize("runtime", OBSERVED)
def test_ties_are_broken_as_on_real_brokers(runtime):
    for chain in OBSERVED[runtime]:
        for place, better in enumerate(chain):
            for worse in chain[place + 1 :]:
                assert ORDERS[runtime](better) <= ORDERS[runtime](worse), (better, worse)
