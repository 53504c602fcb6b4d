"""The coordinator by itself: epochs to their end, writes that fail or wait, moves between leaders.

What single-node brokers can show is in suites/transactions; here stands what needs 32,767 epochs,
a log that does not answer, or another leader (KIP-98, KIP-360, KIP-890).
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from touchstone.reference_impl.tests.txn.world import PARTITION, T, World
from touchstone.reference_impl.txn import log_records
from touchstone.reference_impl.txn.coordinator import AGAIN_MS, Producer
from touchstone.reference_impl.txn.states import State
from touchstone.reference_impl.txn.transaction import LAST_EPOCH, Transaction
from touchstone.reference_impl.wire.errors import ErrorCode as E


def code(answer):
    return answer["error_code"]


def at_epoch(world, epoch):
    """The id's producer as it is after many epochs."""
    first = world.producer()
    entry = world.coordinator.led[PARTITION].entries["x"]
    entry.transaction = replace(entry.transaction, epoch=epoch)
    return Producer(first.id, epoch)


def test_an_exhausted_producer_gets_another_id():
    world = World()
    last = at_epoch(world, LAST_EPOCH - 1)
    fresh = world.producer()
    assert fresh.id != last.id and fresh.epoch == 0
    assert world.one.previous_id == last.id


def test_who_asks_with_the_last_epoch_gets_another_id_and_may_ask_again():
    world = World()
    last = at_epoch(world, LAST_EPOCH - 1)
    fresh = world.producer(expected=last)
    assert fresh.id != last.id and fresh.epoch == 0
    assert world.producer(expected=last) == fresh  # the answer was lost on the way


def test_the_last_epoch_but_one_can_still_be_fenced():
    world = World()
    last = at_epoch(world, LAST_EPOCH - 1)
    world.add(last)
    assert code(world.begin()) == E.CONCURRENT_TRANSACTIONS
    assert world.one.epoch == LAST_EPOCH
    world.mark()
    fresh = world.producer()
    assert fresh.id != last.id and fresh.epoch == 0


def test_an_end_that_uses_up_the_epochs_goes_on_with_another_id():
    world = World(version=2)
    last = at_epoch(world, LAST_EPOCH - 1)
    world.add(last)
    answer = world.end(last, bumps=True)
    assert answer["producer_id"] != last.id and answer["producer_epoch"] == 0
    marked = world.marks[0][0]
    assert (marked.producer_id, marked.epoch) == (last.id, LAST_EPOCH)
    world.mark()
    assert world.end(last, bumps=True) == answer  # a retry across the overflow


def test_while_a_change_is_being_written_the_id_is_busy():
    world = World(instant=False)
    assert world.begin() is None
    assert code(world.begin()) == E.CONCURRENT_TRANSACTIONS
    world.writes.pop()()
    assert world.one.state is State.EMPTY and world.one.epoch == 0


def test_a_change_that_cannot_be_written_did_not_happen():
    world = World()
    producer = world.producer()
    world.fails_with = E.COORDINATOR_NOT_AVAILABLE
    assert code(world.add(producer)) == E.COORDINATOR_NOT_AVAILABLE
    world.fails_with = E.NONE
    assert world.one.state is State.EMPTY
    assert code(world.end(producer)) == E.INVALID_TXN_STATE


@pytest.mark.parametrize("commit", [True, False])
def test_a_completion_that_cannot_be_written_is_tried_until_it_can(commit):
    world = World()
    producer = world.producer()
    world.add(producer)
    world.end(producer, commit)
    world.fails_with = E.COORDINATOR_NOT_AVAILABLE
    world.mark()
    world.advance(1000)
    assert code(world.begin()) == E.CONCURRENT_TRANSACTIONS
    world.fails_with = E.NONE
    world.advance(AGAIN_MS)
    assert world.one.state is (State.COMPLETE_COMMIT if commit else State.COMPLETE_ABORT)
    assert not world.marks


def test_a_former_leader_completes_nothing():
    world = World()
    producer = world.producer()
    world.add(producer)
    world.end(producer)
    world.fails_with = E.COORDINATOR_NOT_AVAILABLE
    world.mark()
    world.fails_with = E.NONE
    before = list(world.kept)
    world.coordinator.resign(PARTITION)
    world.advance(1000)
    assert world.kept == before


def test_a_timeout_that_cannot_be_written_is_tried_again():
    world = World()
    world.add(world.producer(timeout_ms=300))
    world.fails_with = E.COORDINATOR_NOT_AVAILABLE
    world.advance(1000)
    assert world.one.state is State.ONGOING
    world.fails_with = E.NONE
    world.advance(world.coordinator.rules.timeout_check_ms)
    assert world.one.state is State.PREPARE_ABORT


