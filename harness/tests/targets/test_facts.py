"""What a stranger tells of itself is believed, and what it does not tell stays unknown."""

from __future__ import annotations

import pytest

from touchstone.harness.model.target import Setting
from touchstone.harness.model.translation import partition_of
from touchstone.harness.targets import facts
from touchstone.harness.targets.liars import LyingServer
from touchstone.harness.targets.misbehaviour import HangUp
from touchstone.reference_impl.wire import headers
from touchstone.reference_impl.wire.apis import API

OFFERED = dict.fromkeys(range(100), (0, 12))
SECONDS = 60.0


def answering(**bodies):
    """A server of these APIs; a body may be a list of bodies, one after the other, or a function
    of the request's.
    """

    def answer(frame):
        request = headers.decode_request(frame)
        header = request.header
        body = bodies.get(API[header.key].name)
        if callable(body):
            body = body(request.body)
        if isinstance(body, list):
            body = body.pop(0) if len(body) > 1 else body[0]
        if body is None:
            raise HangUp
        return headers.encode_response(header.key, header.version, header.correlation_id, body)

    return LyingServer(None, lambda: answer)


def configs(**values):
    rows = [
        {"name": name.replace("_", "."), "value": value, "read_only": fixed, "is_sensitive": False}
        for name, (value, fixed) in values.items()
    ]
    resource = {"error_code": 0, "resource_type": 4, "resource_name": "1", "configs": rows}
    return {"results": [resource]}


def test_settings_in_force():
    with answering(DescribeConfigs=configs(a_b=("1", False), c=(None, True))) as server:
        found = facts.settings(server.address, 1, OFFERED, SECONDS)
    assert found == {"a.b": Setting("1", True), "c": Setting(None, False)}


def test_no_value_of_a_secret_is_taken_though_a_target_tells_it():
    """Ours told a private key among the synonyms, and bundles had it."""
    synonyms = [{"name": "key", "value": "PRIVATE", "source": 4}]
    secret = {"name": "key", "value": "PRIVATE", "read_only": True, "is_sensitive": True,
              "synonyms": synonyms}  # fmt: skip
    rows = configs()
    rows["results"][0]["configs"].append(secret)
    with answering(DescribeConfigs=rows) as server:
        found = facts.settings(server.address, 1, OFFERED, SECONDS)
    assert found["key"].written == ((4, None),) and "PRIVATE" not in repr(found)


@pytest.mark.parametrize("offered", [OFFERED, {}])
def test_who_does_not_tell_has_none(offered):
    with answering() as server:
        assert facts.settings(server.address, 1, offered, SECONDS) == {}


COORDINATED = {"error_code": 0, "node_id": 1, "host": "h", "port": 1}
BEING_MADE = COORDINATED | {"error_code": facts.NOT_AVAILABLE}


def topics(**leaders):
    """Metadata of internal topics, whose partitions are led by these."""
    rows = [
        {
            "error_code": 0, "name": f"__{name}", "is_internal": True,
            "partitions": [
                {
                    "error_code": 0, "partition_index": number, "leader_id": node,
                    "replica_nodes": [], "isr_nodes": [],
                }
                for number, node in enumerate(nodes)
            ],
        }
        for name, nodes in leaders.items()
    ]  # fmt: skip
    return {"brokers": [], "controller_id": 1, "topics": rows}


def internal(settings=facts.NO_SETTINGS, prefix="", **bodies):
    with answering(**bodies) as server:
        return facts.internal_topics(server.address, 2, OFFERED, SECONDS, prefix, settings)


@pytest.mark.parametrize(
    ("consumer_offsets", "transaction_state", "places"),
    [
        ([1, 2, 2, 1], [2, 1, 2, 1], (2, 2)),  # a name has one hash
        ([1, 2, 2, 1], [2], (1, 0)),  # which all hashes leave by one
        ([1, 2, 2, 1], [2, 1], (2, 0)),  # an odd one would be in partition 1 of the second topic
        ([1, 2, 2, 1], [2, 1, 2], (1, 0)),
    ],
)
def test_the_homes_are_the_first_partitions_that_the_broker_leads_and_one_name_may_have(
    consumer_offsets, transaction_state, places
):
    told = topics(consumer_offsets=consumer_offsets, transaction_state=transaction_state)
    found = internal(FindCoordinator=COORDINATED, Metadata=told)
    assert found == {
        "__consumer_offsets": (len(consumer_offsets), places[0]),
        "__transaction_state": (len(transaction_state), places[1]),
    }


def test_without_a_common_one_there_is_none():
    told = topics(consumer_offsets=[1, 2], transaction_state=[2, 1])
    found = internal(FindCoordinator=COORDINATED, Metadata=told)
    assert found == {"__consumer_offsets": (2, -1), "__transaction_state": (2, -1)}


def hidden():
    """Metadata of the internal topics for a user who may not describe them."""
    told = topics(consumer_offsets=[], transaction_state=[])
    return told | {"topics": [row | {"error_code": facts.HIDDEN} for row in told["topics"]]}


def test_of_hidden_topics_settings_tell_the_partitions_and_coordinators_who_leads_them():
    leads = {0: [1, 2, 2, 1], 1: [2, 1]}

    def coordinator(body):
        assert body["key"].startswith("team-")
        nodes = leads[body["key_type"]]
        return COORDINATED | {"node_id": nodes[partition_of(body["key"], len(nodes))]}

    counts = {0: "4", 1: "2"}
    settings = {facts.COUNTS[name]: Setting(counts[kind]) for name, kind in facts.INTERNAL.items()}
    found = internal(settings, "team-", FindCoordinator=coordinator, Metadata=hidden())
    assert found == {"__consumer_offsets": (4, 2), "__transaction_state": (2, 0)}


def test_topics_that_may_not_be_described_have_as_many_partitions_as_kafka_gives_them():
    here = COORDINATED | {"node_id": 2}
    found = internal(FindCoordinator=here, Metadata=hidden())
    assert found == dict.fromkeys(facts.INTERNAL, (50, 0))


def test_topics_of_which_nobody_tells_anything_are_unknown():
    refused = COORDINATED | {"error_code": 30}
    assert internal(FindCoordinator=refused, Metadata=hidden()) == {}


def test_topics_that_are_being_made_are_waited_for():
    found = internal(
        FindCoordinator=[BEING_MADE, BEING_MADE, COORDINATED],
        Metadata=[topics(consumer_offsets=[-1]), topics(consumer_offsets=[2])],
    )
    assert found == {"__consumer_offsets": (1, 0)}


def test_who_makes_none_is_not_waited_for():
    assert internal(FindCoordinator=COORDINATED, Metadata=topics()) == {}
    assert internal(Metadata=topics()) == {}
    assert internal() == {}


def altered(code=0, message=None):
    row = {
        "error_code": code, "error_message": message, "resource_type": 4, "resource_name": "",
    }  # fmt: skip
    return {"responses": [row]}


@pytest.mark.parametrize(
    ("bodies", "refused"),
    [
        ({"IncrementalAlterConfigs": altered()}, None),
        ({"IncrementalAlterConfigs": altered(40, "no")}, "error 40: no"),
        ({}, "IncrementalAlterConfigs is not answered"),
    ],
)
def test_what_a_change_comes_to(bodies, refused):
    with answering(**bodies) as server:
        assert facts.alter(server.address, "", {"a": "1", "b": None}, OFFERED, SECONDS) == refused
