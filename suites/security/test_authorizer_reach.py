"""What an ACL implies and what it does not: patterns beside each other, operations, filters.

Sources: AclAuthorizer@2.8.2, StandardAuthorizerData and AclEntry at 3.9.2 and 4.3.1;
Authorizer.authorizeByResourceType (KIP-679); ResourcePatternFilter.matches; KIP-11, KIP-290.
"""

from touchstone.harness.model.claim import claim, only
from touchstone.harness.model.expect import all_of, answer
from touchstone.harness.model.scenario import Ask
from touchstone.harness.model.steps import (
    a_topic,
    describe_configs,
    init_producer_id,
    list_offsets,
    producer_ready,
)
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.rights import ALLOWED, DENIED, connected, principal
from touchstone.suites.kit.security import (
    ALL,
    ALTER_CONFIGS,
    CREATE,
    DENY,
    DESCRIBE,
    MATCH,
    PREFIXED,
    READ,
    TOPIC,
    WRITE,
    acl,
    acl_filter,
    acl_version,
    authorizer,
    granted,
)

REFUSED = ErrorCode.TOPIC_AUTHORIZATION_FAILED
NO_CLUSTER = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
CODE = "topics[0].partitions[0].error_code"
ID_CODE = "error_code"
SINCE = "2.8+"


def _described(topic, name="asked"):
    return list_offsets(topic, connection=ALLOWED, name=name)


def _begun(who, name="asked"):
    return init_producer_id(version=0, connection=who, name=name)


@claim("authorizer.all-names-are-denied-beside-one", evidence=("KIP-11",))
def test_all_names_are_denied_beside_one(case):
    """An ACL that denies an operation on all topics goes before one that allows it on the topic
    by its name."""
    topic, who = case.topic(), principal(case.release, ALLOWED)
    return case.scenario(
        a_topic(topic),
        granted(case.release, acl(TOPIC, topic, READ, who)),
        connected(case.release, ALLOWED),
        _described(topic, "before"),
        granted(case.release, acl(TOPIC, "*", DESCRIBE, who, permission=DENY), name="denied"),
        _described(topic, "after"),
        Ask(
            "DeleteAcls",
            acl_version(case.release),
            {"filters": [acl_filter(TOPIC, "*", principal=who)]},
            "taken back",
        ),
        expect=all_of(
            answer("before", CODE).is_(ErrorCode.NONE), answer("after", CODE).is_(REFUSED)
        ),
        config=authorizer(case.release),
    )


@claim("authorizer.to-create-is-not-to-describe", evidence=("KIP-11",))
def test_to_create_is_not_to_describe(case):
    """A principal that may CREATE a topic, and no more, may not DESCRIBE it."""
    topic, who = case.topic(), principal(case.release, ALLOWED)
    # Before 2.2 only the cluster is created in.
    operation = ALTER_CONFIGS if case.release == "1.0" else CREATE
    return case.scenario(
        a_topic(topic),
        granted(case.release, acl(TOPIC, topic, operation, who)),
        connected(case.release, ALLOWED),
        _described(topic),
        expect=answer("asked", CODE).is_(REFUSED),
        config=authorizer(case.release),
    )


@claim("authorizer.who-alters-configs-may-read-them", evidence=("KIP-133",))
def test_who_alters_configs_may_read_them(case):
    """A principal that may ALTER_CONFIGS of a topic may DESCRIBE_CONFIGS of it; one that may
    DESCRIBE or READ it may not."""
    topic = case.topic()
    one, other = principal(case.release, ALLOWED), principal(case.release, DENIED)
    return case.scenario(
        a_topic(topic),
        granted(
            case.release,
            acl(TOPIC, topic, ALTER_CONFIGS, one),
            acl(TOPIC, topic, READ, other),
            acl(TOPIC, topic, DESCRIBE, other),
        ),
        connected(case.release, ALLOWED),
        connected(case.release, DENIED),
        describe_configs(topic, "retention.ms", version=0 if case.release == "1.0" else 1,
                         connection=ALLOWED, name="asked"),
        describe_configs(topic, "retention.ms", version=0 if case.release == "1.0" else 1,
                         connection=DENIED, name="other"),
        expect=all_of(
            answer("asked", "results[0].error_code").is_(ErrorCode.NONE),
            answer("other", "results[0].error_code").is_(REFUSED),
        ),
        config=authorizer(case.release),
    )  # fmt: skip


