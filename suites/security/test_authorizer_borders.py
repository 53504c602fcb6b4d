"""Where the reach of an ACL ends: beside each rule of `test_authorizer_rules` what it does not say.

Sources: SimpleAclAuthorizer@1.0.2 and 2.2.1, AclAuthorizer@2.8.2, StandardAuthorizerData@3.9.2 and
4.3.1; KIP-11, KIP-290.
"""

from touchstone.harness.model.claim import claim
from touchstone.harness.model.expect import all_of, answer
from touchstone.harness.model.scenario import Ask, Until
from touchstone.harness.model.steps import (
    a_topic,
    create_topic,
    delete_topic,
    fetch,
    list_offsets,
    metadata,
    produce,
    topic_ready,
)
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.records import batch
from touchstone.suites.kit.rights import ALLOWED, DENIED, connected, principal
from touchstone.suites.kit.security import (
    ALL,
    ALLOW,
    ALTER,
    DELETE,
    DENY,
    DESCRIBE,
    GROUP,
    PREFIXED,
    READ,
    TOPIC,
    TRANSACTIONAL_ID,
    WRITE,
    acl,
    acl_filter,
    acl_version,
    authorizer,
    granted,
)

REFUSED = ErrorCode.TOPIC_AUTHORIZATION_FAILED
CODE = "topics[0].partitions[0].error_code"
WRITTEN = "responses[0].partition_responses[0].error_code"
FETCHED = "responses[0].partitions[0].error_code"
PREFIXES = "2.2+"  # releases with prefixed ACLs
EVERYBODY, ELSEWHERE = "User:*", "127.0.0.9"


def _described(topic, who=ALLOWED, name="asked"):
    return list_offsets(topic, connection=who, name=name)


def _written(topic, name="written"):
    return produce(topic, 0, batch(b"x"), connection=ALLOWED, name=name)


def _read(topic, name="read"):
    return fetch(topic, connection=ALLOWED, name=name)


@claim("authorizer.a-name-is-no-prefix", evidence=("KIP-290",))
def test_a_name_is_no_prefix(case):
    """An ACL for a whole name allows nothing on a topic whose name only begins with it."""
    topic, who = case.topic(), principal(case.release, ALLOWED)
    return case.scenario(
        a_topic(topic),
        granted(case.release, acl(TOPIC, "topic-", ALL, who)),
        connected(case.release, ALLOWED),
        _described(topic),
        expect=answer("asked", CODE).is_(REFUSED),
        config=authorizer(case.release),
    )


@claim("authorizer.a-prefix-may-be-the-whole-name", evidence=("KIP-290",), releases=PREFIXES)
def test_a_prefix_may_be_the_whole_name(case):
    """A prefixed ACL holds for the topic whose name is the prefix itself."""
    topic, who = case.topic(), principal(case.release, ALLOWED)
    return case.scenario(
        a_topic(topic),
        granted(case.release, acl(TOPIC, topic, DESCRIBE, who, pattern=PREFIXED)),
        connected(case.release, ALLOWED),
        _described(topic),
        expect=answer("asked", CODE).is_(ErrorCode.NONE),
        config=authorizer(case.release),
    )


@claim("authorizer.a-short-prefix-counts-beside-a-long-one", evidence=("KIP-290",),
       releases=PREFIXES, denies=("short", "long"))  # fmt: skip
def test_a_short_prefix_counts_beside_a_long_one(case):
    """Of two prefixed ACLs that hold for a topic the one that denies goes before the one that
    allows, whichever of the prefixes is longer."""
    topic, who = case.topic(), principal(case.release, ALLOWED)
    denial, allowance = ("top", "topic-") if case.denies == "short" else ("topic-", "top")
    return case.scenario(
        a_topic(topic),
        granted(case.release, acl(TOPIC, allowance, DESCRIBE, who, pattern=PREFIXED)),
        connected(case.release, ALLOWED),
        _described(topic, name="before"),
        granted(
            case.release,
            acl(TOPIC, denial, DESCRIBE, who, pattern=PREFIXED, permission=DENY),
            name="denied",
        ),
        _described(topic, name="after"),
        expect=all_of(
            answer("before", CODE).is_(ErrorCode.NONE), answer("after", CODE).is_(REFUSED)
        ),
        config=authorizer(case.release),
    )


