"""Key sets as text, and signatures of their keys: the one door to PyJWT.

A set may hold keys that cannot be read, which are passed by: others of it may be good.

Sources: RFC 7517; JsonWebKeySet, JsonWebKey and PublicJsonWebKey of jose4j 0.9.6.
"""

from __future__ import annotations

import binascii
import hashlib
from base64 import b64decode
from collections.abc import Mapping
from functools import partial
from typing import Any

from jwt import PyJWTError
from jwt.algorithms import get_default_algorithms

from touchstone.reference_impl.security.json_web_keys import JsonWebKey, json_object

_METHODS = get_default_algorithms()
if "RS256" not in _METHODS:  # PyJWT without its own extra reads no public keys, and says nothing
    raise ImportError("PyJWT without cryptography", name="cryptography")
# The members that make the public key of a kind, and an algorithm that reads them.
_MEMBERS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "RSA": ("RS256", ("n", "e")),
    "EC": ("ES256", ("crv", "x", "y")),
    "OKP": ("EdDSA", ("crv", "x")),
    "oct": ("HS256", ("k",)),
}


def key_set(text: str) -> tuple[JsonWebKey, ...]:
    """The keys of a set that can be read, in its order; ValueError for what is no set."""
    entries = json_object(text).get("keys")
    if not isinstance(entries, list):
        raise ValueError("The JSON JWKS content does not include the keys member.")
    return tuple(key for each in entries if (key := _readable(each)) is not None)


def _readable(entry: object) -> JsonWebKey | None:
    try:
        return _key(entry)
    except (PyJWTError, ValueError, TypeError, KeyError, binascii.Error):
        return None


def _key(entry: object) -> JsonWebKey:
    if not isinstance(entry, dict):
        raise TypeError("a key is an object")
    kind = entry["kty"]
    method, names = _MEMBERS[kind]
    # A private key in the set is read without its secret: it verifies, and signs nothing here.
    public = {"kty": kind, **{name: entry[name] for name in names}}
    key = _METHODS[method].from_jwk(public)
    operations = entry.get("key_ops")
    return JsonWebKey(
        kind,
        partial(_verify, key),
        8 * len(key) if isinstance(key, bytes) else getattr(key, "key_size", 0),
        entry.get("crv"),
        _text(entry, "kid"),
        _text(entry, "use"),
        _text(entry, "alg"),
        None if operations is None else tuple(operations),
        _thumbs(entry),
    )


def _text(entry: Mapping[str, Any], name: str) -> str | None:
    found = entry.get(name)
    if not isinstance(found, str | None):
        raise TypeError(f"{name} is a text")
    return found


def _thumbs(entry: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """What the key says of its certificate, or what its certificate gives."""
    said = _text(entry, "x5t"), _text(entry, "x5t#S256")
    if not entry.get("x5c"):
        return said
    leaf = b64decode(entry["x5c"][0])
    made = (hashlib.sha1(leaf).digest(), hashlib.sha256(leaf).digest())
    return said[0] or _thumb(made[0]), said[1] or _thumb(made[1])


def _thumb(digest: bytes) -> str:
    text = binascii.b2a_base64(digest, newline=False).decode()
    return text.rstrip("=").replace("+", "-").replace("/", "_")


def _verify(key: Any, algorithm: str, text: bytes, signature: bytes) -> bool:
    return bool(_METHODS[algorithm].verify(text, key, signature))
