"""The proxy before a broker: what it leaves behind."""

from __future__ import annotations

import gc
import socket
import threading
from contextlib import suppress

from touchstone.harness.adapters.proxy import HOST, Proxy


def test_a_connection_that_comes_as_the_proxy_is_left_is_closed():
    """It is accepted in the turn in which the loop stops, before anything of it has begun."""
    with Proxy((HOST, 9)) as proxy:
        held = threading.Event()
        proxy._loop.call_soon_threadsafe(held.wait)
        client = socket.create_connection((HOST, proxy.port))
        proxy._loop.call_soon_threadsafe(proxy._loop.stop)
        held.set()
    with client:
        client.settimeout(10)
        gc.collect()  # what is left open is a ResourceWarning here
        with suppress(ConnectionResetError):
            assert client.recv(1) == b""
