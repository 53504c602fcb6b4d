"""Who may have, renew and end delegation tokens (KIP-48).

Only peers that have said who they are may ask, and not with a token; a token is renewed and ended
by its owner and its renewers. Before KRaft a broker looks first at whose a token is, a KRaft
controller first at whether it has expired; what is renewed by nothing lives on by the default time
there, and ends at once before.

Sources: KIP-48, KIP-373; KafkaApis.allowTokenRequests, DelegationTokenManager at 2.8.2,
DelegationTokenControlManager at 4.0; observed on 2.2.1, 2.8.2, 3.9.2 and 4.3.1.
"""

from __future__ import annotations

import uuid
from base64 import urlsafe_b64encode
from collections.abc import Collection
from typing import TYPE_CHECKING

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.broker.configs.listener_changes import ListenerChanges
from touchstone.reference_impl.broker.effects import ANONYMOUS, Access, Connection
from touchstone.reference_impl.broker.security.token_secrets import secret_key, secret_of
from touchstone.reference_impl.cluster.acls import Operation, ResourceType
from touchstone.reference_impl.cluster.delegation_tokens import DelegationToken, User
from touchstone.reference_impl.wire.errors import ErrorCode

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker

MAX_LIFETIME, EXPIRY = "delegation.token.max.lifetime.ms", "delegation.token.expiry.time.ms"
SCAN = "delegation.token.expiry.check.interval.ms"
_DAY_MS = 86_400_000
_LATEST = 2**63 - 1
_USER = "User"
_OF_BROKERS = (  # what a broker refuses before it asks a controller
    ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED,
    ErrorCode.INVALID_PRINCIPAL_TYPE,
    ErrorCode.UNKNOWN_SERVER_ERROR,
)


