"""ShareGroupDescribe, and share groups in what other requests about groups say.

Sources: KIP-932; GroupMetadataManager@4.3.1; observed on 4.3.1.
"""

from touchstone.harness.model.claim import claim, every
from touchstone.harness.model.expect import all_of, answer
from touchstone.harness.model.placeholders import Ref
from touchstone.harness.model.scenario import Until
from touchstone.harness.model.steps import ask, coordinator_ready
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit import consumer_groups
from touchstone.suites.kit.shares import (
    ANNE,
    BERT,
    SEEN,
    SHARES,
    a_group,
    beat,
    claims,
    described,
    is_,
    joins,
    offsets,
)

API = "ShareGroupDescribe"
ROW = "groups[0]"
FIRST_WITH_STATES = 4  # of ListGroups
FIRST_WITH_TYPES = 5


describes = claims(API)


def a_consumer(group, topic):
    """A member of a consumer group joins."""
    first = {"rebalance_timeout_ms": 10_000, "subscribed_topic_names": [topic]}
    return consumer_groups.beat(group, "m1", 0, owned=(), version=1, name="consumer", **first)


@describes("groups-are-described")
def test_groups_are_described(case):
    """ShareGroupDescribe returns the state, the assignor and the members of a share group."""
    group, topic = case.topic("group"), case.topic()
    return case.scenario(
        a_group(group, topic),
        joins(group, BERT, topic),
        described(group, version=case.version, rights=True, name="described"),
        expect=all_of(
            answer("described", f"{ROW}.group_state").is_("Stable"),
            answer("described", f"{ROW}.assignor_name").is_("simple"),
            answer("described", f"{ROW}.members").has_length(2),
        ),
    )


@describes("other-groups-are-not-found")
def test_other_groups_are_not_found(case):
    """ShareGroupDescribe answers GROUP_ID_NOT_FOUND for a group that is no share group and
    INVALID_GROUP_ID for an empty group id."""
    group = case.topic("group")
    nameless = {"group_ids": [""], "include_authorized_operations": False}
    return case.scenario(
        coordinator_ready(group),
        described(group, version=case.version, name="nobody"),
        ask(API, case.version, nameless, name="nameless"),
        expect=all_of(
            is_("nobody", ErrorCode.GROUP_ID_NOT_FOUND, f"{ROW}.error_code"),
            is_("nameless", ErrorCode.INVALID_GROUP_ID, f"{ROW}.error_code"),
        ),
    )


@claim(
    "share.share-groups-are-listed",
    evidence=SEEN,
    api="ListGroups",
    versions=every("ListGroups"),
    **SHARES,
)
def test_share_groups_are_listed(case):
    """ListGroups returns share groups without an error, with state and type in the versions that
    have them."""
    group, topic = case.topic("group"), case.topic()
    body = {"states_filter": [], "types_filter": []}
    if case.version >= FIRST_WITH_TYPES:
        body["types_filter"] = ["share"]
    row = {"group_id": group, "protocol_type": "share"}
    if case.version >= FIRST_WITH_STATES:
        row["group_state"] = "Stable"
    if case.version >= FIRST_WITH_TYPES:
        row["group_type"] = "share"
    return case.scenario(
        a_group(group, topic),
        ask("ListGroups", case.version, body, name="listed"),
        expect=all_of(is_("listed", 0), answer("listed", "groups").contains(row)),
    )


@claim(
    "share.share-groups-are-deleted",
    evidence=SEEN,
    api="DeleteGroups",
    versions=every("DeleteGroups"),
    **SHARES,
)
def test_share_groups_are_deleted(case):
    """DeleteGroups answers NON_EMPTY_GROUP for a share group with members and deletes one
    without."""
    group, topic = case.topic("group"), case.topic()
    body = {"groups_names": [group]}
    code = "results[0].error_code"
    return case.scenario(
        a_group(group, topic),
        ask("DeleteGroups", case.version, body, name="with a member"),
        beat(group, ANNE, -1, name="leaves"),
        ask("DeleteGroups", case.version, body, name="without"),
        described(group, name="described"),
        offsets(group, [(topic, [0])], name="offsets"),
        expect=all_of(
            is_("with a member", ErrorCode.NON_EMPTY_GROUP, code),
            is_("without", 0, code),
            is_("described", ErrorCode.GROUP_ID_NOT_FOUND, f"{ROW}.error_code"),
        ),
    )


@describes("share-groups-are-no-consumer-groups")
def test_share_groups_are_no_consumer_groups(case):
    """ConsumerGroupHeartbeat and ConsumerGroupDescribe of a share group answer GROUP_ID_NOT_FOUND,
    and its members stay."""
    group, topic = case.topic("group"), case.topic()
    described_as = {"group_ids": [group], "include_authorized_operations": False}
    classic = {"groups": [group], "include_authorized_operations": False}
    row = {"partition_index": 0, "committed_offset": 1, "committed_metadata": ""}
    commit = {
        "group_id": group,
        "generation_id_or_member_epoch": -1,
        "member_id": "",
        "group_instance_id": None,
        "topics": [{"name": topic, "partitions": [row]}],
    }
    return case.scenario(
        a_group(group, topic),
        a_consumer(group, topic),
        ask("ConsumerGroupDescribe", 1, described_as, name="as a consumer group"),
        ask("DescribeGroups", 6, classic, name="as a classic group"),
        ask("OffsetCommit", 9, commit, name="commit"),
        ask("Heartbeat", 4, {"group_id": group, "generation_id": 1, "member_id": ANNE},
            name="heartbeat"),
        described(group, version=case.version, name="described"),
        expect=all_of(
            is_("consumer", ErrorCode.GROUP_ID_NOT_FOUND),
            is_("as a consumer group", ErrorCode.GROUP_ID_NOT_FOUND, f"{ROW}.error_code"),
            answer("described", f"{ROW}.members").has_length(1),
        ),
    )  # fmt: skip


@describes("other-groups-are-no-share-groups")
def test_other_groups_are_no_share_groups(case):
    """ShareGroupHeartbeat and ShareGroupDescribe of a consumer group answer GROUP_ID_NOT_FOUND."""
    group, topic = case.topic("group"), case.topic()
    return case.scenario(
        coordinator_ready(group),
        Until(a_consumer(group, topic), "error_code", "==", 0),
        beat(group, ANNE, 0, topic, name="joins"),
        beat(group, ANNE, Ref("consumer", "member_epoch"), name="beats"),
        described(group, version=case.version, name="described"),
        expect=all_of(
            is_("joins", ErrorCode.GROUP_ID_NOT_FOUND),
            is_("described", ErrorCode.GROUP_ID_NOT_FOUND, f"{ROW}.error_code"),
        ),
    )
