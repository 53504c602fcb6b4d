"""Streams groups through brokers: who loads them goes on, kinds of groups stay apart, topics come.

The records themselves are compared with 4.3.1's by claims (`suites/rebalance`).
"""

from __future__ import annotations

from touchstone.reference_impl.broker.control.internal_topics import OFFSETS
from touchstone.reference_impl.tests.group.town import GROUP, Town
from touchstone.reference_impl.tests.replication.wires import LAG, WAITING
from touchstone.reference_impl.wire.errors import ErrorCode as E

ALL = (0, 1, 2)
LATER, SOON = 2000, 20  # ms; past the assignment interval; for what changes nothing


def topic(name: str, replication: int = 1) -> dict:
    return {
        "name": name, "partitions": 0, "replication_factor": replication, "topic_configs": [],
    }  # fmt: skip


def subtopology(source: str, *changelogs: dict) -> dict:
    return {
        "subtopology_id": "0", "source_topics": [source], "source_topic_regex": [],
        "state_changelog_topics": list(changelogs), "repartition_sink_topics": [],
        "repartition_source_topics": [], "copartition_groups": [],
    }  # fmt: skip


class Village(Town):
    """Three brokers, and members of an application that reads `u`."""

    def __init__(self, **how) -> None:
        super().__init__(**{"group_streams_initial_rebalance_delay_ms": "0"} | how)
        self.cluster.create("u", [[0, 1, 2]] * 4, {})
        self.run(1000)
        self.topology = {"epoch": 0, "subtopologies": [subtopology("u")]}

    def ask(self, member, epoch, broker=0, ms=LATER, **changes):
        body = {"group_id": GROUP, "member_id": member, "member_epoch": epoch}
        if epoch == 0:
            body |= {
                "rebalance_timeout_ms": 60_000, "topology": self.topology, "process_id": member,
                "active_tasks": [], "standby_tasks": [], "warmup_tasks": [],
            }  # fmt: skip
        return self.say(broker, "StreamsGroupHeartbeat", 0, body | changes, ms)

    def beat(self, member, epoch, broker=0, ms=LATER, **changes):
        answer = self.ask(member, epoch, broker, ms, **changes)
        if answer is WAITING:
            return WAITING
        if answer["error_code"]:
            return E(answer["error_code"])
        rows = answer["active_tasks"] or []
        return answer["member_epoch"], [index for row in rows for index in row["partitions"]]

    def shown(self, broker=0):
        (row,) = self.say(broker, "StreamsGroupDescribe", 0, {"group_ids": [GROUP]}, 20)["groups"]
        return row

    def listed(self, broker=0):
        body = {"states_filter": [], "types_filter": []}
        rows = self.say(broker, "ListGroups", 5, body, 20)["groups"]
        return [(row["protocol_type"], row["group_state"], row["group_type"]) for row in rows]


def test_who_loads_a_group_goes_on_with_it():
    village = Village()
    assert village.beat("a", 0) == (2, [0, 1, 2, 3])
    before = village.shown()
    village.elect(1, ALL, OFFSETS)
    village.run(1000)
    assert village.beat("a", 2) == E.NOT_COORDINATOR
    assert village.shown(1) == before
    assert village.beat("a", 2, broker=1) == (2, [])
    assert village.beat("b", 0, broker=1) == (3, [])
    village.run(46_000)
    assert village.listed(1) == [("streams", "Empty", "streams")], "sessions began anew"


def test_an_answer_waits_until_it_is_kept():
    village = Village()
    assert village.beat("a", 0) == (2, [0, 1, 2, 3])
    village.cut.add(2)
    assert village.beat("b", 0, ms=100) is WAITING
    village.run(4 * LAG)  # the follower leaves the in-sync set
    assert village.shown()["group_epoch"] == 3


def test_kinds_of_groups_stay_apart():
    village = Village()
    village.beat("a", 0)
    joins = {"session_timeout_ms": 9000, "protocol_type": "consumer",
             "protocols": [{"name": "range", "metadata": b""}]}  # fmt: skip
    answer = village.say(0, "JoinGroup", 2, {"group_id": GROUP} | joins, SOON)
    assert answer["error_code"] == E.INCONSISTENT_GROUP_PROTOCOL
    consumer = {"member_id": "c", "member_epoch": 0, "rebalance_timeout_ms": 9000,
                "subscribed_topic_names": ["u"], "topic_partitions": []}  # fmt: skip
    answer = village.say(0, "ConsumerGroupHeartbeat", 1, {"group_id": GROUP} | consumer, SOON)
    assert answer["error_code"] == E.GROUP_ID_NOT_FOUND
    share = {"member_id": "c", "member_epoch": 0, "subscribed_topic_names": ["u"]}
    answer = village.say(0, "ShareGroupHeartbeat", 1, {"group_id": GROUP} | share, SOON)
    assert answer["error_code"] == E.GROUP_ID_NOT_FOUND
    assert village.beat("a", -1) == (-1, [])
    answer = village.say(0, "ConsumerGroupHeartbeat", 1, {"group_id": GROUP} | consumer, SOON)
    assert answer["error_code"] == E.GROUP_ID_NOT_FOUND, "an empty streams group is one still"
    assert village.join() == E.NONE, "but a classic member takes it over"
    assert village.beat("a", 0) == E.GROUP_ID_NOT_FOUND
    assert village.shown()["error_message"] == f"Group {GROUP} is not a streams group."


