"""The handlers of group requests on a broker without sockets: offsets, listings, placement, age.

OFFS-01 to OFFS-24, GROUP-03, GROUP-31, per persona where releases differ.
"""

from __future__ import annotations

import pytest

from touchstone.reference_impl.broker.effects import Connection, Reply
from touchstone.reference_impl.broker.personas.releases import RELEASES
from touchstone.reference_impl.group.placement import partition_for
from touchstone.reference_impl.tests.broker.one_broker import CLOSED, WAITING, OneBroker
from touchstone.reference_impl.wire.apis import by_name
from touchstone.reference_impl.wire.embedded.consumer_protocol import encode_subscription
from touchstone.reference_impl.wire.errors import ErrorCode as E
from touchstone.reference_impl.wire.headers import decode_response, encode_request

DAY = 24 * 60 * 60 * 1000
SUBSCRIPTION = encode_subscription(0, {"topics": ["t"], "user_data": None})


def ready(release: str = "4.3", **how) -> OneBroker:
    config = {"group.initial.rebalance.delay.ms": "0", **how.pop("config", {})}
    one = OneBroker(release, **how, **config)
    one.topic("t", 2)
    one.ask("FindCoordinator", 1, {"key": "g", "key_type": 0})
    return one


def commit(one: OneBroker, version: int, *rows, group="g", generation=-1, member="", **how):
    partitions = [
        {"partition_index": index, "committed_offset": offset, "committed_metadata": metadata}
        for index, offset, metadata in rows
    ]
    body = {
        "group_id": group,
        "generation_id_or_member_epoch": generation,
        "member_id": member,
        "topics": [{"name": how.pop("topic", "t"), "partitions": partitions}],
        **how,
    }
    (answer,) = one.ask("OffsetCommit", version, body)["topics"]
    return [row["error_code"] for row in answer["partitions"]]


def fetch(one: OneBroker, version: int, *indexes, group="g", topic="t"):
    body = {"group_id": group, "topics": [{"name": topic, "partition_indexes": list(indexes)}]}
    (answer,) = one.ask("OffsetFetch", version, body)["topics"]
    return [(row["committed_offset"], row["error_code"]) for row in answer["partitions"]]


def joined(one: OneBroker, *, kind="consumer", metadata=SUBSCRIPTION) -> str:
    """A member alone in its group, with its assignment."""
    body = {
        "group_id": "g",
        "session_timeout_ms": 10_000,
        "rebalance_timeout_ms": 60_000,
        "member_id": "",
        "protocol_type": kind,
        "protocols": [{"name": "range", "metadata": metadata}],
    }
    answer = one.ask("JoinGroup", 2, body)
    if answer == WAITING:
        answer = OneBroker.read(one.brokers[0].tick(one.now), "JoinGroup", 2)
    member = answer["member_id"]
    plan = [{"member_id": member, "assignment": b"all"}]
    sync = {"group_id": "g", "generation_id": 1, "member_id": member, "assignments": plan}
    assert one.ask("SyncGroup", 0, sync)["assignment"] == b"all"
    return member


@pytest.mark.parametrize("release", RELEASES)
def test_offsets_are_kept_by_group_and_partition(release):
    one = ready(release)
    assert commit(one, 3, (0, 5, "m"), (1, 6, "")) == [E.NONE, E.NONE]
    assert fetch(one, 3, 0, 1) == [(5, E.NONE), (6, E.NONE)]
    assert fetch(one, 3, 0, group="other") == [(-1, E.NONE)]


@pytest.mark.parametrize("release", ["1.0", "2.2", "2.8"])
def test_version_0_keeps_offsets_apart(release):
    one = ready(release)
    assert commit(one, 0, (0, 5, "")) == [E.NONE]
    assert fetch(one, 0, 0, 1) == [(5, E.NONE), (-1, E.UNKNOWN_TOPIC_OR_PARTITION)]
    assert fetch(one, 1, 0) == [(-1, E.NONE)]
    assert commit(one, 0, (0, 5, ""), group="") == [E.UNKNOWN_SERVER_ERROR]


def test_version_0_is_refused_without_zookeeper():
    one = ready("3.9")
    assert commit(one, 0, (0, 5, "")) == [E.UNSUPPORTED_VERSION]
    assert fetch(one, 1, 0) == [(-1, E.NONE)]


