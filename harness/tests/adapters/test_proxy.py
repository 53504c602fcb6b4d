"""The proxy before a broker: what it leaves behind."""

from __future__ import annotations

import gc
import socket
import threading
from contextlib import suppress

from touchstone.harness.adapters.proxy import HOST, Proxy
from touchstone.harness.adapters.tap import Tap
from touchstone.harness.targets import probe
from touchstone.harness.tests.targets.secured import secured


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


def test_it_logs_in_where_its_clients_need_not():
    with secured() as broker:
        address = broker.address("SASL_SSL")
        broker.target("SASL_SSL", broker.properties("SASL_SSL"))
        with Proxy(address) as proxy:
            proxy.passage = Tap(lambda *_, **__: None, {address[1]: proxy.port}, {0: 0})
            versions = probe.api_versions((HOST, proxy.port))
    assert versions[18]
