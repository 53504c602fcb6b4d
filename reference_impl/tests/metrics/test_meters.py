"""What counts, counts when Kafka says so; each meter is seen at 0 and at work."""

from __future__ import annotations

import pytest

from touchstone.reference_impl.broker.metrics.readings import observe
from touchstone.reference_impl.broker.personas.releases import RELEASES
from touchstone.reference_impl.tests.broker.one_broker import NOW, OneBroker, batch
from touchstone.reference_impl.tests.metrics.measured import measured
from touchstone.reference_impl.wire.errors import ErrorCode as E
from touchstone.reference_impl.wire.records import build

ALL_TOPICS = "BytesIn", "BytesOut", "MessagesIn", "BytesRejected", "TotalProduceRequests"


@pytest.fixture
def one() -> OneBroker:
    one = OneBroker()
    one.topic()
    observe(one.brokers[0])
    return one


def counts(one: OneBroker, *names: str) -> list[float]:
    """Of these meters of the topic, 0 for one that it does not have."""
    found = measured(one.brokers[0])
    return [found.get((f"{name}PerSec", "t"), 0) for name in names]


def test_a_broker_has_the_meters_of_all_topics_from_its_start(one):
    found = measured(one.brokers[0])
    assert [found[f"{name}PerSec",] for name in ALL_TOPICS] == [0] * len(ALL_TOPICS)
    assert not [name for name in found if name[0] == "BytesInPerSec" and len(name) > 1]


@pytest.mark.parametrize("release", RELEASES)
def test_bytes_and_records_count_when_a_log_takes_and_gives_them(release):
    one = OneBroker(release)
    one.topic()
    observe(one.brokers[0])
    records = batch()
    for _ in range(2):
        assert not one.produce(records, version=3)["error_code"]
    assert len(one.fetch(3, version=4)["records"]) == len(records)
    found = counts(one, "BytesIn", "MessagesIn", "BytesOut", "TotalProduceRequests")
    assert found == [2 * len(records), 6, len(records), 2]
    everything = measured(one.brokers[0])
    assert everything["BytesInPerSec",] == 2 * len(records)
    assert everything["RequestsPerSec", "Produce", "3"] == 2
    assert everything["RequestsPerSec", "FetchConsumer", "4"] == 1
    assert everything["ErrorsPerSec", "Produce", "NONE"] == 2


@pytest.mark.parametrize(
    "records, code, rejected, failed",
    [
        (batch(bytes(2000)), E.MESSAGE_TOO_LARGE, True, 0),
        (build(2, [b"early"], timestamp=NOW * 2), E.INVALID_TIMESTAMP, False, 1),
    ],
)
def test_what_is_refused_is_no_bytes_in(records, code, rejected, failed):
    one = OneBroker()
    one.topic(max_message_bytes="1000")
    observe(one.brokers[0])
    assert one.produce(records)["error_code"] == code
    found = counts(one, "BytesIn", "MessagesIn", "BytesRejected", "FailedProduceRequests")
    assert found == [0, 0, len(records) * rejected, failed]
    assert counts(one, "TotalProduceRequests") == [1]


def test_a_produce_for_another_leader_is_a_request_and_no_failed_one():
    one = OneBroker(brokers=2)
    one.topic(leader=1)
    observe(one.brokers[0])
    for broker in one.brokers:
        broker.tick(one.now)
    assert one.produce(batch())["error_code"] == E.NOT_LEADER_OR_FOLLOWER
    found = measured(one.brokers[0])
    assert found["TotalProduceRequestsPerSec",] == 1
    assert found["FailedProduceRequestsPerSec",] == 0
    assert found["ErrorsPerSec", "Produce", "NOT_LEADER_OR_FOLLOWER"] == 1


def test_a_fetch_that_waits_counts_once_for_its_partition(one):
    assert one.fetch(0, wait=100) == "waiting"
    one.brokers[0].tick(one.now + 100)
    assert counts(one, "TotalFetchRequests", "BytesOut") == [1, 0]
    assert measured(one.brokers[0])["RequestsPerSec", "Fetch", "12"] == 1


def test_a_request_without_an_answer_counts_and_has_no_error(one):
    assert one.produce(batch(), acks=0) == "silent"
    found = measured(one.brokers[0])
    assert found["RequestsPerSec", "Produce", "12"] == 1
    assert not [name for name in found if name[:2] == ("ErrorsPerSec", "Produce")]


def test_a_handler_that_fails_counts_as_the_error_that_is_answered(one, monkeypatch):
    broker = one.brokers[0]

    def fails(request, now):
        raise RuntimeError("nobody foresaw it")

    monkeypatch.setattr(broker, "handler", lambda key: fails)
    one.produce(batch())
    assert measured(broker)["ErrorsPerSec", "Produce", "UNKNOWN_SERVER_ERROR"] == 1


def test_the_meters_of_a_topic_end_with_it(one):
    one.produce(batch())
    one.cluster.delete("t")
    one.brokers[0].tick(one.now)
    found = measured(one.brokers[0])
    assert ("MessagesInPerSec", "t") not in found
    assert found["MessagesInPerSec",] == 3


def test_nothing_is_counted_before_somebody_asks():
    one = OneBroker()
    one.topic()
    one.produce(batch())
    assert one.brokers[0].observer is None
    assert measured(one.brokers[0])["MessagesInPerSec",] == 0
    one.produce(batch())
    assert measured(one.brokers[0])["MessagesInPerSec",] == 3
