"""Streams groups where group.coordinator.rebalance.protocols leaves them out: every request is
refused.

The broker checks nothing else: neither whether the group exists nor any id.

Sources: KIP-1071; KafkaApis.isStreamsGroupProtocolEnabled at 4.3.1; observed there.
"""

from touchstone.harness.model.claim import claim, every
from touchstone.harness.model.expect import all_of, answer
from touchstone.harness.model.steps import Ask
from touchstone.reference_impl.wire.errors import ErrorCode

OFF = {
    "evidence": ("KIP-1071", "observed on 4.3.1"),
    "releases": "4.3",
    "config": {"group.coordinator.rebalance.protocols": "classic,consumer"},
}


@claim(
    "rebalance.streams-heartbeats-are-refused-where-streams-are-off",
    api="StreamsGroupHeartbeat",
    versions=every("StreamsGroupHeartbeat"),
    **OFF,
)
def test_streams_heartbeats_are_refused_where_streams_are_off(case):
    """Without streams in group.coordinator.rebalance.protocols StreamsGroupHeartbeat answers
    UNSUPPORTED_VERSION.
    """
    beats = {"join": ("g", 0), "leave": ("g", -1), "no group": ("", 0)}
    return case.scenario(
        *[
            Ask(
                "StreamsGroupHeartbeat",
                case.version,
                {"group_id": group, "member_id": "m", "member_epoch": epoch},
                name,
            )
            for name, (group, epoch) in beats.items()
        ],
        expect=all_of(
            *[answer(name, "error_code").is_(ErrorCode.UNSUPPORTED_VERSION) for name in beats]
        ),
    )


@claim(
    "rebalance.streams-groups-are-not-described-where-streams-are-off",
    api="StreamsGroupDescribe",
    versions=every("StreamsGroupDescribe"),
    operations=(False, True),
    **OFF,
)
def test_streams_groups_are_not_described_where_streams_are_off(case):
    """Without streams in group.coordinator.rebalance.protocols StreamsGroupDescribe answers
    UNSUPPORTED_VERSION for each group, as often as the request names it.
    """
    body = {
        "group_ids": ["a", "", "b", "a"],
        "include_authorized_operations": case.operations,
    }
    return case.scenario(
        Ask("StreamsGroupDescribe", case.version, body, "ask"),
        expect=answer("ask", "groups[*].error_code").is_([ErrorCode.UNSUPPORTED_VERSION] * 4),
    )
