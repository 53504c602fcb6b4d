"""The bench of groups does what it says: every rebalance is a generation, every commit is kept."""

from __future__ import annotations

import pytest

from touchstone.harness.bench import groups
from touchstone.reference_impl.io.server import serve


@pytest.fixture
def broker():
    config = {"group.initial.rebalance.delay.ms": "0", "offsets.topic.num.partitions": "1"}
    with serve(brokers=1, config=config) as running:
        yield running


def test_a_frame_has_one_place_to_patch():
    made = groups._Patched(b"head@@tail", b"@@")
    assert made.with_(b"xy") == b"headxytail"
    for bytes_ in (b"no mark", b"@@ and @@"):
        with pytest.raises(ValueError, match="places to patch"):
            groups._Patched(bytes_, b"@@")


@pytest.mark.slow
def test_rebalances_are_generations(broker, monkeypatch):
    group = groups._Group(broker.bootstrap[0], 4)
    group.rebalance()
    first = group.generation
    monkeypatch.setattr(groups, "QUIET_S", groups.PATIENCE_S)  # nobody joins twice for being slow
    for _ in range(3):
        group.rebalance()
    assert group.generation == first + 3
    group.close()


@pytest.mark.slow
def test_commits_are_kept(broker):
    assert groups.commits(broker.bootstrap[0], [], 2, 3, seconds=0.1).rate > 0
