"""Somebody else's broker is taken as it is, and asked for nothing that it cannot give."""

from __future__ import annotations

from dataclasses import replace

import pytest

from touchstone.harness.model.target import Shape, Target, Unavailable
from touchstone.harness.targets import described, diagnosis, facts, parse, probe
from touchstone.harness.targets.external import ExternalTarget
from touchstone.harness.targets.liars import LIARS, LyingServer
from touchstone.reference_impl.io.server import serve
from touchstone.reference_impl.wire import headers
from touchstone.reference_impl.wire.apis import API

LONG_S = 60.0  # for what happens at once, on any machine
RANGES = [{"api_key": 18, "min_version": 0, "max_version": 3}]


def somebody(brokers=1, racks="", first=0):
    """A script that answers the two questions of `probe`; racks are letters."""
    bodies = {
        "SaslHandshake": {"error_code": 34, "mechanisms": []},
        "ApiVersions": {"error_code": 0, "api_keys": RANGES},
        "Metadata": {
            "brokers": [
                {
                    "node_id": first + n, "host": "127.0.0.1", "port": 9000 + first + n,
                    "rack": racks[n] if racks else None,
                }
                for n in range(brokers)
            ],
            "controller_id": first,
            "topics": [],
        },
    }  # fmt: skip

    def answer(frame):
        header = headers.decode_request(frame).header
        body = bodies[API[header.key].name]
        return headers.encode_response(header.key, header.version, header.correlation_id, body)

    return lambda: answer


def test_it_satisfies_the_protocol():
    target = ExternalTarget((("127.0.0.1", 9092), ("::1", 9093)))
    assert isinstance(target, Target)
    assert (target.name, target.kind) == ("127.0.0.1:9092,::1:9093", "external")


def test_a_single_broker_is_reached_where_the_user_said():
    """Not where its metadata says: it may stand behind a proxy."""
    with LyingServer(None, somebody()) as server:
        target = ExternalTarget((server.address,))
        assert target.available() is None
        endpoint = target.start(Shape())
    assert endpoint.bootstrap == (server.address,)
    assert dict(endpoint.brokers) == {}


def test_several_brokers_are_known_by_their_metadata():
    with LyingServer(None, somebody(3)) as server:
        endpoint = ExternalTarget((server.address,)).start(Shape(3))
    assert endpoint.brokers[2] == ("127.0.0.1", 9002)


def test_brokers_are_told_by_their_ids_and_racks():
    """The scenario's broker 0 is the one with the lowest id."""
    with LyingServer(None, somebody(3, "xyz", first=5)) as server:
        endpoint = ExternalTarget((server.address,)).start(Shape(3, ("a", "b", "c")))
    assert (endpoint.ids, endpoint.racks) == ((5, 6, 7), ("x", "y", "z"))
    assert endpoint.bootstrap[0] == ("127.0.0.1", 9005)


@pytest.mark.parametrize(
    ("brokers", "racks", "shape"),
    [
        (1, "", Shape()),
        (3, "", Shape(3)),
        (3, "xxx", Shape(3)),
        (3, "", Shape()),
        (1, "r", Shape()),
        (4, "", Shape(1)),
        (2, "rr", Shape(2, ("a", "a"))),
        (3, "xyz", Shape(3, ("a", "b", "c"))),
        (3, "xxy", Shape(3, ("b", "b", "a"))),
        (1, "", Shape(config={"num.partitions": 2})),
    ],
)
def test_a_shape_that_it_has_is_given_whatever_it_is_called(brokers, racks, shape):
    """Settings are not looked at here: `pace` says what they cost."""
    with LyingServer(None, somebody(brokers, racks)) as server:
        endpoint = ExternalTarget((server.address,)).start(shape)
    assert len(endpoint.bootstrap) == shape.brokers
    assert endpoint.settings == {}, "it does not offer DescribeConfigs"


@pytest.mark.parametrize(
    ("brokers", "racks", "shape", "reason"),
    [
        (3, "", Shape(4), "4 brokers are wanted, .* has 3"),
        (4, "", Shape(3), "3 brokers are wanted, .* has 4"),
        (3, "", Shape(3, ("a", "b", "c")), "racks like a, b, c are wanted, .* has none, none"),
        (3, "xxy", Shape(3, ("a", "b", "c")), "racks like a, b, c are wanted, .* has x, x, y"),
        (3, "xyz", Shape(3, ("a", "a", "b")), "racks like a, a, b are wanted, .* has x, y, z"),
        (3, "xyz", Shape(3), "brokers without racks are wanted"),
        (3, "xxy", Shape(3), "brokers without racks are wanted"),
    ],
)
def test_a_shape_that_it_does_not_have_is_unavailable(brokers, racks, shape, reason):
    with (
        LyingServer(None, somebody(brokers, racks)) as server,
        pytest.raises(Unavailable, match=reason),
    ):
        ExternalTarget((server.address,)).start(shape)


def test_its_release_is_the_one_that_advertises_the_same():
    with LyingServer(None, somebody()) as server:
        target = ExternalTarget((server.address,))
        assert target.advertised() == {18: (0, 3)}
        assert target.release is None


def test_nobody_there_is_a_reason():
    with LyingServer(None, somebody()) as server:
        target = ExternalTarget((server.address,))
    reason = target.available()
    assert reason is not None and f":{server.address[1]}" in reason
    with pytest.raises(Unavailable):
        target.start(Shape())


