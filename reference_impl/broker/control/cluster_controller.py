"""Every cluster has one controller, of the persona's kind and with its rules.

All brokers of one process share the cluster's registry, so they share its controller too: on
ZooKeeper it is the one `Cluster.controller_id` names, on KRaft a node apart that always lives.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from touchstone.reference_impl.broker.configs.config_values import is_true
from touchstone.reference_impl.broker.configs.config_view import broker_definitions
from touchstone.reference_impl.cluster.controller import Controller, ControlRules
from touchstone.reference_impl.cluster.kraft_controller import KRaftController
from touchstone.reference_impl.cluster.membership import Answered, MembershipRules
from touchstone.reference_impl.cluster.replica import NO_LEADER
from touchstone.reference_impl.cluster.zookeeper_controller import ZooKeeperController
from touchstone.reference_impl.wire.schema import Struct

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker
    from touchstone.reference_impl.broker.personas.persona import Persona
    from touchstone.reference_impl.cluster.topology import Cluster

CONTROLLED_SHUTDOWN = 7
NOT_CONTROLLER_MESSAGE = "This is not the correct controller for this cluster."


def rules_of(persona: Persona) -> ControlRules:
    quirk = persona.quirk
    return ControlRules(
        elr=quirk("controller.keeps-eligible-leaders"),
        isr_is_sorted=quirk("controller.sorts-reported-isrs"),
        takeover_shrinks_isr=quirk("controller.shrinks-isrs-when-it-begins"),
        takeover_drops_isr_changes=quirk("controller.drops-isr-changes-when-it-begins"),
        elects_on_config=quirk("controller.elects-when-unclean-is-allowed"),
        elections_skip_needless=not quirk("controller.names-the-elections-it-skips"),
    )


def new_controller(cluster: Cluster, persona: Persona) -> Controller:
    """The cluster's controller from now on."""
    kind = KRaftController if persona.kraft else ZooKeeperController
    cluster.controller = kind(cluster, rules_of(persona))
    return cluster.controller


def membership_rules(persona: Persona, config: Mapping[str, str]) -> MembershipRules:
    """The rules of sessions and shutdowns, as the brokers' settings give them."""
    definitions = broker_definitions(persona.release)

    def setting(name: str, gone: str = "") -> str:
        """`gone` is for a release that has no such setting any more."""
        given = config.get(name)
        return given or (str(definitions[name].default) if name in definitions else gone)

    session = "broker.session.timeout.ms" if persona.kraft else "zookeeper.session.timeout.ms"
    in_order = is_true(setting("controlled.shutdown.enable", "true"))
    balanced = is_true(setting("auto.leader.rebalance.enable"))
    balance = int(setting("leader.imbalance.check.interval.seconds")) * 1000 * balanced
    return MembershipRules(
        session_ms=int(setting(session)),
        shutdown_tries=int(setting("controlled.shutdown.max.retries", "3")) if in_order else 0,
        shutdown_backoff_ms=int(setting("controlled.shutdown.retry.backoff.ms", "5000")),
        balance_ms=balance,
        first_balance_ms=balance if persona.kraft else 5_000,
    )


class ClusterController:
    """The controller of the cluster, as one of its brokers knows it."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker

    @property
    def active(self) -> Controller:
        """Made when it is first asked for; every broker of the cluster gets the same one."""
        cluster = self._broker.cluster
        return cluster.controller or new_controller(cluster, self._broker.persona)

    def ask_to_stop(self, now: int, answered: Answered) -> None:
        """Have the controller move this broker's leaders away: ControlledShutdown on ZooKeeper, a
        word in its heartbeat to KRaft's quorum (CTL-24, KIP-631)."""
        if self._broker.persona.kraft:
            answered(self.active.shutdown(self._broker.id), now)
            return

        def heard(answer: Struct | None, at: int) -> None:
            refused = answer is None or answer["error_code"]
            answered(None if answer is None or refused else answer["remaining_partitions"], at)

        node = self._broker.cluster.node(self._broker.id)
        body = {"broker_id": self._broker.id, "broker_epoch": node.epoch}
        version = self._broker.persona.broker_listener[CONTROLLED_SHUTDOWN][1]
        to = self._broker.metadata.controller_id
        self._broker.ask(
            to, CONTROLLED_SHUTDOWN, version, body, heard, channel="controlled-shutdown"
        )

    @property
    def named(self) -> int:
        """Whom clients are told to ask. KRaft's quorum is not for them: any live broker passes on
        what is meant for it (Kafka draws one for each answer, getRandomAliveBroker)."""
        known = self._broker.metadata
        if not self._broker.persona.kraft or known.is_alive(known.controller_id):
            return known.controller_id
        return next((node.id for node in known.alive), NO_LEADER)

    @property
    def here(self) -> bool:
        """Whether requests to a controller may come here; KRaft's brokers pass them on."""
        return self._broker.persona.kraft or self._broker.cluster.controller_id == self._broker.id
