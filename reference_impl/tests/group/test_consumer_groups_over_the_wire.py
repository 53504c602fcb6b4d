"""Consumer groups through a broker's handlers: who is asked what about a group of KIP-848.

Each answer is what 4.3.1 gave to the same requests, but for a classic member that wants to join a
group with members, which Kafka takes and this broker does not.
"""

from __future__ import annotations

from touchstone.reference_impl.tests.group.test_over_the_wire import commit, joined, ready
from touchstone.reference_impl.wire.errors import ErrorCode as E

UNCHANGED = {
    "group_id": "g",
    "member_id": "m1",
    "subscribed_topic_names": None,
    "topic_partitions": None,
    "rebalance_timeout_ms": -1,
}


def beat(one, epoch, **changes):
    body = UNCHANGED | {"member_epoch": epoch} | changes
    if epoch == 0:
        joins = {"subscribed_topic_names": ["t"], "topic_partitions": []}
        body |= joins | {"rebalance_timeout_ms": 10_000}
    return one.ask("ConsumerGroupHeartbeat", 1, body)


def a_member():
    one = ready()
    assert beat(one, 0)["member_epoch"] == 2
    return one


def described(one):
    (row,) = one.ask("ConsumerGroupDescribe", 1, {"group_ids": ["g"]})["groups"]
    return row


def test_a_member_joins_and_is_shown():
    one = ready()
    answer = beat(one, 0)
    (topic,) = answer["assignment"]["topic_partitions"]
    assert topic["partitions"] == [0, 1]
    assert answer["heartbeat_interval_ms"] == 5000
    row = described(one)
    assert (row["group_state"], row["group_epoch"]) == ("Stable", 2)
    assert row["assignor_name"] == "uniform"
    (member,) = row["members"]
    assert member["assignment"] == member["target_assignment"]
    assert member["assignment"]["topic_partitions"][0]["topic_name"] == "t"


def test_a_session_ends_by_the_brokers_alarm():
    one = a_member()
    one.brokers[0].tick(one.now + 44_999)
    assert described(one)["group_state"] == "Stable"
    one.brokers[0].tick(one.now + 45_000)
    assert described(one)["group_state"] == "Empty"


def test_commits_and_fetches_look_at_the_epoch_from_version_9_on():
    one = a_member()
    who = {"member": "m1", "generation": 2}
    assert commit(one, 8, (0, 5, ""), **who) == [E.UNSUPPORTED_VERSION]
    assert commit(one, 9, (0, 5, ""), **who) == [E.NONE]
    assert commit(one, 9, (0, 5, ""), member="m1", generation=3) == [E.STALE_MEMBER_EPOCH]
    assert commit(one, 9, (0, 5, "")) == [E.UNKNOWN_MEMBER_ID]
    codes = {}
    for version, epoch in ((8, 3), (9, 3), (9, 2)):
        asked = {"group_id": "g", "member_id": "m1", "member_epoch": epoch, "topics": None}
        (row,) = one.ask("OffsetFetch", version, {"groups": [asked]})["groups"]
        codes[version, epoch] = row["error_code"]
    assert codes == {(8, 3): E.NONE, (9, 3): E.STALE_MEMBER_EPOCH, (9, 2): E.NONE}


def test_a_group_with_members_is_no_classic_group_and_not_deleted():
    one = a_member()
    (row,) = one.ask("DescribeGroups", 6, {"groups": ["g"]})["groups"]
    assert (row["error_code"], row["group_state"]) == (E.GROUP_ID_NOT_FOUND, "Dead")
    assert row["error_message"] == "Group g is not a classic group."
    (row,) = one.ask("DeleteGroups", 2, {"groups_names": ["g"]})["results"]
    assert row["error_code"] == E.NON_EMPTY_GROUP
    for kinds, found in (([], 1), (["consumer"], 1), (["classic"], 0)):
        body = {"states_filter": ["stable"], "types_filter": kinds}
        assert len(one.ask("ListGroups", 5, body)["groups"]) == found
    beat(one, -1)
    (row,) = one.ask("DeleteGroups", 2, {"groups_names": ["g"]})["results"]
    assert row["error_code"] == E.NONE
    assert beat(one, 2)["error_message"] == "Consumer group g not found."


def test_an_empty_group_may_be_joined_by_the_other_kind():
    one = a_member()
    beat(one, -1)
    joined(one)
    assert described(one)["error_message"] == "Group g is not a consumer group."
    assert beat(one, 0)["error_code"] == E.GROUP_ID_NOT_FOUND


def test_a_release_with_the_protocol_off_says_so():
    one = ready("3.9")
    body = UNCHANGED | {"member_epoch": 2}
    answer = one.ask("ConsumerGroupHeartbeat", 0, body)
    assert answer["error_code"] == E.UNSUPPORTED_VERSION
