"""Offsets of groups: what is committed, changing and deleting it; share groups' start offsets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from touchstone.reference_impl.wire.errors import ErrorCode as E
from touchstone.reference_impl.wire.schema import Struct

from ..flow import ClientError, Flow, KafkaError, TopicPartition, named
from ..group_offsets import Offset, OffsetsToCommit, rows
from .driver import AdminCore, Call
from .results import Results, by_topic, done_or_error, error_in, everywhere, partition_rows, picked

_V_NAMES = 9  # the last version of OffsetCommit and OffsetFetch that names topics
_UNSTABLE = frozenset({E.UNSTABLE_OFFSET_COMMIT})


class ShareOffset(NamedTuple):
    """Where a share group's records begin; lag is -1 where the broker does not say."""

    start_offset: int
    leader_epoch: int = -1
    lag: int = -1


class GroupOffsetAdmin(AdminCore):
    def list_group_offsets(
        self, groups: Mapping[str, Iterable[TopicPartition] | None], *, require_stable: bool = False
    ) -> Flow[Results[str, Results[TopicPartition, Offset]]]:
        """What each group has committed of these partitions, or (None) of all.

        A partition without an offset is left out. `require_stable` waits for transactions that
        have offsets of it pending, where brokers can (2.5).
        """

        def body(keys: list[str]) -> Struct:
            (key,) = keys
            wanted = groups[key]
            topics = None
            if wanted is not None:
                topics = [
                    {"name": name, "partition_indexes": indexes}
                    for name, indexes in by_topic(wanted).items()
                ]
            group: Struct = {"group_id": key, "topics": topics}
            return group | {"groups": [group], "require_stable": require_stable}

        def read(
            answer: Struct, keys: list[str]
        ) -> dict[str, Results[TopicPartition, Offset] | KafkaError]:
            (key,) = keys
            row = answer["groups"][0] if answer.get("groups") else answer
            unstable = (part for _, part in partition_rows(row["topics"]))
            codes = {part["error_code"] for part in unstable} & _UNSTABLE
            if codes:
                return {key: KafkaError(E.UNSTABLE_OFFSET_COMMIT, about=key)}
            return {key: error_in(row, key) or _committed(row)}

        lowest = 2 if None in groups.values() else 1
        call = Call(
            "OffsetFetch", body, read, alone=True, again=_UNSTABLE, versions=(lowest, _V_NAMES)
        )
        return (yield from self._carry_out(call, groups))

    def alter_group_offsets(
        self, group: str, offsets: OffsetsToCommit
    ) -> Flow[Results[TopicPartition, None]]:
        """Commit these for a group without members."""

        def body(places: list[TopicPartition]) -> Struct:
            return {
                "group_id": group,
                "generation_id_or_member_epoch": -1,
                "member_id": "",
                "group_instance_id": None,
                "retention_time_ms": -1,
                "topics": rows({place: offsets[place] for place in places}),
            }

        def read(answer: Struct, places: list[TopicPartition]) -> _DoneOrError:
            return done_or_error(partition_rows(answer["topics"]))

        return (
            yield from self._carry_out(
                Call("OffsetCommit", body, read, target=lambda _: group, versions=(2, _V_NAMES)),
                offsets,
            )
        )

    def delete_group_offsets(
        self, group: str, places: Iterable[TopicPartition]
    ) -> Flow[Results[TopicPartition, None]]:
        """Of topics that no member subscribes to (KIP-496, from 2.4)."""

        def body(places: list[TopicPartition]) -> Struct:
            topics = [
                {"name": name, "partitions": [{"partition_index": index} for index in indexes]}
                for name, indexes in by_topic(places).items()
            ]
            return {"group_id": group, "topics": topics}

        def read(answer: Struct, places: list[TopicPartition]) -> _DoneOrError:
            error = error_in(answer, group)
            return (
                everywhere(error, places)
                if error
                else done_or_error(partition_rows(answer["topics"]))
            )

        call = Call("OffsetDelete", body, read, target=lambda _: group)
        return (yield from self._carry_out(call, places))

    def list_share_group_offsets(
        self, groups: Mapping[str, Iterable[TopicPartition] | None]
    ) -> Flow[Results[str, Results[TopicPartition, ShareOffset]]]:
        """Where each share group's records begin in these partitions, or (None) in all it knows."""

        def body(keys: list[str]) -> Struct:
            return {"groups": [{"group_id": key, "topics": _wanted(groups[key])} for key in keys]}

        def read(
            answer: Struct, keys: list[str]
        ) -> dict[str, Results[TopicPartition, ShareOffset] | KafkaError]:
            return {
                row["group_id"]: error_in(row, row["group_id"]) or _share_offsets(row)
                for row in answer["groups"]
            }

        return (yield from self._carry_out(Call("DescribeShareGroupOffsets", body, read), groups))

    def alter_share_group_offsets(
        self, group: str, offsets: Mapping[TopicPartition, int]
    ) -> Flow[Results[TopicPartition, None]]:
        """Have an empty share group's records begin there."""

        def body(places: list[TopicPartition]) -> Struct:
            topics = [
                {
                    "topic_name": name,
                    "partitions": [
                        {"partition_index": index, "start_offset": offsets[name, index]}
                        for index in indexes
                    ],
                }
                for name, indexes in by_topic(places).items()
            ]
            return {"group_id": group, "topics": topics}

        def read(answer: Struct, places: list[TopicPartition]) -> _DoneOrError:
            error = error_in(answer, group)
            return (
                everywhere(error, places)
                if error
                else done_or_error(partition_rows(answer["responses"], name="topic_name"))
            )

        call = Call("AlterShareGroupOffsets", body, read, target=lambda _: group)
        return (yield from self._carry_out(call, offsets))

    def delete_share_group_offsets(
        self, group: str, topics: Iterable[str]
    ) -> Flow[Results[str, None]]:
        """Have an empty share group forget these topics."""

        def body(names: list[str]) -> Struct:
            return {"group_id": group, "topics": [{"topic_name": name} for name in names]}

        def read(answer: Struct, names: list[str]) -> dict[str, None | KafkaError]:
            error = error_in(answer, group)
            return {row["topic_name"]: error_in(row) for row in answer["responses"]} | (
                everywhere(error, names) if error else {}
            )

        call = Call("DeleteShareGroupOffsets", body, read, target=lambda _: group)
        return (yield from self._carry_out(call, topics))


_DoneOrError = Mapping[TopicPartition, KafkaError | None]


def _wanted(places: Iterable[TopicPartition] | None) -> list[Struct] | None:
    if places is None:
        return None
    return [
        {"topic_name": name, "partitions": indexes} for name, indexes in by_topic(places).items()
    ]


def _committed(row: Struct) -> Results[TopicPartition, Offset]:
    found: dict[TopicPartition, Offset | ClientError] = {}
    for place, part in partition_rows(row["topics"]):
        error = error_in(part, named(place))
        if error is not None:
            found[place] = error
        elif part["committed_offset"] >= 0:
            epoch = part.get("committed_leader_epoch", -1)
            found[place] = Offset(part["committed_offset"], epoch, part["metadata"] or "")
    return Results(found)


def _share_offsets(row: Struct) -> Results[TopicPartition, ShareOffset]:
    found: dict[TopicPartition, ShareOffset | ClientError] = {}
    for place, part in partition_rows(row["topics"], name="topic_name"):
        error = error_in(part, named(place))
        if error is not None or part["start_offset"] >= 0:
            found[place] = error or picked(ShareOffset, part)
    return Results(found)
