"""The preview of KIP-848 on the persona of 3.9, which is told to serve it.

Each answer is what 3.9.2 gave to the same requests (found by `harness/tests/groups` in lockstep,
which also compares the assignors with those in the jars).
"""

from __future__ import annotations

import pytest

from touchstone.reference_impl.broker.personas import persona
from touchstone.reference_impl.group.assignors import ASSIGNORS, Taker
from touchstone.reference_impl.group.preview_assignor import PREVIEW, AssignmentFailed
from touchstone.reference_impl.tests.group.test_consumer_groups_kept import (
    Village,
    classic_join,
    classic_sync,
    part,
)
from touchstone.reference_impl.tests.group.test_over_the_wire import commit, ready
from touchstone.reference_impl.wire.errors import ErrorCode as E

PROTOCOLS = "group.coordinator.rebalance.protocols"
TOLD = {PROTOCOLS: "classic,consumer"}
A, B = b"a" * 16, b"b" * 16


def beat(one, member, epoch, **changes):
    body = {
        "group_id": "g",
        "member_id": member,
        "member_epoch": epoch,
        "rebalance_timeout_ms": -1,
        "subscribed_topic_names": None,
        "topic_partitions": None,
    }
    if epoch == 0:
        joins = {"subscribed_topic_names": ["t"], "topic_partitions": []}
        body |= joins | {"rebalance_timeout_ms": 10_000}
    return one.ask("ConsumerGroupHeartbeat", 0, body | changes)


def described(one, *groups):
    return one.ask("ConsumerGroupDescribe", 0, {"group_ids": list(groups)})["groups"]


def served():
    return ready("3.9", config=TOLD)


def test_a_setting_changes_quirks_and_their_evidence():
    plain = persona("3.9")
    told = plain.started_with({PROTOCOLS: " classic , CONSUMER"})
    assert told.quirk("groups.newer-coordinator") and not plain.quirk("groups.newer-coordinator")
    assert "classic,consumer" in told.evidence["groups.newer-coordinator"]
    assert told.listed() == plain.listed() and told.features == plain.features


@pytest.mark.parametrize("word", ["classic", "classic,consumers", ""])
def test_another_word_changes_nothing(word):
    assert persona("3.9").started_with({PROTOCOLS: word}) is persona("3.9")


def test_a_release_without_the_preview_is_not_told():
    assert persona("2.8").started_with(TOLD) is persona("2.8")
    assert persona("4.3").started_with(TOLD) is persona("4.3")


def test_a_group_begins_at_epoch_0():
    one = served()
    answer = beat(one, "m1", 0)
    assert (answer["member_epoch"], answer["heartbeat_interval_ms"]) == (1, 5000)
    (row,) = described(one, "g")
    assert (row["group_state"], row["group_epoch"], row["assignment_epoch"]) == ("Stable", 1, 1)


def test_a_session_lasts_as_long_as_the_broker_says():
    one = served()
    beat(one, "m1", 0)
    one.brokers[0].tick(one.now + 44_999)
    assert described(one, "g")[0]["group_state"] == "Stable"
    one.brokers[0].tick(one.now + 45_000)
    assert described(one, "g")[0]["group_state"] == "Empty"


def test_who_joins_names_a_topic():
    one = served()
    answer = beat(one, "m1", 0, subscribed_topic_names=[])
    assert answer["error_code"] == E.INVALID_REQUEST
    assert answer["error_message"] == "SubscribedTopicNames must be set in first request."


def test_who_goes_away_names_itself():
    one = served()
    answer = beat(one, "", -2, instance_id="i1")
    assert answer["error_message"] == "MemberId can't be empty."


def test_a_member_past_its_first_epoch_is_fenced_when_it_joins():
    one = served()
    assert beat(one, "m1", 0)["member_epoch"] == 1
    assert beat(one, "m1", 0)["member_epoch"] == 1, "the answer may have been lost"
    beat(one, "m2", 0)
    assert beat(one, "m1", 1, topic_partitions=[])["member_epoch"] == 2
    assert beat(one, "m1", 0)["error_code"] == E.FENCED_MEMBER_EPOCH
    assert beat(one, "m1", 0, instance_id="new")["error_code"] == E.NONE


def test_who_is_away_is_fenced_when_it_joins_without_its_instance_id():
    one = served()
    beat(one, "m1", 0, instance_id="i1")
    beat(one, "m1", -2, instance_id="i1")
    assert beat(one, "m1", 0)["error_code"] == E.FENCED_MEMBER_EPOCH
    assert beat(one, "m1", 0, instance_id="i1")["error_code"] == E.NONE


def test_a_new_instance_id_has_no_target_until_the_next_one():
    one = served()
    beat(one, "m1", 0)
    beat(one, "m2", 0)
    answer = beat(one, "m1", 0, instance_id="new")
    assert (answer["member_epoch"], answer["assignment"]["topic_partitions"]) == (2, [])
    beat(one, "m3", 0)
    assert beat(one, "m1", 2)["member_epoch"] == 3


