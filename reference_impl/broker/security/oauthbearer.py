"""OAUTHBEARER: a client shows a JSON Web Token, and nothing else of it counts.

What a token must be is said by whoever validates it: `unsecured_tokens`, or `signed_tokens` where
the listener has Kafka's handler for them. A token that is refused is answered with a status, to
which the client says one more byte and is then refused in words.

Sources: RFC 7628; KIP-255, KIP-768; OAuthBearerSaslServer, OAuthBearerClientInitialResponse at
2.8.2, 3.9.2 and 4.3.1; observed on 2.2.1, 2.8.2, 3.9.2 and 4.3.1.
"""

from __future__ import annotations

import re
from typing import Protocol

from touchstone.reference_impl.broker.security.mechanism import CredentialsRefused, SaslBroken

_NAME = r"(?:[\x01-\x2b\x2d-\x3c\x3e-\x7f]|=2C|=3D)+"
_PAIR = r"[A-Za-z]+=[\x21-\x7e \t\r\n]+\x01"
_FIRST = re.compile(rf"n,(?:a=(?P<id>{_NAME}))?,\x01(?P<pairs>(?:{_PAIR})*)\x01")
_SCHEME = r"(?P<scheme>[A-Za-z0-9_]+) +"
_AUTH = re.compile(_SCHEME + r"(?P<token>[-_~+/.a-zA-Z0-9]+=*)")
_AUTH_OF_URLS = re.compile(_SCHEME + r"(?P<token>[-_.a-zA-Z0-9]+)")
_LAST_BYTE = b"\x01"  # what a client says to a status
INVALID, INSUFFICIENT = "invalid_token", "insufficient_scope"


class TokenRefused(Exception):
    """With the status that its client is told."""

    def __init__(self, scope: tuple[str, ...] = ()) -> None:
        super().__init__("a token is refused")
        self.status = f'{{"status":"{INSUFFICIENT if scope else INVALID}"'
        if scope:
            self.status += f', "scope":"[{", ".join(scope)}]"'
        self.status += "}"


class Validator(Protocol):
    """What makes a user of a token."""

    def validated(self, text: str, now: int) -> tuple[str, int]:
        """Whose token it is, and when it ends (ms); TokenRefused, or SaslBroken."""


class OAuthBearer:
    by_token = False

    def __init__(self, tokens: Validator, *, base64: bool) -> None:
        self._tokens = tokens
        self._auth = _AUTH if base64 else _AUTH_OF_URLS
        self._status: str | None = None  # of a token that was refused
        self.user: str | None = None
        self.expires: int | None = None

    def evaluate(self, token: bytes, now: int) -> bytes:
        if token == _LAST_BYTE and self._status is not None:
            raise CredentialsRefused(self._status)
        self._status = None
        wanted, text = _first(token.decode("utf-8", "replace"), self._auth)
        try:
            user, expires = self._tokens.validated(text, now)
        except TokenRefused as refused:
            self._status = refused.status
            return refused.status.encode()
        if wanted not in ("", user):
            raise CredentialsRefused(
                f"Authentication failed: Client requested an authorization id ({wanted}) that is"
                f" different from the token's principal name ({user})"
            )
        self.user, self.expires = user, expires
        return b""


def _first(text: str, form: re.Pattern[str]) -> tuple[str, str]:
    """The authorization id and the token of a client's first message."""
    parts = _FIRST.fullmatch(text)
    if parts is None:
        raise CredentialsRefused
    pairs = (each.partition("=") for each in parts["pairs"].split("\x01") if each)
    auth = form.fullmatch({name: value for name, _, value in pairs}.get("auth", ""))
    if auth is None:
        raise CredentialsRefused
    if auth["scheme"].lower() != "bearer":
        raise SaslBroken  # Kafka trips over the words that it has for it
    return parts["id"] or "", auth["token"]
