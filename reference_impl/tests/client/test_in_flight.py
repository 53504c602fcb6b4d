"""Several requests in flight: order, retries, lost sequences, expiry, leaders that move."""

import random
from collections import Counter

import pytest

from touchstone.reference_impl.client.flow import Backoff, Failed, KafkaError
from touchstone.reference_impl.client.producer import Closed, Expired, Producer
from touchstone.reference_impl.wire import records as R
from touchstone.reference_impl.wire.errors import ErrorCode as E

from .scripted import Runner, metadata, topic, view
from .test_producer import ALONE, Leaders, producing


class Log:
    """One partition that checks sequences as a broker does; `trouble(n)` says what befalls try n.

    An error is answered, "lost" stores and closes, "cut" closes and stores nothing.
    """

    def __init__(self, trouble=lambda number: 0):
        self.trouble = trouble
        self.tries = 0
        self.records: list[int] = []
        self.next = {}
        self.epoch = -1

    def __call__(self, ask):
        if ask.api == "Metadata":
            return metadata(topic("t", 0))
        if ask.api == "InitProducerId":
            return {"error_code": 0, "producer_id": 7, "producer_epoch": 0}
        (part,) = ask.body["topic_data"][0]["partition_data"]
        self.tries += 1
        befalls = self.trouble(self.tries)
        if befalls == "cut":
            return Failed(ask, "closed", "planned")
        code = befalls if isinstance(befalls, int) else 0
        code = code or self.store(part["records"])
        if befalls == "lost":
            return Failed(ask, "closed", "planned")
        base = -1 if code else len(self.records)
        row = {"index": part["index"], "error_code": code, "base_offset": base}
        return {"responses": [{"name": "t", "partition_responses": [row]}]}

    def store(self, data: bytes) -> int:
        header = R.read_header(data)
        values = [int(row["value"]) for row in R.read(data)]
        who = (header.producer_id, header.producer_epoch)
        if header.base_sequence >= 0:
            expected = self.next.get(who, 0)
            if header.base_sequence < expected:
                return 0  # a duplicate: acknowledged, and not stored again
            if header.base_sequence > expected:
                return E.OUT_OF_ORDER_SEQUENCE_NUMBER
            self.next[who] = expected + len(values)
        self.records += values
        return 0


def sending(log: Log, count: int = 60, **options):
    seen = view(topic("t", 0))
    producer = Producer(seen, randrange=random.Random(5).randrange, batch_size=1, **options)
    runner = Runner(seen, log, most=5_000)
    order: list[int] = []
    made = [
        producer.send("t", ALONE % i, callback=lambda each, error: order.append(int(each.value)))
        for i in range(count)
    ]
    return producer, runner, made, order


def test_five_requests_are_under_way_and_no_more():
    log = Log()
    producer, runner, made, order = sending(log)
    runner.run(producer.flush())
    assert runner.most_under_way == 5
    assert log.records == list(range(60)) == order


@pytest.mark.parametrize("limit", [1, 2, 5])
@pytest.mark.parametrize(
    "trouble", [E.NOT_LEADER_OR_FOLLOWER, E.NOT_ENOUGH_REPLICAS, "cut", "lost"]
)
def test_prod_40_an_idempotent_producer_keeps_order_and_stores_once_whatever_fails(limit, trouble):
    draw = random.Random(11)
    log = Log(lambda number: trouble if draw.random() < 0.3 else 0)
    producer, runner, made, order = sending(log, max_in_flight=limit)
    runner.run(producer.flush())
    assert log.records == list(range(60)) == order
    assert all(each.error is None for each in made)


def test_prod_39_without_idempotence_only_one_request_in_flight_keeps_the_order():
    def trouble(number):
        return E.NOT_ENOUGH_REPLICAS if number == 1 else 0

    log = Log(trouble)
    producer, runner, _, order = sending(log, 8, idempotence=False, max_in_flight=1)
    runner.run(producer.flush())
    assert log.records == list(range(8)) == order
    log = Log(trouble)
    producer, runner, _, order = sending(log, 8, idempotence=False)
    runner.run(producer.flush())
    assert sorted(log.records) == list(range(8)) and log.records[0] != 0


def test_what_is_lost_without_idempotence_is_stored_twice():
    log = Log(lambda number: "lost" if number == 1 else 0)
    producer, runner, *_ = sending(log, 3, idempotence=False, max_in_flight=1)
    runner.run(producer.flush())
    assert log.records == [0, 0, 1, 2]


