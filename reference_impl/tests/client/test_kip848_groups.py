"""A member of the consumer protocol against a made-up coordinator, then against ours."""

import re

import pytest

from touchstone.reference_impl.client.flow import ClientError, Failed, KafkaError
from touchstone.reference_impl.client.group_consumer import Listener
from touchstone.reference_impl.client.group_offsets import CommitFailed, RebalanceInProgress
from touchstone.reference_impl.client.kip848_consumer import Kip848Consumer
from touchstone.reference_impl.io.client import Client
from touchstone.reference_impl.io.server import serve
from touchstone.reference_impl.wire.errors import ErrorCode as E

from .coordinating import Coordinating
from .scripted import Runner, topic, view

ID = b"i" * 16
T0, T1 = ("t", 0), ("t", 1)


class Heart(Coordinating):
    """Answers heartbeats by a plan: codes, "closed", or the partitions of t to own from now on."""

    def __init__(self, *plan, **others):
        super().__init__(topic("t", 0, 0, id_=ID), **others)
        self.heartbeats = list(plan)
        self.epoch = 0

    def _ConsumerGroupHeartbeat(self, body, code):
        told = self.heartbeats.pop(0) if self.heartbeats else None
        if isinstance(told, int):
            return {"error_code": told, "error_message": None}
        share = None
        if told is not None:
            self.epoch += 1
            share = {"topic_partitions": [{"topic_id": ID, "partitions": list(told)}]}
        return {
            "error_code": 0,
            "member_id": body["member_id"],
            "member_epoch": max(self.epoch, body["member_epoch"]),
            "heartbeat_interval_ms": 5_000,
            "assignment": share,
        }

    def __call__(self, ask):
        if ask.api == "ConsumerGroupHeartbeat" and self.heartbeats[:1] == ["closed"]:
            self.heartbeats.pop(0)
            return Failed(ask, "closed", "planned")
        return super().__call__(ask)


def member(*plan, **options) -> tuple[Kip848Consumer, Runner, list]:
    script = Heart(*plan, **options.pop("others", {}))
    seen = view(*script.topics)
    options = {"auto_commit_ms": None, "reset": "earliest"} | options
    consumer = Kip848Consumer(seen, "g", member_id="me", **options)
    events: list = []
    consumer.subscribe(
        ["t"],
        listener=Listener(
            assigned=lambda places: events.append(("+", places)),
            revoked=lambda places: events.append(("-", places)),
            lost=lambda places: events.append(("lost", places)),
        ),
    )
    return consumer, Runner(seen, script), events


def heartbeats(runner: Runner) -> list[dict]:
    return [ask.body for ask in runner.asked("ConsumerGroupHeartbeat")]


def test_a_new_member_says_all_and_acknowledges_what_it_was_given():
    consumer, runner, events = member((0, 1), rack="a", assignor="range", instance_id="i1")
    runner.run(consumer.poll())
    first, second = heartbeats(runner)
    assert first == {
        "group_id": "g",
        "member_id": "me",
        "member_epoch": 0,
        "instance_id": "i1",
        "rack_id": "a",
        "rebalance_timeout_ms": 300_000,
        "server_assignor": "range",
        "subscribed_topic_names": ["t"],
        "subscribed_topic_regex": None,
        "topic_partitions": [],
    }
    assert second == {
        **{field: first[field] for field in ("group_id", "member_id", "instance_id")},
        "member_epoch": 1,
        "topic_partitions": [{"topic_id": ID, "partitions": [0, 1]}],
    }
    assert events == [("+", [T0, T1])] and consumer.member.generation == 1


def test_a_topic_that_nobody_can_name_yet_is_waited_for():
    consumer, runner, events = member((0,), max_wait_ms=50)
    known = runner.script.topics
    runner.script.topics = ()
    runner.view.topics.clear()
    runner.run(consumer.poll())
    assert not events and not consumer.positions and len(heartbeats(runner)) == 1
    runner.script.topics = known
    runner.run(consumer.poll())
    assert events == [("+", [T0])] and len(heartbeats(runner)) == 2


def test_heartbeats_go_out_at_their_interval_and_when_there_is_something_to_say():
    consumer, runner, _ = member((0,))
    runner.run(consumer.poll())
    runner.run(consumer.poll())
    assert len(heartbeats(runner)) == 2
    runner.view.now += 5_000
    runner.run(consumer.poll())
    assert heartbeats(runner)[2].keys() == {"group_id", "member_id", "member_epoch", "instance_id"}
    consumer.subscribe(["t", "u"])
    runner.run(consumer.poll())
    assert heartbeats(runner)[3]["subscribed_topic_names"] == ["t", "u"]


def test_what_is_given_up_is_committed_revoked_and_then_acknowledged():
    consumer, runner, events = member((0, 1), None, (1,), auto_commit_ms=60_000)
    runner.run(consumer.poll())
    runner.view.now += 5_000
    runner.run(consumer.poll())
    assert events == [("+", [T0, T1]), ("-", [T0]), ("+", [])]
    order = [ask.api for ask in runner.asks if "Heartbeat" in ask.api or "Commit" in ask.api]
    assert order[-3:] == ["ConsumerGroupHeartbeat", "OffsetCommit", "ConsumerGroupHeartbeat"]
    assert heartbeats(runner)[-1]["topic_partitions"] == [{"topic_id": ID, "partitions": [1]}]


@pytest.mark.parametrize("code", [E.FENCED_MEMBER_EPOCH, E.UNKNOWN_MEMBER_ID])
def test_who_is_fenced_loses_all_and_joins_again_at_once_as_the_same_member(code):
    consumer, runner, events = member((0,), None, int(code), (1,))
    runner.run(consumer.poll())
    runner.view.now += 5_000
    runner.run(consumer.poll())
    assert events == [("+", [T0]), ("lost", [T0]), ("+", [T1])]
    again = heartbeats(runner)[3]
    assert (again["member_id"], again["member_epoch"]) == ("me", 0)
    assert again["subscribed_topic_names"] == ["t"] and again["topic_partitions"] == []


