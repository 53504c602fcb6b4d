"""A JSON Web Token that nobody has signed, for tests only.

It is what Kafka takes with OAUTHBEARER where no callback handler is set.

Sources: RFC 7519; KIP-255; OAuthBearerUnsecuredJws, OAuthBearerUnsecuredValidatorCallbackHandler,
OAuthBearerValidationUtils at 2.8.2 and 4.0; observed on 2.2.1, 2.8.2, 3.9.2 and 4.3.1.
"""

from __future__ import annotations

import binascii
import json
from base64 import b64decode
from collections.abc import Mapping
from typing import Any, NamedTuple

from touchstone.reference_impl.broker.security.mechanism import SaslBroken
from touchstone.reference_impl.broker.security.oauthbearer import TokenRefused

_PREFIX = "unsecuredValidator"


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

    def validated(self, text: str, now: int) -> tuple[str, int]:
        """Whose token it is, and when it ends (ms)."""
        header, claims, signature = _parts(text)
        if "alg" not in header:
            raise SaslBroken
        if header["alg"] != "none" or signature:
            raise TokenRefused
        scope = _scope(claims.get(self.scope))
        expires, user = _number(claims, "exp"), claims.get(self.principal)
        if expires is None or not isinstance(user, str) or not user.strip():
            raise TokenRefused
        issued = _number(claims, "iat")
        if issued is not None and (1000 * issued > now + self.skew_ms or expires <= issued):
            raise TokenRefused
        if now - self.skew_ms >= 1000 * expires:
            raise TokenRefused
        if set(self.required) - scope:
            raise TokenRefused(self.required)
        return user, round(1000 * expires)


def _parts(text: str) -> tuple[dict[str, Any], dict[str, Any], str]:
    parts = text.split(".")
    if len(parts) != 3 or ".." in text:
        raise TokenRefused
    return _object(parts[0]), _object(parts[1]), parts[2]


def _object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(b64decode(text + "=" * (-len(text) % 4), validate=True))
    except (binascii.Error, ValueError, RecursionError):
        raise TokenRefused from None
    return found if isinstance(found, dict) else {}


def _number(claims: Mapping[str, Any], name: str) -> float | None:
    value = claims.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TokenRefused
    return float(value)


def _scope(value: Any) -> set[str]:
    if value is None:
        return set()
    if isinstance(value, str):
        return {value.strip()} - {""}
    if not isinstance(value, list):
        raise TokenRefused
    return {str(each).strip() for each in value} - {""}
