"""A follower is read from where its leader names it (KIP-392), the leader where that fails."""

import pytest

from touchstone.reference_impl.client.consumer import Consumer
from touchstone.reference_impl.client.flow import Failed
from touchstone.reference_impl.io.client import Client
from touchstone.reference_impl.io.server import serve
from touchstone.reference_impl.wire.errors import ErrorCode as E

from .scripted import Runner, metadata, topic, view
from .test_consumer import DATA, part

PLACE = ("t", 0)
LEADER, FOLLOWER = 0, 1
SELECTOR = "org.apache.kafka.common.replica.RackAwareReplicaSelector"


class Naming:
    """A leader that names the follower; that one answers by a plan of error codes, then DATA."""

    def __init__(self, *plan):
        self.plan = list(plan)
        self.asked = []

    def __call__(self, ask):
        if ask.api == "Metadata":
            return metadata(topic("t", LEADER))
        self.asked.append(ask.node)
        row = part(b"") | {"preferred_read_replica": FOLLOWER}
        if ask.node == FOLLOWER:
            told = self.plan.pop(0) if self.plan else 0
            if isinstance(told, str):
                return Failed(ask, told, "planned")
            row = part(b"" if told else DATA, error=told) | {"preferred_read_replica": -1}
        return {"error_code": 0, "responses": [{"topic": "t", "partitions": [row]}]}


def reading(*plan, **options):
    seen = view(topic("t", LEADER))
    consumer = Consumer(seen, rack="b", **options)
    consumer.assign([PLACE])
    consumer.seek(PLACE, 5)
    naming = Naming(*plan)
    return consumer, Runner(seen, naming), naming


def test_the_named_replica_is_asked_until_its_lease_ends():
    consumer, runner, naming = reading(metadata_max_age_ms=60_000)
    assert runner.run(consumer.poll()) == []
    assert [row.offset for row in runner.run(consumer.poll())] == [5, 6, 7, 8, 9]
    consumer.seek(PLACE, 5)
    assert len(runner.run(consumer.poll())) == 5
    runner.view.now += 60_000
    consumer.seek(PLACE, 5)
    runner.run(consumer.poll())
    assert naming.asked[0] == naming.asked[-1] == LEADER
    assert set(naming.asked[1:-1]) == {FOLLOWER}, "whether sent ahead or not"


@pytest.mark.parametrize(
    "told", [E.NOT_LEADER_OR_FOLLOWER, E.REPLICA_NOT_AVAILABLE, E.OFFSET_OUT_OF_RANGE, "closed"]
)
def test_whatever_goes_wrong_there_the_leader_is_asked_next(told):
    consumer, runner, naming = reading(told, reset="none")
    for _ in range(3):
        runner.run(consumer.poll())
    assert naming.asked == [LEADER, FOLLOWER, LEADER]
    assert consumer.positions[PLACE] == 5, "a follower that is behind resets nobody"


def test_a_replica_that_is_offline_or_unknown_is_not_asked():
    consumer, runner, naming = reading()
    runner.run(consumer.poll())
    row = topic("t", LEADER)
    row["partitions"][0]["offline_replicas"] = [FOLLOWER]
    runner.view.update(metadata(row))
    runner.run(consumer.poll())
    runner.view.update(metadata(topic("t", LEADER), nodes=(LEADER,)))
    runner.run(consumer.poll())
    assert naming.asked == [LEADER] * 3


def test_a_partition_that_is_assigned_anew_begins_at_its_leader():
    consumer, runner, naming = reading()
    runner.run(consumer.poll())
    consumer.assign([])
    consumer.assign([PLACE])
    consumer.seek(PLACE, 5)
    runner.run(consumer.poll())
    assert naming.asked == [LEADER, LEADER]


@pytest.mark.parametrize("release", ["2.8", "4.3"])
def test_a_consumer_of_another_rack_reads_from_its_own(release):
    """Leaders that know racks hand such a consumer no records at all."""
    config = {"replica.selector.class": SELECTOR}
    with (
        serve(brokers=2, racks=["a", "b"], release=release, config=config) as cluster,
        Client(cluster.bootstrap) as client,
    ):
        client.admin.create_topic("t", partitions=2, replication=2)
        producer = client.producer()
        for number in range(20):
            producer.send("t", b"%d" % number, partition=number % 2)
        producer.flush()
        consumer = client.consumer([("t", 0), ("t", 1)], reset="earliest", rack="b")
        values = []
        while len(values) < 20:
            values += [int(row.value) for row in consumer.poll(timeout_ms=1000)]
        assert sorted(values) == list(range(20))
