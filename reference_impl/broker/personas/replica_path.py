"""Where releases differ in how replicas follow, fall behind and come back: one row a behaviour.

A row is the sentence, the value from each release on that changed it, and where it was seen; how it
is read stands in `releases.py`.
"""

from __future__ import annotations

from touchstone.reference_impl.broker.personas.releases import Rows

_FETCHER = "ReplicaFetcherThread at 1.0.2, 2.2.1, 2.8.2; MetadataVersion at 3.9"
_PARTITION = "kafka.cluster.Partition at 1.0.2, 2.2.1, 2.8.2, 3.9"

ROWS: Rows = {
    "replicas.fetch-version": (
        "The version of Fetch in which followers ask.",
        {"1.0": 5, "2.2": 10, "2.8": 12, "3.9": 17, "4.3": 18},
        _FETCHER,
    ),
    "replicas.epoch-request-version": (
        "The version of OffsetForLeaderEpoch in which followers ask (KIP-101, KIP-279, KIP-320).",
        {"1.0": 0, "2.2": 2, "2.8": 4},
        _FETCHER,
    ),
    "replicas.list-offsets-version": (
        "The version of ListOffsets in which followers that are out of range ask.",
        {"1.0": 2, "2.2": 5, "2.8": 6, "3.9": 9, "4.3": 10},
        _FETCHER,
    ),
    "replicas.truncate-on-fetch": (
        "A follower learns from the answer to its fetch where its log left the leader's (KIP-595); "
        "before, it asks with OffsetForLeaderEpoch before it fetches.",
        {"1.0": False, "2.8": True},
        "ApiVersion.isTruncationOnFetchSupported at 2.8.2; MetadataVersion at 3.9",
    ),
    "isr.high-watermark-needs-min-isr": (
        "The high watermark stands still while the ISR is below min.insync.replicas (KIP-966).",
        {"1.0": False, "3.9": True},
        "Partition.maybeIncrementLeaderHW at 2.8.2, 3.9",
    ),
    "isr.end-is-in-sync": (
        "A follower that has all of the leader's log stays in the ISR however long it is silent.",
        {"1.0": False, "2.2": True},
        "Partition.getOutOfSyncReplicas at 1.0.2, 2.2.1",
    ),
    "isr.joins-past-epoch-start": (
        "A follower joins the ISR only past the offset at which the leader's epoch began.",
        {"1.0": False, "2.2": True},
        "Partition.maybeExpandIsr at 1.0.2, 2.2.1",
    ),
    "isr.joins-alive-only": (
        "A follower that is fenced or shutting down does not join the ISR and is not waited for.",
        {"1.0": False, "3.9": True},
        _PARTITION,
    ),
    "isr.smaller-moves-high-watermark": (
        "The high watermark moves when a follower has left the ISR; in 2.8 only with the next "
        "append or fetch (KAFKA-13091).",
        {"1.0": True, "2.8": False, "3.9": True},
        "Partition.handleAlterIsrResponse at 2.8.2; observed on 2.8.2",
    ),
    "fetch.own-id-fails": (
        "A fetch in the name of the leader itself fails as a whole (UNKNOWN_SERVER_ERROR).",
        {"1.0": True, "2.8": False},
        "observed",
    ),
    "list-offsets.waits-for-epoch": (
        "The latest offset is not told while the high watermark lies below where the leader's "
        "epoch began (KIP-207).",
        {"1.0": False, "2.2": True},
        "Partition.fetchOffsetForTimestamp at 2.2.1, 2.8.2, 3.9",
    ),
    "fetch.preferred-replica-is-in-sync": (
        "A consumer is sent to a closer replica only if that is in sync.",
        {"1.0": False, "3.9": True},
        "ReplicaManager.findPreferredReadReplica at 2.8.2, 3.9",
    ),
    "fetch.preferred-replica-at-once": (
        "A consumer is sent to a closer replica without waiting for records (KIP-392).",
        {"1.0": False, "3.9": True},
        "ReplicaManager.fetchMessages at 2.8.2, 3.9",
    ),
}
