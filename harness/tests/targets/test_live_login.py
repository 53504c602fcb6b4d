"""Real Kafka with a listener of every kind is judged as on its plain one, whoever logs in how.

By day one broker of 4.3 is asked in every way, and refuses what it should in words. By night 2.8,
3.9 and 4.3 are judged by whole suites, each way with the verdicts that the plain listener gets.
"""

from __future__ import annotations

import collections
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
import trustme
from cryptography import x509
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    load_pem_private_key,
    pkcs12,
)

from touchstone.harness.model.target import Shape
from touchstone.harness.targets import parse, probe, reach
from touchstone.harness.tests.clients.programs import wait_for
from touchstone.harness.tests.targets.secured import LISTENERS, SECURED, Secured, written
from touchstone.reference_impl.client.admin.credentials import ScramMechanism, ScramUpsertion
from touchstone.reference_impl.io.client import Client
from touchstone.reference_impl.tests.client.security.listeners import (
    MECHANISMS,
    PASSWORD,
    USER,
    sasl_settings,
)

pytestmark = [pytest.mark.slow, pytest.mark.live, pytest.mark.java, pytest.mark.maven]
WAYS = [*((one, mechanism) for one in SECURED for mechanism in MECHANISMS), ("SSL", "mTLS")]
SUITES = ("produce", "fetch", "rebalance", "transactions")
STORE = "store-secret"
PATIENCE_S = 900


@contextmanager
def kafka(release: str, folder: Path) -> Iterator[Secured]:
    """One broker of this release; its keys are in PKCS12, which every release reads alike."""
    target = parse(f"kafka@{release}")
    if reason := target.available():
        pytest.skip(f"not run: {reason}")
    authority = trustme.CA()
    keys, trusted = folder / "server.p12", folder / "trusted.pem"
    keys.write_bytes(as_pkcs12(authority.issue_cert("127.0.0.1")))
    authority.cert_pem.write_to_path(str(trusted))
    config = {
        "listeners": ",".join(f"{each}://127.0.0.1:0" for each in LISTENERS),
        "listener.name.ssl.ssl.client.auth": "required",
        "connection.failed.authentication.delay.ms": "10",
        **sasl_settings(*SECURED),
        "ssl.keystore.type": "PKCS12", "ssl.keystore.location": str(keys),
        "ssl.keystore.password": STORE, "ssl.key.password": STORE,
        "ssl.truststore.type": "PEM", "ssl.truststore.location": str(trusted),
    }  # fmt: skip
    endpoint = target.start(Shape(config=config))
    try:
        found = {"PLAINTEXT": endpoint.bootstrap, **endpoint.listeners}
        where = {name: "{}:{}".format(*found[name][0]) for name in LISTENERS}
        broker = Secured(where, authority)
        with Client(where["PLAINTEXT"]) as client:
            for mechanism in (ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512):
                made = ScramUpsertion(USER, mechanism, PASSWORD.encode(), b"salt of sixteen.")
                client.admin.alter_user_scram_credentials([made]).all()
        wait_for(
            lambda: all(lets_in(broker, "SASL_PLAINTEXT", each) for each in MECHANISMS[1:3]),
            lambda: "the broker has not heard of its users yet",
        )
        yield broker
    finally:
        reach.log_in(reach.logins(), None)
        target.stop()


def as_pkcs12(leaf: trustme.LeafCert) -> bytes:
    key = load_pem_private_key(leaf.private_key_pem.bytes(), None)
    chain = [x509.load_pem_x509_certificate(each.bytes()) for each in leaf.cert_chain_pems]
    sealed = BestAvailableEncryption(STORE.encode())
    return pkcs12.serialize_key_and_certificates(b"own", key, chain[0], chain[1:] or None, sealed)


def lets_in(broker: Secured, listener: str, mechanism: str) -> bool:
    target = broker.target(listener, broker.properties(listener, mechanism))
    return target.available() is None


@pytest.fixture(scope="module")
def broker(tmp_path_factory) -> Iterator[Secured]:
    with kafka("4.3", tmp_path_factory.mktemp("keys")) as found:  # 6 s
        yield found


@pytest.mark.parametrize(("listener", "mechanism"), WAYS)
def test_every_way_leads_to_the_same_broker(broker, listener, mechanism):
    assert lets_in(broker, listener, mechanism)
    address = broker.address(listener)
    assert probe.metadata(address).brokers == {0: address}
    versions = probe.api_versions(address)
    assert versions == probe.api_versions(broker.address("PLAINTEXT"))


@pytest.mark.parametrize(
    ("listener", "like", "how", "words"),
    [
        ("SASL_SSL", "SASL_SSL", {"password": "wr0ng"}, "Invalid username or password"),
        ("SASL_PLAINTEXT", None, {}, "the listener wants SASL (PLAIN, "),
        ("SASL_SSL", "SSL", {}, "(security.protocol=SASL_SSL)"),
        ("SSL", None, {}, "what answers there wants TLS: give --command-config FILE"),
        ("SASL_SSL", "SASL_PLAINTEXT", {}, "a listener with TLS wants security.protocol=SASL_SSL"),
        ("SASL_PLAINTEXT", "SASL_SSL", {}, "does the listener speak TLS at all?"),
        ("PLAINTEXT", "SASL_PLAINTEXT", {}, "a listener without SASL wants security.protocol="),
        ("PLAINTEXT", "SSL", {}, "does the listener speak TLS at all?"),
        ("SSL", "SASL_SSL", {}, "ssl.keystore.location names the certificate to show"),
    ],
)
def test_what_does_not_fit_is_one_line(broker, listener, like, how, words):
    properties = None if like is None else broker.properties(like, **how)
    said = broker.target(listener, properties).available()
    assert words in said
    assert "\n" not in said


def verdicts(address: str, folder: Path, properties: Mapping[str, str]) -> dict[str, str]:
    """What each case comes to, by a run of its own."""
    path = written(folder, properties)
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--pyargs"),
            *(f"touchstone.suites.{suite}" for suite in SUITES),
            *("--target", address, "--newest", "--command-config", str(path)),
            *("--results", str(folder / "results"), "--run", "one"),
        ],
        cwd=folder, capture_output=True, text=True, timeout=PATIENCE_S,
    )  # fmt: skip
    assert done.returncode in (0, 1, 3), done.stdout + done.stderr
    (rows,) = (folder / "results" / "one").glob("*.jsonl")
    found = (json.loads(line) for line in rows.read_text().splitlines())
    return {row["case"]: row["verdict"] for row in found if "verdict" in row}


@pytest.mark.nightly  # three quarters of an hour; by day a broker is asked in every way
@pytest.mark.timeout(PATIENCE_S * len(WAYS))
@pytest.mark.parametrize("release", ["2.8", "3.9", "4.3"])
def test_suites_have_the_verdicts_of_the_plain_listener(release, tmp_path):
    with kafka(release, tmp_path) as broker:
        seen = {}
        for listener, mechanism in [("PLAINTEXT", ""), *WAYS]:
            folder = tmp_path / f"{listener}-{mechanism}"
            folder.mkdir()
            plain = {"security.protocol": "PLAINTEXT"}
            told = broker.properties(listener, mechanism) if mechanism else plain
            seen[listener, mechanism] = verdicts(broker.where[listener], folder, told)
    expected = seen.pop(("PLAINTEXT", ""))
    assert collections.Counter(expected.values())["CONFORMS"] > 100
    others = {
        way: {case: found[case] for case in found if found[case] != expected.get(case)}
        for way, found in seen.items()
    }
    assert others == dict.fromkeys(seen, {})
