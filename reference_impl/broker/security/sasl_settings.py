"""What a SASL listener is told: its mechanisms, its users, how long a session lasts.

A setting with the listener's prefix goes before one without; `connections.max.reauth.ms` may have
the mechanism's prefix as well. Each mechanism needs a login module, as Kafka needs one, even SCRAM,
whose users the cluster keeps.

Sources: SaslChannelBuilder, JaasContext.loadServerContext, BrokerSecurityConfigs at 1.0.2, 2.8.2
and 4.0; KIP-84, KIP-103, KIP-306, KIP-368.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from touchstone.reference_impl.broker.configs.listener_settings import (
    ENABLED_MECHANISMS,
    ListenerSettings,
    mechanisms,
    of_listener,
    prefix,
)
from touchstone.reference_impl.broker.security.jwks_settings import SignedSettings
from touchstone.reference_impl.broker.security.mechanism import NewSaslServer
from touchstone.reference_impl.broker.security.oauthbearer import OAuthBearer, Validator
from touchstone.reference_impl.broker.security.plain import Plain
from touchstone.reference_impl.broker.security.scram import Scram
from touchstone.reference_impl.broker.security.scram_accounts import ScramAccounts
from touchstone.reference_impl.broker.security.signed_tokens import Keys, SignedTokens
from touchstone.reference_impl.broker.security.unsecured_tokens import TokenRules
from touchstone.reference_impl.cluster.scram_credentials import NUMBERS
from touchstone.reference_impl.extras import MissingExtra
from touchstone.reference_impl.security import jaas

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.personas.persona import Persona
    from touchstone.reference_impl.cluster.topology import Cluster

PLAIN, OAUTHBEARER = "PLAIN", "OAUTHBEARER"
MAX_REAUTH, MAX_RECEIVE = "connections.max.reauth.ms", "sasl.server.max.receive.size"
FAILURE_DELAY = "connection.failed.authentication.delay.ms"
CALLBACK_HANDLER = "sasl.server.callback.handler.class"
_USER = "user_"
_SIGNATURES = "touchstone.reference_impl.security.signatures"  # loads PyJWT
_KAFKAS, _HANDLER = "org.apache.kafka.", ".OAuthBearerValidatorCallbackHandler"
_MODULES = {
    PLAIN: "org.apache.kafka.common.security.plain.PlainLoginModule",
    OAUTHBEARER: "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule",
    **dict.fromkeys(NUMBERS, "org.apache.kafka.common.security.scram.ScramLoginModule"),
}


class Mechanism(NamedTuple):
    name: str
    module: jaas.LoginModule
    session_ms: int  # how long a session may last; 0 for any time
    signed: SignedSettings | None = None  # of OAUTHBEARER, where its tokens are signed


class SaslSettings(NamedTuple):
    mechanisms: Mapping[str, Mechanism]
    max_receive: int  # bytes of a frame before the peer is known
    failure_delay_ms: int

    @property
    def signed_tokens(self) -> SignedSettings | None:
        """None where the listener takes none."""
        found = self.mechanisms.get(OAUTHBEARER)
        return None if found is None else found.signed

    @classmethod
    def of(cls, config: Mapping[str, str], listener: str, persona: Persona) -> SaslSettings:
        """ValueError for what cannot be obeyed, or what Kafka would not start with."""
        names = mechanisms(config, listener)
        if not names:
            raise ValueError(f"No SASL mechanisms are enabled: {ENABLED_MECHANISMS}")
        found = {name: _mechanism(config, listener, name, persona) for name in names}
        number = partial(_number, config, listener)
        return cls(found, number(MAX_RECEIVE, 524_288), number(FAILURE_DELAY, 100))


def check(config: Mapping[str, str], persona: Persona) -> None:
    """Raise ValueError, with one line, for a SASL listener that cannot be what it is told to be."""
    for listener in ListenerSettings.of(config).listeners:
        if listener.sasl:
            SaslSettings.of(config, listener.name, persona)


def exchanges(
    settings: SaslSettings,
    persona: Persona,
    cluster: Cluster,
    token_key: str | None,
    keys: Keys | None,
) -> dict[str, NewSaslServer]:
    """How an exchange of each mechanism begins; `keys` are those of signed tokens."""
    found: dict[str, NewSaslServer] = {}
    for name, each in settings.mechanisms.items():
        if name == PLAIN:
            found[name] = _plain(each, persona)
        elif name == OAUTHBEARER:
            base64 = persona.quirk("sasl.bearer-tokens-are-base64")
            found[name] = partial(OAuthBearer, _validator(each, keys), base64=base64)
        else:
            users, tokens = cluster.client_settings, cluster.delegation_tokens
            accounts = ScramAccounts(name, users, tokens, token_key)
            found[name] = _scram(name, persona, accounts)
    return found


def _mechanism(config: Mapping[str, str], listener: str, name: str, persona: Persona) -> Mechanism:
    if name not in _MODULES:
        raise ValueError(f"{ENABLED_MECHANISMS}: {name} is not obeyed, so it is refused")
    validates = _validates_signatures(config, listener, name, persona)
    setting = f"{name.lower()}.{jaas.SETTING}"
    text = of_listener(config, listener, setting)
    if text is None:
        raise ValueError(
            f"Could not find a 'KafkaServer' or '{listener.lower()}.KafkaServer' entry in the JAAS"
            f" configuration: {prefix(listener)}{setting} is not set"
        )
    try:
        module = jaas.parse(text)
    except ValueError as fault:
        raise ValueError(f"{prefix(listener)}{setting}: {fault}") from None
    if module.name != _MODULES[name]:
        raise ValueError(
            f"{prefix(listener)}{setting} names {module.name}, which is not obeyed: {name} is"
            f" served by {_MODULES[name]}"
        )
    if name == OAUTHBEARER and not validates:
        TokenRules.of(module.options)
    session = _number(config, listener, MAX_REAUTH, 0)
    return Mechanism(
        name,
        module,
        _number(config, listener, f"{name.lower()}.{MAX_REAUTH}", session),
        SignedSettings.of(config, listener, persona, module.options) if validates else None,
    )


def _validates_signatures(
    config: Mapping[str, str], listener: str, name: str, persona: Persona
) -> bool:
    """Whether the listener has Kafka's handler for signed tokens; ValueError for any other class.

    Kafka loads one only where its setting has the prefixes of both listener and mechanism.
    """
    setting = f"{name.lower()}.{CALLBACK_HANDLER}"
    found = (of_listener(config, listener, setting) or "").strip()
    if not found:
        return False
    known: tuple[str, ...] = persona.quirk("sasl.signed-token-handlers")
    if found.startswith(_KAFKAS) and found.endswith(_HANDLER) and found not in known:
        raise ValueError(
            f"Invalid value {found} for configuration {CALLBACK_HANDLER}: Class {found} could not"
            " be found."
        )
    full = prefix(listener) + setting
    if name != OAUTHBEARER or found not in known or full not in config:
        raise ValueError(f"{setting}={found} is not obeyed, so it is refused: no class of yours is"
                         " loaded here")  # fmt: skip
    try:
        import_module(_SIGNATURES)
    except ImportError as missing:
        raise MissingExtra(f"{full} needs {missing.name}", "oauthbearer") from None
    return True


def _number(config: Mapping[str, str], listener: str, name: str, default: int) -> int:
    text = of_listener(config, listener, name)
    if text is None:
        return default
    if not text.strip().lstrip("-").isdecimal():
        raise ValueError(f"Invalid value {text} for configuration {name}: Not a number")
    return int(text)


def _validator(mechanism: Mechanism, keys: Keys | None) -> Validator:
    if mechanism.signed is None:
        return TokenRules.of(mechanism.module.options)
    return SignedTokens(mechanism.signed.tokens, keys)


def _plain(mechanism: Mechanism, persona: Persona) -> Callable[[], Plain]:
    options = mechanism.module.options
    passwords = {
        name.removeprefix(_USER): value for name, value in options.items() if name.startswith(_USER)
    }
    says = persona.quirk("sasl.plain-says-what-is-missing")
    return partial(Plain, passwords, says_what_is_missing=says)


def _scram(name: str, persona: Persona, accounts: ScramAccounts) -> Callable[[], Scram]:
    return partial(
        Scram,
        name,
        accounts,
        token_sessions_end=persona.quirk("sasl.token-sessions-end"),
        repeats_nonce=persona.quirk("sasl.scram-nonce-is-repeated"),
        hears_extensions=persona.quirk("sasl.scram-hears-extensions"),
    )
