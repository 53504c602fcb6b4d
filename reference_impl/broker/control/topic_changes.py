"""A controller creates, grows and deletes topics, by ZooKeeper's rules or by KRaft's.

The two modes differ in the order of checks, in their messages, in who places replicas and in what
a timeout of zero means, so each has its own file of whole sentences instead of branches in common
ones. `of(broker)` picks. Handlers of CreateTopics, DeleteTopics and CreatePartitions turn
`Outcome`s into answers; auto-creation and internal topics come in by `auto_create`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from touchstone.reference_impl.broker.control import kraft_topics, zookeeper_topics
from touchstone.reference_impl.broker.control.topic_outcomes import NewTopic, Outcome

if TYPE_CHECKING:
    from types import ModuleType

    from touchstone.reference_impl.broker.broker import Broker

__all__ = ["NewTopic", "Outcome", "of"]


def of(broker: Broker) -> ModuleType:
    return kraft_topics if broker.persona.kraft else zookeeper_topics
