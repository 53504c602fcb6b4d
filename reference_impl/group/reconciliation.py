"""A member takes one step towards its target: it gives up first and takes afterwards.

A member keeps its epoch until it has said that it no longer owns what it must give up; only then
does it come to the target's epoch and get what nobody else has. So no two members ever own a
partition, without anybody waiting for all (KIP-848).

Sources: KIP-848; CurrentAssignmentBuilder@4.3.1; observed on 4.3.1.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from touchstone.reference_impl.group.consumer_group import (
    ConsumerMember,
    MemberState,
    TopicIdPartition,
)
from touchstone.reference_impl.group.consumer_states import MEMBERS, MemberReport, Step
from touchstone.reference_impl.group.java_maps import after_copy

_STABLE, _UNREVOKED, _UNRELEASED = MemberState


def reconcile(
    member: ConsumerMember,
    target: Collection[TopicIdPartition],
    epoch: int,
    *,
    owned: Collection[TopicIdPartition] | None,
    taken: Callable[[], Collection[TopicIdPartition]],
    subscribed: Callable[[], Collection[bytes] | None],
    narrowed: bool,
    ends_epoch: bool = False,
    least: int = 1,
) -> bool:
    """Take the step; whether the member changed.

    `owned`: what it says it has, None if it said nothing; `taken`: what others still have;
    `subscribed`: ids of topics it wants, None for all that are in its target; both are asked for
    only where there is a step to take; `narrowed`: what it wants changed with this very request;
    `ends_epoch`: a member that gave up is one epoch further, should it have to give up more (3.9);
    `least`: buckets of a copy of what it has (`after_copy`).
    """
    if member.state is _UNREVOKED and _keeps(owned, member.revoking):
        said = MemberReport.HOLDS_NARROWED if narrowed else MemberReport.HOLDS
    elif member.epoch != epoch:
        said = MemberReport.BEHIND
    else:
        said = MemberReport.NARROWED if narrowed else MemberReport.CURRENT
    step = MEMBERS[member.state, said]
    if step is Step.DROP:
        return _drop_unsubscribed(member, owned, subscribed() or (), least)
    if step is not Step.ADVANCE:
        return False
    topics = subscribed()
    wanted = {p for p in target if topics is None or p[0] in topics}
    at = member.epoch + (ends_epoch and member.state is _UNREVOKED)
    _advance(member, wanted, epoch, owned, taken(), at, least)
    return True


def _keeps(
    owned: Collection[TopicIdPartition] | None, places: Collection[TopicIdPartition]
) -> bool:
    """Whether the member may still own one of them, as it may if it does not say what it owns."""
    return owned is None or any(place in places for place in owned)


def _drop_unsubscribed(
    member: ConsumerMember,
    owned: Collection[TopicIdPartition] | None,
    subscribed: Collection[bytes],
    least: int,
) -> bool:
    dropped = {p: at for p, at in member.assigned.items() if p[0] not in subscribed}
    if not dropped:
        return False
    revoking = _lined_up(member.revoking, member.revoking, dropped, least)
    for place in dropped:
        del member.assigned[place]
    if _keeps(owned, revoking):
        member.state, member.revoking = _UNREVOKED, revoking
    member.walk_to(member.epoch)
    return True


def _advance(
    member: ConsumerMember,
    target: set[TopicIdPartition],
    epoch: int,
    owned: Collection[TopicIdPartition] | None,
    taken: Collection[TopicIdPartition],
    at: int,
    least: int,
) -> None:
    before = member.assigned
    kept = {place: at for place, at in before.items() if place in target}
    revoking = {place: at for place, at in member.assigned.items() if place not in target}
    wanted = target - kept.keys()
    free = {place for place in wanted if place not in taken}
    member.assigned = _lined_up(before, kept, {}, least)
    if revoking and _keeps(owned, revoking):
        member.state, member.revoking = _UNREVOKED, _lined_up(before, revoking, {}, least)
        member.walk_to(at)
        return
    member.assigned = _lined_up(before, kept, dict.fromkeys(free, epoch), least)
    member.revoking = {}
    member.state = _UNRELEASED if free != wanted else _STABLE
    member.walk_to(epoch)


def _lined_up(
    before: dict[TopicIdPartition, int],
    kept: dict[TopicIdPartition, int],
    added: dict[TopicIdPartition, int],
    least: int,
) -> dict[TopicIdPartition, int]:
    """What it has now, in the order in which Kafka's map of it is gone through."""
    out: dict[TopicIdPartition, int] = {}
    had, mine, more = _by_topic(before), _by_topic(kept), _by_topic(added)
    for topic in {**mine, **more}:
        lists = mine.get(topic, []), more.get(topic, [])
        for index in after_copy(len(had.get(topic, ())), *lists, least):
            out[topic, index] = kept.get((topic, index), added.get((topic, index), 0))
    return out


def _by_topic(places: Iterable[TopicIdPartition]) -> dict[bytes, list[int]]:
    """Go through them once: there may be thousands of topics."""
    found: dict[bytes, list[int]] = {}
    for topic, index in places:
        found.setdefault(topic, []).append(index)
    return found
