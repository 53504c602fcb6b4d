"""A KRaft controller changes one partition at a time: who leads, who is in sync, what next.

Every cause (a broker fenced, a new ISR, a reassignment, an election somebody asked for) states what
it wants as a `PartitionChange`; `changed` finishes a reassignment that can be finished, elects a
leader if the one there is cannot stay, keeps the eligible leader replicas (ELR), and says which
fields of the partition become what, or nothing. The leader epoch rises when the leader changes and
when replicas are taken away; a smaller ISR alone leaves it (from metadata version 3.6 on).

Sources: PartitionChangeBuilder and PartitionReassignmentReplicas@3.9.2, 4.3.1; KIP-455, KIP-704,
KIP-966; CTL-16, CTL-17; observed on three nodes of both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TypeVar

from touchstone.reference_impl.cluster.topology import NO_LEADER, Partition, PartitionFields

T = TypeVar("T")


class Election(Enum):
    CLEAN = "a member of the ISR"
    PREFERRED = "the first replica if it may, else as CLEAN"
    UNCLEAN = "as CLEAN, else any live replica"


@dataclass(frozen=True, slots=True)
class PartitionChange:
    """The wanted values of a partition; those that are None stay."""

    may_lead: Callable[[int], bool]  # whether this broker is alive and welcome
    election: Election = Election.CLEAN
    isr: Sequence[int] | None = None
    replicas: Sequence[int] | None = None
    adding: Sequence[int] | None = None
    removing: Sequence[int] | None = None
    recovering: bool | None = None
    elr_enabled: bool = False
    min_isr: int = 1
    lost: frozenset[int] = frozenset()  # brokers that came back from an unclean shutdown


@dataclass(slots=True)
class _Target:
    """The partition as it would be, while it is worked out."""

    replicas: list[int]
    isr: list[int]
    adding: tuple[int, ...]
    removing: tuple[int, ...]
    elr: tuple[int, ...]
    recovering: bool


def changed(partition: Partition, wanted: PartitionChange) -> PartitionFields:
    """The fields of `partition` that change; empty where none does."""
    target = _Target(
        replicas=list(_or_kept(wanted.replicas, partition.replicas)),
        isr=list(_or_kept(wanted.isr, partition.isr)),
        adding=tuple(_or_kept(wanted.adding, partition.adding)),
        removing=tuple(_or_kept(wanted.removing, partition.removing)),
        elr=partition.elr,
        recovering=_or_kept(wanted.recovering, partition.recovering),
    )
    _finish_reassignment(target)
    if wanted.elr_enabled:
        target.elr = _eligible(partition, target, wanted)
    leader, unclean = _elect(partition, target, wanted)
    isr = target.isr
    if leader != partition.leader and leader != NO_LEADER:
        if unclean:
            isr, target.recovering, target.elr = [leader], True, ()
        elif leader not in isr:  # from the ELR, which is only asked when the ISR is empty
            isr = [leader]
            target.elr = tuple(r for r in target.elr if r != leader)
    elif not isr and not wanted.elr_enabled:
        isr = partition.isr  # the last member stays: it alone may lead again
    return _difference(partition, target, leader, isr, wanted)


def _or_kept(given: T | None, held: T) -> T:
    return held if given is None else given


def _difference(
    partition: Partition, target: _Target, leader: int, isr: Sequence[int], wanted: PartitionChange
) -> PartitionFields:
    fields: PartitionFields = {}
    if leader != partition.leader:
        fields["leader"] = leader
    if list(isr) != partition.isr:
        fields["isr"] = list(isr)
    if target.replicas != partition.replicas:
        fields["replicas"] = target.replicas
    if target.adding != partition.adding:
        fields["adding"] = target.adding
    if target.removing != partition.removing:
        fields["removing"] = target.removing
    if target.elr != partition.elr:
        fields["elr"] = target.elr
    last_known_elr = _last_known(partition, leader, isr, wanted)
    if last_known_elr != partition.last_known_elr:
        fields["last_known_elr"] = last_known_elr
    if target.recovering != partition.recovering:
        fields["recovering"] = target.recovering
    shrunk = not set(partition.replicas) <= set(target.replicas)
    if "leader" in fields or shrunk:
        fields["leader_epoch"] = partition.leader_epoch + 1
    return fields


def _finish_reassignment(target: _Target) -> None:
    """Let the old replicas go once every one that stays is in sync (KIP-455)."""
    if not target.adding and not target.removing:
        return
    replicas = [r for r in target.replicas if r not in target.removing]
    isr = [r for r in target.isr if r not in target.removing]
    if replicas and set(replicas) <= set(isr):
        target.replicas, target.isr, target.adding, target.removing = replicas, isr, (), ()


# ------------------------------------------------------------------------------------- elections


def _elect(partition: Partition, target: _Target, wanted: PartitionChange) -> tuple[int, bool]:
    """(leader, whether records may be missing from it)."""

    def valid(replica: int) -> bool:
        eligible = replica in target.isr or (not target.isr and replica in target.elr)
        return eligible and wanted.may_lead(replica)

    first = target.replicas[0]
    if wanted.election is Election.PREFERRED and valid(first):
        return first, False
    if valid(partition.leader):
        return partition.leader, False
    leader = next((r for r in target.replicas if valid(r)), None)
    if leader is not None:
        return leader, False
    last = partition.last_known_elr
    nobody = wanted.elr_enabled and not target.isr and not target.elr
    if nobody and len(last) == 1 and wanted.may_lead(last[0]):
        return last[0], True
    if wanted.election is Election.UNCLEAN:
        leader = next((r for r in target.replicas if wanted.may_lead(r)), None)
        if leader is not None:
            return leader, True
    return NO_LEADER, False


# -------------------------------------------------------------------- eligible leader replicas


def _eligible(partition: Partition, target: _Target, wanted: PartitionChange) -> tuple[int, ...]:
    """Replicas that left the ISR below min.insync.replicas and may still lead (KIP-966)."""
    if len(target.isr) >= min(wanted.min_isr, len(target.replicas)):
        return ()
    candidates = dict.fromkeys((*partition.elr, *partition.isr))
    kept = (r for r in candidates if r in target.replicas)
    return tuple(sorted(r for r in kept if r not in target.isr and r not in wanted.lost))


def _last_known(
    partition: Partition, leader: int, isr: Sequence[int], wanted: PartitionChange
) -> tuple[int, ...]:
    """The leader that was there when the ISR became empty, until there is one again."""
    if not wanted.elr_enabled:
        return partition.last_known_elr
    if not isr and partition.isr and partition.leader != NO_LEADER:
        return (partition.leader,)
    return () if leader != NO_LEADER else partition.last_known_elr
