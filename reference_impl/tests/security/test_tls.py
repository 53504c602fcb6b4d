"""Listeners with TLS: who is let in, who they are, and from which stores keys are read."""

from __future__ import annotations

import socket
import ssl

import pytest
import trustme
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    load_pem_private_key,
    pkcs12,
)
from cryptography.x509 import load_pem_x509_certificate

from touchstone.reference_impl.broker.security.ssl_principals import distinguished_name, rules
from touchstone.reference_impl.io.server import serve
from touchstone.reference_impl.tests.io.test_serving import PATIENCE_S, Peer
from touchstone.reference_impl.tests.security.conversations import GOOD, JAAS
from touchstone.reference_impl.wire.records import build

METADATA, HANDSHAKE, AUTHENTICATE, PRODUCE, CREATE_TOKEN = 3, 17, 36, 0, 38
RULES = r"RULE:^CN=(.*?),.*$/$1/L,DEFAULT"


@pytest.fixture(scope="module")
def authority():
    return trustme.CA()


@pytest.fixture(scope="module")
def server(authority):
    return authority.issue_cert("127.0.0.1", "localhost")


@pytest.fixture(scope="module")
def alice(authority):
    return authority.issue_cert("alice@example.org", common_name="Alice", organization_name="Books")


def pem(blob):
    return blob.bytes().decode("ascii")


def texts(server, authority, protocol="SSL", **more):
    chain = "\n".join(pem(each) for each in server.cert_chain_pems)
    return {
        "listeners": f"{protocol}://127.0.0.1:0",
        "security.inter.broker.protocol": protocol,
        "ssl.keystore.type": "PEM",
        "ssl.keystore.certificate.chain": chain,
        "ssl.keystore.key": pem(server.private_key_pem),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.certificates": pem(authority.cert_pem),
        **{name.replace("_", "."): value for name, value in more.items()},
    }


class TlsPeer(Peer):
    def __init__(self, bootstrap, authority, certificate=None, version=None):
        super().__init__(bootstrap)
        context = ssl.create_default_context(cadata=pem(authority.cert_pem))
        if certificate is not None:
            certificate.configure_cert(context)
        if version is not None:
            context.minimum_version = context.maximum_version = version
        self.sock = context.wrap_socket(self.sock, server_hostname="127.0.0.1")

    def principal(self):
        body = {"renewers": [], "max_lifetime_ms": -1, "owner_principal_type": None,
                "owner_principal_name": None}  # fmt: skip
        return self.ask(CREATE_TOKEN, 2, body)["principal_name"]


def brokers(peer):
    return peer.ask(METADATA, 1, {"topics": []})["brokers"]


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_a_listener_speaks_tls(server, authority, version):
    with (
        serve(config=texts(server, authority)) as running,
        TlsPeer(running.bootstrap[0], authority, version=version) as peer,
    ):
        assert len(brokers(peer)) == 1
        assert peer.principal() == "ANONYMOUS"


def test_large_answers_and_requests_pass(server, authority):
    """More than sockets and TLS records take at once, both ways."""
    with (
        serve(config=texts(server, authority)) as running,
        TlsPeer(running.bootstrap[0], authority) as peer,
    ):
        peer.ask(METADATA, 4, {"topics": [{"name": "t"}], "allow_auto_topic_creation": True})
        records = build(2, [b"x" * 900_000], timestamp=1)
        body = {
            "acks": -1, "timeout_ms": 1000, "transactional_id": None,
            "topic_data": [{"name": "t", "partition_data": [{"index": 0, "records": records}]}],
        }  # fmt: skip
        for _ in range(5):
            row = peer.ask(PRODUCE, 7, body)["responses"][0]["partition_responses"][0]
            assert row["error_code"] == 0
        partition = {"partition": 0, "fetch_offset": 0, "partition_max_bytes": 1 << 30}
        fetch = {"max_wait_ms": 0, "min_bytes": 1, "max_bytes": 1 << 30,
                 "topics": [{"topic": "t", "partitions": [partition]}]}  # fmt: skip
        row = peer.ask(1, 4, fetch)["responses"][0]["partitions"][0]
        assert len(row["records"]) > 4_500_000


def test_who_speaks_no_tls_is_hung_up_on(server, authority):
    with serve(config=texts(server, authority)) as running:
        with Peer(running.bootstrap[0]) as peer:
            peer.send(METADATA, 1, 1, {"topics": []})
            said = peer.take(1 << 16)
            assert said[:1] in (b"", b"\x15")  # nothing, or a TLS alert
        with TlsPeer(running.bootstrap[0], authority) as peer:
            assert brokers(peer)


