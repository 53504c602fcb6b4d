"""Who somebody is, and what that one may do: connections of SASL listeners, ACLs, their settings.

A connection is called after its user. It is opened by the SASL listener, and what follows on it is
that user's. ACLs are made by the plain listener's client, who is a super user.
"""

from __future__ import annotations

from typing import Any

from touchstone.harness.model import security_settings as settings
from touchstone.harness.model.placeholders import Bearer, Scram
from touchstone.harness.model.profiles import PROFILES
from touchstone.harness.model.scenario import Ask, Open, Until

LISTENER = settings.SASL_LISTENER
USERS = settings.USERS
ONE_PARTITION = {
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
}

ANY, ALL, READ, WRITE, CREATE, DELETE, ALTER, DESCRIBE = range(1, 9)
CLUSTER_ACTION, DESCRIBE_CONFIGS, ALTER_CONFIGS, IDEMPOTENT_WRITE = range(9, 13)
TOPIC, GROUP, CLUSTER, TRANSACTIONAL_ID, DELEGATION_TOKEN = range(2, 7)
CLUSTER_NAME = "kafka-cluster"
MATCH, LITERAL, PREFIXED = 2, 3, 4
DENY, ALLOW = 2, 3


def sasl(release: str) -> dict[str, str]:
    """The settings of a broker with a SASL listener."""
    return PROFILES["sasl"].subjects(release) | ONE_PARTITION


def signed_sasl(release: str) -> dict[str, str]:
    """The same, where tokens of OAUTHBEARER are signed."""
    return sasl(release) | {name: str(value) for name, value in settings.SIGNED.items()}


def authorizer(release: str) -> dict[str, str]:
    """The same, with an authorizer."""
    return PROFILES["authorizer"].subjects(release) | ONE_PARTITION


def open_authorizer(release: str) -> dict[str, str]:
    """The same, where everybody may do what no ACL is about."""
    return PROFILES["open-authorizer"].subjects(release) | ONE_PARTITION


# connections


def at_sasl(connection: str) -> Open:
    """A connection of the SASL listener on which nothing has been said."""
    return Open(connection, listener=LISTENER)


def handshake(
    connection: str, mechanism: str = settings.PLAIN, *, version: int = 1, name: str | None = None
) -> Ask:
    body = {"mechanism": mechanism}
    return Ask("SaslHandshake", version, body, name or f"{connection} handshake", connection)


def authenticate(
    connection: str, token: bytes | Scram | Bearer, *, version: int = 0, name: str | None = None
) -> Ask:
    body = {"auth_bytes": token}
    return Ask("SaslAuthenticate", version, body, name or f"{connection} authenticates", connection)


def plain(user: str, password: str | None = None, *, as_user: str = "") -> bytes:
    """The token of PLAIN (RFC 4616), by default with the right password."""
    return f"{as_user}\0{user}\0{USERS[user] if password is None else password}".encode()


def signed_in(user: str, connection: str | None = None) -> list[Any]:
    """A connection, by default of the user's name, on which what follows is this user's."""
    connection = connection or user
    return [
        at_sasl(connection), handshake(connection), authenticate(connection, plain(user)),
    ]  # fmt: skip


NEVER_S = 4_000_000_000  # seconds since 1970


def with_bearer(user: Any, connection: str) -> list[Any]:
    """A connection on which what follows is this user's, whom a bearer token names."""
    token = Bearer({"sub": user, "exp": NEVER_S})
    return [
        at_sasl(connection),
        handshake(connection, settings.OAUTHBEARER),
        authenticate(connection, token),
    ]


# ACLs


def acl_version(release: str) -> int:
    """Of CreateAcls, DescribeAcls and DeleteAcls: 4.x has left out the one of 1.0."""
    return 0 if release == "1.0" else 1


def acl(
    kind: int,
    resource: Any,
    operation: int,
    principal: Any,
    *,
    permission: int = ALLOW,
    pattern: int = LITERAL,
    host: str = "*",
) -> dict[str, Any]:
    return {
        "resource_type": kind,
        "resource_name": resource,
        "resource_pattern_type": pattern,
        "principal": principal,
        "host": host,
        "operation": operation,
        "permission_type": permission,
    }


def acl_filter(
    kind: int = ANY,
    resource: Any = None,
    *,
    pattern: int = LITERAL,
    principal: Any = None,
    host: str | None = None,
    operation: int = ANY,
    permission: int = ANY,
) -> dict[str, Any]:
    return {
        "resource_type_filter": kind,
        "resource_name_filter": resource,
        "pattern_type_filter": pattern,
        "principal_filter": principal,
        "host_filter": host,
        "operation": operation,
        "permission_type": permission,
    }


def granted(release: str, *acls: dict[str, Any], name: str = "granted") -> list[Any]:
    """Have these ACLs made, and wait until the broker goes by them: in KRaft it hears of them by
    the metadata log.
    """
    version = acl_version(release)
    steps: list[Any] = [Ask("CreateAcls", version, {"creations": list(acls)}, name)]
    for number, one in enumerate(acls):
        wanted = acl_filter(
            one["resource_type"],
            one["resource_name"],
            pattern=one["resource_pattern_type"],
            principal=one["principal"],
            host=one["host"],
            operation=one["operation"],
            permission=one["permission_type"],
        )
        heard = Ask("DescribeAcls", version, wanted, f"{name} {number}")
        steps.append(Until(heard, "resources", "len ==", 1))
    return steps
