"""Every config that DescribeConfigs shows of a broker, in five releases, as one table.

How a row reads: `config_rows.py`. Observed through DescribeConfigs on 1.0.2, 2.2.1, 2.8.2, 3.9.2
and 4.3.1; types and the defaults of what those nodes had set come from KafkaConfig's definition
in the jars. Kafka's prose about them is not here.
"""

TABLE = """
add.partitions.to.txn.retry.backoff.max.ms INT 100 since=4.3 rule@4.3=>=_0
add.partitions.to.txn.retry.backoff.ms INT 20 since=4.3 rule@4.3=>=_1
advertised.host.name STRING - until=2.8
advertised.listeners STRING - type@4.3=LIST dynamic=2.2..3.9
advertised.port INT - until=2.8
alter.config.policy.class.name CLASS -
alter.config.policy.kraft.compatibility.enable BOOLEAN false since=3.9 until=3.9
alter.log.dirs.replication.quota.window.num INT 11 since=2.2 rule@2.2=>=_1
alter.log.dirs.replication.quota.window.size.seconds INT 1 since=2.2 rule@2.2=>=_1
authorizer.class.name STRING ""
auto.create.topics.enable BOOLEAN true
auto.include.jmx.reporter BOOLEAN true since=3.9 until=3.9
auto.leader.rebalance.enable BOOLEAN true
background.threads INT 10 dynamic=2.2+ rule@1.0=>=_1
broker.heartbeat.interval.ms INT 2000 since=3.9
broker.id INT -1
broker.id.generation.enable BOOLEAN true until=3.9
broker.rack STRING -
broker.session.timeout.ms INT 9000 since=3.9
client.quota.callback.class CLASS - since=2.2
compression.gzip.level INT -1 since=3.9 dynamic=3.9+ rule@3.9=1_.._9_or_-1
compression.lz4.level INT 9 since=3.9 dynamic=3.9+ rule@3.9=1_.._17
compression.type STRING producer dynamic=2.2+
  rule@3.9=one_of_uncompressed,_zstd,_lz4,_snappy,_gzip,_producer
compression.zstd.level INT 3 since=3.9 dynamic=3.9+ rule@3.9=-131072_.._22
config.providers LIST "" since=4.3 dynamic=4.3+
connection.failed.authentication.delay.ms INT 100 since=2.2 rule@2.2=>=_0
connections.max.idle.ms LONG 600000
connections.max.reauth.ms LONG 0 since=2.2
control.plane.listener.name STRING - since=2.2 until=3.9
controlled.shutdown.enable BOOLEAN true
controlled.shutdown.max.retries INT 3 until=3.9
controlled.shutdown.retry.backoff.ms LONG 5000 until=3.9
controller.listener.names STRING - type@4.3=LIST since=3.9
controller.quorum.append.linger.ms INT 25 since=3.9 rule@4.3=>=_0
controller.quorum.auto.join.enable BOOLEAN false since=4.3
controller.quorum.bootstrap.servers LIST "" since=3.9
controller.quorum.election.backoff.max.ms INT 1000 since=3.9 rule@4.3=>=_0
controller.quorum.election.timeout.ms INT 1000 since=3.9 rule@4.3=>=_0
controller.quorum.fetch.max.bytes INT 1048576 since=4.3 rule@4.3=>=_1
controller.quorum.fetch.snapshot.max.bytes INT 1048576 since=4.3 rule@4.3=>=_1
controller.quorum.fetch.timeout.ms INT 2000 since=3.9 rule@4.3=>=_0
controller.quorum.request.timeout.ms INT 2000 since=3.9 rule@4.3=>=_0
controller.quorum.retry.backoff.ms INT 20 since=3.9 rule@4.3=>=_0
controller.quorum.voters LIST "" since=3.9
controller.quota.window.num INT 11 since=2.8 rule@2.8=>=_1
controller.quota.window.size.seconds INT 1 since=2.8 rule@2.8=>=_1
controller.socket.timeout.ms INT 30000
cordoned.log.dirs LIST "" since=4.3 dynamic=4.3+
create.topic.policy.class.name CLASS -
default.replication.factor INT 1
delegation.token.expiry.check.interval.ms LONG 3600000 since=2.2 rule@2.2=>=_1
delegation.token.expiry.time.ms LONG 86400000 since=2.2 rule@2.2=>=_1
delegation.token.master.key PASSWORD - since=2.2 until=3.9 sensitive
delegation.token.max.lifetime.ms LONG 604800000 since=2.2 rule@2.2=>=_1
delegation.token.secret.key PASSWORD - since=2.8 sensitive
delete.records.purgatory.purge.interval.requests INT 1
delete.topic.enable BOOLEAN true
early.start.listeners STRING - type@4.3=LIST since=3.9
eligible.leader.replicas.enable BOOLEAN false since=3.9 until=3.9
fetch.max.bytes INT 57671680 since=2.8 rule@2.8=>=_1024
fetch.purgatory.purge.interval.requests INT 1000
follower.fetch.last.tiered.offset.enable BOOLEAN false since=4.3 dynamic=4.3+
group.consumer.assignment.interval.ms INT 1000 since=4.3 dynamic=4.3+ rule@4.3=>=_0
group.consumer.assignors LIST
  org.apache.kafka.coordinator.group.assignor.UniformAssignor,org.apache.kafka.coordinator.group.assignor.RangeAssignor
  4.3=uniform,range since=3.9
group.consumer.heartbeat.interval.ms INT 5000 since=3.9 rule@3.9=>=_1
group.consumer.max.assignment.interval.ms INT 15000 since=4.3 rule@4.3=>=_0
group.consumer.max.heartbeat.interval.ms INT 15000 since=3.9 rule@3.9=>=_1
group.consumer.max.session.timeout.ms INT 60000 since=3.9 rule@3.9=>=_1
group.consumer.max.size INT 2147483647 since=3.9 rule@3.9=>=_1
group.consumer.migration.policy STRING bidirectional since=4.3
group.consumer.min.assignment.interval.ms INT 0 since=4.3 rule@4.3=>=_0
group.consumer.min.heartbeat.interval.ms INT 5000 since=3.9 rule@3.9=>=_1
group.consumer.min.session.timeout.ms INT 45000 since=3.9 rule@3.9=>=_1
group.consumer.session.timeout.ms INT 45000 since=3.9 rule@3.9=>=_1
group.coordinator.append.linger.ms INT 10 4.3=-1 since=3.9 rule@3.9=>=_0 rule@4.3=>=_-1
group.coordinator.background.threads INT 2 since=4.3 rule@4.3=>=_1
group.coordinator.cached.buffer.max.bytes INT 1048588 since=4.3 dynamic=4.3+ rule@4.3=>=_524288
group.coordinator.rebalance.protocols LIST classic 4.3=classic,consumer,streams since=3.9
  rule@3.9=one_of_consumer,_classic,_share,_unknown
  rule@4.3=one_of_consumer,_classic,_share,_streams
group.coordinator.threads INT 1 4.3=4 since=3.9 rule@3.9=>=_1
group.initial.rebalance.delay.ms INT 3000
group.max.session.timeout.ms INT 300000 2.8=1800000
group.max.size INT 2147483647 since=2.2 rule@2.2=>=_1
group.min.session.timeout.ms INT 6000
group.share.assignment.interval.ms INT 1000 since=4.3 dynamic=4.3+ rule@4.3=>=_0
group.share.assignors LIST simple since=4.3
group.share.delivery.count.limit INT 5 since=3.9 rule@3.9=2_.._10
group.share.heartbeat.interval.ms INT 5000 since=3.9 rule@3.9=>=_1
group.share.max.assignment.interval.ms INT 15000 since=4.3 rule@4.3=>=_0
group.share.max.delivery.count.limit INT 10 since=4.3 rule@4.3=5_.._25
group.share.max.groups SHORT 10 since=3.9 until=3.9 rule@3.9=1_.._100
group.share.max.heartbeat.interval.ms INT 15000 since=3.9 rule@3.9=>=_1
group.share.max.partition.max.record.locks INT 4000 since=4.3 rule@4.3=2000_.._10000
group.share.max.record.lock.duration.ms INT 60000 since=3.9 rule@3.9=30000_.._3600000
group.share.max.session.timeout.ms INT 60000 since=3.9 rule@3.9=>=_1
group.share.max.share.sessions INT 2000 since=4.3 rule@4.3=>=_1
group.share.max.size SHORT 200 type@4.3=INT since=3.9 rule@3.9=10_.._1000 rule@4.3=1_.._1000
group.share.min.assignment.interval.ms INT 0 since=4.3 rule@4.3=>=_0
group.share.min.delivery.count.limit INT 2 since=4.3 rule@4.3=2_.._5
group.share.min.heartbeat.interval.ms INT 5000 since=3.9 rule@3.9=>=_1
group.share.min.partition.max.record.locks INT 100 since=4.3 rule@4.3=100_.._2000
group.share.min.record.lock.duration.ms INT 15000 since=3.9 rule@3.9=1000_.._30000
group.share.min.session.timeout.ms INT 45000 since=3.9 rule@3.9=>=_1
group.share.partition.max.record.locks INT 200 4.3=2000 since=3.9 rule@3.9=100_.._10000
group.share.record.lock.duration.ms INT 30000 since=3.9 rule@3.9=1000_.._60000
  rule@4.3=1000_.._3600000
group.share.session.timeout.ms INT 45000 since=3.9 rule@3.9=>=_1
group.streams.assignment.interval.ms INT 1000 since=4.3 dynamic=4.3+ rule@4.3=>=_0
group.streams.heartbeat.interval.ms INT 5000 since=4.3 rule@4.3=>=_1
group.streams.initial.rebalance.delay.ms INT 3000 since=4.3 rule@4.3=>=_0
group.streams.max.assignment.interval.ms INT 15000 since=4.3 rule@4.3=>=_0
group.streams.max.heartbeat.interval.ms INT 15000 since=4.3 rule@4.3=>=_1
group.streams.max.session.timeout.ms INT 60000 since=4.3 rule@4.3=>=_1
group.streams.max.size INT 2147483647 since=4.3 rule@4.3=>=_1
group.streams.max.standby.replicas INT 2 since=4.3 rule@4.3=>=_0
group.streams.min.assignment.interval.ms INT 0 since=4.3 rule@4.3=>=_0
group.streams.min.heartbeat.interval.ms INT 5000 since=4.3 rule@4.3=>=_1
group.streams.min.session.timeout.ms INT 45000 since=4.3 rule@4.3=>=_1
group.streams.num.standby.replicas INT 0 since=4.3 rule@4.3=>=_0
group.streams.session.timeout.ms INT 45000 since=4.3 rule@4.3=>=_1
host.name STRING "" until=2.8
initial.broker.registration.timeout.ms INT 60000 since=3.9
inter.broker.listener.name STRING -
inter.broker.protocol.version STRING 1.0-IV0 2.2=2.2-IV1 2.8=2.8-IV1 3.9=3.9-IV0 until=3.9
kafka.metrics.polling.interval.secs INT 10 since=2.2 rule@2.2=>=_1
kafka.metrics.reporters LIST "" since=2.2
leader.imbalance.check.interval.seconds LONG 300 rule@3.9=>=_1
leader.imbalance.per.broker.percentage INT 10 until=3.9
listener.security.protocol.map STRING
  PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT,SASL_SSL:SASL_SSL
  3.9=SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT dynamic=2.2+
listeners STRING - 3.9=PLAINTEXT://:9092 type@4.3=LIST dynamic=2.2+ rule@4.3=not_empty
log.cleaner.backoff.ms LONG 15000 dynamic=2.2+ rule@1.0=>=_0
log.cleaner.dedupe.buffer.size LONG 134217728 dynamic=2.2+
log.cleaner.delete.retention.ms LONG 86400000 dynamic=2.2+ rule@3.9=>=_0
log.cleaner.enable BOOLEAN true
log.cleaner.io.buffer.load.factor DOUBLE 0.9 dynamic=2.2+
log.cleaner.io.buffer.size INT 524288 dynamic=2.2+ rule@1.0=>=_0
log.cleaner.io.max.bytes.per.second DOUBLE 1.7976931348623157E308 dynamic=2.2+
log.cleaner.max.compaction.lag.ms LONG 9223372036854775807 since=2.8 dynamic=2.8+ rule@3.9=>=_1
log.cleaner.min.cleanable.ratio DOUBLE 0.5 dynamic=2.2+ rule@3.9=0_.._1
log.cleaner.min.compaction.lag.ms LONG 0 dynamic=2.2+ rule@3.9=>=_0
log.cleaner.threads INT 1 dynamic=2.2+ rule@1.0=>=_0
log.cleanup.policy LIST delete dynamic=2.2+ rule@1.0=one_of_compact,_delete
log.dir STRING /tmp/kafka-logs type@4.3=LIST
log.dir.failure.timeout.ms LONG 30000 since=3.9 rule@3.9=>=_1
log.dirs STRING - type@4.3=LIST
log.flush.interval.messages LONG 9223372036854775807 dynamic=2.2+ rule@1.0=>=_1
log.flush.interval.ms LONG - dynamic=2.2+
log.flush.offset.checkpoint.interval.ms INT 60000 rule@1.0=>=_0
log.flush.scheduler.interval.ms LONG 9223372036854775807
log.flush.start.offset.checkpoint.interval.ms INT 60000 rule@1.0=>=_0
log.index.interval.bytes INT 4096 dynamic=2.2+ rule@1.0=>=_0
log.index.size.max.bytes INT 10485760 dynamic=2.2+ rule@1.0=>=_4
log.local.retention.bytes LONG -2 since=3.9 dynamic=3.9+ rule@3.9=>=_-2
log.local.retention.ms LONG -2 since=3.9 dynamic=3.9+ rule@3.9=>=_-2
log.message.downconversion.enable BOOLEAN true since=2.2 until=3.9 dynamic=2.2..3.9
log.message.format.version STRING 1.0-IV0 2.2=2.2-IV1 2.8=2.8-IV1 3.9=3.0-IV1 until=3.9
log.message.timestamp.after.max.ms LONG 9223372036854775807 4.3=3600000 since=3.9 dynamic=3.9+
  rule@3.9=>=_0
log.message.timestamp.before.max.ms LONG 9223372036854775807 since=3.9 dynamic=3.9+ rule@3.9=>=_0
log.message.timestamp.difference.max.ms LONG 9223372036854775807 until=3.9 dynamic=2.2..3.9
  rule@3.9=>=_0
log.message.timestamp.type STRING CreateTime dynamic=2.2+
  rule@1.0=one_of_CreateTime,_LogAppendTime
log.preallocate BOOLEAN false dynamic=2.2+
log.retention.bytes LONG -1 dynamic=2.2+
log.retention.check.interval.ms LONG 300000 rule@1.0=>=_1
log.retention.hours INT 168 dynamic=2.2
log.retention.minutes INT - dynamic=2.2
log.retention.ms LONG - dynamic=2.2+
log.roll.hours INT 168 dynamic=2.2 rule@1.0=>=_1
log.roll.jitter.hours INT 0 dynamic=2.2 rule@1.0=>=_0
log.roll.jitter.ms LONG - dynamic=2.2+
log.roll.ms LONG - dynamic=2.2+
log.segment.bytes INT 1073741824 dynamic=2.2+ rule@1.0=>=_14 rule@4.3=>=_1048576
log.segment.delete.delay.ms LONG 60000 dynamic=2.2+ rule@1.0=>=_0
max.connection.creation.rate INT 2147483647 since=2.8 dynamic=2.8+ rule@2.8=>=_0
max.connections INT 2147483647 since=2.8 dynamic=2.8+ rule@2.8=>=_0
max.connections.per.ip INT 2147483647 dynamic=2.2+ rule@1.0=>=_1 rule@2.2=>=_0
max.connections.per.ip.overrides STRING "" dynamic=2.2+
max.incremental.fetch.session.cache.slots INT 1000 since=2.2 rule@2.2=>=_0
max.request.partition.size.limit INT 2000 since=3.9 rule@3.9=>=_1
message.max.bytes INT 1000012 2.8=1048588 dynamic=2.2+ rule@1.0=>=_0
metadata.log.dir STRING - since=3.9
metadata.log.max.record.bytes.between.snapshots LONG 20971520 since=3.9 rule@3.9=>=_1
metadata.log.max.snapshot.interval.ms LONG 3600000 since=3.9 rule@3.9=>=_0
metadata.log.segment.bytes INT 1073741824 since=3.9 rule@3.9=>=_12 rule@4.3=>=_8388608
metadata.log.segment.ms LONG 604800000 since=3.9
metadata.max.idle.interval.ms INT 500 since=3.9 rule@3.9=>=_0
metadata.max.retention.bytes LONG 104857600 since=3.9
metadata.max.retention.ms LONG 604800000 since=3.9
metric.reporters LIST "" 4.3=org.apache.kafka.common.metrics.JmxReporter dynamic=2.2+
metrics.num.samples INT 2 rule@1.0=>=_1
metrics.recording.level STRING INFO
metrics.sample.window.ms LONG 30000 rule@1.0=>=_1
min.insync.replicas INT 1 dynamic=2.2+ rule@1.0=>=_1
node.id INT -1 4.3=- since=3.9 rule@4.3=>=_0
num.io.threads INT 8 dynamic=2.2+ rule@1.0=>=_1
num.network.threads INT 3 dynamic=2.2+ rule@1.0=>=_1
num.partitions INT 1 rule@1.0=>=_1
num.recovery.threads.per.data.dir INT 1 4.3=2 dynamic=2.2+ rule@1.0=>=_1
num.replica.alter.log.dirs.threads INT - since=2.2
num.replica.fetchers INT 1 dynamic=2.2+ rule@4.3=>=_1
offset.metadata.max.bytes INT 4096
offsets.commit.required.acks SHORT -1 until=3.9
offsets.commit.timeout.ms INT 5000 rule@1.0=>=_1
offsets.load.buffer.size INT 5242880 rule@1.0=>=_1
offsets.retention.check.interval.ms LONG 600000 rule@1.0=>=_1
offsets.retention.minutes INT 1440 2.2=10080 rule@1.0=>=_1
offsets.topic.compression.codec INT 0
offsets.topic.num.partitions INT 50 rule@1.0=>=_1
offsets.topic.replication.factor SHORT 3 rule@1.0=>=_1
offsets.topic.segment.bytes INT 104857600 rule@1.0=>=_1
password.encoder.cipher.algorithm STRING AES/CBC/PKCS5Padding since=2.2 until=3.9
password.encoder.iterations INT 4096 since=2.2 until=3.9 rule@2.2=>=_1024
password.encoder.key.length INT 128 since=2.2 until=3.9 rule@2.2=>=_8
password.encoder.keyfactory.algorithm STRING - since=2.2 until=3.9
password.encoder.old.secret PASSWORD - since=2.2 until=3.9 sensitive
password.encoder.secret PASSWORD - since=2.2 until=3.9 sensitive
port INT 9092 until=2.8
principal.builder.class CLASS -
  3.9=org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder dynamic=2.2+
process.roles LIST "" 4.3=- since=3.9 rule@2.8=one_of_broker,_controller
producer.id.expiration.ms INT 86400000 since=3.9 dynamic=3.9+ rule@3.9=>=_1
producer.purgatory.purge.interval.requests INT 1000
queued.max.request.bytes LONG -1
queued.max.requests INT 500 rule@1.0=>=_1
quota.consumer.default LONG 9223372036854775807 until=2.8 rule@1.0=>=_1
quota.producer.default LONG 9223372036854775807 until=2.8 rule@1.0=>=_1
quota.window.num INT 11 rule@1.0=>=_1
quota.window.size.seconds INT 1 rule@1.0=>=_1
remote.fetch.max.wait.ms INT 500 since=3.9 dynamic=3.9+ rule@3.9=>=_1
remote.list.offsets.request.timeout.ms LONG 30000 since=4.3 dynamic=4.3+ rule@4.3=>=_1
remote.log.index.file.cache.total.size.bytes LONG 1073741824 since=3.9 dynamic=3.9+ rule@3.9=>=_1
remote.log.manager.copier.thread.pool.size INT -1 4.3=10 since=3.9 dynamic=4.3+ rule@4.3=>=_1
remote.log.manager.copy.max.bytes.per.second LONG 9223372036854775807 since=3.9 dynamic=3.9+
  rule@3.9=>=_1
remote.log.manager.copy.quota.window.num INT 11 since=3.9 rule@3.9=>=_1
remote.log.manager.copy.quota.window.size.seconds INT 1 since=3.9 rule@3.9=>=_1
remote.log.manager.expiration.thread.pool.size INT -1 4.3=10 since=3.9 dynamic=4.3+ rule@4.3=>=_1
remote.log.manager.fetch.max.bytes.per.second LONG 9223372036854775807 since=3.9 dynamic=3.9+
  rule@3.9=>=_1
remote.log.manager.fetch.quota.window.num INT 11 since=3.9 rule@3.9=>=_1
remote.log.manager.fetch.quota.window.size.seconds INT 1 since=3.9 rule@3.9=>=_1
remote.log.manager.follower.thread.pool.size INT 2 since=4.3 dynamic=4.3+ rule@4.3=>=_1
remote.log.manager.task.interval.ms LONG 30000 since=3.9 rule@3.9=>=_1
remote.log.manager.thread.pool.size INT 10 4.3=2 since=3.9 rule@3.9=>=_1
remote.log.metadata.custom.metadata.max.bytes INT 128 since=3.9 rule@3.9=>=_0
remote.log.metadata.manager.class.name STRING
  org.apache.kafka.server.log.remote.metadata.storage.TopicBasedRemoteLogMetadataManager since=3.9
remote.log.metadata.manager.class.path STRING - since=3.9
remote.log.metadata.manager.impl.prefix STRING rlmm.config. since=3.9
remote.log.metadata.manager.listener.name STRING - since=3.9
remote.log.reader.max.pending.tasks INT 100 since=3.9 rule@3.9=>=_1
remote.log.reader.threads INT 10 since=3.9 dynamic=4.3+ rule@3.9=>=_1
remote.log.storage.manager.class.name STRING - since=3.9
remote.log.storage.manager.class.path STRING - since=3.9
remote.log.storage.manager.impl.prefix STRING rsm.config. since=3.9
remote.log.storage.system.enable BOOLEAN false since=3.9
replica.fetch.backoff.ms INT 1000 rule@1.0=>=_0
replica.fetch.max.bytes INT 1048576 rule@1.0=>=_0
replica.fetch.min.bytes INT 1
replica.fetch.response.max.bytes INT 10485760 rule@1.0=>=_0
replica.fetch.wait.max.ms INT 500
replica.high.watermark.checkpoint.interval.ms LONG 5000
replica.lag.time.max.ms LONG 10000 2.8=30000
replica.selector.class STRING - since=2.8
replica.socket.receive.buffer.bytes INT 65536
replica.socket.timeout.ms INT 30000
replication.quota.window.num INT 11 rule@1.0=>=_1
replication.quota.window.size.seconds INT 1 rule@1.0=>=_1
request.timeout.ms INT 30000
reserved.broker.max.id INT 1000 until=3.9 rule@1.0=>=_0
sasl.client.callback.handler.class CLASS - since=2.2
sasl.enabled.mechanisms LIST GSSAPI dynamic=2.2+
sasl.jaas.config PASSWORD - since=2.2 dynamic=2.2+ sensitive
sasl.kerberos.kinit.cmd STRING /usr/bin/kinit dynamic=2.2+
sasl.kerberos.min.time.before.relogin LONG 60000 dynamic=2.2+
sasl.kerberos.principal.to.local.rules LIST DEFAULT dynamic=2.2+
sasl.kerberos.service.name STRING - dynamic=2.2+
sasl.kerberos.ticket.renew.jitter DOUBLE 0.05 dynamic=2.2+
sasl.kerberos.ticket.renew.window.factor DOUBLE 0.8 dynamic=2.2+
sasl.login.callback.handler.class CLASS - since=2.2
sasl.login.class CLASS - since=2.2
sasl.login.connect.timeout.ms INT - since=3.9
sasl.login.read.timeout.ms INT - since=3.9
sasl.login.refresh.buffer.seconds SHORT 300 since=2.2 dynamic=2.2+
sasl.login.refresh.min.period.seconds SHORT 60 since=2.2 dynamic=2.2+
sasl.login.refresh.window.factor DOUBLE 0.8 since=2.2 dynamic=2.2+
sasl.login.refresh.window.jitter DOUBLE 0.05 since=2.2 dynamic=2.2+
sasl.login.retry.backoff.max.ms LONG 10000 since=3.9
sasl.login.retry.backoff.ms LONG 100 since=3.9
sasl.mechanism.controller.protocol STRING GSSAPI since=3.9
sasl.mechanism.inter.broker.protocol STRING GSSAPI dynamic=2.2+
sasl.oauthbearer.assertion.algorithm STRING RS256 since=4.3
sasl.oauthbearer.assertion.claim.aud STRING - since=4.3
sasl.oauthbearer.assertion.claim.exp.seconds INT 300 since=4.3 rule@4.3=0_.._86400
sasl.oauthbearer.assertion.claim.iss STRING - since=4.3
sasl.oauthbearer.assertion.claim.jti.include BOOLEAN false since=4.3
sasl.oauthbearer.assertion.claim.nbf.seconds INT 60 since=4.3 rule@4.3=0_.._3600
sasl.oauthbearer.assertion.claim.sub STRING - since=4.3
sasl.oauthbearer.assertion.file STRING - since=4.3
sasl.oauthbearer.assertion.private.key.file STRING - since=4.3
sasl.oauthbearer.assertion.private.key.passphrase PASSWORD - since=4.3 sensitive
sasl.oauthbearer.assertion.template.file STRING - since=4.3
sasl.oauthbearer.client.credentials.client.id STRING - since=4.3
sasl.oauthbearer.client.credentials.client.secret PASSWORD - since=4.3 sensitive
sasl.oauthbearer.clock.skew.seconds INT 30 since=3.9
sasl.oauthbearer.expected.audience LIST - 4.3="" since=3.9
sasl.oauthbearer.expected.issuer STRING - since=3.9
sasl.oauthbearer.jwks.endpoint.refresh.ms LONG 3600000 since=3.9
sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms LONG 10000 since=3.9
sasl.oauthbearer.jwks.endpoint.retry.backoff.ms LONG 100 since=3.9
sasl.oauthbearer.jwks.endpoint.url STRING - since=3.9
sasl.oauthbearer.jwt.retriever.class CLASS
  org.apache.kafka.common.security.oauthbearer.DefaultJwtRetriever since=4.3
sasl.oauthbearer.jwt.validator.class CLASS
  org.apache.kafka.common.security.oauthbearer.DefaultJwtValidator since=4.3
sasl.oauthbearer.scope STRING - since=4.3
sasl.oauthbearer.scope.claim.name STRING scope since=3.9
sasl.oauthbearer.sub.claim.name STRING sub since=3.9
sasl.oauthbearer.token.endpoint.url STRING - since=3.9
sasl.server.callback.handler.class CLASS - since=2.2
sasl.server.max.receive.size INT 524288 since=2.8
security.inter.broker.protocol STRING PLAINTEXT
security.providers STRING - since=2.8
share.coordinator.append.linger.ms INT -1 since=4.3 rule@4.3=>=_-1
share.coordinator.cached.buffer.max.bytes INT 1048588 since=4.3 dynamic=4.3+ rule@4.3=>=_524288
share.coordinator.load.buffer.size INT 5242880 since=4.3 rule@4.3=>=_1
share.coordinator.snapshot.update.records.per.snapshot INT 500 since=4.3 rule@4.3=0_.._500
share.coordinator.state.topic.compression.codec INT 0 since=4.3
share.coordinator.state.topic.min.isr SHORT 2 since=4.3 rule@4.3=>=_1
share.coordinator.state.topic.num.partitions INT 50 since=4.3 rule@4.3=>=_1
share.coordinator.state.topic.replication.factor SHORT 3 since=4.3 rule@4.3=>=_1
share.coordinator.state.topic.segment.bytes INT 104857600 since=4.3 rule@4.3=>=_1
share.coordinator.threads INT 1 since=4.3 rule@4.3=>=_1
share.coordinator.write.timeout.ms INT 5000 since=4.3 rule@4.3=>=_1
share.fetch.purgatory.purge.interval.requests INT 1000 since=4.3
socket.connection.setup.timeout.max.ms LONG 30000 since=2.8
socket.connection.setup.timeout.ms LONG 10000 since=2.8
socket.listen.backlog.size INT 50 since=3.9 rule@3.9=>=_1
socket.receive.buffer.bytes INT 102400
socket.request.max.bytes INT 104857600 rule@1.0=>=_1
socket.send.buffer.bytes INT 102400
ssl.allow.dn.changes BOOLEAN false since=3.9
ssl.allow.san.changes BOOLEAN false since=3.9
ssl.cipher.suites LIST - 2.2="" dynamic=2.2+
ssl.client.auth STRING none dynamic=2.2+ rule@1.0=one_of_required,_requested,_none
ssl.enabled.protocols LIST TLSv1.2,TLSv1.1,TLSv1 2.8=TLSv1.2,TLSv1.3 dynamic=2.2+
ssl.endpoint.identification.algorithm STRING - 2.2=https dynamic=2.2+
ssl.engine.factory.class CLASS - since=2.8 dynamic=2.8+
ssl.key.password PASSWORD - dynamic=2.2+ sensitive
ssl.keymanager.algorithm STRING SunX509 dynamic=2.2+
ssl.keystore.certificate.chain PASSWORD - since=2.8 dynamic=2.8+ sensitive
ssl.keystore.key PASSWORD - since=2.8 dynamic=2.8+ sensitive
ssl.keystore.location STRING - dynamic=2.2+
ssl.keystore.password PASSWORD - dynamic=2.2+ sensitive
ssl.keystore.type STRING JKS dynamic=2.2+
ssl.principal.mapping.rules LIST DEFAULT type@2.8=STRING since=2.2
ssl.protocol STRING TLS 2.8=TLSv1.3 dynamic=2.2+
ssl.provider STRING - dynamic=2.2+
ssl.secure.random.implementation STRING - dynamic=2.2+
ssl.trustmanager.algorithm STRING PKIX dynamic=2.2+
ssl.truststore.certificates PASSWORD - since=2.8 dynamic=2.8+ sensitive
ssl.truststore.location STRING - dynamic=2.2+
ssl.truststore.password PASSWORD - dynamic=2.2+ sensitive
ssl.truststore.type STRING JKS dynamic=2.2+
telemetry.max.bytes INT 1048576 since=3.9 rule@3.9=>=_1
transaction.abort.timed.out.transaction.cleanup.interval.ms INT 60000 2.8=10000 rule@1.0=>=_1
transaction.max.timeout.ms INT 900000 rule@1.0=>=_1
transaction.partition.verification.enable BOOLEAN true since=3.9 dynamic=3.9+
transaction.remove.expired.transaction.cleanup.interval.ms INT 3600000 rule@1.0=>=_1
transaction.state.log.load.buffer.size INT 5242880 rule@1.0=>=_1
transaction.state.log.min.isr INT 2 rule@1.0=>=_1
transaction.state.log.num.partitions INT 50 rule@1.0=>=_1
transaction.state.log.replication.factor SHORT 3 rule@1.0=>=_1
transaction.state.log.segment.bytes INT 104857600 rule@1.0=>=_1
transaction.two.phase.commit.enable BOOLEAN false since=4.3
transactional.id.expiration.ms INT 604800000 rule@1.0=>=_1
unclean.leader.election.enable BOOLEAN false dynamic=2.2+
zookeeper.clientCnxnSocket STRING - since=2.8 until=3.9
zookeeper.connect STRING - until=3.9
zookeeper.connection.timeout.ms INT - until=3.9
zookeeper.max.in.flight.requests INT 10 since=2.2 until=3.9 rule@2.2=>=_1
zookeeper.metadata.migration.enable BOOLEAN false since=3.9 until=3.9
zookeeper.session.timeout.ms INT 6000 2.8=18000 until=3.9
zookeeper.set.acl BOOLEAN false until=3.9
zookeeper.ssl.cipher.suites LIST - since=2.8 until=3.9
zookeeper.ssl.client.enable BOOLEAN false since=2.8 until=3.9
zookeeper.ssl.crl.enable BOOLEAN false since=2.8 until=3.9
zookeeper.ssl.enabled.protocols LIST - since=2.8 until=3.9
zookeeper.ssl.endpoint.identification.algorithm STRING HTTPS since=2.8 until=3.9
zookeeper.ssl.keystore.location STRING - since=2.8 until=3.9
zookeeper.ssl.keystore.password PASSWORD - since=2.8 until=3.9 sensitive
zookeeper.ssl.keystore.type STRING - since=2.8 until=3.9
zookeeper.ssl.ocsp.enable BOOLEAN false since=2.8 until=3.9
zookeeper.ssl.protocol STRING TLSv1.2 since=2.8 until=3.9
zookeeper.ssl.truststore.location STRING - since=2.8 until=3.9
zookeeper.ssl.truststore.password PASSWORD - since=2.8 until=3.9 sensitive
zookeeper.ssl.truststore.type STRING - since=2.8 until=3.9
zookeeper.sync.time.ms INT 2000 until=2.8
"""
