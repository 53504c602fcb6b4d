"""SCRAM credentials of users (KIP-554) and delegation tokens (KIP-48)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import IntEnum
from typing import NamedTuple

from touchstone.reference_impl.security.scram import salted
from touchstone.reference_impl.wire.schema import Struct

from ..flow import Flow, KafkaError
from .driver import AdminCore, Call
from .results import Results, V, error_in, everywhere, picked


class ScramMechanism(IntEnum):
    SCRAM_SHA_256 = 1
    SCRAM_SHA_512 = 2


class ScramCredential(NamedTuple):
    mechanism: int
    iterations: int


class ScramUpsertion(NamedTuple):
    """A password of a user to be; `salt` is the caller's chance, at least 16 bytes of it."""

    user: str
    mechanism: ScramMechanism
    password: bytes
    salt: bytes
    iterations: int = 4096

    @property
    def salted_password(self) -> bytes:
        """The broker never sees the password."""
        name = self.mechanism.name.replace("_", "-")
        return salted(name, self.password, self.salt, self.iterations)


class ScramDeletion(NamedTuple):
    user: str
    mechanism: ScramMechanism


class Principal(NamedTuple):
    principal_type: str
    principal_name: str


class DelegationToken(NamedTuple):
    """Instants in ms since the epoch; `hmac` is the password, and what renews or expires it."""

    token_id: str
    hmac: bytes
    owner: Principal
    issue_timestamp: int
    expiry_timestamp: int
    max_timestamp: int
    requester: Principal | None = None  # from version 3 (KIP-373)
    renewers: tuple[Principal, ...] = ()


class CredentialAdmin(AdminCore):
    def describe_user_scram_credentials(
        self, users: Iterable[str] | None = None
    ) -> Flow[Results[str, tuple[ScramCredential, ...]]]:
        """Of these users, or (None) of all that have some."""
        names = None if users is None else list(users)

        def read(
            answer: Struct, keys: list[str]
        ) -> dict[str, Results[str, tuple[ScramCredential, ...]] | KafkaError]:
            found = Results[str, tuple[ScramCredential, ...]](
                {
                    row["user"]: error_in(row, row["user"]) or _infos(row)
                    for row in answer["results"]
                }
            )
            return dict.fromkeys(keys, error_in(answer) or found)

        body = {"users": None if names is None else [{"name": name} for name in names]}
        return (yield from self._once(Call("DescribeUserScramCredentials", lambda _: body, read)))

    def alter_user_scram_credentials(
        self, changes: Iterable[ScramUpsertion | ScramDeletion]
    ) -> Flow[Results[str, None]]:
        """By user: all changes of one stand or fall together."""
        wanted: dict[str, list[ScramUpsertion | ScramDeletion]] = {}
        for change in changes:
            wanted.setdefault(change.user, []).append(change)

        def body(users: list[str]) -> Struct:
            rows = [change for user in users for change in wanted[user]]
            return {
                "deletions": [
                    {"name": each.user, "mechanism": int(each.mechanism)}
                    for each in rows
                    if isinstance(each, ScramDeletion)
                ],
                "upsertions": [
                    {
                        "name": each.user,
                        "mechanism": int(each.mechanism),
                        "iterations": each.iterations,
                        "salt": each.salt,
                        "salted_password": each.salted_password,
                    }
                    for each in rows
                    if isinstance(each, ScramUpsertion)
                ],
            }

        def read(answer: Struct, users: list[str]) -> dict[str, None | KafkaError]:
            return {row["user"]: error_in(row, row["user"]) for row in answer["results"]}

        return (yield from self._carry_out(Call("AlterUserScramCredentials", body, read), wanted))

    def create_delegation_token(
        self,
        renewers: Iterable[Principal] = (),
        *,
        owner: Principal | None = None,
        max_lifetime_ms: int = -1,
    ) -> Flow[DelegationToken]:
        """For the principal of this connection, or for `owner`; -1: as long as is allowed."""
        body = {
            "owner_principal_type": owner.principal_type if owner else None,
            "owner_principal_name": owner.principal_name if owner else None,
            "renewers": [each._asdict() for each in renewers],
            "max_lifetime_ms": max_lifetime_ms,
        }
        return (yield from self._once(_token_call("CreateDelegationToken", body, _created)))

    def renew_delegation_token(self, hmac: bytes, renew_period_ms: int = -1) -> Flow[int]:
        """When it expires now (ms since the epoch)."""
        body = {"hmac": hmac, "renew_period_ms": renew_period_ms}
        return (yield from self._once(_token_call("RenewDelegationToken", body, _expiry)))

    def expire_delegation_token(self, hmac: bytes, expiry_time_period_ms: int = -1) -> Flow[int]:
        """When it expires now (ms since the epoch); a negative period ends it at once."""
        body = {"hmac": hmac, "expiry_time_period_ms": expiry_time_period_ms}
        return (yield from self._once(_token_call("ExpireDelegationToken", body, _expiry)))

    def describe_delegation_tokens(
        self, owners: Iterable[Principal] | None = None
    ) -> Flow[list[DelegationToken]]:
        """Those of these owners, or (None) all that this principal may see."""
        rows = None if owners is None else [each._asdict() for each in owners]
        call = _token_call("DescribeDelegationToken", {"owners": rows}, _described)
        return (yield from self._once(call))


def _infos(row: Struct) -> tuple[ScramCredential, ...]:
    return tuple(picked(ScramCredential, each) for each in row["credential_infos"])


def _token_call(api: str, body: Struct, made: Callable[[Struct], V]) -> Call[str, V]:
    def read(answer: Struct, keys: list[str]) -> Mapping[str, V | KafkaError]:
        error = error_in(answer)
        return everywhere(error, keys) if error else dict.fromkeys(keys, made(answer))

    return Call(api, lambda _: body, read)


def _expiry(answer: Struct) -> int:
    return answer["expiry_timestamp_ms"]


def _created(answer: Struct) -> DelegationToken:
    stamps = {f"{name}_timestamp": answer[f"{name}_timestamp_ms"] for name in ("issue", "expiry")}
    return _token(answer | stamps | {"max_timestamp": answer["max_timestamp_ms"], "renewers": ()})


def _described(answer: Struct) -> list[DelegationToken]:
    return [_token(row) for row in answer["tokens"]]


def _token(row: Struct) -> DelegationToken:
    requester = None
    if "token_requester_principal_type" in row:
        requester = Principal(
            row["token_requester_principal_type"], row["token_requester_principal_name"]
        )
    return picked(
        DelegationToken,
        row,
        hmac=bytes(row["hmac"]),
        owner=picked(Principal, row),
        requester=requester,
        renewers=tuple(picked(Principal, each) for each in row["renewers"]),
    )
