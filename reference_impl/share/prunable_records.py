"""Some records of `__share_group_state` are redundant and may be deleted.

A share partition is read from its last snapshot on, so all that is before the oldest of all last
snapshots says nothing any more. One that is forgotten needs nothing: its tombstone counts once, as
the last that was written, and holds nothing back from then on. Whoever is not written to for long
does; that is what snapshots of cold share partitions are for.

Sources: ShareCoordinatorOffsetsManager@4.3.1.
"""

from __future__ import annotations

from touchstone.reference_impl.share.coordinator import SharePartitionKey, Write


class PrunableRecords:
    """`before` is the first offset that is needed; None as long as all are."""

    def __init__(self) -> None:
        self.before: int | None = None
        self._last: dict[SharePartitionKey, int] = {}  # offsets of last snapshots

    def note(self, offset: int, write: Write) -> None:
        """A record that the log holds at this offset, in the order of the log."""
        if not write.whole:
            return
        self._last[write.key] = offset
        self.before = min(self._last.values()) or None
        if write.kept is None:
            del self._last[write.key]
