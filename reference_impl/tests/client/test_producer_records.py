"""What happens to a record in `send`: interceptors, serializers, sizes, memory, callbacks."""

import logging

import pytest

from touchstone.reference_impl.client.buffer_memory import BufferExhausted
from touchstone.reference_impl.client.flow import ClientError, KafkaError
from touchstone.reference_impl.client.producer import Closed, Producer, SerializationError
from touchstone.reference_impl.client.producer_batch import upper_bound
from touchstone.reference_impl.client.serializers import (
    IntegerSerializer,
    StringSerializer,
    serializer_of,
)
from touchstone.reference_impl.wire.errors import ErrorCode as E

from .scripted import metadata, topic, view
from .test_producer import ALONE, Leaders, producing


class Upper:
    """A serializer that is told of its configuration."""

    def configure(self, configs, is_key):
        self.told = (configs["client.id"], is_key)

    def serialize(self, topic, headers, data):
        headers.append(("by", topic.encode()))
        return data.upper().encode()


@pytest.mark.parametrize(
    ("given", "value", "data"),
    [
        (None, b"v", b"v"),
        (None, None, None),
        (bytes, bytearray(b"v"), b"v"),
        (str, "é", "é".encode()),
        (int, -2, b"\xff" * 7 + b"\xfe"),
        (lambda value: str(value).encode(), 12, b"12"),
        (lambda value: str(value).encode(), None, None),
    ],
)
def test_serializers_of_every_kind(given, value, data):
    leaders = Leaders(leaders=(0,))
    producer, runner = producing(leaders, value_serializer=given)
    producer.send("t", value)
    runner.run(producer.flush())
    assert leaders.taken[0][4] == [data]


def test_prod_05_an_object_is_not_configured_and_a_class_is():
    made = serializer_of(Upper, {"client.id": "c"}, is_key=True)
    assert made.told == ("c", True)
    given = Upper()
    assert serializer_of(given, {"client.id": "c"}, is_key=False) is given
    assert not hasattr(given, "told")
    latin = serializer_of(StringSerializer, {"key.serializer.encoding": "latin-1"}, is_key=True)
    assert latin.serialize("t", [], "é") == b"\xe9"


def test_prod_13_headers_that_a_serializer_adds_are_sent_and_then_frozen():
    leaders = Leaders(leaders=(0,))
    producer, runner = producing(leaders, value_serializer=Upper())
    headers = [("a", b"1")]
    made = producer.send("t", "v", headers=headers)
    headers.append(("later", b""))
    runner.run(producer.flush())
    assert made.headers == (("a", b"1"), ("by", b"t"))
    with pytest.raises(AttributeError):
        made.headers.append(("later", b""))


def test_prod_13_metadata_come_first_then_serializers_then_the_partition():
    seen = []

    def serialize(value):
        seen.append(f"serialize {value}")
        return b"x" * (2 << 20)

    class Partitioned:
        def partition(self, topic, key, key_bytes, value, value_bytes, choices):
            seen.append(f"partition of {len(choices.all)}")
            return 0

    producer, runner = producing(
        Leaders(leaders=(0,)), view(), value_serializer=serialize, partitioner=Partitioned()
    )
    made = producer.send("t", "v")
    assert seen == [] and not made.done, "the topic is not known yet"
    runner.run(producer.flush())
    assert seen == ["serialize v", "partition of 1"]
    assert made.error.code == E.MESSAGE_TOO_LARGE


@pytest.mark.parametrize(
    ("part", "serializer", "value", "words"),
    [
        ("value", int, "five", "value of class java.lang.String to class .*LongSerializer"),
        ("key", str, 5, "key of class java.lang.Integer to class .*StringSerializer"),
        ("value", None, "text", "value of class java.lang.String to class .*ByteArraySerializer"),
        ("value", IntegerSerializer, 1 << 40, "IntegerSerializer"),
    ],
)
def test_prod_19_a_value_of_the_wrong_class_is_the_callers_to_hear(part, serializer, value, words):
    heard = []
    producer, _ = producing(
        Leaders(), **{f"{part}_serializer": serializer}, interceptors=[Recorder(heard)]
    )
    with pytest.raises(SerializationError, match=words):
        producer.send("t", **({"value": b""} | {part: value}))
    assert heard[-1][:2] == (("t", -1), -1) and isinstance(heard[-1][2], SerializationError)


