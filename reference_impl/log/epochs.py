"""Which leader epoch began at which offset (KIP-101): what OffsetForLeaderEpoch answers from.

Epochs and start offsets both only grow: a new entry removes those it contradicts, as
LeaderEpochFileCache does (APPEND-16).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right

UNDEFINED = -1


class LeaderEpochs:
    def __init__(self) -> None:
        self._epochs: list[int] = []
        self._starts: list[int] = []

    @property
    def latest(self) -> int:
        return self._epochs[-1] if self._epochs else UNDEFINED

    def assign(self, epoch: int, start_offset: int) -> bool:
        """A batch of `epoch` was written at `start_offset`; whether that was news."""
        if self._epochs and epoch == self._epochs[-1]:
            return False
        while self._epochs and (self._epochs[-1] >= epoch or self._starts[-1] >= start_offset):
            self._epochs.pop()
            self._starts.pop()
        self._epochs.append(epoch)
        self._starts.append(start_offset)
        return True

    def rows(self) -> list[tuple[int, int]]:
        """(epoch, start offset), oldest first."""
        return list(zip(self._epochs, self._starts, strict=True))

    def end_offset(
        self, epoch: int, log_end_offset: int, *, older_end_with_first: bool = True
    ) -> tuple[int, int]:
        """(largest known epoch <= `epoch`, where the next one begins), or two UNDEFINED."""
        if epoch == UNDEFINED or not self._epochs or epoch > self._epochs[-1]:
            return UNDEFINED, UNDEFINED
        at = bisect_right(self._epochs, epoch)
        if at == 0:
            return (epoch, self._starts[0]) if older_end_with_first else (UNDEFINED, UNDEFINED)
        if at == len(self._epochs):
            return self._epochs[-1], log_end_offset
        return self._epochs[at - 1], self._starts[at]

    def epoch_at(self, offset: int) -> int:
        """The epoch a record at `offset` was written in."""
        at = bisect_right(self._starts, offset)
        return self._epochs[at - 1] if at else UNDEFINED

    def truncate_end(self, offset: int) -> bool:
        """The log now ends at `offset`: epochs that began there or later go; whether any did."""
        at = bisect_left(self._starts, offset)
        found = at < len(self._starts)
        del self._epochs[at:], self._starts[at:]
        return found

    def clear(self) -> None:
        self._epochs.clear()
        self._starts.clear()

    def truncate_start(self, offset: int) -> None:
        """The log now begins at `offset`; the epoch in force there keeps an entry."""
        at = bisect_right(self._starts, offset)
        if at > 1:
            del self._epochs[: at - 1], self._starts[: at - 1]
        if self._starts and self._starts[0] < offset:
            self._starts[0] = offset
