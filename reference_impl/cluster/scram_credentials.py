"""What the cluster keeps of a user's password for SCRAM: never the password.

From a salt and a number of iterations follow two keys: a proof is checked by the stored key, and
the server proves itself with the server key (RFC 5802). ZooKeeper holds them as one text under
/config/users; our file holds the same. How keys are made of passwords stands in `scram_keys`.

Sources: RFC 5802; ScramCredentialUtils at 1.0.2 and 4.0; texts read from ZooKeeper after 1.0.2
wrote them.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import NamedTuple

NAMES: Mapping[int, str] = {1: "SCRAM-SHA-256", 2: "SCRAM-SHA-512"}  # ScramMechanism, by its number
NUMBERS: Mapping[str, int] = {name: number for number, name in NAMES.items()}


class ScramCredential(NamedTuple):
    salt: bytes
    stored_key: bytes
    server_key: bytes
    iterations: int

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
