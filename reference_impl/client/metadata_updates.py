"""A producer's metadata requests: topics are asked for beside everything else that is under way.

Whoever misses a topic or doubts a leader says so, and the next request asks for all that was said
(PROD-16); one is under way at a time. A request that nobody answers, or that did not help, is
followed by the next one after a backoff. What is in use is asked for again when it grows old, and
what is not in use is forgotten (PROD-18).

Source: ProducerMetadata, KafkaProducer.waitOnMetadata at 4.3.1.
"""

from __future__ import annotations

from collections.abc import Iterable

from .flow import ANY, LATEST_VERSION, Ask, Failed, Outcome
from .metadata import View


class MetadataUpdates:
    """`max_age_ms` is metadata.max.age.ms, `max_idle_ms` is metadata.max.idle.ms."""

    def __init__(self, view: View, *, max_age_ms: int, max_idle_ms: int, timeout_ms: int):
        self.view = view
        self.max_age_ms = max_age_ms
        self.max_idle_ms = max_idle_ms
        self.timeout_ms = timeout_ms
        self.errors: dict[str, int] = {}  # topic -> what the last answer said of it
        self.answered: dict[str, int] = {}  # topic -> how many answers were about it
        self.used: dict[str, int] = {}  # topic -> when a record was last sent to it
        self._wanted: set[str] = set()
        self._asked: frozenset[str] = frozenset()
        self._under_way = False
        self._not_before = 0
        self._attempt = 0
        self._learned_at = view.now

    def use(self, topic: str) -> None:
        self.used[topic] = self.view.now

    def request(self, topics: Iterable[str]) -> None:
        """What is known of these is doubted: an answer that is asked for from now on is needed."""
        self._wanted.update(topics)

    def want(self, topics: Iterable[str]) -> None:
        """These are not known: the answer that is under way will do, if it is about them."""
        under_way = self._asked if self._under_way else ()
        self._wanted.update(each for each in topics if each not in under_way)

    def grow_old(self) -> None:
        """Ask for what is in use if the last answer is too old, and forget what is not."""
        now = self.view.now
        if now - self._learned_at < self.max_age_ms:
            return
        self._learned_at = now
        self.used = {topic: at for topic, at in self.used.items() if now - at < self.max_idle_ms}
        self.request(self.used)

    def ask(self) -> list[Ask]:
        """The next request, if one is due."""
        if self._under_way or not self._wanted or self.view.now < self._not_before:
            return []
        self._under_way, self._asked = True, frozenset(self._wanted)
        self._wanted = set()
        rows = [{"name": name} for name in sorted(self._asked)]
        body = {"topics": rows, "allow_auto_topic_creation": True}
        patience = max(1, min(self.timeout_ms, self.view.patience_ms))
        return [Ask(ANY, "Metadata", body, versions=(1, LATEST_VERSION), timeout_ms=patience)]

    def took(self, outcome: Outcome) -> None:
        """Learn; the next one waits for a backoff, which grows while answers do not help."""
        self._under_way = False
        self._not_before = self.view.now + self.view.backoff.delay(self._attempt)
        self._attempt += 1
        if isinstance(outcome, Failed):
            self._wanted |= self._asked
            return
        self.view.update(outcome.body)
        rows = {row["name"]: row["error_code"] for row in outcome.body["topics"]}
        for name in self._asked:
            self.errors[name] = rows.get(name, 0)
            self.answered[name] = self.answered.get(name, 0) + 1
        if all(self._helped(name) for name in self._asked):
            self._attempt, self._not_before = 0, self.view.now

    def _helped(self, name: str) -> bool:
        known = self.view.topic(name)
        return known is not None and known.ready and bool(known.partitions)

    def wake_at(self) -> int | None:
        """When the next request is due that is not under way yet."""
        return self._not_before if self._wanted and not self._under_way else None
