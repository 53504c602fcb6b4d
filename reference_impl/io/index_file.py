"""A sparse index on disk: entries of one size whose first number grows, found by halving.

Serves the offset index and the time index. The latest entries are kept back and written in lumps:
an index is rebuilt from the log after any end that was not clean, so nothing depends on them.
Lookups read single entries; memory does not grow with the index.

Sources: AbstractIndex, OffsetIndex, TimeIndex at 2.8.2 and 4.3.1; LOG-12.
"""

from __future__ import annotations

from struct import Struct

from touchstone.reference_impl.io.disk import File

_LUMP = 512


class IndexFile:
    __slots__ = ("_entry", "_file", "_held", "_written", "count")

    def __init__(self, file: File, entry: Struct, count: int) -> None:
        """`count` entries are in the file; what lies behind them is filling."""
        self._file = file
        self._entry = entry
        self._held = bytearray()  # behind the first `_written` entries
        self._written = count
        self.count = count

    def append(self, *fields: int) -> None:
        self._held += self._entry.pack(*fields)
        self.count += 1
        if len(self._held) >= _LUMP:
            self.write_out()

    def write_out(self) -> None:
        if self._held:
            self._file.write(self._held, self._written * self._entry.size)
            self._written = self.count
            self._held.clear()

    def __getitem__(self, at: int) -> tuple[int, ...]:
        size = self._entry.size
        if at >= self._written:
            return self._entry.unpack_from(self._held, (at - self._written) * size)
        return self._entry.unpack(self._file.read(size, at * size))

    def floor(self, number: int) -> int:
        """Index of the last entry whose first field is not above `number`, or -1."""
        low, high = 0, self.count
        while low < high:
            middle = (low + high) // 2
            if self[middle][0] <= number:
                low = middle + 1
            else:
                high = middle
        return low - 1

    def truncate(self, count: int) -> None:
        """Keep the first `count` entries, and no filling behind them."""
        self.write_out()
        self.count = self._written = count
        self._file.truncate(count * self._entry.size)

    def flush(self) -> None:
        self.write_out()
        self._file.sync()
