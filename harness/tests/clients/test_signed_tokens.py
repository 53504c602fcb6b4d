"""Signed tokens on listeners of real Kafka and of ours: the same conversations, the same answers.

What is recorded in reference_impl/tests/security is asked of real Kafka again. Keys over HTTP come
from the test's own server, by a third listener.

Sources: KIP-768; observed on 3.9.2 and 4.3.1.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from touchstone.harness.targets import parse
from touchstone.harness.targets.ports import free_ports
from touchstone.harness.tests.clients.programs import PATIENCE_S
from touchstone.harness.tests.clients.test_secure_kafka import answers, until
from touchstone.reference_impl.io.client import Client
from touchstone.reference_impl.io.server import serve
from touchstone.reference_impl.tests.security import signed_conversations
from touchstone.reference_impl.tests.security.bearer_conversations import first
from touchstone.reference_impl.tests.security.conversations import (
    PLAINTEXT,
    SASL,
    SHORT,
    Peer,
    SocketWire,
    held,
)
from touchstone.reference_impl.tests.security.key_endpoint import Endpoint
from touchstone.reference_impl.tests.security.signed_conversations import (
    ALLOWED,
    HANDLER,
    JAAS,
    KEYS,
    MECHANISM,
)
from touchstone.reference_impl.tests.security.signed_tokens import jwks, signed, without

RECORDED = Path(signed_conversations.__file__).parent / "recorded"
FETCHED = "FETCHED"
_URL = "sasl.oauthbearer.jwks.endpoint.url"
_KAFKA = [pytest.mark.live, pytest.mark.java, pytest.mark.maven]
pytestmark = [pytest.mark.slow, pytest.mark.timeout(4 * PATIENCE_S)]
CLUSTERS = [
    pytest.param((target, release), id=f"{target}@{release}", marks=marks)
    for target, marks in (("reference", []), ("kafka", _KAFKA))
    for release in ("3.9", "4.3")
]


class Secured(NamedTuple):
    release: str
    ports: dict[str, int]  # by listener
    file: Path
    endpoint: Endpoint

    def lets_in(self, listener: str, token: str) -> bool:
        wire = SocketWire(self.ports[listener])
        peer = Peer(wire, self.release, {})
        peer.ask("SaslHandshake", 1, {"mechanism": MECHANISM})
        answer = peer.authenticate(first(token))
        wire.close()
        assert answer["error_code"] == 0
        return not answer["auth_bytes"]


@pytest.fixture(scope="module", params=CLUSTERS)
def cluster(request, tmp_path_factory) -> Iterator[Secured]:
    target, release = request.param
    if target == "kafka" and (reason := parse(f"kafka@{release}").available()):
        pytest.skip(f"not run: {reason}")
    folder = tmp_path_factory.mktemp("signed")
    file = folder / "jwks.json"
    file.write_text(jwks(*KEYS), encoding="utf-8")
    started = of_kafka if target == "kafka" else of_ours
    with Endpoint(jwks("rsa")) as endpoint:
        settings = signed_conversations.settings(f"file:{file}")
        prefix = f"listener.name.{FETCHED.lower()}."
        settings |= {
            f"{prefix}oauthbearer.sasl.jaas.config": JAAS,
            f"{prefix}oauthbearer.sasl.server.callback.handler.class": HANDLER,
            f"{prefix}oauthbearer.{_URL}": endpoint.url,
            ALLOWED: f"{settings[_URL]},{endpoint.url}",
        }
        with started(release, settings, folder) as ports:
            yield Secured(release, ports, file, endpoint)


@contextlib.contextmanager
def of_ours(release: str, settings: dict[str, str], folder: Path) -> Iterator[dict[str, int]]:
    names = (PLAINTEXT, SASL, SHORT, FETCHED)
    settings |= {
        "listeners": ",".join(f"{name}://127.0.0.1:0" for name in names),
        "listener.security.protocol.map": protocols(names),
    }
    with serve(release=release, config=settings) as cluster:
        yield {name: int(at[0].rpartition(":")[2]) for name, at in cluster.listeners.items()}


@contextlib.contextmanager
def of_kafka(release: str, settings: dict[str, str], folder: Path) -> Iterator[dict[str, int]]:
    """The launcher makes the list of URLs the JVM's property that it is there."""
    names = (PLAINTEXT, SASL, SHORT, FETCHED)
    controller, *found = free_ports(1 + len(names))
    ports = dict(zip(names, found, strict=True))
    advertised = ",".join(f"{name}://127.0.0.1:{port}" for name, port in ports.items())
    settings |= {
        "listeners": f"{advertised},CONTROLLER://127.0.0.1:{controller}",
        "advertised.listeners": advertised,
        "listener.security.protocol.map": f"{protocols(names)},CONTROLLER:{PLAINTEXT}",
        "inter.broker.listener.name": PLAINTEXT,
    }
    command = [
        *(sys.executable, "-m", "touchstone.harness.targets.launch", "kafka", release),
        *("--node", "1", "--port", str(ports[PLAINTEXT]), "--controller-port", str(controller)),
        *("--folder", str(folder)),
        *(word for pair in settings.items() for word in ("--set", "=".join(pair))),
    ]
    log = folder / "started.txt"
    with log.open("w") as out:
        child = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
    try:
        with Client(f"127.0.0.1:{ports[PLAINTEXT]}") as client:
            until(lambda: child.poll() is not None or answers(client))
        assert child.poll() is None, log.read_text()
        yield ports
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait(PATIENCE_S)


