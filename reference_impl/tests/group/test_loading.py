"""A coordinator that is still reading its log says so, and serves when it has read it.

The buffer is one byte, so that each turn reads one batch, and a turn is a millisecond. Sources:
OFFS-25, GROUP-04, GROUP-21, GROUP-30; GroupMetadataManager.loadGroupsAndOffsets@2.8.2.
"""

from __future__ import annotations

import pytest

from touchstone.reference_impl.broker.control.internal_topics import OFFSETS
from touchstone.reference_impl.broker.personas.releases import RELEASES
from touchstone.reference_impl.tests.group.town import GROUP, Town
from touchstone.reference_impl.wire.errors import ErrorCode as E

COMMITS = 6


def loading_town(release="4.3", **how):
    """A town whose broker 1 has just become the coordinator and has read one batch of many."""
    town = Town(release, offsets_load_buffer_size="1", **how)
    for offset in range(COMMITS):
        assert town.commit(offset) == E.NONE
    town.elect(1, (0, 1, 2), OFFSETS)
    return town


def code(town, api, body, version=0, broker=1):
    client = town.send(broker, api, version, body)
    town.run()
    return town.answer(client, api, version)


def fetched(town, broker=1):
    body = {"group_id": GROUP, "topics": [{"name": "t", "partition_indexes": [0]}]}
    row = code(town, "OffsetFetch", body, 1, broker)["topics"][0]["partitions"][0]
    return row["committed_offset"], row["error_code"]


