"""Groups of all kinds: which there are, what they are like, deleting them, removing members."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from touchstone.reference_impl.wire.errors import ErrorCode as E
from touchstone.reference_impl.wire.schema import Struct

from ..assignors import assigned
from ..flow import LATEST_VERSION, Flow, KafkaError, TopicPartition, Unreachable
from .driver import AdminCore, Call
from .results import Results, V, error_in, everywhere, picked

_V_STATES, _V_TYPES = 4, 5
_REMOVED = "member was removed by an admin"


class GroupListing(NamedTuple):
    """State and type are "" where the broker does not say (before ListGroups v4 and v5)."""

    group_id: str
    protocol_type: str
    group_state: str = ""
    group_type: str = ""


class MemberDescription(NamedTuple):
    """`owned` is what it has, `target` what it is to have (None where the protocol has no such)."""

    member_id: str
    client_id: str
    client_host: str
    owned: frozenset[TopicPartition] = frozenset()
    target: frozenset[TopicPartition] | None = None
    instance_id: str | None = None
    rack_id: str | None = None
    member_epoch: int | None = None
    subscribed_topic_names: tuple[str, ...] = ()
    subscribed_topic_regex: str | None = None


class GroupDescription(NamedTuple):
    """`assignor_name` is the protocol's name in a classic group; epochs are None there."""

    group_id: str
    group_state: str
    members: tuple[MemberDescription, ...]
    assignor_name: str
    protocol_type: str = "consumer"
    group_epoch: int | None = None
    assignment_epoch: int | None = None


class StreamsMember(NamedTuple):
    """Tasks are (subtopology id, partition)."""

    member_id: str
    client_id: str
    client_host: str
    process_id: str
    member_epoch: int
    topology_epoch: int
    active_tasks: frozenset[TopicPartition] = frozenset()
    standby_tasks: frozenset[TopicPartition] = frozenset()
    warmup_tasks: frozenset[TopicPartition] = frozenset()
    instance_id: str | None = None
    rack_id: str | None = None


class StreamsGroupDescription(NamedTuple):
    """`subtopologies`: id -> its source topics."""

    group_id: str
    group_state: str
    group_epoch: int
    assignment_epoch: int
    members: tuple[StreamsMember, ...]
    subtopologies: dict[str, tuple[str, ...]]


class MemberToRemove(NamedTuple):
    """By member id, or, for a static member, by instance id."""

    member_id: str = ""
    instance_id: str | None = None


class GroupAdmin(AdminCore):
    def list_groups(
        self, states: Iterable[str] = (), types: Iterable[str] = ()
    ) -> Flow[Results[int, list[GroupListing]]]:
        """The groups that each broker coordinates, by broker id.

        Filters need brokers that know them: states from 2.6, types ("consumer", "classic",
        "share", "streams") from 3.8.
        """
        body = {"states_filter": list(states), "types_filter": list(types)}
        lowest = _V_TYPES if body["types_filter"] else _V_STATES if body["states_filter"] else 0

        def read(answer: Struct, nodes: list[int]) -> dict[int, list[GroupListing] | KafkaError]:
            found = [picked(GroupListing, row) for row in answer["groups"]]
            return dict.fromkeys(nodes, error_in(answer) or found)

        again = frozenset({E.COORDINATOR_LOAD_IN_PROGRESS, E.COORDINATOR_NOT_AVAILABLE})
        versions = (lowest, LATEST_VERSION)
        call = Call("ListGroups", lambda _: body, read, again=again, versions=versions)
        return (yield from self._carry_out(call, (yield from self._brokers())))

    def describe_classic_groups(
        self, groups: Iterable[str]
    ) -> Flow[Results[str, GroupDescription]]:
        """Before version 6 a group that does not exist is described as "Dead"."""
        call = _describing("DescribeGroups", "groups", _classic)
        return (yield from self._carry_out(call, groups))

    def describe_consumer_groups(
        self, groups: Iterable[str]
    ) -> Flow[Results[str, GroupDescription]]:
        """Of either protocol: those that are not KIP-848's are asked for as classic ones."""
        call = _describing("ConsumerGroupDescribe", "group_ids", _consumer)
        results = yield from self._carry_out(call, groups)
        classic = [group for group, error in results.errors().items() if _is_classic(error)]
        if classic:
            results |= yield from self.describe_classic_groups(classic)
        return results

    def describe_share_groups(self, groups: Iterable[str]) -> Flow[Results[str, GroupDescription]]:
        call = _describing("ShareGroupDescribe", "group_ids", _share)
        return (yield from self._carry_out(call, groups))

    def describe_streams_groups(
        self, groups: Iterable[str]
    ) -> Flow[Results[str, StreamsGroupDescription]]:
        call = _describing("StreamsGroupDescribe", "group_ids", _streams)
        return (yield from self._carry_out(call, groups))

    def delete_groups(self, groups: Iterable[str]) -> Flow[Results[str, None]]:
        """Of any kind; a group must be empty."""

        def read(answer: Struct, keys: list[str]) -> dict[str, None | KafkaError]:
            return {row["group_id"]: error_in(row, row["group_id"]) for row in answer["results"]}

        call = Call("DeleteGroups", lambda keys: {"groups_names": keys}, read)
        return (yield from self._carry_out(call, groups))

    def remove_members(
        self, group: str, members: Iterable[MemberToRemove], *, reason: str = _REMOVED
    ) -> Flow[Results[MemberToRemove, None]]:
        """From a classic or consumer group (KIP-345, from 2.4)."""

        def body(keys: list[MemberToRemove]) -> Struct:
            rows = [
                {
                    "member_id": key.member_id,
                    "group_instance_id": key.instance_id,
                    "reason": reason,
                }
                for key in keys
            ]
            return {"group_id": group, "members": rows}

        def read(
            answer: Struct, keys: list[MemberToRemove]
        ) -> Mapping[MemberToRemove, None | KafkaError]:
            if error := error_in(answer, group):
                return everywhere(error, keys)
            rows = zip(keys, answer["members"], strict=True)  # one for each, in order
            return {key: error_in(row, group) for key, row in rows}

        call = Call("LeaveGroup", body, read, target=lambda _: group, versions=(3, LATEST_VERSION))
        return (yield from self._carry_out(call, members))


