"""What Kafka's settings are where nobody has set them, as DescribeConfigs tells it.

A default is what a broker does that its owner has not thought of. Each answer is compared with
Kafka's of the same release, value by value and with its synonyms, so one claim is enough; its steps
are areas, so that a difference names one. What a cluster of one broker needs otherwise (replication
factors of internal topics, the delay of a group's first phase) is set wherever we start Kafka.

Sources: KafkaConfig, ServerConfigs, ReplicationConfigs and those beside them at each release;
KIP-226.
"""

from touchstone.harness.model.claim import claim
from touchstone.harness.model.expect import all_of, answer
from touchstone.harness.model.steps import BROKER, a_topic, describe_configs
from touchstone.reference_impl.wire.errors import ErrorCode

GROUP = 32
AREAS = {
    "classic groups": (
        "group.max.session.timeout.ms", "group.max.size", "group.min.session.timeout.ms",
    ),
    "consumer groups": tuple(
        f"group.consumer.{word}" for word in (
            "assignment.interval.ms", "assignors", "heartbeat.interval.ms",
            "max.assignment.interval.ms", "max.heartbeat.interval.ms", "max.session.timeout.ms",
            "max.size", "migration.policy", "min.assignment.interval.ms",
            "min.heartbeat.interval.ms", "min.session.timeout.ms", "session.timeout.ms",
        )
    ),
    "share groups": tuple(
        f"group.share.{word}" for word in (
            "assignment.interval.ms", "assignors", "delivery.count.limit", "heartbeat.interval.ms",
            "max.delivery.count.limit", "max.heartbeat.interval.ms",
            "max.partition.max.record.locks", "max.record.lock.duration.ms",
            "max.session.timeout.ms", "max.share.sessions", "max.size", "min.delivery.count.limit",
            "min.heartbeat.interval.ms", "min.partition.max.record.locks",
            "min.record.lock.duration.ms", "min.session.timeout.ms", "partition.max.record.locks",
            "record.lock.duration.ms", "session.timeout.ms",
        )
    ),
    "streams groups": tuple(
        f"group.streams.{word}" for word in (
            "assignment.interval.ms", "heartbeat.interval.ms", "initial.rebalance.delay.ms",
            "max.heartbeat.interval.ms", "max.session.timeout.ms", "max.size",
            "max.standby.replicas", "min.heartbeat.interval.ms", "min.session.timeout.ms",
            "num.standby.replicas", "session.timeout.ms",
        )
    ),
    "logs": (
        "log.cleaner.backoff.ms", "log.cleaner.delete.retention.ms", "log.cleaner.enable",
        "log.cleaner.max.compaction.lag.ms", "log.cleaner.min.cleanable.ratio",
        "log.cleaner.min.compaction.lag.ms", "log.cleanup.policy", "log.flush.interval.messages",
        "log.index.interval.bytes", "log.index.size.max.bytes",
        "log.message.timestamp.after.max.ms", "log.message.timestamp.before.max.ms",
        "log.message.timestamp.difference.max.ms", "log.message.timestamp.type",
        "log.message.downconversion.enable", "log.preallocate", "log.retention.bytes",
        "log.retention.check.interval.ms", "log.retention.hours", "log.retention.minutes",
        "log.retention.ms", "log.roll.hours", "log.roll.jitter.hours", "log.roll.ms",
        "log.segment.bytes", "log.segment.delete.delay.ms", "compression.type",
        "message.max.bytes",
    ),
    "topics": (
        "auto.create.topics.enable", "auto.leader.rebalance.enable", "default.replication.factor",
        "delete.topic.enable", "min.insync.replicas", "num.partitions",
        "leader.imbalance.check.interval.seconds", "leader.imbalance.per.broker.percentage",
        "unclean.leader.election.enable",
    ),
    "replicas": (
        "replica.fetch.backoff.ms", "replica.fetch.max.bytes", "replica.fetch.min.bytes",
        "replica.fetch.response.max.bytes", "replica.fetch.wait.max.ms",
        "replica.high.watermark.checkpoint.interval.ms", "replica.lag.time.max.ms",
        "replica.selector.class", "num.replica.fetchers",
    ),
    "offsets": (
        "offset.metadata.max.bytes", "offsets.commit.timeout.ms", "offsets.commit.required.acks",
        "offsets.load.buffer.size", "offsets.retention.check.interval.ms",
        "offsets.retention.minutes", "offsets.topic.compression.codec",
        "offsets.topic.num.partitions", "offsets.topic.segment.bytes",
    ),
    "transactions": (
        "producer.id.expiration.ms", "transaction.abort.timed.out.transaction.cleanup.interval.ms",
        "transaction.max.timeout.ms", "transaction.partition.verification.enable",
        "transaction.remove.expired.transaction.cleanup.interval.ms",
        "transaction.state.log.num.partitions", "transaction.two.phase.commit.enable",
        "transactional.id.expiration.ms",
    ),
    "quotas": (
        "quota.window.num", "quota.window.size.seconds", "controller.quota.window.num",
        "controller.quota.window.size.seconds", "replication.quota.window.num",
        "replication.quota.window.size.seconds",
    ),
    "connections": (
        "connection.failed.authentication.delay.ms", "connections.max.idle.ms",
        "connections.max.reauth.ms", "max.connection.creation.rate", "max.connections",
        "max.connections.per.ip", "fetch.max.bytes", "max.incremental.fetch.session.cache.slots",
        "max.request.partition.size.limit", "queued.max.requests", "request.timeout.ms",
        "socket.request.max.bytes", "sasl.server.max.receive.size", "telemetry.max.bytes",
        "delegation.token.expiry.time.ms", "delegation.token.max.lifetime.ms",
    ),
}  # fmt: skip


