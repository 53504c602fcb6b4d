"""Reading a coordinator's log into memory: an activity that takes turns, not one long turn.

Whoever begins to lead a partition of an internal topic reads it from its start to its end before it
serves what is kept there; until then it answers COORDINATOR_LOAD_IN_PROGRESS (OFFS-25, GROUP-04).
A turn reads as much as Kafka reads at once, `offsets.load.buffer.size` or
`transaction.state.log.load.buffer.size`, so a small log is there at the end of the first turn, and
a test that wants to see a coordinator load makes the buffer small. Whoever stops leading meanwhile
takes the activity back; records appended meanwhile (markers) are read as well.

Sources: GroupMetadataManager.loadGroupsAndOffsets, TransactionStateManager.loadTransactions at
2.8.2; CoordinatorLoaderImpl at 4.3.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from touchstone.reference_impl.log.partition_log import LOG_END

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker
    from touchstone.reference_impl.log.partition_log import PartitionLog

Read = Callable[[bytes], int | None]  # record bytes -> the offset after the last of them
_STATE = "loading"
TURN_MS = 1  # between two turns, in which requests are served


class LogLoader:
    """One log on its way into memory; `turn` reads a piece and says whether that was the last."""

    def __init__(self, log: PartitionLog, buffer: int, read: Read) -> None:
        self._log, self._buffer, self._read = log, buffer, read
        self._offset = log.log_start_offset

    def turn(self) -> bool:
        if self._offset >= self._log.log_end_offset:
            return True
        records = self._log.read(
            self._offset, self._buffer, min_one=True, isolation=LOG_END
        ).records
        after = self._read(records)
        if after is None or after <= self._offset:
            return True
        self._offset = after
        return after >= self._log.log_end_offset


def whole(log: PartitionLog, buffer: int, read: Read) -> None:
    """All of it in one turn."""
    loading = LogLoader(log, buffer, read)
    while not loading.turn():
        pass


def begin(
    broker: Broker,
    place: tuple[str, int],
    loading: LogLoader,
    done: Callable[[int], None],
    now: int,
) -> None:
    """Take the first turn and go on until all is read; then `done(now)`, maybe before this ends."""
    standing = broker.state.setdefault(_STATE, {})
    standing[place] = loading

    def turn(at: int) -> None:
        if standing.get(place) is not loading:
            return
        if loading.turn():
            del standing[place]
            done(at)
        else:
            broker.purgatory.remind((_STATE, broker.id, *place), at + TURN_MS, turn)

    turn(now)


def stop(broker: Broker, place: tuple[str, int]) -> None:
    """Somebody else leads it; harmless when nothing was being read."""
    broker.state.get(_STATE, {}).pop(place, None)


def goes_on(broker: Broker, topic: str, index: int | None = None) -> bool:
    """Whether this partition of the topic is being read, or any."""
    standing = broker.state.get(_STATE)
    if not standing:
        return False
    return any(place[0] == topic and index in (None, place[1]) for place in standing)
