"""The authorizer: whether a principal may do something to a resource, as the ACLs say.

A super user may do everything. For everybody else an ACL that denies decides before one that
allows, whichever pattern is closer; where ACLs are about the resource and none is about the asker,
the answer is no; where none is about the resource, `allow.everyone.if.no.acl.found` decides. To
allow READ, WRITE, DELETE or ALTER allows DESCRIBE, too, and ALTER_CONFIGS allows DESCRIBE_CONFIGS;
to deny them denies nothing else.

Sources: SimpleAclAuthorizer@1.0.2, 2.2.1; AclAuthorizer@2.8.2; StandardAuthorizerData@3.9;
Authorizer.authorizeByResourceType@3.9 (KIP-679).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from touchstone.reference_impl.broker.configs.config_values import is_true
from touchstone.reference_impl.broker.personas.persona import Persona
from touchstone.reference_impl.cluster.acls import (
    WILDCARD,
    Acls,
    Entry,
    Operation,
    Pattern,
    PatternType,
    Permission,
)

CLASS = "authorizer.class.name"
ANYBODY = "User:*"
EXAMPLE = "hardcode"  # of a resource, in Authorizer.authorizeByResourceType
MOST_KEPT = 10_000  # decisions, until all of them are forgotten
_IMPLIED_BY: Mapping[int, tuple[int, ...]] = {
    Operation.DESCRIBE: (Operation.READ, Operation.WRITE, Operation.DELETE, Operation.ALTER),
    Operation.DESCRIBE_CONFIGS: (Operation.ALTER_CONFIGS,),
}


class AuthorizerSettings(NamedTuple):
    super_users: frozenset[str]  # as in "User:alice"
    allow_everyone: bool  # where no ACL is about a resource
    by_example: bool  # judge of a type of resources by one of a name that nobody thought of


def settings_of(config: Mapping[str, str], persona: Persona) -> AuthorizerSettings | None:
    """None without an authorizer; ValueError for a class that this release does not bring along
    and for a super user that has no type.
    """
    name = config.get(CLASS, "").strip()
    if not name:
        return None
    known = persona.quirk("acls.authorizer")
    if name != known:
        raise ValueError(f"{CLASS}={name} is no authorizer of {persona.release}, which is {known}")
    supers = [word.strip() for word in config.get("super.users", "").split(";") if word.strip()]
    for word in supers:
        if not all(word.partition(":")):
            raise ValueError(
                f"super.users={word}: expected a string in format principalType:principalName"
            )
    everyone = is_true(config.get("allow.everyone.if.no.acl.found"))
    by_example = persona.quirk("acls.types-are-judged-by-example")
    return AuthorizerSettings(frozenset(supers), everyone, by_example)


class Authorizer:
    """Decides by the ACLs of a cluster as they stand when it is asked."""

    def __init__(self, acls: Acls, settings: AuthorizerSettings) -> None:
        self._acls = acls
        self._settings = settings
        self._kept: dict[tuple[str, str, int, int, str], bool] = {}  # decisions, while ACLs stand
        self._generation = -1  # of the ACLs that they rest on

    def may(self, principal: str, host: str, operation: int, kind: int, name: str) -> bool:
        """Whether this principal may do this from there to the resource of this type and name."""
        if self._generation != self._acls.generation or len(self._kept) >= MOST_KEPT:
            self._kept.clear()
            self._generation = self._acls.generation
        asked = (principal, host, operation, kind, name)
        found = self._kept.get(asked)
        if found is None:
            found = self._kept[asked] = self._decide(*asked)
        return found

    def may_somewhere(self, principal: str, host: str, operation: int, kind: int) -> bool:
        """Whether there can be a resource of this type to which the principal may do this.

        `operation` is one that no other implies, as WRITE.
        """
        settings = self._settings
        if principal in settings.super_users:
            return True
        if settings.by_example and self.may(principal, host, operation, kind, EXAMPLE):
            return True
        allowed: list[Pattern] = []
        denied: set[Pattern] = set()
        for pattern, entry in self._acls:
            if pattern.resource_type != kind or not _concerns(entry, principal, host):
                continue
            if entry.operation in (operation, Operation.ALL):
                if entry.permission == Permission.DENY:
                    denied.add(pattern)
                else:
                    allowed.append(pattern)
        if Pattern(kind, PatternType.LITERAL, WILDCARD) in denied:
            return False
        if settings.allow_everyone and not settings.by_example:
            return True
        return any(not _dominated(pattern, denied) for pattern in allowed)

    def _decide(self, principal: str, host: str, operation: int, kind: int, name: str) -> bool:
        if principal in self._settings.super_users:
            return True
        enough = (operation, Operation.ALL, *_IMPLIED_BY.get(operation, ()))
        about = allowed = False
        for entry in self._acls.about(kind, name):
            about = True
            if not _concerns(entry, principal, host):
                continue
            if entry.permission == Permission.DENY:
                if entry.operation in (operation, Operation.ALL):
                    return False
            elif entry.operation in enough:
                allowed = True
        return allowed or (not about and self._settings.allow_everyone)


def _concerns(entry: Entry, principal: str, host: str) -> bool:
    return entry.principal in (principal, ANYBODY) and entry.host in (host, WILDCARD)


def _dominated(pattern: Pattern, denied: set[Pattern]) -> bool:
    """Whether all that is allowed by this pattern is denied by another."""
    kind, name = pattern.resource_type, pattern.name
    if pattern.type == PatternType.LITERAL:
        if name == WILDCARD:
            return False
        if pattern in denied:
            return True
    prefixes = (name[:length] for length in range(1, len(name) + 1))
    return any(Pattern(kind, PatternType.PREFIXED, prefix) in denied for prefix in prefixes)
