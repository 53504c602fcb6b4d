"""Offsets of timestamps, beginnings and ends: who is asked, how often, and what comes back."""

import pytest

from touchstone.reference_impl.client.consumer import Consumer
from touchstone.reference_impl.client.flow import KafkaError
from touchstone.reference_impl.client.offsets import EARLIEST, LATEST, OffsetAndTimestamp, found_for
from touchstone.reference_impl.wire.errors import ErrorCode as E

from .fetching import Runner
from .scripted import metadata, topic, view

T0, T1, U0 = ("t", 0), ("t", 1), ("u", 0)


class Leaders:
    """Answers ListOffsets by a plan of codes for partition t-0, then with 7 at 1,000 ms."""

    def __init__(self, *plan: int, moved: dict | None = None):
        self.plan = list(plan)
        self.moved = moved or topic("t", 0, 1)

    def __call__(self, ask):
        if ask.api == "Metadata":
            return metadata(self.moved, topic("u", 1))
        return {
            "topics": [
                {"name": row["name"], "partitions": [self._part(p) for p in row["partitions"]]}
                for row in ask.body["topics"]
            ]
        }

    def _part(self, asked):
        index = asked["partition_index"]
        code = self.plan.pop(0) if self.plan and index == 0 else 0
        return {"partition_index": index, "error_code": code, "offset": 7, "timestamp": 1000}


def asking(*plan, seen=None, **options) -> Runner:
    return Runner(seen or view(topic("t", 0, 1), topic("u", 1)), Leaders(*plan, **options))


def test_each_leader_is_asked_once_and_everything_comes_at_once():
    runner = asking()
    wanted = {T0: 900, T1: 900, U0: LATEST}
    assert runner.run(found_for(runner.view, wanted)) == dict.fromkeys(
        wanted, OffsetAndTimestamp(7, 1000)
    )
    asked = {
        ask.node: {
            (row["name"], part["partition_index"]): part["timestamp"]
            for row in ask.body["topics"]
            for part in row["partitions"]
        }
        for ask in runner.asks
    }
    assert asked == {0: {T0: 900}, 1: {T1: 900, U0: LATEST}} and len(runner.asks) == 2


@pytest.mark.parametrize("code", [E.NOT_LEADER_OR_FOLLOWER, E.OFFSET_NOT_AVAILABLE])
def test_what_passes_is_asked_again_of_whoever_leads_then(code):
    runner = asking(code, code, moved=topic("t", 1, 1, epoch=1))
    found = runner.run(found_for(runner.view, {T0: 900, T1: 900}))
    assert found == {T0: OffsetAndTimestamp(7, 1000), T1: OffsetAndTimestamp(7, 1000)}
    assert runner.pauses == [100, 200] and len(runner.asked("Metadata")) == 2
    tries = [
        (ask.node, [part["partition_index"] for part in ask.body["topics"][0]["partitions"]])
        for ask in runner.asked("ListOffsets")
    ]
    assert tries == [(0, [0]), (1, [1]), (1, [0]), (1, [0])], "only what is missing, again"


def test_a_partition_without_a_leader_is_waited_for():
    runner = asking(seen=view(topic("t", -1, 1)), moved=topic("t", 0, 1, epoch=1))
    assert runner.run(found_for(runner.view, {T0: 900}))[T0] == OffsetAndTimestamp(7, 1000)
    assert runner.asked("Metadata")


def test_one_that_never_has_a_leader_is_given_up():
    nobody = topic("t", -1, 1, epoch=1)
    runner = asking(E.NOT_LEADER_OR_FOLLOWER, moved=nobody)
    with pytest.raises(KafkaError, match="t-0: LEADER_NOT_AVAILABLE"):
        runner.run(found_for(runner.view, {T0: 900}, timeout_ms=10_000))


def test_what_will_not_pass_is_raised():
    runner = asking(E.UNSUPPORTED_FOR_MESSAGE_FORMAT)
    with pytest.raises(KafkaError, match="t-0: UNSUPPORTED_FOR_MESSAGE_FORMAT"):
        runner.run(found_for(runner.view, {T0: 900}))


def test_a_consumer_asks_for_times_beginnings_and_ends():
    runner = asking()
    consumer = Consumer(runner.view, isolation=1)
    assert runner.run(consumer.offsets_for_times({T0: 900})) == {T0: OffsetAndTimestamp(7, 1000)}
    assert runner.run(consumer.beginning_offsets([T0])) == {T0: 7}
    assert runner.run(consumer.end_offsets([T0])) == {T0: 7}
    asked = [ask.body["topics"][0]["partitions"][0]["timestamp"] for ask in runner.asks]
    assert asked == [900, EARLIEST, LATEST]
    assert {ask.body["isolation_level"] for ask in runner.asks} == {1}
