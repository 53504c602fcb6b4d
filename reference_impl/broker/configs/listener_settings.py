"""Which listeners a broker has is read from its settings, and refused in Kafka's words.

`listeners` names them; `listener.security.protocol.map` says how each is spoken to;
`inter.broker.listener.name` or `security.inter.broker.protocol` says which of them brokers would
use among themselves. Brokers of one process need none, so that listener is only the one whose
address the registry names first. Listeners of controllers (`controller.listener.names`) are left
out: the metadata log is in this process.

Sources: KIP-103; KafkaConfig.validateValues, CoreUtils.listenerListToEndPoints, EndPoint at 1.0.2,
2.8.2 and 4.0.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from touchstone.reference_impl.cluster import hash_order
from touchstone.reference_impl.cluster.endpoints import PLAINTEXT, PROTOCOLS, Address

LISTENERS, ADVERTISED = "listeners", "advertised.listeners"
MAP = "listener.security.protocol.map"
INTER_BROKER_NAME = "inter.broker.listener.name"
INTER_BROKER_PROTOCOL = "security.inter.broker.protocol"
INTER_BROKER_MECHANISM = "sasl.mechanism.inter.broker.protocol"
ENABLED_MECHANISMS = "sasl.enabled.mechanisms"
CONTROLLERS = "controller.listener.names"
DEFAULT_MECHANISM = "GSSAPI"
_URI = re.compile(r"(.*)://\[?([0-9a-zA-Z%._:-]*)\]?:(-?[0-9]+)")  # EndPoint.uriParseExp
_PREFIXED = re.compile(r"listener\.name\.[^.]*\.(.*)")  # DynamicBrokerConfig.ListenerConfigRegex
_MOST = 65535
NOWHERE = "0.0.0.0"  # means every interface to who listens and nothing to who connects
UNREACHABLE = (
    f"{ADVERTISED} cannot use the nonroutable meta-address {NOWHERE}. Use a routable IP address."
)
_BY_PROTOCOL = {protocol: protocol for protocol in PROTOCOLS}  # listeners named after theirs


class EndpointsRefused(ValueError):
    """`listeners` names what cannot be had. `cause` is what is wrong; `port`: of two of them."""

    def __init__(self, cause: str, port: int | None = None) -> None:
        super().__init__(cause)
        self.cause, self.port = cause, port


class TwoAlike(EndpointsRefused):
    """Two listeners have one name, or one port."""


class Unmet(ValueError):
    """What KafkaConfig requires of all settings together is not so."""


class Listener(NamedTuple):
    """`host` is empty where the setting names none, `port` 0 where the system chooses one."""

    name: str
    protocol: str
    host: str
    port: int

    @property
    def java(self) -> str:
        """Its name as Java prints it."""
        return f"ListenerName({self.name})"

    @property
    def sasl(self) -> bool:
        return self.protocol.startswith("SASL_")

    @property
    def tls(self) -> bool:
        return self.protocol.endswith("SSL")

    @property
    def authenticates(self) -> bool:
        """Whether nobody is served before saying who they are."""
        return self.sasl


class ListenerSettings(NamedTuple):
    listeners: tuple[Listener, ...]  # in the order of the setting
    inter_broker: str  # the name of one of them

    @classmethod
    def of(cls, config: Mapping[str, str], host: str = "", port: int = 0) -> ListenerSettings:
        """Without `listeners` there is one, PLAINTEXT, on `host` and `port`; ValueError for what
        Kafka refuses.
        """
        text = config.get(LISTENERS)
        protocols = _protocols(config)
        if text is None:
            rows = [(PLAINTEXT, host, port)]
        else:
            rows = endpoints(LISTENERS, text)
            _check_names(rows, text)
            _check_ports(rows, text)
        controllers = controllers_of(config)
        found = tuple(
            Listener(name, _protocol(name, protocols), at, number)
            for name, at, number in rows
            if name not in controllers
        )
        inter_broker = _inter_broker(config, protocols)
        if found or config.get(ADVERTISED):
            _check_inter_broker(config, found, [name for name, _, _ in rows], inter_broker)
        if not found:
            raise ValueError("There must be at least one broker advertised listener.")
        return cls(found, inter_broker)


def endpoints(setting: str, text: str) -> list[tuple[str, str, int]]:
    """(listener, host, port) of each entry of `listeners` or `advertised.listeners`."""
    found = []
    for entry in filter(None, (each.strip() for each in text.split(","))):
        parts = _URI.fullmatch(entry)
        if parts is None or not 0 <= int(parts[3]) <= _MOST:
            raise EndpointsRefused(f"Unable to parse {entry} to a broker endpoint")
        found.append((parts[1].upper(), parts[2], int(parts[3])))
    return found


def controllers_of(config: Mapping[str, str]) -> set[str]:
    """Return the names of listeners that are the controllers', which clients are not told of."""
    return set(_names(config.get(CONTROLLERS, "")))


def check_controllers(config: Mapping[str, str]) -> None:
    """Whether there is a listener of controllers, where their names are told; Unmet if not."""
    names = {name for name, _, _ in endpoints(LISTENERS, config.get(LISTENERS, ""))}
    controllers = controllers_of(config)
    if controllers and not controllers & names:
        raise Unmet(
            f"{CONTROLLERS} must contain at least one value appearing in the 'listeners'"
            " configuration when running the KRaft controller role"
        )