def refused(bootstrap, authority, certificate=None):
    """Whether such a client is hung up on, in the handshake or before its first answer."""
    try:
        with TlsPeer(bootstrap, authority, certificate) as peer:
            peer.send(METADATA, 1, 1, {"topics": []})
            return peer.frame() is None
    except (ssl.SSLError, ConnectionError):
        return True


@pytest.mark.parametrize("rule", [None, RULES])
def test_a_certificate_says_who_a_client_is(server, authority, alice, rule):
    more = {"ssl.client.auth": "required", "ssl.principal.mapping.rules": rule or "DEFAULT"}
    with serve(config=texts(server, authority) | more) as running:
        with TlsPeer(running.bootstrap[0], authority, alice) as peer:
            name = peer.principal()
            assert name == "alice" if rule else name.startswith("CN=Alice,OU=Testing cert #")
        assert refused(running.bootstrap[0], authority)


def test_a_certificate_that_is_asked_for_need_not_come(server, authority, alice):
    more = {"ssl.client.auth": "requested", "ssl.principal.mapping.rules": RULES}
    with serve(config=texts(server, authority) | more) as running:
        with TlsPeer(running.bootstrap[0], authority, alice) as peer:
            assert peer.principal() == "alice"
        with TlsPeer(running.bootstrap[0], authority) as peer:
            assert peer.principal() == "ANONYMOUS"


def test_who_no_rule_knows_is_not_let_in(server, authority, alice):
    more = {"ssl.client.auth": "required", "ssl.principal.mapping.rules": "RULE:^CN=Bob$/b/"}
    with serve(config=texts(server, authority) | more) as running:
        assert refused(running.bootstrap[0], authority, alice)


def test_a_strangers_certificate_is_refused(server, authority):
    strange = trustme.CA().issue_cert("eve@example.org")
    more = {"ssl.client.auth": "required"}
    with serve(config=texts(server, authority) | more) as running:
        assert refused(running.bootstrap[0], authority, strange)


def test_sasl_over_tls(server, authority, alice):
    """Who a client is, SASL says there, whatever certificate it shows."""
    more = {
        "sasl.enabled.mechanisms": "PLAIN",
        "sasl.mechanism.inter.broker.protocol": "PLAIN",
        "listener.name.sasl_ssl.plain.sasl.jaas.config": JAAS["PLAIN"],
        "listener.name.sasl_ssl.ssl.client.auth": "requested",
    }
    with (
        serve(config=texts(server, authority, "SASL_SSL") | more) as running,
        TlsPeer(running.bootstrap[0], authority, alice) as peer,
    ):
        peer.ask(HANDSHAKE, 1, {"mechanism": "PLAIN"})
        assert peer.ask(AUTHENTICATE, 2, {"auth_bytes": GOOD})["error_code"] == 0
        assert peer.principal() == "alice"


def pkcs12_store(folder, server, password=b"secret"):
    chain = [load_pem_x509_certificate(each.bytes()) for each in server.cert_chain_pems]
    key = load_pem_private_key(server.private_key_pem.bytes(), None)
    data = pkcs12.serialize_key_and_certificates(
        b"server", key, chain[0], chain[1:], BestAvailableEncryption(password)
    )
    path = folder / "server.p12"
    path.write_bytes(data)
    return str(path)


@pytest.mark.parametrize("kind", ["PKCS12", "JKS"])  # Java reads PKCS12 where JKS is said, too
def test_stores_are_files(server, authority, tmp_path, kind):
    config = {
        "listeners": "SSL://127.0.0.1:0",
        "security.inter.broker.protocol": "SSL",
        "ssl.keystore.type": kind,
        "ssl.keystore.location": pkcs12_store(tmp_path, server),
        "ssl.keystore.password": "secret",
    }
    with serve(config=config) as running, TlsPeer(running.bootstrap[0], authority) as peer:
        assert brokers(peer)
    with pytest.raises(ValueError, match="neither a PKCS12 store of this password"):
        serve(config=config | {"ssl.keystore.password": "wrong"})