@pytest.mark.parametrize("name", ["always-closes", "garbage"])
def test_who_does_not_speak_kafka_is_a_target_all_the_same(name, monkeypatch):
    for asks in (diagnosis.of, diagnosis.login_wanted):
        monkeypatch.setattr(asks, "__defaults__", (0.05,))
    with LyingServer(LIARS[name], somebody()) as server:
        target = ExternalTarget((server.address,))
        assert target.start(Shape()).bootstrap == (server.address,)
        assert target.release is None
        with pytest.raises(Unavailable, match="does not tell its brokers"):
            target.start(Shape(3))


@pytest.mark.parametrize(
    ("before", "after", "elections", "lost"),
    [(3, [3], 0, False), (3, [0], 0, False), (3, [-1, 3], 1, False), (3, [-1, -1], 1, True)],
)
def test_a_broker_that_led_coordinators_may_lead_none_after_faults(
    monkeypatch, before, after, elections, lost
):
    """Then it is elected; where that does not help its cluster is started anew: claims are promised
    that it coordinates.
    """
    told, elected = iter([before, *after]), []
    monkeypatch.setattr(
        facts, "internal_topics", lambda *asked: {"__consumer_offsets": (50, next(told))}
    )
    monkeypatch.setattr(
        facts, "elect_preferred", lambda address, counts, *asked: elected.append(counts)
    )
    with serve(brokers=3) as cluster:
        target = parse(",".join(cluster.bootstrap))
        shape = Shape(3)
        assert target.start(shape).internal == {"__consumer_offsets": (50, before)}
        assert target.coordinates_no_more(shape) is lost
        assert target.start(shape).internal == {"__consumer_offsets": (50, after[-1])}
    assert elected == [{"__consumer_offsets": 50}] * elections


def test_before_kraft_the_second_of_several_brokers_is_one_that_coordinates(monkeypatch):
    """A topic of one partition is led by one broker; the controller is the first already."""
    led = {0: -1, 1: 0}
    monkeypatch.setattr(
        facts, "internal_topics", lambda at, node, *asked: {"__consumer_offsets": (1, led[node])}
    )
    look = probe.metadata
    monkeypatch.setattr(probe, "metadata", lambda *asked: replace(look(*asked), controller=2))
    with serve(brokers=3, release="2.2") as cluster:
        endpoint = parse(",".join(cluster.bootstrap)).start(Shape(3))
    assert endpoint.ids == (2, 1, 0) and not endpoint.coordinates_nothing


def test_internal_topics_of_one_partition_are_led_by_the_second_broker():
    with serve(brokers=3, release="4.3") as cluster:
        target = parse(",".join(cluster.bootstrap))
        shape = Shape(3, (), dict.fromkeys(facts.COUNTS.values(), "1"))
        target.make_internal_topics(shape, shape.settings)
        made = facts.internal_topics(target.addresses[0], 1, target.advertised(), LONG_S)
    assert made == {"__consumer_offsets": (1, 0), "__transaction_state": (1, 0)}


@pytest.mark.parametrize(
    ("release", "racks", "shape", "first"),
    [
        ("1.0", "", Shape(3), 2),
        ("1.0", "a,b,c", Shape(3, ("x", "y", "z")), 2),
        ("1.0", "a,a,b", Shape(3, ("x", "x", "y")), 0),  # where racks let it be
        ("1.0", "a,b,", Shape(3, ("x", "y", "")), 0),
        ("1.0", ",a,b", Shape(3, ("x", "y", "")), 2),
        ("4.3", ",a,b", Shape(3, ("x", "y", "")), 1),
        ("4.3", "", Shape(3), 0),
    ],
)
def test_before_kraft_the_first_of_several_brokers_is_the_controller(
    monkeypatch, release, racks, shape, first
):
    """Others refuse what only it can do. Under KRaft any broker hands it on."""
    look = probe.metadata
    monkeypatch.setattr(probe, "metadata", lambda *asked: replace(look(*asked), controller=2))
    named = racks.split(",") if racks else ()
    with serve(brokers=3, release=release, racks=named) as cluster:
        endpoint = parse(",".join(cluster.bootstrap)).start(shape)
    assert endpoint.ids[0] == first and sorted(endpoint.ids) == [0, 1, 2]


def test_internal_topics_are_not_made_where_nobody_asks_for_a_coordinator(monkeypatch):
    """A hundred partitions of three replicas would move whenever a broker is harmed."""
    asked = []
    monkeypatch.setattr(facts, "internal_topics", lambda *asked_: asked.append(asked_) or {})
    with serve(brokers=3, release="2.2") as cluster:
        target = parse(",".join(cluster.bootstrap))
        target.coordinators = False
        assert not target.start(Shape(3)).internal
        assert not target.coordinates_no_more(Shape(3))
    assert not asked


@pytest.mark.parametrize(
    ("settings", "made"),
    [
        ({}, False),
        ({"broker.session.timeout.ms": 6000}, False),
        ({"offsets.topic.num.partitions": 1}, True),
        ({"transaction.state.log.num.partitions": 1}, True),
        # These claims place the logs of their coordinators themselves, in an order of their own.
        ({"offsets.topic.num.partitions": 1, described.SHARE_STATES: 1}, False),
    ],
)
def test_internal_topics_are_made_for_claims_that_leave_them_to_us(settings, made):
    assert described.asks_for_coordinators(Shape(3, config=settings)) is made
