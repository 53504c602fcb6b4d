"""Keys of SCRAM are made of passwords here; loaded only where somebody has one.

Sources: RFC 5802, RFC 7677; ScramFormatter at 1.0.2 and 4.0, ScramParser at 4.0 (`kafka-storage
format --add-scram`, KIP-900).
"""

from __future__ import annotations

import secrets
from base64 import b64decode
from collections.abc import Iterable
from typing import Protocol

from touchstone.reference_impl.cluster.scram_credentials import (
    NUMBERS,
    ScramCredential,
)
from touchstone.reference_impl.security.scram import client_key, salted, server_key, stored_key
from touchstone.reference_impl.security.scram_limits import FEWEST, MOST

_SALT_BYTES = 20


def of_salted(
    mechanism: str, salt: bytes, salted_password: bytes, iterations: int
) -> ScramCredential:
    stored = stored_key(mechanism, client_key(mechanism, salted_password))
    return ScramCredential(salt, stored, server_key(mechanism, salted_password), iterations)


def of_password(
    mechanism: str, password: str, salt: bytes | None = None, iterations: int = FEWEST
) -> ScramCredential:
    salt = secrets.token_bytes(_SALT_BYTES) if salt is None else salt
    hashed = salted(mechanism, password.encode(), salt, iterations)
    return of_salted(mechanism, salt, hashed, iterations)


def parse(text: str) -> tuple[str, str, ScramCredential]:
    """(user, mechanism, credential) of `SCRAM-SHA-256=[name=alice,password=secret]`.

    The form is that of `kafka-storage format --add-scram`; ValueError for what that refuses.
    """
    mechanism, _, inside = text.strip().partition("=")
    if mechanism not in NUMBERS:
        raise ValueError(f"The add-scram mechanism {mechanism} is not supported.")
    if not (inside.startswith("[") and inside.endswith("]")):
        raise ValueError("Expected configuration string to start with [ and to end with ]")
    cells = dict(_component(each) for each in inside[1:-1].split(","))
    name = cells.pop("name", None)
    password, hashed = cells.pop("password", None), cells.pop("saltedpassword", None)
    salt = cells.pop("salt", None)
    iterations = int(cells.pop("iterations", str(FEWEST)))
    if name is None:
        raise ValueError("You must supply 'name' to add-scram")
    if password is None and (hashed is None or salt is None):
        raise ValueError("You must supply 'password', or 'saltedpassword' and 'salt', to add-scram")
    if cells:
        raise ValueError(f"Unknown SCRAM configurations: {', '.join(sorted(cells))}")
    if not FEWEST <= iterations <= MOST:
        raise ValueError(f"The 'iterations' value must be {FEWEST} to {MOST} for add-scram")
    seed = None if salt is None else b64decode(salt)
    if password is not None:
        return name, mechanism, of_password(mechanism, password, seed, iterations)
    return name, mechanism, of_salted(mechanism, seed or b"", b64decode(hashed or ""), iterations)


class CredentialStore(Protocol):
    """Whoever keeps credentials (`client_settings`)."""

    def put_credential(self, user: str, mechanism: int, credential: ScramCredential, /) -> None: ...


def add(kept: CredentialStore, texts: Iterable[str]) -> None:
    """What each of the texts says (see `parse`)."""
    for user, mechanism, credential in map(parse, texts):
        kept.put_credential(user, NUMBERS[mechanism], credential)


def _component(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise ValueError(f"No equals sign found in SCRAM component: {text}")
    quoted = len(value) >= 2 and value[0] == value[-1] == '"'
    return name, value[1:-1] if quoted else value
