"""Signed JSON Web Tokens: what Kafka's OAuthBearerValidatorCallbackHandler asks of them.

A token is believed when a key of the listener's set has signed it, and its claims are what the
listener expects. jose4j looks at them, so what it looks at counts: also a claim that nobody asked
for must have its type, and a token for an audience is refused where no audience is expected. Of
what is wrong the client learns nothing but the status invalid_token.

Sources: KIP-768; ValidatorAccessTokenValidator, ClaimValidationUtils, SerializedJwt at 3.9.2;
BrokerJwtValidator at 4.3.1; JwtConsumer, JwtConsumerBuilder, NumericDateValidator, AudValidator,
JsonWebSignature of jose4j 0.9.6; observed on 3.9.2 and 4.3.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Protocol

from touchstone.reference_impl.broker.security.jwks_settings import TokenSettings
from touchstone.reference_impl.broker.security.mechanism import SaslBroken
from touchstone.reference_impl.broker.security.oauthbearer import TokenRefused
from touchstone.reference_impl.security.json_web_keys import (
    ALGORITHMS,
    JsonWebKey,
    Wanted,
    base64url,
    chosen,
    has_signed,
    json_object,
)

_LONG = 1 << 63
_CRITICAL = ("b64",)  # what a header may call critical
_NESTED = ("jwt", "application/jwt")


class Keys(Protocol):
    """Where the keys of a listener come from."""

    def current(self) -> Iterable[JsonWebKey]:
        """Those that count now; ValueError where they cannot be read."""

    def missing(self, kid: str, now: int) -> None:
        """A token named a key that is not among them."""


class Token(NamedTuple):
    header: Mapping[str, Any]
    claims: Mapping[str, Any]
    text: bytes  # that is signed
    signature: bytes


class SignedTokens:
    """What a listener takes: `keys` are None where nobody reads any, so that no token is good."""

    def __init__(self, settings: TokenSettings, keys: Keys | None) -> None:
        self._settings, self._keys = settings, keys

    def validated(self, text: str, now: int) -> tuple[str, int]:
        token = _read(text)
        self._check_signature(token, now)
        _check_claims(token.claims, self._settings, now // 1000)
        user, expires = self._user(token.claims), _seconds(token.claims, "exp")
        if user is None or expires is None:
            raise TokenRefused
        return user, expires * 1000

    def _check_signature(self, token: Token, now: int) -> None:
        wanted, keys = _wanted(token.header), self._keys
        try:
            key = chosen(() if keys is None else keys.current(), wanted)
        except ValueError:
            raise TokenRefused from None
        if key is None:
            if keys is not None and wanted.id is not None:
                keys.missing(wanted.id, now)
            raise TokenRefused
        _check_critical(token.header)
        if not self._is_by(key, wanted.algorithm, token):
            raise TokenRefused

    def _is_by(self, key: JsonWebKey, algorithm: str, token: Token) -> bool:
        return has_signed(key, algorithm, token.text, token.signature)

    def _user(self, claims: Mapping[str, Any]) -> str | None:
        """Whom the token names; TokenRefused or SaslBroken for another claim that is not so."""
        _check_scope(claims.get(self._settings.scope))
        end = _seconds(claims, "exp")
        if end is None or end < 0:
            raise TokenRefused
        if _overflows(1000 * end):
            raise SaslBroken  # Kafka's arithmetic fails, and its connection with it
        user = _text(claims, self._settings.principal)
        issued = _seconds(claims, "iat")
        if issued is None or issued < 0:
            raise TokenRefused
        return user.strip() or None if user is not None else None


def _read(text: str) -> Token:
    parts = text.strip().rstrip(".").split(".")
    if len(parts) != 3 or not all(parts) or text.endswith("."):
        raise TokenRefused
    header, claims, signature = parts
    try:
        return Token(
            _json(header), _json(claims), f"{header}.{claims}".encode(), base64url(signature)
        )
    except ValueError:
        raise TokenRefused from None


def _json(part: str) -> dict[str, Any]:
    return json_object(base64url(part).decode("utf-8", "replace"))


def _wanted(header: Mapping[str, Any]) -> Wanted:
    if header.get("b64") is False or (_text(header, "cty") or "").lower() in _NESTED:
        raise TokenRefused  # nothing unencoded here, and no token within a token
    algorithm = _text(header, "alg")
    if algorithm is None or algorithm not in ALGORITHMS:
        raise TokenRefused
    thumbs = _text(header, "x5t"), _text(header, "x5t#S256")
    return Wanted(algorithm, _text(header, "kid"), thumbs)


def _check_critical(header: Mapping[str, Any]) -> None:
    critical = header.get("crit")
    if critical is None:
        return
    if not isinstance(critical, list) or any(each not in _CRITICAL for each in critical):
        raise TokenRefused


def _check_claims(claims: Mapping[str, Any], settings: TokenSettings, now: int) -> None:
    """What jose4j refuses; `now` in seconds."""
    _check_audience(claims.get("aud"), settings.audiences)
    issuer = _text(claims, "iss")
    if settings.issuer is not None and issuer != settings.issuer:
        raise TokenRefused
    end, issued, begin = (_seconds(claims, name) for name in ("exp", "iat", "nbf"))
    if end is None or issued is None or now - settings.skew_s >= end or end < issued:
        raise TokenRefused
    if begin is not None and (end < begin or now + settings.skew_s < begin):
        raise TokenRefused
    for name in ("sub", "jti"):
        _text(claims, name)


def _check_audience(said: Any, expected: frozenset[str]) -> None:
    if said is None:
        if expected:
            raise TokenRefused
        return
    audiences = [said] if isinstance(said, str) else said
    if not isinstance(audiences, list) or not all(
        each is None or isinstance(each, str) for each in audiences
    ):
        raise TokenRefused
    if not expected & {each for each in audiences if each is not None}:
        raise TokenRefused


def _check_scope(said: Any) -> None:
    """One text or several, none empty and none twice; of another type it is as if it was not
    there.
    """
    found: set[str] = set()
    for each in [said] if isinstance(said, str) else said if isinstance(said, list) else ():
        if each is not None and not isinstance(each, str):
            raise SaslBroken  # Kafka takes it for a text, and its connection ends
        scope = (each or "").strip()
        if not scope or scope in found:
            raise TokenRefused
        found.add(scope)


def _text(said: Mapping[str, Any], name: str) -> str | None:
    found = said.get(name)
    if not isinstance(found, str | None):
        raise TokenRefused
    return found


def _seconds(claims: Mapping[str, Any], name: str) -> int | None:
    """A date in whole seconds; None where none is said."""
    found = claims.get(name)
    if found is None:
        return None
    if isinstance(found, bool) or not isinstance(found, int | float):
        raise TokenRefused
    if isinstance(found, int) and _overflows(found):
        raise TokenRefused
    return max(-_LONG, min(_LONG - 1, int(found)))  # as Java narrows a double


def _overflows(number: int) -> bool:
    return not -_LONG <= number < _LONG