@pytest.mark.parametrize("release", RELEASES)
def test_offsets_are_served_when_all_of_them_are_read(release):
    town = loading_town(release)
    assert fetched(town) == (-1, E.COORDINATOR_LOAD_IN_PROGRESS)
    town.run(COMMITS // 2)
    assert fetched(town) == (-1, E.COORDINATOR_LOAD_IN_PROGRESS)
    town.run(COMMITS)
    assert fetched(town) == (COMMITS - 1, E.NONE)


MEMBER = {"group_id": GROUP, "member_id": "m", "generation_id": 1}
REFUSED = {
    "OffsetCommit": (2, {
        "group_id": GROUP, "generation_id_or_member_epoch": -1, "retention_time_ms": -1,
        "topics": [{"name": "t", "partitions": [{"partition_index": 0, "committed_offset": 1,
                                                 "committed_metadata": ""}]}],
    }),
    "JoinGroup": (2, {
        "group_id": GROUP, "session_timeout_ms": 30_000, "rebalance_timeout_ms": 30_000,
        "protocol_type": "consumer", "protocols": [{"name": "range", "metadata": b""}],
    }),
    "SyncGroup": (0, {**MEMBER, "assignments": []}),
    "LeaveGroup": (0, {"group_id": GROUP, "member_id": "m"}),
    "DescribeGroups": (0, {"groups": [GROUP]}),
    "ListGroups": (0, {}),
    "DeleteGroups": (0, {"groups_names": [GROUP]}),
    "OffsetDelete": (0, {"group_id": GROUP, "topics": []}),
    "ConsumerGroupHeartbeat": (1, {
        "group_id": GROUP, "member_id": "m", "member_epoch": 1, "rebalance_timeout_ms": -1,
        "subscribed_topic_names": None, "topic_partitions": None,
    }),
    "ConsumerGroupDescribe": (1, {"group_ids": [GROUP]}),
}  # fmt: skip


def codes(value):
    if isinstance(value, dict):
        for name, inner in value.items():
            if name == "error_code":
                yield inner
            else:
                yield from codes(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from codes(inner)


@pytest.mark.parametrize("api", REFUSED)
def test_who_asks_while_it_loads_is_told_so(api):
    town = loading_town()
    version, body = REFUSED[api]
    assert E.COORDINATOR_LOAD_IN_PROGRESS in codes(code(town, api, body, version))
    town.run(2 * COMMITS)
    assert E.COORDINATOR_LOAD_IN_PROGRESS not in codes(code(town, api, body, version))


def test_heartbeats_are_answered_blindly_while_it_loads():
    town = loading_town()
    assert code(town, "Heartbeat", MEMBER)["error_code"] == E.NONE
    town.run(2 * COMMITS)
    assert code(town, "Heartbeat", MEMBER)["error_code"] == E.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize(
    "version, word", [(0, E.COORDINATOR_NOT_AVAILABLE), (2, E.COORDINATOR_LOAD_IN_PROGRESS)]
)
def test_producers_of_before_2_0_do_not_know_the_word(version, word):
    town = loading_town("2.8")
    row = {"partition_index": 0, "committed_offset": 1, "committed_metadata": ""}
    body = {
        "transactional_id": "x", "group_id": GROUP, "producer_id": 0, "producer_epoch": 0,
        "topics": [{"name": "t", "partitions": [row]}],
    }  # fmt: skip
    assert list(codes(code(town, "TxnOffsetCommit", body, version))) == [word]


def test_one_that_loses_its_partition_meanwhile_stops_reading():
    town = loading_town()
    town.elect(2, (0, 1, 2), OFFSETS)
    town.run(2 * COMMITS)
    assert fetched(town, 1) == (-1, E.NOT_COORDINATOR)
    assert fetched(town, 2) == (COMMITS - 1, E.NONE)
    town.elect(1, (0, 1, 2), OFFSETS)
    town.run(2 * COMMITS)
    assert fetched(town, 1) == (COMMITS - 1, E.NONE)


def test_a_member_goes_on_in_its_generation_when_its_group_is_read():
    town = Town(offsets_load_buffer_size="1")
    town.join()
    town.sync()
    for _ in range(COMMITS):
        row = {"partition_index": 0, "committed_offset": 3, "committed_metadata": ""}
        body = {
            "group_id": GROUP, "retention_time_ms": -1, "member_id": town.member["member_id"],
            "generation_id_or_member_epoch": town.member["generation_id"],
            "topics": [{"name": "t", "partitions": [row]}],
        }  # fmt: skip
        assert list(codes(town.say(0, "OffsetCommit", 2, body, 10))) == [E.NONE]
    town.elect(1, (0, 1, 2), OFFSETS)
    body = {"group_id": GROUP, **town.member}
    assert code(town, "Heartbeat", body)["error_code"] == E.NONE
    assert code(town, "SyncGroup", {**body, "assignments": []})["error_code"] == (
        E.COORDINATOR_LOAD_IN_PROGRESS
    )
    town.run(2 * COMMITS)
    assert code(town, "SyncGroup", {**body, "assignments": []})["assignment"] == b"t-0"


def test_two_members_wait_out_a_coordinator_that_leaves():
    """A join that waits is answered when the partition goes, not when the next one has loaded."""
    town = Town(offsets_load_buffer_size="1")
    town.join()
    town.sync()
    version, body = REFUSED["JoinGroup"]
    waiting = town.send(0, "JoinGroup", version, body)
    town.run(10)
    assert not isinstance(town.answer(waiting, "JoinGroup", version), dict)
    town.elect(1, (0, 1, 2), OFFSETS)
    assert town.answer(waiting, "JoinGroup", version)["error_code"] == E.NOT_COORDINATOR


def test_a_small_log_is_there_at_once():
    town = Town()
    town.commit(5)
    town.elect(1, (0, 1, 2), OFFSETS)
    assert fetched(town) == (5, E.NONE)


def waits_for_a_group(town):
    """A second member's join, which waits for the first to join again."""
    town.join()
    town.sync()
    version, body = REFUSED["JoinGroup"]
    waiting = town.send(0, "JoinGroup", version, body)
    town.run(10)
    return lambda: town.answer(waiting, "JoinGroup", version)


def told(town, *leaders):
    """Broker 0 hears that these lead the offsets, one after another, before it looks again."""
    partition = town.cluster.partition(OFFSETS, 0)
    for leader in leaders:
        epoch = partition.leader_epoch + 1
        town.cluster.write(partition, leader=leader, leader_epoch=epoch, isr=[0, 1, 2])
        town.brokers[0].replicas.apply(town.cluster.state_of(partition), town.now)
    town.run()


@pytest.mark.parametrize("release", ["1.0", "2.8", "4.3"])
def test_a_coordinator_that_another_followed_and_that_leads_again_has_lost_its_groups(release):
    town = Town(release)
    answer = waits_for_a_group(town)
    told(town, 1, 0)
    assert answer()["error_code"] == E.NOT_COORDINATOR
    assert town.described(0)["group_state"] == "Stable"  # as its log says


def test_a_coordinator_that_leads_on_in_another_epoch_keeps_its_groups():
    town = Town()
    answer = waits_for_a_group(town)
    told(town, 0)
    assert not isinstance(answer(), dict)