@claim("authorizer.who-may-do-all-may-be-idempotent", evidence=("KIP-679",),
       api="InitProducerId", versions=only("InitProducerId", 0), releases=SINCE)  # fmt: skip
def test_who_may_do_all_may_be_idempotent(case):
    """InitProducerId without a transactional id is allowed to whoever may do ALL to some topic, and
    answers CLUSTER_AUTHORIZATION_FAILED to whoever may READ one."""
    topic = case.topic()
    return case.scenario(
        producer_ready(),
        granted(
            case.release,
            acl(TOPIC, topic, ALL, principal(case.release, ALLOWED)),
            acl(TOPIC, topic, READ, principal(case.release, DENIED)),
        ),
        connected(case.release, ALLOWED),
        connected(case.release, DENIED),
        _begun(ALLOWED),
        _begun(DENIED, "other"),
        expect=all_of(
            answer("asked", ID_CODE).is_(ErrorCode.NONE), answer("other", ID_CODE).is_(NO_CLUSTER)
        ),
        config=authorizer(case.release),
    )


@claim("authorizer.a-denied-prefix-leaves-no-topic-to-write", evidence=("KIP-679",),
       api="InitProducerId", versions=only("InitProducerId", 0), releases=SINCE)  # fmt: skip
def test_a_denied_prefix_leaves_no_topic_to_write(case):
    """InitProducerId without a transactional id answers CLUSTER_AUTHORIZATION_FAILED to whoever may
    WRITE only topics of a name that is denied as a prefix, be the prefix the name itself or
    shorter; a longer one leaves the name."""
    topic, who = case.topic(), principal(case.release, ALLOWED)
    denied = {"pattern": PREFIXED, "permission": DENY}
    return case.scenario(
        producer_ready(),
        granted(
            case.release,
            acl(TOPIC, topic, WRITE, who),
            acl(TOPIC, case.topic("topic-longer"), WRITE, who, **denied),
        ),
        connected(case.release, ALLOWED),
        _begun(ALLOWED, "before"),
        granted(case.release, acl(TOPIC, topic, WRITE, who, **denied), name="denied"),
        _begun(ALLOWED, "after"),
        expect=all_of(
            answer("before", ID_CODE).is_(ErrorCode.NONE), answer("after", ID_CODE).is_(NO_CLUSTER)
        ),
        config=authorizer(case.release),
    )


@claim("authorizer.a-match-finds-acls-of-all-names", evidence=("KIP-290",), releases="2.2+")
def test_a_match_finds_acls_of_all_names(case):
    """DescribeAcls by MATCH finds ACLs of all names ("*") beside those of the name and of its
    prefixes; by LITERAL it finds those of the name alone."""
    topic, who = case.topic(), principal(case.release, ALLOWED)

    def told(name, pattern):
        wanted = acl_filter(TOPIC, topic, pattern=pattern, principal=who)
        return Ask("DescribeAcls", 1, wanted, name)

    return case.scenario(
        granted(
            case.release,
            acl(TOPIC, topic, READ, who),
            acl(TOPIC, "*", DESCRIBE, who),
            acl(TOPIC, "topic-", READ, who, pattern=PREFIXED),
        ),
        told("match", MATCH),
        told("literal", 3),
        expect=all_of(
            answer("match", "resources[*].resource_name").has_length(3),
            answer("match", "resources[*].resource_name").contains("*"),
            answer("literal", "resources[*].resource_name").is_([topic]),
        ),
        config=authorizer(case.release),
    )


@claim("authorizer.all-is-an-operation-to-filters", evidence=("KIP-140",))
def test_all_is_an_operation_to_filters(case):
    """DescribeAcls by the operation ALL finds ACLs of ALL and none of another operation; by READ it
    finds none of ALL."""
    topic, who = case.topic(), principal(case.release, ALLOWED)

    def told(name, operation):
        wanted = acl_filter(TOPIC, topic, principal=who, operation=operation)
        return Ask("DescribeAcls", acl_version(case.release), wanted, name)

    found = "resources[0].acls[*].operation"
    return case.scenario(
        granted(
            case.release,
            acl(TOPIC, topic, ALL, who),
            acl(TOPIC, topic, READ, who),
            acl(TOPIC, topic, WRITE, who),
        ),
        told("all", ALL),
        told("read", READ),
        expect=all_of(answer("all", found).is_([ALL]), answer("read", found).is_([READ])),
        config=authorizer(case.release),
    )