def test_a_commit_in_an_earlier_epoch_is_stale_whatever_is_in_it():
    one = served()
    beat(one, "m1", 0)
    assert commit(one, 9, (0, 7, ""), generation=1, member="m1") == [E.NONE]
    beat(one, "m2", 0)
    held = [{"topic_id": one.cluster.topics["t"].id, "partitions": [0]}]
    assert beat(one, "m1", 1, topic_partitions=held)["member_epoch"] == 2
    assert commit(one, 9, (0, 7, ""), generation=1, member="m1") == [E.STALE_MEMBER_EPOCH]


def test_leave_group_knows_classic_members_only():
    one = served()
    beat(one, "m1", 0)
    who = [{"member_id": "m1", "group_instance_id": None}]
    answer = one.ask("LeaveGroup", 3, {"group_id": "g", "members": who})
    assert [row["error_code"] for row in answer["members"]] == [E.UNKNOWN_MEMBER_ID]
    assert described(one, "g")[0]["group_state"] == "Stable"


def test_each_partition_describes_every_group_that_is_asked_for():
    one = served()
    beat(one, "m1", 0)
    rows = described(one, "g", "other")
    assert [(row["group_id"], row["error_code"]) for row in rows] == [
        ("g", E.GROUP_ID_NOT_FOUND), ("other", E.GROUP_ID_NOT_FOUND),
        ("g", E.NONE), ("other", E.GROUP_ID_NOT_FOUND),
    ]  # fmt: skip
    assert {row["error_message"] for row in rows} == {None}


def test_an_empty_id_spoils_a_description():
    one = served()
    beat(one, "m1", 0)
    codes = [(row["group_id"], row["error_code"]) for row in described(one, "g", "")]
    assert codes == [("g", E.UNKNOWN_SERVER_ERROR), ("", E.UNKNOWN_SERVER_ERROR)]


def test_migration_is_off_unless_the_policy_says_so():
    village = Village(release="3.9", group_coordinator_rebalance_protocols="classic,consumer")
    who = classic_join(village)["member_id"]
    classic_sync(village, who, 1, part(0, 1, 2, 3))
    assert village.beat("m1", 0) == E.GROUP_ID_NOT_FOUND


@pytest.fixture
def village():
    return Village(
        release="3.9",
        group_coordinator_rebalance_protocols="classic,consumer",
        group_consumer_migration_policy="bidirectional",
    )


def test_a_group_goes_on_at_the_next_coordinator_with_the_topics_in_its_log(village):
    assert village.beat("m1", 0) == (1, [0, 1, 2, 3])
    village.moves()
    assert village.beat("m1", 1, broker=1) == (1, [])
    assert village.shown(1)["group_epoch"] == 1, "the topics are those of the log"


def test_a_classic_member_is_fenced_when_it_joins_as_a_consumer(village):
    who = classic_join(village)["member_id"]
    classic_sync(village, who, 1, part(0, 1, 2, 3))
    assert village.beat("m1", 0) == (2, [])
    assert village.beat(who, 0) == E.FENCED_MEMBER_EPOCH


def test_the_first_members_get_what_is_over():
    """3.9 has b keep one and gives a, which comes first, the two that are its due."""
    takers = [Taker(name, None, frozenset({A})) for name in ("a", "b")]
    before = {"b": frozenset({(A, 0), (A, 1)})}
    spread = [PREVIEW, ASSIGNORS]
    sizes = [
        {each: len(places) for each, places in by["uniform"](takers, {A: 3}, before, True).items()}
        for by in spread
    ]
    assert sizes == [{"a": 2, "b": 1}, {"a": 1, "b": 2}]


def test_a_partition_that_would_be_moved_twice_ends_the_assignment():
    """As in the jar of 3.9.2."""
    c = b"c" * 16
    wanted = {"m0": {A, B, c}, "m1": {B}, "m2": {A, B, c}}
    takers = [Taker(name, None, frozenset(topics)) for name, topics in wanted.items()]
    all_b = {(B, index) for index in range(3)}
    before = {
        "m0": frozenset({(c, 0), (c, 1)}),
        "m1": frozenset({(c, 2)}),
        "m2": frozenset({(A, 0), (c, 3)} | all_b),
    }
    with pytest.raises(AssignmentFailed):
        PREVIEW["uniform"](takers, {A: 1, B: 3, c: 4}, before, False)


def test_nothing_counts_of_a_heartbeat_whose_assignment_failed(monkeypatch):
    one = served()
    beat(one, "m1", 0)

    def fails(*_):
        raise AssignmentFailed

    monkeypatch.setitem(PREVIEW, "uniform", fails)
    assert beat(one, "m2", 0)["error_code"] == E.UNKNOWN_SERVER_ERROR
    (row,) = described(one, "g")
    assert [each["member_id"] for each in row["members"]] == ["m1"]
    assert (row["group_epoch"], row["assignment_epoch"]) == (1, 1)


def test_members_of_different_subscriptions_are_levelled():
    takers = [Taker("m0", None, frozenset({A})), Taker("m1", None, frozenset({A, B}))]
    before = {"m1": frozenset({(A, 0), (A, 1), (A, 2), (B, 0)})}
    given = PREVIEW["uniform"](takers, {A: 3, B: 1}, before, False)
    assert {each: len(places) for each, places in given.items()} == {"m0": 2, "m1": 2}
