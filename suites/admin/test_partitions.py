"""Partitions, leaders and brokers by an admin client (KIP-107, KIP-396, KIP-455, KIP-460)."""

from touchstone.harness.model.claim import claim
from touchstone.harness.model.expect import all_of, client
from touchstone.suites.kit.admins import does
from touchstone.suites.kit.clients import a_topic, admin, fault, stored
from touchstone.suites.kit.controllers import reassign
from touchstone.suites.kit.moving import MOVES
from touchstone.suites.kit.three_brokers import placed, write

DONE = {"name": "admin_result"}
HERE, THERE = 1, 2


def _at(topic, partition=0):
    return {"topic": topic, "partition": partition}


@claim("admin.brokers-are-listed", evidence=("KIP-4",), role="client",
       switches=("admin-gives-nothing",), brokers=3)  # fmt: skip
def test_brokers_are_listed(case):
    """An admin client gives the ids of all brokers."""
    return case.scenario(
        admin(),
        does("describe_cluster"),
        expect=client("results", operation="describe_cluster").is_([{"brokers": [0, 1, 2]}]),
    )


@claim("admin.a-topic-is-described", evidence=("KIP-4",), role="client",
       switches=("admin-gives-nothing",), **MOVES)  # fmt: skip
def test_a_topic_is_described(case):
    """An admin client gives leader and replicas of each partition of a topic."""
    topic = case.topic()
    return case.scenario(
        placed(topic, {0: [HERE, THERE]}),
        admin(),
        does("describe_topics", topics=[topic]),
        expect=client("results", operation="describe_topics").is_([[
            {"name": topic, "partitions": [
                {"partition": 0, "leader": HERE, "replicas": [HERE, THERE]}]}
        ]]),
    )  # fmt: skip


@claim("admin.offsets-are-asked-of-the-leader", evidence=("KIP-396",), role="client",
       switches=("all-asked-of-one",), at=("earliest", "latest"), **MOVES)  # fmt: skip
def test_offsets_are_asked_of_the_leader(case):
    """An admin client asks a partition's leader for its first and its next offset."""
    topic = case.topic()
    return case.scenario(
        placed(topic, {0: [HERE, THERE]}),
        write(topic, b"a", b"b", to=HERE),
        admin(),
        does("list_offsets", **_at(topic), at=case.at),
        expect=all_of(
            client("brokers", api="ListOffsets").each_is(HERE),
            client("results", operation="list_offsets").is_([0 if case.at == "earliest" else 2]),
        ),
    )


@claim("admin.a-stale-leader-is-looked-up", evidence=("KIP-396",), role="client",
       switches=("passing-errors-are-final",), error=("NOT_LEADER_OR_FOLLOWER",
       "LEADER_NOT_AVAILABLE"))  # fmt: skip
def test_a_stale_leader_is_looked_up(case):
    """An admin client whose ListOffsets meets an error of a stale leader looks for the leader and
    asks again.
    """
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        stored(topic, "a"),
        admin(),
        fault("ListOffsets", case.error, 1),
        does("list_offsets", **_at(topic), at="latest"),
        expect=all_of(
            client("results", operation="list_offsets").is_([1]),
            client("codes", **DONE).is_([""]),
            client("count", api="ListOffsets").is_(2),
        ),
    )


@claim("admin.records-are-deleted-at-a-new-leader", evidence=("KIP-107",), role="client",
       switches=("passing-errors-are-final",))  # fmt: skip
def test_records_are_deleted_at_a_new_leader(case):
    """An admin client whose DeleteRecords meets NOT_LEADER_OR_FOLLOWER looks for the leader and
    asks again.
    """
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        stored(topic, "a", "b"),
        admin(),
        fault("DeleteRecords", "NOT_LEADER_OR_FOLLOWER", 1),
        does("delete_records", **_at(topic), offset=1),
        expect=all_of(
            client("codes", **DONE).is_([""]), client("count", api="DeleteRecords").is_(2)
        ),
    )


@claim("admin.records-beyond-the-end-are-not-deleted", evidence=("KIP-107",), role="client",
       switches=("admin-errors-swallowed",))  # fmt: skip
def test_records_beyond_the_end_are_not_deleted(case):
    """An admin client that deletes records below an offset beyond the log reports
    OFFSET_OUT_OF_RANGE.
    """
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        stored(topic, "a"),
        admin(),
        does("delete_records", **_at(topic), offset=9),
        expect=client("codes", **DONE).is_(["OFFSET_OUT_OF_RANGE"]),
    )


@claim("admin.a-leader-is-elected", evidence=("KIP-460",), role="client",
       switches=("deletes-nothing",), **MOVES)  # fmt: skip
def test_a_leader_is_elected(case):
    """An admin client that wants the preferred leader of a partition asks ElectLeaders for it, and
    reports no error when it was elected.
    """
    topic = case.topic()
    return case.scenario(
        placed(topic, {0: [HERE, THERE]}),
        reassign(topic, {0: [THERE, HERE]}),
        admin(),
        does("elect_leaders", **_at(topic)),
        expect=all_of(
            client("codes", **DONE).is_([""]),
            client("asked", api="ElectLeaders", path="election_type").each_is(0),
        ),
    )


@claim("admin.an-election-that-is-not-needed-is-reported", evidence=("KIP-460",), role="client",
       releases="2.8+", switches=("admin-errors-swallowed",))  # fmt: skip
def test_an_election_that_is_not_needed_is_reported(case):
    """An election of a leader that leads already gives ELECTION_NOT_NEEDED."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        admin(),
        does("elect_leaders", **_at(topic)),
        expect=client("codes", **DONE).is_(["ELECTION_NOT_NEEDED"]),
    )


@claim("admin.a-partition-is-moved", evidence=("KIP-455",), role="client",
       switches=("deletes-nothing",), **MOVES)  # fmt: skip
def test_a_partition_is_moved(case):
    """An admin client that moves a partition names its new brokers, and reports no error."""
    topic = case.topic()
    return case.scenario(
        placed(topic, {0: [HERE]}),
        write(topic, b"a", to=HERE),
        admin(),
        does("reassign", **_at(topic), replicas=[THERE]),
        expect=all_of(
            client("codes", **DONE).is_([""]),
            client("asked", api="AlterPartitionReassignments",
                   path="topics[*].partitions[*].replicas").is_([[[[THERE]]]]),
        ),
    )  # fmt: skip


@claim("admin.a-move-that-is-not-under-way-is-not-cancelled", evidence=("KIP-455",),
       role="client", releases="2.8+", switches=("admin-errors-swallowed",))  # fmt: skip
def test_a_move_that_is_not_under_way_is_not_cancelled(case):
    """An admin client that cancels a move which is not under way names no replicas, and reports
    NO_REASSIGNMENT_IN_PROGRESS.
    """
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        admin(),
        does("reassign", **_at(topic), replicas=None),
        expect=all_of(
            client("codes", **DONE).is_(["NO_REASSIGNMENT_IN_PROGRESS"]),
            client("asked", api="AlterPartitionReassignments",
                   path="topics[*].partitions[*].replicas").is_([[[None]]]),
        ),
    )  # fmt: skip
