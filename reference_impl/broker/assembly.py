"""The brokers of one cluster are made here, alike behind sockets and under virtual time.

What brokers of a cluster have in common (a release, settings, planted defects) is said once here;
whoever runs them adds what is his own: where nodes are, who reaches the registry, what logs lie on,
and when a core begins and ends. Nothing here runs anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from touchstone.reference_impl.broker.broker import Broker
from touchstone.reference_impl.broker.configs import broker_settings, unobeyed
from touchstone.reference_impl.broker.configs.config_values import is_true
from touchstone.reference_impl.broker.configs.listener_settings import ListenerSettings
from touchstone.reference_impl.broker.control.cluster_controller import new_controller
from touchstone.reference_impl.broker.data.log_rules import rules_of
from touchstone.reference_impl.broker.personas import persona as persona_of
from touchstone.reference_impl.cluster.topology import Cluster
from touchstone.reference_impl.log.memory_logs import MemoryLogs, log_paths

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.effects import ThreadTime
    from touchstone.reference_impl.broker.faults.fault_plan import Plan
    from touchstone.reference_impl.broker.personas.persona import Persona
    from touchstone.reference_impl.broker.replication.replicas import Logs
    from touchstone.reference_impl.cluster.controller import Controller
    from touchstone.reference_impl.cluster.random_ids import RandomSource
    from touchstone.reference_impl.cluster.topology import Node

AUTHORIZER = "authorizer.class.name"
UNSTABLE_VERSIONS = "unstable.api.versions.enable"
Kind = TypeVar("Kind", bound=Cluster)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Assembly:
    persona: Persona
    config: Mapping[str, str]
    switches: frozenset[str]

    @classmethod
    def of(cls, release: str, config: Mapping[str, str], switches: Iterable[str]) -> Assembly:
        """Raises ValueError for a release or a switch that does not exist, for a setting whose
        value means nothing, and for one that would be a promise that nobody here keeps.
        """
        unobeyed.check(config)
        persona = persona_of(release).started_with(config)
        if any(each.sasl for each in ListenerSettings.of(config).listeners):
            sasl = import_module("touchstone.reference_impl.broker.security.sasl_settings")
            sasl.check(config, persona)
        broker_settings.check_start(config, persona.release)
        if config.get(AUTHORIZER):
            acls = import_module("touchstone.reference_impl.broker.security.acls.authorizer")
            acls.settings_of(config, persona)
        if is_true(config.get(UNSTABLE_VERSIONS)):
            # The schemas of all requests are loaded for it, which nobody else should pay for.
            unstable = import_module("touchstone.reference_impl.broker.personas.unstable")
            persona = unstable.with_unstable(persona)
        wanted = frozenset(switches)
        if wanted:  # their table of sentences is loaded only where one is on
            import_module("touchstone.reference_impl.broker.faults.switches").check(wanted)
        return cls(persona, config, wanted)

    def cluster(
        self, nodes: Iterable[Node], kind: Callable[..., Kind], random: RandomSource, **more: Any
    ) -> Kind:
        """The registry of these nodes; `random` is all that chance may decide, `more` is for it."""
        topic_ids = self.persona.quirk("topics.have-ids")
        cluster = kind(nodes, random=random, topic_ids=topic_ids, **more)
        cluster.acls.kept = bool(self.config.get(AUTHORIZER))
        return self._planted(cluster)

    def controller(self, cluster: Cluster) -> Controller:
        """The controller of the cluster, from now on."""
        return self._planted(new_controller(cluster, self.persona))

    def memory(self, cluster: Cluster, broker: int) -> MemoryLogs:
        """Logs that outlive a broker's core as disk and page cache outlive a process."""
        return MemoryLogs(
            partial(cluster.config_of, broker=broker),
            rules=rules_of(self.persona),
            paths=log_paths(self.config),
        )

    def broker(
        self,
        cluster: Cluster,
        number: int,
        logs: Logs,
        faults: Plan | None = None,
        thread_time: ThreadTime = lambda: 0,
    ) -> Broker:
        """A core over these logs, which may have been another's before; in `thread_time` nothing
        takes time, unless it is told better.
        """
        broker = Broker(
            number,
            cluster=cluster,
            persona=self.persona,
            config=self.config,
            logs=logs,
            faults=faults,
            thread_time=thread_time,
        )
        return self._planted(broker)

    def _planted(self, one: T) -> T:
        """With its planted defects, whose table is loaded only if there are any."""
        if not self.switches:
            return one
        return import_module("touchstone.reference_impl.broker.defects").plant(one, self.switches)
