"""The cluster keeps its access control lists: who may do what to which resource, from where.

An ACL allows or denies a principal an operation, on the resources whose names match a pattern: one
name (LITERAL), all names ("*", LITERAL), or all that begin with a prefix (PREFIXED, KIP-290). Who
may write them, and what follows from them, is decided elsewhere (`broker/security/acls`). Codes of
the wire are the values of the enums.

Sources: KIP-11, KIP-140, KIP-290; ResourcePatternFilter and AccessControlEntryFilter@1.0.2..3.9.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import IntEnum
from typing import NamedTuple

WILDCARD = "*"  # every name, as a LITERAL pattern; every host
CLUSTER_NAME = "kafka-cluster"  # the only name of a resource of the type CLUSTER


class ResourceType(IntEnum):
    UNKNOWN, ANY, TOPIC, GROUP, CLUSTER, TRANSACTIONAL_ID, DELEGATION_TOKEN, USER = range(8)


class PatternType(IntEnum):
    UNKNOWN, ANY, MATCH, LITERAL, PREFIXED = range(5)


class Operation(IntEnum):
    UNKNOWN, ANY, ALL, READ, WRITE, CREATE, DELETE, ALTER, DESCRIBE = range(9)
    CLUSTER_ACTION, DESCRIBE_CONFIGS, ALTER_CONFIGS, IDEMPOTENT_WRITE = range(9, 13)
    CREATE_TOKENS, DESCRIBE_TOKENS, TWO_PHASE_COMMIT = range(13, 16)


class Permission(IntEnum):
    UNKNOWN, ANY, DENY, ALLOW = range(4)


class Pattern(NamedTuple):
    """The resources that an ACL is about."""

    resource_type: int
    type: int
    name: str


class Entry(NamedTuple):
    """Whom an ACL allows or denies what; `principal` as in "User:alice"."""

    principal: str
    host: str
    operation: int
    permission: int


class AclFilter(NamedTuple):
    """Some ACLs: None, and ANY, is every value; MATCH is every pattern that `name` matches."""

    resource_type: int = ResourceType.ANY
    name: str | None = None
    pattern_type: int = PatternType.ANY
    principal: str | None = None
    host: str | None = None
    operation: int = Operation.ANY
    permission: int = Permission.ANY

    def matches(self, pattern: Pattern, entry: Entry) -> bool:
        return self.matches_pattern(pattern) and self.matches_entry(entry)

    def matches_pattern(self, pattern: Pattern) -> bool:
        if self.resource_type not in (ResourceType.ANY, pattern.resource_type):
            return False
        kinds = (PatternType.ANY, PatternType.MATCH, pattern.type)
        if self.pattern_type not in kinds:
            return False
        if self.name is None:
            return True
        if self.pattern_type != PatternType.MATCH:
            return self.name == pattern.name
        if pattern.type == PatternType.PREFIXED:
            return self.name.startswith(pattern.name)
        return pattern.name in (self.name, WILDCARD)

    def matches_entry(self, entry: Entry) -> bool:
        return (
            self.principal in (None, entry.principal)
            and self.host in (None, entry.host)
            and self.operation in (Operation.ANY, entry.operation)
            and self.permission in (Permission.ANY, entry.permission)
        )


class Acls:
    """All ACLs of a cluster."""

    def __init__(self) -> None:
        self._entries: dict[Pattern, dict[Entry, None]] = {}
        self._lengths: dict[int, tuple[int, ...]] = {}  # of prefixes, by resource type
        self.generation = 0  # grows with every change
        self.kept = False  # whether there is an authorizer, which keeps them

    def __iter__(self) -> Iterator[tuple[Pattern, Entry]]:
        for pattern, entries in self._entries.items():
            for entry in entries:
                yield pattern, entry

    def __len__(self) -> int:
        return sum(len(entries) for entries in self._entries.values())

    def add(self, pattern: Pattern, entry: Entry) -> None:
        """One that is there already is not there twice."""
        self._entries.setdefault(pattern, {})[entry] = None
        self._changed()

    def discard(self, pattern: Pattern, entry: Entry) -> None:
        """One that is not there is gone already."""
        entries = self._entries.get(pattern, {})
        if entries.pop(entry, self) is self:
            return
        if not entries:
            del self._entries[pattern]
        self._changed()

    def replace(self, pattern: Pattern, entries: Iterable[Entry]) -> None:
        """These entries and no others for this pattern."""
        self._entries.pop(pattern, None)
        kept = dict.fromkeys(entries)
        if kept:
            self._entries[pattern] = kept
        self._changed()

    def found(self, wanted: AclFilter) -> list[tuple[Pattern, Entry]]:
        return [each for each in self if wanted.matches(*each)]

    def patterns(self) -> Iterator[tuple[Pattern, tuple[Entry, ...]]]:
        for pattern, entries in self._entries.items():
            yield pattern, tuple(entries)

    def about(self, resource_type: int, name: str) -> Iterator[Entry]:
        """The entries of all patterns that match this resource."""
        literal, prefixed = PatternType.LITERAL, PatternType.PREFIXED
        yield from self._entries.get(Pattern(resource_type, literal, name), ())
        if name != WILDCARD:
            yield from self._entries.get(Pattern(resource_type, literal, WILDCARD), ())
        for length in self._lengths.get(resource_type, ()):
            if length <= len(name):
                yield from self._entries.get(Pattern(resource_type, prefixed, name[:length]), ())

    def _changed(self) -> None:
        self.generation += 1
        lengths: dict[int, set[int]] = {}
        for pattern in self._entries:
            if pattern.type == PatternType.PREFIXED:
                lengths.setdefault(pattern.resource_type, set()).add(len(pattern.name))
        self._lengths = {kind: tuple(sorted(found)) for kind, found in lengths.items()}
