"""Groups with classic and consumer members: how a case gets there, and what classic members send.

Classic members subscribe to a topic of a fixed name, because the coordinator parses the bytes that
contain it; all cases of a cluster share the topic. They join in versions that need no member id
first. Nothing here judges.

Sources: KIP-848; ConsumerProtocolSubscription and -Assignment of Kafka's message definitions.
"""

from touchstone.harness.model.scenario import Until
from touchstone.harness.model.steps import create_topic, topic_ready
from touchstone.reference_impl.wire.embedded.consumer_protocol import (
    encode_assignment,
    encode_subscription,
)
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit import groups
from touchstone.suites.kit.consumer_groups import join as joins
from touchstone.suites.kit.consumer_groups import topic_known
from touchstone.suites.kit.groups import comes, coordinated, id_of, sync

SHARED = "shared-by-classic-members"


def wants(*owned, version=1):
    """A classic member's protocols: it wants the shared topic and owns these partitions of it."""
    held = [{"topic": SHARED, "partitions": list(owned)}] if owned else []
    body = {"topics": [SHARED], "user_data": None, "owned_partitions": held}
    return (("range", encode_subscription(version, body)),)


def part(*indexes, user_data=None):
    rows = [{"topic": SHARED, "partitions": list(indexes)}]
    return encode_assignment(1, {"assigned_partitions": rows, "user_data": user_data})


def begun(group):
    made = create_topic(SHARED, 4, name="shared")
    there = Until(made, "topics[0].error_code", "==", ErrorCode.TOPIC_ALREADY_EXISTS)
    return [there, *topic_ready(SHARED, 4), *coordinated(group), topic_known(SHARED)]


def classic(group, **how):
    """A classic group of c, who has the whole topic."""
    return [
        *begun(group),
        comes("c", group, **{"protocols": wants()} | how),
        sync("c", group, 1, {"c": part(0, 1, 2, 3)}, name="c synced"),
    ]


def mixed(group, **how):
    """And m1, who speaks the consumer protocol."""
    return [*classic(group, **how), joins(group, "m1", SHARED, name="m1")]


def rejoins(group, *owned, name, **how):
    return groups.join("c", group, member=id_of("c"), protocols=wants(*owned), name=name, **how)
