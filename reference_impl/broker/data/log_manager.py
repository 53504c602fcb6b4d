"""A broker's log manager retains and compacts logs in its own time (LOG-03, LOG-23).

Three alarms. One looks at every log that is not compacted, each `log.retention.check.interval.ms`.
The second is Kafka's cleaner thread: it takes the dirtiest log that is worth it, cleans it, takes
the next, and when there is none it looks at the retention of compacted logs and rests for
`log.cleaner.backoff.ms`. A cleaning goes on in small pieces, so requests are served in between. A
log whose cleaning failed is left alone from then on, as Kafka marks it uncleanable. The third
forgets producers that have been silent for long (LOG-31).

Kafka waits 30 s before the first look and could not be told otherwise before 3.6
(`log.initial.task.delay.ms`); here every persona can.

Sources: LogManager.cleanupLogs, LogCleaner.CleanerThread at 1.0.2, 2.2.1, 2.8.2, 3.9;
Log.removeExpiredProducers at 2.8.2, KIP-854 (producer.id.expiration.ms).
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING

from touchstone.reference_impl.broker.configs import config_view
from touchstone.reference_impl.broker.configs.config_values import is_true
from touchstone.reference_impl.broker.replication.partitions import log_key
from touchstone.reference_impl.log.cleaner import Cleaning
from touchstone.reference_impl.log.dirtiness import Dirty, dirty_part
from touchstone.reference_impl.log.retention import retain
from touchstone.reference_impl.log.topic_config import TopicConfig

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker
    from touchstone.reference_impl.cluster.replica import Replica
    from touchstone.reference_impl.log.partition_log import PartitionLog

LOG = logging.getLogger("touchstone.log_manager")
_KEY_BYTES, _FILLED = 24, 0.9  # of an entry in Kafka's offset map, and how full it may get


class LogManager:
    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._begun = False
        self._running: Iterator[None] | None = None
        self._uncleanable: set[PartitionLog] = set()

    def begin(self, now: int) -> None:
        """There is a log now; harmless when repeated."""
        if not self._begun:
            self._begun = True
            self._remind_retention(now + self._number("log.initial.task.delay.ms", 30_000))
            self._remind_producers(now)
            if is_true(config_view.setting(self._broker, "log.cleaner.enable")):
                self._remind_cleaner(now + self._number("log.cleaner.backoff.ms", 15_000))

    def _number(self, name: str, default: int) -> int:
        text = config_view.setting(self._broker, name)
        return default if text is None else int(text)

    def _replicas(self, *, compact: bool) -> list[Replica]:
        config_of = self._broker.config_of
        return [
            replica
            for replica in self._broker.replicas
            if not replica.offline and config_of(replica.topic).compact == compact
        ]

    # --- retention ---------------------------------------------------------------------------

    def _remind_retention(self, at: int) -> None:
        self._broker.purgatory.remind(("retention", self._broker.id), at, self._look)

    def _look(self, now: int) -> None:
        interval = self._number("log.retention.check.interval.ms", 300_000)
        self._remind_retention(now + max(1, interval))
        self._retain(self._replicas(compact=False), now)

    def _retain(self, replicas: list[Replica], now: int) -> None:
        for replica in replicas:
            config = self._broker.config_of(replica.topic)
            try:
                dropped = retain(replica.log, config, self._broker.cluster.wall(now))
            except Exception:  # the others are not to suffer for it
                LOG.exception("retention of %s failed", replica.log.name)
                continue
            if dropped:
                self._broker.purgatory.touch(log_key(replica.topic, replica.index))

    # --- producers ---------------------------------------------------------------------------

    def _remind_producers(self, now: int) -> None:
        at = now + max(1, self._number("producer.id.expiration.check.interval.ms", 600_000))
        self._broker.purgatory.remind(("producers", self._broker.id), at, self._forget_producers)

    def _forget_producers(self, now: int) -> None:
        """Forget silent producers (LOG-31), before 3.4 as long as a transactional id."""
        self._remind_producers(now)
        older = self._number("transactional.id.expiration.ms", 604_800_000)
        most_idle = self._number("producer.id.expiration.ms", older)
        for replica in self._broker.replicas:
            replica.log.producers.forget_idle(self._broker.cluster.wall(now), most_idle)

    # --- compaction --------------------------------------------------------------------------

    def _remind_cleaner(self, at: int) -> None:
        self._broker.purgatory.remind(("cleaner", self._broker.id), at, self._work)

    def _work(self, now: int) -> None:
        """Do one piece of a cleaning, or look whether there is one to do."""
        if self._running is None:
            self._running = self._next(self._broker.cluster.wall(now))
        if self._running is None:
            self._retain(self._replicas(compact=True), now)
            self._remind_cleaner(now + max(1, self._number("log.cleaner.backoff.ms", 15_000)))
            return
        self._remind_cleaner(now + 1)
        if next(self._running, self) is self:
            self._running = None

    def _next(self, now: int) -> Iterator[None] | None:
        """The cleaning of the dirtiest log that is worth it."""
        broker = self._broker
        found = []
        for replica in self._replicas(compact=True):
            if replica.log not in self._uncleanable:
                config = broker.config_of(replica.topic)
                dirty = dirty_part(replica.log, config, now)
                if dirty.worth_it(config):
                    found.append((dirty.ratio, replica.log, dirty, config))
        if not found:
            return None
        _, log, dirty, config = max(found, key=lambda row: row[0])
        return self._guarded(self._cleaning(log, dirty, config, now))

    def _cleaning(self, log: PartitionLog, dirty: Dirty, config: TopicConfig, now: int) -> Cleaning:
        buffer = self._number("log.cleaner.dedupe.buffer.size", 128 << 20)
        return Cleaning(
            log,
            dirty,
            config,
            now,
            horizons=self._broker.persona.quirk("cleaner.delete-horizons"),
            room=max(1, int(buffer * _FILLED / _KEY_BYTES)),
        )

    def _guarded(self, cleaning: Cleaning) -> Iterator[None]:
        try:
            yield from cleaning.run()
        except Exception:
            LOG.exception("%s cannot be cleaned", cleaning.log.name)
            self._uncleanable.add(cleaning.log)