def test_nothing_is_answered_in_the_name_of_a_former_leader():
    world = World(instant=False)
    ticket = world.coordinator.begin("x", 1000, None, world.now)
    world.coordinator.resign(PARTITION)
    world.writes.pop()()
    assert code(ticket.answer) == E.NOT_COORDINATOR
    assert code(world.begin()) == E.NOT_COORDINATOR


@pytest.mark.parametrize("commit", [True, False])
def test_a_new_leader_goes_on_with_what_was_being_ended(commit):
    world = World()
    producer = world.producer()
    world.add(producer)
    world.end(producer, commit)
    known = {"x": world.one}
    other = World()
    other.coordinator.lead(PARTITION, 4, known, other.now)
    ((one, was_commit, _),) = other.marks
    assert was_commit is commit and one.partitions == T
    other.mark()
    assert other.one.state is (State.COMPLETE_COMMIT if commit else State.COMPLETE_ABORT)
    world.coordinator.resign(PARTITION)
    world.mark()  # of the former leader: nothing is written
    assert len(world.kept) == 3


def test_a_new_leader_times_out_what_it_found_open():
    world = World()
    open_one = Transaction("x", 7, 0, 500, State.ONGOING, T, started=900, updated=900)
    world.coordinator.lead(PARTITION, 4, {"x": open_one}, world.now)
    world.advance(399)
    assert world.one.state is State.ONGOING
    world.advance(200)
    assert world.one.state is State.PREPARE_ABORT and world.one.epoch == 1


def test_timeouts_begin_with_the_first_partition_and_end_with_the_transaction():
    world = World()
    producer = world.producer(timeout_ms=300)
    world.advance(5000)
    world.add(producer)
    world.end(producer)
    world.advance(5000)
    assert world.one.state is State.PREPARE_COMMIT and len(world.marks) == 1


def test_ids_that_nobody_uses_are_forgotten():
    world = World(expiration_ms=10_000, expiry_check_ms=1000)
    producer = world.producer()
    world.advance(9000)
    world.add(producer)
    world.end(producer)
    world.mark()
    world.advance(9000)
    assert world.one.state is State.COMPLETE_COMMIT
    world.advance(3000)
    assert world.kept[-1] == ("x", None)
    assert code(world.add(producer)) == E.INVALID_PRODUCER_ID_MAPPING


def test_an_open_transaction_is_never_forgotten():
    world = World(expiration_ms=10)
    world.add(world.producer(timeout_ms=900_000))
    world.advance(60_000)
    assert world.one.state is State.ONGOING


def test_a_fenced_producer_may_go_on_only_where_releases_let_it():
    for gently, wanted in ((True, E.NONE), (False, E.PRODUCER_FENCED)):
        world = World(fences_gently=gently)
        producer = world.producer(timeout_ms=100)
        world.add(producer)
        world.advance(1000)
        world.mark()
        assert code(world.begin(expected=producer)) == wanted


def test_before_kip_360_an_end_of_a_higher_epoch_is_written_and_refused():
    for equal, wanted in ((True, E.PRODUCER_FENCED), (False, E.INVALID_PRODUCER_EPOCH)):
        world = World(equal_epochs=equal)
        producer = world.producer()
        world.add(producer)
        assert code(world.end(Producer(producer.id, producer.epoch + 1))) == wanted
        state = State.ONGOING if equal else State.PREPARE_COMMIT
        assert world.kept[-1][1].state is state and not world.marks


@pytest.mark.parametrize("version", [0, 1])
def test_what_is_kept_is_what_is_read(version):
    full = Transaction(
        "x", 7, 3, 60_000, State.PREPARE_COMMIT, frozenset({("a", 0), ("a", 2), ("b", 1)}), 50, 60
    )
    if version == 1:
        full = replace(full, previous_id=6, next_id=9, version=2)
    empty = Transaction("y", 8, 0, 1000, State.EMPTY, updated=70)
    records = b"".join(
        log_records.batch_of(one.id, one, version=version, now=80) for one in (full, empty)
    )
    known = {"z": empty}
    log_records.read(records + log_records.batch_of("z", None, version=version, now=81), known)
    assert known == {"x": full, "y": empty}


def test_switches_are_defects():
    world = World(switches={"fencing-skipped"})
    first, _ = world.producer(), world.producer()
    assert code(world.add(first)) == E.NONE
    world = World(switches={"transaction-timeout-not-validated"})
    assert code(world.begin(timeout_ms=-1)) == E.NONE