@pytest.mark.parametrize("code", [E.FENCED_MEMBER_EPOCH, E.UNKNOWN_MEMBER_ID])
def test_who_was_fenced_between_two_polls_is_told_so_by_the_next(code):
    consumer, runner, events = member((0,), None, int(code), (0,))
    runner.run(consumer.poll())
    runner.view.now += 5_000
    runner.run(consumer.keep_alive())  # what a heartbeat thread does
    runner.run(consumer.poll())
    assert events == [("+", [T0]), ("lost", [T0]), ("+", [T0])]


@pytest.mark.parametrize(
    "said", [int(E.NOT_COORDINATOR), int(E.COORDINATOR_NOT_AVAILABLE), "closed"]
)
def test_a_coordinator_that_moved_is_looked_for_and_told_everything(said):
    consumer, runner, _ = member((0,), None, said, max_wait_ms=100)
    runner.run(consumer.poll())
    runner.view.now += 5_000
    made = []
    for _ in range(3):
        runner.run(consumer.poll())
        made.append(len(heartbeats(runner)))
        runner.view.now += 50
    assert len(runner.asked("FindCoordinator")) == 2
    assert made == [3, 3, 4], "one that failed, one after a pause"
    assert heartbeats(runner)[3]["topic_partitions"] == [{"topic_id": ID, "partitions": [0]}]
    assert consumer.positions.keys() == {T0}, "a membership outlives its coordinator"


def test_a_coordinator_that_loads_is_waited_for_and_stays_the_one():
    consumer, runner, _ = member(int(E.COORDINATOR_LOAD_IN_PROGRESS), (0,), max_wait_ms=200)
    for _ in range(2):
        runner.run(consumer.poll())
    assert consumer.positions.keys() == {T0} and len(runner.asked("FindCoordinator")) == 1


@pytest.mark.parametrize(
    "code", [E.UNSUPPORTED_ASSIGNOR, E.GROUP_MAX_SIZE_REACHED, E.UNRELEASED_INSTANCE_ID]
)
def test_what_a_member_cannot_help_is_raised(code):
    consumer, runner, _ = member(int(code))
    with pytest.raises(KafkaError, match=code.name):
        runner.run(consumer.poll())


@pytest.mark.parametrize(("instance", "epoch"), [(None, -1), ("i1", -2)])
def test_leaving(instance, epoch):
    consumer, runner, events = member((0,), instance_id=instance)
    runner.run(consumer.poll())
    runner.run(consumer.close())
    assert heartbeats(runner)[-1]["member_epoch"] == epoch
    assert events[-1] == ("-", [T0]) and consumer.member.generation == -1


@pytest.mark.parametrize(
    ("code", "error"),
    [
        (E.STALE_MEMBER_EPOCH, RebalanceInProgress),
        (E.UNKNOWN_MEMBER_ID, CommitFailed),
        (E.FENCED_MEMBER_EPOCH, CommitFailed),
    ],
)
def test_a_commit_that_is_refused(code, error):
    consumer, runner, _ = member((0,), others={"OffsetCommit": [int(code)]})
    runner.run(consumer.poll())
    with pytest.raises(error):
        runner.run(consumer.commit())
    assert (consumer.member.generation < 0) == (error is CommitFailed)


def test_a_pattern_is_matched_here_or_there_and_one_takes_back_the_other():
    consumer, runner, _ = member((0,))
    with pytest.raises(ClientError, match="CONS-08"):
        consumer.subscribe(pattern="t.*")
    runner.run(consumer.poll())
    runner.run(consumer.unsubscribe())
    consumer.subscribe(pattern="t.*")
    runner.run(consumer.poll())
    assert heartbeats(runner)[-1]["subscribed_topic_regex"] == "t.*"
    with pytest.raises(ClientError, match="CONS-08"):
        consumer.subscribe(pattern=re.compile("t.*"))
    runner.run(consumer.unsubscribe())
    consumer.subscribe(pattern=re.compile("t.*"))
    runner.run(consumer.poll())
    assert heartbeats(runner)[-1]["subscribed_topic_names"] == ["t"]
    assert heartbeats(runner)[-1]["subscribed_topic_regex"] is None


@pytest.mark.slow
def test_two_members_share_a_topic_hand_over_and_read_each_record_once():
    options = {"protocol": "consumer", "reset": "earliest", "max_wait_ms": 20}
    beat = "group.consumer.{}heartbeat.interval.ms"
    settings = {beat.format(""): "100", beat.format("min."): "100"}
    served = serve(brokers=1, release="4.3", config=settings)
    with (
        served as cluster,
        Client(cluster.bootstrap) as one,
        Client(cluster.bootstrap) as two,
    ):
        one.admin.create_topic("shared", partitions=4)
        producer = one.producer()
        for number in range(40):
            producer.send("shared", b"%d" % number, partition=number % 4)
        producer.close()
        first = one.consumer(group="g", topics=["shared"], **options)
        got = []
        while len(got) < 40:
            got += first.poll(1_000)
        second = two.consumer(group="g", topics=["shared"], **options)
        while len(second.positions) < 2:
            got += first.poll() + second.poll()
        assert len(first.positions) == 2 and not first.positions.keys() & second.positions.keys()
        second.poll()
        assert set(second.positions.values()) == {10}, "what was committed is not read again"
        second.close()
        while len(first.positions) < 4:
            got += first.poll()
        assert sorted(int(row.value) for row in got) == list(range(40))
        first.close()
