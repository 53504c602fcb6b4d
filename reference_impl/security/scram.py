"""SCRAM's keys, proofs and spellings, which client and server compute from the same words.

Sources: RFC 5802, RFC 7677; ScramFormatter, ScramMessages at 1.0.2 and 4.0.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Mapping

HASHES: Mapping[str, str] = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
TOKEN_AUTHENTICATION = "tokenauth"  # the extension that says: the name is a delegation token's
NAME, VALUE = r"(?:[\x01-\x2b\x2d-\x3c\x3e-\x7f]|=2C|=3D)+", r"[\x01-\x2b\x2d-\x7f]+"
PRINTABLE = r"[\x21-\x2b\x2d-\x7e]+"
BASE64 = r"(?:[a-zA-Z0-9/+]{4})*(?:[a-zA-Z0-9/+]{3}=|[a-zA-Z0-9/+]{2}==)?"
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_NONCE_BITS = 130


def fresh_nonce() -> str:
    """130 random bits in base 36 (ScramFormatter.secureRandomString)."""
    number, digits = secrets.randbits(_NONCE_BITS), ""
    while number:
        number, digit = divmod(number, len(_DIGITS))
        digits = _DIGITS[digit] + digits
    return digits or "0"


def spelled(name: str) -> str:
    """A name as messages have it, where "=" and "," mean something."""
    return name.replace("=", "=3D").replace(",", "=2C")


def read_name(text: str) -> str:
    """The name behind its spelling; ValueError for one that `spelled` does not make."""
    name = text.replace("=2C", ",")
    if "=" in name.replace("=3D", ""):
        raise ValueError(f"{text} is no name")
    return name.replace("=3D", "=")


def salted(mechanism: str, password: bytes, salt: bytes, iterations: int) -> bytes:
    """Hi() of RFC 5802: what a password becomes, so that no server need know it."""
    return hashlib.pbkdf2_hmac(HASHES[mechanism], password, salt, iterations)


def client_key(mechanism: str, salted_password: bytes) -> bytes:
    return hmac.digest(salted_password, b"Client Key", HASHES[mechanism])


def server_key(mechanism: str, salted_password: bytes) -> bytes:
    return hmac.digest(salted_password, b"Server Key", HASHES[mechanism])


def stored_key(mechanism: str, key: bytes) -> bytes:
    """What a client key is checked by."""
    return hashlib.new(HASHES[mechanism], key).digest()


def signature(mechanism: str, key: bytes, said: bytes) -> bytes:
    """Of all that was said, by the stored key or by the server's."""
    return hmac.digest(key, said, HASHES[mechanism])


def veiled(key: bytes, by: bytes) -> bytes:
    """A client key under a signature (the proof), and out of it again. ValueError by lengths."""
    return bytes(a ^ b for a, b in zip(key, by, strict=True))
