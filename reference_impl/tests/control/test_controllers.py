"""What several brokers, racks, settings and waiting add to the recorded single-node answers.

Facts about three nodes were observed on 2.2.1 and 2.8.2 with racks r0, r1 and none.
"""

import pytest

from touchstone.reference_impl.broker.configs.config_view import topic_defaults
from touchstone.reference_impl.broker.effects import Reply
from touchstone.reference_impl.broker.personas import PERSONAS
from touchstone.reference_impl.broker.personas.releases import RELEASES
from touchstone.reference_impl.cluster.racks import EligibleBroker, assign
from touchstone.reference_impl.group.placement import java_hash, partition_for
from touchstone.reference_impl.tests.control.node import Peer, brokers
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.headers import encode_request

CREATE, DELETE, GROW, METADATA, DESCRIBE, ALTER, COORDINATOR = 19, 20, 37, 3, 32, 33, 10
EACH = pytest.mark.parametrize("release", RELEASES)
OLD = pytest.mark.parametrize("release", ["1.0", "2.2", "2.8"])
VERSION = 2  # of CreateTopics, which all five releases serve
MIXED = "Not all brokers have rack information for replica rack aware assignment."


def topic(name, partitions=1, replication=1, assignments=()):
    return {
        "name": name,
        "num_partitions": partitions,
        "replication_factor": replication,
        "assignments": [
            {"partition_index": i, "broker_ids": list(row)} for i, row in enumerate(assignments)
        ],
        "configs": [],
    }


def create(peer, *topics, timeout=1000):
    body = {"topics": list(topics), "timeout_ms": timeout}
    return {t["name"]: t for t in peer.ask(CREATE, VERSION, body)["topics"]}


def codes(rows):
    return [row["error_code"] for row in rows]


# ------------------------------------------------------------------------------ the controller


@OLD
def test_only_the_controller_serves_topics(release):
    """TOPIC-34, TOPIC-35: each topic answers NOT_CONTROLLER, and nothing is done."""
    cluster = brokers(release, 3)
    create(Peer(cluster[0]), topic("there"))
    peer = Peer(cluster[2])
    made = create(peer, topic("new"))["new"]
    empty = "" if release == "2.8" else None
    assert (made["error_code"], made["error_message"]) == (ErrorCode.NOT_CONTROLLER, empty)
    grown = peer.ask(GROW, 0, {"topics": [{"name": "there", "count": 5}], "timeout_ms": 9})
    gone = peer.ask(DELETE, 1, {"topic_names": ["there", "none"], "timeout_ms": 9})
    assert codes(grown["results"]) == [ErrorCode.NOT_CONTROLLER]
    assert codes(gone["responses"]) == [ErrorCode.NOT_CONTROLLER] * 2
    assert [len(t.partitions) for t in cluster[0].cluster.topics.values()] == [1]


@pytest.mark.parametrize("release", ["3.9", "4.3"])
def test_kraft_brokers_forward(release):
    cluster = brokers(release, 3)
    made = create(Peer(cluster[2]), topic("new", replication=3))["new"]
    assert made["error_code"] == ErrorCode.NONE
    assert sorted(cluster[0].cluster.topics["new"].partitions[0].replicas) == [0, 1, 2]


# --------------------------------------------------------------------------------------- racks


@OLD
def test_mixed_racks_are_refused_after_the_counts(release):
    """TOPIC-13..15: RF > brokers is named first; the rack error has no code of its own."""
    peer = Peer(brokers(release, 3, racks=("r0", "r1", None))[0])
    made = create(peer, topic("a", replication=3), topic("b", replication=4))
    message = None if release == "2.8" else MIXED
    assert made["a"]["error_code"] == ErrorCode.UNKNOWN_SERVER_ERROR
    assert made["a"]["error_message"] == message
    assert made["b"]["error_code"] == ErrorCode.INVALID_REPLICATION_FACTOR


@OLD
def test_mixed_racks_do_not_touch_manual_assignments(release):
    peer = Peer(brokers(release, 3, racks=("r0", "r1", None))[0])
    made = create(peer, topic("a", -1, -1, [(2, 0), (1, 2)]))["a"]
    assert made["error_code"] == ErrorCode.NONE
    replicas = [p.replicas for p in peer.broker.cluster.topics["a"].partitions]
    assert replicas == [[2, 0], [1, 2]]


@OLD
def test_mixed_racks_stop_every_growth(release):
    peer = Peer(brokers(release, 3, racks=("r0", "r1", None))[0])
    create(peer, topic("a", -1, -1, [(0,)]))
    rows = [{"name": "a", "count": 2, "assignments": None}, {"name": "none", "count": 1}]
    answer = peer.ask(GROW, 0, {"topics": rows, "timeout_ms": 9})
    assert codes(answer["results"]) == [ErrorCode.UNKNOWN_SERVER_ERROR] * 2


