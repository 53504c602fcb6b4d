"""A switch plants one defect in the broker, and the suites must notice each one.

A switch names a mistake that real brokers have made. It changes one behaviour (how, says
`broker/defects`), and names the claim that must fail when it is on (`touchstone broker --switch
NAME`). A suite that stays green with a switch on does not test what it claims to test.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import NamedTuple

from touchstone.reference_impl.broker.faults import (
    fuzz_faults,
    known_faults,
    listener_faults,
    quota_faults,
    security_faults,
    streams_faults,
    value_faults,
)


class Switch(NamedTuple):
    name: str
    sentence: str
    caught_by: str  # claim id; of FUZZ_SWITCHES an oracle or a watch, of LISTENER_SWITCHES a test


_ALL = (
    Switch(
        "offset-off-by-one",
        "Produce answers the base offset plus one.",
        "produce.base-offsets-count-up",
    ),
    Switch(
        "crc-not-checked",
        "A batch is stored whatever its CRC says.",
        "records.wrong-crc-is-refused",
    ),
    Switch(
        "acks-zero-answered",
        "Produce with acks=0 gets a response.",
        "produce.acks-zero-has-no-answer",
    ),
    Switch(
        "hw-ignored",
        "Consumers read up to the log end and past open transactions.",
        "fetch.read-committed-stops-at-the-last-stable-offset",
    ),
    Switch(
        "duplicate-appended",
        "A repeated batch of an idempotent producer is not recognised.",
        "produce.duplicates-answer-with-their-first-offsets",
    ),
    Switch(
        "sequence-gap-accepted",
        "A gap in an idempotent producer's sequence is accepted.",
        "produce.sequence-gaps-are-refused",
    ),
    Switch(
        "producer-epoch-not-checked",
        "A batch of an older producer epoch is accepted.",
        "produce.older-producer-epochs-are-refused",
    ),
    Switch(
        "fetch-skips-mid-batch",
        "A fetch from the middle of a batch begins at the next batch.",
        "fetch.begins-with-the-batch-that-holds-the-offset",
    ),
    Switch(
        "max-message-bytes-ignored",
        "Batches above max.message.bytes are stored.",
        "produce.batches-above-max-message-bytes-are-refused",
    ),
    Switch(
        "list-offsets-by-time-off",
        "A lookup by time gives the offset after the right one.",
        "offsets.by-time-is-the-first-record-not-older",
    ),
    Switch(
        "log-append-time-ignored",
        "A LogAppendTime topic keeps the producer's timestamps.",
        "records.log-append-time-replaces-timestamps",
    ),
    Switch(
        "keyless-on-compacted-accepted",
        "A compacted topic stores records without a key.",
        "records.compacted-topics-refuse-records-without-key",
    ),
    Switch(
        "record-count-not-checked",
        "A batch whose record count disagrees with its offsets is stored.",
        "records.count-must-equal-the-offset-range",
    ),
    Switch(
        "leader-epoch-not-checked",
        "Fetch and ListOffsets do not compare the client's leader epoch.",
        "fetch.wrong-leader-epochs-are-fenced",
    ),
    Switch(
        "min-isr-ignored",
        "acks=-1 is accepted with fewer in-sync replicas than min.insync.replicas.",
        "produce.too-few-in-sync-replicas-refuse-acks-all",
    ),
    Switch(
        "unknown-version-answered",
        "A request of a version that is not served is answered as if it were the newest.",
        "versions.unserved-versions-close-the-connection",
    ),
    Switch(
        "topic-created-without-validation",
        "CreateTopics does not look at the topic's name.",
        "topics.illegal-names-are-refused",
    ),
    Switch(
        "validate-only-creates",
        "CreateTopics with validate_only makes the topic.",
        "topics.validate-only-creates-nothing",
    ),
    Switch(
        "configs-not-validated",
        "CreateTopics and AlterConfigs take any config name and value.",
        "topics.bad-configs-are-refused",
    ),
    Switch(
        "topic-id-reused",
        "A topic that is created again has the id it had before.",
        "topics.a-new-topic-has-a-new-id",
    ),
    Switch(
        "auto-creation-not-asked-for",
        "Metadata creates topics although the request does not allow it.",
        "topics.metadata-creates-only-where-allowed",
    ),
    Switch(
        "racks-ignored",
        "Replicas are placed as if no broker had a rack.",
        "racks.replicas-spread-over-racks",
    ),
    Switch(
        "hw-too-early",
        "The high watermark follows the leader's log end, whatever followers have.",
        "acks.one-is-answered-before-followers-have-it",
    ),
    Switch(
        "isr-never-shrunk",
        "A follower stays in the in-sync set however far it falls behind.",
        "isr.a-stalled-follower-leaves",
    ),
    Switch(
        "isr-told-at-once",
        "An ISR that its leader wrote itself (1.0, 2.2) is told to brokers at once.",
        "isr.a-new-isr-is-told-later",
    ),
    Switch(
        "truncation-skipped",
        "A follower keeps what its leader never had.",
        "replication.an-old-leader-truncates",
    ),
    Switch(
        "lost-write",
        "Every other batch is acknowledged and not stored.",
        "produce.base-offsets-count-up",
    ),
    Switch(
        "follower-reads-past-hw",
        "Consumers that read from a follower read to the end of its log.",
        "replication.a-follower-shows-what-is-in-sync",
    ),
    Switch(
        "aborted-visible",
        "Aborted transactions are not listed for readers of committed records.",
        "transactions.aborted-records-are-marked-for-readers",
    ),
    Switch(
        "lso-ignored",
        "The last stable offset is the high watermark, whatever is open below it.",
        "transactions.open-ones-hold-readers-back",
    ),
    Switch(
        "fencing-skipped",
        "The transaction coordinator does not look at a producer's epoch.",
        "transactions.epochs-long-over-are-fenced",
    ),
    Switch(
        "marker-not-written",
        "A transaction is over as soon as its end is written down; no partition hears of it.",
        "transactions.markers-are-control-batches",
    ),
    Switch(
        "half-done-ends-forgotten",
        "A transaction coordinator does not go on with ends that another one decided.",
        "transactions.half-done-ends-are-done-by-who-is-elected",
    ),
    Switch(
        "torn-transaction",
        "Of a transaction's partitions only the first gets its marker.",
        "transactions.every-partition-gets-a-marker",
    ),
    Switch(
        "transaction-timeout-not-validated",
        "Any transaction timeout is taken.",
        "transactions.impossible-timeouts-are-refused",
    ),
    Switch(
        "transactions-never-time-out",
        "The coordinator does not abort transactions that outlive their timeout.",
        "transactions.long-ones-are-aborted",
    ),
    Switch(
        "pending-offsets-visible",
        "Offsets of an open transaction are fetched as if they were committed.",
        "transactions.offsets-count-from-the-commit-on",
    ),
    Switch(
        "retention-ignored",
        "No segment is ever too old or too much.",
        "log.retention-by-time",
    ),
    Switch(
        "compaction-drops-last-value",
        "Compaction removes the last record of a key with those before it.",
        "log.the-last-value-of-each-key-stays",
    ),
    Switch(
        "tombstone-kept-forever",
        "Compaction never removes a tombstone.",
        "log.tombstones-go-in-the-end",
    ),
    Switch(
        "full-session-cache-evicts-anybody",
        "A newcomer to a full cache of fetch sessions always takes somebody's place.",
        "fetch.a-full-cache-opens-no-session",
    ),
    Switch(
        "unclean-election-when-forbidden",
        "A replica outside the ISR may lead whatever unclean.leader.election.enable says.",
        "isr.only-its-members-are-elected",
    ),
    Switch(
        "epoch-not-bumped",
        "A new leader leads in the epoch of the last one.",
        "replication.each-election-is-an-epoch",
    ),
    Switch(
        "dead-leader-kept",
        "The controller does not look for another leader when a broker dies.",
        "controller.the-next-in-line-leads",
    ),
    Switch(
        "commit-metadata-lost",
        "OffsetCommit forgets the metadata beside an offset.",
        "offsets.metadata-of-commits-is-kept",
    ),
    Switch(
        "commit-metadata-unlimited",
        "OffsetCommit takes metadata of any length.",
        "offsets.metadata-of-commits-has-a-limit",
    ),
    Switch(
        "committed-offset-off-by-one",
        "A committed offset is kept as the one after it.",
        "offsets.commits-are-fetched",
    ),
    Switch(
        "commit-leader-epoch-lost",
        "OffsetCommit forgets the leader epoch of an offset.",
        "offsets.leader-epochs-of-commits-are-kept",
    ),
    Switch(
        "fetch-by-name-omits-leader-epoch",
        "OffsetFetch tells leader epochs only when it is asked for all topics.",
        "offsets.leader-epochs-are-fetched",
    ),
    Switch(
        "fetch-of-all-forgets-topics",
        "OffsetFetch of all topics answers one of them.",
        "offsets.all-are-fetched-without-naming-them",
    ),
    Switch(
        "unstable-offsets-fetched",
        "OffsetFetch does not care for open transactions when it is asked to.",
        "offsets.only-stable-ones-on-demand",
    ),
    Switch(
        "stale-generation-committed",
        "A commit is taken whatever generation it is of.",
        "offsets.other-generations-commit-nothing",
    ),
    Switch(
        "strangers-commit",
        "A commit is taken from whoever sends it.",
        "offsets.strangers-commit-nothing",
    ),
    Switch(
        "version-0-refused",
        "OffsetCommit 0 is refused although there is a ZooKeeper.",
        "offsets.version-0-is-kept-apart",
    ),
    Switch(
        "commit-not-logged",
        "A commit is kept in memory only.",
        "offsets.commits-are-records-of-the-offsets-topic",
    ),
    Switch(
        "group-tombstones-missing",
        "The log is not told that a group was deleted.",
        "offsets.deleted-groups-leave-tombstones",
    ),
    Switch(
        "offset-delete-forgets-nothing",
        "OffsetDelete answers NONE and deletes nothing.",
        "offsets.deleted-offsets-are-gone",
    ),
    Switch(
        "expired-offsets-kept",
        "Offsets never grow too old.",
        "offsets.retention-of-a-commit-ends",
    ),
    Switch(
        "retention-counts-from-the-commit",
        "Offsets of a group that emptied are as old as their commit.",
        "offsets.retention-counts-from-the-last-member-on",
    ),
    Switch(
        "groups-placed-by-mask",
        "A group's partition is its hash without the sign bit, not its absolute value.",
        "offsets.groups-have-a-partition-by-java-hash",
    ),
    Switch(
        "anybody-coordinates",
        "A broker that does not coordinate a group answers for it all the same.",
        "offsets.only-the-coordinator-has-them",
    ),
    Switch(
        "share-records-go-to-everybody",
        "Records that one member of a share group has acquired are given to another too.",
        "share.records-go-to-one-member",
    ),
    Switch(
        "share-locks-never-end",
        "Records that a member of a share group acquired stay its own for ever.",
        "share.locks-end",
    ),
    Switch(
        "share-deliveries-not-counted",
        "A record of a share group is delivered again as if for the first time.",
        "share.released-records-are-delivered-again",
    ),
    Switch(
        "share-released-are-lost",
        "A record that a member of a share group releases is given to nobody.",
        "share.released-records-are-delivered-again",
    ),
    Switch(
        "share-acks-of-anybody",
        "A member of a share group may acknowledge records that it has not.",
        "share.only-acquired-records-are-acknowledged",
    ),
    Switch(
        "share-next-leader-begins-anew",
        "Who takes up a share partition does not ask what became of its records before.",
        "share.the-next-leader-knows-what-was-done",
    ),
    Switch(
        "share-tombstones-missing",
        "States of share partitions stay in the log when their topic is deleted.",
        "share.deleted-topics-leave-tombstones",
    ),
    Switch(
        "share-snapshots-missing",
        "The share coordinator writes down changes of a state only, never all of it.",
        "share.every-so-often-a-snapshot",
    ),
    Switch(
        "share-cold-states-stay",
        "States of share partitions that nobody writes to never get another snapshot.",
        "share.cold-states-get-a-snapshot",
    ),
    Switch(
        "share-log-never-pruned",
        "What snapshots of share partitions made redundant stays in the log.",
        "share.what-snapshots-made-redundant-is-deleted",
    ),
    Switch(
        "member-epoch-not-fenced",
        "A heartbeat of a consumer group's member is taken whatever its epoch.",
        "rebalance.consumer-of-a-later-epoch-when-stable",
    ),
    Switch(
        "partition-given-to-two-members",
        "A member of a consumer group is given partitions before others gave them up.",
        "rebalance.consumer-histories-are-kafkas",
    ),
    Switch(
        "group-epoch-not-bumped",
        "The epoch of a consumer group stays when its members or their subscriptions change.",
        "rebalance.consumer-groups-begin-at-epoch-1",
    ),
    Switch(
        "consumer-groups-not-logged",
        "Consumer groups are kept in memory only.",
        "rebalance.joins-are-records",
    ),
    Switch(
        "generation-not-bumped",
        "A join phase ends in the generation it began in.",
        "rebalance.a-generation-begins-with-every-phase",
    ),
    Switch(
        "generations-start-over",
        "After a group's third generation comes its first again.",
        "rebalance.a-generation-begins-with-every-phase",
    ),
    Switch(
        "joins-not-awaited",
        "A join phase is over as soon as one member has joined.",
        "rebalance.join-new-stable",
    ),
    Switch(
        "joining-members-forgotten",
        "A member that joins again while others are awaited is unknown.",
        "rebalance.join-kept-preparing",
    ),
    Switch(
        "assignment-truncated",
        "An assignment loses its last byte on its way.",
        "rebalance.sync-leader-completing",
    ),
    Switch(
        "rebalance-too-many",
        "A member that joins a stable group again as it was begins a rebalance.",
        "rebalance.join-kept-stable",
    ),
    Switch(
        "fenced-instance-accepted",
        "A heartbeat is taken of a member whose instance id another has by now.",
        "rebalance.who-was-replaced-is-fenced",
    ),
    Switch(
        "session-timeout-ignored",
        "A member that is silent stays in its group.",
        "rebalance.silent-members-are-removed",
    ),
    Switch(
        "pending-syncs-not-told",
        "Who waits for an assignment does not hear that there is another rebalance.",
        "rebalance.pending-syncs-hear-of-a-newcomer",
    ),
    Switch(
        "group-size-ignored",
        "A group takes more members than group.max.size.",
        "rebalance.a-full-group-takes-nobody",
    ),
    Switch(
        "no-authorizer-no-acls",
        "Without an authorizer there are no ACLs, instead of nobody who could know.",
        "security.acls-are-not-told-without-an-authorizer",
    ),
    Switch(
        "any-handshake-welcome",
        "A SASL handshake succeeds on a listener without SASL.",
        "security.no-handshake-on-a-plain-listener",
    ),
    Switch(
        "initial-rebalance-delay-ignored",
        "The first join phase waits for nobody.",
        "rebalance.the-first-phase-waits-for-others",
    ),
)

_OF_ONE_SUBJECT = known_faults.ROWS + quota_faults.ROWS + security_faults.ROWS + streams_faults.ROWS
SWITCHES: dict[str, Switch] = {
    switch.name: switch for switch in (*_ALL, *(Switch(*row) for row in _OF_ONE_SUBJECT))
}
FUZZ_SWITCHES: dict[str, Switch] = {
    row[0]: Switch(*row) for row in fuzz_faults.ROWS + value_faults.ROWS
}
"""Those that an oracle or a watch of the fuzzer must notice, not a claim."""
LISTENER_SWITCHES: dict[str, Switch] = {row[0]: Switch(*row) for row in listener_faults.ROWS}
"""Those that a test must notice which alters listeners: claims have no keys."""


def check(names: Iterable[str]) -> None:
    """Raises ValueError for a name that is no switch's."""
    there = SWITCHES.keys() | FUZZ_SWITCHES.keys() | LISTENER_SWITCHES.keys()
    for name in sorted(set(names) - there):
        near = " or ".join(difflib.get_close_matches(name, there))
        hint = f"did you mean {near}?" if near else "`touchstone broker --help` lists them"
        raise ValueError(f"no switch {name}; {hint}")
