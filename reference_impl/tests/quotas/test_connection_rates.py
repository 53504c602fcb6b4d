"""New connections above their rate: who waits, who is closed, and what counts."""

from __future__ import annotations

import pytest

from touchstone.reference_impl.broker.configs.listener_settings import ListenerSettings
from touchstone.reference_impl.cluster.client_settings import entity
from touchstone.reference_impl.io.connection_rates import ConnectionRates
from touchstone.reference_impl.io.server import serve
from touchstone.reference_impl.tests.broker.one_broker import NOW, OneBroker
from touchstone.reference_impl.tests.io.test_serving import API_VERSIONS, Peer

HERE, THERE = "10.0.0.1", "10.0.0.2"
PLAIN = "PLAINTEXT"
TWO = {
    "listeners": "PLAINTEXT://:9091,CLIENTS://:9092",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CLIENTS:PLAINTEXT",
}


def rates(release="4.3", quotas=None, **config):
    one = OneBroker(release, **config)
    for ip, limit in (quotas or {}).items():
        who = entity({"ip": ip})
        one.cluster.client_settings.set_quotas(who, {"connection_creation_rate": limit})
    return _of(one)


def _of(one):
    broker = one.brokers[0]
    return ConnectionRates(broker, ListenerSettings.of(broker.config))


@pytest.mark.parametrize(
    "name", ["max.connection.creation.rate", "listener.name.plaintext.max.connection.creation.rate"]
)
def test_within_a_millisecond_of_the_formula(name):
    """Eleven in ten seconds are 1.1 in one, which is 10 % above: a second of ten."""
    made = rates(**{name: "1"})
    assert [made.accepted(PLAIN, NOW) for _ in range(11)] == [0] * 10 + [1000]
    assert rates(**{name: "2"}).accepted(PLAIN, NOW) == 0


def test_nobody_waits_longer_than_a_sample():
    made = rates(**{"max.connection.creation.rate": "1"})
    assert [made.accepted(PLAIN, NOW) for _ in range(30)][-1] == 1000
    short = rates(**{"max.connection.creation.rate": "1", "quota.window.size.seconds": "2"})
    assert [short.accepted(PLAIN, NOW) for _ in range(30)][-1] == 2000


def test_a_rate_forgets():
    made = rates(**{"max.connection.creation.rate": "1"})
    assert [made.accepted(PLAIN, NOW) for _ in range(10)][-1] == 0
    assert made.accepted(PLAIN, NOW + 11_000) == 0


def test_the_brokers_own_listener_counts_for_itself():
    made = rates(**TWO, **{"max.connection.creation.rate": "1"})
    assert [made.accepted(PLAIN, NOW) for _ in range(30)] == [0] * 30
    assert [made.accepted("CLIENTS", NOW) for _ in range(11)] == [0] * 10 + [1000]


def test_an_address_has_its_own_quota_or_everybodys():
    made = rates(quotas={None: 1.0, THERE: 2.0})
    assert [made.refused(PLAIN, HERE, NOW) for _ in range(11)] == [0] * 10 + [1000]
    assert [made.refused(PLAIN, THERE, NOW) for _ in range(11)] == [0] * 11


def test_localhost_is_an_address():
    made = rates(quotas={"localhost": 1.0})
    assert [made.refused(PLAIN, "127.0.0.1", NOW) for _ in range(11)][-1] == 1000


def test_who_is_refused_does_not_count():
    """Neither for the broker, nor for its address: eleven in ten seconds are below 1.2 in one."""
    one = OneBroker(**{"max.connection.creation.rate": "2"})
    made, who = _of(one), entity({"ip": HERE})
    one.cluster.client_settings.set_quotas(who, {"connection_creation_rate": 1.0})
    for _ in range(30):
        assert made.accepted(PLAIN, NOW) == 0
        made.refused(PLAIN, HERE, NOW)
    one.cluster.client_settings.set_quotas(who, {"connection_creation_rate": 1.2})
    assert made.refused(PLAIN, HERE, NOW) == 0


@pytest.mark.parametrize(("release", "wait"), [("2.2", 0), ("2.8", 1000), ("4.3", 1000)])
def test_rates_are_bounded_since_2_7(release, wait):
    name = "max.connection.creation.rate"
    made = rates(release, **({name: "1"} if wait else {}))
    assert [made.accepted(PLAIN, NOW) for _ in range(11)][-1] == wait


def test_a_listener_goes_on_when_its_rate_is_within(monkeypatch):
    """Who is late is served all the same, by a loop that had nothing else to wake it."""
    waits = iter([0, 20, 0])
    monkeypatch.setattr(ConnectionRates, "accepted", lambda *_: next(waits))
    with serve() as running:
        for _ in range(3):
            with Peer(running.bootstrap[0]) as peer:
                assert peer.ask(API_VERSIONS, 0, {})["error_code"] == 0


def test_who_is_refused_is_closed_unread(monkeypatch):
    monkeypatch.setattr(ConnectionRates, "refused", lambda *_: 20)
    with serve() as running, Peer(running.bootstrap[0]) as peer:
        assert peer.frame() is None
