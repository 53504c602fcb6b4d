"""Keys of listeners change while their broker runs: each answer is one that 4.3.1 gave."""

from __future__ import annotations

from pathlib import Path

import pytest
import trustme

from touchstone.reference_impl.io.server import serve
from touchstone.reference_impl.tests.io.test_serving import Peer
from touchstone.reference_impl.tests.security.test_tls import TlsPeer, pem
from touchstone.reference_impl.wire.errors import ErrorCode as E

METADATA, ALTER, DESCRIBE = 3, 44, 32
BROKER, SET, DELETE = 4, 0, 1
PREFIX = "listener.name.ssl."
KEYS = f"{PREFIX}ssl.keystore.location"
FAILED = (
    "Invalid value org.apache.kafka.common.config.ConfigException: Validation of dynamic config"
    " update of SSLFactory failed: org.apache.kafka.common.{} for configuration Invalid dynamic"
    " configuration"
)
INVALID = "errors.InvalidConfigurationException: {}"
DIFFERS = "config.ConfigException: Keystore {0} does not match:  existing={{alias=kafka, {1}}}, new"
OTHERS = "config.ConfigException: Keystore SubjectAltNames do not match:  existing={alias=kafka, "
SUBJECT = 'OU=unit, O="a, b"'


@pytest.fixture(scope="module")
def authority():
    return trustme.CA()


class Stores:
    """Key stores and trust stores as files, each with what it was made of."""

    def __init__(self, folder: Path, authority: trustme.CA) -> None:
        self.folder, self.authority = folder, authority

    def keys(self, name: str, *hosts: str, organization: str = "a, b") -> str:
        made = self.authority.issue_cert(
            *hosts, organization_name=organization, organization_unit_name="unit"
        )
        chain = "\n".join(pem(each) for each in made.cert_chain_pems)
        path = self.folder / name
        path.write_text(f"{pem(made.private_key_pem)}\n{chain}")
        return str(path)

    def trusted(self) -> str:
        path = self.folder / "trusted"
        path.write_text(pem(self.authority.cert_pem))
        return str(path)


@pytest.fixture
def stores(tmp_path, authority):
    return Stores(tmp_path, authority)


@pytest.fixture
def running(stores):
    config = {
        "listeners": "PLAINTEXT://127.0.0.1:0,SSL://127.0.0.1:0",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": stores.keys("first", "127.0.0.1"),
    }
    with serve(config=config) as cluster:
        yield cluster


def alter(cluster, changes, name="0", *, validate_only=False):
    """(code, message) of IncrementalAlterConfigs of the broker; None deletes."""
    rows = [
        {"name": key, "config_operation": DELETE if value is None else SET, "value": value}
        for key, value in changes.items()
    ]
    resource = {"resource_type": BROKER, "resource_name": name, "configs": rows}
    with Peer(cluster.listeners["PLAINTEXT"][0]) as peer:
        body = {"resources": [resource], "validate_only": validate_only}
        row = peer.ask(ALTER, 0, body)["responses"][0]
    return row["error_code"], row["error_message"]


def connect(cluster, authority):
    return TlsPeer(cluster.listeners["SSL"][0], authority)


def shown(peer):
    """The serial number of the certificate that the broker has shown."""
    return peer.sock.getpeercert()["serialNumber"]


def test_new_connections_have_the_new_keys_and_those_that_stand_go_on(running, stores, authority):
    with connect(running, authority) as before:
        assert alter(running, {KEYS: stores.keys("second", "127.0.0.1")}) == (E.NONE, None)
        with connect(running, authority) as after:
            assert shown(after) != shown(before)
            for peer in (before, after):
                assert peer.ask(METADATA, 1, {"topics": []})["brokers"]
        assert alter(running, {KEYS: None}) == (E.NONE, None)
        with connect(running, authority) as again:
            assert shown(again) == shown(before)


def test_what_is_only_validated_changes_nothing(running, stores, authority):
    with connect(running, authority) as before:
        wanted = {KEYS: stores.keys("second", "127.0.0.1")}
        assert alter(running, wanted, validate_only=True) == (E.NONE, None)
        with connect(running, authority) as after:
            assert shown(after) == shown(before)


def test_a_file_that_was_replaced_is_read_when_the_listener_is_altered(running, stores, authority):
    with connect(running, authority) as before:
        stores.keys("first", "127.0.0.1", "localhost")
        with connect(running, authority) as unread:
            assert shown(unread) == shown(before)
        assert alter(running, {f"{PREFIX}ssl.client.auth": "none"}) == (E.NONE, None)
        with connect(running, authority) as after:
            assert shown(after) != shown(before)


def test_keys_that_were_altered_outlive_their_broker(running, stores, authority):
    assert alter(running, {KEYS: stores.keys("second", "127.0.0.1")}) == (E.NONE, None)
    with connect(running, authority) as before:
        number = shown(before)
    running.stop_broker(0)
    running.start_broker(0)
    with connect(running, authority) as after:
        assert shown(after) == number


