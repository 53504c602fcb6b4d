"""How ACLs decide: whom they are about, from where, of which resources, and which goes first.

Sources: SimpleAclAuthorizer@1.0.2 and 2.2.1, AclAuthorizer@2.8.2, StandardAuthorizerData@3.9.2 and
4.3.1; KIP-11, KIP-290.
"""

from touchstone.harness.model.claim import claim
from touchstone.harness.model.expect import all_of, answer
from touchstone.harness.model.scenario import Ask, Until
from touchstone.harness.model.steps import a_topic, list_offsets, metadata, produce
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.records import batch
from touchstone.suites.kit.rights import ALLOWED, WITHOUT, connected, principal
from touchstone.suites.kit.security import (
    ALL,
    ALTER,
    ALTER_CONFIGS,
    DELETE,
    DENY,
    DESCRIBE,
    PREFIXED,
    READ,
    TOPIC,
    WRITE,
    acl,
    acl_filter,
    acl_version,
    authorizer,
    granted,
    open_authorizer,
    signed_in,
)

REFUSED = ErrorCode.TOPIC_AUTHORIZATION_FAILED
CODE = "topics[0].partitions[0].error_code"
WRITTEN = "responses[0].partition_responses[0].error_code"
PREFIXES = "2.2+"  # releases with prefixed ACLs
EVERYBODY, ANYTHING, ELSEWHERE = "User:*", "*", "127.0.0.9"


def _asks(topic, who=ALLOWED, name=None):
    return list_offsets(topic, connection=who, name=name or who)


@claim(
    "authorizer.an-acl-may-be-about-everybody",
    evidence=("KIP-11",),
    switches=("everybody-is-nobody",),
)
def test_an_acl_may_be_about_everybody(case):
    """An ACL for User:* allows whoever asks."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        granted(case.release, acl(TOPIC, topic, DESCRIBE, EVERYBODY)),
        connected(case.release, WITHOUT),
        _asks(topic, WITHOUT, "asked"),
        expect=answer("asked", CODE).is_(ErrorCode.NONE),
        config=authorizer(case.release),
    )


@claim(
    "authorizer.an-acl-holds-for-its-host",
    evidence=("KIP-11",),
    switches=("hosts-ignored",),
)
def test_an_acl_holds_for_its_host(case):
    """An ACL that names another host than its client's allows nothing to that client."""
    topic, who = case.topic(), principal(case.release, ALLOWED)
    return case.scenario(
        a_topic(topic),
        granted(case.release, acl(TOPIC, topic, DESCRIBE, who, host=ELSEWHERE)),
        connected(case.release, ALLOWED),
        _asks(topic, name="from elsewhere"),
        granted(case.release, acl(TOPIC, topic, DESCRIBE, who, host="127.0.0.1"), name="here"),
        _asks(topic, name="from here"),
        expect=all_of(
            answer("from elsewhere", CODE).is_(REFUSED),
            answer("from here", CODE).is_(ErrorCode.NONE),
        ),
        config=authorizer(case.release),
    )


@claim(
    "authorizer.a-prefix-covers-what-begins-with-it",
    evidence=("KIP-290",),
    releases=PREFIXES,
    switches=("prefixes-ignored",),
)
def test_a_prefix_covers_what_begins_with_it(case):
    """A prefixed ACL holds for each topic whose name begins with its own, and for no other."""
    topic, other = case.topic(), case.topic("other")
    who = principal(case.release, ALLOWED)
    return case.scenario(
        a_topic(topic),
        a_topic(other),
        granted(case.release, acl(TOPIC, "topic-", DESCRIBE, who, pattern=PREFIXED)),
        connected(case.release, ALLOWED),
        _asks(topic, name="within"),
        _asks(other, name="outside"),
        expect=all_of(
            answer("within", CODE).is_(ErrorCode.NONE), answer("outside", CODE).is_(REFUSED)
        ),
        config=authorizer(case.release),
    )


@claim(
    "authorizer.a-prefix-that-denies-goes-before-a-name",
    evidence=("KIP-290",),
    releases=PREFIXES,
)
def test_a_prefix_that_denies_goes_before_a_name(case):
    """A prefixed ACL that denies goes before one that allows the topic by its whole name."""
    topic, who = case.topic(), principal(case.release, ALLOWED)
    denial = acl(TOPIC, "topic-", DESCRIBE, who, pattern=PREFIXED, permission=DENY)
    return case.scenario(
        a_topic(topic),
        granted(case.release, acl(TOPIC, topic, DESCRIBE, who)),
        connected(case.release, ALLOWED),
        _asks(topic, name="before"),
        granted(case.release, denial, name="denied"),
        _asks(topic, name="after"),
        expect=all_of(
            answer("before", CODE).is_(ErrorCode.NONE), answer("after", CODE).is_(REFUSED)
        ),
        config=authorizer(case.release),
    )


@claim(
    "authorizer.an-acl-may-be-about-every-resource",
    evidence=("KIP-11",),
    releases=PREFIXES,
)
def test_an_acl_may_be_about_every_resource(case):
    """An ACL for the topic * holds for every topic, but where another one denies."""
    topic, denied, who = case.topic(), case.topic("denied"), principal(case.release, ALLOWED)
    return case.scenario(
        a_topic(topic),
        a_topic(denied),
        granted(
            case.release,
            acl(TOPIC, ANYTHING, DESCRIBE, who),
            acl(TOPIC, denied, DESCRIBE, who, permission=DENY),
        ),
        connected(case.release, ALLOWED),
        _asks(topic, name="any"),
        _asks(denied, name="that one"),
        expect=all_of(
            answer("any", CODE).is_(ErrorCode.NONE), answer("that one", CODE).is_(REFUSED)
        ),
        config=authorizer(case.release),
    )


