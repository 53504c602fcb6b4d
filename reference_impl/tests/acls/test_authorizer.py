"""What follows from ACLs: deny first, patterns, hosts, what implies what, and who needs none."""

from __future__ import annotations

import pytest

from touchstone.reference_impl.broker.personas import persona
from touchstone.reference_impl.broker.security.acls.authorizer import (
    Authorizer,
    AuthorizerSettings,
    settings_of,
)
from touchstone.reference_impl.cluster.acls import (
    Acls,
    Entry,
    Pattern,
    PatternType,
    Permission,
)
from touchstone.reference_impl.cluster.acls import Operation as Op
from touchstone.reference_impl.cluster.acls import ResourceType as Kind

ALICE, HERE = "User:alice", "127.0.0.1"
LITERAL, PREFIXED = PatternType.LITERAL, PatternType.PREFIXED
ALLOW, DENY = Permission.ALLOW, Permission.DENY
CLASSES = {
    "1.0": "kafka.security.auth.SimpleAclAuthorizer",
    "2.8": "kafka.security.authorizer.AclAuthorizer",
    "4.3": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
}


def acl(name="t", operation=Op.READ, permission=ALLOW, *, pattern=LITERAL, principal=ALICE,
        host="*", kind=Kind.TOPIC):  # fmt: skip
    return Pattern(kind, pattern, name), Entry(principal, host, operation, permission)


def authorizer(*rows, supers=(), everyone=False, by_example=False):
    acls = Acls()
    for row in rows:
        acls.add(*row)
    return Authorizer(acls, AuthorizerSettings(frozenset(supers), everyone, by_example))


def may(*rows, operation=Op.READ, name="t", **settings):
    return authorizer(*rows, **settings).may(ALICE, HERE, operation, Kind.TOPIC, name)


@pytest.mark.parametrize(
    ("rows", "allowed"),
    [
        ([], False),
        ([acl()], True),
        ([acl("*")], True),
        ([acl(operation=Op.ALL)], True),
        ([acl("other")], False),
        ([acl(operation=Op.WRITE)], False),
        ([acl(kind=Kind.GROUP)], False),
        ([acl(principal="User:bob")], False),
        ([acl(principal="User:*")], True),
        ([acl(host=HERE)], True),
        ([acl(host="127.0.0.2")], False),
        ([acl(), acl(permission=DENY)], False),
        ([acl(), acl("*", permission=DENY)], False),
        ([acl(), acl(permission=DENY, operation=Op.ALL)], False),
        ([acl(), acl(permission=DENY, operation=Op.WRITE)], True),
        ([acl(), acl(permission=DENY, host="127.0.0.2")], True),
        ([acl(), acl(permission=DENY, principal="User:*")], False),
        ([acl("*"), acl("other", permission=DENY)], True),
    ],
)
def test_an_acl_that_denies_decides_before_one_that_allows(rows, allowed):
    assert may(*rows) is allowed


@pytest.mark.parametrize(
    ("name", "rows", "allowed"),
    [
        ("tables", [acl("t", pattern=PREFIXED)], True),
        ("tables", [acl("tables", pattern=PREFIXED)], True),
        ("tables", [acl("tables2", pattern=PREFIXED)], False),
        ("tables", [acl("ab", pattern=PREFIXED)], False),
        ("tables", [acl("*", pattern=PREFIXED)], False),
        ("*s", [acl("*", pattern=PREFIXED)], True),
        ("tables", [acl("ta", pattern=PREFIXED), acl("t", Op.READ, DENY, pattern=PREFIXED)], False),
        ("tables", [acl("t", pattern=PREFIXED), acl("tables", permission=DENY)], False),
        ("tables", [acl("t", pattern=PREFIXED), acl("tab", permission=DENY)], True),
    ],
)  # fmt: skip
def test_a_prefix_matches_what_begins_with_it(name, rows, allowed):
    assert may(*rows, name=name) is allowed


