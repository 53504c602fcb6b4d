"""Requests that Kafka fails as a whole, with UNKNOWN_SERVER_ERROR, and those that it only seems to.

Each was a difference that a campaign found between the reference broker and real 4.3.1.
"""

from __future__ import annotations

import pytest

from touchstone.reference_impl.broker.data.fetch_sessions import FetchSessions
from touchstone.reference_impl.tests.broker.one_broker import OneBroker, batch
from touchstone.reference_impl.wire.errors import ErrorCode as E

NOBODY, NO_ID, MADE_UP = -1, bytes(16), bytes(range(16))
FINAL, INITIAL = -1, 0


@pytest.fixture
def broker():
    one = OneBroker("4.3")
    one.topic("t")
    one.topic("__consumer_offsets")
    one.brokers[0].tick(one.now)
    return one


def fetch(one: OneBroker, *ids: bytes, version: int = 13, **changes):
    row = {"fetch_offset": 0, "partition_max_bytes": 1000}
    topics = [
        {"topic_id": topic_id, "partitions": [row | {"partition": at}]}
        for at, topic_id in enumerate(ids)
    ]
    body = {"max_wait_ms": 0, "min_bytes": 0, "session_id": 0, "session_epoch": FINAL}
    return one.ask("Fetch", version, body | {"topics": topics} | changes)


@pytest.mark.parametrize("epoch", [FINAL, INITIAL])
def test_a_row_behind_one_of_no_topic_id_fails_the_fetch(broker, epoch):
    answer = fetch(broker, NO_ID, NO_ID, session_epoch=epoch)
    assert (answer["error_code"], answer["responses"]) == (E.UNKNOWN_SERVER_ERROR, [])


@pytest.mark.parametrize("ids", [(NO_ID,), (MADE_UP, NO_ID), (MADE_UP, MADE_UP)])
def test_ids_that_nobody_knows_are_refused_by_row(broker, ids):
    answer = fetch(broker, *ids)
    assert answer["error_code"] == E.NONE
    codes = [row["error_code"] for topic in answer["responses"] for row in topic["partitions"]]
    assert codes == [E.UNKNOWN_TOPIC_ID] * len(ids)


def test_an_isolation_level_that_does_not_exist_fails_what_can_be_read(broker):
    known = broker.cluster.topics["t"].id
    before = len(sessions(broker))
    answer = fetch(broker, known, isolation_level=2, session_epoch=INITIAL)
    assert answer["error_code"] == E.UNKNOWN_SERVER_ERROR
    assert len(sessions(broker)) == before


def test_nobody_asks_for_the_isolation_level_of_what_cannot_be_read(broker):
    (topic,) = fetch(broker, MADE_UP, isolation_level=2)["responses"]
    assert topic["partitions"][0]["error_code"] == E.UNKNOWN_TOPIC_ID
    unknown = fetch(broker, session_id=7, session_epoch=9, isolation_level=2)
    assert unknown["error_code"] == E.FETCH_SESSION_ID_NOT_FOUND


RANGE = (2**31 - 1) // 8


@pytest.mark.parametrize("epoch", [FINAL, INITIAL, 1])
@pytest.mark.parametrize("number", [-(2**31), -RANGE, 8 * RANGE])
def test_a_session_id_that_no_part_of_the_cache_has_fails_the_fetch(broker, number, epoch):
    answer = fetch(broker, session_id=number, session_epoch=epoch)
    assert answer["error_code"] == E.UNKNOWN_SERVER_ERROR


@pytest.mark.parametrize("number", [-1, -RANGE + 1, 8 * RANGE - 1])
def test_a_session_id_that_a_part_could_have_is_looked_for(broker, number):
    assert fetch(broker, session_id=number, session_epoch=1)["error_code"] == (
        E.FETCH_SESSION_ID_NOT_FOUND
    )
    assert fetch(broker, session_id=number)["error_code"] == E.NONE


def sessions(one: OneBroker):
    return one.brokers[0].room(FetchSessions).cache


@pytest.mark.parametrize(("producer", "epoch"), [(NOBODY, 0), (1, NOBODY), (-2, NOBODY)])
def test_a_marker_of_nobody_fails_the_request(broker, producer, epoch):
    def asked(topic: str):
        marker = {
            "producer_id": producer, "producer_epoch": epoch, "transaction_result": True,
            "topics": [{"name": topic, "partition_indexes": [0]}], "coordinator_epoch": 0,
        }  # fmt: skip
        answer = broker.ask("WriteTxnMarkers", 1, {"markers": [marker]})
        return answer["markers"][0]["topics"][0]["partitions"][0]["error_code"]

    broker.store(batch(b"v"))
    end = broker.log().log_end_offset
    assert asked("t") == E.UNKNOWN_SERVER_ERROR
    assert broker.log().log_end_offset == end
    assert asked("absent") == E.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.parametrize(("owned", "code"), [([], E.NONE), ([NO_ID], E.INVALID_REQUEST)])
def test_who_joins_a_consumer_group_owns_no_topic_not_even_without_partitions(broker, owned, code):
    answer = broker.ask("ConsumerGroupHeartbeat", 1, {
        "group_id": "g", "member_id": "m", "member_epoch": 0, "rebalance_timeout_ms": 1000,
        "subscribed_topic_names": ["t"],
        "topic_partitions": [{"topic_id": each, "partitions": []} for each in owned],
    })  # fmt: skip
    assert answer["error_code"] == code
