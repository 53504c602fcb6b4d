"""A broker that is cut off from quorum or ZooKeeper keeps some requests until it is not.

A broker of KRaft decides nothing: it puts such a request into an Envelope, and the controller's
answer comes back in it. Here the controller is a call away, so a request is served where it
arrives, as long as its broker reaches the quorum. One that does not waits and is served when it
does; after a minute, `RETRY_MS`, each thing that was asked for timed out (Kafka looks only between
two attempts, so after 78 s at 4.3.1). A client that gives up before that never learns, and what it
asked for may be done all the same.

A broker of a ZooKeeper release reads and writes the configs of topics there, and its thread waits
until ZooKeeper answers, however long that takes.

Sources: KIP-590; KafkaApis.maybeForwardToController, ForwardingManagerImpl and
NodeToControllerRequestThread@3.9.2 (retryTimeoutMs of BrokerServer); KafkaZkClient@2.8.2
(retryRequestUntilConnected); seen on brokers of 2.8.2 and 4.3.1 that were cut off.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from touchstone.reference_impl.broker import registry
from touchstone.reference_impl.broker.effects import Wait
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker
    from touchstone.reference_impl.broker.effects import Request

RETRY_MS = 60_000
QUORUM = "quorum"  # who waits for it is asked again when the broker hears of it
FOR_EVER_MS = 86_400_000  # longer than any client waits
FORWARDED = frozenset(
    {
        19,  # CreateTopics
        20,  # DeleteTopics
        30,  # CreateAcls
        31,  # DeleteAcls
        33,  # AlterConfigs
        37,  # CreatePartitions
        43,  # ElectLeaders
        44,  # IncrementalAlterConfigs
        45,  # AlterPartitionReassignments
        46,  # ListPartitionReassignments
        49,  # AlterClientQuotas
        51,  # AlterUserScramCredentials
        55,  # DescribeQuorum
        57,  # UpdateFeatures
        64,  # UnregisterBroker
        80,  # AddRaftVoter
        81,  # RemoveRaftVoter
    }
)
DESCRIBE_CONFIGS, TOPIC = 32, 2
KEPT_IN_ZOOKEEPER = frozenset({DESCRIBE_CONFIGS, 33, 44})  # AlterConfigs, IncrementalAlterConfigs


def stuck(broker: Broker, request: Request) -> bool:
    """Whether this is for a controller, or a ZooKeeper, that its broker cannot reach."""
    key, kraft = request.header.key, broker.persona.kraft
    if key not in (FORWARDED if kraft else KEPT_IN_ZOOKEEPER) or request.connection.controller:
        return False
    if broker.cluster.reachable(broker.id):
        return False
    resources = request.body.get("resources", ())
    return key != DESCRIBE_CONFIGS or any(row["resource_type"] == TOPIC for row in resources)


def wait(broker: Broker, request: Request, now: int) -> Wait:
    def attempt(now: int) -> Any:
        return None if stuck(broker, request) else broker.handler(request.header.key)(request, now)

    def expire(now: int) -> Struct:
        fail, code = (
            getattr(registry.handler(request.header.key), "fail", None),
            ErrorCode.REQUEST_TIMED_OUT,
        )
        return fail(request, code) if fail else {"error_code": code}

    patience = RETRY_MS if broker.persona.kraft else FOR_EVER_MS
    return Wait(now + patience, [QUORUM], attempt, expire)
