"""A transaction's coordinator sends its markers to every partition's leader.

A leader that is this broker writes at once; another is asked by WriteTxnMarkers. What fails for a
reason that passes is tried again in a while, for as long as the coordinator leads; a partition that
is no more needs no marker, and one whose producer or coordinator has moved on wants none.

Sources: TransactionMarkerChannelManager and TransactionMarkerRequestCompletionHandler at 1.0.2,
2.8.2; KIP-98.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from touchstone.reference_impl.broker.coordinators.marker_writing import Mark, MarkerWriter
from touchstone.reference_impl.cluster.topology import NO_LEADER
from touchstone.reference_impl.txn.coordinator import AGAIN_MS
from touchstone.reference_impl.txn.transaction import Transaction
from touchstone.reference_impl.wire.errors import ErrorCode as E
from touchstone.reference_impl.wire.schema import Struct

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker

WRITE_TXN_MARKERS, CHANNEL = 27, "transactions"
_DONE = {E.NONE, E.UNSUPPORTED_FOR_MESSAGE_FORMAT}
_NOT_WANTED = {E.INVALID_PRODUCER_EPOCH, E.TRANSACTION_COORDINATOR_FENCED}


def have_marked(
    broker: Broker,
    one: Transaction,
    commit: bool,
    coordinator_epoch: int,
    now: int,
    done: Callable[[int], None],
    wanted: Callable[[], bool],
) -> None:
    """Write markers of this outcome into every partition of the transaction, then call `done`.

    Nothing is sent any more once it is not `wanted`: another coordinator sees to it.
    """
    mark = Mark(one.producer_id, one.epoch, commit, coordinator_epoch, one.version)
    _MarkerDelivery(broker, one.id, mark, set(one.partitions), done, wanted).go(now)


class _MarkerDelivery:
    """The markers of one end that are not written yet."""

    def __init__(
        self,
        broker: Broker,
        name: str,
        mark: Mark,
        left: set[tuple[str, int]],
        done: Callable[[int], None],
        wanted: Callable[[], bool],
    ) -> None:
        self.broker, self.name, self.mark = broker, name, mark
        self.left, self.done, self.wanted = left, done, wanted
        self.away: set[tuple[str, int]] = set()  # asked for, not answered
        self.over = False

    def go(self, now: int) -> None:
        """Send what is neither written nor on its way."""
        if not self.wanted():
            return
        by_leader: dict[int, list[tuple[str, int]]] = {}
        for topic, index in sorted(self.left - self.away):
            partition = self.broker.metadata.partition(topic, index)
            if partition is None:
                self.left.discard((topic, index))
            elif partition.leader != NO_LEADER:
                by_leader.setdefault(partition.leader, []).append((topic, index))
        for leader, partitions in by_leader.items():
            self.away.update(partitions)
            if leader == self.broker.id:
                for each in partitions:
                    self.broker.room(MarkerWriter).write(*each, self.mark, now, self._written(each))
            else:
                self._ask(leader, partitions)
        self._settle(now)

    def _written(self, partition: tuple[str, int]) -> Callable[[int, int], None]:
        def then(code: int, now: int) -> None:
            self._marked({partition: code})
            self._settle(now)

        return then

    def _marked(self, codes: dict[tuple[str, int], int]) -> None:
        for partition, code in codes.items():
            self.away.discard(partition)
            if code in _NOT_WANTED:
                self.over = True
            elif code in _DONE:
                self.left.discard(partition)

    def _settle(self, now: int) -> None:
        if self.over or self.away:
            return
        if not self.left:
            self.over = True
            self.done(now)
            return
        key = ("markers", self.broker.id, self.name, self.mark)
        self.broker.purgatory.remind(key, now + AGAIN_MS, self.go)

    def _ask(self, leader: int, partitions: list[tuple[str, int]]) -> None:
        topics: dict[str, list[int]] = {}
        for topic, index in partitions:
            topics.setdefault(topic, []).append(index)
        mark = self.mark
        body = {
            "producer_id": mark.producer_id,
            "producer_epoch": mark.producer_epoch,
            "transaction_result": mark.commit,
            "topics": [{"name": t, "partition_indexes": rows} for t, rows in topics.items()],
            "coordinator_epoch": mark.coordinator_epoch,
            "transaction_version": mark.version,
        }
        _, version = self.broker.persona.listed()[WRITE_TXN_MARKERS]

        def then(answer: Struct | None, now: int) -> None:
            codes: dict[tuple[str, int], int] = dict.fromkeys(partitions, E.REQUEST_TIMED_OUT)
            for marker in answer["markers"] if answer else ():
                for topic in marker["topics"]:
                    for row in topic["partitions"]:
                        codes[topic["name"], row["partition_index"]] = row["error_code"]
            self._marked(codes)
            self._settle(now)

        self.broker.ask(
            leader, WRITE_TXN_MARKERS, version, {"markers": [body]}, then, channel=CHANNEL
        )
