"""ACLs are made, told and deleted; filters say which.

Sources: AclApis at 2.8.2 to 4.3.1, KafkaApis.handleCreateAcls at 1.0.2 and 2.2.1, AclBindingFilter,
ResourcePatternFilter; KIP-140, KIP-290; clause SEC-05.
"""

from touchstone.harness.model.claim import claim, range_
from touchstone.harness.model.expect import all_of, answer
from touchstone.harness.model.scenario import Ask, Until
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.rights import ALLOWED, principal
from touchstone.suites.kit.security import (
    ALLOW,
    ALTER,
    ANY,
    DENY,
    LITERAL,
    MATCH,
    PREFIXED,
    READ,
    TOPIC,
    WRITE,
    acl,
    acl_filter,
    authorizer,
    granted,
)

SOMEBODY, OTHER = "User:somebody", "User:other"
ANY_PATTERN = 1
FOUND = "resources[*].resource_name"


def _told(acl_filter, version, name="told"):
    return Ask("DescribeAcls", version, acl_filter, name)


@claim(
    "authorizer.acls-that-are-made-are-told",
    evidence=("KIP-140",),
    api="CreateAcls",
    versions=range_("CreateAcls", 0, 1),
)
def test_acls_that_are_made_are_told(case):
    """DescribeAcls tells each ACL that CreateAcls made, with principal, host, operation and
    permission."""
    topic = case.topic()
    made = [acl(TOPIC, topic, READ, SOMEBODY), acl(TOPIC, topic, WRITE, OTHER, permission=DENY)]
    rows = [
        {"principal": SOMEBODY, "host": "*", "operation": READ, "permission_type": ALLOW},
        {"principal": OTHER, "host": "*", "operation": WRITE, "permission_type": DENY},
    ]
    told = _told(acl_filter(TOPIC, topic), case.version)
    return case.scenario(
        Ask("CreateAcls", case.version, {"creations": made}, "create"),
        Until(told, "resources[0].acls", "len ==", 2),
        expect=all_of(
            answer("create", "results[*].error_code").is_([ErrorCode.NONE] * 2),
            answer("told", "error_code").is_(ErrorCode.NONE),
            *(answer("told", "resources[0].acls").contains(row) for row in rows),
        ),
        config=authorizer(case.release),
    )


@claim(
    "authorizer.an-acl-is-made-once",
    evidence=("KIP-140",),
    api="CreateAcls",
    versions=range_("CreateAcls", 0, 1),
)
def test_an_acl_is_made_once(case):
    """CreateAcls with the same ACL twice, and again, answers no error and leaves one."""
    topic = case.topic()
    one, other = acl(TOPIC, topic, READ, SOMEBODY), acl(TOPIC, topic, ALTER, OTHER)
    body = {"creations": [one, one]}
    told = _told(acl_filter(TOPIC, topic), case.version)
    return case.scenario(
        Ask("CreateAcls", case.version, body, "create"),
        Ask("CreateAcls", case.version, {"creations": [one, other]}, "again"),
        Until(told, "resources[0].acls[*].principal", "contains", OTHER),
        expect=all_of(
            answer("create", "results[*].error_code").is_([ErrorCode.NONE] * 2),
            answer("again", "results[*].error_code").is_([ErrorCode.NONE] * 2),
            answer("told", "resources[0].acls").has_length(2),
        ),
        config=authorizer(case.release),
    )


@claim(
    "authorizer.an-acl-needs-a-resource-with-a-name",
    evidence=("KIP-140", "observed on 1.0.2", "observed on 4.3.1"),
    api="CreateAcls",
    versions=range_("CreateAcls", 0, 1),
)
def test_an_acl_needs_a_resource_with_a_name(case):
    """CreateAcls answers INVALID_REQUEST for an entry without the name of a resource, and makes the
    others."""
    topic = case.topic()
    made = [acl(TOPIC, "", READ, SOMEBODY), acl(TOPIC, topic, READ, SOMEBODY)]
    told = _told(acl_filter(TOPIC, topic), case.version)
    return case.scenario(
        Ask("CreateAcls", case.version, {"creations": made}, "create"),
        Until(told, "resources", "len ==", 1),
        expect=answer("create", "results[*].error_code").is_(
            [ErrorCode.INVALID_REQUEST, ErrorCode.NONE]
        ),
        config=authorizer(case.release),
    )


