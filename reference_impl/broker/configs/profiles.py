"""A profile names settings for whoever starts this broker: `touchstone broker --profile test`.

The profiles of `harness/model/profiles.py` say what a cluster must have to be judged; these, what
its user wants of it. Values that a release has no setting for are left out there.
"""

from __future__ import annotations

from touchstone.reference_impl.broker.configs.config_view import broker_definitions

MOST_REPLICAS = 3
FOREVER_MS = 2_147_483_647  # 24 days

# Nobody waits for members that do not come, or long for a broker that died; sessions may be short;
# internal topics are small; a connection outlives time that a test advances.
TEST = {
    "broker.session.timeout.ms": "1000",
    "connections.max.idle.ms": str(FOREVER_MS),
    "controlled.shutdown.retry.backoff.ms": "100",
    "group.consumer.assignment.interval.ms": "0",
    "group.consumer.heartbeat.interval.ms": "500",
    "group.consumer.min.heartbeat.interval.ms": "100",
    "group.consumer.min.session.timeout.ms": "1000",
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "100",
    "group.share.assignment.interval.ms": "0",
    "group.share.heartbeat.interval.ms": "500",
    "group.share.min.heartbeat.interval.ms": "100",
    "group.share.min.record.lock.duration.ms": "1000",
    "group.share.min.session.timeout.ms": "1000",
    "offsets.topic.num.partitions": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "share.coordinator.state.topic.num.partitions": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "1",
    "zookeeper.session.timeout.ms": "1000",
}
REPLICATED = (
    "offsets.topic.replication.factor",
    "share.coordinator.state.topic.replication.factor",
    "transaction.state.log.replication.factor",
)
NAMES = ("test",)


def settings(name: str, release: str, brokers: int) -> dict[str, str]:
    """The broker settings of a profile, as far as the release has them; `release` as "2.8".

    ValueError for a profile that there is none of.
    """
    if name not in NAMES:
        raise ValueError(f"no profile {name!r}; there is {', '.join(NAMES)}")
    replicas = dict.fromkeys(REPLICATED, str(min(brokers, MOST_REPLICAS)))
    known = broker_definitions(release)
    return {name: value for name, value in {**TEST, **replicas}.items() if name in known}
