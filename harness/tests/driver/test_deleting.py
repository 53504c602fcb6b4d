"""What cases made is deleted in batches while the run goes on, and the rest at its end."""

from __future__ import annotations

import pytest

from touchstone.harness.driver import deleting
from touchstone.harness.driver.deleting import Deleter
from touchstone.harness.model.transcript import Event, Header, Transcript
from touchstone.harness.tests.driver.clusters import EVERYTHING, Cluster
from touchstone.reference_impl.wire import headers
from touchstone.reference_impl.wire.apis import by_name


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch):
    monkeypatch.setattr(deleting, "PAUSE_S", 0)
    monkeypatch.setattr(deleting, "ENOUGH", 3)


def of(*names):
    return Transcript(Header("t", "live", (), names={name: name for name in names}), ())


def deletions(cluster):
    return [[row["name"] for row in b["topics"]] for api, b in cluster.asked if "Topics" in api]


def test_topics_are_deleted_when_enough_have_come_together():
    with Cluster("a", "b", "c", "d", "others") as cluster:
        deleter = Deleter(lambda: EVERYTHING)
        for name in "abcd":
            if deleter.add(cluster.endpoint, of(name)):
                deleter.some(cluster.endpoint)
        assert deletions(cluster) == [["a", "b", "c"]]
        deleter.rest()
    assert cluster.topics == {"others"}
    assert deleter.report_lines() == []


def made(*names):
    """A transcript in which these topics were created."""
    key = by_name("CreateTopics").key
    rows = [{"name": name, "num_partitions": 1} for name in names]
    raw = headers.encode_request(key, 2, 0, "c", {"topics": rows, "timeout_ms": 1})
    told = {"topics": [{"name": name, "error_code": 0} for name in names]}
    answer = headers.encode_response(key, 2, 0, told)
    events = (
        Event(0, "a", "sent", 0, raw=raw, api=key, version=2),
        Event(0, "a", "received", 0, raw=answer, api=key, version=2),
    )
    return Transcript(of(*names).header, events)


def test_what_does_not_go_at_once_is_tried_again():
    with Cluster("a", "b", stubborn=1) as cluster:
        deleter = Deleter(lambda: EVERYTHING)
        deleter.add(cluster.endpoint, made("a", "b"))
        deleter.rest()
    assert deletions(cluster) == [["a", "b"], ["a", "b"]] and not cluster.topics
    assert deleter.report_lines() == []


def test_what_never_goes_is_told():
    with Cluster("a", "b", stubborn=99) as cluster:
        deleter = Deleter(lambda: EVERYTHING)
        deleter.add(cluster.endpoint, made("a", "b"))
        deleter.rest()
    assert deleter.report_lines() == ["2 topics (NOT_CONTROLLER)"]
    assert len(deletions(cluster)) == 2, "nothing has gone since, so nobody asks a third time"


def test_who_is_gone_keeps_everything_and_costs_little():
    with Cluster("a") as cluster:
        endpoint = cluster.endpoint
    deleter = Deleter(lambda: EVERYTHING)
    deleter.add(endpoint, made("a"))
    deleter.rest()
    assert deleter.report_lines() == ["1 topic (no answer)"]


def test_without_time_nothing_is_tried_and_everything_told():
    with Cluster("a") as cluster:
        deleter = Deleter(lambda: EVERYTHING)
        deleter.add(cluster.endpoint, made("a"))
        deleter.rest(0.0)
    assert deleter.report_lines() == [f"1 topic ({deleting.NOT_TRIED})"] and not cluster.asked


def test_each_cluster_of_a_target_is_cleared():
    with Cluster("a") as one, Cluster("b") as other:
        deleter = Deleter(lambda: EVERYTHING)
        deleter.add(one.endpoint, of("a"))
        deleter.add(other.endpoint, of("b"))
        deleter.rest()
    assert not one.topics and not other.topics


def test_what_cases_share_goes_when_all_are_done():
    with Cluster("shared", "a", "b", "c") as cluster:
        deleter = Deleter(lambda: EVERYTHING)
        shared = made("shared")
        nobodys = Transcript(Header("t", "live", (), names={}), shared.events)
        deleter.add(cluster.endpoint, nobodys)
        assert [deleter.add(cluster.endpoint, of(name)) for name in "abc"][-1]
        deleter.some(cluster.endpoint)
        assert cluster.topics == {"shared"}
        deleter.rest()
    assert not cluster.topics
