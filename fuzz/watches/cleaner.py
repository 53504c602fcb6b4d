"""The log cleaner is alive: a compacted topic still loses what later records replaced.

Kafka's cleaner is a thread that an exception can end; nothing else shows it. Records of one key are
written, each in a segment of its own (their timestamps are further apart than segment.ms), and the
first of them must be gone in the end while the last one that is cleaned stays.
"""

from __future__ import annotations

from touchstone.fuzz.watches.topics import batches, create, delete, produce
from touchstone.fuzz.watches.watch import (
    CANARY,
    NotWatched,
    Played,
    Watch,
    Watched,
    Wrong,
    eventually,
    name_of,
)
from touchstone.reference_impl.wire.records import build

TOPIC = f"{CANARY}-compacted"
SETTINGS = {
    "cleanup.policy": "compact", "segment.ms": "1000", "min.cleanable.dirty.ratio": "0.01",
    "min.compaction.lag.ms": "0", "delete.retention.ms": "60000",
}  # fmt: skip
BEGIN, APART = 1_700_000_000_000, 10_000  # ms
RECORDS = 8
PATIENCE_S = 60.0
BACKOFF = "log.cleaner.backoff.ms"


class Cleaner(Watch):
    def before(self, target: Watched) -> None:
        self.asker = target.asker()
        if target.endpoint.settings and BACKOFF not in target.endpoint.settings:
            raise NotWatched(f"nothing is known of its {BACKOFF}")
        create(self.asker, TOPIC, settings=SETTINGS)
        self.left = RECORDS

    def after(self, now: float, played: Played) -> str | None:
        self.asker.close()  # a broker ends a connection that was idle for ten minutes
        for number in range(RECORDS):
            value = f"{number:09}".encode()
            row = produce(
                self.asker, TOPIC, 0, build(2, [(b"k", value)], timestamp=BEGIN + number * APART)
            )
            if row is None or row["error_code"]:
                raise Wrong(f"Produce answers {name_of(row['error_code']) if row else 'nothing'}")
        eventually(self._cleaned, self.asker.link, "the log cleaner does not clean", PATIENCE_S)
        values = self._values()
        delete(self.asker, TOPIC)
        # The last one stands in the segment that is written to, which is not cleaned.
        missing = {f"{number:09}" for number in (RECORDS - 2, RECORDS - 1)} - {*values}
        return f"compaction removed the last record of a key: {missing}" if missing else None

    def _cleaned(self) -> bool:
        self.left = len(self._values())
        return self.left < RECORDS - 2

    def _values(self) -> list[str]:
        return [
            record["value"].decode()
            for entry in batches(self.asker, TOPIC, 0, 0)
            for record in entry["records"]
        ]

    def figures(self) -> str:
        return f"{self.left} of {RECORDS} records of one key are left"
