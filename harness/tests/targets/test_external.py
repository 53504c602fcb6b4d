"""Somebody else's broker is taken as it is, and asked for nothing that it cannot give."""

from __future__ import annotations

import pytest

from harness.target import Shape, Target, Unavailable
from harness.targets.external import ExternalTarget
from harness.targets.liars import LIARS, LyingServer
from reference_impl.wire import headers
from reference_impl.wire.apis import API

RANGES = [{"api_key": 18, "min_version": 0, "max_version": 3}]


def somebody(brokers=1, rack=None):
    """A script that answers the two questions of `probe`."""
    bodies = {
        "ApiVersions": {"error_code": 0, "api_keys": RANGES},
        "Metadata": {
            "brokers": [
                {"node_id": n, "host": "127.0.0.1", "port": 9000 + n, "rack": rack}
                for n in range(brokers)
            ],
            "controller_id": 0,
            "topics": [],
        },
    }

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


@pytest.mark.parametrize(
    ("brokers", "rack", "shape", "reason"),
    [
        (1, None, Shape(), None),
        (3, None, Shape(3), None),
        (2, "a", Shape(2, ("a", "a")), None),
        (3, None, Shape(), "3 brokers without racks; the case is about 1 broker without racks"),
        (1, "a", Shape(), "1 broker with racks a; the case is about 1 broker without racks"),
        (4, None, Shape(3), "4 brokers without racks; the case is about 3 brokers without racks"),
    ],
)
def test_another_shape_is_not_compared(brokers, rack, shape, reason):
    with LyingServer(None, somebody(brokers, rack)) as server:
        found = ExternalTarget((server.address,)).unlike(shape)
    assert found is None if reason is None else found.endswith(reason)


@pytest.mark.parametrize(
    "shape, reason",
    [
        (Shape(4), "has 3 brokers, 4 are wanted"),
        (Shape(3, ("a", "b", "c")), "has racks"),
        (Shape(config={"num.partitions": 2}), "cannot be configured"),
    ],
)
def test_a_shape_that_it_does_not_have_is_unavailable(shape, reason):
    with LyingServer(None, somebody(3)) as server, pytest.raises(Unavailable, match=reason):
        ExternalTarget((server.address,)).start(shape)


def test_racks_that_it_has_are_fine():
    with LyingServer(None, somebody(2, rack="r")) as server:
        endpoint = ExternalTarget((server.address,)).start(Shape(2, ("r", "r")))
    assert len(endpoint.brokers) == 2


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
def test_who_does_not_speak_kafka_is_a_target_all_the_same(name):
    with LyingServer(LIARS[name], somebody()) as server:
        target = ExternalTarget((server.address,))
        assert target.start(Shape()).bootstrap == (server.address,)
        assert target.release is None
        with pytest.raises(Unavailable, match="unknown number of brokers"):
            target.start(Shape(3))
