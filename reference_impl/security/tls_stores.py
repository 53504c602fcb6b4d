"""Where TLS keys and trusted certificates come from, in the settings that both ends share.

A store is a PEM file, PEM text in the settings themselves (KIP-651), a PKCS12 file, or one of
Java's own, JKS. Refusals are ValueErrors with Kafka's message where Kafka
has one.

Sources: DefaultSslEngineFactory, SslConfigs at 2.8.2 and 4.0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

PEM, PKCS12, JKS = "PEM", "PKCS12", "JKS"
ENGINE = "ssl.engine.factory.class"
NO_ENGINE = f"{ENGINE} is not obeyed, so it is refused: no class is loaded here"
_VERSIONS = ("TLSv1.2", "TLSv1.3")
_INVALID = "org.apache.kafka.common.errors.InvalidConfigurationException"
_UNLOADED = "org.apache.kafka.common.KafkaException"
_KEY_PASSWORD_ONLY = (
    "SSL key store password cannot be specified with PEM format, only key password may be specified"
)
_NO_TRUST_PASSWORD = "SSL trust store password cannot be specified for PEM format."
RELOADED = (  # SslConfigs.RECONFIGURABLE_CONFIGS
    "ssl.keystore.type", "ssl.keystore.location", "ssl.keystore.password", "ssl.key.password",
    "ssl.keystore.certificate.chain", "ssl.keystore.key", "ssl.truststore.type",
    "ssl.truststore.location", "ssl.truststore.password", "ssl.truststore.certificates",
)  # fmt: skip


class UnreadableStore(ValueError):
    """A store that cannot be read: in Kafka's words (`said`), the class of its exception (`java`),
    and why.
    """

    def __init__(self, said: str, why: object, *, pem: bool) -> None:
        super().__init__(f"{said}: {why}")
        self.said, self.java = said, _INVALID if pem else _UNLOADED


class Store(NamedTuple):
    """A key store or a trust store: a file, or PEM text."""

    kind: str
    path: str | None
    password: str | None
    text: str | None = None
    key: str | None = None  # PEM text of the private key


Said = Callable[[str], str | None]  # a setting by its name


def keys_of(said: Said) -> Store | None:
    """The key and its chain; None where none is told."""
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
        if path is not None:
            raise ValueError("Both SSL key store location and separate private key are specified.")
        if password is not None:
            raise ValueError(_KEY_PASSWORD_ONLY + ".")
        return Store(PEM, None, None, chain, key)
    if chain is not None:
        raise ValueError("SSL certificate chain is specified, but private key is not specified")
    if path is None:
        if password is not None and kind != PEM:
            raise ValueError("SSL key store is not specified, but key store password is specified.")
        return None
    if kind == PEM and password is not None:
        raise ValueError(_KEY_PASSWORD_ONLY)
    if kind != PEM and password is None:
        raise ValueError("SSL key store is specified, but key store password is not specified.")
    return Store(kind, path, password)


def trusted_of(said: Said) -> Store | None:
    """Whom to trust; None for whom the system trusts."""
    text, path = said("ssl.truststore.certificates"), said("ssl.truststore.location")
    kind, password = said("ssl.truststore.type") or JKS, said("ssl.truststore.password")
    if text is not None:
        if kind != PEM:
            raise ValueError(
                f"SSL trust store certs can be specified only for PEM, but trust store type is"
                f" {kind}."
            )
        if path is not None:
            raise ValueError(
                "Both SSL trust store location and separate trust certificates are specified."
            )
        if password is not None:
            raise ValueError(_NO_TRUST_PASSWORD)
        return Store(PEM, None, None, text)
    if path is None:
        if password is not None and kind != PEM:
            raise ValueError(
                "SSL trust store is not specified, but trust store password is specified."
            )
        return None
    if kind == PEM and password is not None:
        raise ValueError(_NO_TRUST_PASSWORD)
    return Store(kind, path, password)


def versions_of(said: Said) -> tuple[str, ...]:
    """Of those that are enabled the ones that are spoken here; older ones nobody should speak."""
    named = listed(said("ssl.enabled.protocols")) or [*_VERSIONS]
    found = tuple(version for version in _VERSIONS if version in named)
    if not found:
        raise ValueError(f"ssl.enabled.protocols={','.join(named)} is not obeyed: there is"
                         f" {' and '.join(_VERSIONS)}")  # fmt: skip
    return found


def listed(text: str | None) -> list[str]:
    """A comma separated list of a setting, without empty elements."""
    return [each.strip() for each in (text or "").split(",") if each.strip()]
