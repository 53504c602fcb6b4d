"""Every config that DescribeConfigs shows of a topic, in five releases, as one table.

The settings that a partition's log or the data path obeys come from `log/topic_config.py`, a line
each; here stand those that are shown only, or read as text (throttled replicas). How a row reads:
`config_rows.py`. Observed through DescribeConfigs on 1.0.2, 2.2.1, 2.8.2, 3.9.2 and 4.3.1; rules
come from LogConfig's definition in the jars. `format up to V in Q` means any of MESSAGE_FORMATS up
to V, with Q around a name that is none.
"""

from touchstone.reference_impl.log.topic_config import TopicConfig

_FORMATS = """
0.8.0 0.8.1 0.8.2 0.9.0 0.10.0-IV0 0.10.0-IV1 0.10.1-IV0 0.10.1-IV1 0.10.1-IV2 0.10.2-IV0
0.11.0-IV0 0.11.0-IV1 0.11.0-IV2 1.0-IV0 1.1-IV0 2.0-IV0 2.0-IV1 2.1-IV0 2.1-IV1 2.1-IV2 2.2-IV0
2.2-IV1 2.3-IV0 2.3-IV1 2.4-IV0 2.4-IV1 2.5-IV0 2.6-IV0 2.7-IV0 2.7-IV1 2.7-IV2 2.8-IV0 2.8-IV1
3.0-IV0 3.0-IV1 3.1-IV0 3.2-IV0 3.3-IV0 3.3-IV1 3.3-IV2 3.3-IV3 3.4-IV0 3.5-IV0 3.5-IV1 3.5-IV2
3.6-IV0 3.6-IV1 3.6-IV2 3.7-IV0 3.7-IV1 3.7-IV2 3.7-IV3 3.7-IV4 3.8-IV0 3.9-IV0 4.0-IV0 4.0-IV1
"""
MESSAGE_FORMATS = tuple(_FORMATS.split())

_OTHERS = """
compression.gzip.level INT -1 since=3.9 synonym=compression.gzip.level rule@3.9=1_.._9_or_-1
compression.lz4.level INT 9 since=3.9 synonym=compression.lz4.level rule@3.9=1_.._17
compression.zstd.level INT 3 since=3.9 synonym=compression.zstd.level rule@3.9=-131072_.._22
follower.replication.throttled.replicas LIST ""
  rule@1.0=throttled_as_[partitionId],[brokerId]:[partitionId],[brokerId]:...
  rule@2.8=throttled_as_[partitionId]:[brokerId],[partitionId]:[brokerId],...
leader.replication.throttled.replicas LIST ""
  rule@1.0=throttled_as_[partitionId],[brokerId]:[partitionId],[brokerId]:...
  rule@2.8=throttled_as_[partitionId]:[brokerId],[partitionId]:[brokerId],...
local.retention.bytes LONG -2 since=3.9 synonym=log.local.retention.bytes rule@3.9=>=_-2
local.retention.ms LONG -2 since=3.9 synonym=log.local.retention.ms rule@3.9=>=_-2
remote.log.copy.disable BOOLEAN false since=3.9
remote.log.delete.on.disable BOOLEAN false since=3.9
remote.storage.enable BOOLEAN false since=3.9
"""
_rows = _OTHERS.strip("\n").replace("\n  ", " ").splitlines()
TABLE = "\n".join(sorted([*TopicConfig.rows(), *_rows]))
