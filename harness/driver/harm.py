"""Faults of one case: what was done to which broker, and the way back.

The driver keeps this book because a case may end at any step, by any of its bounds, and the next
case of the same cluster must find every broker running and known. So nothing here is optional:
`mend` undoes in the order that makes brokers come back soonest, then waits for a condition, and
says in words what it could not do; it never raises, since the case has been run and is worth
its transcript.
"""

from __future__ import annotations

import time

from touchstone.harness.driver import brokers
from touchstone.harness.model.target import Address, Endpoint, StartFailed

MEND_S = 60.0  # several brokers that start at once, on a machine with two cores
_DOWN = {"kill": "start", "stop": "start", "pause": "resume"}  # a fault and what ends it


class NotDone(Exception):
    """A fault could not be inflicted; the message says why."""


class Harm:
    """The brokers of one endpoint, as one case has left them."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.down: dict[int, str] = {}  # broker -> the verb that brings it back
        self.touched = False

    @property
    def informant(self) -> Address:
        """Whom the harness asks its own questions: the first broker that is not down."""
        for broker in sorted(self.endpoint.brokers):
            if self.down and broker not in self.down:
                return self.endpoint.brokers[broker]
        return self.endpoint.bootstrap[0]

    def inflict(self, fault: str, broker: int | None) -> None:
        """Do it and return when it is done; `broker` is None where there is one. Raises NotDone."""
        if broker is None and len(self.endpoint.nodes) == 1:
            (broker,) = self.endpoint.nodes
        if broker is None or broker not in self.endpoint.nodes:
            raise NotDone(f"broker {broker} cannot be harmed from here")
        self.touched = True
        if fault in _DOWN:
            self.down[broker] = _DOWN[fault]
        try:
            getattr(self.endpoint.nodes[broker], fault)()
        except StartFailed as failed:
            raise NotDone(f"{fault} broker {broker}: {failed}") from failed
        if fault not in _DOWN:
            self.down.pop(broker, None)

    def mend(self) -> str | None:
        """Bring everybody back and wait until each broker sees all; what failed, in words."""
        if not self.touched:
            return None
        deadline = time.perf_counter() + MEND_S
        for verb in ("resume", "start"):
            for broker in [one for one, wanted in self.down.items() if wanted == verb]:
                try:
                    self.inflict(verb, broker)
                except NotDone as failed:
                    return str(failed)
        for broker, address in self.endpoint.brokers.items():
            left = deadline - time.perf_counter()
            if not brokers.whole(address, self.endpoint.brokers, max(left, 0.0)):
                return f"broker {broker} does not see the whole cluster again"
        return None
