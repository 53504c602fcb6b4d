"""Keys, their JWKS and tokens that they sign (RFC 7515, RFC 7517): made anew in each process.

What brokers answer depends on no key, so recordings need none of another process.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from functools import cache
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

ISSUER, AUDIENCE = "https://issuer.test", "touchstone"
PAST, FUTURE = 1_000_000_000, 4_000_000_000  # seconds since 1970
CLAIMS: dict[str, Any] = {
    "sub": "alice",
    "iss": ISSUER,
    "aud": AUDIENCE,
    "iat": PAST,
    "exp": FUTURE,
    "scope": "read",
}
CURVES = {"ec-256": ec.SECP256R1, "ec-384": ec.SECP384R1, "ec-521": ec.SECP521R1}
# What the set says of a key beside its kind: by the key's id.
SAID: Mapping[str, Mapping[str, Any]] = {
    "rsa": {"use": "sig"},
    "rs256-only": {"alg": "RS256"},
    "for-encryption": {"use": "enc"},
    "for-signing": {"key_ops": ["sign"]},
    "for-verifying": {"key_ops": ["verify"]},
    "of-another-use": {"alg": "RSA-OAEP"},
}
OCTETS = b"sixty-four octets that only who signs and who verifies may know."


@cache
def key(kid: str) -> Any:
    if kid in CURVES:
        return ec.generate_private_key(CURVES[kid]())
    if kid == "ed-25519":
        return ed25519.Ed25519PrivateKey.generate()
    if kid == "octets":
        return OCTETS
    return rsa.generate_private_key(65537, 1024 if kid == "short" else 2048)


def jwks(*kids: str, **members: Any) -> str:
    """The public keys as a JSON Web Key Set, with the wrong entries that every reader passes by."""
    wrong: list[Any] = [{"kty": "unheard-of", "kid": "x"}, {"kty": "RSA", "kid": "no-modulus"}]
    return json.dumps({"keys": [*wrong, *map(jwk, kids)], **members})


def jwk(kid: str) -> dict[str, Any]:
    private = key(kid)
    if kid == "octets":
        return {"kty": "oct", "kid": kid, "k": part(private)}
    algorithm = next(
        each for each in jwt.algorithms.get_default_algorithms().values()
        if type(each).__name__ == _ALGORITHMS[kid.partition("-")[0]]
    )  # fmt: skip
    public = algorithm.to_jwk(private.public_key(), as_dict=True)
    public.pop("key_ops", None)
    return {**public, "kid": kid, **SAID.get(kid, {})}


_ALGORITHMS = {"ec": "ECAlgorithm", "ed": "OKPAlgorithm"} | dict.fromkeys(
    ("rsa", "rs256", "for", "of", "short", "new"), "RSAAlgorithm"
)


def part(value: Any) -> str:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return urlsafe_b64encode(data).decode().rstrip("=")


def signed(
    claims: Any = CLAIMS, kid: str | None = "rsa", alg: str = "RS256", by: str | None = None,
    **header: Any,
) -> str:  # fmt: skip
    """A token whose header names `kid`, signed with that key or with `by`."""
    named = {"alg": alg, **({} if kid is None else {"kid": kid}), **header}
    text = f"{part(named)}.{part(claims)}"
    how = jwt.algorithms.get_default_algorithms()[alg]
    return f"{text}.{part(how.sign(text.encode(), key(by or kid or 'rsa')))}"


def without(*names: str, **more: Any) -> dict[str, Any]:
    """The right claims, some left out, some others."""
    return {name: value for name, value in CLAIMS.items() if name not in names} | more


def confused(secret: bytes) -> str:
    """An HMAC whose secret is what everybody can read: the attack that mixes up algorithms."""
    text = f"{part({'alg': 'HS256', 'kid': 'rsa'})}.{part(CLAIMS)}"
    return f"{text}.{part(hmac.digest(secret, text.encode(), hashlib.sha256))}"
