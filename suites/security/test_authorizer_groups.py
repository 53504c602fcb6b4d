"""What it takes to be a member of a group, and to see groups.

Who is allowed here is refused for another reason: it is nobody that the group knows.

Sources: KafkaApis.handleFindCoordinatorRequest, handleJoinGroupRequest, handleHeartbeatRequest,
handleListGroupsRequest, handleDeleteGroupsRequest at 1.0.2 to 4.3.1; KIP-11, KIP-231.
"""

from touchstone.harness.model.claim import claim, only
from touchstone.harness.model.expect import all_of, answer
from touchstone.harness.model.scenario import Ask
from touchstone.harness.model.steps import (
    find_coordinator,
)
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit import groups, offsets
from touchstone.suites.kit.rights import ALLOWED, DENIED, WITHOUT, asked, rights, said, shown
from touchstone.suites.kit.security import (
    DELETE,
    DESCRIBE,
    GROUP,
    READ,
    authorizer,
)

REFUSED = ErrorCode.GROUP_AUTHORIZATION_FAILED


@claim(
    "authorizer.find-coordinator-needs-describe",
    evidence=("KIP-11", "observed on 1.0.2", "observed on 4.3.1"),
    api="FindCoordinator",
    versions=only("FindCoordinator", 1),
)
def test_find_coordinator_needs_describe(case):
    """FindCoordinator answers GROUP_AUTHORIZATION_FAILED for a group that its client may not
    DESCRIBE."""
    group = case.group()
    path = "error_code" if case.version < 4 else "coordinators[0].error_code"
    return case.scenario(
        offsets.serving(group),
        rights(case, GROUP, group, DESCRIBE),
        asked(lambda who: find_coordinator(group, version=case.version, **who)),
        expect=said(path, REFUSED),
        config=authorizer(case.release),
    )


@claim(
    "authorizer.join-group-needs-read",
    evidence=("KIP-11", "observed on 1.0.2", "observed on 4.3.1"),
    api="JoinGroup",
    versions=only("JoinGroup", 2),
)
def test_join_group_needs_read(case):
    """JoinGroup answers GROUP_AUTHORIZATION_FAILED for a group that its client may not READ,
    before anything else that is wrong with it."""
    group = case.group()
    body = {
        "group_id": group,
        "session_timeout_ms": 1,
        "rebalance_timeout_ms": 1,
        "member_id": "",
        "protocol_type": "consumer",
        "protocols": [{"name": "range", "metadata": b""}],
    }
    return case.scenario(
        offsets.serving(group),
        rights(case, GROUP, group, READ),
        asked(lambda who: Ask("JoinGroup", case.version, body, **who)),
        expect=said("error_code", REFUSED, ErrorCode.INVALID_SESSION_TIMEOUT),
        config=authorizer(case.release),
    )


@claim(
    "authorizer.sync-group-needs-read",
    evidence=("KIP-11", "observed on 1.0.2", "observed on 4.3.1"),
    api="SyncGroup",
    versions=only("SyncGroup", 1),
)
def test_sync_group_needs_read(case):
    """SyncGroup answers GROUP_AUTHORIZATION_FAILED for a group that its client may not READ."""
    group = case.group()
    body = {
        "group_id": group,
        "generation_id": 1,
        "member_id": "nobody",
        "assignments": [],
        "protocol_type": "consumer",
        "protocol_name": "range",
    }
    return case.scenario(
        offsets.serving(group),
        rights(case, GROUP, group, READ),
        asked(lambda who: Ask("SyncGroup", case.version, body, **who)),
        expect=said("error_code", REFUSED, ErrorCode.UNKNOWN_MEMBER_ID),
        config=authorizer(case.release),
    )