@claim(
    "authorizer.filters-tell-patterns-apart",
    evidence=("KIP-290",),
    api="DescribeAcls",
    versions=range_("DescribeAcls", 1, 1),
    pattern=(LITERAL, PREFIXED, ANY_PATTERN, MATCH),
    switches=("patterns-mixed-up",),
)
def test_filters_tell_patterns_apart(case):
    """A filter by LITERAL or PREFIXED finds ACLs of that pattern and name, one by ANY those of
    either, and one by MATCH all that hold for a resource of the name."""
    topic, case_user = case.topic(), principal(case.release, ALLOWED)
    wanted = acl_filter(TOPIC, topic, pattern=case.pattern, principal=case_user)
    literal = case.pattern in (LITERAL, ANY_PATTERN, MATCH)
    found = [topic] if literal else []
    found += ["topic-"] if case.pattern == MATCH else []
    return case.scenario(
        granted(
            case.release,
            acl(TOPIC, topic, READ, case_user),
            acl(TOPIC, "topic-", READ, case_user, pattern=PREFIXED),
        ),
        _told(wanted, case.version),
        expect=all_of(
            answer("told", FOUND).has_length(len(found)),
            *(answer("told", FOUND).contains(name) for name in found),
        ),
        config=authorizer(case.release),
    )


@claim(
    "authorizer.filters-narrow-what-they-name",
    evidence=("KIP-140",),
    api="DescribeAcls",
    versions=range_("DescribeAcls", 0, 1),
    by=("principal", "operation", "permission", "host"),
)
def test_filters_narrow_what_they_name(case):
    """A filter finds the ACLs that agree with each element it names, and with ANY whatever there
    is."""
    topic = case.topic()
    narrow = {
        "principal": {"principal": SOMEBODY},
        "operation": {"operation": READ},
        "permission": {"permission": ALLOW},
        "host": {"host": "*"},
    }[case.by]
    here = acl(TOPIC, topic, READ, SOMEBODY)
    elsewhere = acl(TOPIC, topic, WRITE, OTHER, permission=DENY, host="127.0.0.9")
    told = answer("told", "resources[0].acls")
    return case.scenario(
        granted(case.release, here, elsewhere),
        _told(acl_filter(TOPIC, topic), case.version, "all"),
        _told(acl_filter(TOPIC, topic, **narrow), case.version),
        expect=all_of(
            answer("all", "resources[0].acls").has_length(2),
            told.has_length(1),
            answer("told", "resources[0].acls[0].principal").is_(SOMEBODY),
        ),
        config=authorizer(case.release),
    )


@claim(
    "authorizer.deletions-tell-what-they-deleted",
    evidence=("SEC-05", "KIP-140"),
    api="DeleteAcls",
    versions=range_("DeleteAcls", 0, 1),
    switches=("deleted-acls-kept",),
)
def test_deletions_tell_what_they_deleted(case):
    """DeleteAcls answers, filter by filter, the ACLs that it found and deleted; they are gone, and
    others stay."""
    topic = case.topic()
    filters = [
        acl_filter(TOPIC, topic, principal=SOMEBODY),
        acl_filter(TOPIC, topic, principal="User:nobody", operation=ANY),
    ]
    told = _told(acl_filter(TOPIC, topic), case.version)
    return case.scenario(
        granted(
            case.release,
            acl(TOPIC, topic, READ, SOMEBODY),
            acl(TOPIC, topic, WRITE, SOMEBODY),
            acl(TOPIC, topic, READ, OTHER),
        ),
        Ask("DeleteAcls", case.version, {"filters": filters}, "delete"),
        Until(told, "resources[0].acls", "len ==", 1),
        expect=all_of(
            answer("delete", "filter_results[0].matching_acls").has_length(2),
            answer("delete", "filter_results[1].matching_acls").is_([]),
            answer("told", "resources[0].acls[0].principal").is_(OTHER),
        ),
        config=authorizer(case.release),
    )
