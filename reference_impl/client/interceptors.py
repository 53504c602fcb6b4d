"""Somebody who sees every record before it is sent and every acknowledgement (KIP-42).

Interceptors are asked in their order, each with what the last good one returned. What one of them
raises is logged and changes nothing (PROD-10, PROD-12).

Source: ProducerInterceptors at 4.3.1.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from touchstone.reference_impl.wire.records.batch import Header

from .flow import TopicPartition
from .producer_batch import Delivery

LOG = logging.getLogger("touchstone.client.producer")


@dataclass(slots=True)
class ProducerRecord:
    """A record as an application gives it; `partition` and `timestamp` (ms) may be left open."""

    topic: str
    value: Any
    key: Any = None
    partition: int | None = None
    headers: list[Header] = field(default_factory=list)
    timestamp: int | None = None


class ProducerInterceptor(Protocol):
    def on_send(self, record: ProducerRecord) -> ProducerRecord:
        """The record to send: this one, changed or not, or another."""

    def on_acknowledgement(
        self, place: TopicPartition, offset: int, error: Exception | None, delivery: Delivery | None
    ) -> None:
        """One record is done; partition and offset are -1 where nobody knows them."""

    def close(self) -> None:
        """The producer is closed."""


class Interceptors:
    def __init__(self, each: Sequence[Any] = (), configs: Mapping[str, Any] | None = None):
        self._each: list[ProducerInterceptor] = []
        try:
            for given in each:
                made = given() if isinstance(given, type) else given
                if isinstance(given, type) and hasattr(made, "configure"):
                    made.configure(configs or {})
                self._each.append(made)
        except Exception:
            self.close()  # of those that were made (PROD-07)
            raise

    def __bool__(self) -> bool:
        return bool(self._each)

    def on_send(self, record: ProducerRecord) -> ProducerRecord:
        for each in self._each:
            try:
                record = each.on_send(record)
            except Exception:
                LOG.warning(
                    "Error executing interceptor onSend callback for topic: %s, partition: %s",
                    record.topic,
                    record.partition,
                    exc_info=True,
                )
        return record

    def acknowledged(self, delivery: Delivery) -> None:
        partition = -1 if delivery.partition is None else delivery.partition
        self.failed((delivery.topic, partition), delivery.error, delivery.offset, delivery)

    def failed(
        self,
        place: TopicPartition,
        error: Exception | None,
        offset: int = -1,
        delivery: Delivery | None = None,
    ) -> None:
        """Tell everybody of one record; without a delivery it never was queued."""
        self._tell(
            "onAcknowledgement",
            lambda each: each.on_acknowledgement(place, offset, error, delivery),
        )

    def close(self) -> None:
        self._tell("close", lambda each: each.close() if hasattr(each, "close") else None)

    def _tell(self, what: str, call: Callable[[ProducerInterceptor], None]) -> None:
        for each in self._each:
            try:
                call(each)
            except Exception:
                LOG.warning("Error executing interceptor %s callback", what, exc_info=True)


def acknowledge(interceptors: Interceptors, delivery: Delivery) -> None:
    """A record is done: interceptors first, then whoever sent it (PROD-12, PROD-48)."""
    if interceptors:
        interceptors.acknowledged(delivery)
    if delivery.callback is not None:
        try:
            delivery.callback(delivery, delivery.error)
        except Exception:
            LOG.error("Error executing user-provided callback on message", exc_info=True)
