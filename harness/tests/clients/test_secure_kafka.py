"""The reference client on listeners of real Kafka with SASL and TLS: let in, and refused in words.

One broker of 4.3.1, started as the target file starts it, with two listeners more.
"""

from __future__ import annotations

import asyncio
import base64
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import trustme
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from touchstone.harness.targets import parse
from touchstone.harness.targets.ports import free_ports
from touchstone.harness.tests.clients.programs import PATIENCE_S
from touchstone.reference_impl.client.admin.credentials import ScramMechanism, ScramUpsertion
from touchstone.reference_impl.client.flow import ClientError
from touchstone.reference_impl.client.security.errors import (
    AuthenticationException,
    SaslAuthenticationException,
    SslAuthenticationException,
    UnsupportedSaslMechanismException,
)
from touchstone.reference_impl.io.aio.client import Client as AioClient
from touchstone.reference_impl.io.client import Client
from touchstone.reference_impl.tests.client.security.listeners import (
    MECHANISMS,
    PASSWORD,
    USER,
    keys,
    login,
    sasl_settings,
    trust,
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.live,
    pytest.mark.java,
    pytest.mark.maven,
    pytest.mark.timeout(4 * PATIENCE_S),
]
RELEASE = "4.3"
SECURED = ("SASL_PLAINTEXT", "SASL_SSL")
ENABLED = (MECHANISMS[0], MECHANISMS[1], MECHANISMS[3])  # without SCRAM-SHA-512
SESSION_MS = 2000


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="module")
def where(authority, tmp_path_factory) -> Iterator[dict[str, str]]:
    """The address of each listener."""
    if reason := parse(f"kafka@{RELEASE}").available():
        pytest.skip(f"not run: {reason}")
    folder = tmp_path_factory.mktemp("secured")
    plain, controller, *secured = free_ports(4)
    ports = dict(zip(SECURED, secured, strict=True))
    found = {name: f"127.0.0.1:{port}" for name, port in {"PLAINTEXT": plain, **ports}.items()}
    advertised = ",".join(f"{name}://{address}" for name, address in found.items())
    names = {name: name for name in found} | {"CONTROLLER": "PLAINTEXT"}
    settings = {
        "listeners": f"{advertised},CONTROLLER://127.0.0.1:{controller}",
        "advertised.listeners": advertised,
        "listener.security.protocol.map": ",".join(":".join(each) for each in names.items()),
        "inter.broker.listener.name": "PLAINTEXT",
        "group.initial.rebalance.delay.ms": "0",
        "delegation.token.secret.key": "key",
        "listener.name.sasl_ssl.connections.max.reauth.ms": str(SESSION_MS),
        **sasl_settings(*SECURED, mechanisms=ENABLED),
        **stores(authority, folder),
    }
    command = [
        *(sys.executable, "-m", "touchstone.harness.targets.launch", "kafka", RELEASE),
        *("--node", "1", "--port", str(plain), "--controller-port", str(controller)),
        *("--folder", str(folder)),
        *(word for pair in settings.items() for word in ("--set", "=".join(pair))),
    ]
    log = folder / "started.txt"
    with log.open("w") as out:
        child = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
    try:
        with Client(found["PLAINTEXT"]) as client:
            until(lambda: child.poll() is not None or answers(client))
            assert child.poll() is None, log.read_text()
            made = ScramUpsertion(USER, ScramMechanism.SCRAM_SHA_256, PASSWORD.encode(), b"s" * 16)
            client.admin.alter_user_scram_credentials([made]).all()
            with Client(found["SASL_PLAINTEXT"], login("SCRAM-SHA-256")) as alice:
                until(lambda: answers(alice))  # the broker has heard of her
        yield found
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait(PATIENCE_S)


def stores(authority: trustme.CA, folder: Path) -> dict[str, str]:
    """Keys as files: a properties file cannot say what PEM text is without help. The key is in the
    one form that DefaultSslEngineFactory reads, PKCS #8.
    """
    told = keys(authority.issue_cert("127.0.0.1"), authority)
    own = load_pem_private_key(told["ssl.keystore.key"].encode(), None)
    text = own.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    key, trusted = folder / "key.pem", folder / "trusted.pem"
    key.write_text(text + told["ssl.keystore.certificate.chain"])
    trusted.write_text(told["ssl.truststore.certificates"])
    return {
        "ssl.keystore.type": "PEM", "ssl.keystore.location": str(key),
        "ssl.truststore.type": "PEM", "ssl.truststore.location": str(trusted),
    }  # fmt: skip


