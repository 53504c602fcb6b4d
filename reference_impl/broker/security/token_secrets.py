"""A token's secret is its hmac, which follows from its id and the cluster's secret key.

Whoever has it logs in with SCRAM, with the token's id for a name and the hmac, in base64, for a
password.

Sources: KIP-48; DelegationTokenManager.createHmac, prepareScramCredentials at 2.8.2.
"""

from __future__ import annotations

import hmac
from base64 import b64encode
from collections.abc import Mapping

from touchstone.reference_impl.cluster.scram_credentials import ScramCredential
from touchstone.reference_impl.cluster.scram_keys import of_password

KEYS = ("delegation.token.secret.key", "delegation.token.master.key")  # the newer name first


def secret_key(config: Mapping[str, str]) -> str | None:
    """The cluster's secret; None where nobody can have a token."""
    return next((config[name] for name in KEYS if config.get(name)), None)


def secret_of(token_id: str, key: str) -> bytes:
    return hmac.digest(key.encode(), token_id.encode(), "sha512")


def credential_of(token_id: str, key: str, mechanism: str) -> ScramCredential:
    """What a proof of the token's secret is checked by."""
    return of_password(mechanism, b64encode(secret_of(token_id, key)).decode())
