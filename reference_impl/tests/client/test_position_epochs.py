"""Log truncation is noticed (KIP-320): a new leader says where the epoch that was read ended."""

import pytest

from touchstone.reference_impl.client.consumer import Consumer, LogTruncated
from touchstone.reference_impl.client.flow import Failed, KafkaError
from touchstone.reference_impl.io.client import Client
from touchstone.reference_impl.io.server import serve
from touchstone.reference_impl.wire import records as R
from touchstone.reference_impl.wire.errors import ErrorCode as E

from .scripted import Runner, metadata, topic, view
from .test_consumer import part

PLACE = ("t", 0)
READ = R.build(2, [b"5", b"6", b"7"], base_offset=5, partition_leader_epoch=3)


class NewLeader:
    """Has READ at offset 5 and nothing later; answers OffsetForLeaderEpoch as it is told."""

    def __init__(self, *told):
        self.told = list(told)

    def __call__(self, ask):
        if ask.api == "Metadata":
            return metadata(topic("t", 0, epoch=4))
        if ask.api == "ListOffsets":
            row = {"partition_index": 0, "error_code": 0, "offset": 1, "timestamp": -1}
            return {"topics": [{"name": "t", "partitions": [row]}]}
        if ask.api == "OffsetForLeaderEpoch":
            told = self.told.pop(0)
            if isinstance(told, str):
                return Failed(ask, told, "planned")
            code, epoch, end = told
            row = {"partition": 0, "error_code": code, "leader_epoch": epoch, "end_offset": end}
            return {"topics": [{"topic": "t", "partitions": [row]}]}
        (row,) = ask.body["topics"][0]["partitions"]
        data = READ if row["fetch_offset"] == 5 else b""
        return {"error_code": 0, "responses": [{"topic": "t", "partitions": [part(data)]}]}


def after_an_election(*told, **options):
    """A consumer that has read up to 8 in epoch 3, and then hears of a leader of epoch 4."""
    seen = view(topic("t", 0, epoch=3))
    consumer = Consumer(seen, **options)
    consumer.assign([PLACE])
    consumer.seek(PLACE, 5)
    runner = Runner(seen, NewLeader(*told))
    assert len(runner.run(consumer.poll())) == 3
    assert not runner.asked("OffsetForLeaderEpoch"), "its leader gave it what it has"
    seen.update(metadata(topic("t", 0, epoch=4)))
    return consumer, runner


def test_a_new_leader_that_has_what_was_read_is_asked_once():
    consumer, runner = after_an_election((0, 3, 9))
    runner.run(consumer.poll())
    runner.run(consumer.poll())
    (ask,) = runner.asked("OffsetForLeaderEpoch")
    assert ask.body["topics"][0]["partitions"] == [
        {"partition": 0, "current_leader_epoch": 4, "leader_epoch": 3}
    ]
    assert ask.body["replica_id"] == -1 and consumer.positions[PLACE] == 8


def test_where_the_log_was_cut_is_read_from_there():
    consumer, runner = after_an_election((0, 3, 6), reset="latest")
    runner.run(consumer.poll())
    assert consumer.positions[PLACE] == 6


def test_without_a_reset_policy_a_cut_log_is_an_error():
    consumer, runner = after_an_election((0, 3, 6), reset="none")
    with pytest.raises(LogTruncated, match="t-0 was cut at 6, below 8"):
        runner.run(consumer.poll())


@pytest.mark.parametrize("end", [(0, -1, -1), (0, -1, 6), (0, 3, -1)])
def test_a_leader_that_never_heard_of_the_epoch_resets(end):
    consumer, runner = after_an_election(end, reset="earliest")
    runner.run(consumer.poll())
    runner.run(consumer.poll())
    assert consumer.positions[PLACE] == 1


@pytest.mark.parametrize("told", [(E.NOT_LEADER_OR_FOLLOWER, -1, -1), "closed"])
def test_nothing_is_fetched_before_the_leader_has_answered(told):
    consumer, runner = after_an_election(told, (0, 3, 9))
    runner.run(consumer.poll())
    assert 4 not in fetched_in(runner) and 100 in runner.pauses
    runner.run(consumer.poll())
    assert fetched_in(runner)[-1] == 4


def fetched_in(runner) -> list[int]:
    """The leader epochs that fetches named; one was sent ahead before the election."""
    rows = [ask.body["topics"] for ask in runner.asked("Fetch")]
    return [each[0]["partitions"][0]["current_leader_epoch"] for each in rows if each]


def test_a_broker_that_consumers_cannot_ask_is_believed():
    consumer, runner = after_an_election("unsupported")
    runner.run(consumer.poll())
    runner.run(consumer.poll())
    assert len(runner.asked("OffsetForLeaderEpoch")) == 1 and consumer.positions[PLACE] == 8


def test_an_answer_about_what_was_not_asked_moves_nothing():
    consumer, runner = after_an_election()
    row = {"partition": 7, "error_code": 0, "leader_epoch": 3, "end_offset": 0}
    answer, script = {"topics": [{"topic": "other", "partitions": [row]}]}, runner.script
    runner.script = lambda ask: answer if ask.api == "OffsetForLeaderEpoch" else script(ask)
    runner.run(consumer.poll())
    assert consumer.positions == {PLACE: 8}


def test_a_refusal_is_raised():
    consumer, runner = after_an_election((E.TOPIC_AUTHORIZATION_FAILED, -1, -1))
    with pytest.raises(KafkaError, match="TOPIC_AUTHORIZATION_FAILED"):
        runner.run(consumer.poll())


def test_nothing_is_known_of_a_position_that_somebody_sought():
    consumer, runner = after_an_election()
    consumer.seek(PLACE, 7)
    runner.run(consumer.poll())
    assert not runner.asked("OffsetForLeaderEpoch")


@pytest.mark.parametrize("release", ["2.8", "4.3"])
def test_commits_carry_the_epoch_of_what_was_read(release):
    haste = {"group.initial.rebalance.delay.ms": "0"}
    with (
        serve(brokers=1, release=release, config=haste) as cluster,
        Client(cluster.bootstrap) as client,
    ):
        client.admin.create_topic("t")
        producer = client.producer()
        producer.send("t", b"0")
        producer.flush()
        consumer = client.consumer(
            group="g", topics=["t"], reset="earliest", auto_commit_ms=None
        )  # fmt: skip
        while not consumer.poll(timeout_ms=1000):
            pass
        consumer.commit()
        assert consumer.committed([PLACE])[PLACE][:2] == (1, 0)
        consumer.close()