@claim("authorizer.an-acl-is-about-one-kind-of-resource", evidence=("KIP-11",),
       kind=(GROUP, TRANSACTIONAL_ID))  # fmt: skip
def test_an_acl_is_about_one_kind_of_resource(case):
    """An ACL for a group or a transactional id allows nothing on a topic of the same name."""
    topic, who = case.topic(), principal(case.release, ALLOWED)
    return case.scenario(
        a_topic(topic),
        granted(case.release, acl(case.kind, topic, DESCRIBE, who)),
        connected(case.release, ALLOWED),
        _described(topic),
        expect=answer("asked", CODE).is_(REFUSED),
        config=authorizer(case.release),
    )


@claim("authorizer.to-deny-everything-denies-each", evidence=("KIP-11",))
def test_to_deny_everything_denies_each(case):
    """An ACL that denies ALL on a topic denies DESCRIBE, READ and WRITE to whom others allow
    them."""
    topic, who = case.topic(), principal(case.release, ALLOWED)
    return case.scenario(
        a_topic(topic),
        granted(
            case.release,
            acl(TOPIC, topic, DESCRIBE, who),
            acl(TOPIC, topic, READ, who),
            acl(TOPIC, topic, WRITE, who),
        ),
        connected(case.release, ALLOWED),
        _described(topic, name="before"),
        granted(case.release, acl(TOPIC, topic, ALL, who, permission=DENY), name="denied"),
        _described(topic, name="after"),
        _written(topic),
        _read(topic),
        expect=all_of(
            answer("before", CODE).is_(ErrorCode.NONE),
            answer("after", CODE).is_(REFUSED),
            answer("written", WRITTEN).is_(REFUSED),
            answer("read", FETCHED).is_(REFUSED),
        ),
        config=authorizer(case.release),
    )


@claim("authorizer.to-deny-describe-leaves-what-implies-it", evidence=("KIP-11",),
       operation=(READ, WRITE))  # fmt: skip
def test_to_deny_describe_leaves_what_implies_it(case):
    """A user who may READ or WRITE a topic and is denied DESCRIBE still reads or writes, and no
    longer describes."""
    topic, who = case.topic(), principal(case.release, ALLOWED)
    reads = case.operation == READ
    done = answer("read", FETCHED) if reads else answer("written", WRITTEN)
    return case.scenario(
        a_topic(topic),
        granted(
            case.release,
            acl(TOPIC, topic, case.operation, who),
            acl(TOPIC, topic, DESCRIBE, who, permission=DENY),
        ),
        connected(case.release, ALLOWED),
        _described(topic),
        _read(topic) if reads else _written(topic),
        expect=all_of(answer("asked", CODE).is_(REFUSED), done.is_(ErrorCode.NONE)),
        config=authorizer(case.release),
    )


@claim("authorizer.an-operation-allows-no-other", evidence=("KIP-11",),
       operation=(DESCRIBE, READ, WRITE, ALTER, DELETE))  # fmt: skip
def test_an_operation_allows_no_other(case):
    """An ACL that allows READ does not allow WRITE, nor the other way round; DESCRIBE, ALTER and
    DELETE allow neither."""
    topic, who = case.topic(), principal(case.release, ALLOWED)
    may = {one: ErrorCode.NONE if case.operation == one else REFUSED for one in (READ, WRITE)}
    return case.scenario(
        a_topic(topic),
        granted(case.release, acl(TOPIC, topic, case.operation, who)),
        connected(case.release, ALLOWED),
        _written(topic),
        _read(topic),
        expect=all_of(
            answer("written", WRITTEN).is_(may[WRITE]), answer("read", FETCHED).is_(may[READ])
        ),
        config=authorizer(case.release),
    )


@claim("authorizer.a-denial-goes-before-an-acl-for-more", evidence=("KIP-11",),
       denied=("one", "everybody"))  # fmt: skip