def test_prod_42_a_batch_that_expires_in_flight_leaves_a_gap_that_the_next_epoch_closes():
    log = Log(lambda number: "cut" if number < 12 else 0)
    producer, runner, made, order = sending(log, 10, delivery_timeout_ms=700)
    runner.view.now += 300
    made.append(producer.send("t", ALONE % 10))
    runner.run(producer.flush())
    failed = [int(each.value) for each in made if isinstance(each.error, Expired)]
    assert failed and failed == list(range(len(failed)))
    assert log.records == list(range(len(failed), 11))
    assert producer.producer_epoch >= 1 and order == sorted(order)


def test_prod_41_a_batch_in_flight_expires_and_its_late_answer_changes_nothing():
    log = Log()
    producer, runner, made, order = sending(log, 1, delivery_timeout_ms=500)
    runner.run(producer.step(runner.view.now))  # an id
    runner.run(producer.step(runner.view.now))  # sent, and no answer yet
    assert runner.under_way and not made[0].done
    runner.view.now += 500
    runner.run(producer.step(runner.view.now))
    with pytest.raises(Expired, match=r"Expiring 1 record\(s\) for t-0:50\d ms has passed"):
        made[0].result()
    assert producer._accumulator.memory.available < producer._accumulator.memory.total
    runner.run(producer.flush())
    assert order == [0] and isinstance(made[0].error, Expired)
    assert producer._accumulator.memory.available == producer._accumulator.memory.total


def test_retries_back_off_exponentially_with_jitter_and_end():
    log = Log(lambda number: E.NOT_ENOUGH_REPLICAS)
    producer, runner, made, _ = sending(log, 1, retries=6, retry_backoff_ms=100)
    runner.run(producer.flush())
    assert log.tries == 7 and isinstance(made[0].error, KafkaError)
    waits = runner.pauses
    for wait, middle in zip(waits, (100, 200, 400, 800, 1000, 1000), strict=True):
        assert 0.79 * middle <= wait <= min(1.2 * middle, 1000)
    assert len(set(waits[:4])) == 4 and waits[0] != 100
    assert [Backoff(100, 100).delay(n, 0.9) for n in (0, 5)] == [100, 100]


def test_a_node_that_cannot_be_reached_costs_no_attempt():
    log = Log()
    down = {"tries": 0}

    def script(ask):
        if ask.api == "Produce" and down["tries"] < 4:
            down["tries"] += 1
            return Failed(ask, "refused", "nobody listens")
        return log(ask)

    producer, runner, made, _ = sending(log, 2, retries=1)
    runner.script = script
    runner.run(producer.flush())
    assert log.records == [0, 1] and all(each.error is None for each in made)
    assert down["tries"] == 4 and runner.pauses, "and it is left alone in between"


def test_a_newer_leader_is_told_by_the_error_and_tried_at_once():
    """KIP-951: no metadata, no backoff."""
    leaders = Leaders(E.NOT_LEADER_OR_FOLLOWER, leaders=(0,))

    def script(ask):
        answer = leaders(ask)
        if ask.api == "Produce" and ask.node == 0:
            part = answer["responses"][0]["partition_responses"][0]
            part["current_leader"] = {"leader_id": 1, "leader_epoch": 4}
            answer["node_endpoints"] = [{"node_id": 1, "host": "h", "port": 9001, "rack": None}]
        return answer

    producer, runner = producing(leaders, view(topic("t", 0)))
    runner.script = script
    made = producer.send("t", b"v")
    runner.run(producer.flush())
    assert [ask.node for ask in runner.asked("Produce")] == [0, 1] and made.result()
    assert not runner.pauses


def test_prod_46_each_kind_of_answer():
    for said, error, tries in (
        ("closed", None, 2),
        ("timeout", None, 2),
        ("unsupported", "Produce: unsupported", 1),
        (E.DUPLICATE_SEQUENCE_NUMBER, None, 1),
        (E.INVALID_REQUIRED_ACKS, "t-0: INVALID_REQUIRED_ACKS", 1),
        (E.UNKNOWN_TOPIC_ID, None, 2),
    ):
        leaders = Leaders(said, leaders=(0,))
        producer, runner = producing(leaders)
        made = producer.send("t", b"v", partition=0)
        runner.run(producer.flush())
        assert len(leaders.taken) == tries, said
        assert (made.error is None) == (error is None), said
        if error:
            assert str(made.error).startswith(error)


def test_each_record_has_its_own_error_where_the_broker_names_records():
    def script(ask):
        if ask.api != "Produce":
            return Leaders()(ask)
        rows = [{"batch_index": 1, "batch_index_error_message": "no key"}]
        part = {"index": 0, "error_code": E.INVALID_RECORD, "base_offset": -1}
        part |= {"record_errors": rows, "error_message": "bad"}
        return {"responses": [{"name": "t", "partition_responses": [part]}]}

    producer, runner = producing(Leaders(), view(topic("t", 0)))
    runner.script = script
    made = [producer.send("t", b"%d" % i, partition=0) for i in range(3)]
    runner.run(producer.flush())
    assert "INVALID_RECORD: no key" in str(made[1].error)
    assert "one more more invalid records" in str(made[0].error) == str(made[2].error)