class TokenRequests:
    """The tokens of the cluster, as one broker serves them. Refusals are ApiErrors."""

    def __init__(self, broker: Broker) -> None:
        self._tokens, self._wall = broker.cluster.delegation_tokens, broker.cluster.wall
        self._kraft = broker.persona.kraft
        self._key = secret_key(broker.config)
        self._longest = broker.number(MAX_LIFETIME, 7 * _DAY_MS)
        self._usual = broker.number(EXPIRY, _DAY_MS)
        self._between_scans = broker.number(SCAN, 3_600_000)
        self._scan_at: int | None = None
        self._changes = broker.room(ListenerChanges)

    def unset_of(self, refused: ApiError) -> int:
        """The time in an answer without one: a broker says -1, a KRaft controller 0."""
        by_broker = refused.code in _OF_BROKERS
        return 0 if self._kraft and not by_broker else -1

    def create(
        self, connection: Connection, owner: User | None, renewers: Collection[User], ms: int,
        now: int, access: Access | None = None,
    ) -> tuple[DelegationToken, bytes]:  # fmt: skip
        """The token, and its secret. Another's token wants CREATE_TOKENS of that user (KIP-373);
        without an authorizer (`access` is None) everybody may make it.
        """
        now = self._wall(now)
        self._check_peer(connection)
        if owner and owner != _user(connection) and not self._may_create(owner, access):
            raise ApiError(ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED)
        if any(kind != _USER for kind, _ in renewers):
            raise ApiError(ErrorCode.INVALID_PRINCIPAL_TYPE)
        key = self._enabled()
        requester = _user(connection)
        longest = min(ms, self._longest) if ms > 0 else self._longest
        ends = min(_LATEST, now + longest)
        token = DelegationToken(
            _fresh_id(), owner or requester, requester, tuple(renewers), now, ends,
            min(ends, now + self._usual),
        )  # fmt: skip
        self._tokens.put(token)
        return token, secret_of(token.id, key)

    def renew(self, connection: Connection, secret: bytes, ms: int, now: int) -> int:
        """When the token expires now."""
        now = self._wall(now)
        self._check_peer(connection)
        token = self._found(secret, now)
        self._check_user(connection, token, now, expired_first=self._kraft)
        left = self._usual if ms < 0 or (self._kraft and ms == 0) else ms
        if self._kraft:
            left = min(left, self._usual)
        expires = min(token.ends, now + left)
        self._tokens.renewed(token, expires)
        return expires

    def expire(self, connection: Connection, secret: bytes, ms: int, now: int) -> int:
        """When the token expires now; at once for a time below 0."""
        now = self._wall(now)
        self._check_peer(connection)
        token = self._found(secret, now)
        if self._kraft and ms < 0:
            self._check_owner(connection, token)
        else:
            self._check_user(connection, token, now, expired_first=False)
        if ms < 0:
            self._tokens.remove(token.id)
            return now
        expires = min(token.ends, now + ms)
        self._tokens.renewed(token, expires)
        return expires

    def describe(
        self,
        connection: Connection,
        owners: Collection[User] | None,
        now: int,
        access: Access | None = None,
    ) -> list[tuple[DelegationToken, bytes]]:
        """The tokens that concern one of these (None: all tokens), with their secrets. Those that
        do not concern who asks want DESCRIBE of the token or DESCRIBE_TOKENS of its owner; without
        an authorizer (`access` is None) everybody sees them (DelegationTokenManager.filterToken).
        """
        now = self._wall(now)
        self._check_peer(connection)
        key = self._enabled()
        self._scan(now)
        return [
            (token, secret_of(token.id, key))
            for token in self._tokens
            if (owners is None or any(token.concerns(owner) for owner in owners))
            and (access is None or self._may_see(connection, token, access))
        ]

    def _may_create(self, owner: User, access: Access | None) -> bool:
        name = ":".join(owner)
        return access is None or access.may(Operation.CREATE_TOKENS, ResourceType.USER, name)

    def _may_see(self, connection: Connection, token: DelegationToken, access: Access) -> bool:
        return (
            token.concerns(_user(connection))
            or access.may(Operation.DESCRIBE, ResourceType.DELEGATION_TOKEN, token.id)
            or access.may(Operation.DESCRIBE_TOKENS, ResourceType.USER, ":".join(token.owner))
        )

    def _check_peer(self, connection: Connection) -> None:
        listener = self._changes.listener(connection.listener)
        known = listener is not None and (
            listener.sasl or (listener.tls and connection.principal != ANONYMOUS)
        )
        if not known or connection.by_token:
            raise ApiError(ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED)

    def _enabled(self) -> str:
        if self._key is None:
            raise ApiError(ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED)
        return self._key

    def _found(self, secret: bytes, now: int) -> DelegationToken:
        key = self._enabled()
        self._scan(now)
        for token in self._tokens:
            if secret_of(token.id, key) == secret:
                return token
        raise ApiError(ErrorCode.DELEGATION_TOKEN_NOT_FOUND)

    def _check_user(
        self, connection: Connection, token: DelegationToken, now: int, *, expired_first: bool
    ) -> None:
        if expired_first and token.expired(now):
            raise ApiError(ErrorCode.DELEGATION_TOKEN_EXPIRED)
        self._check_owner(connection, token)
        if token.expired(now):
            raise ApiError(ErrorCode.DELEGATION_TOKEN_EXPIRED)

    def _check_owner(self, connection: Connection, token: DelegationToken) -> None:
        if not token.renewable_by(_user(connection)):
            raise ApiError(ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH)

    def _scan(self, now: int) -> None:
        """Expired tokens go when their scan is due, which is seen only when somebody asks."""
        if self._scan_at is None:
            self._scan_at = now + self._between_scans
        if now < self._scan_at:
            return
        self._scan_at = now + self._between_scans
        for token in self._tokens:
            if token.expired(now):
                self._tokens.remove(token.id)


def _user(connection: Connection) -> User:
    return connection.principal.type, connection.principal.name


def _fresh_id() -> str:
    return urlsafe_b64encode(uuid.uuid4().bytes).rstrip(b"=").decode()
