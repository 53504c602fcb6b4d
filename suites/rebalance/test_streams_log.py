"""Streams groups in `__consumer_offsets`: which records a change writes.

Of a batch the records of members come first, by their ids, and those without one last: what Kafka
writes in another order (harness/judgement/internal_logs.py).

Sources: KIP-1071; StreamsCoordinatorRecordHelpers@4.3.1; observed there.
"""

from touchstone.harness.model.claim import claim
from touchstone.harness.model.expect import all_of, answer, own_batches
from touchstone.harness.model.steps import ask
from touchstone.suites.kit.internal_logs import OFFSETS, written
from touchstone.suites.kit.streams_groups import (
    GIVEN,
    HEARTBEATS,
    LEAVE,
    beat,
    join,
    owning,
    reading,
    started,
)

GROUP, MEMBER, TARGET_EPOCH, TARGET, CURRENT, TOPOLOGY = 17, 19, 20, 21, 22, 23
KINDS = "[*].records[*].kind"


@claim("rebalance.streams-joins-are-records", switches=("streams-groups-not-logged",), **HEARTBEATS)
def test_streams_joins_are_records(case):
    """The first join writes one batch with the member, its target and current assignment, the group
    epoch, the target epoch and the topology; a later one writes no topology.
    """
    group, topic = case.group(), case.topic()
    told = reading(topic)
    return case.scenario(
        started(group, topic),
        written(
            OFFSETS,
            join(group, "m1", told, version=case.version, name="m1"),
            join(group, "m2", told, version=case.version, name="m2"),
        ),
        expect=own_batches("log", KINDS).is_(
            [
                [MEMBER, TARGET, CURRENT, TOPOLOGY, GROUP, TARGET_EPOCH],
                [TARGET, MEMBER, TARGET, CURRENT, GROUP, TARGET_EPOCH],
            ]
        ),
    )


@claim("rebalance.streams-steps-are-records", **HEARTBEATS)
def test_streams_steps_are_records(case):
    """Giving tasks up and taking them writes current assignments with the epoch of each active
    task; a heartbeat that changes nothing writes nothing.
    """
    group, topic = case.group(), case.topic()
    told = reading(topic)
    return case.scenario(
        started(group, topic),
        join(group, "m1", told, name="m1"),
        join(group, "m2", told, name="m2"),
        written(
            OFFSETS,
            beat(group, "m1", 2, version=case.version, name="is told"),
            beat(group, "m1", 2, version=case.version, name="gives up", **owning({"0": [0, 1]})),
            beat(group, "m1", 3, version=case.version, name="nothing"),
            beat(group, "m2", 3, version=case.version, name="takes"),
        ),
        expect=all_of(
            answer("takes", GIVEN).is_([2, 3]),
            own_batches("log", KINDS).is_([[CURRENT], [CURRENT], [CURRENT]]),
        ),
    )


@claim("rebalance.streams-good-byes-are-tombstones", **HEARTBEATS)
def test_streams_good_byes_are_tombstones(case):
    """A member that leaves writes three tombstones and a group epoch, DeleteGroups three tombstones
    of the group.
    """
    group, topic = case.group(), case.topic()
    return case.scenario(
        started(group, topic),
        join(group, "m1", reading(topic), name="m1"),
        written(
            OFFSETS,
            beat(group, "m1", LEAVE, version=case.version, name="leaves"),
            ask("DeleteGroups", 2, {"groups_names": [group]}, name="deleted"),
        ),
        expect=own_batches("log", KINDS).is_(
            [[CURRENT, TARGET, MEMBER, GROUP], [TARGET_EPOCH, GROUP, TOPOLOGY]]
        ),
    )
