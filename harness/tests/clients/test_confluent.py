"""librdkafka (confluent-kafka): its groups of every kind, and its transactions.

librdkafka has a group and a transaction manager of its own, in C; only the protocol is shared with
Java's. Each test is what its documentation promises a user.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

import pytest
from confluent_kafka import (
    Consumer,
    ConsumerGroupState,
    ConsumerGroupTopicPartitions,
    KafkaException,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, NewTopic

from touchstone.harness.tests.clients.programs import PATIENCE_S

pytestmark = [pytest.mark.slow, pytest.mark.timeout(4 * PATIENCE_S)]
PARTITIONS = 6
CLASSIC = ["range", "roundrobin", "cooperative-sticky"]
KINDS = [*CLASSIC, "consumer"]
# What librdkafka has to say goes to pytest's log, not into the report of every other test.
QUIET = logging.getLogger("librdkafka")


@pytest.fixture
def admin(bootstrap):
    return AdminClient({"bootstrap.servers": bootstrap})


@pytest.fixture
def topic(admin, name, replicas):
    made = NewTopic(name, PARTITIONS, replicas)
    for done in admin.create_topics([made]).values():
        done.result(PATIENCE_S)
    return name


@pytest.fixture
def consumer(bootstrap):
    """Makes consumers of a group of some kind; all are closed at the end."""
    made = []

    def make(group: str, kind: str, **settings) -> Consumer:
        own = {"group.protocol": "consumer"} if kind == "consumer" else {
            "partition.assignment.strategy": kind, "heartbeat.interval.ms": 300,
        }  # fmt: skip
        said = {
            "bootstrap.servers": bootstrap, "group.id": group, "auto.offset.reset": "earliest",
            "enable.auto.commit": False, "logger": QUIET, **own, **settings,
        }  # fmt: skip
        made.append(Consumer(said))
        return made[-1]

    yield make
    for each in made:
        each.close()


def produce(bootstrap: str, topic: str, count: int, start: int = 0) -> list[bytes]:
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 1}, logger=QUIET)
    values = [b"%d" % number for number in range(start, start + count)]
    for at, value in enumerate(values):
        producer.produce(topic, value, partition=at % PARTITIONS)
    assert producer.flush(PATIENCE_S) == 0
    return values


def poll_until(consumers: list[Consumer], done: Callable[[list[bytes]], bool]) -> list[bytes]:
    """What they read until it is `done`, polled in turn."""
    seen: list[bytes] = []
    until = time.monotonic() + PATIENCE_S
    while not done(seen):
        assert time.monotonic() < until, f"not done in {PATIENCE_S} s, {len(seen)} records read"
        for each in consumers:
            message = each.poll(0.05)
            if message is not None:
                assert message.error() is None, message.error()
                seen.append(message.value())
    return seen


def owned(consumers: list[Consumer]) -> list[int]:
    """Partitions by owner's number: how many each has; nobody's and everybody's would show."""
    shares = [{(each.topic, each.partition) for each in one.assignment()} for one in consumers]
    assert len(set().union(*shares)) == sum(map(len, shares)), "two own one partition"
    return sorted(map(len, shares))


@pytest.mark.parametrize("kind", KINDS)
def test_members_share_and_take_over(bootstrap, topic, consumer, kind):
    """All is read once; a member that comes takes its share, one that goes leaves it behind."""
    sent = produce(bootstrap, topic, 60)
    first, second = consumer(topic, kind), consumer(topic, kind)
    first.subscribe([topic])
    seen = poll_until([first], lambda seen: len(seen) == 60)
    assert sorted(seen) == sorted(sent)
    first.commit(asynchronous=False)
    second.subscribe([topic])
    poll_until([first, second], lambda _: owned([first, second]) == [3, 3])
    sent = produce(bootstrap, topic, 30, start=60)
    seen = poll_until([first, second], lambda seen: len(seen) >= 30)
    assert sorted(seen) == sorted(sent), "nothing twice, nothing lost"
    second.commit(asynchronous=False)
    second.unsubscribe()
    poll_until([first, second], lambda _: owned([first]) == [PARTITIONS])


@pytest.mark.parametrize("kind", KINDS)
def test_who_comes_back_goes_on_where_it_committed(bootstrap, topic, consumer, kind):
    produce(bootstrap, topic, 24)
    first = consumer(topic, kind)
    first.subscribe([topic])
    poll_until([first], lambda seen: len(seen) == 24)
    first.commit(asynchronous=False)
    held = first.committed([TopicPartition(topic, at) for at in range(PARTITIONS)], PATIENCE_S)
    assert [each.offset for each in held] == [4] * PARTITIONS
    first.close()
    sent = produce(bootstrap, topic, 6, start=24)
    again = consumer(topic, kind)
    again.subscribe([topic])
    assert sorted(poll_until([again], lambda seen: len(seen) >= 6)) == sorted(sent)


