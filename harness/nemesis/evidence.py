"""Ways to see from the outside that a fault bites.

A fault that was ordered and did not happen (a signal to the wrong process, a rule in the wrong
chain) would make every run after it a false praise, so each is looked for where its victim's peers
would meet it, never in what we ourselves have set.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from random import Random

from touchstone.harness.model.target import Address
from touchstone.harness.nemesis.fault_target import Network
from touchstone.harness.targets import probe
from touchstone.reference_impl.client.flow import ClientError
from touchstone.reference_impl.io.client import Client

Look = Callable[[], str | None]
SHORT_S = 0.7
PATIENCE_S = 8.0
_KNOCK = "import socket; socket.create_connection(({host!r}, {port}), {seconds}).close()"


def silence(address: Address) -> str | None:
    """How this broker does not answer a new connection; None when it does."""
    try:
        probe.api_versions(address, SHORT_S)
    except probe.NotReady as trouble:
        return str(trouble)
    return None


def unreachable(network: Network, broker: int, other: int) -> str | None:
    """That a connection from one broker's network to the other cannot be made."""
    host, port = network.addresses[other], network.port(other)
    knock = _KNOCK.format(host=host, port=port, seconds=SHORT_S)
    if network.refused(broker, sys.executable, "-I", "-S", "-c", knock):
        return f"broker {broker} cannot connect to {host}:{port} (broker {other})"
    return None


def until(look: Look, seconds: float = PATIENCE_S) -> str | None:
    """The first answer that is not None."""
    deadline = time.perf_counter() + seconds
    while True:
        found = look()
        if found is not None or time.perf_counter() > deadline:
            return found
        time.sleep(0.05)


def answer_ms(address: Address, times: int = 3) -> float:
    """How long ApiVersions takes on a new connection, the shortest of some."""
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        try:
            probe.api_versions(address, PATIENCE_S)
        except probe.NotReady:
            return PATIENCE_S * 1000
        taken.append((time.perf_counter() - began) * 1000)
    return min(taken)


class Stamp:
    """A partition on one broker whose records get that broker's time (LogAppendTime)."""

    def __init__(self, addresses: list[Address], broker: int, random: Random) -> None:
        self.bootstrap = [f"{host}:{port}" for host, port in addresses]
        self.topic = f"nemesis-clock-{broker}-{random.randrange(1 << 30):x}"
        with Client(self.bootstrap, connect_timeout_s=2) as client:
            client.admin.create_topic(
                self.topic, assignments={0: [broker]},
                configs={"message.timestamp.type": "LogAppendTime"},
            )  # fmt: skip

    def ahead_ms(self) -> int | None:
        """How far the broker's clock is ahead of ours; None when it does not say."""
        try:
            with Client(self.bootstrap, connect_timeout_s=2) as client:
                producer = client.producer(idempotence=False, delivery_timeout_ms=5_000)
                delivery = producer.send(self.topic, b"what time is it?", partition=0)
                producer.flush()
                return delivery.result().timestamp - client.now()
        except (ClientError, OSError):
            return None
