"""The configs of a group, as one table. How a row reads: `config_rows.py`.

Observed through DescribeConfigs of resource type 32 on 4.3.1; 3.9.2 does not know the type.
"""

TABLE = """
consumer.assignment.interval.ms INT 1000 since=4.3 rule@4.3=>=_0
  synonym=group.consumer.assignment.interval.ms
consumer.heartbeat.interval.ms INT 5000 since=4.3 rule@4.3=>=_1
  synonym=group.consumer.heartbeat.interval.ms
consumer.session.timeout.ms INT 45000 since=4.3 rule@4.3=>=_1
  synonym=group.consumer.session.timeout.ms
share.assignment.interval.ms INT 1000 since=4.3 rule@4.3=>=_0
  synonym=group.share.assignment.interval.ms
share.auto.offset.reset STRING latest since=4.3 synonym=share.auto.offset.reset
share.delivery.count.limit INT 5 since=4.3 rule@4.3=>=_2 synonym=group.share.delivery.count.limit
share.heartbeat.interval.ms INT 5000 since=4.3 rule@4.3=>=_1
  synonym=group.share.heartbeat.interval.ms
share.isolation.level STRING read_uncommitted since=4.3 synonym=share.isolation.level
share.partition.max.record.locks INT 2000 since=4.3 rule@4.3=>=_100
  synonym=group.share.partition.max.record.locks
share.record.lock.duration.ms INT 30000 since=4.3 rule@4.3=>=_1000
  synonym=group.share.record.lock.duration.ms
share.renew.acknowledge.enable BOOLEAN true since=4.3 synonym=share.renew.acknowledge.enable
share.session.timeout.ms INT 45000 since=4.3 rule@4.3=>=_1 synonym=group.share.session.timeout.ms
streams.assignment.interval.ms INT 1000 since=4.3 rule@4.3=>=_0
  synonym=group.streams.assignment.interval.ms
streams.heartbeat.interval.ms INT 5000 since=4.3 rule@4.3=>=_1
  synonym=group.streams.heartbeat.interval.ms
streams.initial.rebalance.delay.ms INT 3000 since=4.3 rule@4.3=>=_0
  synonym=group.streams.initial.rebalance.delay.ms
streams.num.standby.replicas INT 0 since=4.3 rule@4.3=>=_0
  synonym=group.streams.num.standby.replicas
streams.session.timeout.ms INT 45000 since=4.3 rule@4.3=>=_1
  synonym=group.streams.session.timeout.ms
"""
