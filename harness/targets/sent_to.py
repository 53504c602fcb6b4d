"""Where clients of a cluster are sent, and whether anybody answers there from this machine.

A Kafka client asks the address that it was given for the brokers, and from then on only the
addresses that they advertise. A cluster that advertises what nobody can reach answers every
question that is asked where the user pointed, and serves no client. So each address is asked once
who is there. An address that nobody gave and that is not on loopback is not asked (`reach`), and is
then said to be that, and not to be dead.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from touchstone.harness.model.target import Address
from touchstone.harness.targets import probe, reach

SECONDS = 3.0  # for all of them together: they are asked at the same time
LISTED = 10  # brokers that are looked at
ANSWERS, SILENT, NOT_ASKED = "answers", "silent", "not asked"
SETTING = "advertised.listeners"


@dataclass(frozen=True, slots=True)
class SentTo:
    """A broker by its id, where clients are sent to find it, and what is there; `why` nobody
    answers, or was asked, in words.
    """

    node: int
    address: Address
    found: str
    why: str = ""

    def __str__(self) -> str:
        if self.found == ANSWERS:
            return f"clients are sent to broker {self.node} at {reach.named(self.address)}"
        if self.found == NOT_ASKED:
            return f"broker {self.node} is not asked: {self.why}"
        return (
            f"broker {self.node} sends its clients to {reach.named(self.address)}, where it does "
            f"not answer from here ({self.why}): no client here could use it; set {SETTING} of "
            f"broker {self.node} to an address that its clients reach"
        )


def look(brokers: Mapping[int, Address], seconds: float = SECONDS) -> list[SentTo]:
    """Ask the first LISTED of these brokers, by their ids, where they say that they are.

    It takes `seconds` at most, however many there are.
    """
    some = sorted(brokers.items())[:LISTED]
    found = {node: SentTo(node, address, SILENT, "timed out") for node, address in some}

    def ask(node: int, address: Address) -> None:
        found[node] = _asked(node, address, seconds)

    # Daemons: a resolver that hangs cannot be ended, and nobody waits for it at the end either.
    threads = [threading.Thread(target=ask, args=pair, daemon=True) for pair in some]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + seconds
    for thread in threads:
        thread.join(max(deadline - time.monotonic(), 0.0))
    return [found[node] for node, _ in some]


def lines(found: Sequence[SentTo], brokers: int) -> list[str]:
    """Return who answers in one line, then a line for each broker that does not; `brokers` is how
    many there are.
    """
    there = [f"{one.node} at {reach.named(one.address)}" for one in found if one.found == ANSWERS]
    each = "which answers" if len(there) == 1 else "each of which answers"
    told = [f"clients are sent to broker {', '.join(there)}, {each} from here"] if there else []
    told += [str(one) for one in found if one.found != ANSWERS]
    more = brokers - len(found)
    return [*told, f"and {more:,} more brokers, which were not looked at"] if more > 0 else told


def _asked(node: int, address: Address, seconds: float) -> SentTo:
    """Whether this broker is at this address; another one there is as bad as none."""
    try:
        reach.check(address)
        sight = probe.metadata(address, seconds)
    except reach.NotGiven as refused:
        return SentTo(node, address, NOT_ASKED, str(refused.strerror))
    except OSError as error:
        return SentTo(node, address, SILENT, error.strerror or str(error))
    except probe.NotReady as silence:
        why = str(silence).removeprefix(f"{address[0]}:{address[1]}: ")
        return SentTo(node, address, SILENT, why)
    if sight.brokers.get(node) == address:
        return SentTo(node, address, ANSWERS)
    return SentTo(node, address, SILENT, "who answers there is another cluster's")
