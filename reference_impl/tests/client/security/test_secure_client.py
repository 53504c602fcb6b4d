"""The client on listeners with TLS and SASL of our broker: who is let in, what others are told."""

from __future__ import annotations

import asyncio
import base64
import socket
import struct
import threading

import pytest
import trustme

from touchstone.reference_impl.client.flow import Unreachable
from touchstone.reference_impl.client.security.errors import (
    IllegalSaslStateException,
    SaslAuthenticationException,
    SslAuthenticationException,
    UnsupportedSaslMechanismException,
)
from touchstone.reference_impl.io.aio.client import Client as AioClient
from touchstone.reference_impl.io.background_producer import BackgroundProducer
from touchstone.reference_impl.io.client import Client
from touchstone.reference_impl.io.server import serve

from .listeners import MECHANISMS, SCRAM, keys, login, pem, sasl_settings, trust

REFUSED = "Authentication failed"
PROTOCOLS = ("PLAINTEXT", "SASL_PLAINTEXT", "SSL", "SASL_SSL")


@pytest.fixture(scope="module")
def authority():
    return trustme.CA()


@pytest.fixture(scope="module")
def alice(authority):
    return authority.issue_cert("alice@example.org", common_name="Alice")


@pytest.fixture(scope="module")
def cluster(authority):
    config = {
        "listeners": ",".join(f"{each}://127.0.0.1:0" for each in PROTOCOLS),
        "connection.failed.authentication.delay.ms": "0",
        "delegation.token.secret.key": "key",
        "group.initial.rebalance.delay.ms": "0",
        "offsets.topic.num.partitions": "1",
        "offsets.topic.replication.factor": "1",
        "ssl.client.auth": "requested",
        **sasl_settings("SASL_PLAINTEXT", "SASL_SSL"),
        **keys(authority.issue_cert("localhost", "127.0.0.1"), authority),
    }
    with serve(config=config, scram=SCRAM) as running:
        yield running


def where(cluster, protocol):
    return cluster.listeners[protocol][0]


def names(cluster, config):
    """Topics, as a client of this configuration sees them."""
    with Client(where(cluster, config["security.protocol"]), config) as client:
        return client.admin.list_topics()


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_right_secret_serves_every_face(cluster, mechanism):
    topic = f"of-{mechanism}"
    with Client(where(cluster, "SASL_PLAINTEXT"), login(mechanism)) as client:
        client.admin.create_topic(topic)
        producer = client.producer()
        sent = producer.send(topic, b"v")
        producer.flush()
        assert sent.result().offset == 0
        config = {"group.id": topic, "auto.offset.reset": "earliest"}
        with client.consumer(topics=[topic], config=config) as consumer:
            got = []
            while not got:
                got = consumer.poll(timeout_ms=1000)
            assert [each.value for each in got] == [b"v"]


@pytest.mark.parametrize("protocol", ["SASL_PLAINTEXT", "SASL_SSL"])
@pytest.mark.parametrize("mechanism", MECHANISMS[:3])
def test_a_wrong_secret_ends_the_call_with_the_words_of_the_broker(
    cluster, authority, mechanism, protocol
):
    config = login(mechanism, protocol, password="wrong") | trust(authority)
    words = "Invalid username or password" if mechanism == "PLAIN" else "invalid credentials"
    with Client(where(cluster, protocol), config) as client:
        with pytest.raises(SaslAuthenticationException, match=words):
            client.admin.list_topics()
        producer = client.producer()
        with pytest.raises(SaslAuthenticationException, match=words):
            producer.send("t", b"v").result()
        producer.close()
        consumer = client.consumer([("t", 0)])
        with pytest.raises(SaslAuthenticationException, match=words):
            consumer.poll(timeout_ms=60_000)
        with pytest.raises(SaslAuthenticationException, match=words):
            client.transactional_producer("x")
        with pytest.raises(SaslAuthenticationException, match=words):
            client.ask("Metadata", {"topics": []})


