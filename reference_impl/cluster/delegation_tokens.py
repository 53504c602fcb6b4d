"""The cluster keeps delegation tokens: short-lived secrets that stand for a user (KIP-48).

A token's secret follows from its id and the cluster's secret key, so it is not kept. Nothing here
decides who may ask for what.

Sources: KIP-48, KIP-373; TokenInformation, DelegationTokenManager at 2.8.2,
DelegationTokenControlManager at 4.0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

User = tuple[str, str]  # the type and the name of a principal


@dataclass(frozen=True, slots=True)
class DelegationToken:
    """Times are in ms since 1970."""

    id: str
    owner: User
    requester: User
    renewers: tuple[User, ...]
    issued: int
    ends: int  # it is never renewed beyond that
    expires: int

    def renewable_by(self, user: User) -> bool:
        return user == self.owner or user in self.renewers

    def concerns(self, user: User) -> bool:
        return user == self.requester or self.renewable_by(user)

    def expired(self, now: int) -> bool:
        return self.ends < now or self.expires < now


class DelegationTokens:
    def __init__(self) -> None:
        self._tokens: dict[str, DelegationToken] = {}

    def __iter__(self) -> Iterator[DelegationToken]:
        return iter([*self._tokens.values()])

    def get(self, token_id: str) -> DelegationToken | None:
        return self._tokens.get(token_id)

    def put(self, token: DelegationToken) -> None:
        self._tokens[token.id] = token

    def renewed(self, token: DelegationToken, expires: int) -> None:
        self._tokens[token.id] = replace(token, expires=expires)

    def remove(self, token_id: str) -> None:
        self._tokens.pop(token_id, None)

    # --- as plain values ----------------------------------------------------------------------

    def image(self) -> list[dict[str, Any]]:
        return [asdict(token) for token in self]

    def restore(self, rows: list[dict[str, Any]]) -> None:
        for row in rows:
            users = {name: _user(row[name]) for name in ("owner", "requester")}
            renewers = tuple(_user(each) for each in row["renewers"])
            self.put(DelegationToken(**{**row, **users, "renewers": renewers}))


def _user(cells: list[str]) -> User:
    kind, name = cells
    return kind, name
