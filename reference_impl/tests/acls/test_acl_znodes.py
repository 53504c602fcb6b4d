"""Trees of ACLs, as 1.0.2, 2.2.1 and 2.8.2 wrote them into ZooKeeper, and back."""

from __future__ import annotations

import pytest

from touchstone.reference_impl.cluster import acl_znodes
from touchstone.reference_impl.cluster.acls import Acls, Entry, Pattern
from touchstone.reference_impl.cluster.znodes import Step, Znode
from touchstone.reference_impl.tests.registry.real_trees import form

ALLOWED = Entry("User:ANONYMOUS", "127.0.0.1", 2, 3)
READS = Entry("User:ANONYMOUS", "127.0.0.2", 3, 3)
DENIED = Entry("User:ANONYMOUS", "127.0.0.2", 10, 2)
LITERAL, PREFIXED, TOKEN = Pattern(2, 3, "*"), Pattern(3, 4, "pre"), Pattern(5, 3, "id")
TEXT = (
    '{"version":1,"acls":[{"principal":"User:ANONYMOUS","permissionType":"Allow",'
    '"operation":"All","host":"127.0.0.1"}]}'
)
OLD = {"/kafka-acl": None, "/kafka-acl-changes": None, "/kafka-acl/Topic": None,
       "/kafka-acl/Topic/*": TEXT}  # fmt: skip
KINDS = ("Cluster", "DelegationToken", "Group", "Topic", "TransactionalId")
NEW = {
    **dict.fromkeys([*acl_znodes.ROOTS, "/kafka-acl-extended/prefixed"]),
    **{f"/kafka-acl/{kind}": None for kind in KINDS},
    **{f"/kafka-acl-extended/prefixed/{kind}": None for kind in KINDS},
    "/kafka-acl/Topic/*": TEXT,
}


def acls(*rows):
    made = Acls()
    made.kept = True
    for row in rows:
        made.add(*row)
    return made


@pytest.mark.parametrize(("release", "tree"), [("1.0", OLD), ("2.2", NEW), ("2.8", NEW)])
def test_the_tree_of_a_release(release, tree):
    drawn = acl_znodes.picture(acls((LITERAL, ALLOWED)), form(release))
    assert {path: node.text for path, node in drawn.items()} == tree
    made = {""}
    for path in drawn:  # parents before children
        assert path.rpartition("/")[0] in made
        made.add(path)


def test_nobody_keeps_acls_without_an_authorizer():
    assert acl_znodes.picture(Acls(), form("2.8")) == {}


@pytest.mark.parametrize(
    ("release", "literal", "prefixed"),
    [
        ("2.2", "TransactionalId:id", "Group"),
        ("2.8", "TRANSACTIONAL_ID:id", "GROUP"),
    ],
)
def test_each_change_is_announced(release, literal, prefixed):
    old = acl_znodes.picture(acls((LITERAL, ALLOWED), (PREFIXED, READS)), form(release))
    new = acl_znodes.picture(acls((LITERAL, ALLOWED), (TOKEN, READS)), form(release))
    told = [
        Step("notify", "/kafka-acl-extended-changes/acl_changes_",
             Znode(f'{{"version":1,"resourceType":"{prefixed}","name":"pre",'
                   '"patternType":"PREFIXED"}')),
        Step("notify", "/kafka-acl-changes/acl_changes_", Znode(literal)),
    ]  # fmt: skip
    assert list(acl_znodes.announcements(old, new, form(release))) == told
    assert [acl_znodes.read_change(step.znode.text) for step in told] == [PREFIXED, TOKEN]


def test_what_is_written_is_read_back():
    for pattern in (LITERAL, PREFIXED, TOKEN):
        assert acl_znodes.pattern_of(acl_znodes.path_of(pattern)) == pattern
    assert acl_znodes.read(acl_znodes.text_of([ALLOWED, DENIED])) == [ALLOWED, DENIED]
    assert acl_znodes.read(None) == []
    for path in ("/kafka-acl/Topic", "/kafka-acl/Topic/a/b", "/kafka-acl-changes/x", "/config/x"):
        assert acl_znodes.pattern_of(path) is None