def test_unknown_producer_id_begins_again_under_the_next_epoch():
    leaders = Leaders(0, E.UNKNOWN_PRODUCER_ID, leaders=(0,))
    producer, runner = producing(leaders, batch_size=1, max_in_flight=1)
    made = [producer.send("t", ALONE % i) for i in range(2)]
    runner.run(producer.flush())
    assert [each.error for each in made] == [None, None]
    assert leaders.numbered[0] == (1001, 0, 0) and leaders.numbered[-1][2] in (0, 1)


def test_after_the_last_epoch_a_new_id_is_asked_for():
    leaders = Leaders(E.INVALID_RECORD, leaders=(0,))
    producer, runner = producing(leaders, batch_size=1, max_in_flight=1)
    producer.sequences.producer = (5, (1 << 15) - 1)
    made = [producer.send("t", ALONE % i) for i in range(2)]
    runner.run(producer.flush())
    assert leaders.numbered == [(5, (1 << 15) - 1, 0), (1001, 0, 0)]
    assert made[1].result().offset >= 0


def test_prod_50_closing_now_fails_what_is_in_flight_and_hears_nothing_more():
    log = Log()
    producer, runner, made, order = sending(log, 3)
    for _ in range(3):
        runner.run(producer.step(runner.view.now))
    assert runner.under_way
    runner.run(producer.close(0))
    assert [type(each.error) for each in made] == [Closed] * 3 and order == [0, 1, 2]


def test_prod_44_one_request_a_node_and_several_nodes_at_once():
    leaders = Leaders(leaders=(0, 1, 0, 1))
    producer, runner = producing(leaders)
    for index in range(4):
        producer.send("t", b"v", partition=index)
    runner.run(producer.flush())
    asked = runner.asked("Produce")
    assert Counter(ask.node for ask in asked) == {0: 1, 1: 1}
    assert runner.most_under_way == 2


def test_prod_16_one_metadata_request_is_under_way_and_asks_for_all_that_is_wanted():
    producer, runner = producing(Leaders(), view())
    runner.script = lambda ask: metadata(topic("a", 0), topic("b", 1))
    for name in ("a", "b", "a"):
        producer.send(name, b"v")
    before = runner.view.version
    runner.run(producer.step(runner.view.now))
    runner.run(producer.step(runner.view.now))
    (ask,) = runner.sent("Metadata")
    assert [row["name"] for row in ask.body["topics"]] == ["a", "b"]
    runner.run(producer.step(runner.view.now + 10))
    assert runner.view.version > before


def test_prod_17_an_answer_without_brokers_is_ignored_and_asked_for_again():
    answers = [{"brokers": [], "controller_id": -1, "topics": []}, metadata(topic("t", 0))]
    leaders = Leaders(leaders=(0,))
    producer, runner = producing(leaders, view())
    runner.script = lambda ask: answers.pop(0) if ask.api == "Metadata" else leaders(ask)
    made = producer.send("t", b"v")
    runner.run(producer.flush())
    assert made.result().offset >= 0 and not answers


def test_prod_43_until_when_an_answer_is_waited_for():
    producer, runner = producing(Leaders(leaders=(0,)), linger_ms=70, delivery_timeout_ms=60)
    producer.send("t", b"v")
    now = runner.view.now
    assert producer.next_wake() == now + 60, "an expiry comes before the linger is over"
    producer._accumulator.delivery_timeout_ms = 500
    assert producer.next_wake() == now + 70


@pytest.mark.parametrize("seed", range(6))
def test_any_mixture_of_failures_keeps_what_an_idempotent_producer_promises(seed):
    draw = random.Random(seed)
    kinds = [0, 0, 0, E.NOT_ENOUGH_REPLICAS, E.NOT_LEADER_OR_FOLLOWER, "cut", "lost"]
    log = Log(lambda number: draw.choice(kinds))
    producer, runner, made, order = sending(log, 80, delivery_timeout_ms=4_000)
    for i in range(80, 120):
        runner.view.now += 7
        made.append(producer.send("t", ALONE % i))
        runner.run(producer.step(runner.view.now + draw.choice((0, 3))))
    runner.run(producer.flush())
    told = {int(each.value) for each in made if each.error is None}
    assert told <= set(log.records), "acknowledged and lost"
    assert log.records == sorted(set(log.records)), "twice, or out of order"