@claim(
    "authorizer.some-operations-allow-describe",
    evidence=("KIP-11",),
    operation=(READ, WRITE, DELETE, ALTER, ALL, ALTER_CONFIGS),
    switches=("nothing-implied",),
)
def test_some_operations_allow_describe(case):
    """An ACL that allows READ, WRITE, DELETE, ALTER or ALL on a topic allows DESCRIBE as well; one
    that allows ALTER_CONFIGS does not."""
    topic, who = case.topic(), principal(case.release, ALLOWED)
    refused = case.operation == ALTER_CONFIGS
    return case.scenario(
        a_topic(topic),
        granted(case.release, acl(TOPIC, topic, case.operation, who)),
        connected(case.release, ALLOWED),
        _asks(topic, name="asked"),
        expect=answer("asked", CODE).is_(REFUSED if refused else ErrorCode.NONE),
        config=authorizer(case.release),
    )


@claim(
    "authorizer.to-deny-read-does-not-deny-describe",
    evidence=("KIP-11", "observed on 1.0.2", "observed on 4.3.1"),
)
def test_to_deny_read_does_not_deny_describe(case):
    """An ACL that denies READ leaves DESCRIBE to whoever has it."""
    topic, who = case.topic(), principal(case.release, ALLOWED)
    return case.scenario(
        a_topic(topic),
        granted(
            case.release,
            acl(TOPIC, topic, DESCRIBE, who),
            acl(TOPIC, topic, READ, who, permission=DENY),
        ),
        connected(case.release, ALLOWED),
        _asks(topic, name="asked"),
        expect=answer("asked", CODE).is_(ErrorCode.NONE),
        config=authorizer(case.release),
    )


@claim("authorizer.super-users-need-no-acls", evidence=("KIP-11",), switches=("super-users-few",))
def test_super_users_need_no_acls(case):
    """A super user may write to a topic without an ACL, and to one where an ACL denies it."""
    topic, denied = case.topic(), case.topic("denied")
    return case.scenario(
        a_topic(topic),
        a_topic(denied),
        granted(case.release, acl(TOPIC, denied, ALL, "User:admin", permission=DENY)),
        signed_in("admin"),
        produce(topic, 0, batch(b"x"), connection="admin", name="without"),
        produce(denied, 0, batch(b"x"), connection="admin", name="in spite"),
        expect=all_of(
            answer("without", WRITTEN).is_(ErrorCode.NONE),
            answer("in spite", WRITTEN).is_(ErrorCode.NONE),
        ),
        config=authorizer(case.release),
    )


@claim("authorizer.acls-for-others-open-nothing", evidence=("KIP-11",))
def test_acls_for_others_open_nothing(case):
    """An ACL that allows one user leaves the topic closed to another."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        granted(case.release, acl(TOPIC, topic, ALL, principal(case.release, ALLOWED))),
        connected(case.release, ALLOWED),
        connected(case.release, WITHOUT),
        _asks(topic, ALLOWED),
        _asks(topic, WITHOUT),
        expect=all_of(
            answer(ALLOWED, CODE).is_(ErrorCode.NONE), answer(WITHOUT, CODE).is_(REFUSED)
        ),
        config=authorizer(case.release),
    )


@claim("authorizer.a-right-ends-with-its-acl", evidence=("KIP-140",))
def test_a_right_ends_with_its_acl(case):
    """A connection that was allowed to DESCRIBE a topic is refused when the ACL is deleted."""
    topic, who = case.topic(), principal(case.release, ALLOWED)
    version, mine = acl_version(case.release), acl_filter(TOPIC, topic)
    return case.scenario(
        a_topic(topic),
        granted(case.release, acl(TOPIC, topic, DESCRIBE, who)),
        connected(case.release, ALLOWED),
        _asks(topic, name="before"),
        Ask("DeleteAcls", version, {"filters": [mine]}, "deleted"),
        Until(Ask("DescribeAcls", version, mine, "gone"), "resources", "len ==", 0),
        _asks(topic, name="after"),
        expect=all_of(
            answer("before", CODE).is_(ErrorCode.NONE), answer("after", CODE).is_(REFUSED)
        ),
        config=authorizer(case.release),
    )


@claim(
    "authorizer.everybody-may-do-what-no-acl-is-about",
    evidence=("KIP-11",),
    switches=("nobody-without-an-acl",),
)
def test_everybody_may_do_what_no_acl_is_about(case):
    """Under allow.everyone.if.no.acl.found everybody may use a topic until some ACL is about it."""
    topic, somebody = case.topic(), principal(case.release, ALLOWED)
    return case.scenario(
        a_topic(topic),
        connected(case.release, WITHOUT),
        _asks(topic, WITHOUT, "before"),
        granted(case.release, acl(TOPIC, topic, DESCRIBE, somebody)),
        _asks(topic, WITHOUT, "after"),
        metadata(name="still"),
        expect=all_of(
            answer("before", CODE).is_(ErrorCode.NONE), answer("after", CODE).is_(REFUSED)
        ),
        config=open_authorizer(case.release),
    )
