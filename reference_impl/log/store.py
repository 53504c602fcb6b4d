"""Where a partition's log keeps its segments and the little that must outlive them.

The seam of `PartitionLog` towards memory and disk. The log decides when a segment begins, is cut,
replaced or goes; the store does it, and gives everything back when the log is opened again. What
is handed over is in force when the call returns, durable only after `flush` (LOG-14).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from touchstone.reference_impl.log.files.producer_snapshot import KnownProducer
from touchstone.reference_impl.log.segment import Segment


@dataclass(slots=True)
class StoreContents:
    """What a store held: never without a segment, the last one open for writing."""

    segments: list[Segment]
    log_start_offset: int = 0
    high_watermark: int = 0
    recovery_point: int = 0  # everything below is durable
    cleaned_to: int = 0  # everything below was compacted
    epochs: list[tuple[int, int]] = field(default_factory=list)  # (epoch, start offset)


class Store(Protocol):
    def open(self, now: int) -> StoreContents:
        """Everything as it was left, put right where a crash cut it short (LOG-09)."""

    def begin(self, base_offset: int, now: int) -> Segment:
        """An empty segment at the end of the log."""

    def remove(self, segments: Sequence[Segment], now: int) -> None:
        """They left the log, in this order; readers that hold one finish undisturbed (LOG-21)."""

    def begin_cleaned(self, base_offset: int, now: int) -> Segment:
        """An empty segment that is no part of the log until `replace` makes it one."""

    def replace(
        self, old: Sequence[Segment], cleaned: Sequence[Segment], now: int
    ) -> Sequence[Segment]:
        """Put `cleaned` in the place of `old`, whole or not at all; the segments to use."""

    def write_epochs(self, epochs: Sequence[tuple[int, int]]) -> None:
        """(epoch, start offset), oldest first, whenever they change."""

    def write_producers(self, offset: int, producers: Iterable[KnownProducer]) -> None:
        """The producers as of `offset`: at a roll and at the end (LOG-11)."""

    def latest_producers(self, offset: int) -> tuple[int, list[KnownProducer]]:
        """(where it was taken, what it says) of the newest snapshot not above `offset`."""

    def drop_producers(self, *, below: int | None = None, above: int | None = None) -> None:
        """Snapshots outside of the log are no use any more."""

    def flush(self, segments: Sequence[Segment]) -> None:
        """Return when these would survive a power cut (LOG-13)."""

    def flush_sealed(self, segments: Sequence[Segment], durable: Callable[[], None]) -> None:
        """The same for closed segments, perhaps later; `durable` is called once it is so."""

    def cut(self, offset: int) -> None:
        """The log ends at `offset` and will be written anew from there: no checkpoint that says
        more (durable, or where the log starts) may outlive this call."""

    def close(self) -> None:
        """Let go of what is open; the log is not used any more."""

    def delete(self, now: int) -> None:
        """The partition is no more here (LOG-22)."""
