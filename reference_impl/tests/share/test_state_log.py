"""The log of share states: what is redundant in it, what is cold, what buries deleted topics."""

from __future__ import annotations

import pytest

from touchstone.reference_impl.broker.control.internal_topics import SHARES
from touchstone.reference_impl.broker.coordinators.share_states import ShareStates
from touchstone.reference_impl.share import log_records
from touchstone.reference_impl.share.coordinator import (
    ShareCoordinator,
    ShareResult,
    ShareState,
    Write,
)
from touchstone.reference_impl.share.prunable_records import PrunableRecords
from touchstone.reference_impl.share.state_batches import StateBatch
from touchstone.reference_impl.tests.share.test_over_the_wire import LEADER, STATES, TOPIC, Shared
from touchstone.reference_impl.wire.errors import ErrorCode as E

A, B = (("g", bytes([n]) * 16, 0) for n in (1, 2))
KEPT = ShareState(0, 1, 0, 0, 0, (), 5, 5)


def noted(*rows: tuple[int, tuple, ShareState | None, bool]) -> list[int | None]:
    redundant, found = PrunableRecords(), []
    for offset, key, kept, whole in rows:
        redundant.note(offset, Write(key, kept, whole))
        found.append(redundant.before)
    return found


def test_what_is_before_the_oldest_last_snapshot_is_redundant():
    assert noted((0, A, KEPT, True), (1, A, KEPT, False), (2, A, KEPT, True)) == [None, None, 2]
    assert noted((3, A, KEPT, True), (4, B, KEPT, True), (5, B, KEPT, True)) == [3, 3, 3]


def test_who_is_forgotten_holds_nothing_back():
    rows = (3, A, KEPT, True), (4, B, KEPT, True), (5, A, None, True), (6, B, KEPT, True)
    assert noted(*rows) == [3, 3, 4, 6]
    assert noted((3, A, KEPT, True), (4, A, None, True)) == [3, 4]


def coordinator(snapshot_after: int = 500) -> ShareCoordinator:
    return ShareCoordinator(lambda topic, index: True, snapshot_after)


def test_cold_ones_get_a_snapshot_unless_all_are_cold():
    states = coordinator()
    states.take(Write(A, KEPT))
    states.take(Write(B, KEPT))
    assert states.cold([A, B], 99, 100) == []  # nobody was silent for so long
    found = states.cold([A, B], 105, 100)
    assert [write.kept.snapshot_epoch for write in found] == [1, 1]
    assert {(write.kept.created, write.kept.written) for write in found} == {(5, 105)}
    for write in found:
        states.take(write)
    assert states.cold([A, B], 999, 100) == []  # that would say the same again
    states.take(Write(A, KEPT))
    assert [write.key for write in states.cold([A, B], 999, 100)] == [A, B]


def test_updates_are_counted_from_one_snapshot_they_led_to():
    states = coordinator(2)
    kinds = []

    def write(now: int) -> None:
        told = states.write(
            A, state_epoch=1, leader_epoch=0, start=0, done=0,
            batches=[StateBatch(now, now, 1, 2)], now=now,
        )  # fmt: skip
        kinds.append(told.write.whole)
        states.take(told.write)

    states.take(Write(A, KEPT))
    write(1)
    states.take(Write(A, KEPT))  # begins anew
    for now in range(2, 7):
        write(now)
    assert kinds == [False, False, True, False, False, True]


def records(shared: Shared) -> list[Write]:
    log = shared.wires.replica(STATES, SHARES).log
    data = log.read(log.log_start_offset, 1 << 20, isolation="log end").records
    return [write for _, write in log_records.read(data)]


def test_states_of_deleted_topics_are_buried():
    shared = Shared()
    shared.joined()
    before = len(records(shared))
    shared.wires.cluster.delete(TOPIC)
    shared.wires.run()
    assert [write.kept for write in records(shared)[before:]] == [None]


@pytest.mark.parametrize("cold_ms", [100_000, 1000])
def test_what_is_redundant_is_deleted_in_time(cold_ms):
    shared = Shared(**{
        "share.coordinator.snapshot.update.records.per.snapshot": "0",
        "share.coordinator.state.topic.prune.interval.ms": "2500",
        "share.coordinator.cold.partition.snapshot.interval.ms": str(cold_ms),
    })  # fmt: skip
    shared.joined()
    shared.fetch(wait=500)
    shared.ack(0, 0, 1)
    logs = [shared.wires.replica(broker, SHARES).log for broker in (LEADER, STATES)]
    end = logs[1].log_end_offset
    shared.wires.run(5000)
    assert {log.log_start_offset for log in logs} == {logs[1].log_end_offset - 1}
    assert (logs[1].log_end_offset > end) == (cold_ms == 1000)


def test_who_led_before_knows_nobody():
    shared = Shared()
    shared.joined()
    shared.fetch(wait=500)
    shared.wires.elect(STATES, (0, 1, 2), TOPIC)
    assert shared.ack(0, 2, 1) == E.UNKNOWN_TOPIC_OR_PARTITION
    shared.wires.elect(LEADER, (0, 1, 2), TOPIC)
    assert shared.ack(0, 2, 1, epoch=2) == E.UNKNOWN_TOPIC_OR_PARTITION
    assert shared.fetch("n", wait=500) == [(0, 2, 1)]


def test_who_has_not_read_its_log_yet_coordinates_nobody():
    """A campaign of the fuzzer met it: a write that was tried again came before the leadership."""
    shared, told = Shared(), []
    shared.joined()
    states = shared.wires.brokers[STATES].room(ShareStates)
    (key,) = states.coordinator.kept
    states.prunable.clear()
    states.keep(
        ShareResult(None), Write(key, KEPT), shared.wires.now, lambda *said: told.append(said)
    )
    states.run(key, lambda coordinator: coordinator.delete(key), shared.wires.now,
               lambda *said: told.append(said))  # fmt: skip
    assert [result.fault.code for result, _ in told] == [E.NOT_COORDINATOR] * 2
