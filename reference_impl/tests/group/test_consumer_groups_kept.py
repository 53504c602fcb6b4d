"""Consumer groups in `__consumer_offsets`: who loads them goes on with every epoch.

The records themselves are compared with 4.3.1's by claims (`suites/rebalance`); here a coordinator
reads what another wrote, and what could not be written did not happen.
"""

from __future__ import annotations

from touchstone.reference_impl.broker.control.internal_topics import OFFSETS
from touchstone.reference_impl.broker.coordinators.groups import Groups
from touchstone.reference_impl.tests.group.test_kept import GROUP, Town
from touchstone.reference_impl.tests.replication.wires import LAG, WAITING
from touchstone.reference_impl.wire.embedded.consumer_protocol import (
    decode_assignment,
    encode_assignment,
    encode_subscription,
)
from touchstone.reference_impl.wire.errors import ErrorCode as E

UNCHANGED = {
    "group_id": GROUP,
    "subscribed_topic_names": None,
    "topic_partitions": None,
    "rebalance_timeout_ms": -1,
}
LATER, SOON = 2000, 20  # ms; past the assignment interval; for what changes nothing


class Village(Town):
    """Three brokers, and members m1, m2 ... who speak the consumer protocol."""

    def __init__(self, **how) -> None:
        super().__init__(**how)
        self.newest = how.get("release", "4.3") != "3.9"  # the version of both APIs
        self.cluster.create("u", [[0, 1, 2]] * 4, {})
        self.run(1000)

    def beat(self, member, epoch, owned=None, broker=0, ms=LATER, **changes):
        body = UNCHANGED | {"member_id": member, "member_epoch": epoch} | changes
        if epoch == 0:
            joins = {"subscribed_topic_names": ["u"], "topic_partitions": []}
            body |= {"rebalance_timeout_ms": 100_000} | joins | changes
        if owned is not None:
            topic = self.cluster.topics["u"].id
            body["topic_partitions"] = [{"topic_id": topic, "partitions": owned}]
        answer = self.say(broker, "ConsumerGroupHeartbeat", int(self.newest), body, ms)
        if answer is WAITING:
            return WAITING
        if answer["error_code"]:
            return E(answer["error_code"])
        given = answer["assignment"]
        rows = [] if given is None else given["topic_partitions"]
        return answer["member_epoch"], [index for row in rows for index in row["partitions"]]

    def shown(self, broker=0):
        asked = {"group_ids": [GROUP]}
        (row,) = self.say(broker, "ConsumerGroupDescribe", int(self.newest), asked, ms=SOON)[
            "groups"
        ]
        return row

    def moves(self, broker=1):
        self.elect(broker, (0, 1, 2), OFFSETS)


def two_members(village):
    village.beat("m1", 0)
    village.beat("m2", 0)
    village.beat("m1", 2)


def test_members_go_on_with_their_epochs_at_the_next_coordinator():
    village = Village()
    two_members(village)
    before = village.shown()
    village.moves()
    assert village.shown(1) == before
    assert village.shown(0)["error_code"] == E.NOT_COORDINATOR
    assert village.beat("m1", 2, [0, 1], broker=1) == (3, [])
    assert village.beat("m2", 3, broker=1) == (3, [2, 3])
    assert village.beat("m2", 9, broker=1) == E.FENCED_MEMBER_EPOCH
    assert village.shown(1)["group_state"] == "Stable"


def test_members_wait_for_the_next_coordinator_to_read_their_group():
    """Nobody is told that there is no group, and who joins makes none beside the one in the log."""
    village = Village(offsets_load_buffer_size="1")
    two_members(village)
    village.moves()
    assert village.beat("m1", 2, [0, 1], broker=1, ms=0) == E.COORDINATOR_LOAD_IN_PROGRESS
    assert village.beat("m3", 0, broker=1, ms=0) == E.COORDINATOR_LOAD_IN_PROGRESS
    village.run(LATER)
    assert village.beat("m1", 2, [0, 1], broker=1) == (3, [])
    assert village.beat("m3", 0, broker=1)[0] == 4


def test_sessions_begin_anew_where_a_group_is_loaded_and_end_there():
    village = Village()
    village.beat("m1", 0)
    village.moves()
    village.run(44_000)
    assert village.shown(1)["group_state"] == "Stable"
    village.run(2_000)
    assert village.shown(1)["group_state"] == "Empty"


def test_who_has_to_give_up_has_its_time_again_where_it_is_loaded():
    village = Village()
    village.beat("m1", 0, rebalance_timeout_ms=10_000)
    village.beat("m2", 0)
    village.beat("m1", 2)
    village.moves()
    village.run(11_000)
    assert [row["member_id"] for row in village.shown(1)["members"]] == ["m2"]


