"""Ports for brokers that are started by somebody else's program, killed, and started again.

Between the choice and the bind, and while a killed broker is away, nobody holds its port. So it
lies below those that the kernel hands out: else whoever connects somewhere in that second may be
given it as its own end (a client that looks for the broker even itself, TCP's simultaneous open),
and the broker cannot bind it.
"""

from __future__ import annotations

import random
import socket
from pathlib import Path

HOST = "127.0.0.1"
FIRST_PORT = 15_000
HANDED_OUT = Path("/proc/sys/net/ipv4/ip_local_port_range")  # Linux; 49152 is the lowest elsewhere
USUAL_LOWEST = 32_768


def free_ports(count: int) -> list[int]:
    """So many free ports, all different. LookupError when there are not as many.

    They begin at a random place, and not by the run's seed: two runs with one seed, side by side,
    must differ.
    """
    found: list[int] = []
    for first in _places(1):
        if len(found) == count:
            return found
        if _is_free(first):
            found.append(first)
    raise LookupError(f"no {count} free ports between {FIRST_PORT} and {lowest_handed_out()}")


def in_a_row(count: int) -> int:
    """The first of so many neighbouring free ports. LookupError when there is none."""
    for first in _places(count):
        if all(map(_is_free, range(first, first + count))):
            return first
    raise LookupError(f"no {count} free ports between {FIRST_PORT} and {lowest_handed_out()}")


def lowest_handed_out() -> int:
    """From here on the kernel gives ports to whoever binds or connects without naming one."""
    return int(HANDED_OUT.read_text().split()[0]) if HANDED_OUT.exists() else USUAL_LOWEST


def _places(step: int) -> list[int]:
    places = range(FIRST_PORT, lowest_handed_out() - step, step)
    turn = random.SystemRandom().randrange(len(places))
    return [*places[turn:], *places[:turn]]


def _is_free(port: int) -> bool:
    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((HOST, port))
        except OSError:
            return False
    return True