def test_a_group_and_a_share_group_of_a_wrong_secret_end_too(cluster):
    config = login("PLAIN", password="wrong")
    with Client(where(cluster, "SASL_PLAINTEXT"), config) as client:
        for protocol in ("classic", "consumer"):
            member = client.consumer(
                group="g", topics=["t"], protocol=protocol, heartbeat_in_background=False
            )
            with pytest.raises(SaslAuthenticationException):
                member.poll(timeout_ms=60_000)
        sharing = client.share_consumer("s", ["t"])
        with pytest.raises(SaslAuthenticationException):
            sharing.poll(timeout_ms=60_000)


def test_a_producer_with_a_thread_fails_what_it_was_given(cluster):
    config = login("SCRAM-SHA-256", password="wrong")
    with BackgroundProducer(where(cluster, "SASL_PLAINTEXT"), config) as producer:
        for _ in range(2):  # its thread lives on
            with pytest.raises(SaslAuthenticationException, match="invalid credentials"):
                producer.wait_for(producer.send("t", b"v"), 30_000)


def test_under_asyncio(cluster, authority):
    async def play():
        config = login("SCRAM-SHA-512", "SASL_SSL") | trust(authority)
        async with AioClient(where(cluster, "SASL_SSL"), config) as client:
            await client.admin.create_topic("aio")
            producer = client.producer({"linger.ms": 0})
            sent = producer.send("aio", b"v" * 100_000)
            await producer.flush()
            assert sent.result().offset == 0
        wrong = login("SCRAM-SHA-512", "SASL_SSL", password="wrong") | trust(authority)
        async with AioClient(where(cluster, "SASL_SSL"), wrong) as client:
            with pytest.raises(SaslAuthenticationException):
                await client.admin.list_topics()

    asyncio.run(play())


def test_a_mechanism_that_is_not_enabled_is_named(cluster, authority):
    config = {
        "listeners": "PLAINTEXT://127.0.0.1:0,SASL_PLAINTEXT://127.0.0.1:0",
        "connection.failed.authentication.delay.ms": "0",
        **sasl_settings("SASL_PLAINTEXT", mechanisms=("PLAIN",)),
    }
    with serve(config=config) as running:
        words = (
            r"Client SASL mechanism 'SCRAM-SHA-256' not enabled in the server, enabled mechanisms"
            r" are \[PLAIN\]"
        )
        with pytest.raises(UnsupportedSaslMechanismException, match=words):
            names(running, login("SCRAM-SHA-256"))


def test_a_delegation_token_logs_in(cluster):
    with Client(where(cluster, "SASL_PLAINTEXT"), login("SCRAM-SHA-256")) as client:
        token = client.admin.create_delegation_token()
    secret = base64.b64encode(token.hmac).decode()
    by_token = {"user": token.token_id, "password": secret}
    config = login("SCRAM-SHA-256", **by_token, more=' tokenauth="true"')
    assert names(cluster, config) is not None
    with pytest.raises(SaslAuthenticationException):
        names(cluster, login("SCRAM-SHA-256", **by_token))


# --- TLS -------------------------------------------------------------------------------------


def test_tls_alone(cluster, authority):
    config = {"security.protocol": "SSL", **trust(authority)}
    with Client(where(cluster, "SSL"), config) as client:
        client.admin.create_topic("by-tls")
        producer = client.producer({"max.request.size": 4 << 20, "batch.size": 1 << 20})
        sent = [producer.send("by-tls", b"x" * 900_000) for _ in range(5)]
        producer.flush()
        assert [each.result().offset for each in sent] == list(range(5))
        consumer = client.consumer([("by-tls", 0)], reset="earliest")
        read = 0
        while read < 5:
            read += len(consumer.poll())


def test_a_certificate_names_the_user(cluster, authority, alice):
    shown = {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.certificate.chain": "\n".join(map(pem, alice.cert_chain_pems)),
        "ssl.keystore.key": pem(alice.private_key_pem),
    }
    config = {"security.protocol": "SSL", **trust(authority), **shown}
    with Client(where(cluster, "SSL"), config) as client:
        token = client.admin.create_delegation_token()
        assert token.owner.principal_name.startswith("CN=Alice")


