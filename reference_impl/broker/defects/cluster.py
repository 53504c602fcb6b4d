"""Defects of the controller, of what it keeps, and of how replicas are led and followed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from touchstone.reference_impl.broker.configs.topic_settings import TopicSettings
from touchstone.reference_impl.broker.control.auto_create import AutoTopicCreation
from touchstone.reference_impl.broker.control.cluster_controller import ClusterController
from touchstone.reference_impl.broker.control.mutation_quotas import MutationQuotas
from touchstone.reference_impl.broker.control.topic_names import TopicNames
from touchstone.reference_impl.broker.data.client_quotas import TIME, ClientQuotas
from touchstone.reference_impl.broker.data.log_manager import LogManager
from touchstone.reference_impl.broker.defects.planting import defect, maker, setting
from touchstone.reference_impl.broker.replication.follower import UNDEFINED, Fetcher
from touchstone.reference_impl.broker.replication.replicas import Replicas
from touchstone.reference_impl.cluster.controller import Controller
from touchstone.reference_impl.cluster.kraft_controller import KRaftController
from touchstone.reference_impl.cluster.racks import EligibleBroker
from touchstone.reference_impl.cluster.replica import Replica
from touchstone.reference_impl.cluster.topology import Cluster, Partition
from touchstone.reference_impl.cluster.zookeeper_controller import ZooKeeperController

Real = Callable[..., Any]

maker(ClusterController, "active")
maker(Replicas, "_fetcher")


# ----------------------------------------------------------------------------------- topics


@defect("auto-creation-not-asked-for", AutoTopicCreation, "missing_topic")
def auto_creation_not_asked_for(
    real: Real, _: AutoTopicCreation, name: str, *, allowed: bool, **how: Any
) -> tuple[bool, int]:
    return real(name, allowed=True, **how)


@defect("auto-creation-never", AutoTopicCreation, "missing_topic")
def auto_creation_never(
    real: Real, _: AutoTopicCreation, name: str, *, allowed: bool, **how: Any
) -> tuple[bool, int]:
    return real(name, allowed=False, **how)


@defect("topic-created-without-validation", TopicNames, "check")
def topic_created_without_validation(real: Real, _: TopicNames, name: str) -> None:
    pass


@defect("configs-not-validated", TopicSettings, "check")
def configs_not_validated(real: Real, _: TopicSettings, configs: Mapping[str, str]) -> None:
    pass


@setting("topic-id-reused", Cluster)
def makes_no_topic(cluster: Any) -> None:
    cluster.making = None


@defect("topic-id-reused", Cluster, "create")
def remembers_the_name(real: Real, cluster: Any, name: str, *args: Any, **named: Any) -> Any:
    cluster.making = name
    try:
        return real(name, *args, **named)
    finally:
        cluster.making = None


@defect("topic-id-reused", Cluster, "fresh_id")
def topic_id_reused(real: Real, cluster: Any) -> bytes:
    """A topic's id is its name."""
    return real() if cluster.making is None else cluster.making.encode()[:16].ljust(16, b"-")


@defect("racks-ignored", Cluster, "eligible_brokers", "fenced_brokers")
def racks_ignored(real: Real, _: Cluster) -> list[EligibleBroker]:
    return [EligibleBroker(each.id, None, each.fenced) for each in real()]


# -------------------------------------------------------------------------------- controllers


@defect("unclean-election-when-forbidden", Controller, "unclean")
def unclean_election_when_forbidden(real: Real, _: Controller, partition: Partition) -> bool:
    return True


@defect("dead-leader-kept", KRaftController, "left")
@defect("dead-leader-kept", ZooKeeperController, "left")
def dead_leader_kept(real: Real, controller: Controller, broker: int) -> None:
    controller.cluster.brokers[broker].alive = False
    controller.cluster.broker_changed(broker)


@defect("epoch-not-bumped", Cluster, "write")
def epoch_not_bumped(real: Real, _: Cluster, partition: Partition, **values: Any) -> None:
    values.pop("leader_epoch", None)
    real(partition, **values)


@defect("isr-told-at-once", ZooKeeperController, "isr_written")
def isr_told_at_once(
    real: Real, controller: ZooKeeperController, partition: Partition, isr: Sequence[int]
) -> None:
    controller.isr_changed(partition, isr)


# ----------------------------------------------------------------------------------- replicas


@defect("hw-too-early", Replica, "advance")
def hw_too_early(real: Real, replica: Replica, now: int) -> bool:
    return replica.log.advance_high_watermark(replica.log.log_end_offset)


@defect("isr-never-shrunk", Replica, "lagging")
def isr_never_shrunk(real: Real, _: Replica, now: int) -> tuple[int, ...]:
    return ()


# --------------------------------------------------------------------------- retention, quotas


@defect("retention-ignored", LogManager, "_retain")
def retention_ignored(real: Real, *_: Any) -> None:
    pass


@defect("quotas-ignored", ClientQuotas, "__bool__")
def quotas_ignored(real: Real, _: ClientQuotas) -> bool:
    return False


@defect("request-time-ignored", ClientQuotas, "_quotas")
def request_time_ignored(real: Real, _: ClientQuotas, *asked: Any) -> list[str]:
    return [each for each in real(*asked) if each != TIME]


@defect("mutation-quotas-ignored", MutationQuotas, "_limit")
def mutation_quotas_ignored(real: Real, *_: Any) -> None:
    pass


# ---------------------------------------------------------------------------------- followers


@defect("truncation-skipped", Fetcher, "_truncate")
def truncation_skipped(real: Real, *_: Any) -> None:
    pass


@defect("truncation-skipped", Fetcher, "_last_epoch")
def says_no_epoch(real: Real, *_: Any) -> int:
    return UNDEFINED


@defect("truncation-skipped", Fetcher, "_move")
def stays_where_it_is(
    real: Real, fetcher: Fetcher, following: Any, which: int, offset: int, now: int
) -> None:
    fetcher._back_off(following, now)
