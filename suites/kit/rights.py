"""A claim about one right: of somebody without it, with it denied although allowed, and with it.

Three users ask the same, in this order, for whoever may do it may leave nothing to the others.
`rights(case, ...)` gives them their ACLs and opens their connections, `asked(...)` are their
requests, `said(...)` is what each is answered.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from touchstone.harness.model.case import Case
from touchstone.harness.model.expect import Expectation, all_of, answer
from touchstone.harness.model.scenario import Name
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.security import ALLOW, DENY, acl, granted, signed_in, with_bearer

WITHOUT, DENIED, ALLOWED = "without", "denied", "allowed"
USERS = {WITHOUT: "alice", DENIED: "bob", ALLOWED: "carol"}  # in 1.0
PERMISSIONS = {DENIED: (ALLOW, DENY), ALLOWED: (ALLOW,)}


def principal(release: str, who: str) -> Any:
    """A user of this case alone, for ACLs on the cluster are everybody's. A bearer token names whom
    it likes; 1.0 has none, so its claims are about resources of their own.
    """
    return f"User:{USERS[who]}" if release == "1.0" else Name(f"User:{who}", token=who)


def connected(release: str, who: str) -> list[Any]:
    """A connection that is called `who`, on which what follows is this user's."""
    if release == "1.0":
        return signed_in(USERS[who], who)
    return with_bearer(Name(who, token=who), who)


def rights(case: Case[Any], kind: int, resource: Any, *operations: int) -> list[Any]:
    """ACLs for these operations on a resource, and a connection of each user."""
    acls = [
        acl(kind, resource, operation, principal(case.release, who), permission=permission)
        for operation in operations
        for who, permissions in PERMISSIONS.items()
        for permission in permissions
    ]
    return [granted(case.release, *acls), *(connected(case.release, who) for who in USERS)]


def also(case: Case[Any], kind: int, resource: Any, operation: int) -> list[Any]:
    """A right that all three have, so that it is another one that tells them apart."""
    acls = [acl(kind, resource, operation, principal(case.release, who)) for who in USERS]
    return granted(case.release, *acls, name="also")


def asked(make: Callable[[dict[str, Any]], Any]) -> list[Any]:
    """The request of each user; `make` spreads what it is given into a builder of steps."""
    return [make({"connection": who, "name": who}) for who in USERS]


def said(
    path: str, refused: ErrorCode, allowed: Any = ErrorCode.NONE, *also: Expectation
) -> Expectation:
    """Who may not is refused with this code, who may is answered otherwise."""
    return all_of(
        answer(WITHOUT, path).is_(refused),
        answer(DENIED, path).is_(refused),
        answer(ALLOWED, path).is_(allowed),
        *also,
    )


def shown(path: str, what: Any) -> Expectation:
    """What a list holds of those who may see it, and lacks of those who may not."""
    return all_of(
        answer(WITHOUT, path).lacks(what),
        answer(DENIED, path).lacks(what),
        answer(ALLOWED, path).contains(what),
    )
