"""What the cluster keeps of a user's password for SCRAM: never the password.

From a salt and a number of iterations follow two keys: a proof is checked by the stored key, and
the server proves itself with the server key (RFC 5802). ZooKeeper holds them as one text under
/config/users; the metadata log and our file hold the same four values.

Sources: RFC 5802, RFC 7677; ScramFormatter, ScramCredentialUtils at 1.0.2 and 4.0, ScramParser at
4.0 (`kafka-storage format --add-scram`, KIP-900); texts read from ZooKeeper after 1.0.2 wrote them.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from typing import NamedTuple, Protocol

NAMES: Mapping[int, str] = {1: "SCRAM-SHA-256", 2: "SCRAM-SHA-512"}  # ScramMechanism, by its number
NUMBERS: Mapping[str, int] = {name: number for number, name in NAMES.items()}
HASHES: Mapping[str, str] = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
FEWEST, MOST = 4096, 16384  # iterations, both inclusive
_SALT_BYTES = 20


class ScramCredential(NamedTuple):
    salt: bytes
    stored_key: bytes
    server_key: bytes
    iterations: int

    @classmethod
    def of_salted(
        cls, mechanism: str, salt: bytes, salted_password: bytes, iterations: int
    ) -> ScramCredential:
        kind = HASHES[mechanism]
        client_key = hmac.digest(salted_password, b"Client Key", kind)
        server_key = hmac.digest(salted_password, b"Server Key", kind)
        return cls(salt, hashlib.new(kind, client_key).digest(), server_key, iterations)

    @classmethod
    def of_password(
        cls, mechanism: str, password: str, salt: bytes | None = None, iterations: int = FEWEST
    ) -> ScramCredential:
        salt = secrets.token_bytes(_SALT_BYTES) if salt is None else salt
        kind = HASHES[mechanism]
        salted = hashlib.pbkdf2_hmac(kind, password.encode(), salt, iterations)
        return cls.of_salted(mechanism, salt, salted, iterations)

    @classmethod
    def read(cls, text: str) -> ScramCredential:
        """ValueError or KeyError for a text that is none."""
        cells = dict(each.split("=", 1) for each in text.split(","))
        salt, stored, server = (
            b64decode(cells[name]) for name in ("salt", "stored_key", "server_key")
        )
        return cls(salt, stored, server, int(cells["iterations"]))

    def __str__(self) -> str:
        """As Kafka writes it (ScramCredentialUtils.credentialToString)."""
        salt, stored, server = (b64encode(each).decode() for each in self[:3])
        return f"salt={salt},stored_key={stored},server_key={server},iterations={self.iterations}"


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
    password, salted = cells.pop("password", None), cells.pop("saltedpassword", None)
    salt = cells.pop("salt", None)
    iterations = int(cells.pop("iterations", str(FEWEST)))
    if name is None:
        raise ValueError("You must supply 'name' to add-scram")
    if password is None and (salted is None or salt is None):
        raise ValueError("You must supply 'password', or 'saltedpassword' and 'salt', to add-scram")
    if cells:
        raise ValueError(f"Unknown SCRAM configurations: {', '.join(sorted(cells))}")
    if not FEWEST <= iterations <= MOST:
        raise ValueError(f"The 'iterations' value must be {FEWEST} to {MOST} for add-scram")
    seed = None if salt is None else b64decode(salt)
    if password is not None:
        return name, mechanism, ScramCredential.of_password(mechanism, password, seed, iterations)
    made = ScramCredential.of_salted(mechanism, seed or b"", b64decode(salted or ""), iterations)
    return name, mechanism, made


class Keeper(Protocol):
    """Whoever keeps credentials (`client_settings`)."""

    def put_credential(self, user: str, mechanism: int, credential: ScramCredential, /) -> None: ...


def add(kept: Keeper, texts: Iterable[str]) -> None:
    """What each of the texts says (see `parse`)."""
    for user, mechanism, credential in map(parse, texts):
        kept.put_credential(user, NUMBERS[mechanism], credential)


def _component(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise ValueError(f"No equals sign found in SCRAM component: {text}")
    quoted = len(value) >= 2 and value[0] == value[-1] == '"'
    return name, value[1:-1] if quoted else value
