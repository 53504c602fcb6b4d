"""The share coordinator: what it keeps, whom it fences, and that its log says the same."""

from __future__ import annotations

from touchstone.reference_impl.share import log_records
from touchstone.reference_impl.share.coordinator import ShareCoordinator, SharePartitionKey
from touchstone.reference_impl.share.state_batches import StateBatch, combined
from touchstone.reference_impl.wire.errors import ErrorCode as E

TOPIC = b"t" * 16
KEY: SharePartitionKey = ("g", TOPIC, 0)


class World:
    """A coordinator and its log, whose records are read back after each write."""

    def __init__(self, snapshot_after: int = 500) -> None:
        self.coordinator, self.again = (
            ShareCoordinator(lambda topic, index: topic == TOPIC and index < 2, snapshot_after)
            for _ in range(2)
        )

    def run(self, name: str, *args, **how) -> int:
        told = getattr(self.coordinator, name)(*args, **how)
        if told.fault:
            return told.fault.code
        if told.write:
            self.coordinator.take(told.write)
            ((_, write),) = log_records.read(log_records.batch_of([told.write], 5))
            self.again.take(write)
        assert self.again.kept == self.coordinator.kept
        return E.NONE

    def write(self, *batches, start=0, epoch=1, leader=0, done=0) -> int:
        return self.run(
            "write", KEY, state_epoch=epoch, leader_epoch=leader, start=start, done=done,
            batches=[StateBatch(*each) for each in batches], now=5,
        )  # fmt: skip


def test_states_are_written_and_put_together():
    world = World()
    assert world.write((0, 1, 1, 0)) == E.INVALID_REQUEST  # it did not begin
    assert world.run("initialise", KEY, 1, 0, 5) == E.NONE
    assert world.write((0, 4, 1, 0), (5, 9, 1, 2)) == E.NONE
    assert world.write((2, 3, 2, 0), (10, 11, 1, 2)) == E.NONE
    assert world.write((3, 3, 2, 4), (0, 0, 0, 0)) == E.NONE
    assert world.coordinator.kept[KEY].batches == (
        (0, 1, 1, 0), (2, 2, 2, 0), (3, 3, 2, 4), (4, 4, 1, 0), (5, 11, 1, 2),
    )  # fmt: skip
    assert world.write(start=4, done=8) == E.NONE
    kept = world.coordinator.kept[KEY]
    assert (kept.start, kept.done, kept.batches[0]) == (4, 8, (4, 4, 1, 0))


def test_older_epochs_are_fenced():
    world = World()
    world.run("initialise", KEY, 3, 5, 5)
    assert world.run("initialise", KEY, 2, 5, 5) == E.FENCED_STATE_EPOCH
    assert world.write(epoch=2) == E.FENCED_STATE_EPOCH
    assert world.run("read", KEY, 7, 5) == E.NONE
    assert world.coordinator.kept[KEY].leader_epoch == 7
    assert world.run("read", KEY, 6, 5) == E.FENCED_LEADER_EPOCH
    assert world.write(epoch=3, leader=6) == E.FENCED_LEADER_EPOCH
    assert world.write(epoch=-1, leader=-1) == E.NONE


def test_deleted_states_are_gone():
    world = World()
    world.run("initialise", KEY, 3, 5, 5)
    assert world.run("delete", KEY) == world.run("delete", KEY) == E.NONE
    assert world.run("read", KEY, 0, 5) == E.INVALID_REQUEST
    assert world.run("initialise", KEY, 1, 0, 5) == E.NONE  # an older epoch, forgotten too


def test_partitions_must_be_there():
    world = World()
    for key in (("g", b"x" * 16, 0), ("g", TOPIC, 2)):
        assert world.run("initialise", key, 1, 0, 5) == E.UNKNOWN_TOPIC_OR_PARTITION
        assert world.run("summary", key) == E.UNKNOWN_TOPIC_OR_PARTITION
    assert world.run("initialise", ("g", TOPIC, -1), 1, 0, 5) == E.INVALID_REQUEST


def test_snapshots_follow_updates():
    world = World(snapshot_after=2)
    world.run("initialise", KEY, 1, 0, 5)
    for offset in range(3):
        world.write((offset, offset, 1, 2))
    kept = world.coordinator.kept[KEY]
    assert (kept.snapshot_epoch, kept.updates, kept.batches) == (1, 0, ((0, 2, 1, 2),))


def test_combining_leaves_no_overlap():
    wide = [StateBatch(0, 9, 1, 0)]
    assert combined(wide, [StateBatch(3, 4, 2, 0)], -1) == [
        (0, 2, 1, 0), (3, 4, 2, 0), (5, 9, 1, 0),
    ]  # fmt: skip
    assert combined([StateBatch(3, 4, 2, 0)], wide, 4) == [(4, 4, 2, 0), (5, 9, 1, 0)]
    assert combined([], [], 3) == []
    assert combined(wide, [], 20) == []
