"""When a batch is due, what closing does with the rest, and how old metadata may grow."""

import pytest

from touchstone.reference_impl.client.accumulator import Accumulator, Delivery
from touchstone.reference_impl.client.flow import KafkaError
from touchstone.reference_impl.client.producer import Closed, Expired
from touchstone.reference_impl.wire.errors import ErrorCode as E

from .scripted import metadata, topic, view
from .test_producer import Leaders, producing

LINGER = 50


def waiting(*values: bytes, batch_size: int = 10_000) -> Accumulator:
    """One partition's records, made at instant 1000."""
    made = Accumulator(batch_size)
    for value in values:
        made.append(("t", 0), Delivery("t", 0, None, value, (), 1000, 1000))
    return made


@pytest.mark.parametrize(("now", "due"), [(1000, 0), (1049, 0), (1050, 1), (1051, 1)])
def test_a_batch_that_lingered_long_enough_is_due_and_the_boundary_counts(now, due):
    queued = waiting(b"v")
    assert len(queued.due(now, LINGER, urgent=False)) == due
    assert queued.next_check(now, LINGER, urgent=False) == (None if due else 1050)


@pytest.mark.parametrize(
    ("values", "batch_size"), [((b"v", b"w"), 100), ((b"v" * 200,), 100)], ids=["two", "full"]
)
def test_a_full_batch_waits_for_nobody(values, batch_size):
    assert len(waiting(*values, batch_size=batch_size).due(1000, LINGER, urgent=False)) == 1


def test_who_backs_off_is_not_due_even_if_flushed_and_then_does_not_linger_again():
    queued = waiting(b"v")
    (head,) = queued.heads()
    head.closed, head.attempts, head.not_before = True, 1, 1100
    assert not queued.due(1099, LINGER, urgent=True)
    assert queued.next_check(1099, LINGER, urgent=True) == 1100
    assert queued.due(1100, 60_000, urgent=False) == [head]


def test_the_next_look_is_at_the_head_that_waits_shortest():
    queued = waiting(b"v")
    queued.append(("t", 1), Delivery("t", 1, None, b"later", (), 1030, 1030))
    assert queued.next_check(1040, LINGER, urgent=False) == 1050
    assert queued.next_check(1050, LINGER, urgent=False) is None


def test_work_sends_what_is_due_and_says_when_to_look_again():
    leaders = Leaders(leaders=(0,))
    producer, runner = producing(leaders, linger_ms=LINGER)
    made = producer.send("t", b"v", partition=0)
    wake = runner.run(producer.work())
    assert wake == made.created + LINGER and not leaders.taken
    runner.view.now = wake
    assert runner.run(producer.work()) is None
    assert made.result().offset >= 0 and len(leaders.taken) == 1


def test_work_says_to_look_again_at_once_while_something_is_due():
    leaders = Leaders(leaders=(0,))
    producer, runner = producing(leaders, batch_size=1)
    made = [producer.send("t", b"%d" % number, partition=0) for number in range(2)]
    assert runner.run(producer.work()) == runner.view.now
    assert [each.done for each in made] == [True, False]
    assert runner.run(producer.work()) is None and made[1].done


def test_a_flush_does_not_wait_for_lingering_batches():
    leaders = Leaders(leaders=(0,))
    producer, runner = producing(leaders, linger_ms=60_000)
    made = producer.send("t", b"v", partition=0)
    runner.run(producer.flush())
    assert made.done and not runner.pauses


def test_closing_delivers_what_is_queued_and_takes_nothing_more():
    producer, runner = producing(Leaders(leaders=(0,)), linger_ms=60_000)
    made = producer.send("t", b"v", partition=0)
    runner.run(producer.close())
    assert made.result().offset >= 0
    with pytest.raises(Closed):
        producer.send("t", b"too late")


@pytest.mark.parametrize(("timeout_ms", "tries"), [(0, 0), (250, 2)])
def test_closing_fails_what_is_left_when_its_time_is_up(timeout_ms, tries):
    leaders = Leaders(*[E.NOT_ENOUGH_REPLICAS] * 99, leaders=(0,))
    producer, runner = producing(leaders, idempotence=False)
    queued = producer.send("t", b"v", partition=0)
    runner.run(producer.close(timeout_ms))
    assert len(leaders.taken) == tries and timeout_ms <= runner.view.now - queued.created < 1000
    with pytest.raises(Closed):
        queued.result()


def test_an_expired_batch_that_was_tried_costs_the_producer_its_id_before_anything_else_is_sent():
    leaders = Leaders("timeout", *[E.NOT_ENOUGH_REPLICAS] * 4, leaders=(0,))
    producer, runner = producing(leaders, batch_size=1, delivery_timeout_ms=1000)
    lost = producer.send("t", b"0", partition=0)
    runner.view.now += 900
    kept = producer.send("t", b"1", partition=0)
    leaders.plan = [E.NOT_ENOUGH_REPLICAS]
    runner.run(producer.flush())
    with pytest.raises(Expired):
        lost.result()
    assert kept.result().offset >= 0
    assert [(i, s, v) for _, i, s, _, v in leaders.taken] == [(1001, 0, [b"0"]), (1002, 0, [b"1"])]


def test_a_topic_that_never_appears_is_waited_for_as_long_as_sending_may_block():
    def nobody(ask):
        row = topic("ghost", error=E.UNKNOWN_TOPIC_OR_PARTITION)
        return metadata(row)

    producer, runner = producing(Leaders(), view(), max_block_ms=3_000)
    runner.script = nobody
    made = producer.send("ghost", b"v" * (2 << 20))
    runner.run(producer.flush())
    assert 2_000 < runner.view.now - made.created <= 3_100
    with pytest.raises(KafkaError, match="ghost: UNKNOWN_TOPIC_OR_PARTITION"):
        made.result()  # and not MESSAGE_TOO_LARGE: size is looked at after the topic (PROD-13)


def test_old_metadata_is_renewed_for_the_topics_that_are_in_use():
    asked: list[list[str]] = []
    leaders = Leaders(leaders=(0,))

    def script(ask):
        if ask.api == "Metadata":
            asked.append([row["name"] for row in ask.body["topics"]])
        return leaders(ask)

    producer, runner = producing(leaders, metadata_max_age_ms=1000, metadata_max_idle_ms=1500)
    runner.script = script
    producer.view.update(metadata(topic("old", 0)))
    producer.send("old", b"x" * (2 << 20), partition=0)  # used, and refused for its size
    for after in (999, 1, 1000):
        runner.view.now += after
        producer.send("t", b"v", partition=0)
        runner.run(producer.flush())
    assert asked == [["old", "t"], ["t"]]
    assert set(producer.view.topics) == {"t", "old"}, "a consumer of this client may read it"
