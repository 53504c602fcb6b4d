"""How a leader divides partitions among its members: round-robin, sticky, and all there are.

All see members in one order, by instance id where they have one, so that whoever leads divides
alike. Range (`range_assignor.py`) and roundrobin are Kafka's to the partition. The sticky ones keep
Kafka's promises rather than its steps: as even as subscriptions allow, and of what members still
own as much stays as that allows; what nobody owns goes to a member of its rack where one may have
it. The cooperative one hands a partition to another member only one generation after its owner let
go of it (KIP-429): what moves is owned by nobody in between.

Members say what they own in their subscription, those of the eager sticky assignor in its user
data, because by then they have given it up.

Sources: RoundRobinAssignor, StickyAssignor, AbstractStickyAssignor, CooperativeStickyAssignor at
4.3.1; KIP-54, KIP-429, KIP-792.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from touchstone.reference_impl.wire.embedded.consumer_protocol import (
    decode_assignment,
    decode_subscription,
    encode_assignment,
    encode_subscription,
)
from touchstone.reference_impl.wire.embedded.sticky_assignor import decode_sticky, encode_sticky
from touchstone.reference_impl.wire.interpreter import DecodeError
from touchstone.reference_impl.wire.schema import Struct

from .assignment import Given, Racks, Taker, ranked
from .flow import TopicPartition
from .range_assignor import by_range

STICKY = "sticky"
_NO_RACKS: Racks = {}
_SUBSCRIPTION_VERSION = 3  # a reader of an older one takes what it knows


class Assignor(NamedTuple):
    """`divide` is given members, numbers of partitions by topic, and racks by partition."""

    name: str
    cooperative: bool
    divide: Callable[[list[Taker], Mapping[str, int], Racks], Given]


def round_robin(takers: list[Taker], topics: Mapping[str, int], racks: Racks = _NO_RACKS) -> Given:
    """Partition by partition to the next member that wants its topic."""
    given: Given = {taker.id: [] for taker in takers}
    members, turn = ranked(takers), 0
    for place in _places(topics):
        if not any(place[0] in taker.topics for taker in members):
            continue
        while place[0] not in members[turn % len(members)].topics:
            turn += 1
        given[members[turn % len(members)].id].append(place)
        turn += 1
    return given


def sticky(takers: list[Taker], topics: Mapping[str, int], racks: Racks = _NO_RACKS) -> Given:
    """What members own stays, what nobody owns goes to who has least, then the fullest give."""
    members = ranked(takers)
    given = {taker.id: list(places) for taker, places in _claims(members, topics).items()}
    held = {place for places in given.values() for place in places}
    for place in _places(topics):
        readers = [taker for taker in members if place[0] in taker.topics]
        if place not in held and readers:
            least = min(len(given[taker.id]) for taker in readers)
            fewest = [taker for taker in readers if len(given[taker.id]) == least]
            near = [taker for taker in fewest if taker.rack in racks.get(place, ())]
            given[(near or fewest)[0].id].append(place)
    while move := _move(members, given):
        place, donor, receiver = move
        given[donor].remove(place)
        given[receiver].append(place)
    return given


def cooperative_sticky(
    takers: list[Taker], topics: Mapping[str, int], racks: Racks = _NO_RACKS
) -> Given:
    """As sticky, less what somebody else still owns; who owns it gives it up and all join again."""
    given = sticky(takers, topics, racks)
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
        Assignor(STICKY, False, sticky),
        Assignor("cooperative-sticky", True, cooperative_sticky),
    )
}


def _places(topics: Mapping[str, int]) -> list[TopicPartition]:
    return [(topic, index) for topic, count in sorted(topics.items()) for index in range(count)]


def _claims(members: list[Taker], topics: Mapping[str, int]) -> dict[Taker, list[TopicPartition]]:
    """What each owns and may keep; of two that claim a partition the newer generation is right."""
    newest: dict[TopicPartition, int] = {}
    for taker in members:
        for place in taker.owned:
            newest[place] = max(taker.generation, newest.get(place, -2))
    claimants: dict[TopicPartition, list[str]] = {}
    for taker in members:
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
        for taker in members
    }


def _move(members: list[Taker], given: Given) -> tuple[TopicPartition, str, str] | None:
    """A partition of one that has at least two more than another that would take it."""
    for receiver in sorted(members, key=lambda taker: len(given[taker.id])):
        for donor in sorted(members, key=lambda taker: -len(given[taker.id])):
            if len(given[donor.id]) - len(given[receiver.id]) < 2:
                break
            fits = [place for place in given[donor.id] if place[0] in receiver.topics]
            if fits:
                return max(fits), donor.id, receiver.id
    return None


# --- the bytes that members and leader exchange --------------------------------------------------


def subscription(
    topics: Iterable[str],
    owned: Iterable[TopicPartition],
    generation: int,
    rack: str | None,
    user_data: bytes | None = None,
) -> bytes:
    return encode_subscription(
        _SUBSCRIPTION_VERSION,
        {
            "topics": sorted(topics),
            "user_data": user_data,
            "owned_partitions": _by_topic(owned),
            "generation_id": generation,
            "rack_id": rack or None,
        },
    )


def taker(member: Mapping[str, Any], protocol: str = "") -> Taker:
    """A row of JoinGroup's members, for the assignor of this name.

    A DecodeError is the member's fault and nobody can help it.
    """
    _, body, _ = decode_subscription(member["metadata"])
    owned, generation = _flat(body.get("owned_partitions") or ()), _generation(body)
    if protocol == STICKY:
        owned, generation = _previous(body["user_data"])
    return Taker(
        member["member_id"],
        member.get("group_instance_id"),
        frozenset(body["topics"]),
        frozenset(owned),
        generation,
        body.get("rack_id") or None,
    )


def _generation(body: Mapping[str, Any]) -> int:
    """Before version 2 a cooperative member put it in its user data, alone."""
    data = body["user_data"] or b""
    if "generation_id" not in body and len(data) == 4:
        return int.from_bytes(data, "big", signed=True)
    return body.get("generation_id", -1)


def previous(places: Iterable[TopicPartition], generation: int) -> bytes:
    """User data of a member of the eager sticky assignor: what it had, and in which generation."""
    return encode_sticky({"previous_assignment": _by_topic(places), "generation": generation})


def _previous(data: bytes | None) -> tuple[list[TopicPartition], int]:
    """What cannot be read is ignored, as Kafka does."""
    with suppress(DecodeError):
        if data:
            body = decode_sticky(data)
            return _flat(body["previous_assignment"]), body.get("generation", -1)
    return [], -1


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
