"""Commits that nobody waits for, what a consumer remembers of them, and what a lost one costs."""

import pytest

from touchstone.reference_impl.client.classic_consumer import ClassicConsumer
from touchstone.reference_impl.client.consumer import Consumer
from touchstone.reference_impl.client.flow import ClientError, KafkaError
from touchstone.reference_impl.client.group_offsets import (
    CommitFailed,
    Offset,
    RetriableCommitFailed,
)
from touchstone.reference_impl.wire.errors import ErrorCode as E

from .coordinating import Coordinating
from .fetching import Runner
from .scripted import view
from .test_groups import BOTH, member

T0, T1 = BOTH


class CommitOutcomes(list):
    """What callbacks of commits were told, in order."""

    def __call__(self, offsets, error):
        self.append((offsets, type(error) if error else None))


def committing(script: Coordinating, **options) -> tuple[ClassicConsumer, Runner, CommitOutcomes]:
    consumer, runner = member(script, **options)
    runner.run(consumer.poll())
    return consumer, runner, CommitOutcomes()


@pytest.mark.parametrize("call", ["poll", "beat", "commit", "close"])
def test_a_queued_commit_goes_out_with_the_next_call_and_its_callback_runs_in_it(call):
    script = Coordinating()
    consumer, runner, heard = committing(script)
    consumer.positions[T0] = 7
    consumer.commit_async(callback=heard)
    consumer.positions[T0] = 9
    assert not script.commits and not heard
    runner.run(getattr(consumer, call)())
    assert heard == [({T0: Offset(7), T1: Offset(0)}, None)]
    assert consumer.last_committed.get(T0) in (None, Offset(7), Offset(9))
    sent = [row["committed_offset"] for row in script.commits[0]["topics"][0]["partitions"]]
    assert sent == [7, 0]


def test_callbacks_run_in_the_order_of_their_commits():
    script = Coordinating(OffsetCommit=[0, E.ILLEGAL_GENERATION, 0])
    consumer, runner, heard = committing(script)
    for offset in (1, 2, 3):
        consumer.commit_async({T0: offset}, heard)
    runner.run(consumer.beat())
    assert heard == [({T0: 1}, None), ({T0: 2}, CommitFailed), ({T0: 3}, CommitFailed)]
    assert len(script.commits) == 1, "whose membership is lost does not commit"


@pytest.mark.parametrize(
    ("api", "said", "tries"),
    [
        ("OffsetCommit", "closed", 1),
        ("OffsetCommit", E.COORDINATOR_LOAD_IN_PROGRESS, 1),
        ("OffsetCommit", E.NOT_COORDINATOR, 1),
        ("FindCoordinator", E.GROUP_AUTHORIZATION_FAILED, 0),
    ],
)
def test_what_fails_is_not_tried_again(api, said, tries):
    script = Coordinating()
    consumer, runner, heard = committing(script)
    if api == "FindCoordinator":
        consumer.coordinator.forget()
    script.plan[api] = [said]
    consumer.commit_async({T0: 1}, heard)
    runner.run(consumer.beat())
    assert heard == [({T0: 1}, RetriableCommitFailed)] and not script.commits
    assert len(runner.asked("OffsetCommit")) == tries


def test_an_unknown_coordinator_is_looked_up_first():
    script = Coordinating()
    consumer, runner, heard = committing(script)
    consumer.coordinator.forget()
    consumer.commit_async({T0: 1}, heard)
    runner.run(consumer.beat())
    assert heard == [({T0: 1}, None)]
    assert len(runner.asked("FindCoordinator")) == 2


def test_a_commit_is_remembered_for_as_long_as_its_partition_is_assigned():
    script = Coordinating()
    script.offsets = {T1: 40}
    consumer, runner, _ = committing(script)
    assert consumer.last_committed == {T1: Offset(40)}
    runner.run(consumer.commit({T0: Offset(7, 3, "note")}))
    assert consumer.last_committed == {T0: Offset(7, 3, "note"), T1: Offset(40)}
    script.leads, script.share = False, [T1]
    consumer.member.rejoin = "told to"
    runner.run(consumer.poll())
    assert consumer.last_committed.keys() == {T1}
    script.share = BOTH
    consumer.member.rejoin = "told to"
    runner.run(consumer.poll())
    assert consumer.last_committed == {T1: Offset(40)}, "others may have had it since"


def test_offsets_kept_elsewhere_are_restored_by_seeking():
    consumer, runner, _ = committing(Coordinating())
    consumer.seek(T0, 123)
    runner.run(consumer.poll())
    rows = runner.asked("Fetch")[-1].body["topics"][0]["partitions"]
    assert {row["partition"]: row["fetch_offset"] for row in rows}[0] == 123
    assert not runner.asked("OffsetCommit")


@pytest.mark.parametrize(("interval_ms", "again"), [(5_000, 4), (1_000, 1)])
def test_what_was_read_since_the_last_commit_is_read_again_by_whoever_comes(interval_ms, again):
    """One record a second; the member is gone in the 9th, and an heir begins (CONS-40)."""
    script = Coordinating()
    consumer, runner = member(script, auto_commit_ms=interval_ms, heartbeat_interval_ms=60_000)
    runner.trip_ms = 0
    runner.run(consumer.poll())
    for second in range(1, 9):
        runner.view.now += 1_000
        runner.run(consumer.poll())
        consumer.positions[T0] = second
    for body in script.commits:
        for row in body["topics"][0]["partitions"]:
            script.offsets["t", row["partition_index"]] = row["committed_offset"]
    heir = ClassicConsumer(view(*script.topics), "g", auto_commit_ms=None, reset="earliest")
    heir.subscribe(["t"])
    Runner(heir.view, script).run(heir.poll())
    assert 8 - heir.positions[T0] == again


@pytest.mark.parametrize("call", ["commit", "commit_async", "committed"])
def test_without_a_group_nothing_is_committed(call):
    consumer = Consumer(view())
    with pytest.raises(KafkaError, match="INVALID_GROUP_ID"):
        getattr(consumer, call)({T0: 1})
    with pytest.raises(ClientError, match="CONS-12"):
        Consumer(view(), auto_commit_ms=5_000)
