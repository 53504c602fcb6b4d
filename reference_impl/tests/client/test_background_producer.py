"""The producer with a thread of its own: PROD-09 and its kin, on the reference broker."""

from __future__ import annotations

import threading

import pytest

from touchstone.reference_impl.client.flow import ClientError, KafkaError
from touchstone.reference_impl.client.producer import Closed, SerializationError
from touchstone.reference_impl.io.background_producer import BackgroundProducer, TimedOut
from touchstone.reference_impl.io.client import Client
from touchstone.reference_impl.io.server import serve

from .scripted import topic, view
from .test_producer import Leaders, producing

SOON_MS = 20_000


@pytest.fixture(scope="module")
def cluster():
    with serve(brokers=1) as cluster:
        with Client(cluster.bootstrap) as client:
            for name in ("t", "u"):
                client.admin.create_topic(name)
        yield cluster


def test_prod_09_one_daemon_thread_delivers_whatever_the_application_does(cluster):
    name = "kafka-producer-network-thread | own"
    with BackgroundProducer(cluster.bootstrap, {"linger.ms": 5}, client_id="own") as producer:
        assert name in [each.name for each in threading.enumerate() if each.daemon]
        made = producer.send("t", b"v")  # and nobody flushes
        assert producer.wait_for(made, SOON_MS).offset >= 0
    assert name not in [each.name for each in threading.enumerate()]


def test_prod_48_callbacks_run_in_that_thread_in_order(cluster):
    seen: list[tuple[str, int]] = []

    def callback(delivery, error):
        seen.append((threading.current_thread().name, delivery.offset))

    with BackgroundProducer(cluster.bootstrap, batch_size=200, client_id="own") as producer:
        for number in range(100):
            producer.send("u", b"%050d" % number, callback=callback)
        producer.flush()
        assert len(seen) == 100, "flush waits for callbacks"
    assert {name for name, _ in seen} == {"kafka-producer-network-thread | own"}
    offsets = [offset for _, offset in seen]
    assert offsets == sorted(offsets)


def test_prod_47_waiting_for_a_record_gives_it_or_its_error_after_its_callback(cluster):
    order: list[str] = []
    with BackgroundProducer(cluster.bootstrap) as producer:
        made = producer.send("t", b"v", callback=lambda *_: order.append("callback"))
        producer.wait_for(made, SOON_MS)
        order.append("waited")
        refused = producer.send("t", bytes(2 << 20))
        with pytest.raises(KafkaError, match="MESSAGE_TOO_LARGE"):
            producer.wait_for(refused, SOON_MS)
    assert order == ["callback", "waited"]


def test_who_does_not_want_to_wait_any_longer_is_told_so(cluster):
    with BackgroundProducer(cluster.bootstrap, linger_ms=60_000) as producer:
        made = producer.send("t", b"v")
        with pytest.raises(TimedOut):
            producer.wait_for(made, 1)
        producer.flush()
        assert made.result().offset >= 0


def test_a_callback_may_send_and_close(cluster):
    answers = []
    producer = BackgroundProducer(cluster.bootstrap)

    def callback(delivery, error):
        answers.append(producer.send("t", b"2"))
        producer.close()

    producer.send("t", b"1", callback=callback)
    producer._thread.join(SOON_MS / 1000)
    assert not producer._thread.is_alive()
    assert isinstance(answers[0].error, Closed)
    with pytest.raises(Closed):
        producer.send("t", b"3")


def test_several_threads_send_at_once_and_wait_for_memory(cluster):
    with BackgroundProducer(cluster.bootstrap, batch_size=300, buffer_memory=3_000) as producer:
        made: list = []

        def send():
            made.extend(producer.send("t", b"%0100d" % number) for number in range(50))

        threads = [threading.Thread(target=send) for _ in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        producer.flush()
        assert len({each.result().offset for each in made}) == 200


def test_prod_19_what_cannot_be_serialized_is_raised_where_it_is_sent(cluster):
    with (
        BackgroundProducer(cluster.bootstrap, value_serializer=str) as producer,
        pytest.raises(SerializationError),
    ):
        producer.send("u", 5)


def test_prod_26_an_append_wakes_the_sender_when_it_began_or_filled_a_batch():
    producer, _ = producing(Leaders(), view(topic("t", 0)), batch_size=300)
    woke = []
    for _ in range(6):
        producer.send("t", bytes(60))
        woke.append(producer.wakes_sender())
    assert woke == [True, False, False, True, True, True], "from the second batch on"


class Breaks:
    def __init__(self):
        raise RuntimeError("yours")


class Closes:
    closed = 0

    def close(self):
        Closes.closed += 1


def test_prod_07_a_producer_that_cannot_be_made_closes_what_was_made(cluster):
    with pytest.raises(ClientError, match="Failed to construct kafka producer") as refused:
        BackgroundProducer(cluster.bootstrap, interceptors=[Closes, Breaks])
    assert isinstance(refused.value.__cause__, RuntimeError) and Closes.closed == 1
    with pytest.raises(ClientError, match="Failed to construct kafka producer"):
        BackgroundProducer(cluster.bootstrap, interceptors=[Closes], partitioner=Breaks)
    assert Closes.closed == 2


def test_prod_29_a_step_takes_in_answers_expires_drains_and_sends():
    leaders = Leaders(leaders=(0,))
    producer, runner = producing(leaders, linger_ms=10, delivery_timeout_ms=1_000)
    old = producer.send("t", b"old", partition=0)
    runner.view.now += 1_000
    new = producer.send("t", b"new", partition=0)
    runner.run(producer.step(runner.view.now))
    assert old.done and old is not new
    assert not runner.sent("Produce"), "one has expired, and with it who shared its batch"
    newer = producer.send("t", b"newer", partition=0)
    runner.view.now += 10
    runner.run(producer.step(runner.view.now))
    assert len(runner.sent("Produce")) == 1 and not newer.done
    runner.run(producer.step(runner.view.now + 10))
    assert newer.done
