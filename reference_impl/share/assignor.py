"""The simple assignor: as many members for each partition as needed that everybody has a share.

With M members and P partitions each partition goes to ceil(M / P) of them, and each member has its
part of that many, rounded so that the sum is right. Who has what already keeps it where it fits;
partitions are handed out in the order of Java's hash maps, members in the same.

Sources: SimpleHomogeneousAssignmentBuilder, SimpleHeterogeneousAssignmentBuilder@4.3.1;
KIP-932.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import ceil

from touchstone.reference_impl.group.java_maps import java_order
from touchstone.reference_impl.share.group import TopicIdPartition

Target = dict[str, frozenset[TopicIdPartition]]


def simple(
    subscriptions: Mapping[str, frozenset[bytes]],
    assignable: Iterable[TopicIdPartition],
    before: Mapping[str, frozenset[TopicIdPartition]],
) -> Target:
    """`subscriptions`: ids of topics by member id."""
    members = java_order(subscriptions)
    places = sorted(assignable)
    if len(set(subscriptions.values())) == 1:
        wanted = next(iter(subscriptions.values()))
        held = {name: set(before.get(name, ())) for name in members}
        return _frozen(_shared(members, [p for p in places if p[0] in wanted], held))
    given: dict[str, set[TopicIdPartition]] = {name: set() for name in members}
    by_topic = _by_topic(places)
    had = {name: _by_topic(before.get(name, ())) for name in members}
    for topic in java_order(by_topic):
        readers = [name for name in members if topic in subscriptions[name]]
        mine = by_topic[topic]
        held = {name: set(had[name].get(topic, ())) for name in readers}
        for name, got in _shared(readers, mine, held).items():
            given[name] |= got
    return _frozen(given)


def _by_topic(places: Iterable[TopicIdPartition]) -> dict[bytes, list[TopicIdPartition]]:
    found: dict[bytes, list[TopicIdPartition]] = {}
    for place in places:
        found.setdefault(place[0], []).append(place)
    return found


def _shared(
    members: list[str], places: list[TopicIdPartition], held: Mapping[str, set[TopicIdPartition]]
) -> dict[str, set[TopicIdPartition]]:
    if not members or not places:
        return {name: set() for name in members}
    sharing = -(-len(members) // len(places))
    each = sharing * len(places) / len(members)
    quota = {name: ceil(each * (at + 1)) - ceil(each * at) for at, name in enumerate(members)}
    known = set(places)
    given = {name: held[name] & known for name in members}
    for name, got in given.items():
        given[name] = set(sorted(got)[max(0, len(got) - quota[name]) :])
    readers = {place: [n for n in members if place in given[n]] for place in places}
    for place, names in readers.items():
        for name in names[: max(0, len(names) - sharing)]:
            given[name].discard(place)
        readers[place] = names[max(0, len(names) - sharing) :]
    _hand_out(places, readers, given, quota, sharing)
    return given


def _hand_out(
    places: list[TopicIdPartition],
    readers: dict[TopicIdPartition, list[str]],
    given: dict[str, set[TopicIdPartition]],
    quota: Mapping[str, int],
    sharing: int,
) -> None:
    """What is left, round and round the members with room."""
    hungry = [name for name in given if len(given[name]) < quota[name]]
    at = 0
    for place in places:
        tries = len(hungry)
        while hungry and len(readers[place]) < sharing and tries:
            at %= len(hungry)
            name = hungry[at]
            tries -= 1
            if place in given[name]:
                at += 1
                continue
            given[name].add(place)
            readers[place].append(name)
            if len(given[name]) < quota[name]:
                at += 1
            else:
                del hungry[at]


def _frozen(given: Mapping[str, set[TopicIdPartition]]) -> Target:
    return {name: frozenset(places) for name, places in given.items()}
