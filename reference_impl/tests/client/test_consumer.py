"""The consumer: what of a fetch is shown, where positions go, and whom it asks."""

from pathlib import Path

import pytest

from touchstone.reference_impl.client.consumer import Consumer, CorruptFetch, NoPosition
from touchstone.reference_impl.client.flow import Failed, KafkaError
from touchstone.reference_impl.client.reading import read_partition
from touchstone.reference_impl.wire import records as R
from touchstone.reference_impl.wire.errors import ErrorCode as E

from .scripted import Runner, metadata, topic, view

NOW = 1_700_000_000_000
DATA = R.build(2, [b"5", b"6", b"7"], base_offset=5, timestamp=NOW) + R.build(
    2, [b"8", b"9"], R.GZIP, base_offset=8, timestamp=NOW
)


def part(data: bytes = DATA, *, index: int = 0, error: int = 0, aborted=()) -> dict:
    return {
        "partition_index": index,
        "error_code": error,
        "high_watermark": 10,
        "aborted_transactions": aborted,
        "records": data,
    }


TRANSACTIONS = [
    line.split()[1:]
    for line in (Path(__file__).with_name("transactions.txt")).read_text().splitlines()
    if line.startswith("fetched")
]


@pytest.mark.parametrize(("release", "stable", "aborted", "data"), TRANSACTIONS)
def test_read_committed_shows_only_what_was_committed(release, stable, aborted, data):
    rows = [pair.split(":") for pair in aborted.split(",")]
    listed = [{"producer_id": int(p), "first_offset": int(o)} for p, o in rows]
    given = part(bytes.fromhex(data), aborted=listed)
    committed = read_partition("t", given, 0, committed_only=True)
    assert [row.value for row in committed.records] == [b"q1", b"q2", b"p3"]
    everything = read_partition("t", given, 0)
    assert len(everything.records) == 6
    assert committed.position == everything.position == int(stable)


def test_records_before_the_position_are_dropped():
    assert [row.value for row in read_partition("t", part(), 7).records] == [b"7", b"8", b"9"]
    assert read_partition("t", part(), 9).position == 10


def test_a_cut_batch_is_left_for_the_next_fetch():
    assert read_partition("t", part(DATA[:-1]), 0).position == 8
    assert read_partition("t", part(b""), 3) == ([], 3, -1)
    assert read_partition("t", part(None), 3) == ([], 3, -1)
    with pytest.raises(R.RecordError, match="without one whole batch"):
        read_partition("t", part(DATA[:50]), 0)


def test_a_batch_that_compaction_emptied_still_moves_the_position():
    header = R.read_header(R.build(2, [b"x"] * 4, base_offset=40))
    empty = header._replace(records_count=0).encode(b"")
    assert read_partition("t", part(empty), 40)[:2] == ([], 44)


def test_damage_is_reported_and_the_position_stays():
    seen = view(topic("t", 0))
    broken = bytearray(DATA)
    broken[70] ^= 1
    consumer = Consumer(seen, reset="none")
    consumer.assign([("t", 0)])
    consumer.seek(("t", 0), 5)
    answer = {"responses": [{"topic": "t", "partitions": [part(bytes(broken))]}]}
    with pytest.raises(CorruptFetch, match="computed crc"):
        Runner(seen, lambda _: answer).run(consumer.poll())
    assert consumer.positions == {("t", 0): 5}
    trusting = Consumer(seen, check_crcs=False)
    trusting.positions = {("t", 0): 5}
    assert len(Runner(seen, lambda _: answer).run(trusting.poll())) == 5


class Leaders:
    """Answers Fetch by a plan of error codes, then with DATA; ListOffsets with 5."""

    def __init__(self, *plan):
        self.plan = list(plan)

    def __call__(self, ask):
        if ask.api == "Metadata":
            return metadata(topic("t", 0, 1), topic("u", 1))
        if ask.api == "ListOffsets":
            return {
                "topics": [
                    {
                        "name": row["name"],
                        "partitions": [
                            {
                                "partition_index": p["partition_index"],
                                "error_code": 0,
                                "offset": 5,
                                "timestamp": -1,
                            }
                            for p in row["partitions"]
                        ],
                    }
                    for row in ask.body["topics"]
                ]
            }
        told = self.plan.pop(0) if self.plan else 0
        if isinstance(told, str):
            return Failed(ask, told, "planned")
        rows = [
            {
                "topic": row["topic"],
                "partitions": [
                    part(b"" if told else DATA, index=p["partition"], error=told)
                    for p in row["partitions"]
                ],
            }
            for row in ask.body["topics"]
        ]
        return {"error_code": 0, "responses": rows}


def consuming(*plan, places=(("t", 0),), **options) -> tuple[Consumer, Runner]:
    seen = view(topic("t", 0, 1), topic("u", 1))
    consumer = Consumer(seen, **options)
    consumer.assign(places)
    return consumer, Runner(seen, Leaders(*plan))


