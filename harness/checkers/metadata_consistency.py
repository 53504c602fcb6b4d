"""Metadata agrees with itself: brokers and partitions once each, leader and ISR among replicas.

Replica lists hold no broker twice. Offline replicas are replicas. A partition without a leader says
so with an error.
"""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.harness.checkers import walks
from touchstone.harness.model.finding import Finding
from touchstone.harness.model.transcript import Transcript
from touchstone.reference_impl.wire.schema import Struct

NOBODY = -1


def check(transcript: Transcript) -> list[Finding]:
    return [
        Finding("metadata-consistency", trip.label, path, word)
        for trip, answer in walks.decoded(transcript, "Metadata")
        for path, word in _faults(answer)
    ]


def _faults(answer: Struct) -> Iterator[tuple[str, str]]:
    nodes = [broker["node_id"] for broker in answer["brokers"] or ()]
    if len(set(nodes)) != len(nodes):
        yield "brokers", f"a broker stands here twice: {nodes}"
    for t, topic in enumerate(answer["topics"] or ()):
        indexes = [part["partition_index"] for part in topic["partitions"] or ()]
        if len(set(indexes)) != len(indexes):
            yield f"topics[{t}].partitions", f"a partition stands here twice: {indexes}"
        for p, part in enumerate(topic["partitions"] or ()):
            for word in _partition(part):
                yield f"topics[{t}].partitions[{p}]", word


def _partition(part: Struct) -> Iterator[str]:
    replicas = part["replica_nodes"] or []
    if len(set(replicas)) != len(replicas):
        yield f"a replica stands here twice: {replicas}"
    for word in ("isr_nodes", "offline_replicas"):
        strangers = set(part.get(word) or ()) - set(replicas)
        if strangers:
            yield f"{word} {sorted(strangers)} are not among the replicas {replicas}"
    leader = part["leader_id"]
    if leader == NOBODY and part["error_code"] == 0:
        yield "no leader and no error"
    if leader != NOBODY and leader not in replicas:
        yield f"leader {leader} is not among the replicas {replicas}"
