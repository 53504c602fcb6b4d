"""Every config that DescribeConfigs shows of a topic, in five releases, as one table.

How a row reads: `config_rows.py`. Observed through DescribeConfigs on 1.0.2, 2.2.1, 2.8.2, 3.9.2
and 4.3.1; rules come from LogConfig's definition in the jars. `format up to V in Q` means any of
MESSAGE_FORMATS up to V, with Q around a name that is none.
"""

_FORMATS = """

0.8.0 0.8.1 0.8.2 0.9.0 0.10.0-IV0 0.10.0-IV1 0.10.1-IV0 0.10.1-IV1 0.10.1-IV2 0.10.2-IV0
0.11.0-IV0 0.11.0-IV1 0.11.0-IV2 1.0-IV0 1.1-IV0 2.0-IV0 2.0-IV1 2.1-IV0 2.1-IV1 2.1-IV2 2.2-IV0
2.2-IV1 2.3-IV0 2.3-IV1 2.4-IV0 2.4-IV1 2.5-IV0 2.6-IV0 2.7-IV0 2.7-IV1 2.7-IV2 2.8-IV0 2.8-IV1
3.0-IV0 3.0-IV1 3.1-IV0 3.2-IV0 3.3-IV0 3.3-IV1 3.3-IV2 3.3-IV3 3.4-IV0 3.5-IV0 3.5-IV1 3.5-IV2
3.6-IV0 3.6-IV1 3.6-IV2 3.7-IV0 3.7-IV1 3.7-IV2 3.7-IV3 3.7-IV4 3.8-IV0 3.9-IV0 4.0-IV0 4.0-IV1
"""
MESSAGE_FORMATS = tuple(_FORMATS.split())

TABLE = """
cleanup.policy LIST delete synonym=log.cleanup.policy rule@1.0=one_of_compact,_delete
compression.gzip.level INT -1 since=3.9 synonym=compression.gzip.level rule@3.9=1_.._9_or_-1
compression.lz4.level INT 9 since=3.9 synonym=compression.lz4.level rule@3.9=1_.._17
compression.type STRING producer synonym=compression.type
  rule@1.0=one_of_uncompressed,_snappy,_lz4,_gzip,_producer
  rule@2.2=one_of_uncompressed,_zstd,_lz4,_snappy,_gzip,_producer
compression.zstd.level INT 3 since=3.9 synonym=compression.zstd.level rule@3.9=-131072_.._22
delete.retention.ms LONG 86400000 synonym=log.cleaner.delete.retention.ms rule@1.0=>=_0
file.delete.delay.ms LONG 60000 synonym=log.segment.delete.delay.ms rule@1.0=>=_0
flush.messages LONG 9223372036854775807 synonym=log.flush.interval.messages rule@1.0=>=_0
  rule@3.9=>=_1
flush.ms LONG 9223372036854775807 synonym=log.flush.interval.ms rule@1.0=>=_0
follower.replication.throttled.replicas LIST ""
  rule@1.0=throttled_as_[partitionId],[brokerId]:[partitionId],[brokerId]:...
  rule@2.8=throttled_as_[partitionId]:[brokerId],[partitionId]:[brokerId],...
index.interval.bytes INT 4096 synonym=log.index.interval.bytes rule@1.0=>=_0
leader.replication.throttled.replicas LIST ""
  rule@1.0=throttled_as_[partitionId],[brokerId]:[partitionId],[brokerId]:...
  rule@2.8=throttled_as_[partitionId]:[brokerId],[partitionId]:[brokerId],...
local.retention.bytes LONG -2 since=3.9 synonym=log.local.retention.bytes rule@3.9=>=_-2
local.retention.ms LONG -2 since=3.9 synonym=log.local.retention.ms rule@3.9=>=_-2
max.compaction.lag.ms LONG 9223372036854775807 since=2.8 synonym=log.cleaner.max.compaction.lag.ms
  rule@2.8=>=_1
max.message.bytes INT 1000012 2.8=1048588 synonym=message.max.bytes rule@1.0=>=_0
message.downconversion.enable BOOLEAN true since=2.2 until=3.9
  synonym=log.message.downconversion.enable
message.format.version STRING 1.0-IV0 2.2=2.2-IV1 2.8=2.8-IV1 3.9=3.0-IV1 until=3.9
  synonym=log.message.format.version rule@2.2=format_up_to_2.2-IV1_in_`
  rule@2.8=format_up_to_2.8-IV1_in_` rule@3.9=format_up_to_4.0-IV1_in_
message.timestamp.after.max.ms LONG 9223372036854775807 4.3=3600000 since=3.9
  synonym=log.message.timestamp.after.max.ms rule@3.9=>=_0
message.timestamp.before.max.ms LONG 9223372036854775807 since=3.9
  synonym=log.message.timestamp.before.max.ms rule@3.9=>=_0
message.timestamp.difference.max.ms LONG 9223372036854775807 until=3.9
  synonym=log.message.timestamp.difference.max.ms rule@1.0=>=_0
message.timestamp.type STRING CreateTime synonym=log.message.timestamp.type
  rule@2.2=one_of_CreateTime,_LogAppendTime
min.cleanable.dirty.ratio DOUBLE 0.5 synonym=log.cleaner.min.cleanable.ratio rule@1.0=0_.._1
min.compaction.lag.ms LONG 0 synonym=log.cleaner.min.compaction.lag.ms rule@1.0=>=_0
min.insync.replicas INT 1 synonym=min.insync.replicas rule@1.0=>=_1
preallocate BOOLEAN false synonym=log.preallocate
remote.log.copy.disable BOOLEAN false since=3.9
remote.log.delete.on.disable BOOLEAN false since=3.9
remote.storage.enable BOOLEAN false since=3.9
retention.bytes LONG -1 synonym=log.retention.bytes
retention.ms LONG 604800000 synonym=log.retention.ms rule@2.2=>=_-1
segment.bytes INT 1073741824 synonym=log.segment.bytes rule@1.0=>=_14 rule@4.3=>=_1048576
segment.index.bytes INT 10485760 synonym=log.index.size.max.bytes rule@1.0=>=_0 rule@3.9=>=_4
segment.jitter.ms LONG 0 synonym=log.roll.jitter.ms rule@1.0=>=_0
segment.ms LONG 604800000 synonym=log.roll.ms rule@1.0=>=_0 rule@2.2=>=_1
unclean.leader.election.enable BOOLEAN false synonym=unclean.leader.election.enable
"""