@claim(
    "authorizer.heartbeat-needs-read",
    evidence=("KIP-11", "observed on 1.0.2", "observed on 4.3.1"),
    api="Heartbeat",
    versions=only("Heartbeat", 1),
    switches=("groups-unguarded",),
)
def test_heartbeat_needs_read(case):
    """Heartbeat answers GROUP_AUTHORIZATION_FAILED for a group that its client may not READ."""
    group = case.group()
    body = {"group_id": group, "generation_id": 1, "member_id": "nobody"}
    return case.scenario(
        offsets.serving(group),
        rights(case, GROUP, group, READ),
        asked(lambda who: Ask("Heartbeat", case.version, body, **who)),
        expect=said("error_code", REFUSED, ErrorCode.UNKNOWN_MEMBER_ID),
        config=authorizer(case.release),
    )


@claim(
    "authorizer.leave-group-needs-read",
    evidence=("KIP-11", "observed on 1.0.2", "observed on 4.3.1"),
    api="LeaveGroup",
    versions=only("LeaveGroup", 1),
)
def test_leave_group_needs_read(case):
    """LeaveGroup answers GROUP_AUTHORIZATION_FAILED for a group that its client may not
    READ."""
    group = case.group()
    members = [{"member_id": "nobody", "group_instance_id": None}]
    body = {"group_id": group, "member_id": "nobody", "members": members}
    path = groups.left_code(case.version)
    return case.scenario(
        offsets.serving(group),
        rights(case, GROUP, group, READ),
        asked(lambda who: Ask("LeaveGroup", case.version, body, **who)),
        expect=all_of(
            answer(WITHOUT, "error_code").is_(REFUSED),
            answer(DENIED, "error_code").is_(REFUSED),
            answer(ALLOWED, path).is_(ErrorCode.UNKNOWN_MEMBER_ID),
        ),
        config=authorizer(case.release),
    )


@claim(
    "authorizer.describe-groups-needs-describe",
    evidence=("KIP-11", "observed on 1.0.2", "observed on 4.3.1"),
    api="DescribeGroups",
    versions=only("DescribeGroups", 1),
)
def test_describe_groups_needs_describe(case):
    """DescribeGroups answers GROUP_AUTHORIZATION_FAILED, and no state, for a group that its
    client may not DESCRIBE."""
    topic, group, made = offsets.a_group(case)
    return case.scenario(
        made,
        offsets.commit(group, topic, name="commit"),
        rights(case, GROUP, group, DESCRIBE),
        asked(lambda who: groups.describe(group, version=case.version, **who)),
        expect=said(
            "groups[0].error_code",
            REFUSED,
            ErrorCode.NONE,
            answer(WITHOUT, "groups[0].group_state").is_(""),
            answer(ALLOWED, "groups[0].group_state").is_("Empty"),
        ),
        config=authorizer(case.release),
    )


@claim(
    "authorizer.list-groups-leaves-out-forbidden-groups",
    evidence=("KIP-231",),
    api="ListGroups",
    releases="2.2+",
    versions=only("ListGroups", 1),
    switches=("forbidden-groups-listed",),
)
def test_list_groups_leaves_out_forbidden_groups(case):
    """ListGroups leaves out the groups that its client may not DESCRIBE, without a word."""
    topic, group, made = offsets.a_group(case)
    return case.scenario(
        made,
        offsets.commit(group, topic, name="commit"),
        rights(case, GROUP, group, DESCRIBE),
        asked(lambda who: groups.list_groups(version=case.version, **who)),
        expect=shown("groups[*].group_id", group),
        config=authorizer(case.release),
    )


@claim(
    "authorizer.delete-groups-needs-delete",
    evidence=("KIP-11", "observed on 2.2.1", "observed on 4.3.1"),
    api="DeleteGroups",
    versions=only("DeleteGroups", 1),
)
def test_delete_groups_needs_delete(case):
    """DeleteGroups answers GROUP_AUTHORIZATION_FAILED for a group that its client may not
    DELETE."""
    topic, group, made = offsets.a_group(case)
    return case.scenario(
        made,
        offsets.commit(group, topic, name="commit"),
        rights(case, GROUP, group, DELETE),
        asked(lambda who: groups.delete(group, version=case.version, **who)),
        expect=said("results[0].error_code", REFUSED),
        config=authorizer(case.release),
    )
