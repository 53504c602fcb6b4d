"""Members of consumer groups and of share groups get answers of the same forms.

A share group is asked and answered in the words of KIP-848: heartbeats (keys 68 and 76) and
descriptions (69 and 77) have the same outer form; what only one of the kinds has stays in its
handler.

Sources: schemas of APIs 68, 69, 76 and 77; KIP-848, KIP-932.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from touchstone.reference_impl.group.consumer_group import TopicIdPartition
from touchstone.reference_impl.group.consumer_records import by_topic
from touchstone.reference_impl.group.placement import partition_for
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

_PARTITIONS = 50


def heartbeat_answer(
    member_id: str, epoch: int, interval_ms: int, places: Iterable[TopicIdPartition] | None
) -> Struct:
    """A heartbeat's answer; `places` are what the member has now, None where it knows that.

    Who has left (a negative epoch) is told of no interval.
    """
    return {
        "error_code": ErrorCode.NONE,
        "error_message": None,
        "member_id": member_id,
        "member_epoch": epoch,
        "heartbeat_interval_ms": interval_ms if epoch >= 0 else 0,
        "assignment": None if places is None else {"topic_partitions": topic_rows(places)},
    }


def heartbeat_refusal(code: int, message: str | None = None) -> Struct:
    """The answer to a heartbeat that is refused."""
    return {
        "error_code": code,
        "error_message": message,
        "member_id": None,
        "member_epoch": 0,
        "heartbeat_interval_ms": 0,
        "assignment": None,
    }


def described(group_id: str, code: int, message: str | None = None) -> Struct:
    """A group of which nothing is known, or nothing yet."""
    return {
        "error_code": code,
        "error_message": message,
        "group_id": group_id,
        "group_state": "",
        "group_epoch": 0,
        "assignment_epoch": 0,
        "assignor_name": "",
        "members": [],
    }


def in_answered_order(group_ids: Sequence[str]) -> list[str]:
    """Groups as a description lists them: the empty id, then those of one partition together.

    Seen on 4.3.1 with 50 partitions, where few partitions come in the order of the request.
    """
    first = {partition_for(name, _PARTITIONS): at for at, name in reversed([*enumerate(group_ids)])}
    return sorted(group_ids, key=lambda name: (name != "", first[partition_for(name, _PARTITIONS)]))


def topic_rows(places: Iterable[TopicIdPartition]) -> list[Struct]:
    return [{"topic_id": topic, "partitions": rows} for topic, rows in by_topic(places)]