def prefix(listener: str) -> str:
    """What stands before a setting that is this listener's alone (ListenerName.configPrefix)."""
    return f"listener.name.{listener.lower()}."


def is_of_a_listener(name: str) -> bool:
    """Whether a setting is one listener's alone."""
    return _PREFIXED.fullmatch(name) is not None


def without_prefix(name: str) -> str:
    """What stands behind the prefix of a listener's setting; other names are as they are."""
    found = _PREFIXED.fullmatch(name)
    return found[1] if found else name


def of_listener(config: Mapping[str, str], listener: str, name: str) -> str | None:
    """A setting as this listener has it: its own, else everybody's."""
    return config.get(prefix(listener) + name, config.get(name))


def mechanisms(config: Mapping[str, str], listener: str) -> tuple[str, ...]:
    """The SASL mechanisms that are enabled on this listener, as they are written."""
    text = of_listener(config, listener, ENABLED_MECHANISMS)
    return tuple(_names(DEFAULT_MECHANISM if text is None else text, upper=False))


def _names(text: str, *, upper: bool = True) -> Iterable[str]:
    words = filter(None, (each.strip() for each in text.split(",")))
    return (word.upper() for word in words) if upper else words


def _protocols(config: Mapping[str, str]) -> Mapping[str, str]:
    text = config.get(MAP)
    if text is None:
        return _BY_PROTOCOL
    pairs = (pair.partition(":") for pair in text.split(",") if pair.strip())
    found = {name.strip().upper(): protocol.strip() for name, _, protocol in pairs}
    for protocol in found.values():
        if protocol not in PROTOCOLS:
            raise ValueError(f"Invalid security protocol `{protocol}` defined in {MAP}")
    return found


def _protocol(name: str, protocols: Mapping[str, str]) -> str:
    if name not in protocols:
        raise EndpointsRefused(f"No security protocol defined for listener {name}")
    return protocols[name]


def _check_names(rows: list[tuple[str, str, int]], text: str) -> None:
    if len({name for name, _, _ in rows}) < len(rows):
        raise TwoAlike(f"Each listener must have a different name, listeners: {text}")


def _check_ports(rows: list[tuple[str, str, int]], text: str) -> None:
    ports = [port for _, _, port in rows if port]
    if len(set(ports)) < len(ports):
        (port, _), *_ = Counter(ports).most_common(1)
        raise TwoAlike(f"Each listener must have a different port, listeners: {text}", port)


def _inter_broker(config: Mapping[str, str], protocols: Mapping[str, str]) -> str:
    name = config.get(INTER_BROKER_NAME)
    if name is None:
        protocol = config.get(INTER_BROKER_PROTOCOL, PLAINTEXT)
        if protocol not in PROTOCOLS:
            raise ValueError(
                f"Invalid security protocol `{protocol}` defined in {INTER_BROKER_PROTOCOL}"
            )
        return protocol
    if INTER_BROKER_PROTOCOL in config:
        raise ValueError(
            f"Only one of {INTER_BROKER_NAME} and {INTER_BROKER_PROTOCOL} should be set."
        )
    if name.upper() not in protocols:
        raise ValueError(
            f"Listener with name {name.upper()} defined in {INTER_BROKER_NAME} not found in {MAP}."
        )
    return name.upper()


def _check_inter_broker(
    config: Mapping[str, str],
    listeners: tuple[Listener, ...],
    names: list[str],
    inter_broker: str,
) -> None:
    """`names` are those of all listeners, with the controllers'."""
    told = config.get(ADVERTISED)
    advertised = [each.name for each in listeners]
    if told and "://" in told:
        advertised = [name for name, _, _ in endpoints(ADVERTISED, told)]
    if inter_broker not in advertised:
        raise Unmet(
            f"{INTER_BROKER_NAME} must be a listener name defined in {ADVERTISED}. The valid"
            f" options based on currently configured listeners are {_listed(advertised)}"
        )
    if set(advertised) - set(names):
        raise Unmet(
            f"{ADVERTISED} listener names must be equal to or a subset of the ones defined in"
            f" {LISTENERS}. Found {_listed(advertised)}. The valid options based on the"
            f" current configuration are {_listed(names)}"
        )
    if any(host == NOWHERE for host, _ in advertised_at(config).values()):
        raise Unmet(UNREACHABLE)
    (listener,) = (each for each in listeners if each.name == inter_broker)
    mechanism = config.get(INTER_BROKER_MECHANISM, DEFAULT_MECHANISM)
    if listener.sasl and mechanism not in mechanisms(config, inter_broker):
        raise Unmet(
            f"{INTER_BROKER_MECHANISM} must be included in {ENABLED_MECHANISMS} when SASL is used"
            " for inter-broker communication"
        )


def _listed(names: list[str]) -> str:
    """As a set of Scala has them."""
    return ",".join(hash_order.immutable_212(names))


def advertised_at(config: Mapping[str, str]) -> dict[str, Address]:
    """What the setting of a lone broker advertises, by listener."""
    text = config.get(ADVERTISED, "")
    if "://" not in text:
        return {}
    return {name: (host, port) for name, host, port in endpoints(ADVERTISED, text)}
