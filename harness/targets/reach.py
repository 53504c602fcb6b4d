"""Which addresses the harness connects to: those on loopback, and those that the user named.

Brokers name addresses (in Metadata, FindCoordinator and their listeners), and whoever runs a broker
chooses them: it must not be able to have somebody else asked, in our user's name. So each
connection to a target is made by `connect`, which refuses an address that nobody gave, unless
`follow` was called (`--follow`). The state is the process's, because the promise is one of it.
"""

from __future__ import annotations

import contextlib
import errno
import ipaddress
import socket
from collections.abc import Iterable, Mapping, Sequence

FLAG = "--follow"
PORTS = 1 << 16

Address = tuple[str, int]

_given: set[Address] = set()
_follows = False


class NotGiven(OSError):
    """A target named this address, it is not on loopback, and nobody has given it."""


def give(addresses: Iterable[Address]) -> None:
    """Let these addresses be asked: the user has named them."""
    _given.update(addresses)


def follow(asked: bool = True) -> None:
    """Let every address be asked that a target names, or (False) no more."""
    global _follows
    _follows = asked


def connect(address: Address, seconds: float) -> socket.socket:
    """Return a connection to this address, made within `seconds`. Raise OSError, also for what
    cannot be an address; NotGiven for one that nobody gave.
    """
    if not (address[0] and 0 < address[1] < PORTS):  # of a larger one the resolver takes the half
        raise OSError(errno.EADDRNOTAVAIL, f"no address: {address[0]!r}, port {address[1]}")
    try:
        if _follows or address in _given:
            return socket.create_connection(address, seconds)
        # By number: behind a name another one may stand the next time that it is looked up.
        return _first(_checked(address), seconds)
    except ValueError as error:  # a name with a label that is empty or too long
        raise OSError(errno.EADDRNOTAVAIL, f"no address: {error}") from error


def why(error: OSError) -> str:
    """Why there is no connection, in words that are the same on every system."""
    if isinstance(error, NotGiven):
        return str(error.strerror)
    return "timed out" if isinstance(error, TimeoutError) else type(error).__name__


def refusal(address: Address) -> str | None:
    """Why this address is not asked, None where it is, or where nothing is known to be there."""
    if _follows or address in _given:
        return None
    try:
        _checked(address)
    except NotGiven as refused:
        return str(refused.strerror)
    except (OSError, ValueError):
        return None
    return None


def refusals(brokers: Mapping[int, Address]) -> list[str]:
    """One line for each broker that is where nobody said: who it is, and why it is not asked."""
    found = {node: refusal(address) for node, address in brokers.items()}
    return [f"broker {node} is not asked: {why}" for node, why in sorted(found.items()) if why]


def _first(numbers: Sequence[Address], seconds: float) -> socket.socket:
    """A connection to the first of these that takes one. Raises the OSError of the last."""
    for number in numbers[:-1]:
        with contextlib.suppress(OSError):
            return socket.create_connection(number, seconds)
    return socket.create_connection(numbers[-1], seconds)


def _checked(address: Address) -> list[Address]:
    """The address by numbers, all of them on loopback or given. Raises NotGiven, OSError."""
    numbers = _numbers(address)
    if all(ipaddress.ip_address(host.partition("%")[0]).is_loopback for host, _ in numbers):
        return numbers
    known = {number for one in _given for number in _known(one)}
    if set(numbers) <= known:
        return numbers
    raise NotGiven(
        errno.EACCES,
        f"{address[0]}:{address[1]} is not on loopback and was not given, only named by the"
        f" target ({FLAG} asks there)",
    )


def _known(address: Address) -> list[Address]:
    try:
        return _numbers(address)
    except (OSError, ValueError):
        return []


def _numbers(address: Address) -> list[Address]:
    """The address with each number that stands for its name. Raises OSError, ValueError."""
    found = socket.getaddrinfo(*address, type=socket.SOCK_STREAM)
    return [(str(place[4][0]), int(place[4][1])) for place in found]
