"""Names that what is done to listeners is said with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from touchstone.reference_impl.tests.security.played_listeners import Played
from touchstone.reference_impl.tests.security.stores import Stores

Step = Callable[[Played], Any]
SSL = "SSL"
KEYS, KIND, PASS = "ssl.keystore.location", "ssl.keystore.type", "ssl.keystore.password"
CHAIN, KEY, KEY_PASS = "ssl.keystore.certificate.chain", "ssl.keystore.key", "ssl.key.password"
TRUST = "ssl.truststore.location"


def own(listener: str, setting: str) -> str:
    return f"listener.name.{listener.lower()}.{setting}"


def first_keys(stores: Stores) -> dict[str, str]:
    found = {own(SSL, KEYS): stores.keys("first.pem", "first")}
    if stores.pem_files:
        return found | {own(SSL, KIND): "PEM"}
    return found | {
        own(SSL, KIND): "PKCS12",
        own(SSL, PASS): "secret",
        own(SSL, KEY_PASS): "secret",
    }
