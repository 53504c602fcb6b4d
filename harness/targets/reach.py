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

from touchstone.harness import shown

FLAG = "--follow"
PORTS = 1 << 16
LISTED = 5  # brokers that are told
NAME = 80  # characters of an address

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
    if address in _given:
        return socket.create_connection(address, seconds)
    # By number: behind a name another one may stand the next time that it is looked up.
    return _first(_checked(address), seconds)


def why(error: OSError) -> str:
    """Why there is no connection, in words that are the same on every system."""
    if isinstance(error, NotGiven):
        return str(error.strerror)
    return "timed out" if isinstance(error, TimeoutError) else type(error).__name__


def check(address: Address) -> None:
    """Raise NotGiven if this address is not asked, OSError if it cannot be one."""
    if address not in _given:
        _checked(address)


def refusal(address: Address) -> str | None:
    """Why this address is not asked, or cannot be; None where it is."""
    try:
        check(address)
    except NotGiven as refused:
        return str(refused.strerror)
    except OSError as error:
        return f"{named(address)}: {error.strerror or error}"
    return None


def refusals(brokers: Mapping[int, Address]) -> list[str]:
    """One line for each broker that is where nobody said: who it is, and why it is not asked. Of
    many the first are told.
    """
    found = {node: refusal(address) for node, address in sorted(brokers.items())}
    lines = [f"broker {node} is not asked: {why}" for node, why in found.items() if why]
    more = len(lines) - LISTED
    return [*lines[:LISTED], f"and {more:,} more brokers are not asked"] if more > 0 else lines


def named(address: Address) -> str:
    """Return an address as it is shown: a target may name anything."""
    host = shown.line(address[0])
    return f"{host if len(host) <= NAME else f'{host[:NAME]}...'}:{address[1]}"


def _first(numbers: Sequence[Address], seconds: float) -> socket.socket:
    """A connection to the first of these that takes one. Raises the OSError of the last."""
    for number in numbers[:-1]:
        with contextlib.suppress(OSError):
            return socket.create_connection(number, seconds)
    return socket.create_connection(numbers[-1], seconds)


def _checked(address: Address) -> list[Address]:
    """The address by numbers, all of them on loopback or given. Raises NotGiven, OSError."""
    numbers = _numbers(address)
    if _follows or all(_is_loopback(host) for host, _ in numbers):
        return numbers
    known = {number for one in _given for number in _known(one)}
    if set(numbers) <= known:
        return numbers
    raise NotGiven(
        errno.EACCES,
        f"{named(address)} is not on loopback and was not given, only named by the target"
        f" ({FLAG} asks there)",
    )


def _is_loopback(host: str) -> bool:
    return ipaddress.ip_address(host.partition("%")[0]).is_loopback


def _known(address: Address) -> list[Address]:
    try:
        return _numbers(address)
    except OSError:
        return []


def _numbers(address: Address) -> list[Address]:
    """The address with each number that stands for its name. Raises OSError."""
    if not (address[0] and 0 < address[1] < PORTS):  # the resolver takes the half of a larger one
        raise OSError(errno.EADDRNOTAVAIL, "no address")
    try:
        found = socket.getaddrinfo(*address, type=socket.SOCK_STREAM)
    except ValueError as error:  # a name with a label that is empty or too long
        raise OSError(errno.EADDRNOTAVAIL, f"no address: {error}") from error
    return [(str(place[4][0]), int(place[4][1])) for place in found]