@claim("configs.defaults-are-the-releases", evidence=("KIP-226",), level="OBSERVED",
       capabilities=("settings-as-released",))  # fmt: skip
def test_defaults_are_the_releases(case):
    """DescribeConfigs of a broker whose owner has set nothing returns the defaults of its release,
    and of a topic or group those that follow from them."""
    version, topic = 0 if case.release == "1.0" else 1, case.topic()
    asks = [
        describe_configs("0", *names, version=version, kind=BROKER, synonyms=version > 0, name=area)
        for area, names in AREAS.items()
    ]
    of_topic = describe_configs(topic, version=version, synonyms=version > 0, name="a topic")
    return case.scenario(
        asks,
        a_topic(topic),
        of_topic,
        expect=all_of(
            *[answer(area, "results[0].error_code").is_(ErrorCode.NONE) for area in AREAS],
            answer("topics", "results[0].configs[*].name").contains("num.partitions"),
            answer("a topic", "results[0].configs[*].name").contains("retention.ms"),
        ),
    )


@claim("configs.group-settings-stand-on-the-brokers", evidence=("KIP-848", "KIP-932"),
       api="DescribeConfigs", releases="4.3", capabilities=("settings-as-released",))  # fmt: skip
def test_group_settings_stand_on_the_brokers(case):
    """DescribeConfigs of a group returns for each of its settings what stands behind it: the
    broker's setting, or its default."""
    group = case.group()
    return case.scenario(
        describe_configs(group, version=case.version, kind=GROUP, synonyms=True, name="told"),
        expect=answer("told", "results[0].configs[*].name").contains("consumer.session.timeout.ms"),
    )


@claim("configs.secrets-are-told-by-no-synonym", evidence=("KIP-226",), api="DescribeConfigs",
       releases="2.2+", config={"ssl.key.password": "confidential"})  # fmt: skip
def test_secrets_are_told_by_no_synonym(case):
    """DescribeConfigs of a broker returns null in place of a password, and in place of the value of
    each of its synonyms."""
    row = "results[0].configs[0]"
    return case.scenario(
        describe_configs("0", "ssl.key.password", version=case.version, kind=BROKER,
                         synonyms=True, name="told"),
        expect=all_of(
            answer("told", f"{row}.value").is_(None),
            answer("told", f"{row}.is_sensitive").is_(True),
            *([answer("told", f"{row}.synonyms[0].value").is_(None)] if case.version else []),
        ),
    )  # fmt: skip
