"""A coordinator with a log that is a list and markers that wait to be written, and made-up time."""

from __future__ import annotations

from itertools import count

from touchstone.reference_impl.broker.defects import plant
from touchstone.reference_impl.txn.coordinator import Coordinator, Producer, Rules
from touchstone.reference_impl.wire.errors import ErrorCode

PARTITION = 0
T = frozenset({("t", 0)})


class World:
    """Everything a coordinator needs from outside, in the test's hands."""

    def __init__(self, *, switches=(), instant=True, **rules):
        self.now = 1000
        self.kept = []  # (id, Transaction or None), in order
        self.marks = []  # (transaction, commit, done) not yet written
        self.writes = []  # `then` of writes that wait, unless `instant`
        self.instant = instant
        self.fails_with = ErrorCode.NONE
        self.alarms = {}
        ids = count(100)
        defaults = {
            "max_timeout_ms": 900_000,
            "expiration_ms": 10_000,
            "timeout_check_ms": 100,
            "expiry_check_ms": 1000,
            "equal_epochs": True,
            "fences_gently": False,
            "keeps_start": False,
            "version": 0,
        }
        self.coordinator = Coordinator(
            Rules(**{**defaults, **rules}),
            partition_of=lambda name: PARTITION,
            new_id=lambda: next(ids),
            keep=self._keep,
            mark=lambda one, commit, epoch, now, done: self.marks.append((one, commit, done)),
            alarm=lambda name, at: self.alarms.__setitem__(name, at),
        )
        plant(self.coordinator, switches)
        self.coordinator.lead(PARTITION, 3, {}, self.now)

    def _keep(self, partition, epoch, name, to, now, then):
        def through():
            if not self.fails_with:
                self.kept.append((name, to))
            then(self.fails_with, self.now)

        if self.instant:
            through()
        else:
            self.writes.append(through)

    def begin(self, expected=None, timeout_ms=1000):
        return self.coordinator.begin("x", timeout_ms, expected, self.now).answer

    def producer(self, **how) -> Producer:
        answer = self.begin(**how)
        assert answer["error_code"] == ErrorCode.NONE, answer
        return Producer(answer["producer_id"], answer["producer_epoch"])

    def add(self, producer, partitions=T):
        return self.coordinator.add("x", producer, partitions, self.now).answer

    def end(self, producer, commit=True, bumps=False):
        return self.coordinator.end("x", producer, commit, bumps=bumps, now=self.now).answer

    def mark(self):
        """The oldest markers are written everywhere."""
        self.marks.pop(0)[2](self.now)

    def advance(self, ms):
        """To a later instant, with every alarm on the way."""
        until = self.now + ms
        while due := [(at, name) for name, at in self.alarms.items() if at <= until]:
            at, name = min(due)
            self.now = at
            del self.alarms[name]
            self.coordinator.tick(name, at)
        self.now = until

    @property
    def one(self):
        return self.coordinator.led[PARTITION].entries["x"].transaction
