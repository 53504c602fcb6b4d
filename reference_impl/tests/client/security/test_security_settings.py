"""A client's security by Java's names: what is read, what is refused, and who is told of what."""

from __future__ import annotations

import logging

import pytest

from touchstone.reference_impl.client.configs.connection_config import connection_config
from touchstone.reference_impl.client.configs.parsing import ConfigException
from touchstone.reference_impl.client.configs.share_consumer_config import share_consumer_config
from touchstone.reference_impl.client.cores import Cores
from touchstone.reference_impl.client.security.security_settings import SecuritySettings
from touchstone.reference_impl.io.client import Client

from .listeners import PACKAGE, jaas, login


def settings(config, release="4.3"):
    return SecuritySettings.of(connection_config(config, release))


def test_without_a_word_nothing_is_secured():
    assert settings({}) == (None, None)


def test_what_the_protocol_asks_for_is_read():
    found = settings(login("PLAIN", "sasl_ssl") | {"ssl.cipher.suites": "a, b"})
    assert found.sasl.mechanism == "PLAIN"
    assert (found.tls.checks_host, found.tls.suites) == (True, ("a", "b"))
    assert found.tls.versions == ("TLSv1.2", "TLSv1.3")
    assert settings({"security.protocol": "SSL"}, "1.0").tls.checks_host is False  # KIP-294


SASL = {"security.protocol": "SASL_PLAINTEXT"}
SSL = {"security.protocol": "SSL"}
REFUSED = [
    (SASL, "sasl.mechanism=GSSAPI is not obeyed, so it is refused"),
    (SASL | {"sasl.mechanism": "PLAIN"}, "Could not find a 'KafkaClient' entry in the JAAS"),
    (login("PLAIN") | {"sasl.jaas.config": "x"}, "Login module control flag not specified in JAAS"),
    (login("PLAIN") | {"sasl.jaas.config": "x required;"}, "names x, which is not obeyed"),
    (
        login("PLAIN") | {"sasl.jaas.config": f"{PACKAGE}.plain.PlainLoginModule required;"},
        "PLAIN needs a username and a password",
    ),
    (
        login("OAUTHBEARER") | {"sasl.jaas.config": jaas("PLAIN")},
        "OAUTHBEARER is served by .*OAuthBearerLoginModule",
    ),
    (login("PLAIN") | {"sasl.login.class": str}, "sasl.login.class is not obeyed"),
    (SSL | {"ssl.engine.factory.class": str}, "ssl.engine.factory.class is not obeyed"),
    (SSL | {"ssl.endpoint.identification.algorithm": "ldaps"}, "=ldaps is not obeyed"),
    (SSL | {"ssl.enabled.protocols": "TLSv1"}, "ssl.enabled.protocols=TLSv1 is not obeyed"),
    (
        SSL | {"ssl.truststore.certificates": "x"},
        "SSL trust store certs can be specified only for PEM, but trust store type is JKS.",
    ),
    (SSL | {"ssl.keystore.location": "x"}, "SSL key store is specified, but key store password"),
    (
        SSL | {"ssl.keystore.type": "PEM", "ssl.keystore.key": "x"},
        "SSL private key is specified, but certificate chain is not specified.",
    ),
]


@pytest.mark.parametrize(("config", "words"), REFUSED)
def test_what_is_not_obeyed_is_refused_by_name(config, words):
    with pytest.raises(ConfigException, match=words):
        settings(config)


def test_a_store_that_is_none_is_refused_when_the_client_is_made(tmp_path):
    store = tmp_path / "trusted.jks"
    store.write_bytes(b"\xfe\xed\xfe\xed")
    config = SSL | {"ssl.truststore.location": str(store), "ssl.truststore.password": "x"}
    with pytest.raises(
        ConfigException, match=r"keystore was tampered with, or password was incorrect"
    ):
        Client("localhost:1", config)
    missing = SSL | {"ssl.truststore.type": "PEM", "ssl.truststore.location": "nowhere"}
    with pytest.raises(ConfigException, match="Failed to load PEM SSL keystore nowhere"):
        Client("localhost:1", missing)


def test_a_secret_is_in_no_message():
    config = login("PLAIN", password="hush")
    with pytest.raises(ConfigException) as refused:
        settings(config | {"sasl.mechanism": "GSSAPI"})
    assert "hush" not in str(refused.value)


# --- faces ----------------------------------------------------------------------------------------


def cores(config=None):
    return Cores("a:1", client_id="c", config=config, randrange=lambda n: 0, randbytes=bytes)


FACES = {
    "producer": lambda cores, config: cores.producer(config, None, {}),
    "consumer": lambda cores, config: cores.consumer((), None, (), "classic", config, None, {}),
    "share consumer": lambda cores, config: cores.share_consumer("g", (), config, None, {}),
}


@pytest.mark.parametrize("face", FACES)
def test_a_face_has_the_connections_of_its_client(face):
    secured = cores(login("PLAIN"))
    FACES[face](secured, None)
    FACES[face](secured, login("PLAIN"))
    with pytest.raises(ConfigException, match="for configuration security.protocol: it is of the"):
        FACES[face](cores(), login("PLAIN"))
    with pytest.raises(ConfigException, match="Client"):
        FACES[face](secured, {"sasl.mechanism": "SCRAM-SHA-256"})


@pytest.mark.parametrize("face", FACES)
def test_a_face_warns_of_names_that_nobody_knows(face, caplog):
    with caplog.at_level(logging.WARNING):
        FACES[face](cores(login("PLAIN")), {"nobody.knows": "1", "client.id": "c"})
    assert caplog.messages == [
        "These configurations '[nobody.knows]' were supplied but are not used yet."
    ]


def test_an_admin_client_follows_the_config_of_its_client_and_warns_once(caplog):
    found = cores({"request.timeout.ms": "7", "nobody.knows": "1"})
    with caplog.at_level(logging.WARNING):
        assert [found.admin().timeout_ms, found.admin().timeout_ms] == [7, 7]
    assert len(caplog.messages) == 1
    assert cores().admin().timeout_ms == 30_000


def test_a_share_consumer_follows_java_s_names():
    config = {
        "group.id": "s",
        "max.poll.records": "7",
        "share.acknowledgement.mode": "explicit",
        "share.acquire.mode": "RECORD_LIMIT",
    }
    core = cores().share_consumer(None, ("t",), config, None, {})
    assert (core.group, core.max_poll_records, core.explicit) == ("s", 7, True)
    assert core._limits["share_acquire_mode"] == 1


def test_a_share_consumer_may_not_set_what_a_share_group_has_not():
    config = {
        "bootstrap.servers": "a:1",
        "isolation.level": "read_committed",
        "group.protocol": "x",
    }
    with pytest.raises(ConfigException) as refused:
        share_consumer_config(config)
    words = "isolation.level, group.protocol cannot be set when using a share group."
    assert str(refused.value) == words


def test_the_client_id_of_the_config_is_that_of_the_requests():
    with Client("localhost:1", {"client.id": "me"}) as client:
        assert client._network.client_id == "me"
