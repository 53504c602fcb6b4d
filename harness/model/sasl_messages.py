"""What clients say in SASL exchanges, as bytes: SCRAM's messages, and a bearer token.

The client's nonce is always the same, so that all that is drawn of an exchange is the server's.

Sources: RFC 5802 (SCRAM), RFC 7628 (OAUTHBEARER), RFC 7519 (JSON Web Token); KIP-48 (a delegation
token logs in by its id and, in base64, its hmac), KIP-84, KIP-255.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from base64 import b64decode, b64encode, urlsafe_b64encode
from collections.abc import Mapping
from typing import Any, NamedTuple

from touchstone.harness.model.signing_key import SIGNATURES

CLIENT_NONCE = "touchstonetouchstone"
HASHES = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
FIRST, FINAL, PROVEN = "first", "final", "proven"
_BINDING = "c=biws"  # of the header "n,,": none


def salted_password(mechanism: str, password: str, salt: bytes, iterations: int) -> bytes:
    return hashlib.pbkdf2_hmac(HASHES[mechanism], password.encode(), salt, iterations)


def scram(
    part: str, mechanism: str, user: str, password: str | bytes = "",
    server: bytes | None = None, extensions: str = "", nonce: str | None = None,
) -> bytes:  # fmt: skip
    """One message; see `Scram` of placeholders. A server's message that cannot be read gives one
    that proves nothing.
    """
    bare = f"n={user},r={CLIENT_NONCE}{extensions}"
    if part == FIRST:
        return f"n,,{bare}".encode()
    said = bytes(server or b"").decode("utf-8", "replace")
    cells = dict(cell.split("=", 1) for cell in said.split(",") if "=" in cell)
    final = f"{_BINDING},r={nonce or cells.get('r', CLIENT_NONCE)}"
    text = b64encode(password).decode() if isinstance(password, bytes) else password
    keys = _keys(mechanism, text, cells, f"{bare},{said},{final}")
    if part == PROVEN:
        return b"v=" + b64encode(keys.signature)
    return f"{final},p={b64encode(keys.proof).decode()}".encode()


class _Keys(NamedTuple):
    proof: bytes
    signature: bytes


def _keys(mechanism: str, password: str, cells: Mapping[str, str], signed: str) -> _Keys:
    kind, text = HASHES[mechanism], signed.encode()
    count = cells.get("i", "")
    iterations = int(count) if count.isdecimal() and 0 < int(count) < 1 << 20 else 1
    salted = salted_password(mechanism, password, b64decode(cells.get("s", "")), iterations)
    client_key = hmac.digest(salted, b"Client Key", kind)
    mask = hmac.digest(hashlib.new(kind, client_key).digest(), text, kind)
    proof = bytes(a ^ b for a, b in zip(client_key, mask, strict=True))
    return _Keys(proof, hmac.digest(hmac.digest(salted, b"Server Key", kind), text, kind))


def bearer(
    claims: Mapping[str, Any], header: Mapping[str, Any], signature: str = "", signed: str = ""
) -> bytes:
    """A client's first and only message, with a token of these parts."""
    text = f"{_part(header)}.{_part(claims)}"
    if signed:
        signature = _base64url(SIGNATURES[signed](text.encode()))
    return f"n,,\x01auth=Bearer {text}.{signature}\x01\x01".encode()


def _part(value: Mapping[str, Any]) -> str:
    return _base64url(json.dumps(value, sort_keys=True).encode())


def _base64url(data: bytes) -> str:
    return urlsafe_b64encode(data).decode().rstrip("=")
