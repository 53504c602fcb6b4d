//! Kafka's settings by the names that crabka has for them in `BrokerConfig`.

use std::time::Duration;

use crabka_broker::BrokerConfig;
use crabka_broker::replica_selector::ReplicaSelectorKind;

type Failure = Box<dyn std::error::Error>;

/// Give `config` one setting. A name that is not listed or a value of another type is an error.
pub fn set(config: &mut BrokerConfig, name: &str, value: &str) -> Result<(), Failure> {
    let ms = || value.parse().map(Duration::from_millis);
    let (members, shares, streams, states, log) = (
        &mut config.next_gen_consumer_group,
        &mut config.share_group,
        &mut config.streams_group,
        &mut config.share_coordinator,
        &mut config.log_config,
    );
    match name {
        "auto.leader.rebalance.enable" => config.auto_leader_rebalance_enable = value.parse()?,
        "broker.heartbeat.interval.ms" => config.heartbeat_interval_ms = value.parse()?,
        "broker.session.timeout.ms" => config.heartbeat_timeout_ms = value.parse()?,
        "group.consumer.heartbeat.interval.ms" => members.heartbeat_interval = ms()?,
        "group.consumer.max.heartbeat.interval.ms" => members.max_heartbeat_interval = ms()?,
        "group.consumer.max.session.timeout.ms" => members.max_session_timeout = ms()?,
        "group.consumer.max.size" => members.max_size = value.parse()?,
        "group.consumer.migration.policy" => members.migration_policy = value.parse()?,
        "group.consumer.min.heartbeat.interval.ms" => members.min_heartbeat_interval = ms()?,
        "group.consumer.min.session.timeout.ms" => members.min_session_timeout = ms()?,
        "group.consumer.session.timeout.ms" => members.session_timeout = ms()?,
        "group.share.delivery.count.limit" => shares.max_delivery_attempts = value.parse()?,
        "group.share.heartbeat.interval.ms" => shares.heartbeat_interval = ms()?,
        "group.share.max.heartbeat.interval.ms" => shares.max_heartbeat_interval = ms()?,
        "group.share.max.session.timeout.ms" => shares.max_session_timeout = ms()?,
        "group.share.max.size" => shares.max_size = value.parse()?,
        "group.share.min.heartbeat.interval.ms" => shares.min_heartbeat_interval = ms()?,
        "group.share.min.session.timeout.ms" => shares.min_session_timeout = ms()?,
        "group.share.partition.max.record.locks" => shares.max_inflight_records = value.parse()?,
        "group.share.record.lock.duration.ms" => shares.record_lock_duration = ms()?,
        "group.share.session.timeout.ms" => shares.session_timeout = ms()?,
        "group.streams.heartbeat.interval.ms" => streams.heartbeat_interval = ms()?,
        "group.streams.max.size" => streams.max_size = value.parse()?,
        "group.streams.min.heartbeat.interval.ms" => streams.min_heartbeat_interval = ms()?,
        "group.streams.min.session.timeout.ms" => streams.min_session_timeout = ms()?,
        "group.streams.session.timeout.ms" => streams.session_timeout = ms()?,
        "leader.imbalance.check.interval.seconds" => {
            config.leader_imbalance_check_interval_secs = value.parse()?;
        }
        "log.index.interval.bytes" => log.index_interval_bytes = value.parse()?,
        "log.retention.bytes" => log.retention_bytes = value.parse().ok(),
        "log.retention.ms" => log.retention_ms = ms().ok(),
        "log.roll.ms" => log.segment_ms = ms()?,
        "log.segment.bytes" => log.segment_bytes = value.parse()?,
        "max.connections" => config.max_connections = value.parse()?,
        "max.connections.per.ip" => config.max_connections_per_ip = value.parse()?,
        "max.incremental.fetch.session.cache.slots" => {
            config.max_incremental_fetch_session_cache_slots = value.parse()?;
        }
        "replica.lag.time.max.ms" => config.replica_lag_time_max_ms = value.parse()?,
        "replica.selector.class" if value.ends_with(".RackAwareReplicaSelector") => {
            config.replica_selector = ReplicaSelectorKind::RackAware;
        }
        "share.coordinator.snapshot.update.records.per.snapshot" => {
            states.snapshot_update_records_per_snapshot = value.parse()?;
        }
        "share.coordinator.state.topic.min.isr" => states.state_topic_min_isr = value.parse()?,
        "share.coordinator.state.topic.num.partitions" => {
            states.state_topic_num_partitions = value.parse()?;
        }
        "share.coordinator.state.topic.replication.factor" => {
            states.state_topic_replication_factor = value.parse()?;
        }
        "transaction.abort.timed.out.transaction.cleanup.interval.ms" => {
            config.txn_abort_cleanup_interval = ms()?;
        }
        "transaction.two.phase.commit.enable" => {
            config.transaction_two_phase_commit_enable = value.parse()?;
        }
        _ => return Err(format!("{name}={value} cannot be set").into()),
    }
    Ok(())
}
