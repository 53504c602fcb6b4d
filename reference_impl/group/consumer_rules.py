"""What a release decides about consumer groups, once for all of them.

The protocol was a preview up to 3.9 and changed until it was finished (KIP-848). The defaults are
those of the newest release; a persona gives its own (`coordinators/consumer_groups.py`).

Sources: GroupMetadataManager, ConsumerGroup, CurrentAssignmentBuilder@3.9.0 and 4.3.1; observed on
3.9.2 and 4.3.1.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ConsumerRules:
    """Each rule as a sentence that is true of the release, or not."""

    first_epoch: int = 1  # both epochs of a group that nobody subscribed in
    joins_name_topics: bool = False  # a first heartbeat names one topic or more
    away_names_itself: bool = False  # who goes away has a member id, whatever the version
    compares_epochs: bool = False  # `consumer_requests.PREVIEW`: with each join and each commit
    drops_at_once: bool = True  # a member gives up what it stops wanting before the next target
    revoking_ends_an_epoch: bool = False  # who gave up and has to give up more is one further
    waits_for_itself: bool = False  # what a member is giving up is not free for itself
    anybody_is_put_out: bool = True  # LeaveGroup removes members of the consumer protocol too
    follows_target: bool = True  # a classic member joins for another target; else for another epoch
    policy_bars_joins: bool = True  # without migration no classic member joins a consumer group
    ends_by_replacement: bool = True  # the last consumer member may come back as a classic one
    custom_assignors_stay: bool = True  # a classic group whose assignments have user data stays one
    instances_come_first: bool = False  # a target is looked up by an instance id, if there is one
    early_uniform: bool = False  # the assignor `uniform` is that of `preview_assignor.py`
    least_buckets: int = 1  # of the copy of an assignment, which tell the order of its partitions
    keeps_topics: bool = False  # the log has the topics themselves, not their hash (KIP-1101)


NEWEST = ConsumerRules()
