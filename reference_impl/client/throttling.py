"""From which version of an API on its client waits out `throttle_time_ms` (KIP-219).

Before that version the broker itself held its answer back for so long; from it on the answer comes
at once, and the client sends nothing on that connection until the time is over. Each API got a
version of its own for this; what is younger than KIP-219 has it from its first version, where
Java's response class says so, and what stands in no row is not waited for.

Source: `shouldClientThrottle` of the response classes in org.apache.kafka.common.requests, and
NetworkClient.maybeThrottle, on trunk of 2024-10-25.
"""

from __future__ import annotations

from touchstone.reference_impl.wire.apis import by_name
from touchstone.reference_impl.wire.schema import Struct

_SINCE = {
    0: "AlterPartitionReassignments AlterUserScramCredentials DescribeTopicPartitions "
       "DescribeUserScramCredentials ElectLeaders IncrementalAlterConfigs "
       "ListPartitionReassignments OffsetDelete UnregisterBroker",
    1: "AddOffsetsToTxn AddPartitionsToTxn AlterConfigs AlterReplicaLogDirs CreateAcls "
       "CreateDelegationToken CreatePartitions DeleteAcls DeleteGroups DeleteRecords DescribeAcls "
       "DescribeDelegationToken DescribeLogDirs EndTxn ExpireDelegationToken InitProducerId "
       "RenewDelegationToken TxnOffsetCommit",
    2: "ApiVersions DeleteTopics DescribeConfigs DescribeGroups FindCoordinator Heartbeat "
       "LeaveGroup ListGroups SyncGroup",
    3: "CreateTopics JoinGroup ListOffsets",
    4: "OffsetCommit OffsetFetch",
    6: "Metadata Produce",
    8: "Fetch",
}  # fmt: skip
SINCE = {by_name(name).key: since for since, names in _SINCE.items() for name in names.split()}


def pause_ms(key: int, version: int, body: Struct) -> int:
    """For how long nothing is sent after this answer; 0 where it asks for no pause."""
    asked: int = body.get("throttle_time_ms", 0)
    return asked if asked > 0 and version >= SINCE.get(key, version + 1) else 0
