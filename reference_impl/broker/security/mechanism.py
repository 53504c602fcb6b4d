"""A SASL mechanism is an exchange of tokens at whose end a user is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class CredentialsRefused(Exception):
    """The exchange failed. `said` is for the peer; None where nothing may be told, because it
    could tell whether a user exists.
    """

    def __init__(self, said: str | None = None) -> None:
        super().__init__(said or "invalid credentials")
        self.said = said


class SaslBroken(Exception):
    """The exchange ends where Kafka has no answer: its connection is closed at once."""


class SaslServer(Protocol):
    """The server's side of one exchange with one peer (as Java's SaslServer); not used again."""

    @property
    def user(self) -> str | None:
        """Who the peer is, once the exchange is complete."""

    @property
    def expires(self) -> int | None:
        """When its credentials end, in ms since 1970; None for never."""

    @property
    def by_token(self) -> bool:
        """Whether it was a delegation token that the peer has shown."""

    def evaluate(self, token: bytes, now: int) -> bytes:
        """The answer to a token; CredentialsRefused or SaslBroken."""


NewSaslServer = Callable[[], SaslServer]
EITHER_ID = (
    "Authentication failed: Client requested an authorization id that is different from username"
)
