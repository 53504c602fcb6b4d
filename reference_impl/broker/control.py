"""The controller of a broker's cluster, by the persona's kind and rules.

All brokers of one process share the cluster's registry, so they share its controller too: on
ZooKeeper it is the one `Cluster.controller_id` names, on KRaft a node apart that always lives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference_impl.cluster.controller import Controller, ControlRules
from reference_impl.cluster.kraft_controller import KRaftController
from reference_impl.cluster.zookeeper_controller import ZooKeeperController

if TYPE_CHECKING:
    from reference_impl.broker.broker import Broker
    from reference_impl.broker.personas.persona import Persona


def rules_of(persona: Persona) -> ControlRules:
    quirk = persona.quirk
    return ControlRules(
        elr=quirk("controller.keeps-eligible-leaders"),
        isr_is_sorted=quirk("controller.sorts-reported-isrs"),
        takeover_shrinks_isr=quirk("controller.shrinks-isrs-when-it-begins"),
        elections_skip_needless=not quirk("controller.names-the-elections-it-skips"),
    )


def controller_of(broker: Broker) -> Controller:
    """Made when it is first asked for; every broker of the cluster gets the same one."""
    cluster = broker.cluster
    if cluster.controller is None:
        kind = KRaftController if broker.persona.kraft else ZooKeeperController
        cluster.controller = kind(cluster, rules_of(broker.persona))
    return cluster.controller


def is_controller(broker: Broker) -> bool:
    """Whether requests to a controller may come to this broker; KRaft's brokers pass them on."""
    return broker.persona.kraft or broker.cluster.controller_id == broker.id