def test_each_leader_is_asked_once_for_all_it_has():
    consumer, runner = consuming(places=[("t", 0), ("t", 1), ("u", 0)])
    got = runner.run(consumer.poll())
    assert len(got) == 15
    fetches = {ask.node: ask.body["topics"] for ask in runner.asked("Fetch")}
    assert [row["topic"] for row in fetches[0]] == ["t"]
    assert sorted(row["topic"] for row in fetches[1]) == ["t", "u"]
    assert set(consumer.positions.values()) == {10}


@pytest.mark.parametrize(("timeout_ms", "rounds"), [(0, 0), (35, 3), (10_000, 10)])
def test_a_poll_goes_round_until_records_come_or_its_time_is_up(timeout_ms, rounds):
    consumer, runner = consuming(reset="earliest")
    leaders, empty = runner.script, [9]

    def script(ask):
        if ask.api != "Fetch" or not empty[0]:
            return leaders(ask)
        empty[0] -= 1
        rows = [{"topic": "t", "partitions": [part(b"")]}]
        return {"error_code": 0, "responses": rows}

    runner.script, runner.trip_ms = script, 10
    consumer.seek(("t", 0), 5)
    got = runner.run(consumer.poll(timeout_ms))
    assert (len(runner.asked("Fetch")), len(got)) == (rounds, 5 if rounds == 10 else 0)


@pytest.mark.parametrize("stranger", [("t", 1), ("u", 0)])
def test_an_answer_about_what_was_not_asked_is_dropped_whole(stranger):
    consumer, runner = consuming(places=[("t", 0), ("t", 1)])
    consumer.seek(("t", 0), 5)
    consumer.seek(("t", 1), 5)
    consumer.pause([("t", 1)])
    name, index = stranger
    more = [part()] if name == "u" else [part(), part(index=index)]
    rows = [{"topic": "t", "partitions": more}]
    if name == "u":
        rows.append({"topic": "u", "partitions": [part(index=index)]})
    runner.script = lambda ask: {"error_code": 0, "responses": rows}
    assert runner.run(consumer.poll()) == []
    assert set(consumer.positions.values()) == {5} and consumer.fetcher.disbelieved == 1


@pytest.mark.parametrize(("reset", "stamp"), [("earliest", -2), ("latest", -1)])
def test_without_a_position_the_policy_decides(reset, stamp):
    consumer, runner = consuming(reset=reset)
    runner.run(consumer.poll())
    (ask,) = runner.asked("ListOffsets")
    assert ask.body["topics"][0]["partitions"][0]["timestamp"] == stamp


def test_no_policy_is_an_error_with_or_without_a_position():
    consumer, runner = consuming(reset="none")
    with pytest.raises(NoPosition):
        runner.run(consumer.poll())
    consumer, runner = consuming(E.OFFSET_OUT_OF_RANGE, reset="none")
    consumer.seek(("t", 0), 99)
    with pytest.raises(NoPosition, match="99"):
        runner.run(consumer.poll())


def test_out_of_range_resets_and_goes_on():
    consumer, runner = consuming(E.OFFSET_OUT_OF_RANGE, reset="earliest")
    consumer.seek(("t", 0), 99)
    assert runner.run(consumer.poll()) == []
    assert [row.offset for row in runner.run(consumer.poll())] == [5, 6, 7, 8, 9]


@pytest.mark.parametrize("told", [E.NOT_LEADER_OR_FOLLOWER, E.FENCED_LEADER_EPOCH, "closed"])
def test_old_knowledge_is_renewed_after_a_pause_that_grows(told):
    consumer, runner = consuming(told, told)
    consumer.seek(("t", 0), 5)
    assert runner.run(consumer.poll()) == runner.run(consumer.poll()) == []
    assert runner.pauses == [100, 200] and len(runner.asked("Metadata")) == 2
    assert len(runner.run(consumer.poll())) == 5


def test_a_leader_that_left_is_looked_for_while_others_are_read():
    seen = view(topic("t", 0), topic("u", 1))
    seen.addresses.pop(1)
    consumer = Consumer(seen, reset="earliest")
    consumer.assign([("t", 0), ("u", 0)])
    consumer.seek(("t", 0), 5)
    consumer.seek(("u", 0), 5)
    runner = Runner(seen, Leaders())
    assert {row.topic for row in runner.run(consumer.poll())} == {"t"}
    assert {row.topic for row in runner.run(consumer.poll())} == {"u"}


def test_what_will_not_pass_is_raised():
    consumer, runner = consuming(E.TOPIC_AUTHORIZATION_FAILED)
    consumer.seek(("t", 0), 5)
    with pytest.raises(KafkaError, match="t-0: TOPIC_AUTHORIZATION_FAILED"):
        runner.run(consumer.poll())