@pytest.mark.parametrize(
    ("release", "code"), [("1.0", 5), ("2.2", 5), ("2.8", -1), ("3.9", 3), ("4.3", 3)]
)
def test_auto_creation_with_mixed_racks(release, code):
    """TOPIC-03 up to 2.2; 2.8 fails; KRaft takes no rack for a rack of its own."""
    peer = Peer(brokers(release, 3, racks=("r0", "r1", None))[0])
    body = {"topics": [{"name": "auto"}], "allow_auto_topic_creation": True}
    assert codes(peer.ask(METADATA, 4, body)["topics"]) == [code]
    assert ("auto" in peer.broker.cluster.topics) == (code != -1)


@OLD
def test_rack_aware_placement_is_one_of_the_rings(release):
    """TOPIC-27 through the API: the table equals the ring's for some start and shift."""
    racks = ("r1",) * 3 + ("r2",) * 3 + ("r3",) * 3
    peer = Peer(brokers(release, 9, racks=racks)[0])
    create(peer, topic("a", 12, 3))
    table = [p.replicas for p in peer.broker.cluster.topics["a"].partitions]
    candidates = [EligibleBroker(i, rack) for i, rack in enumerate(racks)]
    rings = [assign(candidates, 12, 3, start=s, shift=t) for s in range(9) for t in range(9)]
    assert table in rings


@EACH
def test_racks_are_told(release):
    peer = Peer(brokers(release, 2, racks=("east", None))[0])
    rows = peer.ask(METADATA, 1, {"topics": []})["brokers"]
    assert [(row["node_id"], row["rack"]) for row in rows] == [(0, "east"), (1, None)]


# -------------------------------------------------------------------------- settings and waiting


def test_brokers_that_are_not_there_are_waited_for():
    """TOPIC-10: 1.0 to 2.8 take them; the answer comes when the time is up, the name is taken.

    Nobody is told of the topic before it has a leader (observed on 1.0.2, 2.2.1, 2.8.2).
    """
    peer = Peer(brokers("2.2", 1)[0])
    body = {"topics": [topic("a", -1, -1, [(9,)])], "timeout_ms": 5000}
    frame = encode_request(CREATE, VERSION, 7, "e2", body)
    assert peer.broker.receive(peer.connection, frame, 1000) == []
    assert peer.broker.deadline() == 6000
    assert peer.broker.tick(5999) == []
    assert [type(effect) for effect in peer.broker.tick(6000)] == [Reply]
    row = peer.ask(METADATA, 1, {"topics": [{"name": "a"}]})["topics"][0]
    assert (row["error_code"], row["partitions"]) == (5, [])
    assert codes(peer.ask(DELETE, 0, {"topic_names": ["a"], "timeout_ms": 50})["responses"]) == [3]


@pytest.mark.parametrize(
    ("release", "expected"),
    [("1.0", [7, 3]), ("2.2", [42, 42]), ("2.8", [42, 42]), ("3.9", [42, 42]), ("4.3", [42, 42])],
)
def test_disabled_deletion(release, expected):
    peer = Peer(brokers(release, config={"delete.topic.enable": "false"})[0])
    create(peer, topic("a"))
    answer = peer.ask(DELETE, 1, {"topic_names": ["a", "none"], "timeout_ms": 50})
    assert codes(answer["responses"]) == expected
    assert "a" in peer.broker.cluster.topics


@EACH
def test_auto_creation_can_be_off(release):
    """TOPIC-02."""
    peer = Peer(brokers(release, config={"auto.create.topics.enable": "false"})[0])
    body = {"topics": [{"name": "a"}], "allow_auto_topic_creation": True}
    for _ in range(2):
        assert codes(peer.ask(METADATA, 4, body)["topics"]) == [3]
    assert peer.broker.cluster.topics == {}


@EACH
def test_new_topics_take_the_brokers_settings(release):
    """DYN-10: coarser settings decide where finer ones are not set."""
    config = {"log.retention.hours": "2", "log.roll.ms": "5", "message.max.bytes": "77"}
    broker = brokers(release, config=config)[0]
    defaults = topic_defaults(broker)
    names = ("retention.ms", "segment.ms", "max.message.bytes")
    assert [defaults[name] for name in names] == ["7200000", "5", "77"]
    assert broker.cluster.config_of("any").retention_ms == 7_200_000