class Recorder:
    def __init__(self, heard, name="", *, to=None, breaks=False):
        self.heard, self.name, self.to, self.breaks = heard, name, to, breaks
        self.closed = False

    def on_send(self, record):
        if self.breaks:
            raise RuntimeError("an interceptor of yours")
        record.value += self.name.encode()
        record.topic = self.to or record.topic
        return record

    def on_acknowledgement(self, place, offset, error, delivery):
        self.heard.append((place, offset, error, self.name))
        if self.breaks:
            raise RuntimeError("an interceptor of yours")

    def close(self):
        self.closed = True


def test_prod_10_interceptors_see_each_other_and_one_that_breaks_is_passed_over(caplog):
    leaders = Leaders(leaders=(0,))
    chain = [Recorder([], "a"), Recorder([], "b", breaks=True), Recorder([], "c")]
    producer, runner = producing(leaders, interceptors=chain)
    producer.send("t", b"v", partition=0)
    runner.run(producer.flush())
    assert leaders.taken[0][4] == [b"vac"]
    assert "interceptor onSend callback for topic: t, partition: 0" in caplog.text


def test_prod_11_an_interceptor_may_send_a_record_elsewhere():
    producer, _ = producing(Leaders(), interceptors=[Recorder([], to="t")])
    assert producer.send("nowhere", b"v", partition=1).topic == "t"


def test_prod_12_interceptors_hear_before_the_callback_of_success_and_failure(caplog):
    heard = []
    chain = [Recorder(heard, "a", breaks=True), Recorder(heard, "b")]
    producer, runner = producing(Leaders(0, E.INVALID_RECORD, leaders=(0,)), interceptors=chain)
    chain[0].breaks = False
    sent = [
        producer.send("t", ALONE % i, callback=lambda made, error: heard.append("callback"))
        for i in range(1)
    ]
    chain[0].breaks = True
    runner.run(producer.flush())
    refused = producer.send("t", b"x", callback=lambda made, error: heard.append(error))
    runner.run(producer.flush())
    assert [each if each == "callback" else each[3] for each in heard[:3]] == ["a", "b", "callback"]
    assert [each[3] for each in heard[3:5]] == ["a", "b"] and heard[5] is refused.error
    assert heard[0][:2] == (("t", 0), sent[0].offset)
    assert "interceptor onAcknowledgement callback" in caplog.text
    runner.run(producer.close())
    assert all(each.closed for each in chain)


def test_prod_48_callbacks_come_in_order_and_one_that_throws_is_logged(
    caplog,
):
    told = []

    def callback(made, error):
        told.append((int(made.value), made.offset, error))
        raise ValueError("yours")

    leaders = Leaders(E.NOT_ENOUGH_REPLICAS, leaders=(0,))
    producer, runner = producing(leaders, batch_size=300, max_in_flight=1)
    with caplog.at_level(logging.ERROR, "touchstone.client.producer"):
        for i in range(40):
            producer.send("t", b"%040d" % i, callback=callback)
        runner.run(producer.flush())
    assert [number for number, _, _ in told] == list(range(40))
    assert all(error is None and offset >= 0 for _, offset, error in told)
    assert caplog.text.count("Error executing user-provided callback on message") == 40


def test_prod_48_a_callback_may_send():
    leaders = Leaders(leaders=(0,))
    producer, runner = producing(leaders)
    answers = []
    producer.send("t", b"1", callback=lambda *_: answers.append(producer.send("t", b"2")))
    runner.run(producer.flush())
    assert [values for *_, values in leaders.taken] == [[b"1"], [b"2"]]
    assert answers[0].done


@pytest.mark.parametrize("more", [0, 1])
def test_prod_23_a_record_of_exactly_the_limit_is_taken(more):
    value = bytes(500)
    most = upper_bound(None, value)
    for limit in (
        {"max_request_size": most - more},
        {"buffer_memory": most - more, "batch_size": 1},
    ):
        producer, runner = producing(Leaders(leaders=(0,)), **limit)
        made = producer.send("t", value)
        runner.run(producer.flush())
        assert (made.error is None) == (not more)
        if more:
            assert made.error.code == E.MESSAGE_TOO_LARGE
            assert f"The message is {most} bytes when serialized" in str(made.error)