@pytest.mark.parametrize("kind", KINDS)
def test_static_members_are_fenced_or_return_to_their_partitions(bootstrap, topic, consumer, kind):
    produce(bootstrap, topic, 6)
    settings = {"group.instance.id": "one"}
    first, other = consumer(topic, kind, **settings), consumer(topic, kind)
    first.subscribe([topic])
    other.subscribe([topic])
    poll_until([first, other], lambda _: owned([first, other]) == [3, 3])
    had = {each.partition for each in first.assignment()}
    first.close()  # static: it does not leave
    back = consumer(topic, kind, **settings)
    back.subscribe([topic])
    poll_until([back, other], lambda _: len(back.assignment()) > 0)
    assert {each.partition for each in back.assignment()} == had


def test_an_admin_sees_moves_and_deletes_groups(bootstrap, topic, consumer, admin):
    produce(bootstrap, topic, 12)
    one = consumer(topic, "range", **{"client.id": "observed"})
    one.subscribe([topic])
    poll_until([one], lambda seen: len(seen) == 12)
    one.commit(asynchronous=False)
    found = admin.describe_consumer_groups([topic])[topic].result(PATIENCE_S)
    assert found.state is ConsumerGroupState.STABLE
    assert [member.client_id for member in found.members] == ["observed"]
    assert len(found.members[0].assignment.topic_partitions) == PARTITIONS
    listed = admin.list_consumer_groups(states={ConsumerGroupState.STABLE}).result(PATIENCE_S)
    assert topic in {each.group_id for each in listed.valid}
    with pytest.raises(KafkaException, match="NON_EMPTY_GROUP"):
        admin.delete_consumer_groups([topic])[topic].result(PATIENCE_S)
    one.close()
    where = ConsumerGroupTopicPartitions(topic, [TopicPartition(topic, 0, 1)])
    moved = admin.alter_consumer_group_offsets([where])[topic].result(PATIENCE_S)
    assert [(each.partition, each.offset) for each in moved.topic_partitions] == [(0, 1)]
    asked = ConsumerGroupTopicPartitions(topic)
    offsets = admin.list_consumer_group_offsets([asked])[topic].result(PATIENCE_S)
    wanted = {0: 1, **dict.fromkeys(range(1, PARTITIONS), 2)}
    assert {each.partition: each.offset for each in offsets.topic_partitions} == wanted
    admin.delete_consumer_groups([topic])[topic].result(PATIENCE_S)
    listed = admin.list_consumer_groups().result(PATIENCE_S)
    assert topic not in {each.group_id for each in listed.valid}


def test_transactions_are_seen_whole_or_not_at_all(bootstrap, topic, consumer):
    producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": topic}, logger=QUIET)
    producer.init_transactions(PATIENCE_S)
    for at in range(6):
        producer.begin_transaction()
        for partition in range(PARTITIONS):
            producer.produce(topic, b"%d" % at, partition=partition)
        if at % 2:
            producer.abort_transaction(PATIENCE_S)
        else:
            producer.commit_transaction(PATIENCE_S)
    reader = consumer(topic, "range", **{"isolation.level": "read_committed"})
    reader.subscribe([topic])
    seen = poll_until([reader], lambda seen: len(seen) >= 3 * PARTITIONS)
    assert sorted(seen) == sorted([b"0", b"2", b"4"] * PARTITIONS)


@pytest.mark.parametrize("kind", KINDS)
def test_offsets_go_with_the_transaction(bootstrap, topic, consumer, kind):
    """Consume, transform, produce: an abort takes the offsets back, a commit makes them count."""
    produce(bootstrap, topic, PARTITIONS)
    reader = consumer(topic, kind, **{"isolation.level": "read_committed"})
    reader.subscribe([topic])
    poll_until([reader], lambda seen: len(seen) == PARTITIONS)
    where = [TopicPartition(topic, at) for at in range(PARTITIONS)]
    producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": topic}, logger=QUIET)
    producer.init_transactions(PATIENCE_S)
    for end, wanted in ((producer.abort_transaction, -1001), (producer.commit_transaction, 1)):
        producer.begin_transaction()
        producer.produce(topic, b"out", partition=0)
        group = reader.consumer_group_metadata()
        producer.send_offsets_to_transaction(reader.position(where), group, PATIENCE_S)
        end(PATIENCE_S)
        offsets = {each.offset for each in reader.committed(where, PATIENCE_S)}
        assert offsets == {wanted}, end


def test_a_newer_producer_fences_the_older(bootstrap, topic):
    settings = {"bootstrap.servers": bootstrap, "transactional.id": topic}
    older, newer = (Producer(settings, logger=QUIET) for _ in range(2))
    older.init_transactions(PATIENCE_S)
    older.begin_transaction()
    older.produce(topic, b"old")
    older.flush(PATIENCE_S)
    newer.init_transactions(PATIENCE_S)
    with pytest.raises(KafkaException, match="FENCED"):
        older.commit_transaction(PATIENCE_S)
    newer.begin_transaction()
    newer.produce(topic, b"new")
    newer.commit_transaction(PATIENCE_S)
