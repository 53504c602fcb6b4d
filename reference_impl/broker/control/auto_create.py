"""A broker creates topics that a client or a coordinator needs and nobody created.

The answer to the request that made the topic still says that it is not there (TOPIC-01); only its
retry finds it. Internal topics are made in the form their coordinator wants. Where Kafka would
refuse three replicas on fewer brokers and so never have a coordinator, this broker makes as many
as there are, unless the setting says a number: an embedded broker is mostly alone.

Sources: TOPIC-01..03; KafkaApis.createTopic and createInternalTopic@1.0.2, 2.2.1;
AutoTopicCreationManager@2.8.2 to 4.3.1; observed on all five.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.broker.configs.config_values import is_true
from touchstone.reference_impl.broker.control import kraft_topics, topic_names, zookeeper_topics
from touchstone.reference_impl.broker.control.internal_topics import OFFSETS, SHARES, TRANSACTIONS
from touchstone.reference_impl.broker.control.mutation_quotas import Permit, unbounded
from touchstone.reference_impl.broker.control.topic_outcomes import (
    default_partitions,
    default_replication,
)
from touchstone.reference_impl.cluster import racks
from touchstone.reference_impl.cluster.racks import PlacementError, StripedPlacer
from touchstone.reference_impl.wire.errors import ErrorCode

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker

PREFERRED_REPLICAS = 3
SEGMENT_BYTES, MIN_ISR = "segment.bytes", "min.insync.replicas"


class _Form(NamedTuple):
    """How a coordinator's topic is made."""

    partitions: str  # the setting that says how many
    replicas: str
    segment_bytes: str
    configs: Mapping[str, str]
    min_isr: str | None = None  # None: the topic has no such config


_FORMS: dict[str, _Form] = {
    OFFSETS: _Form(
        "offsets.topic.num.partitions",
        "offsets.topic.replication.factor",
        "offsets.topic.segment.bytes",
        {"cleanup.policy": "compact", "compression.type": "producer"},
    ),
    TRANSACTIONS: _Form(
        "transaction.state.log.num.partitions",
        "transaction.state.log.replication.factor",
        "transaction.state.log.segment.bytes",
        {
            "unclean.leader.election.enable": "false",
            "compression.type": "uncompressed",
            "cleanup.policy": "compact",
        },
        "transaction.state.log.min.isr",
    ),
    SHARES: _Form(
        "share.coordinator.state.topic.num.partitions",
        "share.coordinator.state.topic.replication.factor",
        "share.coordinator.state.topic.segment.bytes",
        {"cleanup.policy": "delete", "compression.type": "none", "retention.ms": "-1"},
    ),
}


class AutoTopicCreation:
    """Creates the topics that somebody needs and nobody created."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker

    def missing_topic(
        self, name: str, *, allowed: bool, permit: Permit = unbounded
    ) -> tuple[bool, int]:
        """(internal, error code) of a topic that does not exist; it may be created on the way.

        `permit` is asked for its partitions (`mutation_quotas`).
        """
        persona = self._broker.persona
        creating = allowed and is_true(self._broker.config.get("auto.create.topics.enable", "true"))
        if name in self._forms():
            if creating or persona.quirk("metadata.internal-topics-are-always-made"):
                return True, self.internal_topic(name)
            return True, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        if (creating or persona.quirk("metadata.names-are-always-checked")) and topic_names.fault(
            name
        ):
            return False, ErrorCode.INVALID_TOPIC_EXCEPTION
        if not creating:
            return False, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        try:
            self._create(
                name,
                default_partitions(self._broker),
                default_replication(self._broker),
                {},
                permit,
            )
        except ApiError as refused:
            if persona.kraft:  # the broker only asked; what the controller says, nobody is told
                return False, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            if refused.code == ErrorCode.TOPIC_ALREADY_EXISTS:  # its deletion is not over
                return False, ErrorCode.LEADER_NOT_AVAILABLE
            return False, refused.code
        return False, persona.quirk("metadata.answer-when-creating")

    def _forms(self) -> tuple[str, ...]:
        """The internal topics this release has."""
        shares = self._broker.persona.quirk("coordinator.knows-share-groups")
        return (OFFSETS, TRANSACTIONS, SHARES) if shares else (OFFSETS, TRANSACTIONS)

    def internal_topic(self, name: str, permit: Permit = unbounded) -> int:
        """Make a coordinator's topic; the code a Metadata answer gives for it this time."""
        if name in self._broker.cluster.topics:  # made, and this broker was not told yet
            return self._broker.persona.quirk("metadata.answer-when-creating")
        form, number = _FORMS[name], self._broker.number
        alive = len(self._broker.cluster.alive)
        factor = number(form.replicas, min(PREFERRED_REPLICAS, max(alive, 1)))
        if factor > alive:
            return ErrorCode.INVALID_REPLICATION_FACTOR
        configs = {SEGMENT_BYTES: str(number(form.segment_bytes, 100 << 20)), **form.configs}
        if form.min_isr is not None:
            configs[MIN_ISR] = str(number(form.min_isr, min(2, factor)))
        self._create(name, number(form.partitions, 50), factor, configs, permit)
        return self._broker.persona.quirk("metadata.answer-when-creating")

    def _create(
        self, name: str, partitions: int, factor: int, configs: dict[str, str], permit: Permit
    ) -> None:
        """ZooKeeper releases ignore racks here unless every broker has one (TOPIC-03). A broker
        that is cut off asks in vain.
        """
        cluster = self._broker.cluster
        if not cluster.reachable(self._broker.id):
            return
        if self._broker.persona.kraft:
            kraft_topics.check_name(self._broker, name)
            place = StripedPlacer(cluster.eligible_brokers(), cluster.random).place
            try:
                table = place(partitions, factor)
            except PlacementError as refused:
                raise ApiError(ErrorCode.INVALID_REPLICATION_FACTOR, refused.message) from None
        else:
            zookeeper_topics.check_name(self._broker, name)
            nodes = cluster.eligible_brokers()
            if not self._broker.persona.quirk("topics.auto-creation-needs-all-racks"):
                nodes = racks.without_racks(nodes)
            table = list(
                zookeeper_topics.placed(
                    self._broker,
                    lambda: racks.assign(nodes, partitions, factor, random=cluster.random),
                ).values()
            )
        permit(partitions)
        cluster.create(name, table, configs)
