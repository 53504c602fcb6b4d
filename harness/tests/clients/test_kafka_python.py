"""kafka-python: a consumer group, static members, offsets, an admin and transactions of its own.

Nothing of it is Java or C; it is the client that reads the protocol from its own schemas, so a
field that ours writes wrongly is an exception here.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable

import pytest

with warnings.catch_warnings():  # it reads its schemas in a way that Python 3.11 deprecates
    warnings.simplefilter("ignore", DeprecationWarning)
    from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
    from kafka.admin import NewTopic
    from kafka.structs import OffsetAndMetadata

from touchstone.harness.tests.clients.programs import PATIENCE_S

pytestmark = [pytest.mark.slow, pytest.mark.timeout(4 * PATIENCE_S)]
PARTITIONS = 4
# 3.0 goes on joining only while it is polled: by polls that end before a busy machine has had its
# turn it hung for 28 s on real Kafka, and once for good on ours.
POLL_MS = 1_000


@pytest.fixture
def admin(bootstrap):
    client = KafkaAdminClient(bootstrap_servers=bootstrap.split(","))
    yield client
    client.close()


@pytest.fixture
def topic(admin, name, replicas):
    admin.create_topics([NewTopic(name, PARTITIONS, replicas)])
    return name


@pytest.fixture
def consumer(bootstrap):
    """Makes members of a group; all are closed at the end."""
    made = []

    def make(group: str, *topics: str, **settings) -> KafkaConsumer:
        said = {
            "heartbeat_interval_ms": 300, "enable_auto_commit": False,
            "auto_offset_reset": "earliest", **settings,
        }  # fmt: skip
        one = KafkaConsumer(bootstrap_servers=bootstrap.split(","), group_id=group, **said)
        made.append(one)
        if topics:
            # 3.0 that leads a group before it knows the topics gives nobody anything, and that
            # stays so: seen once, on a busy machine.
            poll_until([], lambda _: all(one.partitions_for_topic(each) for each in topics))
            one.subscribe(topics)
        return one

    yield make
    for each in made:
        each.close()


def produce(bootstrap: str, topic: str, count: int, **settings) -> list[bytes]:
    producer = KafkaProducer(bootstrap_servers=bootstrap.split(","), **settings)
    values = [b"%d" % number for number in range(count)]
    for at, value in enumerate(values):
        producer.send(topic, value, partition=at % PARTITIONS)
    producer.flush(PATIENCE_S)
    producer.close()
    return values


def poll_until(consumers: list, done: Callable[[list[bytes]], bool]) -> list[bytes]:
    seen: list[bytes] = []
    until = time.monotonic() + PATIENCE_S
    while not done(seen):
        assert time.monotonic() < until, f"not done in {PATIENCE_S} s, {len(seen)} records read"
        for each in consumers:
            for records in each.poll(POLL_MS).values():
                seen += [record.value for record in records]
    return seen


def shares(consumers: list) -> list[int]:
    return sorted(len(each.assignment()) for each in consumers)


def test_members_share_and_take_over(bootstrap, topic, consumer):
    sent = produce(bootstrap, topic, 40)
    first = consumer(topic, topic)
    assert sorted(poll_until([first], lambda seen: len(seen) == 40)) == sorted(sent)
    first.commit()
    second = consumer(topic, topic)
    poll_until([first, second], lambda _: shares([first, second]) == [2, 2])
    sent = produce(bootstrap, topic, 20)
    assert sorted(poll_until([first, second], lambda seen: len(seen) >= 20)) == sorted(sent)
    second.commit()
    second.close()
    poll_until([first], lambda _: shares([first]) == [PARTITIONS])


def test_an_admin_sees_and_deletes_groups(bootstrap, topic, consumer, admin):
    produce(bootstrap, topic, 8)
    one = consumer(topic, topic, client_id="observed")
    poll_until([one], lambda seen: len(seen) == 8)
    one.commit({TopicPartition(topic, 0): OffsetAndMetadata(2, "words", -1)})
    assert one.committed(TopicPartition(topic, 0), metadata=True)[:2] == (2, "words")
    found = admin.describe_groups([topic])[topic]
    assert found["group_state"] == "Stable"
    assert [member["client_id"] for member in found["members"]] == ["observed"]
    one.close()
    offsets = admin.list_group_offsets({topic: None})[topic]
    assert {at.partition: held.offset for at, held in offsets.items()} == {0: 2}
    admin.delete_groups([topic])
    assert topic not in {each["group_id"] for each in admin.list_groups()}


def test_transactions_are_seen_whole_or_not_at_all(bootstrap, topic, consumer):
    producer = KafkaProducer(bootstrap_servers=bootstrap.split(","), transactional_id=topic)
    producer.init_transactions()
    for at in range(4):
        producer.begin_transaction()
        for partition in range(PARTITIONS):
            producer.send(topic, b"%d" % at, partition=partition)
        if at % 2:
            producer.abort_transaction()
        else:
            producer.send_offsets_to_transaction(
                {TopicPartition(topic, 0): OffsetAndMetadata(at, "", -1)}, f"{topic}-out"
            )
            producer.commit_transaction()
    producer.close()
    reader = consumer(topic, topic, isolation_level="read_committed")
    seen = poll_until([reader], lambda seen: len(seen) >= 2 * PARTITIONS)
    assert sorted(seen) == sorted([b"0", b"2"] * PARTITIONS)
    other = consumer(f"{topic}-out")
    assert other.committed(TopicPartition(topic, 0)) == 2
