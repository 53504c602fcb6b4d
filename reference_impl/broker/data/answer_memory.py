"""The answers of one broker that their peers have not taken yet, in bytes, make new ones smaller.

A Fetch of 70 bytes asks for up to 55 MB, and an answer is kept until its peer has taken it: 40
peers that never read would hold 2 GB. Kafka sends records from its files and keeps none of that.
Here answers come from memory, so a Fetch that finds much of it taken reads less, as it may: a batch
for each answer at least, and the rest with the next one. Nobody waits for another who never reads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker
    from touchstone.reference_impl.broker.effects import Request

MOST = 1 << 26  # bytes of all answers, before new ones are as small as they can be
_ANY = 2**31 - 1
_LEAST, _LEAST_OF_OLD = 1 << 16, 1 << 21
_WHOLE_FIRST = 3  # the Fetch version from which a first batch comes whole, however large (KIP-74)


class AnswerMemory:
    """What the event loop could not hand to the sockets of this broker yet."""

    def __init__(self, broker: Broker) -> None:
        self.in_flight = 0  # bytes

    def bound(self, request: Request) -> int:
        """Return how many bytes of records the answer to this Fetch may have.

        Brokers of this process ask without a socket. Clients before v3 take a cut first batch for
        a limit of theirs that is too small, so they get what a batch has by default, and more.
        """
        if request.connection.of_broker or not self.in_flight:
            return _ANY
        least = _LEAST if request.header.version >= _WHOLE_FIRST else _LEAST_OF_OLD
        return max(least, MOST - self.in_flight)
