"""What a listener with TLS is told: its keys, whom it trusts, and whether clients show a
certificate.

A setting with the listener's prefix goes before one without. On SASL_SSL listeners
`ssl.client.auth` counts only with the prefix, as Kafka has it. How stores are told is
`reference_impl/security/tls_stores.py`'s.

Sources: ChannelBuilders.create, DefaultSslEngineFactory, SslConfigs at 2.8.2 and 4.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from touchstone.reference_impl.broker.configs.config_values import is_true
from touchstone.reference_impl.broker.configs.listener_settings import (
    Listener,
    of_listener,
    prefix,
)
from touchstone.reference_impl.broker.security import ssl_principals
from touchstone.reference_impl.broker.security.ssl_principals import Rule
from touchstone.reference_impl.security.tls_stores import (
    ENGINE,
    NO_ENGINE,
    RELOADED,
    Said,
    Store,
    keys_of,
    listed,
    trusted_of,
    versions_of,
)

CLIENT_AUTH = "ssl.client.auth"
NEW_SUBJECT, NEW_NAMES = "ssl.allow.dn.changes", "ssl.allow.san.changes"
NONE, REQUESTED, REQUIRED = "none", "requested", "required"


class TlsSettings(NamedTuple):
    keys: Store
    key_password: str | None
    trusted: Store | None  # None: what the system trusts
    client_auth: str
    versions: tuple[str, ...]
    suites: tuple[str, ...]  # none: the library's
    rules: tuple[Rule, ...]
    new_subject: bool  # whether keys that take the place of these may be for another subject,
    new_names: bool  # and for other hosts (KIP-978)

    @classmethod
    def of(cls, config: Mapping[str, str], listener: Listener) -> TlsSettings:
        """ValueError, with one line that names the setting, for what cannot be obeyed."""

        def said(name: str) -> str | None:
            return of_listener(config, listener.name, name)

        if said(ENGINE):
            raise ValueError(NO_ENGINE)
        return cls(
            _keys(said),
            said("ssl.key.password"),
            trusted_of(said),
            _client_auth(config, listener),
            versions_of(said),
            tuple(listed(said("ssl.cipher.suites"))),
            ssl_principals.rules(said(ssl_principals.SETTING)),
            is_true(said(NEW_SUBJECT)),
            is_true(said(NEW_NAMES)),
        )

    def renewed(self, config: Mapping[str, str], listener: Listener) -> TlsSettings:
        """With the keys and the trusted certificates that are told now; the rest stays."""

        def said(name: str) -> str | None:
            return of_listener(config, listener.name, name)

        keys = _keys(said)
        return self._replace(
            keys=keys, key_password=said("ssl.key.password"), trusted=trusted_of(said)
        )


def told_of_keys(config: Mapping[str, str], listener: Listener) -> tuple[str | None, ...]:
    """All that decides which keys and trusted certificates a listener has."""
    return tuple(of_listener(config, listener.name, name) for name in RELOADED)


def _keys(said: Said) -> Store:
    found = keys_of(said)
    if found is None:
        raise ValueError("ssl.keystore.location: a listener with TLS needs a certificate and a key")
    return found


def _client_auth(config: Mapping[str, str], listener: Listener) -> str:
    text = config.get(prefix(listener.name) + CLIENT_AUTH)
    if text is None and not listener.sasl:
        text = config.get(CLIENT_AUTH)
    found = (text or NONE).lower()
    if found not in (NONE, REQUESTED, REQUIRED):
        raise ValueError(
            f"Invalid value {text} for configuration {CLIENT_AUTH}: String must be one of (case"
            " insensitive): REQUIRED, REQUESTED, NONE"
        )
    return found
