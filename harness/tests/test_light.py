"""What no client can tell is known by its kind, and what somebody can tell is not taken for it."""

from __future__ import annotations

import pytest

from touchstone.harness.judgement.compare import compare
from touchstone.harness.tests.conversations import conversation

JOIN = {"group_id": "g", "member_id": "", "member_epoch": 0, "rebalance_timeout_ms": 1}


def beat(label, epoch, *, sent=0, error=0, interval=5000):
    """A ConsumerGroupHeartbeat and its answer."""
    answer = {
        "error_code": error, "member_id": "m", "member_epoch": epoch,
        "heartbeat_interval_ms": interval, "assignment": None,
    }  # fmt: skip
    return label, "ConsumerGroupHeartbeat", 0, JOIN | {"member_epoch": sent}, answer


def kinds(oracle, target):
    """The kind of each difference, by step and path."""
    found = compare(conversation(*oracle), conversation(*target))
    return [(one.step, one.path, one.kind) for one in found]


def epochs(*numbers, sent=None):
    """Heartbeats that are answered these epochs, each with the one that was answered before."""
    before = [0, *numbers]
    return [
        beat(f"beat {n}", epoch, sent=before[n] if sent is None else sent[n])
        for n, epoch in enumerate(numbers)
    ]


@pytest.mark.parametrize(
    ("kafkas", "targets", "kind"),
    [
        ((2, 3, 3, 5), (1, 2, 2, 3), "number"),
        ((2,), (1,), "number"),
        ((2, 3), (1, 1), "value"),  # it was not bumped
        ((2, 2), (1, 2), "value"),  # it was bumped for nothing
        ((2, 3), (5, 4), "value"),  # it went down
        ((2, 3), (2, 3_000), "number"),
        ((2,), (0,), "value"),  # who is told 0 joins again
        ((2,), (-1,), "value"),
    ],
)
def test_epochs_are_numbers_while_they_stand_in_the_same_order(kafkas, targets, kind):
    found = kinds(epochs(*kafkas), epochs(*targets))
    assert found and {(path, of) for _, path, of in found} == {("member_epoch", kind)}


@pytest.mark.parametrize(
    ("member", "group", "kind"),
    [
        ((2, 1), (3, 2), "number"),
        ((2, 2), (3, 2), "value"),  # the group's was not bumped
        ((2, 1), (3, 1), "value"),
    ],
)
def test_epochs_of_a_group_are_held_against_those_of_its_members(member, group, kind):
    def sides(epoch, group_epoch):
        found = {
            "error_code": 0, "error_message": None, "group_id": "g", "group_state": "Stable",
            "group_epoch": group_epoch, "assignment_epoch": 7, "assignor_name": "uniform",
            "members": [], "authorized_operations": -(2**31),
        }  # fmt: skip
        request = {"group_ids": ["g"], "include_authorized_operations": False}
        described = "then", "ConsumerGroupDescribe", 0, request, {"groups": [found]}
        return [beat("join", epoch), described]

    found = kinds(*map(sides, member, group))
    assert [of for _, path, of in found if path.endswith("group_epoch")] == [kind]
    assert [of for _, path, of in found if path == "member_epoch"] == ["number"] * (
        member[0] != member[1]
    )


def test_other_numbers_are_values():
    found = kinds([beat("a", 1, interval=5000)], [beat("a", 1, interval=3000)])
    assert found == [("a", "heartbeat_interval_ms", "value")]


def test_beside_an_equal_error_code_stand_fillers():
    kafkas, targets = (beat("a", 0, error=42, interval=i) for i in (0, 5000))
    assert kinds([kafkas], [targets]) == [("a", "heartbeat_interval_ms", "filler")]
    other = beat("a", 0, error=25, interval=5000)
    assert kinds([kafkas], [other]) == [
        ("a", "error_code", "code"), ("a", "heartbeat_interval_ms", "value")
    ]  # fmt: skip


