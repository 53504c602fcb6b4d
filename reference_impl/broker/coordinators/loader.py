"""A coordinator's log is read into memory from its start to its end, a piece at a time.

Sources: GroupMetadataManager.loadGroupsAndOffsets at 2.8.2; CoordinatorLoaderImpl at 4.3.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from touchstone.reference_impl.log.partition_log import LOG_END

if TYPE_CHECKING:
    from touchstone.reference_impl.log.partition_log import PartitionLog

Read = Callable[[bytes], int | None]  # record bytes -> the offset after the last of them


class LogLoader:
    """Reads one log into memory, `buffer` bytes at a time."""

    def __init__(self, log: PartitionLog, buffer: int, read: Read) -> None:
        self._log, self._buffer, self._read = log, buffer, read
        self._offset = log.log_start_offset

    def turn(self) -> bool:
        """Read one piece; whether it was the last."""
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

    def whole(self) -> None:
        """Read all of it."""
        while not self.turn():
            pass
