"""Partitions, leaders and brokers by an admin client (KIP-107, KIP-396, KIP-455, KIP-460)."""

from touchstone.harness.model.claim import claim
from touchstone.harness.model.expect import all_of, client
from touchstone.suites.kit.admins import does
from touchstone.suites.kit.clients import a_topic, admin, fault, stored

DONE = {"name": "admin_result"}
HERE, THERE = 1, 2


def _at(topic, partition=0):
    return {"topic": topic, "partition": partition}


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
