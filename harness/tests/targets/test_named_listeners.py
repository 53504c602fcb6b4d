"""A shape names listeners; who starts a cluster has them, and steps reach them by name."""

from __future__ import annotations

import pytest

from touchstone.harness import driver
from touchstone.harness.checkers import check_all, listeners
from touchstone.harness.model import profiles
from touchstone.harness.model.placeholders import Unresolved
from touchstone.harness.model.scenario import Ask, Open, Raw, Scenario
from touchstone.harness.model.steps import api_versions, metadata
from touchstone.harness.model.target import Endpoint, Setting, Shape, listener_names
from touchstone.harness.targets import facts, matrix, parse, settings

RELEASES = [release.name for release in matrix.releases()]
HERE = ("127.0.0.1", 9092)
SASL = "SASL_PLAINTEXT"
TOKEN = b"\0alice\0alice-secret"


def shape(release: str) -> Shape:
    return Shape(1, config=profiles.PROFILES["sasl"].subjects(release))


def rendered(name: str) -> dict[str, str]:
    release = matrix.release(name)
    listening = settings.Listening(HERE, HERE, named={SASL: ("127.0.0.1", 9094)})
    keeper = settings.MetadataAddress("127.0.0.1:2181", 0, HERE, ("127.0.0.1", 9093))
    return settings.broker(
        release, shape(name), 0, data="/data", listening=listening, keeper=keeper
    )


@pytest.mark.parametrize("release", RELEASES)
def test_a_shape_s_listeners_are_where_the_target_puts_them(release: str) -> None:
    assert listener_names(shape(release).settings) == (SASL,)
    got = rendered(release)
    assert f"{SASL}://127.0.0.1:9094" in got["listeners"]
    assert got["advertised.listeners"] == f"PLAINTEXT://127.0.0.1:9092,{SASL}://127.0.0.1:9094"
    assert f"{SASL}:{SASL}" in got["listener.security.protocol.map"].split(",")


def test_without_further_listeners_nothing_is_said_of_any() -> None:
    assert listener_names({}) == ()
    got = settings.added(matrix.release("4.3"), Shape())
    assert SASL not in got["listener.security.protocol.map"]


@pytest.mark.parametrize("release", RELEASES)
def test_only_1_0_reads_its_users_from_a_file(release: str) -> None:
    text = settings.login_modules(matrix.release(release), shape(release).settings)
    assert text.startswith("KafkaServer {\n") == (release == "1.0")
    assert settings.login_modules(matrix.release(release), {}) == ""


def test_a_cluster_tells_its_listeners() -> None:
    told = {
        "listeners": Setting(f"PLAINTEXT://:9092,{SASL}://:9094"),
        "advertised.listeners": Setting(None),
    }
    assert facts.listeners(told, "there")[SASL] == (("there", 9094),)
    told["advertised.listeners"] = Setting(f"{SASL}://[::1]:1")
    assert facts.listeners(told, "there") == {SASL: (("::1", 1),)}
    assert facts.listeners({}, "there") == {}


def test_a_listener_that_is_not_there_is_no_address() -> None:
    step = Open("alice", listener=SASL)
    found = driver.run(Scenario([step]), Endpoint((HERE,)), nonce="n")
    assert [event.direction for event in found.events] == ["unresolved"]
    with pytest.raises(Unresolved):
        driver.runner.by_listener(Endpoint((HERE,), listeners={SASL: (HERE,)}), SASL, 1)


@pytest.fixture(scope="module")
def endpoint():
    target = parse("reference@4.3")
    yield target.start(shape("4.3"))
    target.stop()


def run(endpoint: Endpoint, *steps: object):
    return driver.run(Scenario(steps), endpoint, nonce="n")


def test_checkers_know_that_a_sasl_listener_serves_nobody_at_first(endpoint: Endpoint) -> None:
    at_sasl = Open("alice", listener=SASL)
    told = api_versions(version=3, connection="alice", name="versions")
    found = run(endpoint, at_sasl, told, metadata(connection="alice", name="metadata"))
    assert found.by_label["metadata"].ending is not None
    assert check_all(found) == []
    assert listeners.unauthenticated(found) >= {1, 2}
    bare = run(endpoint, Open("alice"), told, metadata(connection="alice", name="metadata"))
    assert listeners.unauthenticated(bare) == frozenset()


def test_a_token_of_its_own_is_no_broken_frame(endpoint: Endpoint) -> None:
    handshake = Ask("SaslHandshake", 0, {"mechanism": "PLAIN"}, "handshake", "alice")
    token = Raw(TOKEN, "token", "alice", expect="answer")
    at_sasl = Open("alice", listener=SASL)
    found = run(endpoint, at_sasl, handshake, token, metadata(connection="alice", name="metadata"))
    assert found.by_label["token"].received.raw == b""
    assert found.answers["metadata"]["brokers"] and check_all(found) == []