def until(done: Callable[[], Any]) -> None:
    end = time.monotonic() + 2 * PATIENCE_S
    while not done():
        assert time.monotonic() < end, "it does not come"


def answers(client: Client) -> bool:
    try:
        return client.ask("Metadata", {"topics": []})["controller_id"] >= 0
    except (OSError, AuthenticationException):
        return False


@pytest.mark.parametrize("protocol", SECURED)
@pytest.mark.parametrize("mechanism", ENABLED)
def test_a_right_secret_produces_and_consumes(where, authority, mechanism, protocol):
    topic = f"{protocol}-{mechanism}"
    config = login(mechanism, protocol) | trust(authority)
    with Client(where[protocol], config) as client:
        client.admin.create_topic(topic)
        producer = client.producer()
        sent = producer.send(topic, b"v")
        producer.flush()
        assert sent.result().offset == 0
        group = {"group.id": topic, "auto.offset.reset": "earliest"}
        with client.consumer(topics=[topic], config=group) as consumer:
            got = []
            while not got:
                got = consumer.poll(timeout_ms=1000)
        assert [each.value for each in got] == [b"v"]


@pytest.mark.parametrize("protocol", SECURED)
@pytest.mark.parametrize(
    ("mechanism", "words"),
    [
        ("PLAIN", "^Authentication failed: Invalid username or password$"),
        (
            "SCRAM-SHA-256",
            "^Authentication failed during authentication due to invalid credentials with SASL"
            " mechanism SCRAM-SHA-256$",
        ),
    ],
)
def test_a_wrong_secret_is_refused_in_kafka_s_words(where, authority, mechanism, words, protocol):
    config = login(mechanism, protocol, password="wrong") | trust(authority)
    with Client(where[protocol], config) as client:
        with pytest.raises(SaslAuthenticationException, match=words):
            client.admin.list_topics()
        with pytest.raises(SaslAuthenticationException, match=words):
            client.producer().send("t", b"v").result()
        with pytest.raises(SaslAuthenticationException, match=words):
            client.consumer([("t", 0)]).poll(timeout_ms=PATIENCE_S * 1000)


def test_a_mechanism_that_is_not_enabled(where):
    words = r"Client SASL mechanism 'SCRAM-SHA-512' not enabled in the server, enabled mechanisms"
    with (
        Client(where["SASL_PLAINTEXT"], login("SCRAM-SHA-512")) as client,
        pytest.raises(UnsupportedSaslMechanismException, match=words),
    ):
        client.admin.list_topics()


def test_a_token_of_another_user_s_making(where):
    with Client(where["SASL_PLAINTEXT"], login("PLAIN")) as client:
        token = client.admin.create_delegation_token()
    secret = base64.b64encode(token.hmac).decode()
    config = login("SCRAM-SHA-256", user=token.token_id, password=secret, more=' tokenauth="true"')
    with Client(where["SASL_PLAINTEXT"], config) as client:
        until(lambda: answers(client))
        with pytest.raises(ClientError, match="DELEGATION_TOKEN_REQUEST_NOT_ALLOWED"):
            client.admin.create_delegation_token()  # not with a token


def test_a_session_is_renewed_before_kafka_ends_it(where, authority):
    """KIP-368: on one connection, for longer than a session may last."""
    config = login("SCRAM-SHA-256", "SASL_SSL") | trust(authority)
    with Client(where["SASL_SSL"], config) as client:
        client.admin.create_topic("renewed")
        producer = client.producer()
        began, sent = time.monotonic(), []
        links: set[int] = set()
        while time.monotonic() < began + 3 * SESSION_MS / 1000:
            sent.append(producer.send("renewed", b"v"))
            producer.flush()
            links |= {id(each) for each in client._network._links.values()}
        assert [each.result().offset for each in sent] == list(range(len(sent)))
        assert len(links) == len(client._network._links)


def test_a_broker_that_nobody_vouches_for(where):
    config = login("PLAIN", "SASL_SSL") | trust(trustme.CA())
    with (
        Client(where["SASL_SSL"], config) as client,
        pytest.raises(SslAuthenticationException, match="SSL handshake failed"),
    ):
        client.admin.list_topics()


def test_under_asyncio(where, authority):
    async def play() -> None:
        config = login("OAUTHBEARER", "SASL_SSL") | trust(authority)
        async with AioClient(where["SASL_SSL"], config) as client:
            assert await client.admin.list_topics() is not None
        wrong = login("PLAIN", "SASL_SSL", password="wrong") | trust(authority)
        async with AioClient(where["SASL_SSL"], wrong) as client:
            with pytest.raises(SaslAuthenticationException):
                await client.admin.list_topics()

    asyncio.run(play())
