"""What a listener with TLS is told: its keys, whom it trusts, and whether clients show a
certificate.

A setting with the listener's prefix goes before one without. On SASL_SSL listeners
`ssl.client.auth` counts only with the prefix, as Kafka has it. Stores are PEM files, PEM texts in
the settings themselves (KIP-651), or PKCS12; Java's own JKS is refused in words.

Sources: ChannelBuilders.create, DefaultSslEngineFactory, SslConfigs at 2.8.2 and 4.0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from touchstone.reference_impl.broker.configs.listener_settings import (
    Listener,
    of_listener,
    prefix,
)
from touchstone.reference_impl.broker.security import ssl_principals
from touchstone.reference_impl.broker.security.ssl_principals import Rule

PEM, PKCS12, JKS = "PEM", "PKCS12", "JKS"
CLIENT_AUTH = "ssl.client.auth"
NONE, REQUESTED, REQUIRED = "none", "requested", "required"
ENGINE = "ssl.engine.factory.class"
_VERSIONS = ("TLSv1.2", "TLSv1.3")


class Store(NamedTuple):
    """A key store or a trust store: a file, or PEM text."""

    kind: str
    path: str | None
    password: str | None
    text: str | None = None
    key: str | None = None  # PEM text of the private key


class TlsSettings(NamedTuple):
    keys: Store
    key_password: str | None
    trusted: Store | None  # None: what the system trusts
    client_auth: str
    versions: tuple[str, ...]
    suites: tuple[str, ...]  # none: the library's
    rules: tuple[Rule, ...]

    @classmethod
    def of(cls, config: Mapping[str, str], listener: Listener) -> TlsSettings:
        """ValueError, with one line that names the setting, for what cannot be obeyed."""

        def said(name: str) -> str | None:
            return of_listener(config, listener.name, name)

        if said(ENGINE):
            raise ValueError(f"{ENGINE} is not obeyed, so it is refused: no class is loaded here")
        return cls(
            _keys(said),
            said("ssl.key.password"),
            _trusted(said),
            _client_auth(config, listener),
            _versions(said),
            tuple(_list(said("ssl.cipher.suites"))),
            ssl_principals.rules(said(ssl_principals.SETTING)),
        )


Said = Callable[[str], str | None]  # a setting by its name


def _keys(said: Said) -> Store:
    chain, key = said("ssl.keystore.certificate.chain"), said("ssl.keystore.key")
    kind, path = said("ssl.keystore.type") or JKS, said("ssl.keystore.location")
    password = said("ssl.keystore.password")
    if key is not None:
        if kind != PEM:
            raise ValueError(
                "SSL private key can be specified only for PEM, but key store type is " + kind + "."
            )
        if chain is None:
            raise ValueError(
                "SSL private key is specified, but certificate chain is not specified."
            )
        return Store(PEM, None, None, chain, key)
    if path is None:
        raise ValueError("ssl.keystore.location: a listener with TLS needs a certificate and a key")
    _check(kind, password, "ssl.keystore.password", "key")
    return Store(kind, path, password)


def _trusted(said: Said) -> Store | None:
    text, path = said("ssl.truststore.certificates"), said("ssl.truststore.location")
    kind, password = said("ssl.truststore.type") or JKS, said("ssl.truststore.password")
    if text is not None:
        if kind != PEM:
            raise ValueError(
                f"SSL trust store certs can be specified only for PEM, but trust store type is"
                f" {kind}."
            )
        return Store(PEM, None, None, text)
    if path is None:
        return None
    _check(kind, password, "ssl.truststore.password", "trust")
    return Store(kind, path, password)


def _check(kind: str, password: str | None, setting: str, store: str) -> None:
    if kind not in (PEM, PKCS12, JKS):
        raise ValueError(f"ssl.{store}store.type={kind} is not obeyed, so it is refused")
    if kind == PEM and password is not None:
        raise ValueError(f"SSL {store} store password cannot be specified with PEM format")
    if kind != PEM and store == "key" and password is None:
        raise ValueError(f"SSL key store is specified, but key store password is not: {setting}")


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


def _versions(said: Said) -> tuple[str, ...]:
    """Of those that are enabled the ones that are spoken here; older ones nobody should speak."""
    named = _list(said("ssl.enabled.protocols")) or [*_VERSIONS]
    found = tuple(version for version in _VERSIONS if version in named)
    if not found:
        raise ValueError(f"ssl.enabled.protocols={','.join(named)} is not obeyed: there is"
                         f" {' and '.join(_VERSIONS)}")  # fmt: skip
    return found


def _list(text: str | None) -> list[str]:
    return [each.strip() for each in (text or "").split(",") if each.strip()]
