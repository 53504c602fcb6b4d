"""The share coordinator keeps states of share partitions, and fences those who may not write.

The state of a share partition is a start offset, how many records behind it are done, and runs of
records that were delivered. It begins with an `initialise`, whose state epoch fences whoever knows
an older one; its leader epoch is that of the partition's leader that read it last, and fences
older leaders. A write is an update, every so often a snapshot of all.

Each call gives a `ShareResult`: the answer's row, and what is to be written before it counts, a
pair of the key and the new state (None: forget it) with what to call it. `take` makes it count.

Sources: ShareCoordinatorShard@4.3.1; KIP-932, KIP-1226; observed on 4.3.1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from touchstone.reference_impl.share.state_batches import NO_OFFSET, StateBatch, combined
from touchstone.reference_impl.wire.errors import ErrorCode as E

SharePartitionKey = tuple[str, bytes, int]  # group, topic id, partition
UNKNOWN_EPOCH = -1
NEGATIVE = "The partition id cannot be a negative number."
UNWRITTEN = "Write operation on uninitialized share partition not allowed."
UNREAD = "Read operation on uninitialized share partition not allowed."
NO_PARTITION = "This server does not host this topic-partition."
OLD_LEADER = "The leader epoch in the request is older than the epoch on the broker."
OLD_STATE = (
    "The share coordinator rejected the request because the share-group state epoch did not match."
)


@dataclass(frozen=True, slots=True)
class ShareState:
    snapshot_epoch: int
    state_epoch: int
    leader_epoch: int
    start: int
    done: int  # records Acknowledged or Archived from the start on; -1 if nobody said
    batches: tuple[StateBatch, ...]
    created: int  # ms
    written: int  # ms
    updates: int = 0  # since the last snapshot


class Fault(NamedTuple):
    """`early`: nobody looked at the request, so the answer also says what could not be done."""

    code: int
    message: str | None
    early: bool = False


class Write(NamedTuple):
    """A record: `whole` is a snapshot, else an update with these fields and batches."""

    key: SharePartitionKey
    kept: ShareState | None
    whole: bool = True


class ShareResult(NamedTuple):
    fault: Fault | None
    kept: ShareState | None = None
    write: Write | None = None


class ShareCoordinator:
    """`exists(topic id, partition)`; a snapshot follows after so many updates."""

    def __init__(self, exists: Callable[[bytes, int], bool], snapshot_after: int) -> None:
        self._exists = exists
        self._snapshot_after = snapshot_after
        self.kept: dict[SharePartitionKey, ShareState] = {}
        # The highest leader and state epochs.
        self._fences: dict[SharePartitionKey, tuple[int, int]] = {}

    def initialise(
        self, key: SharePartitionKey, state_epoch: int, start: int, now: int
    ) -> ShareResult:
        known = self.kept.get(key)
        if fault := self._negative(key):
            return ShareResult(fault)
        if UNKNOWN_EPOCH != state_epoch < self._fence(key)[1]:
            return ShareResult(Fault(E.FENCED_STATE_EPOCH, OLD_STATE))
        if fault := self._missing(key):
            return ShareResult(fault)
        number = known.snapshot_epoch + 1 if known else 0
        done = NO_OFFSET if start == NO_OFFSET else 0
        kept = ShareState(number, state_epoch, 0, start, done, (), now, now)
        return ShareResult(None, kept, Write(key, kept))

    def read(self, key: SharePartitionKey, leader_epoch: int, now: int) -> ShareResult:
        """The state, and from now on nobody with an older leader epoch has a say."""
        known = self._known(key, UNREAD, leader_epoch, UNKNOWN_EPOCH)
        if isinstance(known, Fault):
            return ShareResult(known)
        if leader_epoch in (UNKNOWN_EPOCH, self._fence(key)[0]):
            return ShareResult(None, known)
        write = self._written(key, known, (), known.start, known.done, leader_epoch, now)
        return ShareResult(None, known, write)

    def write(
        self,
        key: SharePartitionKey,
        *,
        state_epoch: int,
        leader_epoch: int,
        start: int,
        done: int,
        batches: Sequence[StateBatch],
        now: int,
    ) -> ShareResult:
        known = self._known(key, UNWRITTEN, leader_epoch, state_epoch)
        if isinstance(known, Fault):
            return ShareResult(known)
        write = self._written(key, known, batches, start, done, known.leader_epoch, now)
        return ShareResult(None, known, write)

    def summary(self, key: SharePartitionKey) -> ShareResult:
        if fault := self._negative(key) or self._missing(key):
            return ShareResult(fault)
        return ShareResult(None, self.kept.get(key))

    def delete(self, key: SharePartitionKey) -> ShareResult:
        if fault := self._negative(key) or self._missing(key):
            return ShareResult(fault)
        there = key in self.kept
        return ShareResult(None, None, Write(key, None) if there else None)

    def cold(self, keys: Sequence[SharePartitionKey], now: int, idle_ms: int) -> list[Write]:
        """Snapshots of those that nobody wrote to for so long, unless that is all there are."""
        known = [(key, self.kept[key]) for key in keys]
        if all(kept.created != kept.written for _, kept in known):
            return []
        return [
            Write(key, replace(kept, snapshot_epoch=kept.snapshot_epoch + 1, written=now))
            for key, kept in known
            if now - kept.written >= idle_ms
        ]

    def take(self, write: Write) -> None:
        """The record counts, or was read from the log."""
        known, new = self.kept.get(write.key), write.kept
        if new is None:
            self.kept.pop(write.key, None)
            self._fences.pop(write.key, None)
            return
        leader, state = self._fence(write.key)
        state = max(state, new.state_epoch) if write.whole else state
        self._fences[write.key] = max(leader, new.leader_epoch), state
        if write.whole or known is None:
            counted = known.updates if known and known.updates < self._snapshot_after else 0
            self.kept[write.key] = replace(new, updates=counted)
        else:
            start = known.start if new.start == NO_OFFSET else new.start
            self.kept[write.key] = replace(
                known,
                leader_epoch=known.leader_epoch if new.leader_epoch < 0 else new.leader_epoch,
                start=start,
                done=new.done,
                batches=tuple(combined(known.batches, new.batches, start)),
                updates=known.updates + 1,
            )

    def forget(self, wanted: Callable[[SharePartitionKey], bool]) -> None:
        """Let go of what another broker coordinates now."""
        for key in [key for key in self.kept if wanted(key)]:
            del self.kept[key]
            self._fences.pop(key, None)

    # --- checks ------------------------------------------------------------------------------

    def _known(
        self, key: SharePartitionKey, unknown: str, leader_epoch: int, state_epoch: int
    ) -> ShareState | Fault:
        """The state, if who asks is not behind; `unknown` is said where there is none."""
        if fault := self._negative(key):
            return fault
        known = self.kept.get(key)
        if known is None:
            return Fault(E.INVALID_REQUEST, unknown)
        if UNKNOWN_EPOCH != leader_epoch < self._fence(key)[0]:
            return Fault(E.FENCED_LEADER_EPOCH, OLD_LEADER)
        if UNKNOWN_EPOCH != state_epoch < self._fence(key)[1]:
            return Fault(E.FENCED_STATE_EPOCH, OLD_STATE)
        return self._missing(key) or known

    def _fence(self, key: SharePartitionKey) -> tuple[int, int]:
        return self._fences.get(key, (UNKNOWN_EPOCH, UNKNOWN_EPOCH))

    def _negative(self, key: SharePartitionKey) -> Fault | None:
        return Fault(E.INVALID_REQUEST, NEGATIVE) if key[2] < 0 else None

    def _missing(self, key: SharePartitionKey) -> Fault | None:
        there = self._exists(key[1], key[2])
        return None if there else Fault(E.UNKNOWN_TOPIC_OR_PARTITION, NO_PARTITION)

    def _written(
        self,
        key: SharePartitionKey,
        known: ShareState,
        batches: Sequence[StateBatch],
        start: int,
        done: int,
        leader_epoch: int,
        now: int,
    ) -> Write:
        if known.updates < self._snapshot_after:
            new = replace(
                known,
                start=start,
                done=done,
                leader_epoch=leader_epoch,
                batches=tuple(combined((), batches, start)),
            )
            return Write(key, new, whole=False)
        start = known.start if start == NO_OFFSET else start
        kept = ShareState(
            known.snapshot_epoch + 1,
            known.state_epoch,
            leader_epoch,
            start,
            done,
            tuple(combined(known.batches, batches, start)),
            now,
            now,
        )
        return Write(key, kept)
