"""Where a named listener of a broker is.

A cluster of several listeners is asked by the first unless a step names another (`Open`). What a
listener asks of its peers (TLS, authentication) is for the steps that follow to say.
"""

from __future__ import annotations

from touchstone.harness.model.placeholders import Unresolved
from touchstone.harness.model.scenario import BrokerChoice
from touchstone.harness.model.target import Address, Endpoint


def by_listener(endpoint: Endpoint, listener: str, broker: BrokerChoice | None) -> Address:
    """The address of a listener of a broker, by default the first. Raises Unresolved where there is
    no such listener, and for a broker that is chosen otherwise than by its number.
    """
    found = endpoint.listeners.get(listener, ())
    number = 0 if broker is None else broker
    if not isinstance(number, int) or not 0 <= number < len(found):
        raise Unresolved(f"listener {listener} of broker {number}")
    return found[number]