def test_a_denial_goes_before_an_acl_for_more(case):
    """An ACL that denies one user goes before one that allows everybody, and one that denies
    everybody before one that allows the user; others keep what they have."""
    topic, who = case.topic(), principal(case.release, DENIED)
    one = case.denied == "one"
    allowance, denial = (EVERYBODY, who) if one else (who, EVERYBODY)
    other = ErrorCode.NONE if one else REFUSED
    return case.scenario(
        a_topic(topic),
        granted(
            case.release,
            acl(TOPIC, topic, DESCRIBE, allowance),
            acl(TOPIC, topic, DESCRIBE, denial, permission=DENY),
        ),
        connected(case.release, DENIED),
        connected(case.release, ALLOWED),
        _described(topic, DENIED, "denied"),
        _described(topic, ALLOWED, "other"),
        expect=all_of(answer("denied", CODE).is_(REFUSED), answer("other", CODE).is_(other)),
        config=authorizer(case.release),
    )


@claim("authorizer.a-denial-holds-for-its-host", evidence=("KIP-11",))
def test_a_denial_holds_for_its_host(case):
    """An ACL that denies from another host takes nothing from who asks from this one."""
    topic, who = case.topic(), principal(case.release, ALLOWED)
    return case.scenario(
        a_topic(topic),
        granted(
            case.release,
            acl(TOPIC, topic, DESCRIBE, who),
            acl(TOPIC, topic, DESCRIBE, who, permission=DENY, host=ELSEWHERE),
        ),
        connected(case.release, ALLOWED),
        _described(topic, name="from here"),
        granted(
            case.release,
            acl(TOPIC, topic, DESCRIBE, who, permission=DENY, host="127.0.0.1"),
            name="here",
        ),
        _described(topic, name="denied here"),
        expect=all_of(
            answer("from here", CODE).is_(ErrorCode.NONE),
            answer("denied here", CODE).is_(REFUSED),
        ),
        config=authorizer(case.release),
    )


@claim("authorizer.of-several-acls-one-goes-alone", evidence=("KIP-140",))
def test_of_several_acls_one_goes_alone(case):
    """When one of two ACLs of a user is deleted, what the other allows stays; when a denial is
    deleted, what it denied is allowed again."""
    topic, who = case.topic(), principal(case.release, ALLOWED)
    version = acl_version(case.release)

    def deleted(operation, permission, name):
        gone = acl_filter(TOPIC, topic, operation=operation, permission=permission)
        return [
            Ask("DeleteAcls", version, {"filters": [gone]}, name),
            Until(Ask("DescribeAcls", version, gone, f"{name} seen"), "resources", "len ==", 0),
        ]

    return case.scenario(
        a_topic(topic),
        granted(
            case.release,
            acl(TOPIC, topic, READ, who),
            acl(TOPIC, topic, WRITE, who),
            acl(TOPIC, topic, READ, who, permission=DENY),
        ),
        connected(case.release, ALLOWED),
        _read(topic, "denied"),
        deleted(READ, DENY, "denial"),
        _read(topic, "allowed again"),
        deleted(READ, ALLOW, "allowance"),
        _read(topic, "no more"),
        _written(topic),
        expect=all_of(
            answer("denied", FETCHED).is_(REFUSED),
            answer("allowed again", FETCHED).is_(ErrorCode.NONE),
            answer("no more", FETCHED).is_(REFUSED),
            answer("written", WRITTEN).is_(ErrorCode.NONE),
        ),
        config=authorizer(case.release),
    )


@claim("authorizer.acls-outlive-their-topic", evidence=("KIP-11", "observed on 4.3.1"))
def test_acls_outlive_their_topic(case):
    """ACLs of a topic that was deleted hold for the one that is made anew by that name."""
    topic, who = case.topic(), principal(case.release, ALLOWED)
    return case.scenario(
        a_topic(topic),
        granted(case.release, acl(TOPIC, topic, DESCRIBE, who)),
        connected(case.release, ALLOWED),
        _described(topic, name="before"),
        delete_topic(topic, name="deleted"),
        Until(
            metadata(topic, name="gone"),
            "topics[0].error_code", "==", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ),
        # With ZooKeeper its name is free some time after no broker tells the topic any more.
        Until(create_topic(topic, name="made anew"), "topics[0].error_code", "==", ErrorCode.NONE),
        topic_ready(topic, again=" anew"),
        _described(topic, name="after"),
        expect=all_of(
            answer("before", CODE).is_(ErrorCode.NONE),
            answer("after", CODE).is_(ErrorCode.NONE),
        ),
        config=authorizer(case.release),
    )  # fmt: skip
