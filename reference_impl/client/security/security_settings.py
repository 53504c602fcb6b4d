"""What Java's option names say of a client's security, and what of it is refused by name.

`security.protocol` says whether there is TLS and whether there is SASL. Stores are PEM or PKCS12
(`reference_impl/security/tls_stores.py`). SASL is PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 and
OAUTHBEARER, with tokens that a file or a server has signed (`token_settings`), or unsecured ones;
`sasl.jaas.config` names the login module and its options. A
username or password that is missing is refused here; Java notices at its first connection.

Sources: ClientUtils.createChannelBuilder, ChannelBuilders, JaasContext.loadClientContext,
PlainLoginModule, ScramLoginModule, OAuthBearerLoginModule at 4.3.1.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from touchstone.reference_impl.security import jaas
from touchstone.reference_impl.security.scram import HASHES, TOKEN_AUTHENTICATION
from touchstone.reference_impl.security.tls_stores import (
    ENGINE,
    NO_ENGINE,
    Store,
    keys_of,
    listed,
    trusted_of,
    versions_of,
)

from ..configs.client_config import ClientConfig
from ..configs.parsing import ConfigException, Password
from .mechanisms import NewSaslClient, OAuthBearer, Plain, Scram
from .token_settings import HANDLER, TokenSource, source_of
from .unsecured_tokens import UnsecuredLogin

PROTOCOL, MECHANISM = "security.protocol", "sasl.mechanism"
_IDENTIFICATION = "ssl.endpoint.identification.algorithm"
_PACKAGE = "org.apache.kafka.common.security"
_PASSWORDS = (f"{_PACKAGE}.plain.PlainLoginModule", f"{_PACKAGE}.scram.ScramLoginModule")
_BEARER = f"{_PACKAGE}.oauthbearer.OAuthBearerLoginModule"
MECHANISMS = ("PLAIN", *HASHES, "OAUTHBEARER")
_CLASSES = (  # what Java would load
    "sasl.client.callback.handler.class",
    "sasl.login.callback.handler.class",
    "sasl.login.class",
    "security.providers",
    "ssl.provider",
)


class TlsClientSettings(NamedTuple):
    keys: Store | None  # None: no certificate is shown
    key_password: str | None
    trusted: Store | None  # None: whom the system trusts
    versions: tuple[str, ...]
    suites: tuple[str, ...]  # none: the library's
    checks_host: bool  # whether the certificate has to be of the host that was asked for


class SaslClientSettings(NamedTuple):
    mechanism: str
    new_client: NewSaslClient | None  # None: what one needs comes from `tokens`, which `io` reads
    tokens: TokenSource | None = None


class SecuritySettings(NamedTuple):
    tls: TlsClientSettings | None
    sasl: SaslClientSettings | None

    @classmethod
    def of(cls, config: ClientConfig) -> SecuritySettings:
        """Raises ConfigException, with one line that names the setting, for what is not obeyed."""
        protocol = (config[PROTOCOL] or "PLAINTEXT").upper()
        try:
            return cls(
                _tls(config) if protocol.endswith("SSL") else None,
                _sasl(config) if protocol.startswith("SASL_") else None,
            )
        except ValueError as fault:
            raise ConfigException(str(fault)) from None


PLAINTEXT = SecuritySettings(None, None)


def _said(config: ClientConfig, name: str) -> str | None:
    """A setting as the text that was given."""
    value = config[name]
    if isinstance(value, Password):
        return value.value
    if isinstance(value, bool | int):
        return str(value).lower()
    return ",".join(value) if isinstance(value, list) else value


def _refuse_classes(config: ClientConfig) -> None:
    """The class that hands out bearer tokens is looked at elsewhere (`source_of`)."""
    if config[ENGINE] is not None:
        raise ValueError(NO_ENGINE)
    for name in _CLASSES:
        known = name == HANDLER and config[MECHANISM] == "OAUTHBEARER"
        if config[name] is not None and not known:
            raise ValueError(f"{name} is not obeyed, so it is refused: no class is loaded here")


def _tls(config: ClientConfig) -> TlsClientSettings:
    _refuse_classes(config)
    said = partial(_said, config)
    algorithm = (said(_IDENTIFICATION) or "").lower()
    if algorithm not in ("", "https"):
        raise ValueError(f"{_IDENTIFICATION}={algorithm} is not obeyed, so it is refused")
    return TlsClientSettings(
        keys_of(said),
        said("ssl.key.password"),
        trusted_of(said),
        versions_of(said),
        tuple(listed(said("ssl.cipher.suites"))),
        algorithm == "https",
    )


def _sasl(config: ClientConfig) -> SaslClientSettings:
    said = partial(_said, config)
    _refuse_classes(config)
    mechanism = config[MECHANISM]
    if mechanism not in MECHANISMS:
        raise ValueError(
            f"{MECHANISM}={mechanism} is not obeyed, so it is refused: there is"
            f" {', '.join(MECHANISMS)}"
        )
    text = said(jaas.SETTING)
    if text is None:
        raise ValueError(
            "Could not find a 'KafkaClient' entry in the JAAS configuration. System property"
            " 'java.security.auth.login.config' is not set"
        )
    module = jaas.parse(text)
    signed = mechanism == "OAUTHBEARER" and module.name == _BEARER
    if signed and (source := source_of(said, module.options)) is not None:
        return SaslClientSettings(mechanism, None, source)
    return SaslClientSettings(mechanism, _new_client(mechanism, module))


def _new_client(mechanism: str, module: jaas.LoginModule) -> NewSaslClient:
    wanted = (_BEARER,) if mechanism == "OAUTHBEARER" else _PASSWORDS
    if module.name not in wanted:
        raise ValueError(
            f"{jaas.SETTING} names {module.name}, which is not obeyed: {mechanism} is served by"
            f" {' and '.join(wanted)}"
        )
    if mechanism == "OAUTHBEARER":
        return _bearer(UnsecuredLogin(module.options))
    options = module.options
    user, password = options.get("username"), options.get("password")
    if not user or not password:
        raise ValueError(f"{jaas.SETTING}: {mechanism} needs a username and a password")
    if mechanism == "PLAIN":
        return lambda: Plain(user, password)
    by_token = options.get(TOKEN_AUTHENTICATION, "").lower() == "true"
    by_token = by_token and module.name == _PASSWORDS[1]
    extensions = {TOKEN_AUTHENTICATION: "true"} if by_token else {}
    return lambda: Scram(mechanism, user, password, extensions)


def _bearer(login: UnsecuredLogin) -> Callable[[], Any]:
    return lambda: OAuthBearer(login.token, login.extensions)
