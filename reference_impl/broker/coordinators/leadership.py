"""Which partitions of a coordinator's topic a broker leads, and since when: what changed in that.

A coordinator looks now and then, not at every order of a controller. A partition that somebody else
led between two looks may have that one's records by now, so it counts as lost and won again: what
is compared is the term, the epoch in which the broker began to lead and has led ever since. A new
epoch of the same leader (a follower died, say) is no new term: who waits there waits on.

Sources: Partition.makeLeader and ReplicaManager.makeLeaders at 2.8.2 (an order to who leads already
is no election); CoordinatorRuntime.scheduleLoadOperation at 4.3 (nor is it for one that is active).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from touchstone.reference_impl.broker.replication.partitions import locate

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker
    from touchstone.reference_impl.cluster.replica import Replica


class Change(NamedTuple):
    """Partitions by their index: led ever since, led no more or by others meanwhile, led anew."""

    kept: frozenset[int]
    lost: frozenset[int]
    won: dict[int, Replica]


def led(broker: Broker, topic: str) -> dict[int, Replica]:
    """The partitions of a topic that a broker leads, by their index."""
    placed = broker.cluster.topics.get(topic)
    found = {}
    for partition in placed.partitions if placed else ():
        replica, _ = locate(broker, topic, partition.index)
        if replica is not None:
            found[partition.index] = replica
    return found


def look(broker: Broker, topic: str, note: str) -> Change:
    """What changed since the last look under this note, which `broker.state` keeps."""
    before: dict[int, int] = broker.state.get(note, {})
    now = led(broker, topic)
    broker.state[note] = terms = {index: replica.term for index, replica in now.items()}
    kept = frozenset(index for index, term in before.items() if terms.get(index) == term)
    won = {index: replica for index, replica in now.items() if index not in kept}
    return Change(kept, frozenset(before) - kept, won)