def test_pem_files(server, authority, tmp_path):
    path = tmp_path / "server.pem"
    server.private_key_and_cert_chain_pem.write_to_path(str(path))
    config = {
        "listeners": "SSL://127.0.0.1:0",
        "security.inter.broker.protocol": "SSL",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(path),
    }
    with serve(config=config) as running, TlsPeer(running.bootstrap[0], authority) as peer:
        assert brokers(peer)


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"ssl.keystore.key": None}, "private key is not specified"),
        (
            {"ssl.keystore.key": None, "ssl.keystore.certificate.chain": None},
            "ssl.keystore.location",
        ),
        ({"ssl.keystore.certificate.chain": None}, "certificate chain is not specified"),
        ({"ssl.keystore.type": "JKS"}, "only for PEM, but key store type is JKS."),
        ({"ssl.keystore.key": "none"}, "Invalid PEM keystore configs"),
        ({"ssl.client.auth": "maybe"}, "String must be one of"),
        ({"ssl.enabled.protocols": "SSLv3"}, "ssl.enabled.protocols=SSLv3 is not obeyed"),
        ({"ssl.engine.factory.class": "a.B"}, "ssl.engine.factory.class is not obeyed"),
        ({"ssl.cipher.suites": "NONE_OF_ALL"}, "ssl.cipher.suites"),
        ({"ssl.truststore.certificates": "none"}, "At least one certificate expected"),
        ({"ssl.principal.mapping.rules": "RULE:x"}, "Invalid rule"),
    ],
)
def test_what_cannot_be_obeyed_is_refused_in_one_line(server, authority, config, words):
    settings = texts(server, authority) | config
    with pytest.raises(ValueError) as refused:
        serve(config={name: value for name, value in settings.items() if value is not None})
    assert words in str(refused.value) and "\n" not in str(refused.value)


def test_a_plain_listener_beside_it_stays_plain(server, authority):
    config = texts(server, authority) | {
        "listeners": "PLAINTEXT://127.0.0.1:0,SSL://127.0.0.1:0",
        "security.inter.broker.protocol": "PLAINTEXT",
    }
    with serve(config=config) as running:
        with Peer(running.listeners["PLAINTEXT"][0]) as peer:
            assert brokers(peer)
        with TlsPeer(running.listeners["SSL"][0], authority) as peer:
            (broker,) = brokers(peer)
            assert f"127.0.0.1:{broker['port']}" == running.listeners["SSL"][0]


def test_who_says_goodbye_is_let_go(server, authority):
    """With its own goodbye, for which clients wait (asyncio's for thirty seconds)."""
    with serve(config=texts(server, authority)) as running:
        peer = TlsPeer(running.bootstrap[0], authority)
        assert brokers(peer)
        peer.sock.unwrap().close()


def test_a_handshake_that_never_ends_disturbs_nobody(server, authority):
    with serve(config=texts(server, authority)) as running:
        host, _, port = running.bootstrap[0].rpartition(":")
        silent = socket.create_connection((host, int(port)), PATIENCE_S)
        silent.sendall(b"\x16\x03\x01")
        with TlsPeer(running.bootstrap[0], authority) as peer:
            assert brokers(peer)
        silent.close()


@pytest.mark.parametrize(
    ("subject", "name"),
    [
        (((("countryName", "US"),), (("commonName", "a"),)), "CN=a,C=US"),
        (((("commonName", 'a,b+c"d\\e<f>g;h=i'),),), r"CN=a\,b\+c\"d\\e\<f\>g\;h\=i"),
        (((("serialNumber", "12"),), (("commonName", "a"),)), "CN=a,2.5.4.5=#13023132"),
        (((("title", "Dr"),),), "2.5.4.12=#0c024472"),
        (((("commonName", "#a"),),), r"CN=\#a"),
        (((("commonName", " a "),),), "CN=\\ a\\ "),
        (((("commonName", "a"), ("userId", "b")),), "CN=a+UID=b"),
        (
            ((("emailAddress", "me@x"), ), (("commonName", "a"),)),
            "CN=a,1.2.840.113549.1.9.1=#16046d654078",
        ),
    ],
)  # fmt: skip
def test_a_name_is_written_as_java_writes_it(subject, name):
    assert distinguished_name(subject) == name


@pytest.mark.parametrize(
    ("text", "name", "user"),
    [
        (None, "CN=a,O=b", "CN=a,O=b"),
        (r"RULE:^CN=(.*?),OU=ServiceUsers.*$/$1/,DEFAULT", "CN=kafka,OU=ServiceUsers,O=x", "kafka"),
        (r"RULE:^CN=(.*?),OU=(.*?)$/$1@$2/U,DEFAULT", "CN=a,OU=b", "A@B"),
        (r"RULE:^CN=(.*?)$/$1@$4/L", "CN=Ab", "ab@$4"),
        (r"RULE:^CN=(.*?)$/$12/", "CN=a", "a2"),
        (r"RULE:^no$/x/, RULE:^CN=.*$/one/", "CN=a", "one"),
        (r"RULE:^CN=(.*)\/(.*)$/$2/", "CN=a/b", "b"),
    ],
)
def test_rules_name_users(text, name, user):
    mapped = next(found for rule in rules(text) if (found := rule.apply(name)) is not None)
    assert mapped == user
