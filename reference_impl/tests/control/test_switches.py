"""Each planted defect of the control side changes what a peer sees; without it nothing changes."""

import pytest

from touchstone.reference_impl.tests.control.node import Peer, brokers
from touchstone.reference_impl.wire.apis import API

RELEASES = ["2.8", "4.3"]
CREATE, DELETE, METADATA = 19, 20, 3


def create(peer, **fields):
    row = {"name": "a", "num_partitions": 1, "replication_factor": 1} | fields
    top = API[CREATE].latest if peer.broker.persona.serves(CREATE, API[CREATE].latest) else 4
    body = {"topics": [row], "timeout_ms": 9, "validate_only": fields.get("validate_only", False)}
    return peer.ask(CREATE, top, body)["topics"][0]["error_code"]


def peer(release, *switches, count=1, racks=()):
    made = brokers(release, count, racks=racks, switches=switches)
    return Peer(made[0])


def topics_of(asked):
    return asked.broker.cluster.topics


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize(("switches", "there"), [((), False), (("validate-only-creates",), True)])
def test_validate_only(release, switches, there):
    asked = peer(release, *switches)
    body = {"topics": [{"name": "a", "num_partitions": 1, "replication_factor": 1}]}
    asked.ask(CREATE, 4, body | {"timeout_ms": 9, "validate_only": True})
    assert ("a" in topics_of(asked)) == there


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize(("switches", "code"), [((), 40), (("configs-not-validated",), 0)])
def test_configs(release, switches, code):
    assert create(peer(release, *switches), configs=[{"name": "x", "value": "1"}]) == code


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize(("switches", "same"), [((), False), (("topic-id-reused",), True)])
def test_topic_ids(release, switches, same):
    asked, ids = peer(release, *switches), []
    for _ in range(2):
        create(asked)
        ids.append(topics_of(asked)["a"].id)
        asked.ask(DELETE, 1, {"topic_names": ["a"], "timeout_ms": 9})
    assert (ids[0] == ids[1]) == same


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize(
    ("switches", "there"), [((), False), (("auto-creation-not-asked-for",), True)]
)
def test_auto_creation(release, switches, there):
    asked = peer(release, *switches)
    body = {"topics": [{"name": "a"}], "allow_auto_topic_creation": False}
    asked.ask(METADATA, 4, body)
    assert ("a" in topics_of(asked)) == there


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize(("switches", "spread"), [((), True), (("racks-ignored",), False)])
def test_racks(release, switches, spread):
    racks = ("a", "a", "a", "b")
    asked = peer(release, *switches, count=4, racks=racks)
    create(asked, num_partitions=12, replication_factor=2)
    rows = [p.replicas for p in topics_of(asked)["a"].partitions]
    assert all({racks[broker] for broker in row} == {"a", "b"} for row in rows) == spread