def _is_classic(error: Exception) -> bool:
    if isinstance(error, KafkaError):
        return error.code in (E.GROUP_ID_NOT_FOUND, E.UNSUPPORTED_VERSION)
    return isinstance(error, Unreachable) and error.kind == "unsupported"


def _describing(api: str, field: str, made: Callable[[Struct], V]) -> Call[str, V]:
    def body(keys: list[str]) -> Struct:
        return {field: keys, "include_authorized_operations": False}

    def read(answer: Struct, keys: list[str]) -> dict[str, V | KafkaError]:
        return {
            row["group_id"]: error_in(row, row["group_id"]) or made(row) for row in answer["groups"]
        }

    return Call(api, body, read)


def _classic(row: Struct) -> GroupDescription:
    consumers = row["protocol_type"] in ("consumer", "")
    members = tuple(
        picked(
            MemberDescription,
            each,
            instance_id=each.get("group_instance_id"),
            owned=frozenset(assigned(each["member_assignment"]) if consumers else ()),
        )
        for each in row["members"]
    )
    return picked(GroupDescription, row, members=members, assignor_name=row["protocol_data"])


def _consumer(row: Struct) -> GroupDescription:
    members = tuple(
        _member(each)._replace(
            target=_places(each["target_assignment"]),
            subscribed_topic_regex=each["subscribed_topic_regex"] or None,
        )
        for each in row["members"]
    )
    return picked(GroupDescription, row, members=members)


def _share(row: Struct) -> GroupDescription:
    members = tuple(_member(each) for each in row["members"])
    return picked(GroupDescription, row, members=members, protocol_type="share")


def _member(row: Struct) -> MemberDescription:
    names = tuple(row["subscribed_topic_names"] or ())
    return picked(
        MemberDescription, row, owned=_places(row["assignment"]), subscribed_topic_names=names
    )


def _places(given: Struct) -> frozenset[TopicPartition]:
    return frozenset(
        (row["topic_name"], index)
        for row in given["topic_partitions"]
        for index in row["partitions"]
    )


def _streams(row: Struct) -> StreamsGroupDescription:
    topology = row["topology"] or {}
    members = tuple(
        picked(
            StreamsMember,
            each,
            **{
                kind: frozenset(
                    (task["subtopology_id"], index)
                    for task in each["assignment"][kind]
                    for index in task["partitions"]
                )
                for kind in ("active_tasks", "standby_tasks", "warmup_tasks")
            },
        )
        for each in row["members"]
    )
    parts = {
        each["subtopology_id"]: tuple(each["source_topics"])
        for each in topology.get("subtopologies") or ()
    }
    return picked(StreamsGroupDescription, row, members=members, subtopologies=parts)
