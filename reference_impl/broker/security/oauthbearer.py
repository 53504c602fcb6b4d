"""OAUTHBEARER with unsecured tokens: a JSON Web Token that nobody has signed, for tests only.

It is what Kafka serves where no other callback handler is set. A token that is refused is answered
with a status, to which the client says one more byte and is then refused in words.

Sources: RFC 7628, RFC 7519; KIP-255; OAuthBearerSaslServer, OAuthBearerClientInitialResponse,
OAuthBearerUnsecuredJws, OAuthBearerUnsecuredValidatorCallbackHandler, OAuthBearerValidationUtils at
2.8.2 and 4.0; observed on 2.2.1, 2.8.2, 3.9.2 and 4.3.1.
"""

from __future__ import annotations

import binascii
import json
import re
from base64 import b64decode
from collections.abc import Mapping
from typing import Any, NamedTuple

from touchstone.reference_impl.broker.security.mechanism import CredentialsRefused, SaslBroken

_NAME = r"(?:[\x01-\x2b\x2d-\x3c\x3e-\x7f]|=2C|=3D)+"
_PAIR = r"[A-Za-z]+=[\x21-\x7e \t\r\n]+\x01"
_FIRST = re.compile(rf"n,(?:a=(?P<id>{_NAME}))?,\x01(?P<pairs>(?:{_PAIR})*)\x01")
_SCHEME = r"(?P<scheme>[A-Za-z0-9_]+) +"
_AUTH = re.compile(_SCHEME + r"(?P<token>[-_~+/.a-zA-Z0-9]+=*)")
_AUTH_OF_URLS = re.compile(_SCHEME + r"(?P<token>[-_.a-zA-Z0-9]+)")
_PREFIX = "unsecuredValidator"
_LAST_BYTE = b"\x01"  # what a client says to a status
INVALID, INSUFFICIENT = "invalid_token", "insufficient_scope"


class TokenRules(NamedTuple):
    """What the login module's options ask of a token."""

    principal: str = "sub"  # the claim that names the user
    scope: str = "scope"  # the claim that lists what it is for
    required: tuple[str, ...] = ()
    skew_ms: int = 0

    @classmethod
    def of(cls, options: Mapping[str, str]) -> TokenRules:
        """ValueError for a clock skew that is none."""
        said = {name: options.get(_PREFIX + name, "").strip() for name in (
            "PrincipalClaimName", "ScopeClaimName", "RequiredScope", "AllowableClockSkewMs",
        )}  # fmt: skip
        skew = said["AllowableClockSkewMs"] or "0"
        if not skew.isdecimal():
            raise ValueError(f"Allowable clock skew millis must not be negative: {skew}")
        return cls(
            said["PrincipalClaimName"] or "sub",
            said["ScopeClaimName"] or "scope",
            tuple(said["RequiredScope"].split()),
            int(skew),
        )


class _TokenRefused(Exception):
    """With the status that its client is told."""

    def __init__(self, scope: tuple[str, ...] = ()) -> None:
        super().__init__("a token is refused")
        self.status = f'{{"status":"{INSUFFICIENT if scope else INVALID}"'
        if scope:
            self.status += f', "scope":"[{", ".join(scope)}]"'
        self.status += "}"


class OAuthBearer:
    by_token = False

    def __init__(self, rules: TokenRules, *, base64: bool) -> None:
        self._rules = rules
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
            user, expires = _validated(text, self._rules, now)
        except _TokenRefused as refused:
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


def _validated(text: str, rules: TokenRules, now: int) -> tuple[str, int]:
    """Whose token it is, and when it ends (ms)."""
    header, claims, signature = _parts(text)
    if "alg" not in header:
        raise SaslBroken
    if header["alg"] != "none" or signature:
        raise _TokenRefused
    scope = _scope(claims.get(rules.scope))
    expires, user = _number(claims, "exp"), claims.get(rules.principal)
    if expires is None or not isinstance(user, str) or not user.strip():
        raise _TokenRefused
    issued = _number(claims, "iat")
    if issued is not None and (1000 * issued > now + rules.skew_ms or expires <= issued):
        raise _TokenRefused
    if now - rules.skew_ms >= 1000 * expires:
        raise _TokenRefused
    if set(rules.required) - scope:
        raise _TokenRefused(rules.required)
    return user, round(1000 * expires)


def _parts(text: str) -> tuple[dict[str, Any], dict[str, Any], str]:
    parts = text.split(".")
    if len(parts) != 3 or ".." in text:
        raise _TokenRefused
    return _object(parts[0]), _object(parts[1]), parts[2]


def _object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(b64decode(text + "=" * (-len(text) % 4), validate=True))
    except (binascii.Error, ValueError, RecursionError):
        raise _TokenRefused from None
    return found if isinstance(found, dict) else {}


def _number(claims: Mapping[str, Any], name: str) -> float | None:
    value = claims.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _TokenRefused
    return float(value)


def _scope(value: Any) -> set[str]:
    if value is None:
        return set()
    if isinstance(value, str):
        return {value.strip()} - {""}
    if not isinstance(value, list):
        raise _TokenRefused
    return {str(each).strip() for each in value} - {""}
