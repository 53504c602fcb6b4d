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
from typing import TYPE_CHECKING, NamedTuple

from touchstone.reference_impl.broker.configs.listener_settings import (
    ENABLED_MECHANISMS,
    ListenerSettings,
    mechanisms,
    of_listener,
    prefix,
)
from touchstone.reference_impl.broker.security.mechanism import NewSaslServer
from touchstone.reference_impl.broker.security.oauthbearer import OAuthBearer, TokenRules
from touchstone.reference_impl.broker.security.plain import Plain
from touchstone.reference_impl.broker.security.scram import Scram
from touchstone.reference_impl.broker.security.scram_accounts import ScramAccounts
from touchstone.reference_impl.cluster.scram_credentials import NUMBERS
from touchstone.reference_impl.security import jaas

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.personas.persona import Persona
    from touchstone.reference_impl.cluster.topology import Cluster

PLAIN, OAUTHBEARER = "PLAIN", "OAUTHBEARER"
MAX_REAUTH, MAX_RECEIVE = "connections.max.reauth.ms", "sasl.server.max.receive.size"
FAILURE_DELAY = "connection.failed.authentication.delay.ms"
CALLBACK_HANDLER = "sasl.server.callback.handler.class"
_USER = "user_"
_MODULES = {
    PLAIN: "org.apache.kafka.common.security.plain.PlainLoginModule",
    OAUTHBEARER: "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule",
    **dict.fromkeys(NUMBERS, "org.apache.kafka.common.security.scram.ScramLoginModule"),
}


class Mechanism(NamedTuple):
    name: str
    module: jaas.LoginModule
    session_ms: int  # how long a session may last; 0 for any time


class SaslSettings(NamedTuple):
    mechanisms: Mapping[str, Mechanism]
    max_receive: int  # bytes of a frame before the peer is known
    failure_delay_ms: int

    @classmethod
    def of(cls, config: Mapping[str, str], listener: str) -> SaslSettings:
        """ValueError for what cannot be obeyed, or what Kafka would not start with."""
        names = mechanisms(config, listener)
        if not names:
            raise ValueError(f"No SASL mechanisms are enabled: {ENABLED_MECHANISMS}")
        found = {name: _mechanism(config, listener, name) for name in names}
        number = partial(_number, config, listener)
        return cls(found, number(MAX_RECEIVE, 524_288), number(FAILURE_DELAY, 100))


def check(config: Mapping[str, str]) -> None:
    """Raise ValueError, with one line, for a SASL listener that cannot be what it is told to be."""
    for listener in ListenerSettings.of(config).listeners:
        if listener.sasl:
            SaslSettings.of(config, listener.name)


def exchanges(
    settings: SaslSettings, persona: Persona, cluster: Cluster, token_key: str | None
) -> dict[str, NewSaslServer]:
    """How an exchange of each mechanism begins."""
    found: dict[str, NewSaslServer] = {}
    for name, each in settings.mechanisms.items():
        if name == PLAIN:
            found[name] = _plain(each, persona)
        elif name == OAUTHBEARER:
            base64 = persona.quirk("sasl.bearer-tokens-are-base64")
            rules = TokenRules.of(each.module.options)
            found[name] = partial(OAuthBearer, rules, base64=base64)
        else:
            users, tokens = cluster.client_settings, cluster.delegation_tokens
            accounts = ScramAccounts(name, users, tokens, token_key)
            found[name] = _scram(name, persona, accounts)
    return found


def _mechanism(config: Mapping[str, str], listener: str, name: str) -> Mechanism:
    if name not in _MODULES:
        raise ValueError(f"{ENABLED_MECHANISMS}: {name} is not obeyed, so it is refused")
    handler = f"{name.lower()}.{CALLBACK_HANDLER}"
    if of_listener(config, listener, handler):
        raise ValueError(f"{handler} is not obeyed, so it is refused: no class is loaded here")
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
    if name == OAUTHBEARER:
        TokenRules.of(module.options)
    session = _number(config, listener, MAX_REAUTH, 0)
    return Mechanism(
        name, module, _number(config, listener, f"{name.lower()}.{MAX_REAUTH}", session)
    )


def _number(config: Mapping[str, str], listener: str, name: str, default: int) -> int:
    text = of_listener(config, listener, name)
    if text is None:
        return default
    if not text.strip().lstrip("-").isdecimal():
        raise ValueError(f"Invalid value {text} for configuration {name}: Not a number")
    return int(text)


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
        checks_nonce=persona.quirk("sasl.scram-checks-nonces"),
        hears_extensions=persona.quirk("sasl.scram-hears-extensions"),
    )
