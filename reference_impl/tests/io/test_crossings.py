"""One request acts while something else holds what it is about; values of 3.9.2 and 4.3.1."""

from __future__ import annotations

import time
from itertools import count

import pytest

from touchstone.reference_impl.io.client import Client
from touchstone.reference_impl.io.server import serve
from touchstone.reference_impl.wire.errors import ErrorCode as E

NAMES = count()
MAX_TIMESTAMP, LATEST = -3, -1
COMMITTED = 1  # read_committed


@pytest.fixture(scope="module", params=["3.9", "4.3"])
def release(request):
    return request.param


@pytest.fixture(scope="module")
def client(release):
    with serve(release=release) as running, Client(running.bootstrap) as client:
        yield client


@pytest.fixture
def topic(client):
    name = f"words-{next(NAMES)}"
    client.admin.create_topic(name, partitions=2)
    return name


def ask(client, api, version, body):
    return client.ask(api, body, node=0, versions=(version, version))


def offset_at(client, topic, timestamp, isolation=0):
    rows = [{"partition_index": 0, "current_leader_epoch": -1, "timestamp": timestamp}]
    topics = [{"name": topic, "partitions": rows}]
    body = {"replica_id": -1, "isolation_level": isolation, "topics": topics}
    (found,) = ask(client, "ListOffsets", 7, body)["topics"][0]["partitions"]
    return found["offset"]


def delete_records(client, topic, offset):
    topics = [{"name": topic, "partitions": [{"partition_index": 0, "offset": offset}]}]
    body = {"topics": topics, "timeout_ms": 5_000}
    (row,) = ask(client, "DeleteRecords", 2, body)["topics"][0]["partitions"]
    return row["error_code"], row["low_watermark"]


def send(client, topic, *ages):
    """A record each, so many milliseconds old."""
    producer, now = client.producer(), time.time_ns() // 1_000_000
    for age in ages:
        producer.send(topic, b"x", partition=0, timestamp=now - age)
        producer.flush()


def test_the_newest_record_is_named_though_it_was_deleted(client, topic):
    send(client, topic, 9_000, 5_000, 8_000, 7_000)
    assert delete_records(client, topic, 2) == (E.NONE, 2)
    assert offset_at(client, topic, MAX_TIMESTAMP) == 1


def test_the_last_stable_offset_follows_the_log_start(client, topic):
    producer = client.transactional_producer(f"id-{topic}")
    producer.begin()
    for _ in range(4):
        producer.send(topic, b"x", partition=0)
        producer.flush()
    assert offset_at(client, topic, LATEST, COMMITTED) == 0
    assert delete_records(client, topic, 2) == (E.NONE, 2)
    assert offset_at(client, topic, LATEST, COMMITTED) == 2
    assert offset_at(client, topic, LATEST) == 4


def test_an_empty_policy_lets_records_be_deleted_since_4_3(client, release):
    name = f"undecided-{release}"
    client.admin.create_topic(name, configs={"cleanup.policy": ""})
    send(client, name, 0)
    refused = E.POLICY_VIOLATION, -1
    assert delete_records(client, name, 1) == {"3.9": refused, "4.3": (E.NONE, 1)}[release]


def test_a_cursor_names_who_comes_next_there_or_not(client, topic):
    names = [topic, f"{topic}-missing"]
    topics = [{"name": name} for name in names]
    body = {"topics": topics, "response_partition_limit": 2, "cursor": None}
    answer = ask(client, "DescribeTopicPartitions", 0, body)
    assert [row["name"] for row in answer["topics"]] == names[:1]
    assert answer["next_cursor"] == {"topic_name": names[1], "partition_index": 0}


def committed(client, group):
    body = {"group_id": group, "topics": None, "require_stable": True}
    topics = ask(client, "OffsetFetch", 7, body)["topics"]
    return {
        row["partition_index"]: row["committed_offset"]
        for topic in topics
        for row in topic["partitions"]
        if row["committed_offset"] >= 0
    }


def staged(client, topic):
    """A transaction that has offsets 5 and 6 for the group `g-TOPIC`, and is open."""
    producer = client.transactional_producer(f"id-{topic}")
    producer.begin()
    producer.send_offsets({(topic, 0): 5, (topic, 1): 6}, f"g-{topic}")
    return producer


def test_a_deleted_offset_is_not_committed_by_an_open_transaction(client, topic):
    producer = staged(client, topic)
    topics = [{"name": topic, "partitions": [{"partition_index": 0}]}]
    ask(client, "OffsetDelete", 0, {"group_id": f"g-{topic}", "topics": topics})
    producer.commit()
    assert committed(client, f"g-{topic}") == {1: 6}


def test_a_new_topic_gets_no_offset_of_the_old_one_s_transaction(client, topic):
    producer = staged(client, topic)
    client.admin.delete_topics([topic])
    client.admin.create_topic(topic, partitions=2)
    assert committed(client, f"g-{topic}") == {}
    producer.commit()
    assert committed(client, f"g-{topic}") == {}
