"""A whole configuration: every name of a client with its value, given or by default.

`parse` is ConfigDef.parse with what all clients check across names (CommonClientConfigs at 4.3.1).
Names that nobody defines are kept and warned of, never refused (PROD-06): they may be a
serializer's or an interceptor's. A name that Java obeys and this client does not is warned of too.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from .definitions import NEWEST, RELEASES, REQUIRED, ClientKind, Definition, definitions
from .parsing import ConfigException, invalid, parse
from .validators import check, without_duplicates

LOG = logging.getLogger("touchstone.client.configs")
_PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
OF_CONNECTIONS = (
    *("client.id", "sasl.jaas.config", "sasl.mechanism", "security.protocol"),
    *("ssl.cipher.suites", "ssl.enabled.protocols", "ssl.endpoint.identification.algorithm"),
    *("ssl.key.password", "ssl.keystore.certificate.chain", "ssl.keystore.key"),
    *("ssl.keystore.location", "ssl.keystore.password", "ssl.keystore.type"),
    *("ssl.truststore.certificates", "ssl.truststore.location", "ssl.truststore.password"),
    "ssl.truststore.type",
)
_ONE_EACH_UP_TO = "2.8"  # AbstractConfig.logUnused: one line per name, later one for all of them


@dataclass(frozen=True, slots=True)
class ClientConfig:
    """What was given (`originals`) and what holds (`values`, every defined name)."""

    client: ClientKind
    release: str
    originals: Mapping[str, Any]
    values: dict[str, Any]

    def __getitem__(self, name: str) -> Any:
        """The value of a name; None where this release does not define it."""
        return self.values.get(name)

    def given(self, name: str) -> bool:
        return name in self.originals


@dataclass(frozen=True, slots=True)
class Option:
    """How this client obeys a name: the keyword argument of a core, and what is made of a value."""

    keyword: str
    made: Callable[[Any], Any] = lambda value: value


def parsed(client: ClientKind, given: Mapping[str, Any], release: str = NEWEST) -> ClientConfig:
    """Every name's value. Raises ConfigException with Java's message for the first bad one."""
    values = {
        name: _value(definition, given, release)
        for name, definition in definitions(client, release).items()
    }
    config = ClientConfig(client, release, dict(given), values)
    _check_security(config)
    _warn_of_static_backoff(config)
    _keep_reconnects_apart(config)
    return config


def options(
    config: ClientConfig, obeyed: Mapping[str, Option], *, elsewhere: Collection[str] = ()
) -> dict[str, Any]:
    """The keyword arguments that these values are for a core, and warnings about the others.

    `elsewhere` are names that somebody else obeys, as connections do `OF_CONNECTIONS`, so nothing
    is said about them.
    """
    known = config.values.keys()
    elsewhere = (*elsewhere, *OF_CONNECTIONS)
    unknown = [name for name in config.originals if name not in known and name not in elsewhere]
    _warn_of_unknown(unknown, config.release)
    for name in config.originals:
        if name in known and name not in obeyed and name not in elsewhere:
            LOG.warning("The configuration '%s' is not obeyed by this client.", name)
    return {
        option.keyword: option.made(config[name])
        for name, option in obeyed.items()
        if name in known
    }


def check_bootstrap(config: ClientConfig) -> None:
    """ClientUtils.parseAndValidateAddresses, the last thing that a client looks at."""
    if not config["bootstrap.servers"]:
        raise ConfigException("No resolvable bootstrap urls given in bootstrap.servers")


def _value(definition: Definition, given: Mapping[str, Any], release: str) -> Any:
    name = definition.name
    if name in given:
        value = parse(name, given[name], definition.type)
    elif definition.default is REQUIRED:
        raise ConfigException(
            f'Missing required configuration "{name}" which has no default value.'
        )
    else:
        value = definition.default
    if definition.valid.endswith("list") and isinstance(value, list):
        kept = without_duplicates(value)
        if len(kept) != len(value):
            LOG.warning(
                'Configuration key "%s" contains duplicate values. Duplicates will be removed.'
                " The original value is: %s, the updated value is: %s",
                name,
                value,
                kept,
            )
        value = kept
    check(name, value, definition.valid)
    return value


def _warn_of_unknown(names: Collection[str], release: str) -> None:
    if RELEASES.index(release) <= RELEASES.index(_ONE_EACH_UP_TO):
        for name in names:
            LOG.warning("The configuration '%s' was supplied but isn't a known config.", name)
    elif names:
        listed = f"[{', '.join(names)}]"
        LOG.warning("These configurations '%s' were supplied but are not used yet.", listed)


def _check_security(config: ClientConfig) -> None:
    protocol = (config["security.protocol"] or "").upper()
    if protocol not in _PROTOCOLS:  # up to 2.8 no validator has looked before
        kind = "org.apache.kafka.common.security.auth.SecurityProtocol"
        raise ConfigException(f"No enum constant {kind}.{protocol}")
    checked = RELEASES.index(config.release) > RELEASES.index(_ONE_EACH_UP_TO)
    if checked and protocol.startswith("SASL_") and not config["sasl.mechanism"]:
        why = (
            "When the security.protocol configuration enables SASL, mechanism must be non-null"
            " and non-empty string."
        )
        raise invalid("sasl.mechanism", None, why)


def _warn_of_static_backoff(config: ClientConfig) -> None:
    pairs = (
        ("retry.backoff", "backoff"),
        ("socket.connection.setup.timeout", "connection setup timeout"),
    )
    for stem, called in pairs:
        first, most = config[f"{stem}.ms"], config[f"{stem}.max.ms"]
        if most is not None and first > most:
            LOG.warning(
                "Configuration '%s.ms' with value '%s' is greater than configuration '%s.max.ms'"
                " with value '%s'. A static %s with value '%s' will be applied.",
                stem,
                first,
                stem,
                most,
                called,
                most,
            )


def _keep_reconnects_apart(config: ClientConfig) -> None:
    """Who sets the first pause alone wants it every time."""
    if config.given("reconnect.backoff.ms") and not config.given("reconnect.backoff.max.ms"):
        LOG.warning(
            "Disabling exponential reconnect backoff because reconnect.backoff.ms is set,"
            " but reconnect.backoff.max.ms is not."
        )
        config.values["reconnect.backoff.max.ms"] = config["reconnect.backoff.ms"]
