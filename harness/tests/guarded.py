"""A pytest plugin, and a function for fixtures, that lets a run connect to this machine alone.

Hostile targets name addresses of other people. Whoever would ask them is refused here, and what was
asked is written down, one line each: a test reads that nobody was. The harness's own questions are
waited for only briefly, for the sake of targets that answer none.
"""

from __future__ import annotations

import ipaddress
import os
import socket
from collections.abc import Callable
from typing import Any

import pytest

from touchstone.harness.driver import standing
from touchstone.harness.targets import external

FILE = "TOUCHSTONE_TEST_ASKED"  # the environment variable that names the file
SECONDS = 1.0


def guard(patch: pytest.MonkeyPatch, note: Callable[[str], object]) -> None:
    """Refuse, and note, each connection and each name that leads off this machine."""
    connect, resolve = socket.create_connection, socket.getaddrinfo

    def connected(address: Any, *others: Any, **more: Any) -> socket.socket:
        if not is_here(address[0]):
            note(f"connect {address}")
            raise OSError("a test asked somebody else")
        return connect(address, *others, **more)

    def resolved(host: Any, *others: Any, **more: Any) -> Any:
        if isinstance(host, str) and not is_number(host) and host != "localhost":
            note(f"resolve {host!r}")
            raise socket.gaierror("a test asked a name server")
        return resolve(host, *others, **more)

    patch.setattr(socket, "create_connection", connected)
    patch.setattr(socket, "getaddrinfo", resolved)


def is_number(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def is_here(host: str) -> bool:
    return host == "localhost" or (is_number(host) and ipaddress.ip_address(host).is_loopback)


def pytest_configure(config: pytest.Config) -> None:
    patch = pytest.MonkeyPatch()
    config.add_cleanup(patch.undo)
    for module, name in ((external, "SECONDS"), (standing, "STALL_S"), (standing, "BACK_S")):
        patch.setattr(module, name, SECONDS)
    if file := os.environ.get(FILE):

        def note(line: str) -> None:
            with open(file, "a", encoding="utf-8") as asked:
                asked.write(f"{line}\n")

        guard(patch, note)
