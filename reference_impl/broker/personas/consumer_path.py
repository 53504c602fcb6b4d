"""Where releases differ in what consumer groups of KIP-848 do: one row each.

3.9 serves them as a preview, and only when it is told to (`v3_9.PREVIEW`); the rows of older
releases say what 3.9 does and meet no group. `group/consumer_rules.py` has the rules as a value.

How a row reads: `group_path.py`.
"""

from __future__ import annotations

from touchstone.reference_impl.broker.personas.releases import Rows

_SEEN = (
    "observed on 3.9.2 with group.coordinator.rebalance.protocols=classic,consumer, and on 4.3.1"
)
_READ = "read in GroupMetadataManager@3.9.0, not tried there; observed on 4.3.1"

ROWS: Rows = {
    "consumer-groups.begin-at-epoch": (
        "The group epoch and the assignment epoch of a group in which nobody subscribed.",
        {"1.0": 0, "4.3": 1},
        _SEEN,
    ),
    "consumer-groups.joins-name-topics": (
        "A first heartbeat that names no topic is an INVALID_REQUEST; without the quirk a member "
        "may subscribe to nothing.",
        {"1.0": True, "4.3": False},
        _SEEN,
    ),
    "consumer-groups.every-epoch-is-compared": (
        "A member past its first epoch that joins again is fenced, and a commit in an earlier "
        "epoch is stale whatever it is for; without the quirk both are taken (KIP-1251).",
        {"1.0": True, "4.3": False},
        _SEEN,
    ),
    "consumer-groups.unwanted-topics-go-at-once": (
        "A member gives up the partitions of topics that it stops subscribing to before the next "
        "target assignment says so.",
        {"1.0": False, "4.3": True},
        _SEEN,
    ),
    "consumer-groups.revoking-ends-an-epoch": (
        "A member that gave partitions up, and has to give up more, is one epoch further.",
        {"1.0": True, "4.3": False},
        "CurrentAssignmentBuilder.build@3.9.0; " + _SEEN,
    ),
    "consumer-groups.members-wait-for-themselves": (
        "A partition that a member was to give up and shall have again is not free for it in the "
        "heartbeat that says so.",
        {"1.0": True, "4.3": False},
        "CurrentAssignmentBuilder.computeNextAssignment@3.9.0; " + _SEEN,
    ),
    "consumer-groups.anybody-is-put-out": (
        "LeaveGroup removes members of the consumer protocol too; without the quirk they are "
        "unknown to it.",
        {"1.0": False, "4.3": True},
        _SEEN,
    ),
    "consumer-groups.classic-members-follow-the-target": (
        "A classic member has to join again for another target assignment; without the quirk for "
        "another group epoch.",
        {"1.0": False, "4.3": True},
        "GroupMetadataManager.throwIfRebalanceInProgress@3.9.0; " + _SEEN,
    ),
    "consumer-groups.migration-policy-bars-joins": (
        "Where migration is disabled no classic member joins a consumer group; without the quirk "
        "the policy is asked only for upgrades and downgrades.",
        {"1.0": False, "4.3": True},
        _READ,
    ),
    "consumer-groups.end-by-replacement": (
        "A static member that is the only one of the consumer protocol and comes back with the "
        "classic one makes its group a classic one.",
        {"1.0": False, "4.3": True},
        _READ,
    ),
    "consumer-groups.custom-assignors-stay-classic": (
        "A classic group whose assignments have user data is not upgraded.",
        {"1.0": False, "4.3": True},
        _READ,
    ),
    "consumer-groups.the-away-name-themselves": (
        "A heartbeat of a static member that goes away has a member id, whatever its version.",
        {"1.0": True, "4.3": False},
        _SEEN,
    ),
    "consumer-groups.revoked-partitions-are-described": (
        "ConsumerGroupDescribe counts what a member has to give up to what it has.",
        {"1.0": False, "4.3": True},
        _SEEN,
    ),
    "consumer-groups.descriptions-say-why": (
        "ConsumerGroupDescribe has a message where a group is not there or of another kind.",
        {"1.0": False, "4.3": True},
        _SEEN,
    ),
    "consumer-groups.partitions-describe-all": (
        "Each partition of `__consumer_offsets` that has one of the groups describes all of them, "
        "as it knows them; and an empty id is an UNKNOWN_SERVER_ERROR for all.",
        {"1.0": True, "4.3": False},
        "GroupCoordinatorService.consumerGroupDescribe@3.9.0; " + _SEEN,
    ),
    "consumer-groups.targets-go-by-instances": (
        "The target of a member with an instance id is that of the instance id's last member: "
        "nothing for an instance id that is new, until a target is worked out.",
        {"1.0": True, "4.3": False},
        "ModernGroup.targetAssignment@3.9.0, found by random histories; " + _SEEN,
    ),
    "consumer-groups.uniform-is-the-first": (
        "The assignor `uniform` gives what is over to the first members whether or not they need "
        "it, and levels members of different subscriptions one partition at a time "
        "(group/preview_assignor.py).",
        {"1.0": True, "4.3": False},
        "UniformHomogeneousAssignmentBuilder, UniformHeterogeneousAssignmentBuilder@3.9.0; "
        + _SEEN,
    ),
    "consumer-groups.assignments-have-buckets": (
        "How many buckets a copy of an assignment has at the least: its partitions come in their "
        "order (java_maps.after_copy).",
        {"1.0": 16, "4.3": 1},
        _SEEN,
    ),
    "consumer-groups.topics-are-records": (
        "The log of groups names the topics that a group subscribes to; without the quirk it has "
        "their hash (KIP-1101), when a target was worked out and when each partition was assigned "
        "(KIP-1251).",
        {"1.0": True, "4.3": False},
        _READ,
    ),
}
