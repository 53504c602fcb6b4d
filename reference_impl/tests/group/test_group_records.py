"""A classic group that another coordinator reads from the log is the group that was written.

GROUP-18, GROUP-30; GroupMetadataManager.readGroupMessageValue and MemberMetadata.matches@2.8.2,
ClassicGroupMember@4.3.1: a loaded member has one protocol, the one that was chosen.
"""

from __future__ import annotations

from touchstone.reference_impl.group import log_records
from touchstone.reference_impl.group.states import State
from touchstone.reference_impl.tests.group.world import RANGE, ROUND, World
from touchstone.reference_impl.wire.errors import ErrorCode


def moved(world: World) -> World:
    """Another coordinator, which has read what this one wrote about its group."""
    group, other = world.group, World()
    kept = {member.id: member.assignment for member in group.members.values()}
    written = log_records.group_batch(group, kept, version=3, now=world.now)
    groups = {}
    log_records.read(written, groups, lambda name: None, other.now)
    other.coordinator.adopt(groups, other.now)
    return other


def test_a_loaded_member_that_rejoins_with_the_protocol_it_had_keeps_its_generation():
    world = World()
    _, follower = world.stable(2)
    other = moved(world)
    answer = other.join(follower).answer
    assert (answer["error_code"], answer["generation_id"]) == (ErrorCode.NONE, 1)
    assert other.group.state is State.STABLE


def test_a_loaded_member_that_rejoins_with_more_protocols_begins_a_rebalance():
    world = World()
    _, follower = world.stable(2)
    other = moved(world)
    assert other.join(follower, protocols=(RANGE, ROUND)).answer is None
    assert other.group.state is State.PREPARING