def protocols(names: tuple[str, ...]) -> str:
    return ",".join(f"{name}:{PLAINTEXT if name == PLAINTEXT else SASL}" for name in names)


def test_what_is_recorded_is_answered(cluster):
    recorded = json.loads((RECORDED / f"signed-{cluster.release}.json").read_text())
    by_port = {port: name for name, port in cluster.ports.items()}
    now = int(time.time())
    found = {
        one.name: held(one, lambda name: SocketWire(cluster.ports[name]), cluster.release, by_port)
        for one in signed_conversations.conversations(now)
    }
    assert {name: each for name, each in found.items() if each != recorded[name]} == {}
    assert found.keys() == recorded.keys()


def test_an_unknown_key_has_the_endpoint_read_again(cluster):
    endpoint, new = cluster.endpoint, signed(without("aud"), kid="rsa-2")
    assert cluster.lets_in(FETCHED, signed(without("aud")))
    assert not cluster.lets_in(FETCHED, new)
    endpoint.text = jwks("rsa", "rsa-2")
    until(read_again(cluster))
    until(lambda: cluster.lets_in(FETCHED, new))
    endpoint.text = jwks("ec-256")
    until(read_again(cluster))
    until(lambda: not cluster.lets_in(FETCHED, new))
    assert cluster.lets_in(FETCHED, signed(without("aud"), kid="ec-256", alg="ES256"))


def read_again(cluster: Secured) -> Callable[[], bool]:
    """Whether the endpoint was asked, for a key that nobody knows: what was read within 0.3 s is
    not read again, and for the same id within a minute neither.
    """
    before, names = cluster.endpoint.count, iter(range(1_000_000))

    def done() -> bool:
        nobody = signed(without("aud"), kid=f"{before}-{next(names)}", by="rsa")
        assert not cluster.lets_in(FETCHED, nobody)
        return cluster.endpoint.count > before

    return done


def test_an_endpoint_that_fails_leaves_the_keys(cluster):
    endpoint = cluster.endpoint
    endpoint.text, endpoint.status = jwks("rsa"), 200
    until(read_again(cluster))
    until(lambda: cluster.lets_in(FETCHED, signed(without("aud"))))
    for text, status in (("", 503), ("nothing", 200), ("{}", 200)):
        endpoint.text, endpoint.status = text, status
        until(read_again(cluster))
        assert cluster.lets_in(FETCHED, signed(without("aud")))
    endpoint.text, endpoint.status = jwks("rsa"), 200


def test_a_file_that_changed_is_read_again_by_4_3_alone(cluster):
    again = cluster.release == "4.3"
    before = cluster.file.read_text()
    cluster.file.write_text(jwks("ec-256"))
    os.utime(cluster.file, (1_000_000_000, 1_000_000_000))
    try:
        assert cluster.lets_in(SASL, signed()) is not again
        cluster.file.unlink()
        assert cluster.lets_in(SASL, signed(kid="ec-256", alg="ES256")) is not again
    finally:
        cluster.file.write_text(before)
    assert cluster.lets_in(SASL, signed())


def test_settings_are_told_as_kafka_tells_them(cluster):
    """A name with two prefixes is unknown to Kafka as it is to us, so its value is a secret."""
    with Client(f"127.0.0.1:{cluster.ports[PLAINTEXT]}") as client:
        broker = client.ask("Metadata", {"topics": []})["brokers"][0]["node_id"]
        body = {
            "resources": [
                {"resource_type": 4, "resource_name": str(broker), "configuration_keys": None}
            ],
            "include_synonyms": False,
            "include_documentation": False,
        }
        (result,) = client.ask("DescribeConfigs", body)["results"]
    rows = {row["name"]: row for row in result["configs"]}
    listener, skew = f"listener.name.{SASL.lower()}.", "sasl.oauthbearer.clock.skew.seconds"
    secret = rows[f"{listener}oauthbearer.{skew}"]
    assert (secret["value"], secret["is_sensitive"]) == (None, True)
    for name, value in {
        _URL: f"file:{cluster.file}",
        skew: "0",
        f"{listener}sasl.oauthbearer.expected.audience": "nobody",
        f"{listener}oauthbearer.sasl.server.callback.handler.class": HANDLER,
        "sasl.oauthbearer.scope.claim.name": "scope",
    }.items():
        told = rows[name]
        assert (told["value"], told["is_sensitive"], told["read_only"]) == (value, False, True)
