"""ListOffsets as a flow: the offset of a timestamp, or of the beginning or end of a partition.

Each leader is asked once for all of its partitions; where there is none, or one that says it is
not the one, metadata is renewed and the rest asked again after a pause (META-06, META-07).
"""

from collections.abc import Mapping
from typing import NamedTuple

from touchstone.reference_impl.wire.errors import ErrorCode, is_retriable
from touchstone.reference_impl.wire.schema import Struct

from .flow import (
    LATEST_VERSION,
    Answer,
    Ask,
    Flow,
    KafkaError,
    Outcome,
    TopicPartition,
    Unreachable,
    named,
)
from .metadata import STALE, Tries, View, know, refresh

EARLIEST, LATEST = -2, -1
READ_UNCOMMITTED, READ_COMMITTED = 0, 1


class OffsetAndTimestamp(NamedTuple):
    """The first record at or after a timestamp; -1 and -1 where nothing is that new.

    At the beginning or end of a partition there is an offset and no timestamp.
    """

    offset: int
    timestamp: int


def offsets_for(
    view: View,
    wanted: Mapping[TopicPartition, int],
    *,
    isolation: int = READ_UNCOMMITTED,
    timeout_ms: int = 30_000,
) -> Flow[dict[TopicPartition, int]]:
    """`found_for` without timestamps."""
    found = yield from found_for(view, wanted, isolation=isolation, timeout_ms=timeout_ms)
    return {place: each.offset for place, each in found.items()}


def found_for(
    view: View,
    wanted: Mapping[TopicPartition, int],
    *,
    isolation: int = READ_UNCOMMITTED,
    timeout_ms: int = 30_000,
) -> Flow[dict[TopicPartition, OffsetAndTimestamp]]:
    """What each partition has for its timestamp (ms), EARLIEST or LATEST."""
    tries = Tries(view, view.now + timeout_ms)
    found: dict[TopicPartition, OffsetAndTimestamp] = {}
    yield from know(view, sorted({topic for topic, _ in wanted}), timeout_ms=timeout_ms)
    while True:
        left = {place: stamp for place, stamp in wanted.items() if place not in found}
        if not left:
            return found
        asks = _asks(view, left, isolation)
        error: KafkaError | Unreachable | None = None
        outcomes = (yield asks) if asks else []
        for outcome in outcomes:
            error = _take(outcome, found) or error
        if len(found) == len(wanted):
            return found
        if error is None:  # nobody leads what is missing
            place = next(place for place in wanted if place not in found)
            error = KafkaError(ErrorCode.LEADER_NOT_AVAILABLE, about=named(place))
        elif _final(error):
            raise error
        yield from tries.again(error)
        yield from refresh(view, sorted({topic for topic, _ in left}))


def _final(error: KafkaError | Unreachable) -> bool:
    if isinstance(error, Unreachable):
        return error.final
    return not is_retriable(error.code) and error.code not in STALE


def _asks(view: View, left: Mapping[TopicPartition, int], isolation: int) -> list[Ask]:
    nodes: dict[int, dict[str, list[Struct]]] = {}
    for (topic, partition), stamp in left.items():
        leader = view.leader(topic, partition)
        if leader is None:
            continue
        row = {
            "partition_index": partition,
            "current_leader_epoch": leader.leader_epoch,
            "timestamp": stamp,
        }
        nodes.setdefault(leader.leader, {}).setdefault(topic, []).append(row)
    return [
        Ask(
            node,
            "ListOffsets",
            {
                "replica_id": -1,
                "isolation_level": isolation,
                "topics": [{"name": name, "partitions": rows} for name, rows in topics.items()],
            },
            versions=(1, LATEST_VERSION),
        )
        for node, topics in nodes.items()
    ]


def _take(
    outcome: Outcome, found: dict[TopicPartition, OffsetAndTimestamp]
) -> KafkaError | Unreachable | None:
    if not isinstance(outcome, Answer):
        return Unreachable(outcome)
    error = None
    for topic in outcome.body["topics"]:
        for part in topic["partitions"]:
            place = topic["name"], part["partition_index"]
            if part["error_code"]:
                error = KafkaError(part["error_code"], about=named(place))
            else:
                found[place] = OffsetAndTimestamp(part["offset"], part["timestamp"])
    return error