def test_stores_may_be_files(cluster, authority, tmp_path):
    file = tmp_path / "trusted.pem"
    file.write_text(pem(authority.cert_pem))
    config = {
        "security.protocol": "SSL",
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(file),
    }
    assert names(cluster, config) is not None


@pytest.mark.parametrize("protocol", ["SSL", "SASL_SSL"])
def test_a_broker_that_nobody_vouches_for_is_not_believed(cluster, protocol):
    config = login("PLAIN", protocol) | trust(trustme.CA())
    with pytest.raises(SslAuthenticationException, match="SSL handshake failed") as failed:
        names(cluster, config)
    assert "CERTIFICATE_VERIFY_FAILED" in str(failed.value.__cause__)


def test_the_certificate_has_to_be_of_the_host(authority):
    settings = {
        "listeners": "SSL://127.0.0.1:0",
        "security.inter.broker.protocol": "SSL",
        **keys(authority.issue_cert("kafka.example.org"), authority),
    }
    config = {"security.protocol": "SSL", **trust(authority)}
    with serve(config=settings) as running:
        with (
            Client(running.bootstrap, config) as client,
            pytest.raises(SslAuthenticationException, match="SSL handshake failed"),
        ):
            client.admin.list_topics()
        unchecked = config | {"ssl.endpoint.identification.algorithm": ""}
        with Client(running.bootstrap, unchecked) as client:
            assert client.admin.list_topics() is not None


def test_a_certificate_that_is_asked_for_and_not_shown(authority):
    config = {
        "listeners": "SSL://127.0.0.1:0",
        "security.inter.broker.protocol": "SSL",
        "ssl.client.auth": "required",
        **keys(authority.issue_cert("127.0.0.1"), authority),
    }
    with (
        serve(config=config) as running,
        Client(running.bootstrap[0], {"security.protocol": "SSL", **trust(authority)}) as client,
        pytest.raises(SslAuthenticationException, match="SSL handshake failed"),
    ):
        client.admin.list_topics()


# --- brokers that are no brokers -------------------------------------------------------------


class Peer:
    """A listener that gives every connection to a function, one after the other."""

    def __init__(self, play):
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listening.getsockname()[1]}"
        self.accepted = 0
        self._play = play
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._listening.close()

    def _run(self):
        while True:
            try:
                sock, _ = self._listening.accept()
            except OSError:
                return
            self.accepted += 1
            with sock:
                self._play(sock)


def frame(sock):
    size = sock.recv(4, socket.MSG_WAITALL)
    return sock.recv(struct.unpack(">i", size)[0], socket.MSG_WAITALL) if len(size) == 4 else b""


def answer(sock, payload):
    sock.sendall(struct.pack(">i", len(payload)) + payload)


OLD = ((3, 0, 1), (17, 0, 0), (18, 0, 0))  # key, lowest and highest version


def old_broker(sock):
    """As 0.10 speaks: SaslHandshake v0, tokens without headers. PLAIN, and then Metadata v0."""
    while request := frame(sock):
        key, _, correlation = struct.unpack_from(">hhi", request)
        head = struct.pack(">i", correlation)
        if key == 18:
            apis = b"".join(
                struct.pack(">hhh", *row) for row in ((3, 0, 1), (17, 0, 0), (18, 0, 0))
            )
            answer(sock, head + struct.pack(">hi", 0, 3) + apis)
        elif key == 17:
            answer(sock, head + struct.pack(">hi", 0, 1) + b"\0\5PLAIN")
            token = frame(sock)
            if token != b"\0alice\0alice-secret":
                return
            answer(sock, b"")
        else:
            broker = struct.pack(">i", 7) + b"\0\1h" + struct.pack(">i", 9) + b"\xff\xff"
            answer(sock, head + struct.pack(">i", 1) + broker + struct.pack(">ii", 7, 0))


