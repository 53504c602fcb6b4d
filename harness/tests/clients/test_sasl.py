"""Other people's clients say who they are: each mechanism, right secrets and wrong ones.

The listeners are ours, as an application's tests would embed them. A client with the right secret
writes a record and reads it; with a wrong one it is told so by its own library.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import warnings

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka import errors as aiokafka_errors
from confluent_kafka import Consumer, KafkaError, Producer
from confluent_kafka.admin import AdminClient

with warnings.catch_warnings():  # it reads its schemas in a way that Python 3.11 deprecates
    warnings.simplefilter("ignore", DeprecationWarning)
    from kafka import KafkaConsumer, KafkaProducer
    from kafka import errors as kafka_errors

from touchstone.harness.tests.clients.programs import PATIENCE_S, said
from touchstone.reference_impl.io.server import serve

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(4 * PATIENCE_S),
    # kafka-python and aiokafka leave sockets behind that were refused.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
MECHANISMS = ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]
SECURITY = "org.apache.kafka.common.security"
USER, PASSWORD = "alice", 'alice, "her" secret=1'
LISTENER = "SASL_PLAINTEXT"
QUOTED = PASSWORD.replace('"', '\\"')
SETTINGS = {
    "listeners": f"PLAINTEXT://127.0.0.1:0,{LISTENER}://127.0.0.1:0",
    "sasl.enabled.mechanisms": ",".join(MECHANISMS),
    "listener.name.sasl_plaintext.plain.sasl.jaas.config": (
        f'{SECURITY}.plain.PlainLoginModule required user_{USER}="{QUOTED}";'
    ),
    **{
        f"listener.name.sasl_plaintext.{mechanism.lower()}.sasl.jaas.config": (
            f"{SECURITY}.scram.ScramLoginModule required;"
        )
        for mechanism in MECHANISMS[1:]
    },
    "listener.name.sasl_plaintext.connections.max.reauth.ms": "2000",
    "connection.failed.authentication.delay.ms": "10",
    "group.initial.rebalance.delay.ms": "0",
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "1",
}
QUIET = logging.getLogger("librdkafka")
_numbers = itertools.count()


@pytest.fixture(scope="module", params=["1.0", "2.8", "4.3"])
def cluster(request):
    users = [f"{kind}=[name={USER},password={PASSWORD_OF_SCRAM}]" for kind in MECHANISMS[1:]]
    with serve(release=request.param, config=SETTINGS, scram=users) as running:
        yield running


PASSWORD_OF_SCRAM = "alice secret=1"  # --add-scram splits at commas, as Kafka does


def secret(mechanism: str) -> str:
    return PASSWORD if mechanism == "PLAIN" else PASSWORD_OF_SCRAM


@pytest.fixture
def where(cluster) -> str:
    return cluster.listeners[LISTENER][0]


@pytest.fixture
def topic() -> str:
    return f"sasl-{next(_numbers)}"


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_librdkafka_with_the_right_secret(where, topic, mechanism):
    own = librdkafka(where, mechanism, secret(mechanism))
    producer = Producer(own | {"linger.ms": 0}, logger=QUIET)
    producer.produce(topic, b"one")
    assert producer.flush(PATIENCE_S) == 0
    consumer = Consumer(own | {"group.id": topic, "auto.offset.reset": "earliest"}, logger=QUIET)
    consumer.subscribe([topic])
    message = consumer.poll(PATIENCE_S)
    assert message.value() == b"one"
    consumer.close()


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("user", [USER, "nobody"])
def test_librdkafka_with_a_wrong_secret(where, mechanism, user):
    errors: list[KafkaError] = []
    own = librdkafka(where, mechanism, "wrong", user) | {"error_cb": errors.append}
    admin = AdminClient(own, logger=QUIET)
    while not any(each.code() == KafkaError._AUTHENTICATION for each in errors):
        admin.poll(0.1)


def librdkafka(where: str, mechanism: str, password: str, user: str = USER) -> dict:
    return {
        "bootstrap.servers": where, "security.protocol": LISTENER, "sasl.mechanism": mechanism,
        "sasl.username": user, "sasl.password": password,
    }  # fmt: skip


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_kafka_python(where, topic, mechanism):
    own = python(where, mechanism, secret(mechanism))
    producer = KafkaProducer(**own)
    producer.send(topic, b"one").get(PATIENCE_S)
    producer.close()
    consumer = KafkaConsumer(
        topic, **own, auto_offset_reset="earliest", consumer_timeout_ms=PATIENCE_S * 1000
    )
    assert next(consumer).value == b"one"
    consumer.close()
    with pytest.raises(kafka_errors.KafkaError):
        KafkaProducer(**python(where, mechanism, "wrong"), bootstrap_timeout_ms=2000)


def python(where: str, mechanism: str, password: str) -> dict:
    return {
        "bootstrap_servers": where, "security_protocol": LISTENER, "sasl_mechanism": mechanism,
        "sasl_plain_username": USER, "sasl_plain_password": password,
    }  # fmt: skip


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_aiokafka(where, topic, mechanism):
    async def right() -> bytes:
        own = python(where, mechanism, secret(mechanism))
        producer = AIOKafkaProducer(**own)
        await producer.start()
        await producer.send_and_wait(topic, b"one")
        await producer.stop()
        consumer = AIOKafkaConsumer(topic, **own, auto_offset_reset="earliest")
        await consumer.start()
        message = await asyncio.wait_for(consumer.getone(), PATIENCE_S)
        await consumer.stop()
        return message.value

    async def wrong() -> None:
        producer = AIOKafkaProducer(**python(where, mechanism, "wrong"))
        try:
            await producer.start()
        finally:
            await producer.stop()

    assert asyncio.run(right()) == b"one"
    with pytest.raises(aiokafka_errors.KafkaError):
        asyncio.run(wrong())


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_franz_go(where, topic, mechanism, franz):
    assert franz(where, topic, mechanism, USER, secret(mechanism), "") == "read one\n"
    for user, password in ((USER, "wrong"), ("nobody", secret(mechanism))):
        told = franz(where, topic, mechanism, user, password, "")
        assert "SASL_AUTHENTICATION_FAILED" in told, told


@pytest.mark.java
@pytest.mark.maven
@pytest.mark.usefixtures("java")
@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-512"])
@pytest.mark.parametrize("cluster", ["2.8", "4.3"], indirect=True)  # 4.3's do not speak to 1.0
def test_java(where, topic, mechanism, tmp_path):
    module = "plain.Plain" if mechanism == "PLAIN" else "scram.Scram"
    for password, good in ((secret(mechanism), True), ("wrong", False)):
        quoted = password.replace('"', '\\"')
        file = tmp_path / "client.properties"
        jaas = f'{SECURITY}.{module}LoginModule required username="{USER}" password="{quoted}";'
        file.write_text(
            f"security.protocol={LISTENER}\nsasl.mechanism={mechanism}\n"
            "sasl.jaas.config=" + jaas.replace("\\", "\\\\") + "\n"
        )
        told = said(
            tmp_path / str(good), "TopicCommand", "--bootstrap-server", where,
            "--command-config", str(file), "--create", "--topic", topic, "--partitions", "1",
        )  # fmt: skip
        assert (f"Created topic {topic}." in told) is good, told
        assert ("SaslAuthenticationException" in told) is not good, told
