"""Starting real Kafka again where it was late, without starting it: the cluster is a stand-in."""

from __future__ import annotations

import pytest

from touchstone.harness.model.target import Shape, StartFailed
from touchstone.harness.targets import process


@pytest.fixture
def starting(monkeypatch, tmp_path):
    """A target whose clusters raise what the test hands over, one after the other, or start."""

    def target(*outcomes: Exception | None):
        left, closed = list(outcomes), []

        class Cluster:
            folder = tmp_path / "cluster"

            def __init__(self, *_) -> None:
                self.folder.mkdir(exist_ok=True)

            def start(self) -> None:
                if (failed := left.pop(0)) is not None:
                    raise failed

            def close(self, *, keep_logs: bool = False) -> None:
                closed.append(keep_logs)

        monkeypatch.setattr(process, "KafkaCluster", Cluster)
        return process.KafkaProcess("1.0"), left, closed

    return target


def test_a_cluster_that_is_late_is_started_once_more(starting):
    target, left, closed = starting(process.Late("broker 0 was not ready in 120 s"), None)
    target.open(Shape())
    assert not left and closed == [True]


def test_the_second_time_it_is_late_is_told_and_its_logs_stay(starting):
    late = process.Late("broker 0 was not ready in 120 s")
    target, left, closed = starting(late, late, None)
    with pytest.raises(StartFailed, match="not ready"):
        target.open(Shape())
    assert left == [None] and closed == [True, True] and process.KafkaCluster.folder.exists()


def test_a_process_that_ends_is_told_at_once_unless_its_port_was_taken(starting):
    target, left, _ = starting(StartFailed("broker 0 ended with 1: no such setting"), None)
    with pytest.raises(StartFailed, match="no such setting"):
        target.open(Shape())
    assert left == [None]
    target, left, _ = starting(StartFailed("broker 0 ended with 1: BindException"), None)
    target.open(Shape())
    assert not left


def test_a_broker_whose_client_of_zookeeper_reconnected_is_started_once_more(starting):
    said = 'NullPointerException: Cannot invoke "getData" because "this._zk" is null'
    target, left, closed = starting(StartFailed(f"broker 0 ended with 1; {said}"), None)
    target.open(Shape())
    assert not left and closed == [True]