def test_static_members_and_expressions_are_loaded():
    village = Village()
    village.beat("s1", 0, instance_id="i")
    village.beat("s1", -2, instance_id="i")
    both = {"subscribed_topic_names": None, "subscribed_topic_regex": "[tu]"}
    village.beat("m1", 0, **both)
    village.moves()
    assert village.beat("s1", 2, instance_id="i", broker=1) == E.FENCED_MEMBER_EPOCH
    assert village.beat("s2", 0, instance_id="i", broker=1)[0] == 3
    group = village.brokers[1].room(Groups).coordinator.groups[GROUP].consumer_group
    assert group.resolved["[tu]"].topics == {"t", "u"}


def test_deleted_groups_stay_deleted():
    village = Village()
    village.beat("m1", 0)
    village.beat("m1", -1)
    village.say(0, "DeleteGroups", 2, {"groups_names": [GROUP]}, ms=SOON)
    village.moves()
    assert village.shown(1)["error_code"] == E.GROUP_ID_NOT_FOUND


def test_an_answer_waits_until_it_is_kept():
    village = Village()
    village.cut.add(2)
    assert village.beat("m1", 0, ms=100) is WAITING
    village.run(4 * LAG)  # the follower leaves the in-sync set
    assert village.shown()["group_epoch"] == 2


def test_what_could_not_be_kept_did_not_happen():
    village = Village(min_insync_replicas="3")
    village.cluster.group_configs[GROUP] = {"consumer.session.timeout.ms": "200000"}
    village.beat("m1", 0)
    village.cut.add(2)
    assert village.beat("m1", 2, rack_id="r", ms=4 * LAG) == E.COORDINATOR_NOT_AVAILABLE
    assert village.beat("m2", 0) == E.COORDINATOR_NOT_AVAILABLE
    assert [row["member_id"] for row in village.shown()["members"]] == ["m1"]
    assert village.shown()["group_epoch"] == 2


# --- conversions ------------------------------------------------------------------------------


def subscription(*owned):
    held = [{"topic": "u", "partitions": list(owned)}] if owned else []
    return encode_subscription(1, {"topics": ["u"], "user_data": None, "owned_partitions": held})


def part(*indexes):
    rows = [{"topic": "u", "partitions": list(indexes)}]
    return encode_assignment(1, {"assigned_partitions": rows, "user_data": None})


def classic_join(village, *owned, member="", broker=0):
    body = {
        "group_id": GROUP,
        "member_id": member,
        "session_timeout_ms": 200_000,
        "rebalance_timeout_ms": 200_000,
        "protocol_type": "consumer",
        "protocols": [{"name": "range", "metadata": subscription(*owned)}],
    }
    return village.say(broker, "JoinGroup", 2, body, ms=LATER)


def classic_sync(village, member, generation, plan=None, broker=0):
    rows = [] if plan is None else [{"member_id": member, "assignment": plan}]
    body = {"group_id": GROUP, "member_id": member, "generation_id": generation}
    answer = village.say(broker, "SyncGroup", 0, body | {"assignments": rows}, ms=SOON)
    if answer["error_code"]:
        return E(answer["error_code"])
    rows = decode_assignment(bytes(answer["assignment"]))[1]["assigned_partitions"]
    return [index for row in rows for index in row["partitions"]]


def upgraded():
    village = Village()
    who = classic_join(village)["member_id"]
    classic_sync(village, who, 1, part(0, 1, 2, 3))
    assert village.beat("m1", 0) == (2, [])
    return village, who


def test_a_classic_group_goes_on_as_a_consumer_group_at_the_next_coordinator():
    village, who = upgraded()
    village.moves()
    types = {row["member_id"]: row["member_type"] for row in village.shown(1)["members"]}
    assert types == {who: 0, "m1": 1}
    assert classic_join(village, 0, 1, 2, 3, member=who, broker=1)["generation_id"] == 1
    assert classic_sync(village, who, 1, broker=1) == [0, 1]
    assert classic_join(village, 0, 1, member=who, broker=1)["generation_id"] == 2
    assert village.beat("m1", 2, broker=1) == (2, [2, 3])


def test_a_consumer_group_goes_on_as_a_classic_one_at_the_next_coordinator():
    village, who = upgraded()
    village.beat("m1", -1)
    assert village.described(0)["group_state"] == "PreparingRebalance"
    village.moves()
    row = village.described(1)
    assert (row["group_state"], [m["member_id"] for m in row["members"]]) == ("Stable", [who])
    assert classic_join(village, member=who, broker=1)["generation_id"] == 3