def test_protocols_are_those_that_a_listener_began_with(running, authority):
    assert alter(running, {f"{PREFIX}ssl.enabled.protocols": "TLSv1.2"}) == (E.NONE, None)
    with connect(running, authority) as peer:
        assert peer.sock.version() == "TLSv1.3"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda s: {KEYS: "none"}, INVALID.format("Failed to load PEM SSL keystore none")),
        (
            lambda s: {f"{PREFIX}ssl.key.password": "secret"},
            INVALID.format("Failed to load PEM SSL keystore "),
        ),
        (
            lambda s: {f"{PREFIX}ssl.keystore.type": "PKCS12"},
            INVALID.format("SSL key store is specified, but key store password is not specified."),
        ),
        (
            lambda s: {f"{PREFIX}ssl.keystore.password": "secret"},
            INVALID.format("SSL key store password cannot be specified with PEM format, only key"),
        ),
        (
            lambda s: {KEYS: s.keys("other", "127.0.0.1", organization="c")},
            DIFFERS.format("DistinguishedName", f"DN={SUBJECT}"),
        ),
        (lambda s: {KEYS: s.keys("other", "10.0.0.1")}, OTHERS + "SAN=[[7, 127.0.0.1]]}, new="),
        (
            lambda s: {f"{PREFIX}ssl.truststore.location": s.trusted(),
                       f"{PREFIX}ssl.truststore.type": "PEM"},
            "config.ConfigException: Cannot add SSL truststore to an existing listener for which no"
            " truststore was configured.",
        ),
    ],
)  # fmt: skip
def test_keys_that_cannot_be_had_are_refused(running, stores, authority, change, said):
    with connect(running, authority) as before:
        code, message = alter(running, change(stores))
        head, tail = FAILED.split("{}")
        assert code == E.INVALID_REQUEST
        assert message.startswith(head + said) and message.endswith(tail)
        with connect(running, authority) as after:
            assert shown(after) == shown(before)


def test_settings_that_end_are_looked_at_as_those_that_begin(running, stores, authority):
    """Behind the last one of a listener stand keys for fewer names."""
    assert alter(running, {KEYS: stores.keys("second", "127.0.0.1", "localhost")})[0] == E.NONE
    with connect(running, authority) as before:
        code, message = alter(running, {KEYS: None})
        assert code == E.INVALID_REQUEST
        assert OTHERS + "SAN=[[2, localhost], [7, 127.0.0.1]]}, new=" in message
        with connect(running, authority) as after:
            assert shown(after) == shown(before)


def test_keys_are_one_brokers(running, stores):
    code, message = alter(running, {KEYS: stores.keys("second", "127.0.0.1")}, name="")
    assert (code, message) == (
        E.INVALID_REQUEST,
        "Cannot update these configs at default cluster level, broker id must be specified:"
        f" [{KEYS}]",
    )
    assert alter(running, {f"{PREFIX}max.connections": "100"}, name="") == (E.NONE, None)


def test_settings_of_a_listener_are_described_with_what_stands_behind_them(running, stores):
    """Which 4.3.1 does: read-only, a secret where nobody knows the setting."""
    path = stores.keys("second", "127.0.0.1")
    jaas, odd = f"{PREFIX}plain.sasl.jaas.config", f"{PREFIX}odd"
    assert alter(running, {KEYS: path, jaas: "x", odd: "x"}) == (E.NONE, None)
    resource = {"resource_type": BROKER, "resource_name": "0", "configuration_keys": None}
    with Peer(running.listeners["PLAINTEXT"][0]) as peer:
        body = {"resources": [resource], "include_synonyms": True, "include_documentation": False}
        entries = peer.ask(DESCRIBE, 3, body)["results"][0]["configs"]
    found = {each["name"]: each for each in entries if each["name"].startswith(PREFIX)}
    assert set(found) == {KEYS, jaas, odd}
    keys = found[KEYS]
    assert (keys["value"], keys["config_type"], keys["read_only"]) == (path, 2, True)
    assert [each["source"] for each in keys["synonyms"]] == [2, 4]
    assert [(found[each]["value"], found[each]["is_sensitive"]) for each in (jaas, odd)] == [
        (None, True), (None, True),
    ]  # fmt: skip
    assert [found[each]["config_type"] for each in (jaas, odd)] == [9, 0]


def test_a_store_that_cannot_be_read_ends_the_start_with_its_reason(tmp_path):
    bad = tmp_path / "bad"
    bad.write_text("nonsense")
    config = {
        "listeners": "SSL://127.0.0.1:0", "security.inter.broker.protocol": "SSL",
        "ssl.keystore.type": "PEM", "ssl.keystore.location": str(bad),
    }  # fmt: skip
    with pytest.raises(ValueError, match=f"Failed to load PEM SSL keystore {bad}: "):
        serve(config=config)
