"""Whether what was read up to a position is still there: log truncation, noticed (KIP-320).

A new leader may have lost records that a consumer has read. So a position remembers the leader
epoch of the last record before it, and where a partition's leader epoch moves on, the new leader is
asked where that epoch ended. An end below the position means that the log was cut there. Brokers
before OffsetForLeaderEpoch v3 cannot be asked, and are believed.

Sources: SubscriptionState.maybeValidatePositionForCurrentLeader, .maybeCompleteValidation and
OffsetsForLeaderEpochUtils at 4.3.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

from .flow import LATEST_VERSION, Answer, Ask, TopicPartition
from .metadata import Partition, View

UNKNOWN = -1
_V_CONSUMERS = 3  # from here on consumers may ask


class EpochEnd(NamedTuple):
    """What a leader says of a position's epoch: its error, or where the epoch ended.

    `offset` is exclusive; UNKNOWN where the leader has no such epoch, nor an earlier one.
    """

    place: TopicPartition
    error: int
    leader_epoch: int
    offset: int


class PositionEpochs:
    """The leader epochs of what was read, and under which leader each position was found good."""

    def __init__(self, view: View):
        self._view = view
        self._read: dict[TopicPartition, int] = {}
        self._good: dict[TopicPartition, int] = {}

    def read(self, place: TopicPartition, epoch: int) -> None:
        """The record before the position has this leader epoch; UNKNOWN: nothing is known of it."""
        if epoch == UNKNOWN:
            self.forget(place)
        else:
            self._read[place] = epoch

    def good(self, place: TopicPartition, leader_epoch: int) -> None:
        """The leader of this epoch has all that was read; an older one's word comes too late."""
        self._good[place] = max(leader_epoch, self._good.get(place, UNKNOWN))

    def of(self, place: TopicPartition) -> int:
        """The leader epoch of the record before the position, or UNKNOWN."""
        return self._read.get(place, UNKNOWN)

    def forget(self, place: TopicPartition) -> None:
        """The position is another one now, and nothing was read before it."""
        self._read.pop(place, None)
        self._good.pop(place, None)

    def keep(self, places: Iterable[TopicPartition]) -> None:
        """Forget all partitions but these."""
        for gone in {*self._read, *self._good} - set(places):
            self.forget(gone)

    def is_due(self, place: TopicPartition, leader: Partition) -> bool:
        """Whether this leader has to be asked before it is read from."""
        return (
            place in self._read
            and leader.leader_epoch != UNKNOWN
            and leader.leader_epoch != self._good.get(place)
        )

    def requests(self, leaders: Mapping[TopicPartition, Partition], timeout_ms: int) -> list[Ask]:
        """One request to each leader about all of these that are due."""
        nodes: dict[int, dict[str, list[Struct]]] = {}
        for place, leader in leaders.items():
            if self.is_due(place, leader):
                row = {
                    "partition": place[1],
                    "current_leader_epoch": leader.leader_epoch,
                    "leader_epoch": self._read[place],
                }
                nodes.setdefault(leader.leader, {}).setdefault(place[0], []).append(row)
        return [
            Ask(
                node,
                "OffsetForLeaderEpoch",
                {
                    "replica_id": -1,
                    "topics": [{"topic": name, "partitions": rows} for name, rows in each.items()],
                },
                timeout_ms,
                (_V_CONSUMERS, LATEST_VERSION),
            )
            for node, each in nodes.items()
        ]


def ends(answer: Answer) -> Iterator[EpochEnd]:
    """What an answer says of each partition."""
    for topic in answer.body["topics"]:
        for row in topic["partitions"]:
            place = topic["topic"], row["partition"]
            yield EpochEnd(place, row["error_code"], row["leader_epoch"], row["end_offset"])


def was_cut(end: EpochEnd, position: int) -> bool:
    """Whether the log was truncated below `position`."""
    return end.error == ErrorCode.NONE and (
        end.offset == UNKNOWN or end.leader_epoch == UNKNOWN or end.offset < position
    )
