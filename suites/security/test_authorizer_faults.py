"""ACLs and filters that mean nothing, and topics that nobody is left to write.

Sources: CreateAclsRequest and DescribeAclsRequest (normalizeAndValidate), AclApis at 2.8.2 to
4.3.1; StandardAuthorizerData.authorizeByResourceType; KIP-140, KIP-679.
"""

from touchstone.harness.model.claim import claim
from touchstone.harness.model.expect import all_of, answer
from touchstone.harness.model.scenario import Ask, Until
from touchstone.harness.model.steps import init_producer_id, producer_ready
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.rights import ALLOWED, connected, principal
from touchstone.suites.kit.security import (
    ALL,
    DENY,
    LITERAL,
    PREFIXED,
    READ,
    TOPIC,
    WRITE,
    acl,
    acl_filter,
    authorizer,
    granted,
)

# What stands in an entry, and whether an ACL is made of it.
ODD = {
    "user-without-type": ({"principal": "alice"}, False),
    "user-of-another-type": ({"principal": "Group:alice"}, True),
    "no-host": ({"host": ""}, True),
    "operation-of-another-type": ({"operation": 13}, True),
}
UNREADABLE = {
    "type": {"resource_type_filter": 100},
    "pattern": {"pattern_type_filter": 100},
    "operation": {"operation": 100},
    "permission": {"permission_type": 100},
}


@claim("authorizer.an-acl-is-for-a-principal-with-a-type", evidence=("observed on 4.3.1",),
       releases="3.9+", odd=tuple(ODD))  # fmt: skip
def test_an_acl_is_for_a_principal_with_a_type(case):
    """CreateAcls makes no ACL for a principal without a type. It makes one for a type other than
    User, for an empty host, and for an operation that the type of its resource does not have."""
    topic = case.topic()
    entry, made = ODD[case.odd]
    wanted = acl(TOPIC, topic, READ, "User:somebody") | entry
    return case.scenario(
        Ask("CreateAcls", 1, {"creations": [wanted]}, "create"),
        Until(
            Ask("DescribeAcls", 1, acl_filter(TOPIC, topic), "told"),
            "resources",
            "len ==",
            int(made),
        ),
        expect=answer("told", "resources").has_length(int(made)),
        config=authorizer(case.release),
    )


@claim("authorizer.a-filter-of-what-does-not-exist-finds-nothing", evidence=("observed on 4.3.1",),
       releases="2.2+", element=tuple(UNREADABLE))  # fmt: skip
def test_a_filter_of_what_does_not_exist_finds_nothing(case):
    """DescribeAcls with a type, pattern, operation or permission that does not exist finds nothing
    and answers no error."""
    topic = case.topic()
    filter = acl_filter() | UNREADABLE[case.element]
    return case.scenario(
        granted(case.release, acl(TOPIC, topic, READ, "User:somebody")),
        Ask("DescribeAcls", 1, filter, "told"),
        expect=all_of(
            answer("told", "error_code").is_(ErrorCode.NONE), answer("told", "resources").is_([])
        ),
        config=authorizer(case.release),
    )


# Denials beside an ACL that allows to write one topic: (pattern, name, is any topic left).
DENIALS = {
    "the-same": (LITERAL, "own", False),
    "a-prefix-of-it": (PREFIXED, "topic-", False),
    "every-topic": (LITERAL, "*", False),
    "another": (LITERAL, "other", True),
    "a-longer-prefix": (PREFIXED, "longer", True),
}


@claim("authorizer.idempotence-needs-a-topic-that-is-left", evidence=("KIP-679",),
       api="InitProducerId", releases="2.8+", denied=tuple(DENIALS),
       operation=(WRITE, ALL))  # fmt: skip
def test_idempotence_needs_a_topic_that_is_left(case):
    """InitProducerId answers CLUSTER_AUTHORIZATION_FAILED to a user who may WRITE one topic, and is
    denied WRITE or ALL on it by its name, by a prefix of it or on every topic. Denials about other
    topics take nothing away."""
    topic, who = case.topic(), principal(case.release, ALLOWED)
    pattern, word, left = DENIALS[case.denied]
    name = {"own": topic, "other": case.topic("other"), "longer": case.topic("longer")}.get(
        word, word
    )
    denial = acl(TOPIC, name, case.operation, who, permission=DENY, pattern=pattern)
    asked = init_producer_id(connection=ALLOWED, name="asked")
    refused = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    return case.scenario(
        producer_ready(),
        granted(case.release, acl(TOPIC, topic, WRITE, who)),
        connected(case.release, ALLOWED),
        init_producer_id(connection=ALLOWED, name="before"),
        granted(case.release, denial, name="denied"),
        asked,
        expect=all_of(
            answer("before", "error_code").is_(ErrorCode.NONE),
            answer("asked", "error_code").is_(ErrorCode.NONE if left else refused),
        ),
        config=authorizer(case.release),
    )