def test_prod_28_what_is_wrong_with_a_call_is_raised_and_what_a_broker_says_is_told():
    producer, runner = producing(Leaders(E.TOPIC_AUTHORIZATION_FAILED, leaders=(0,)))
    told = []
    made = producer.send("t", b"v", callback=lambda delivery, error: told.append(error))
    runner.run(producer.flush())
    assert told == [made.error] and made.error.code == E.TOPIC_AUTHORIZATION_FAILED
    runner.run(producer.close())
    with pytest.raises(Closed):
        producer.send("t", b"v")


def test_prod_27_records_wait_for_memory_first_come_first_served():
    leaders = Leaders(leaders=(0,))
    producer, runner = producing(leaders, buffer_memory=250, batch_size=100)
    made = [producer.send("t", ALONE % i) for i in range(6)]
    assert producer.waits and producer._accumulator.memory.available < 125
    runner.run(producer.until_taken())
    assert not producer.waits
    runner.run(producer.flush())
    assert [int(value) for *_, values in leaders.taken for value in values] == list(range(6))
    assert all(each.result().offset >= 0 for each in made)
    assert producer._accumulator.memory.available == 250


def test_prod_27_memory_that_never_comes_is_waited_for_as_long_as_send_may_block():
    leaders = Leaders(*["timeout"] * 99, leaders=(0,))
    producer, runner = producing(leaders, buffer_memory=150, batch_size=100, max_block_ms=2_000)
    producer.send("t", ALONE % 0)
    late = producer.send("t", ALONE % 1)
    began = runner.view.now
    runner.run(producer.until_taken())
    assert 2_000 <= runner.view.now - began <= 2_200
    with pytest.raises(BufferExhausted, match="within the configured max blocking time 2000 ms"):
        late.result()


def test_prod_14_the_wait_for_metadata_counts_for_the_wait_for_memory():
    leaders = Leaders(*["timeout"] * 99, leaders=(0,))
    slow = {"until": 0}

    def script(ask):
        if ask.api == "Metadata" and runner.view.now < slow["until"]:
            return metadata(topic("t", error=E.LEADER_NOT_AVAILABLE))
        return leaders(ask)

    producer, runner = producing(
        leaders, view(), buffer_memory=150, batch_size=100, max_block_ms=3_000
    )
    runner.script = script
    slow["until"] = runner.view.now + 1_500
    producer.send("t", ALONE % 0)
    late = producer.send("t", ALONE % 1)
    runner.run(producer.until_taken())
    assert isinstance(late.error, BufferExhausted)
    assert 3_000 <= runner.view.now - late.created <= 3_200


def test_prod_15_metadata_that_never_come_are_told_in_the_delivery_and_the_callback():
    producer, runner = producing(Leaders(), view(), max_block_ms=3_000)
    runner.script = lambda ask: metadata(topic("ghost", error=E.UNKNOWN_TOPIC_OR_PARTITION))
    told = []
    made = producer.send("ghost", b"v", callback=lambda delivery, error: told.append(error))
    runner.run(producer.flush())
    assert told == [made.error]
    with pytest.raises(KafkaError, match="Topic ghost not present in metadata after 3000 ms"):
        made.result()


def test_prod_49_memory_comes_back_when_a_batch_is_done_and_not_while_it_is_under_way():
    leaders = Leaders("timeout", leaders=(0,))
    producer, runner = producing(leaders, delivery_timeout_ms=400, retries=0, idempotence=False)
    memory = producer._accumulator.memory
    producer.send("t", b"v")
    assert memory.total - memory.available == 16_384
    runner.run(producer.flush())
    assert memory.available == memory.total


def test_a_batch_larger_than_all_memory_is_a_mistake_of_the_configuration():
    producer, _ = producing(Leaders(), buffer_memory=1_000, batch_size=2_000)
    with pytest.raises(ClientError, match="hard limit of 1000 on memory allocations"):
        producer.send("t", b"v")


def test_prod_24_a_record_has_its_own_time_or_that_of_its_sending():
    producer, _ = producing(Leaders())
    assert producer.send("t", b"v", timestamp=5).timestamp == 5
    assert producer.send("t", b"v").timestamp == producer.view.now


@pytest.mark.parametrize("options", [{"acks": 1}, {"retries": 0}, {"max_in_flight": 6}])
def test_prod_08_what_contradicts_idempotence_is_refused(options):
    with pytest.raises(ClientError, match="PROD-08"):
        Producer(view(), randrange=max, idempotence=True, **options)
    assert Producer(view(), randrange=max, **options).sequences is None
