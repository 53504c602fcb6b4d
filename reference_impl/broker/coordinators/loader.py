"""A coordinator's log is read into memory from its start to its end, a piece at a time.

Sources: GroupMetadataManager.loadGroupsAndOffsets at 2.8.2; CoordinatorLoaderImpl at 4.3.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from touchstone.reference_impl.log.partition_log import LOG_END
from touchstone.reference_impl.log.rules import LogError
from touchstone.reference_impl.wire.codec import DecodeError
from touchstone.reference_impl.wire.records import RecordError

if TYPE_CHECKING:
    from touchstone.reference_impl.log.partition_log import PartitionLog

LOG = logging.getLogger("touchstone.coordinators")
Read = Callable[[bytes], int | None]  # record bytes -> the offset after the last of them
_DAMAGE = (DecodeError, RecordError, LogError, KeyError)  # KeyError: a state that nobody knows


class LogLoader:
    """Reads one log into memory, `buffer` bytes at a time."""

    def __init__(
        self, log: PartitionLog, buffer: int, read: Read, *, to_the_damage: bool = False
    ) -> None:
        """With `to_the_damage`, a log is whole that ends where it cannot be read on."""
        self._log, self._buffer, self._read = log, buffer, read
        self._to_the_damage = to_the_damage
        self._offset = log.log_start_offset

    def turn(self) -> bool:
        """Read one piece; whether it was the last."""
        try:
            return self._turn()
        except _DAMAGE as fault:
            if not self._to_the_damage:
                raise
            LOG.error("%s is damaged, what stood before that counts: %s", self._log.name, fault)
            return True

    def _turn(self) -> bool:
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
