"""The registry becomes plain values and back, for a cluster on disk that restarts.

Kafka keeps this in ZooKeeper or in its metadata log; a cluster of ours keeps one JSON document
(`io/registry_file.py`). Topics with ids, partitions and overrides, the cluster's own id, what was
set dynamically, ACLs, and the counters that may not go back. Whoever is alive and who controls is
not in it: brokers come back one by one. A leader that comes back leads in a new epoch, as it does
after Kafka's restart.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from touchstone.reference_impl.cluster.acls import Entry, Pattern
from touchstone.reference_impl.cluster.client_settings import ClientSettings, entity
from touchstone.reference_impl.cluster.scram_credentials import NAMES, NUMBERS, ScramCredential
from touchstone.reference_impl.cluster.topology import NO_LEADER, Cluster, Partition, Topic

FORMAT = 1


def image_of(cluster: Cluster) -> dict[str, Any]:
    """Values that JSON can say."""
    return {
        "format": FORMAT,
        "cluster_id": cluster.cluster_id,
        "controller_epoch": cluster.controller_epoch,
        "next_broker_epoch": cluster.next_broker_epoch,
        "next_producer_id": cluster.next_producer_id,
        "dynamic_configs": cluster.dynamic_configs,
        "group_configs": cluster.group_configs,
        "metrics_configs": cluster.metrics_configs,
        "acls": [[*pattern, *entry] for pattern, entry in cluster.acls],
        "scram": _scram(cluster.client_settings),
        "quotas": [[who, values] for who, values in cluster.client_settings.quotas()],
        "features": cluster.features,
        "delegation_tokens": cluster.delegation_tokens.image(),
        "topics": {topic.name: _topic(topic) for topic in cluster.topics.values()},
    }


def _scram(settings: ClientSettings) -> dict[str, dict[str, str]]:
    return {
        user: {NAMES[kind]: str(each) for kind, each in settings.credentials(user).items()}
        for user in settings.users()
    }


def _topic(topic: Topic) -> dict[str, Any]:
    return {
        "id": topic.id.hex(),
        "configs": topic.configs,
        "partitions": [
            {
                "index": each.index,
                "replicas": each.replicas,
                "isr": each.isr,
                "leader": each.leader,
                "leader_epoch": each.leader_epoch,
                "partition_epoch": each.partition_epoch,
                "controller_epoch": each.controller_epoch,
                "adding": each.adding,
                "removing": each.removing,
                "elr": each.elr,
                "last_known_elr": each.last_known_elr,
            }
            for each in topic.partitions
        ],
    }


def restore(cluster: Cluster, image: Mapping[str, Any]) -> None:
    """Fill a cluster that has its brokers and no topics; KeyError or ValueError for a bad image."""
    if image["format"] != FORMAT:
        raise ValueError(f"format {image['format']} of a registry is unknown")
    cluster.cluster_id = image["cluster_id"]
    cluster.controller_epoch = image["controller_epoch"] + 1
    cluster.next_broker_epoch = image["next_broker_epoch"]
    cluster.next_producer_id = image["next_producer_id"]
    cluster.dynamic_configs = {name: dict(row) for name, row in image["dynamic_configs"].items()}
    groups = image.get("group_configs", {})
    cluster.group_configs = {name: dict(row) for name, row in groups.items()}
    subscriptions = image.get("metrics_configs", {})
    cluster.metrics_configs = {name: dict(row) for name, row in subscriptions.items()}
    for kind, form, name, *entry in image.get("acls", ()):
        cluster.acls.add(Pattern(kind, form, name), Entry(*entry))
    for user, held in image.get("scram", {}).items():
        credentials = {NUMBERS[kind]: ScramCredential.read(text) for kind, text in held.items()}
        cluster.client_settings.replace_credentials(user, credentials)
    for who, values in image.get("quotas", ()):
        parts = {kind: None if name is None else str(name) for kind, name in who}
        cluster.client_settings.set_quotas(entity(parts), values)
    cluster.features = dict(image.get("features", {}))
    cluster.delegation_tokens.restore(image.get("delegation_tokens", []))
    for name, row in image["topics"].items():
        partitions = [_partition(name, cells, cluster) for cells in row["partitions"]]
        cluster.adopt(Topic(name, bytes.fromhex(row["id"]), partitions, dict(row["configs"])))


def _partition(topic: str, cells: Mapping[str, Any], cluster: Cluster) -> Partition:
    names = ("adding", "removing", "elr", "last_known_elr")
    partition = Partition(topic, **{**cells, **{name: tuple(cells[name]) for name in names}})
    partition.leader_epoch += 1
    partition.partition_epoch += 1
    if partition.leader not in cluster.brokers:
        eligible = partition.isr or partition.elr  # an empty ISR left its last members there
        there = [broker for broker in eligible if broker in cluster.brokers]
        partition.leader = there[0] if there else NO_LEADER
        if there and not partition.isr:
            partition.isr = there[:1]
            partition.elr = tuple(each for each in partition.elr if each != there[0])
    return partition


def adopt_folders(cluster: Cluster, held: Mapping[tuple[str, int], bytes | None], me: int) -> None:
    """Topics as a broker's log directory shows them, for one that no registry tells about.

    Their partitions have this broker as their only replica; a topic without an id gets one.
    """
    by_topic: dict[str, dict[int, bytes | None]] = {}
    for (topic, index), topic_id in held.items():
        by_topic.setdefault(topic, {})[index] = topic_id
    for topic, indexes in by_topic.items():
        if topic not in cluster.topics:
            named = next((topic_id for topic_id in indexes.values() if topic_id), None)
            partitions = [Partition(topic, at, [me], [me], me) for at in sorted(indexes)]
            cluster.adopt(Topic(topic, named or cluster.fresh_id(), partitions))
