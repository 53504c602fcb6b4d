"""PLAIN: user and password in one token, held against the users of the JAAS configuration.

Sources: RFC 4616; PlainSaslServer, PlainServerCallbackHandler at 1.0.2, 2.2.1, 2.8.2 and 4.0;
observed on all five releases.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping

from touchstone.reference_impl.broker.security.mechanism import EITHER_ID, CredentialsRefused

_MOST = 4  # pieces that are looked for; a fourth is one too many


class Plain:
    expires: int | None = None
    by_token = False

    def __init__(self, passwords: Mapping[str, str], *, says_what_is_missing: bool) -> None:
        """Releases that do not say what is missing of a token read it as Java's `split` does."""
        self._passwords, self._says = passwords, says_what_is_missing
        self.user: str | None = None

    def evaluate(self, token: bytes, now: int) -> bytes:
        authorization_id, user, password = self._pieces(token)
        if not user:
            raise self._missing("Authentication failed: username not specified")
        if not password:
            raise self._missing("Authentication failed: password not specified")
        known = self._passwords.get(user)
        if known is None or not hmac.compare_digest(known.encode(), password.encode()):
            raise CredentialsRefused("Authentication failed: Invalid username or password")
        if authorization_id not in ("", user):
            raise CredentialsRefused(EITHER_ID)
        self.user = user
        return b""

    def _pieces(self, token: bytes) -> list[str]:
        text = token.decode("utf-8", "replace")
        if self._says:
            found = text.split("\0", _MOST)[:_MOST]
        else:
            found = text.rstrip("\0").split("\0")
        if len(found) != 3:
            raise self._missing(f"Invalid SASL/PLAIN response: expected 3 tokens, got {len(found)}")
        return found

    def _missing(self, said: str) -> CredentialsRefused:
        return CredentialsRefused(said if self._says else None)