def test_an_empty_classic_group_becomes_a_streams_group_and_keeps_its_offsets():
    village = Village()
    village.commit(7)
    assert village.listed() == [("", "Empty", "classic")]
    assert village.beat("a", 0)[0] == 2
    assert village.committed() == 7
    assert village.commit(8) == E.UNKNOWN_MEMBER_ID
    answer = village.say(0, "DeleteGroups", 2, {"groups_names": [GROUP]})
    assert answer["results"][0]["error_code"] == E.NON_EMPTY_GROUP
    village.beat("a", -1)
    answer = village.say(0, "DeleteGroups", 2, {"groups_names": [GROUP]})
    assert answer["results"][0]["error_code"] == E.NONE
    assert village.listed() == []
    village.elect(1, ALL, OFFSETS)
    village.run(1000)
    assert village.listed(1) == []


def test_missing_topics_are_made_and_a_refusal_is_told():
    village = Village()
    village.topology = {"epoch": 0, "subtopologies": [subtopology("u", topic("log", 3))]}
    assert [row["status_code"] for row in village.ask("a", 0)["status"]] == [3]
    assert len(village.cluster.topics["log"].partitions) == 4
    assert village.beat("a", 2) == (3, [0, 1, 2, 3])
    village = Village()
    village.topology = {"epoch": 0, "subtopologies": [subtopology("u", topic("log", 4))]}
    assert village.ask("a", 0)["status"][0]["status_detail"] == "Internal topics are missing: log"
    words = "Unable to replicate the partition 4 time(s): The target replication factor of 4 cannot"
    told = village.ask("a", 2)["status"][0]["status_detail"]
    assert told.startswith(f"Internal topics are missing: log; Creation failed: log ({words}")
    assert "log" not in village.cluster.topics


def test_streams_groups_can_be_off():
    village = Village(group_coordinator_rebalance_protocols="classic,consumer")
    assert village.beat("a", 0) == E.UNSUPPORTED_VERSION
    village = Village()
    village.cluster.features["streams.version"] = 0
    assert village.beat("a", 0) == E.UNSUPPORTED_VERSION
    assert village.shown()["error_code"] == E.UNSUPPORTED_VERSION


def test_topologies_name_topics_that_an_application_may_have():
    village = Village()
    for name, words in (
        (
            "__consumer_offsets",
            "Use of Kafka internal topics __consumer_offsets in a Kafka",
        ),
        ("a b", "Topic names a b are not valid topic names."),
    ):
        village.topology = {"epoch": 0, "subtopologies": [subtopology("u", topic(name))]}
        answer = village.ask("a", 0)
        assert answer["error_code"] == E.STREAMS_INVALID_TOPOLOGY
        assert answer["error_message"].startswith(words)


def test_consumer_groups_can_be_off():
    village = Village(group_coordinator_rebalance_protocols="classic, streams")
    consumer = {"member_id": "c", "member_epoch": 0, "rebalance_timeout_ms": 9000,
                "subscribed_topic_names": ["u"], "topic_partitions": []}  # fmt: skip
    answer = village.say(0, "ConsumerGroupHeartbeat", 1, {"group_id": GROUP} | consumer, SOON)
    assert answer["error_code"] == E.UNSUPPORTED_VERSION
    answer = village.say(0, "ConsumerGroupDescribe", 1, {"group_ids": [GROUP]}, SOON)
    assert answer["groups"][0]["error_code"] == E.UNSUPPORTED_VERSION
    assert village.beat("a", 0)[0] == 2


def test_descriptions_are_lined_up_by_partition():
    """Seen on 4.3.1: the empty id first, then what one partition keeps."""
    village = Village()
    rows = village.say(0, "StreamsGroupDescribe", 0, {"group_ids": ["a", "", "b", "a"]}, SOON)
    assert [row["group_id"] for row in rows["groups"]] == ["", "a", "a", "b"]


def test_a_group_stands_by_no_more_than_the_broker_lets_it():
    village = Village()
    row = {"name": "streams.num.standby.replicas", "config_operation": 0, "value": "3"}
    resource = {"resource_type": 32, "resource_name": GROUP, "configs": [row]}
    body = {"resources": [resource], "validate_only": False}
    answer = village.say(0, "IncrementalAlterConfigs", 1, body, SOON)["responses"][0]
    assert (answer["error_code"], answer["error_message"]) == (
        E.INVALID_CONFIG,
        "streams.num.standby.replicas must be less than or equal to "
        "group.streams.max.standby.replicas",
    )