def produced(error, offset, leader):
    partition = {
        "index": 0, "error_code": error, "base_offset": offset, "log_append_time_ms": -1,
        "log_start_offset": 0, "record_errors": [], "error_message": None,
        "current_leader": {"leader_id": leader, "leader_epoch": 0},
    }  # fmt: skip
    body = {"responses": [{"name": "t", "partition_responses": [partition]}]}
    topic = {"name": "t", "partition_data": [{"index": 0, "records": None}]}
    request = {"transactional_id": None, "acks": 1, "timeout_ms": 1, "topic_data": [topic]}
    return "send", "Produce", 10, request, body


def test_a_leader_that_an_error_names_is_read():
    """KIP-951: of NOT_LEADER_OR_FOLLOWER clients read who leads, and no offset."""
    found = kinds([produced(6, -1, 1)], [produced(6, 0, -1)])
    assert [(path.rpartition(".")[2], kind) for _, path, kind in found] == [
        ("base_offset", "filler"), ("leader_id", "value")
    ]  # fmt: skip


def test_what_is_said_to_a_number_of_kafkas_follows_from_it():
    """The second request names 2, as Kafka answered it, although the target answered 1."""
    kafka = [beat("join", 2), beat("own", 2, sent=2), beat("after", 2, sent=2)]
    fenced = [beat("join", 1), beat("own", 0, sent=2, error=110), beat("after", 0, sent=2)]
    found = dict.fromkeys((step, kind) for step, _, kind in kinds(kafka, fenced))
    assert list(found) == [("join", "number"), ("own", "stale"), ("after", "stale")]


def test_what_is_said_to_the_number_that_was_answered_is_its_own():
    kafka = [beat("join", 2), beat("own", 2, sent=2)]
    fenced = [beat("join", 1), beat("own", 0, sent=1, error=110)]
    assert ("own", "error_code", "code") in kinds(kafka, fenced)


def test_numbers_of_another_group_make_none_stale():
    label, api, version, request, answer = beat("scout", 2)
    scout = label, api, version, request | {"group_id": "scout"}, answer
    other = *scout[:4], answer | {"member_epoch": 1}
    kafka = [scout, beat("ask", 0, sent=2, error=69)]
    differs = [other, beat("ask", 0, sent=2, error=25)]
    assert ("ask", "error_code", "code") in kinds(kafka, differs)


def test_a_number_that_was_given_on_both_sides_is_not_stale():
    kafka = [beat("join", 1), beat("more", 2, sent=1), beat("own", 2, sent=1)]
    fenced = [beat("join", 1), beat("more", 3, sent=1), beat("own", 0, sent=1, error=110)]
    assert ("own", "error_code", "code") in kinds(kafka, fenced)


def test_a_number_that_nobody_was_given_is_nobodys_on_both_sides():
    kafka = [beat("join", 2), beat("own", 0, sent=9, error=110)]
    accepts = [beat("join", 1), beat("own", 1, sent=9)]
    assert ("own", "error_code", "code") in kinds(kafka, accepts)


def test_an_end_of_the_connection_follows_from_no_number():
    kafka = [beat("join", 2), beat("own", 2, sent=2)]
    closes = [beat("join", 1), (*beat("own", 2, sent=2)[:4], "closed")]
    assert ("own", "connection", "connection") in kinds(kafka, closes)


def test_a_difference_knows_what_its_element_is_called():
    def described(value):
        config = {
            "name": "cleanup.policy", "value": value, "read_only": False, "config_source": 5,
            "is_sensitive": False, "synonyms": [],
        }  # fmt: skip
        result = {
            "error_code": 0, "error_message": None, "resource_type": 2, "resource_name": "t",
            "configs": [config],
        }  # fmt: skip
        resource = {"resource_type": 2, "resource_name": "t", "configuration_keys": None}
        request = {"resources": [resource], "include_synonyms": False}
        return conversation(("d", "DescribeConfigs", 1, request, {"results": [result]}))

    (found,) = compare(described("delete"), described("compact"))
    assert (found.entity, found.kind) == ("cleanup.policy", "value")