def test_what_cannot_be_stored_does_not_keep_the_rest_from_it():
    one = ready("2.8")
    codes = commit(one, 3, (0, 5, "x" * 4097), (1, 6, "x" * 4096), (7, 1, ""))
    assert codes == [E.OFFSET_METADATA_TOO_LARGE, E.NONE, E.UNKNOWN_TOPIC_OR_PARTITION]
    assert fetch(one, 3, 0, 1) == [(-1, E.NONE), (6, E.NONE)]
    assert commit(one, 3, (0, 1, ""), topic="nowhere") == [E.UNKNOWN_TOPIC_OR_PARTITION]


@pytest.mark.parametrize(
    ("version", "code"), [(8, E.ILLEGAL_GENERATION), (9, E.GROUP_ID_NOT_FOUND)]
)
def test_a_commit_from_before_a_group_was_forgotten(version, code):
    assert commit(ready(), version, (0, 5, ""), generation=3, member="x") == [code]


def test_batched_fetches_by_topic_id():
    one = ready()
    topic_id = one.cluster.topics["t"].id
    commit(one, 9, (0, 5, "m"))
    asked = [
        {"topic_id": topic_id, "partition_indexes": [0, 1]},
        {"topic_id": bytes(15) + b"\x09", "partition_indexes": [0]},
    ]
    groups = [{"group_id": "g", "topics": asked}, {"group_id": "g", "topics": None}]
    first, second = one.ask("OffsetFetch", 10, {"groups": groups})["groups"]
    codes = [[p["error_code"] for p in t["partitions"]] for t in first["topics"]]
    assert codes == [[E.NONE, E.NONE], [E.UNKNOWN_TOPIC_ID]]
    (everything,) = second["topics"]
    assert everything["topic_id"] == topic_id
    assert [p["committed_offset"] for p in everything["partitions"]] == [5]


def test_a_deleted_topic_takes_its_offsets_along_even_if_it_comes_back():
    one = ready()
    commit(one, 3, (0, 5, ""))
    one.cluster.delete("t")
    one.topic("t", 2)
    assert fetch(one, 3, 0) == [(-1, E.NONE)]


def test_offsets_live_as_long_as_the_retention_after_the_group_became_empty():
    one = ready()
    commit(one, 3, (0, 5, ""))
    member = joined(one)
    one.ask("LeaveGroup", 0, {"group_id": "g", "member_id": member})
    for days in (6.9, 0.2):
        one.now += int(days * DAY)
        one.brokers[0].tick(one.now)
        kept = fetch(one, 3, 0) == [(5, E.NONE)]
        assert kept == (days > 1)
    (row,) = one.ask("DescribeGroups", 0, {"groups": ["g"]})["groups"]
    assert row["group_state"] == "Dead"


def test_only_the_leader_of_its_partition_coordinates_a_group():
    one = OneBroker("4.3", brokers=2)
    one.topic("t")
    one.cluster.create("__consumer_offsets", [[0], [1]])
    groups = {partition_for(name, 2): name for name in ("a", "b", "c", "d")}
    for broker in (0, 1):
        for at, name in groups.items():
            body = {"group_id": name, "generation_id": 0, "member_id": "x"}
            peer = Connection(10 + broker)
            code = one.ask("Heartbeat", 0, body, broker=broker, connection=peer)["error_code"]
            assert code == (E.UNKNOWN_MEMBER_ID if at == broker else E.NOT_COORDINATOR)


@pytest.mark.parametrize(
    ("release", "state"), [("1.0", "AwaitingSync"), ("2.2", "CompletingRebalance")]
)
def test_the_state_between_has_two_names(release, state):
    one = ready(release)
    frame = {
        "group_id": "g",
        "session_timeout_ms": 10_000,
        "member_id": "",
        "protocol_type": "consumer",
        "protocols": [{"name": "range", "metadata": b""}],
    }
    one.ask("JoinGroup", 0, frame)
    one.brokers[0].tick(one.now)
    (row,) = one.ask("DescribeGroups", 0, {"groups": ["g"]})["groups"]
    assert row["group_state"] == state


