"""By day real Kafka starts the clusters that many claims share, and no other."""

from types import SimpleNamespace

import pytest

from ci import common_clusters
from ci.common_clusters import FEW

TEST = "a test that is no case"


@pytest.fixture
def left_out(monkeypatch):
    """What is left out of items, each a claim and the shape of its cluster, or a test."""
    monkeypatch.setattr(
        common_clusters, "case_of",
        lambda item: None if item == TEST else SimpleNamespace(claim=SimpleNamespace(
            id=item[0], shape=item[1])),
    )  # fmt: skip

    def without(items):
        deselected = []
        hook = SimpleNamespace(pytest_deselected=lambda items: deselected.extend(items))
        common_clusters.pytest_collection_modifyitems(SimpleNamespace(hook=hook), items)
        return deselected

    return without


def test_a_case_whose_cluster_few_claims_share_is_deselected(left_out):
    rare = [(f"rare-{number}", "few") for number in range(FEW - 1)]
    common = [(f"common-{number}", "many") for number in range(FEW)]
    items = [*rare, TEST, *common]
    assert left_out(items) == rare
    assert items == [TEST, *common]


def test_versions_of_one_claim_are_one(left_out):
    versions = [("claim", "its own") for _ in range(FEW)]
    assert left_out(list(versions)) == versions


def test_where_nothing_is_rare_nothing_is_deselected(left_out):
    assert left_out([TEST]) == []