IMPLIED = {
    Op.DESCRIBE: {Op.READ, Op.WRITE, Op.DELETE, Op.ALTER},
    Op.DESCRIBE_CONFIGS: {Op.ALTER_CONFIGS},
}


@pytest.mark.parametrize("given", [each for each in Op if each > Op.ALL])
def test_what_is_allowed_implies_what_is_denied_does_not(given):
    for asked in (each for each in Op if each > Op.ALL):
        expected = asked == given or given in IMPLIED.get(asked, ())
        assert may(acl(operation=given), operation=asked) is expected, (given, asked)
        both = [acl(operation=Op.ALL), acl(operation=given, permission=DENY)]
        assert may(*both, operation=asked) is (asked != given), (given, asked)


def test_a_super_user_needs_no_acl_and_minds_none():
    assert may(acl(permission=DENY), supers=[ALICE])
    assert authorizer(supers=[ALICE]).may_somewhere(ALICE, HERE, Op.WRITE, Kind.TOPIC)


def test_everyone_may_what_no_acl_is_about():
    assert may(everyone=True)
    assert not may(acl(principal="User:bob"), everyone=True)
    assert not may(acl("*", principal="User:bob"), everyone=True)
    assert may(acl("other"), everyone=True)


def test_a_decision_stands_until_the_acls_change():
    one = authorizer(acl())
    assert one.may(ALICE, HERE, Op.READ, Kind.TOPIC, "t")
    one._acls.add(*acl(permission=DENY))
    assert not one.may(ALICE, HERE, Op.READ, Kind.TOPIC, "t")
    one._acls.discard(*acl(permission=DENY))
    assert one.may(ALICE, HERE, Op.READ, Kind.TOPIC, "t")


@pytest.mark.parametrize(
    ("rows", "everyone", "old", "new"),
    [
        ([], False, False, False),
        ([], True, True, True),
        ([acl(operation=Op.WRITE)], False, True, True),
        ([acl(operation=Op.ALL)], False, True, True),
        ([acl(operation=Op.READ)], False, False, False),
        ([acl("*", Op.WRITE)], False, True, True),
        ([acl("*", Op.WRITE), acl("*", Op.WRITE, DENY)], False, False, False),
        ([acl(operation=Op.WRITE), acl(operation=Op.WRITE, permission=DENY)], False, False, False),
        ([acl("tu", Op.WRITE), acl("t", Op.WRITE, DENY, pattern=PREFIXED)], False, False, False),
        ([acl("tu", Op.WRITE, pattern=PREFIXED), acl("tu", Op.WRITE, DENY)], False, True, True),
        ([acl("x", Op.WRITE), acl("t", Op.WRITE, DENY)], False, True, True),
        ([acl("*", Op.READ, principal="User:bob")], True, True, False),
    ],
)
def test_whether_some_resource_may_be_written(rows, everyone, old, new):
    for by_example, expected in ((False, old), (True, new)):
        one = authorizer(*rows, everyone=everyone, by_example=by_example)
        assert one.may_somewhere(ALICE, HERE, Op.WRITE, Kind.TOPIC) is expected, by_example


@pytest.mark.parametrize("release", CLASSES)
def test_a_release_brings_one_authorizer(release):
    name = "authorizer.class.name"
    assert settings_of({}, persona(release)) is None
    assert settings_of({name: CLASSES[release]}, persona(release))
    for other in CLASSES.values():
        if other != CLASSES[release]:
            with pytest.raises(ValueError, match=r"^authorizer.class.name=.* is no authorizer"):
                settings_of({name: other}, persona(release))


def test_super_users_are_a_list_of_principals():
    given = {"authorizer.class.name": CLASSES["4.3"], "super.users": " User:a; Robot:b ;"}
    settings = settings_of(given, persona("4.3"))
    assert settings is not None and settings.super_users == {"User:a", "Robot:b"}
    with pytest.raises(ValueError, match="principalType:principalName"):
        settings_of(given | {"super.users": "alice"}, persona("4.3"))
