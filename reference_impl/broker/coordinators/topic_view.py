"""Coordinators of groups see the topics with Kafka's hash of each.

Worked out anew when the cluster changed. A group compares the hash of its topics with the one it
wrote down, so that it notices what changed while another broker coordinated it (KIP-1101).

Sources: Utils.computeTopicHash@4.3.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from touchstone.reference_impl.group.consumer_group import Topic, View
from touchstone.reference_impl.group.xxh3 import topic_hash

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker


class TopicViews:
    """The last view that was worked out; None before the first."""

    def __init__(self, broker: Broker) -> None:
        self.last: View | None = None


def topic_view(broker: Broker) -> View:
    """The topics there are, worked out anew when the cluster changed: those that did."""
    views = broker.room(TopicViews)
    found = views.last
    cluster = broker.cluster
    if found is not None and found.version == cluster.generation:
        return found
    told_apart = broker.persona.quirk("consumer-groups.topics-are-records")
    topics, before = {}, found.topics if found is not None else {}
    for topic in cluster.topics.values():
        racks = tuple(
            tuple(
                node.rack
                for node in map(cluster.brokers.get, part.replicas)
                if node is not None and node.rack is not None
            )
            for part in topic.partitions
        )
        if told_apart:
            racks = tuple(tuple(sorted(set(each))) for each in racks)
        known = before.get(topic.name)
        if known is None or known.id != topic.id or known.racks != racks:
            hashed = topic_hash(topic.name, topic.id, racks)
            known = Topic(topic.id, len(topic.partitions), hashed, racks)
        topics[topic.name] = known
    new = {topic.id for topic in topics.values()} - {topic.id for topic in before.values()}
    created = cluster.generation if new or found is None else found.created
    views.last = View(topics, cluster.generation, created)
    return views.last
