"""What of the fetched records is handed out when, and what becomes of the rest."""

import pytest

from touchstone.reference_impl.client.consumer import Consumer, CorruptFetch
from touchstone.reference_impl.client.flow import ClientError
from touchstone.reference_impl.client.offsets import READ_COMMITTED
from touchstone.reference_impl.wire import records as R
from touchstone.reference_impl.wire.errors import ErrorCode as E

from .scripted import view
from .test_consumer import DATA, Leaders, consuming, part

T0, T1 = ("t", 0), ("t", 1)
BOTH = (T0, T1)


def test_a_poll_hands_out_no_more_than_it_may_and_the_rest_without_a_new_fetch():
    consumer, runner = consuming(max_poll_records=2, reset="earliest")
    got = [[row.offset for row in runner.run(consumer.poll())] for _ in range(3)]
    assert got == [[5, 6], [7, 8], [9]]
    assert len(runner.asked("Fetch")) == 1
    assert consumer.positions == {T0: 10}


def test_positions_move_with_what_is_handed_out():
    consumer, runner = consuming(max_poll_records=2, reset="earliest")
    runner.run(consumer.poll())
    assert consumer.positions == {T0: 7}


class Endless(Leaders):
    """Five more records from wherever one asks."""

    def __call__(self, ask):
        if ask.api != "Fetch":
            return super().__call__(ask)
        rows = [
            part(R.build(2, [b"v"] * 5, base_offset=row["fetch_offset"]), index=row["partition"])
            for row in ask.body["topics"][0]["partitions"]
        ]
        return {"error_code": 0, "responses": [{"topic": "t", "partitions": rows}]}


def test_who_delivered_goes_to_the_end_of_the_line():
    consumer, runner = consuming(places=BOTH, max_poll_records=5, reset="earliest")
    runner.script = Endless()
    served = [{row.partition for row in runner.run(consumer.poll())} for _ in range(4)]
    assert served == [{0}, {1}, {0}, {1}]


@pytest.mark.parametrize(
    "turn", [lambda consumer: consumer.seek(T0, 6), lambda consumer: consumer.assign([T1])]
)
def test_what_is_not_wanted_any_more_is_dropped(turn):
    consumer, runner = consuming(places=[T0], max_poll_records=2, reset="earliest")
    runner.run(consumer.poll())
    turn(consumer)
    got = runner.run(consumer.poll())
    assert [row.offset for row in got] == ([6, 7] if T0 in consumer.positions else [5, 6])
    assert len(runner.asked("Fetch")) == 2


def test_a_paused_partition_is_neither_fetched_nor_handed_out():
    consumer, runner = consuming(places=BOTH, max_poll_records=5, reset="earliest")
    consumer.pause([T0])
    for _ in range(2):
        assert {row.partition for row in runner.run(consumer.poll())} <= {1}
    asked = [row for ask in runner.asked("Fetch") for row in ask.body["topics"][0]["partitions"]]
    assert {row["partition"] for row in asked} == {1}
    consumer.pause([T1])
    runner.pauses.clear()
    assert runner.run(consumer.poll()) == []
    assert runner.pauses == [consumer.max_wait_ms]
    consumer.resume([T0])
    assert [row.offset for row in runner.run(consumer.poll())] == [5, 6, 7, 8, 9]


def test_data_of_a_partition_that_is_paused_later_is_kept():
    consumer, runner = consuming(max_poll_records=2, reset="earliest")
    runner.run(consumer.poll())
    consumer.pause([T0])
    assert runner.run(consumer.poll()) == []
    consumer.resume([T0])
    assert [row.offset for row in runner.run(consumer.poll())] == [7, 8]
    assert len(runner.asked("Fetch")) == 1


def test_damage_in_one_partition_costs_the_others_nothing():
    broken = bytearray(DATA)
    broken[70] ^= 1

    class Damaged(Leaders):
        def __call__(self, ask):
            if ask.api != "Fetch":
                return super().__call__(ask)
            rows = [
                part(bytes(broken) if row["partition"] else DATA, index=row["partition"])
                for row in ask.body["topics"][0]["partitions"]
            ]
            return {"error_code": 0, "responses": [{"topic": "t", "partitions": rows}]}

    consumer, runner = consuming(places=BOTH, reset="earliest")
    runner.script = Damaged()
    assert [row.offset for row in runner.run(consumer.poll())] == [5, 6, 7, 8, 9]
    with pytest.raises(CorruptFetch):
        runner.run(consumer.poll(0))
    assert consumer.positions[T1] == 5


def test_lag_is_unknown_until_a_fetch_told_and_then_counts_to_what_can_be_read():
    for isolation, lag in ((0, 3), (READ_COMMITTED, 1)):
        consumer, runner = consuming(max_poll_records=2, reset="earliest", isolation=isolation)
        assert consumer.lag(T0) is None
        runner.script = Stable()
        runner.run(consumer.poll())
        assert consumer.lag(T0) == lag


class Stable(Leaders):
    """Everything is stable up to 8."""

    def __call__(self, ask):
        said = super().__call__(ask)
        if ask.api == "Fetch":
            said["responses"][0]["partitions"][0]["last_stable_offset"] = 8
        return said


def test_what_cannot_be_is_refused():
    with pytest.raises(ClientError, match="CONS-04"):
        Consumer(view(), reset="last")
    with pytest.raises(ClientError, match="CONS-04"):
        Consumer(view(), isolation=2)
    consumer, runner = consuming(E.NONE)
    with pytest.raises(ClientError, match="seek"):
        consumer.seek(T0, -1)
    for call in (lambda: consumer.seek(T1, 0), lambda: consumer.pause([T1])):
        with pytest.raises(ClientError, match="not assigned"):
            call()
    consumer.assign([])
    with pytest.raises(ClientError, match="CONS-13"):
        runner.run(consumer.poll())


def test_partitions_that_stay_assigned_keep_their_position():
    consumer, runner = consuming(reset="earliest")
    runner.run(consumer.poll())
    consumer.assign([T1, T0])
    assert consumer.positions == {T1: None, T0: 10}
