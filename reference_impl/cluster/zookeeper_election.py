"""A ZooKeeper controller has four leader elections, each a function to (leader, ISR) or None.

They differ in whom they ask: the offline election anyone alive in the ISR (or at all, where unclean
leaders are allowed), the others only the ISR. `live` are brokers that are registered; one that is
shutting down is live, and never chosen by a controlled shutdown.

Sources: CTL-12, CTL-16, CTL-17, CTL-22..24; PartitionLeaderElectionAlgorithms and Election@2.2.1,
2.8.2, PartitionLeaderSelector@1.0.2.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

Choice = tuple[int, list[int]] | None


def first(replicas: Sequence[int], live: Collection[int]) -> Choice:
    """Elect for a new partition: all live replicas are in sync, for there is nothing to copy."""
    alive = [r for r in replicas if r in live]
    return (alive[0], alive) if alive else None


def offline(
    replicas: Sequence[int], isr: Sequence[int], live: Collection[int], *, unclean: bool
) -> Choice:
    """The old leader is gone."""
    leader = next((r for r in replicas if r in live and r in isr), None)
    if leader is not None:
        return leader, [r for r in isr if r in live]
    if unclean:
        leader = next((r for r in replicas if r in live), None)
        if leader is not None:
            return leader, [leader]
    return None


def preferred(replicas: Sequence[int], isr: Sequence[int], live: Collection[int]) -> Choice:
    head = replicas[0]
    return (head, list(isr)) if head in live and head in isr else None


def reassigned(target: Sequence[int], isr: Sequence[int], live: Collection[int]) -> Choice:
    """The leader is not among the replicas that stay."""
    leader = next((r for r in target if r in live and r in isr), None)
    return None if leader is None else (leader, list(isr))


def controlled_shutdown(
    replicas: Sequence[int], isr: Sequence[int], live: Collection[int], stopping: Collection[int]
) -> Choice:
    staying = [r for r in isr if r not in stopping]
    leader = next((r for r in replicas if r in live and r in staying), None)
    return None if leader is None else (leader, staying)
