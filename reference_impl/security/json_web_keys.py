"""JSON Web Keys: which one of a set is meant, and whether it may have signed.

It is jose4j's rule, because that is what Kafka's brokers go by: what the header of a token does
not say, and what a key does not say of itself, excludes nothing. How signatures are verified is
`signatures.py`'s part.

Sources: RFC 7515, RFC 7517, RFC 7518, RFC 8037; SelectorSupport, VerificationJwkSelector,
KeyValidationSupport, HmacUsingShaAlgorithm, EcdsaUsingShaAlgorithm, Base64Url and JsonUtil of
jose4j 0.9.6, which Kafka 3.9.2 and 4.3.1 bring.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

_LEAST_RSA_BITS = 2048
_NOT_BASE64 = re.compile(r"[^A-Za-z0-9+/]")


class Algorithm(NamedTuple):
    kind: str  # of its keys
    least_bits: int = 0
    curve: str | None = None


# What a broker of Java 17 or later takes; "none" is not among it, nor the curve that Java dropped.
ALGORITHMS: Mapping[str, Algorithm] = {
    **dict.fromkeys(
        ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"), Algorithm("RSA", _LEAST_RSA_BITS)
    ),
    "ES256": Algorithm("EC", curve="P-256"),
    "ES384": Algorithm("EC", curve="P-384"),
    "ES512": Algorithm("EC", curve="P-521"),
    "HS256": Algorithm("oct", 256),
    "HS384": Algorithm("oct", 384),
    "HS512": Algorithm("oct", 512),
    "EdDSA": Algorithm("OKP"),
}


class JsonWebKey(NamedTuple):
    kind: str
    verify: Callable[[str, bytes, bytes], bool]  # of an algorithm, a text and its signature
    bits: int
    curve: str | None
    id: str | None
    use: str | None
    algorithm: str | None
    operations: tuple[object, ...] | None
    thumbs: tuple[str | None, str | None]  # of its certificate: SHA-1, SHA-256


class Wanted(NamedTuple):
    """What a token's header says of its key."""

    algorithm: str  # one of ALGORITHMS
    id: str | None = None
    thumbs: tuple[str | None, str | None] = (None, None)


def chosen(keys: Iterable[JsonWebKey], wanted: Wanted) -> JsonWebKey | None:
    """The first that may have signed; they are asked more only while they are many."""
    rule = ALGORITHMS[wanted.algorithm]
    found = [
        each
        for each in keys
        if each.kind == rule.kind
        and (wanted.id is None or each.id == wanted.id)
        and each.use in (None, "sig")
        and (each.operations is None or "verify" in each.operations)
        and all(map(_agrees, wanted.thumbs, each.thumbs))
    ]
    if len(found) > 1:
        found = [each for each in found if each.algorithm in (None, wanted.algorithm)]
    if len(found) > 1 and rule.curve is not None:
        found = [each for each in found if each.curve == rule.curve]
    return found[0] if found else None


def has_signed(key: JsonWebKey, algorithm: str, text: bytes, signature: bytes) -> bool:
    """Whether the signature is this key's; a key too weak for the algorithm has signed nothing."""
    rule = ALGORITHMS[algorithm]
    if key.kind != rule.kind or key.bits < rule.least_bits:
        return False
    if rule.curve is not None and key.curve != rule.curve:
        return False
    return key.verify(algorithm, text, signature)


def base64url(text: str) -> bytes:
    """As jose4j decodes it: both alphabets, up to the first "=", other letters passed by."""
    letters = text.partition("=")[0].replace("-", "+").replace("_", "/")
    letters = _NOT_BASE64.sub("", letters)
    letters = letters[: len(letters) - (len(letters) % 4 == 1)]  # six bits are no byte
    return b64decode(letters + "=" * (-len(letters) % 4))


def json_object(text: str) -> dict[str, Any]:
    """ValueError for what is no JSON object, or says a name twice."""
    try:
        found = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except RecursionError:
        raise ValueError("JSON that is nested too deep") from None
    if not isinstance(found, dict):
        raise ValueError("Expecting a JSON object at the root")
    return found


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("Names must be unique.")
    return found


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _agrees(wanted: str | None, said: str | None) -> bool:
    return wanted is None or said is None or wanted == said
