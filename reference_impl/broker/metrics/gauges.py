"""What a broker is asked for is read from its state when somebody asks: nothing is kept for it.

Each function yields the metrics of one of Kafka's classes with their values at this moment.

Sources: ReplicaManager, Partition, UnifiedLog, LogManager, FetchSessionCache,
ControllerMetadataMetrics, QuorumControllerMetrics and GroupCoordinatorMetrics at 4.3.1,
KafkaController at 2.8.2; compared with a real 4.3.1 through JMX.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from touchstone.reference_impl.broker.coordinators.groups import Groups
from touchstone.reference_impl.broker.coordinators.share_groups import ShareGroups
from touchstone.reference_impl.broker.data.fetch_sessions import FetchSessions
from touchstone.reference_impl.broker.metrics.mbeans import Metric, attribute, gauge
from touchstone.reference_impl.group.states import State

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker
    from touchstone.reference_impl.cluster.replica import Replica

RUNNING, PENDING_SHUTDOWN = 3, 6  # BrokerState
CLASSIC, CONSUMER, SHARE, STREAMS = "classic", "consumer", "share", "streams"
# The states of groups that are no classic ones, as GroupCoordinatorMetrics registers them.
STATES = {
    CONSUMER: ("Empty", "Assigning", "Reconciling", "Stable", "Dead"),
    SHARE: ("Empty", "Stable", "Dead"),
    STREAMS: ("Empty", "NotReady", "Assigning", "Reconciling", "Stable", "Dead"),
}
Readings = Iterator[tuple[Metric, float]]


def replica_manager(broker: Broker) -> Readings:
    hosted = list(broker.replicas)
    led = [each for each in hosted if each.is_leader and not each.offline]
    values = {
        "PartitionCount": len(hosted),
        "LeaderCount": len(led),
        "OfflineReplicaCount": sum(each.offline for each in hosted),
        "UnderReplicatedPartitions": sum(map(_under_replicated, led)),
        "UnderMinIsrPartitionCount": sum(each.too_few for each in led),
        "AtMinIsrPartitionCount": sum(each.just_enough for each in led),
        "ReassigningPartitions": sum(bool(each.adding or each.removing) for each in led),
        "ProducerIdCount": sum(len(each.log.producers.producers) for each in hosted),
    }
    for name, value in values.items():
        yield gauge("kafka.server", "ReplicaManager", name), value


def partitions(broker: Broker) -> Readings:
    """A follower says 0 of what only a leader knows."""
    for each in broker.replicas:
        leads, log = each.is_leader, each.log
        values = {
            "UnderReplicated": leads and _under_replicated(each),
            "InSyncReplicasCount": len(each.isr) if leads else 0,
            "ReplicasCount": len(each.replicas) if leads else 0,
            "LastStableOffsetLag": log.high_watermark - log.last_stable_offset,
            "UnderMinIsr": leads and each.too_few,
            "AtMinIsr": leads and each.just_enough,
        }
        for name, value in values.items():
            yield gauge("kafka.cluster", "Partition", name, **_place(each)), int(value)


def logs(broker: Broker) -> Readings:
    for each in broker.replicas:
        values = {
            "Size": each.log.size,
            "LogStartOffset": each.log.log_start_offset,
            "LogEndOffset": each.log.log_end_offset,
            "NumLogSegments": len(each.log.segments),
        }
        for name, value in values.items():
            yield gauge("kafka.log", "Log", name, **_place(each)), value
    offline = sum(each.offline for each in broker.replicas.logs.directories())
    yield gauge("kafka.log", "LogManager", "OfflineLogDirectoryCount"), offline


def server(broker: Broker) -> Readings:
    stopping = broker.cluster.node(broker.id).stopping
    state = PENDING_SHUTDOWN if stopping else RUNNING
    yield gauge("kafka.server", "KafkaServer", "BrokerState"), state
    cache = broker.room(FetchSessions).cache
    of_cache = ("kafka.server", "FetchSessionCache")
    yield gauge(*of_cache, "NumIncrementalFetchSessions"), len(cache)
    cached = sum(each.size for each in cache)
    yield gauge(*of_cache, "NumIncrementalFetchPartitionsCached"), cached


def controller(broker: Broker) -> Readings:
    """The whole cluster's, which a ZooKeeper controller alone tells: all others say 0."""
    cluster = broker.cluster
    active = cluster.controller_id == broker.id
    tells = active or broker.persona.kraft
    found = list(cluster.all_partitions()) if tells else []
    values = {
        "ActiveControllerCount": int(active),
        "GlobalTopicCount": len(cluster.topics) if tells else 0,
        "GlobalPartitionCount": len(found),
        "OfflinePartitionsCount": sum(each.leader < 0 for each in found),
        "PreferredReplicaImbalanceCount": sum(each.leader != each.replicas[0] for each in found),
    }
    if broker.persona.kraft:
        values["ActiveBrokerCount"] = sum(node.alive for node in cluster.brokers.values())
        values["FencedBrokerCount"] = len(cluster.brokers) - values["ActiveBrokerCount"]
    for name, value in values.items():
        yield gauge("kafka.controller", "KafkaController", name), value


def groups(broker: Broker) -> Readings:
    """Groups that this broker coordinates: the older names tell of classic ones alone."""
    known = broker.room(Groups).coordinator.groups.values()
    classic = [each for each in known if each.newer_half is None]
    by_state = Counter(each.state for each in classic)
    of_manager = ("kafka.coordinator.group", "GroupMetadataManager")
    yield gauge(*of_manager, "NumGroups"), len(classic)
    for state in State:
        yield gauge(*of_manager, f"NumGroups{state}"), by_state[state]
    yield gauge(*of_manager, "NumOffsets"), sum(len(each.offsets) for each in known)
    if broker.persona.quirk("groups.newer-coordinator"):
        yield from _newer_groups(broker, len(classic))


def _newer_groups(broker: Broker, classic: int) -> Readings:
    """The metrics of the coordinator of 4.x, which counts each protocol apart."""
    found: dict[str, Counter[str]] = {kind: Counter() for kind in STATES}
    for group in broker.room(Groups).coordinator.groups.values():
        if group.newer_half is not None:
            kind = CONSUMER if group.streams_group is None else STREAMS
            found[kind][str(group.newer_half.state)] += 1
    for share in broker.room(ShareGroups).groups.values():
        found[SHARE][share.state] += 1
    of_coordinator = "group-coordinator-metrics"
    yield attribute(of_coordinator, "group-count", protocol=CLASSIC), classic
    for kind, counts in found.items():
        yield attribute(of_coordinator, "group-count", protocol=kind), counts.total()
        for state in STATES[kind]:
            name = f"{kind}-group-count"
            yield attribute(of_coordinator, name, state=state), counts[state]


def _under_replicated(replica: Replica) -> bool:
    """Replicas that a reassignment brings are not missed yet."""
    return len(set(replica.replicas) - set(replica.adding)) > len(replica.isr)


def _place(replica: Replica) -> dict[str, str]:
    return {"topic": replica.topic, "partition": str(replica.index)}


ALL = (replica_manager, partitions, logs, server, controller, groups)
