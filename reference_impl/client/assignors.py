"""How a group's leader divides partitions among its members: range, roundrobin, cooperative-sticky.

All see members in one order, by instance id where they have one, so that whoever leads divides
alike. Range and roundrobin are Kafka's to the partition. The sticky one keeps Kafka's promises
rather than its steps: as even as subscriptions allow, and of what members still own as much stays
as that allows. Being cooperative, it hands a partition to another member only one generation after
its owner let go of it (KIP-429): what moves is owned by nobody in between.

Sources: RangeAssignor, RoundRobinAssignor, AbstractStickyAssignor, CooperativeStickyAssignor at
4.3.1; KIP-54, KIP-429, KIP-792. Racks are not looked at.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from touchstone.reference_impl.wire.embedded.consumer_protocol import (
    decode_assignment,
    decode_subscription,
    encode_assignment,
    encode_subscription,
)
from touchstone.reference_impl.wire.schema import Struct

from .flow import TopicPartition

Given = dict[str, list[TopicPartition]]
_SUBSCRIPTION_VERSION = 3  # a reader of an older one takes what it knows


class Taker(NamedTuple):
    """A member as its leader sees it; `generation` is the one in which it got what it owns."""

    id: str
    instance_id: str | None
    topics: frozenset[str]
    owned: frozenset[TopicPartition] = frozenset()
    generation: int = -1

    @property
    def rank(self) -> tuple[bool, str, str]:
        return self.instance_id is None, self.instance_id or self.id, self.id


class Assignor(NamedTuple):
    name: str
    cooperative: bool
    divide: Callable[[list[Taker], Mapping[str, int]], Given]


def by_range(takers: list[Taker], topics: Mapping[str, int]) -> Given:
    """Each topic cut into consecutive pieces; the first members have the larger ones."""
    given: Given = {taker.id: [] for taker in takers}
    for topic, count in sorted(topics.items()):
        readers = [taker for taker in _ranked(takers) if topic in taker.topics]
        start = 0
        for place, taker in enumerate(readers):
            size = count // len(readers) + (place < count % len(readers))
            given[taker.id] += [(topic, index) for index in range(start, start + size)]
            start += size
    return given


def round_robin(takers: list[Taker], topics: Mapping[str, int]) -> Given:
    """Partition by partition to the next member that wants its topic."""
    given: Given = {taker.id: [] for taker in takers}
    ranked, turn = _ranked(takers), 0
    for place in _places(topics):
        if not any(place[0] in taker.topics for taker in ranked):
            continue
        while place[0] not in ranked[turn % len(ranked)].topics:
            turn += 1
        given[ranked[turn % len(ranked)].id].append(place)
        turn += 1
    return given


def sticky(takers: list[Taker], topics: Mapping[str, int]) -> Given:
    """What members own stays, what nobody owns goes to who has least, then the fullest give."""
    ranked = _ranked(takers)
    given = {taker.id: list(places) for taker, places in _claims(ranked, topics).items()}
    held = {place for places in given.values() for place in places}
    for place in _places(topics):
        readers = [taker for taker in ranked if place[0] in taker.topics]
        if place not in held and readers:
            given[min(readers, key=lambda taker: len(given[taker.id])).id].append(place)
    while move := _move(ranked, given):
        place, donor, receiver = move
        given[donor].remove(place)
        given[receiver].append(place)
    return given


def cooperative_sticky(takers: list[Taker], topics: Mapping[str, int]) -> Given:
    """As sticky, less what somebody else still owns; who owns it gives it up and all join again."""
    given = sticky(takers, topics)
    owner = {place: taker.id for taker in takers for place in taker.owned}
    return {
        member: [place for place in places if owner.get(place, member) == member]
        for member, places in given.items()
    }


ASSIGNORS = {
    each.name: each
    for each in (
        Assignor("range", False, by_range),
        Assignor("roundrobin", False, round_robin),
        Assignor("cooperative-sticky", True, cooperative_sticky),
    )
}


def _ranked(takers: Iterable[Taker]) -> list[Taker]:
    return sorted(takers, key=lambda taker: taker.rank)


def _places(topics: Mapping[str, int]) -> list[TopicPartition]:
    return [(topic, index) for topic, count in sorted(topics.items()) for index in range(count)]


def _claims(ranked: list[Taker], topics: Mapping[str, int]) -> dict[Taker, list[TopicPartition]]:
    """What each owns and may keep; of two that claim a partition the newer generation is right."""
    newest: dict[TopicPartition, int] = {}
    for taker in ranked:
        for place in taker.owned:
            newest[place] = max(taker.generation, newest.get(place, -2))
    claimants: dict[TopicPartition, list[str]] = {}
    for taker in ranked:
        for place in taker.owned:
            if taker.generation == newest[place]:
                claimants.setdefault(place, []).append(taker.id)
    return {
        taker: sorted(
            place
            for place in taker.owned
            if claimants[place] == [taker.id]
            and place[0] in taker.topics
            and place[1] < topics.get(place[0], 0)
        )
        for taker in ranked
    }


def _move(ranked: list[Taker], given: Given) -> tuple[TopicPartition, str, str] | None:
    """A partition of one that has at least two more than another that would take it."""
    for receiver in sorted(ranked, key=lambda taker: len(given[taker.id])):
        for donor in sorted(ranked, key=lambda taker: -len(given[taker.id])):
            if len(given[donor.id]) - len(given[receiver.id]) < 2:
                break
            fits = [place for place in given[donor.id] if place[0] in receiver.topics]
            if fits:
                return max(fits), donor.id, receiver.id
    return None


# --- the bytes that members and leader exchange --------------------------------------------------


def subscription(
    topics: Iterable[str], owned: Iterable[TopicPartition], generation: int, rack: str | None
) -> bytes:
    return encode_subscription(
        _SUBSCRIPTION_VERSION,
        {
            "topics": sorted(topics),
            "user_data": None,
            "owned_partitions": _by_topic(owned),
            "generation_id": generation,
            "rack_id": rack or None,
        },
    )


def taker(member: Mapping[str, Any]) -> Taker:
    """A row of JoinGroup's members. A DecodeError is the member's fault and nobody can help it."""
    _, body, _ = decode_subscription(member["metadata"])
    return Taker(
        member["member_id"],
        member.get("group_instance_id"),
        frozenset(body["topics"]),
        frozenset(_flat(body.get("owned_partitions") or ())),
        _generation(body),
    )


def _generation(body: Mapping[str, Any]) -> int:
    """Before version 2 a cooperative member put it in its user data, alone."""
    data = body["user_data"] or b""
    if "generation_id" not in body and len(data) == 4:
        return int.from_bytes(data, "big", signed=True)
    return body.get("generation_id", -1)


def assignment(places: Iterable[TopicPartition]) -> bytes:
    return encode_assignment(0, {"assigned_partitions": _by_topic(places), "user_data": None})


def assigned(data: bytes) -> list[TopicPartition]:
    """No bytes are no partitions: a leader may leave a member out."""
    if not data:
        return []
    _, body, _ = decode_assignment(data)
    return _flat(body["assigned_partitions"])


def _by_topic(places: Iterable[TopicPartition]) -> list[Struct]:
    topics: dict[str, list[int]] = {}
    for topic, partition in sorted(places):
        topics.setdefault(topic, []).append(partition)
    return [{"topic": topic, "partitions": rows} for topic, rows in topics.items()]


def _flat(rows: Iterable[Mapping[str, Any]]) -> list[TopicPartition]:
    return [(row["topic"], index) for row in rows for index in row["partitions"]]
