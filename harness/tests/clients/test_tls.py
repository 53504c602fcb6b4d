"""Other people's clients over TLS: served are those who trust the broker's certificate."""

from __future__ import annotations

import asyncio
import itertools
import logging
import ssl
import warnings

import pytest
import trustme
from aiokafka import AIOKafkaProducer
from confluent_kafka import KafkaError, Producer
from confluent_kafka.admin import AdminClient

with warnings.catch_warnings():  # it reads its schemas in a way that Python 3.11 deprecates
    warnings.simplefilter("ignore", DeprecationWarning)
    from kafka import KafkaProducer

from touchstone.harness.tests.clients.programs import PATIENCE_S
from touchstone.reference_impl.io.server import serve

pytestmark = [pytest.mark.slow, pytest.mark.timeout(4 * PATIENCE_S)]
PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
QUIET = logging.getLogger("librdkafka")
_numbers = itertools.count()


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    made = trustme.CA()
    made.file = str(tmp_path_factory.mktemp("tls") / "ca.pem")
    made.cert_pem.write_to_path(made.file)
    return made


@pytest.fixture(scope="module")
def cluster(authority):
    own = authority.issue_cert("127.0.0.1")
    config = {
        "listeners": "PLAINTEXT://127.0.0.1:0,SSL://127.0.0.1:0,SASL_SSL://127.0.0.1:0",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.certificate.chain": own.cert_chain_pems[0].bytes().decode(),
        "ssl.keystore.key": own.private_key_pem.bytes().decode(),
        "sasl.enabled.mechanisms": "PLAIN",
        "listener.name.sasl_ssl.plain.sasl.jaas.config": f'{PLAIN} required user_alice="secret";',
    }
    with serve(config=config) as running:
        yield running


@pytest.fixture(params=["SSL", "SASL_SSL"])
def protocol(request):
    return request.param


@pytest.fixture
def where(cluster, protocol) -> str:
    return cluster.listeners[protocol][0]


@pytest.fixture
def topic() -> str:
    return f"tls-{next(_numbers)}"


def librdkafka(where: str, protocol: str, ca: str) -> dict:
    return {
        "bootstrap.servers": where, "security.protocol": protocol, "ssl.ca.location": ca,
        "sasl.mechanism": "PLAIN", "sasl.username": "alice", "sasl.password": "secret",
    }  # fmt: skip


def test_librdkafka(where, protocol, authority, topic):
    producer = Producer(librdkafka(where, protocol, authority.file), logger=QUIET)
    producer.produce(topic, b"x" * 500_000)
    assert producer.flush(PATIENCE_S) == 0


def test_librdkafka_that_trusts_another(where, protocol, tmp_path):
    other = tmp_path / "other.pem"
    trustme.CA().cert_pem.write_to_path(str(other))
    errors: list[KafkaError] = []
    own = librdkafka(where, protocol, str(other)) | {"error_cb": errors.append}
    admin = AdminClient(own, logger=QUIET)
    while not any(each.code() == KafkaError._SSL for each in errors):
        admin.poll(0.1)


def test_kafka_python(where, protocol, authority, topic):
    producer = KafkaProducer(
        bootstrap_servers=where, security_protocol=protocol, ssl_cafile=authority.file,
        sasl_mechanism="PLAIN", sasl_plain_username="alice", sasl_plain_password="secret",
    )  # fmt: skip
    producer.send(topic, b"one").get(PATIENCE_S)
    producer.close()


def test_aiokafka(where, protocol, authority, topic):
    async def produce() -> None:
        producer = AIOKafkaProducer(
            bootstrap_servers=where, security_protocol=protocol,
            ssl_context=ssl.create_default_context(cafile=authority.file),
            sasl_mechanism="PLAIN", sasl_plain_username="alice", sasl_plain_password="secret",
        )  # fmt: skip
        await producer.start()
        await producer.send_and_wait(topic, b"one")
        await producer.stop()

    asyncio.run(produce())


def test_franz_go(where, protocol, authority, topic, tmp_path, franz):
    mechanism = "PLAIN" if protocol == "SASL_SSL" else ""
    told = franz(where, topic, mechanism, "alice", "secret", authority.file)
    assert told == "read one\n"
    other = tmp_path / "other.pem"
    trustme.CA().cert_pem.write_to_path(str(other))
    assert "certificate" in franz(where, topic, mechanism, "alice", "secret", str(other))


@pytest.mark.java
@pytest.mark.maven
@pytest.mark.usefixtures("java")
def test_java(where, protocol, authority, topic, tmp_path, kafka_tool):
    file = tmp_path / "client.properties"
    file.write_text(
        f"security.protocol={protocol}\nssl.truststore.type=PEM\n"
        f"ssl.truststore.location={authority.file}\nsasl.mechanism=PLAIN\n"
        f'sasl.jaas.config={PLAIN} required username="alice" password="secret";\n'
    )
    told = kafka_tool(
        "TopicCommand", "--bootstrap-server", where,
        "--command-config", str(file), "--create", "--topic", topic, "--partitions", "1",
    )  # fmt: skip
    assert f"Created topic {topic}." in told, told
