"""Clusters of one target file beside one another: how many, and which is closed for the next."""

from __future__ import annotations

import pytest

from touchstone.harness.model.target import Shape
from touchstone.harness.targets.described import CLUSTERS
from touchstone.harness.tests.targets.test_described import ARGUMENTS, children, described

__all__ = ["described"]  # the fixture


def test_a_cluster_with_cases_on_it_is_not_closed(described, monkeypatch):
    monkeypatch.setattr("touchstone.harness.targets.described.MOST_PROCESSES", 2)
    target = described(ARGUMENTS + "[start.settings]\nas = 'arguments'\neach = '{key}={value}'")
    shapes = [Shape(config={"num.partitions": count}) for count in (1, 2, 3)]
    alive = [children(target.start(shape))[0] for shape in shapes[:2]]
    target.keep([target.cluster_of(shapes[0])])
    target.start(shapes[2])
    assert [child.alive for child in alive] == [True, False]


@pytest.mark.parametrize(
    ("start", "room"), [("", 1), ("per = 'cluster'", CLUSTERS), ("per = 'cluster'\nport = 9", 1)]
)
def test_small_clusters_have_room_beside_one_another(described, start, room):
    assert described(f"[start]\ncommand = [RUN]\n{start}\n").room == room
