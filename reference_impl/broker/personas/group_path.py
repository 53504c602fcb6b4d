"""Where releases differ in what group coordinators do: one row each, read as `control_path.py`'s.

`quirks.py` has that order and the names, each persona takes its column.
"""

from __future__ import annotations

from touchstone.reference_impl.broker.personas.releases import Rows

_SEEN = "observed on 1.0.2, 2.2.1, 2.8.2, 3.9.2, 4.3.1"

ROWS: Rows = {
    "offsets.no-groups-never-answered": (
        "An OffsetFetch about no group (from version 8 on) is never answered.",
        {"1.0": True, "4.3": False},
        "observed on 3.9.2, 4.3.1; older releases serve no such version",
    ),
    "groups.early-states": (
        "The early column of group/states.py: a dead group is an unknown member, and a heartbeat "
        "is told of the rebalance while assignments are awaited.",
        {"1.0": True, "2.8": False},
        _SEEN,
    ),
    "groups.empty-ids-are-refused": (
        "The empty group id answers INVALID_GROUP_ID to whoever wants to be a member; without the "
        "quirk only to JoinGroup.",
        {"1.0": False, "2.2": True},
        _SEEN,
    ),
    "groups.awaiting-assignments": (
        "What the state between join and assignment is called.",
        {"1.0": "AwaitingSync", "2.2": "CompletingRebalance"},
        _SEEN,
    ),
    "groups.refused-join-has-generation": (
        "The generation in a JoinGroup answer that is an error.",
        {"1.0": 0, "2.2": -1},
        _SEEN,
    ),
    "groups.syncs-are-awaited": (
        "A member that does not sync within the rebalance timeout is removed.",
        {"1.0": False, "2.8": True},
        "DelayedSync is there from 2.8.2 on",
    ),
    "groups.new-members-lapse": (
        "A first join that waits longer than five minutes is given up.",
        {"1.0": False, "2.2": True},
        "GroupCoordinator.NewMemberJoinTimeoutMs@2.2.1",
    ),
    "offset-commit.merges-topics": (
        "A topic that OffsetCommit names twice is one topic of the answer.",
        {"1.0": True, "4.3": False},
        "observed on all five releases",
    ),
    "groups.newer-coordinator": (
        "Commits of version 9 and later to a group that does not exist answer GROUP_ID_NOT_FOUND, "
        "and rows that failed come first (the coordinator written for KIP-848; 3.9 has it and "
        "does not use it unless told).",
        {"1.0": False, "4.3": True},
        _SEEN,
    ),
    "groups.unknown-instances-are-refused": (
        "A member that names an instance id nobody has is unknown; without the quirk its member "
        "id counts.",
        {"1.0": False, "3.9": True},
        _SEEN,
    ),
    "offsets.members-and-generations-are-looked-at-apart": (
        "TxnOffsetCommit 3 looks at a member's id if it names one and at its generation if it "
        "names one; later a generation without a member is nobody's, and an empty group takes "
        "anything without a generation.",
        {"1.0": False, "2.8": True, "3.9": False},
        "seen on 2.8.2, found by random histories",
    ),
    "groups.have-configs": (
        "Groups have configs, so their operations include describing and altering them.",
        {"1.0": False, "4.3": True},
        _SEEN,
    ),
    "offsets.partitions-are-checked": (
        "A commit for a partition that its topic does not have is refused; without the quirk "
        "only an unknown topic is.",
        {"1.0": False, "2.2": True},
        _SEEN,
    ),
    "groups.assignments-are-always-shown": (
        "DescribeGroups shows the assignments members have, in any state; without the quirk only "
        "of stable groups.",
        {"1.0": False, "4.3": True},
        _SEEN,
    ),
    "groups.ties-are-broken-as-by": (
        "Of two protocols with as many votes the one wins that comes first in this runtime's "
        "hash map (group/protocol_tie_break.py).",
        {"1.0": "scala 2.12", "2.8": "scala 2.13", "4.3": "java"},
        _SEEN,
    ),
    "groups.consumer-protocol-is-on": (
        "Groups of KIP-848 are served; without the quirk they are UNSUPPORTED_VERSION.",
        {"1.0": False, "4.3": True},
        _SEEN,
    ),
    "groups.rejoins-keep-their-timeouts": (
        "A member has the timeouts of its first join, whatever it says when it joins again.",
        {"1.0": True, "3.9": False},
        _SEEN,
    ),
    "groups.syncs-are-signs-of-life": (
        "A member that asks again for its assignment begins a new session.",
        {"1.0": True, "4.3": False},
        _SEEN,
    ),
    "groups.size-counts-everybody": (
        "Members that have not come back count against group.max.size while a group rebalances.",
        {"1.0": False, "2.2": True, "2.8": False},
        _SEEN,
    ),
    "groups.protocols-are-a-set": (
        "A protocol that JoinGroup names twice counts once; without the quirk twice, and its group "
        "has no protocol that as many support as there are members.",
        {"1.0": True, "2.2": False},
        "GroupMetadata.candidateProtocols@1.0.2, supportedProtocols@2.2.1; observed on all five",
    ),
    "groups.must-speak-their-protocol": (
        "A join phase of consumers does not end while one's metadata is no subscription: reading "
        "it throws (GroupMetadata.computeSubscribedTopics@2.8.2).",
        {"1.0": False, "2.8": True},
        _SEEN,
    ),
    "groups.joins-try-again": (
        "Where the end of a join phase threw, the next JoinGroup tries it again; without the quirk "
        "nobody does (DelayedJoin is completed once).",
        {"1.0": False, "4.3": True},
        "observed on 3.9.2, 4.3.1",
    ),
    "groups.states-are-named-in-any-case": (
        "ListGroups takes the names of states in small letters too.",
        {"1.0": False, "3.9": True},
        _SEEN,
    ),
    "offsets.failed-deletions-come-first": (
        "OffsetDelete answers the partitions that are not there before the others.",
        {"1.0": False, "3.9": True},
        _SEEN,
    ),
    "offsets.in-zookeeper": (
        "Version 0 of OffsetCommit and OffsetFetch keeps offsets in ZooKeeper; without the quirk "
        "it is refused.",
        {"1.0": True, "3.9": False},
        _SEEN,
    ),
    "groups.value-version": (
        "The version of a group's value in `__consumer_offsets`.",
        {"1.0": 1, "2.2": 2, "2.8": 3},
        _SEEN,
    ),
    "offsets.value-version": (
        "The version of an offset's value in `__consumer_offsets`.",
        {"1.0": 1, "2.2": 3, "4.3": 4},
        _SEEN,
    ),
    "offsets.partitions-are-answered-once": (
        "A request's partitions are a map: one that is named twice is answered once, and a topic "
        "of which none is named is not answered to a fetch.",
        {"1.0": True, "4.3": False},
        _SEEN,
    ),
    "offsets.groups-end-with-their-last": (
        "When OffsetDelete takes the last offset of an empty group the group is gone with it; "
        "without the quirk it goes with the next look at old offsets.",
        {"1.0": False, "2.8": True, "4.3": False},
        _SEEN,
    ),
    "offsets.members-keep": (
        "Whose offsets stay while a group has members, however old they are.",
        {"1.0": "nothing", "2.2": "all", "2.8": "subscribed"},
        _SEEN,
    ),
    "groups.tombstones-need-a-generation": (
        "A group that never had a generation gets no tombstone of its own when it goes.",
        {"1.0": True, "4.3": False},
        _SEEN,
    ),
    "offsets.too-large-commits-are-told-apart": (
        "A commit that its topic's max.message.bytes does not allow is INVALID_COMMIT_OFFSET_SIZE; "
        "without the quirk it is UNKNOWN_SERVER_ERROR.",
        {"1.0": True, "4.3": False},
        _SEEN,
    ),
    "groups.loaded-ones-are-listed-meanwhile": (
        "While one partition is being loaded ListGroups shows the groups of the others beside its "
        "error; without the quirk no group.",
        {"1.0": True, "4.3": False},
        "GroupCoordinator.handleListGroups@2.8.2, GroupCoordinatorService.listGroups@4.3",
    ),
    "offsets.live-from-their-commit": (
        "Retention counts from the commit, not from when the group became empty (KIP-211).",
        {"1.0": True, "2.2": False},
        "OFFS-23",
    ),
}
