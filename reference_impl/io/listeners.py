"""A broker advertises addresses beside those on which it listens (advertised.listeners).

Behind a proxy, in a container or on a machine with two names, the address a broker was bound to is
not one that its clients can use. Kafka's answer is a setting of each broker; brokers of one process
share their settings, so there the addresses of all are given as one list, one for each broker's
first listener, and only a lone broker may have the setting itself, which names listeners.

Sources: BRK-11 (port 0 stands for the bound port), BRK-29 (no host stands for the machine's name);
SocketServer.boundPort, KafkaConfig.validateValues and EndPoint at 1.0.2 and 4.3.1.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Mapping, Sequence

from touchstone.reference_impl.broker.configs.listener_settings import (
    NOWHERE,
    UNREACHABLE,
    Listener,
    ListenerSettings,
    advertised_at,
    controllers_of,
)
from touchstone.reference_impl.cluster.endpoints import PLAINTEXT, Address, Endpoint

SETTING = "advertised.listeners"
_HOW = "--advertised-listeners HOST:PORT or advertise=[...], one for each broker"
HIGHEST_PORT = 65535
_ENDPOINT = re.compile(r"(?:\w+://)?(?:\[([0-9a-zA-Z%._:-]*)\]|([0-9a-zA-Z%._-]*)):(\d{1,5})")


def require_size(brokers: int, port: int, racks: Sequence[str | None]) -> None:
    """Raise ValueError where so many brokers cannot be, or not on ports from this one on."""
    if brokers < 1:
        raise ValueError(f"brokers: 1 or more, not {brokers}")
    if len(racks) > brokers:
        raise ValueError(f"racks: {len(racks)} for {brokers} brokers")
    if port + brokers - 1 > HIGHEST_PORT:
        raise ValueError(f"port {port}: broker I listens on it + I, up to {HIGHEST_PORT}")


def advertised(
    given: Sequence[str], config: Mapping[str, str], brokers: int, host: str = "127.0.0.1"
) -> list[Address | None]:
    """The advertised address of each broker, `[PLAINTEXT://]HOST:PORT`; None for where it listens.

    ValueError for what cannot be one address for each broker, and where they listen on `host`, all
    interfaces, and nothing says under which of their addresses clients reach them.
    """
    word = config.get(SETTING)
    texts = list(given) or ([word] if word else [])
    if not texts:
        if host == NOWHERE:
            raise ValueError(f"{UNREACHABLE} ({_HOW})")
        return [None] * brokers
    if len(texts) != brokers:
        found = ",".join(texts)
        raise ValueError(f"{SETTING} names one address for each broker: {brokers}, not {found!r}")
    return [_address(text.strip()) for text in texts]


def _address(text: str) -> Address:
    parts = _ENDPOINT.fullmatch(text)
    if parts is None or int(parts[3]) > 65535:
        raise ValueError(f"{SETTING} is HOST:PORT, one listener a broker, not {text!r}")
    host = parts[1] or parts[2]
    if host == NOWHERE:
        raise ValueError(UNREACHABLE)
    return host, int(parts[3])


def resolved(said: Address | None, bound: Address) -> Address:
    """The address that clients are told of a broker that listens on `bound`."""
    if said is None:
        said = bound
    return said[0] or socket.getfqdn(), said[1] or bound[1]


def advertised_by_listener(
    given: Sequence[str], config: Mapping[str, str], brokers: int, settings: ListenerSettings
) -> list[Mapping[str, Address | None]]:
    """What each broker advertises, by listener: None stands for where it listens.

    A listener that is not among them is not advertised. ValueError as `advertised` raises it.
    """
    first, *more = settings.listeners
    text = config.get(SETTING, "")
    several = more or first.name != PLAINTEXT or len(text.split(",")) > 1
    if brokers == 1 and not given and several and text:
        told = advertised_at(config)
        if any(host == NOWHERE for host, _ in told.values()):
            raise ValueError(UNREACHABLE)
        controllers = controllers_of(config)  # named there as Kafka 3.9 and 4.x ship it (KIP-853)
        return [{name: at for name, at in told.items() if name not in controllers}]
    own: dict[str, Address | None] = dict.fromkeys(each.name for each in settings.listeners)
    open_to_all = next((each.host for each in more if each.host == NOWHERE), first.host)
    return [own | {first.name: told} for told in advertised(given, config, brokers, open_to_all)]


def endpoint(listener: Listener, told: Mapping[str, Address | None], bound: Address) -> Endpoint:
    """A listener that is bound, as its broker tells clients of it."""
    if listener.name not in told:
        return Endpoint(listener.name, listener.protocol, "", -1, bound)
    at = resolved(told[listener.name], bound)
    return Endpoint(listener.name, listener.protocol, *at, bound)


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches who listens there; a name counts as what it stands for."""
    try:  # as bytes: a name of type str costs the tables of IDNA, a megabyte, at every start
        rows = socket.getaddrinfo((host or NOWHERE).encode(), None)
    except OSError:
        return False
    found = {str(row[4][0]) for row in rows}
    return all(each.startswith("127.") or each == "::1" for each in found)