def test_a_waiting_join_is_answered_on_its_own_connection():
    one = ready()
    member = joined(one)
    peer = Connection(2)
    body = {
        "group_id": "g",
        "session_timeout_ms": 10_000,
        "member_id": "",
        "protocol_type": "consumer",
        "protocols": [{"name": "range", "metadata": SUBSCRIPTION}],
    }
    assert one.ask("JoinGroup", 1, body, connection=peer) == WAITING
    frame = encode_request(by_name("JoinGroup").key, 1, 7, "test", body | {"member_id": member})
    effects = one.send(frame)
    assert {effect.connection for effect in effects} == {one.connection, peer}
    assert all(isinstance(effect, Reply) for effect in effects)
    (second,) = [effect for effect in effects if effect.connection is peer]
    answer = decode_response(by_name("JoinGroup").key, 1, b"".join(second.parts)).body
    assert (answer["generation_id"], answer["leader"]) == (2, member)


def test_groups_are_listed_by_state_and_type():
    one = ready()
    joined(one)
    for states, types, found in (
        ([], [], 1),
        (["stable"], ["Classic"], 1),
        (["Empty"], [], 0),
        ([], ["consumer"], 0),
    ):
        body = {"states_filter": states, "types_filter": types}
        assert len(one.ask("ListGroups", 5, body)["groups"]) == found


def test_a_group_with_members_cannot_be_deleted_and_an_empty_one_loses_its_offsets():
    one = ready()
    commit(one, 3, (0, 5, ""))
    member = joined(one)
    names = {"groups_names": ["g", "g", "nowhere"]}
    codes = [row["error_code"] for row in one.ask("DeleteGroups", 1, names)["results"]]
    assert codes == [E.NON_EMPTY_GROUP, E.GROUP_ID_NOT_FOUND]
    one.ask("LeaveGroup", 0, {"group_id": "g", "member_id": member})
    one.ask("DeleteGroups", 1, {"groups_names": ["g"]})
    assert fetch(one, 3, 0) == [(-1, E.NONE)]


def test_offsets_of_subscribed_topics_stay():
    one = ready()
    one.topic("u")
    commit(one, 3, (0, 5, ""))
    commit(one, 3, (0, 5, ""), topic="u")
    joined(one)
    topics = [{"name": name, "partitions": [{"partition_index": 0}]} for name in ("t", "u")]
    answer = one.ask("OffsetDelete", 0, {"group_id": "g", "topics": topics})
    codes = [row["error_code"] for topic in answer["topics"] for row in topic["partitions"]]
    assert codes == [E.GROUP_SUBSCRIBED_TO_TOPIC, E.NONE]
    assert fetch(one, 3, 0, topic="u") == [(-1, E.NONE)]


def test_members_of_other_protocols_keep_all_offsets():
    one = ready()
    joined(one, kind="connect", metadata=b"x")
    answer = one.ask("OffsetDelete", 0, {"group_id": "g", "topics": []})
    assert answer["error_code"] == E.NON_EMPTY_GROUP


@pytest.mark.parametrize("release", RELEASES)
def test_every_api_of_groups_is_served_in_every_version_the_release_lists(release):
    one = ready(release)
    listed = one.brokers[0].persona.broker_listener
    for key in (8, 9, 11, 12, 13, 14, 15, 16, 42, 47):
        low, high = listed.get(key, (0, -1))
        for version in range(low, high + 1):
            name = next(n for n in NAMES if by_name(n).key == key)
            body = BODIES.get(name, {})
            if name == "SyncGroup" and version >= 5:
                body = body | {"protocol_type": "consumer", "protocol_name": "range"}
            assert one.ask(name, version, body, connection=Connection(key)) != CLOSED


NAMES = (
    "OffsetCommit",
    "OffsetFetch",
    "JoinGroup",
    "Heartbeat",
    "LeaveGroup",
    "SyncGroup",
    "DescribeGroups",
    "ListGroups",
    "DeleteGroups",
    "OffsetDelete",
)
BODIES = {
    "OffsetCommit": {"group_id": "v", "topics": [{"name": "t", "partitions": []}]},
    "OffsetFetch": {"group_id": "v", "topics": [], "groups": [{"group_id": "v", "topics": []}]},
    "JoinGroup": {"group_id": "v", "session_timeout_ms": 1, "protocols": []},
    "DescribeGroups": {"groups": ["v"]},
    "DeleteGroups": {"groups_names": ["v"]},
}
