"""Which addresses the harness connects to: those on loopback, and those that the user named.

Brokers name addresses (in Metadata, FindCoordinator and their listeners), and whoever runs a broker
chooses them: it must not be able to have somebody else asked, in our user's name. So each
connection to a target is made by `connect`, which refuses an address that nobody gave, unless
`follow` was called (`--follow`). The state is the process's, because the promise is one of it.

An address may want a login (`login`): connections to it are logged in before they are given out, so
that whoever asks something sees what a PLAINTEXT listener shows. Other brokers of its cluster, and
addresses that it names, are logged in to alike (`same_login`).
"""

from __future__ import annotations

import contextlib
import errno
import ipaddress
import socket
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol
from weakref import WeakKeyDictionary

from touchstone.harness import shown

FLAG, COMMAND_CONFIG = "--follow", "--command-config"
PORTS = 1 << 16
LISTED = 5  # brokers that are told
NAME = 80  # characters of an address

Address = tuple[str, int]


class Login(Protocol):
    """What is done on a new connection before it is used (`login.Login`)."""

    def enter(self, connection: socket.socket, address: Address, seconds: float) -> socket.socket:
        """Log in; the socket to go on with, which is plain. Raises OSError."""

    @property
    def is_secured(self) -> bool:
        """Whether it is under TLS."""

    @property
    def authenticates(self) -> bool:
        """Whether it says who somebody is by SASL."""

    @property
    def identifies(self) -> bool:
        """Whether it says who somebody is, by SASL or by a certificate."""

    def unused(self) -> list[str]:
        """A line for what was given and is obeyed by nobody here."""

    def client_properties(self) -> dict[str, str]:
        """What a client is to be given, by Kafka's names."""

    def expiring(self, connection: socket.socket) -> bool:
        """Whether the session on it ends soon."""

    def renew(self, connection: socket.socket, seconds: float) -> None:
        """Begin another session on it, which carries nothing at the moment. Raises OSError."""


_given: set[Address] = set()
_logins: dict[Address, Login] = {}
_entered: WeakKeyDictionary[socket.socket, Login] = WeakKeyDictionary()
_asked: Login | None = None
_follows = False


class NotGiven(OSError):
    """A target named this address, it is not on loopback, and nobody has given it."""


class NotLoggedIn(ConnectionError):
    """The peer and the login that was given do not come together; `strerror` says why."""

    def __init__(self, why: str) -> None:
        super().__init__(errno.ECONNABORTED, why)


class LoginRefused(NotLoggedIn):
    """The peer does not believe who we are."""


class NoAnswer(NotLoggedIn, TimeoutError):
    """The peer was silent, or slow, when it was logged in to."""


def give(addresses: Iterable[Address]) -> None:
    """Let these addresses be asked: the user has named them."""
    _given.update(addresses)


def ask(login: Login | None) -> None:
    """Have targets that somebody else runs be logged in to so, those that are made from now on;
    None: no more.
    """
    global _asked
    _asked = login


def asked() -> Login | None:
    """The login that the user gave for them."""
    return _asked


def log_in(addresses: Iterable[Address], login: Login | None) -> None:
    """Have connections to these addresses logged in so; None: they are plain again."""
    for address in addresses:
        if login is None:
            _logins.pop(address, None)
        else:
            _logins[address] = login


def login_of(address: Address) -> Login | None:
    """How connections to this address log in; None where they do not."""
    return _logins.get(address)


def is_secured(address: Address) -> bool:
    """Whether connections to this address are under TLS."""
    login = _logins.get(address)
    return login is not None and login.is_secured


def is_anonymous(address: Address) -> bool:
    """Whether connections to this address do not say whose they are, by SASL or a certificate."""
    login = _logins.get(address)
    return login is None or not login.identifies


def client_properties(bootstrap: Iterable[Address | str]) -> dict[str, str]:
    """Return what a client is to be given so that it logs in there, by Kafka's names."""
    for one in bootstrap:
        host, port = one if isinstance(one, tuple) else (one.rpartition(":")[::2])
        login = _logins.get((host.strip("[]"), int(port)))
        if login is not None:
            return login.client_properties()
    return {}


def logins() -> dict[Address, Login]:
    """Every address that is logged in to, for another process, and how."""
    return dict(_logins)


def same_login(address: Address, others: Iterable[Address]) -> None:
    """Have others logged in to as this address is: it has named them."""
    if (login := _logins.get(address)) is not None:
        log_in([other for other in others if other not in _logins], login)


def follow(asked: bool = True) -> None:
    """Let every address be asked that a target names, or (False) no more."""
    global _follows
    _follows = asked


def connect(address: Address, seconds: float, *, bare: bool = False) -> socket.socket:
    """Return a connection to this address, made within `seconds`, and logged in on where it is to
    be, within as many more; not if it is to be `bare`. Raise OSError, also for what cannot be an
    address; NotGiven for one that nobody gave, NotLoggedIn for one that refuses the login.
    """
    made = _connected(address, seconds)
    return made if bare else entered(made, address, seconds)


def entered(made: socket.socket, address: Address, seconds: float) -> socket.socket:
    """Return the socket to go on with, logged in on where that is wanted. Raise OSError."""
    login = _logins.get(address)
    if login is None:
        return made
    found = login.enter(made, address, seconds)
    _entered[found] = login
    return found


def expiring(connection: socket.socket) -> bool:
    """Whether the session on a connection ends soon (KIP-368): `renew` it, or make another."""
    login = _entered.get(connection)
    return login is not None and login.expiring(connection)


def renew(connection: socket.socket, seconds: float) -> None:
    """Begin another session, where nothing is under way. Raise OSError."""
    _entered[connection].renew(connection, seconds)


def _connected(address: Address, seconds: float) -> socket.socket:
    if address in _given:
        return socket.create_connection(address, seconds)
    # By number: behind a name another one may stand the next time that it is looked up.
    return _first(_checked(address), seconds)


def why(error: OSError) -> str:
    """Why there is no connection, in words that are the same on every system."""
    if isinstance(error, NotGiven | NotLoggedIn):
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