def test_tokens_go_without_headers_where_nobody_knows_sasl_authenticate():
    with Peer(old_broker) as peer, Client(peer.address, login("PLAIN")) as client:
        body = client.ask("Metadata", {"topics": None})
        assert [each["node_id"] for each in body["brokers"]] == [7]


def test_such_a_broker_just_hangs_up_on_a_wrong_secret():
    wrong = login("PLAIN", password="wrong")
    with (
        Peer(old_broker) as peer,
        Client(peer.address, wrong) as client,
        pytest.raises(ConnectionError, match="terminated during authentication"),
    ):
        client.ask("Metadata", {"topics": None})


def liar(tokens):
    """A broker that agrees to SCRAM and then says these tokens."""

    def play(sock):
        said = iter(tokens)
        while request := frame(sock):
            key, version, correlation = struct.unpack_from(">hhi", request)
            head = struct.pack(">i", correlation)
            if key == 18:
                apis = b"".join(
                    struct.pack(">hhh", *row) for row in ((17, 0, 1), (18, 0, 0), (36, 0, 0))
                )
                answer(sock, head + struct.pack(">hi", 0, 3) + apis)
            elif key == 17:
                answer(sock, head + struct.pack(">hi", 0, 0))
            else:
                nonce = request.rpartition(b"r=")[2]
                token = next(said).replace(b"NONCE", nonce)
                answer(sock, head + struct.pack(">hhi", 0, -1, len(token)) + token)

    return play


@pytest.mark.parametrize(
    ("tokens", "words"),
    [
        (
            [b"r=NONCEx,s=AAAA,i=4096", b"v=AAAA"],
            "Invalid server signature in server final message",
        ),
        ([b"r=other,s=AAAA,i=4096"], "Invalid server nonce: does not start with client nonce"),
        ([b"r=NONCEx,s=AAAA,i=4095"], "Requested iterations 4095 is less than the minimum 4096"),
        ([b"r=NONCEx,s=AAAA,i=2147483647"], "Requested iterations 2147483647 is more than 100000"),
        ([b"r=NONCEx,s=AAAA,i=" + b"9" * 5000], "Requested iterations 9999999999.* is more than"),
        ([b"nonsense"], "Invalid SCRAM server first message format: nonsense"),
        ([b"r=NONCEx,s=AAAA,i=4096", b"e=other-error"], "failed with error: other-error"),
    ],
)
def test_a_broker_that_cannot_prove_itself_is_not_believed(tokens, words):
    with (
        Peer(liar(tokens)) as peer,
        Client(peer.address, login("SCRAM-SHA-256")) as client,
        pytest.raises(SaslAuthenticationException, match=words),
    ):
        client.ask("Metadata", {"topics": None})


def test_a_broker_without_sasl_is_told_apart():
    def play(sock):
        correlation = struct.unpack_from(">i", frame(sock), 4)[0]
        answer(sock, struct.pack(">ihihhh", correlation, 0, 1, 18, 0, 0))
        frame(sock)

    with (
        Peer(play) as peer,
        Client(peer.address, login("PLAIN")) as client,
        pytest.raises(IllegalSaslStateException),
    ):
        client.ask("Metadata", {"topics": None})


def test_one_call_knocks_once(cluster):
    """No endless retry: the call that is refused does not come again."""
    tries = []

    def play(sock):
        tries.append(1)
        upstream = socket.create_connection(where(cluster, "SASL_PLAINTEXT").rsplit(":", 1))
        with upstream:
            while request := frame(sock):
                answer(upstream, request)
                answer(sock, frame(upstream))

    with Peer(play) as peer, Client(peer.address, login("PLAIN", password="wrong")) as client:
        with pytest.raises(SaslAuthenticationException):
            client.admin.list_topics()
        assert len(tries) == 1


def test_without_sasl_such_a_listener_is_unreachable(cluster):
    with Client(where(cluster, "SASL_PLAINTEXT")) as client:
        client.admin.core.timeout_ms = 1
        with pytest.raises((Unreachable, ConnectionError)):
            client.ask("Metadata", {"topics": None})
