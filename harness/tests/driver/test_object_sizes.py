"""What is held is counted, what was held for a moment is not."""

from __future__ import annotations

import gc

import pytest

from touchstone.harness.driver.object_sizes import growth, object_sizes

MIB = 1 << 20


@pytest.fixture(autouse=True)
def of_this_test_only():
    """The collector lists nothing that is frozen: the objects of all other tests took seconds."""
    gc.freeze()
    yield
    gc.unfreeze()


def test_what_is_kept_counts_and_what_was_dropped_does_not():
    before = object_sizes()
    kept = [bytes(1000) for _ in range(2000)]
    grown = object_sizes()
    assert 2_000_000 < grown["bytes"] - before["bytes"] < 3_000_000
    assert growth(before, grown, types=1) == "+2.0 MiB bytes"
    kept.clear()
    assert abs(object_sizes()["bytes"] - before["bytes"]) < 200_000


def test_parts_of_what_the_collector_does_not_track_count_once():
    shared = bytes(MIB)
    before = object_sizes()
    kept = [(shared, number) for number in range(3)]
    object_sizes()  # which ends to track tuples of atoms
    after = object_sizes()
    assert len(kept) == 3
    assert after["bytes"] - before["bytes"] < MIB
