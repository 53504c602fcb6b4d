"""Kafka keeps ACLs at these paths of ZooKeeper, and announces there which of them changed.

One node per pattern: /kafka-acl/TYPE/NAME for literal ones, /kafka-acl-extended/prefixed/TYPE/NAME
since there are prefixes (KIP-290), with all entries as JSON. Whoever changes one leaves a numbered
node below /kafka-acl-changes, or /kafka-acl-extended-changes, that names it. A resource whose name
has a "/" in it makes no path that could be read back, and is not written.

Sources: SimpleAclAuthorizer and Acl@1.0.2, ZkData and AclEntry@2.2.1, 2.8.2; all texts were read
from ZooKeeper after 1.0.2, 2.2.1 and 2.8.2 had written them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping

from touchstone.reference_impl.cluster.acls import (
    Acls,
    Entry,
    Operation,
    Pattern,
    PatternType,
    Permission,
    ResourceType,
)
from touchstone.reference_impl.cluster.znodes import Form, Step, Znode

LITERAL, EXTENDED = "/kafka-acl", "/kafka-acl-extended"
LITERAL_CHANGES, EXTENDED_CHANGES = "/kafka-acl-changes", "/kafka-acl-extended-changes"
CHANGES = (LITERAL_CHANGES, EXTENDED_CHANGES)
ROOTS = frozenset({LITERAL, EXTENDED, *CHANGES})
NUMBERED = "acl_changes_"
_PREFIXED = f"{EXTENDED}/prefixed"
_TYPES = (
    ResourceType.TOPIC,
    ResourceType.GROUP,
    ResourceType.CLUSTER,
    ResourceType.TRANSACTIONAL_ID,
    ResourceType.DELEGATION_TOKEN,
)
_FOLDERS = {PatternType.LITERAL: LITERAL, PatternType.PREFIXED: _PREFIXED}


def _name(value: ResourceType | Operation | Permission) -> str:
    """TRANSACTIONAL_ID is TransactionalId there."""
    return value.name.title().replace("_", "")


_TYPE_OF = {_name(each): each for each in ResourceType}
_OPERATION_OF = {_name(each): each for each in Operation}
_PERMISSION_OF = {_name(each): each for each in Permission}


def picture(acls: Acls, form: Form) -> dict[str, Znode]:
    """The trees of all ACLs, parents before children; none where nobody keeps ACLs."""
    if not acls.kept:
        return {}
    roots = [LITERAL, LITERAL_CHANGES]
    if form.acl_patterns:
        roots += [EXTENDED, EXTENDED_CHANGES, _PREFIXED]
        folders = (LITERAL, _PREFIXED)
        roots += [f"{folder}/{_name(kind)}" for folder in folders for kind in _TYPES]
    tree = dict.fromkeys(roots, Znode())
    for pattern, entries in acls.patterns():
        if "/" in pattern.name:
            continue
        path = path_of(pattern)
        tree.setdefault(path.rpartition("/")[0], Znode())
        tree[path] = Znode(text_of(entries))
    return tree


def announcements(old: Mapping[str, Znode], new: Mapping[str, Znode], form: Form) -> Iterator[Step]:
    """A numbered node for each pattern whose entries changed."""
    for path in dict.fromkeys((*old, *new)):
        if old.get(path) == new.get(path) or (pattern := pattern_of(path)) is None:
            continue
        kind = ResourceType(pattern.resource_type)
        name = kind.name if form.acl_changes_shout else _name(kind)
        if pattern.type == PatternType.LITERAL:
            parent, text = LITERAL_CHANGES, f"{name}:{pattern.name}"
        else:
            rows = {"version": 1, "resourceType": name, "name": pattern.name,
                    "patternType": PatternType(pattern.type).name}  # fmt: skip
            parent, text = EXTENDED_CHANGES, json.dumps(rows, separators=(",", ":"))
        yield Step("notify", f"{parent}/{NUMBERED}", Znode(text))


def path_of(pattern: Pattern) -> str:
    folder = _FOLDERS[PatternType(pattern.type)]
    return f"{folder}/{_name(ResourceType(pattern.resource_type))}/{pattern.name}"


def pattern_of(path: str) -> Pattern | None:
    """What is kept at this path; None where no ACLs are."""
    for kind, folder in _FOLDERS.items():
        word, _, name = path.removeprefix(f"{folder}/").partition("/")
        if path.startswith(f"{folder}/") and name and "/" not in name and word in _TYPE_OF:
            return Pattern(_TYPE_OF[word], kind, name)
    return None


def text_of(entries: Iterable[Entry]) -> str:
    rows = [
        {
            "principal": each.principal,
            "permissionType": _name(Permission(each.permission)),
            "operation": _name(Operation(each.operation)),
            "host": each.host,
        }
        for each in entries
    ]
    return json.dumps({"version": 1, "acls": rows}, separators=(",", ":"), ensure_ascii=False)


def read(text: str | None) -> list[Entry]:
    """ValueError or KeyError for a text that Kafka would not have written."""
    rows = json.loads(text)["acls"] if text else ()
    return [
        Entry(
            row["principal"],
            row["host"],
            _OPERATION_OF[row["operation"]],
            _PERMISSION_OF[row["permissionType"]],
        )
        for row in rows
    ]


def read_change(text: str) -> Pattern:
    """Which pattern an announcement means, in any release's spelling."""
    if text.startswith("{"):
        cells = json.loads(text)
        kind, name = cells["resourceType"], cells["name"]
        return Pattern(_kind(kind), PatternType[cells["patternType"]], name)
    kind, _, name = text.partition(":")
    return Pattern(_kind(kind), PatternType.LITERAL, name)


def _kind(word: str) -> ResourceType:
    return _TYPE_OF.get(word) or ResourceType[word]