@pytest.mark.parametrize(
    ("release", "hours", "made_with", "described"),
    [
        ("2.8", "2", ("7200000", 5), "7200000"),
        ("3.9", "2", ("7200000", 4), "7200000"),
        ("4.3", "2", ("7200000", 4), "7200000"),
        ("2.8", "-1", ("-1", 5), "-1"),
        ("4.3", "-1", ("-3600000", 4), "-1"),
    ],
)
def test_a_new_topic_is_told_of_hours_by_a_controller_of_kraft_alone(
    release, hours, made_with, described
):
    """Their owner's file has hours: the controller of KRaft looks at them too, who describes the
    topic's configs only at milliseconds.
    """
    peer = Peer(brokers(release, config={"log.retention.hours": hours})[0])
    (made,) = peer.ask(CREATE, 5, {"topics": [topic("a")], "timeout_ms": 1000})["topics"]
    (found,) = [one for one in made["configs"] if one["name"] == "retention.ms"]
    assert (found["value"], found["config_source"]) == made_with
    row = {"resource_type": 2, "resource_name": "a", "configuration_keys": ["retention.ms"]}
    (told,) = peer.ask(DESCRIBE, 1, {"resources": [row]})["results"][0]["configs"]
    assert (told["value"], told["config_source"]) == (described, 5)


@EACH
def test_an_altered_topic_has_new_values_at_once(release):
    peer = Peer(brokers(release)[0])
    create(peer, topic("a"))
    configs = [{"name": "retention.ms", "value": "5"}]
    rows = [{"resource_type": 2, "resource_name": "a", "configs": configs}]
    assert codes(peer.ask(ALTER, 0, {"resources": rows})["responses"]) == [0]
    assert peer.broker.cluster.config_of("a").retention_ms == 5
    rows[0]["configs"] = []
    peer.ask(ALTER, 0, {"resources": rows})
    assert peer.broker.cluster.config_of("a").retention_ms == 604_800_000


@EACH
def test_a_broker_answers_for_itself_only(release):
    """DYN-17."""
    second = Peer(brokers(release, 2)[1])
    rows = [{"resource_type": 4, "resource_name": name} for name in ("0", "1")]
    version, _ = PERSONAS[release].broker_listener[32]
    rows = [row | {"configuration_keys": ["broker.id"]} for row in rows]
    first, own = second.ask(DESCRIBE, version, {"resources": rows})["results"]
    assert first["error_code"] == ErrorCode.INVALID_REQUEST and first["configs"] == []
    assert [config["value"] for config in own["configs"]] == ["1"]


# --------------------------------------------------------------------------------- coordinators


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("g", 103),
        ("group", 98629247),
        ("polygenelubricants", -(2**31)),
        ("\U0001f600", 1772899),
    ],
)
def test_java_hashes(text, expected):
    assert java_hash(text) == expected


def test_the_most_negative_hash_has_a_partition():
    """Kafka takes off the sign bit: -2**31 becomes 0."""
    assert partition_for("polygenelubricants", 50) == 0


@EACH
def test_a_coordinator_is_there_the_second_time(release):
    """META-12."""
    cluster = brokers(release, 3)
    peer = Peer(cluster[1])
    answers = [peer.ask(COORDINATOR, 1, {"key": "group", "key_type": 0}) for _ in range(2)]
    assert codes(answers) == [ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.NONE]
    offsets = cluster[0].cluster.topics["__consumer_offsets"]
    assert len(offsets.partitions) == 50 and len(offsets.partitions[0].replicas) == 3
    leader = offsets.partitions[partition_for("group", 50)].leader
    assert answers[1]["node_id"] == leader


# --------------------------------------------------------------------------------- large requests

TOO_MANY = "Excessively large number of partitions per request."
TOO_LARGE = "Unable to perform excessively large batch operation."


@pytest.mark.parametrize("release", ["3.9", "4.3"])
@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        pytest.param([9999], (0, None), marks=pytest.mark.slow),
        ([10_000], (44, TOO_LARGE)),
        ([10_001], (44, TOO_MANY)),
        ([2**31 - 1], (44, TOO_MANY)),
        ([4000, 4000, 4000], (44, TOO_MANY)),
    ],
)
def test_kraft_bounds_one_operation(release, counts, expected):
    """Observed on 3.9.2 and 4.3.1: 10,000 records an operation, the topic's own among them."""
    peer = Peer(brokers(release)[0])
    rows = create(peer, *(topic(f"t{i}", count) for i, count in enumerate(counts))).values()
    assert {(row["error_code"], row["error_message"]) for row in rows} == {expected}


@EACH
def test_the_largest_counts_are_survived(release):
    peer = Peer(brokers(release)[0])
    create(peer, topic("a"))
    assert create(peer, topic("b", 2**31 - 1))["b"]["error_code"] != ErrorCode.NONE
    rows = [{"name": "a", "count": 2**31 - 1, "assignments": None}]
    grown = peer.ask(GROW, 0, {"topics": rows, "timeout_ms": 9})["results"]
    assert codes(grown) == [ErrorCode.UNKNOWN_SERVER_ERROR]
