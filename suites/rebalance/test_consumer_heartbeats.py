"""ConsumerGroupHeartbeat: checks that come before any look at the group.

Sources: KIP-848; observed on 3.9.2 and 4.3.1.
"""

from touchstone.harness.model.claim import claim, every, range_
from touchstone.harness.model.expect import all_of, answer
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit import consumer_groups
from touchstone.suites.kit.consumer_groups import describe
from touchstone.suites.kit.groups import CLUSTER

FROM_CLIENTS = range_("ConsumerGroupHeartbeat", 1)


def beat(case, name, **changes):
    """A first heartbeat of member m1 that asks for no topic, with these changes."""
    said = {"rebalance_timeout_ms": 10_000, "subscribed_topic_names": []} | changes
    return consumer_groups.beat(
        case.group(), "m1", 0, owned=(), name=name, version=case.version, **said
    )


def is_refused(name, code):
    return answer(name, "error_code").is_(code)


@claim(
    "rebalance.consumer-heartbeats-are-checked-first",
    evidence=("KIP-848", "observed on 4.3.1"),
    api="ConsumerGroupHeartbeat",
    versions=FROM_CLIENTS,
    releases="4.3",
)
def test_consumer_heartbeats_are_checked_first(case):
    """ConsumerGroupHeartbeat with an empty id, an unknown epoch or an incomplete join answers
    INVALID_REQUEST.
    """
    wrong = {
        "no group": {"group_id": ""},
        "no member": {"member_id": ""},
        "no instance": {"instance_id": ""},
        "no rack": {"rack_id": ""},
        "odd epoch": {"member_epoch": -3},
        "nobody to wait for": {"member_epoch": -2},
        "no timeout": {"rebalance_timeout_ms": -1},
        "unknown ownership": {"topic_partitions": None},
        "no subscription": {"subscribed_topic_names": None},
    }
    return case.scenario(
        *[beat(case, name, **changes) for name, changes in wrong.items()],
        expect=all_of(*[is_refused(name, ErrorCode.INVALID_REQUEST) for name in wrong]),
    )


@claim(
    "rebalance.unknown-assignors-are-refused",
    evidence=("KIP-848", "observed on 4.3.1"),
    api="ConsumerGroupHeartbeat",
    versions=FROM_CLIENTS,
    releases="4.3",
)
def test_unknown_assignors_are_refused(case):
    """ConsumerGroupHeartbeat with an unknown assignor answers UNSUPPORTED_ASSIGNOR."""
    return case.scenario(
        beat(case, "beat", server_assignor="nope"),
        expect=is_refused("beat", ErrorCode.UNSUPPORTED_ASSIGNOR),
    )


OFF = {"evidence": ("KIP-848", "observed on 3.9.2"), "releases": "3.9", "config": CLUSTER}


@claim(
    "rebalance.the-consumer-protocol-is-off-at-first",
    api="ConsumerGroupHeartbeat",
    versions=every("ConsumerGroupHeartbeat"),
    **OFF,
)
def test_the_consumer_protocol_is_off_at_first(case):
    """In 3.9 ConsumerGroupHeartbeat answers UNSUPPORTED_VERSION by default."""
    return case.scenario(
        beat(case, "join"),
        beat(case, "leave", member_epoch=-1, topic_partitions=None),
        expect=all_of(
            *[is_refused(name, ErrorCode.UNSUPPORTED_VERSION) for name in ("join", "leave")]
        ),
    )


@claim(
    "rebalance.consumer-groups-are-not-described-at-first",
    api="ConsumerGroupDescribe",
    versions=every("ConsumerGroupDescribe"),
    **OFF,
)
def test_consumer_groups_are_not_described_at_first(case):
    """In 3.9 ConsumerGroupDescribe answers UNSUPPORTED_VERSION for each group by default."""
    return case.scenario(
        describe("no such group", "another", version=case.version, name="ask"),
        expect=answer("ask", "groups[1].error_code").is_(ErrorCode.UNSUPPORTED_VERSION),
    )
