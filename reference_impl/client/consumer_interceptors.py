"""Somebody who sees the records of a poll before the application, and every commit (KIP-42).

Interceptors are asked in their order, each with what the last good one returned. What one of them
raises is logged and changes nothing (CONS-16).

Source: ConsumerInterceptors at 4.3.1.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from .flow import TopicPartition
from .group_offsets import Offset
from .reading import Consumed

LOG = logging.getLogger("touchstone.client.consumer")


class ConsumerInterceptor(Protocol):
    def on_consume(self, records: list[Consumed]) -> list[Consumed]:
        """The records to hand out: these, changed or not, or others."""

    def on_commit(self, offsets: Mapping[TopicPartition, Offset]) -> None:
        """These offsets are committed."""

    def close(self) -> None:
        """The consumer is closed."""


class ConsumerInterceptors:
    def __init__(self, each: Sequence[Any] = ()):
        self._each: list[ConsumerInterceptor] = [
            given() if isinstance(given, type) else given for given in each
        ]

    def consumed(self, records: list[Consumed]) -> list[Consumed]:
        """What to hand out; nobody is asked about nothing."""
        if not records:
            return records
        for one in self._each:
            try:
                records = one.on_consume(records)
            except Exception:
                LOG.warning("an interceptor failed on records", exc_info=True)
        return records

    def committed(self, offsets: Mapping[TopicPartition, Offset]) -> None:
        for one in self._each:
            try:
                one.on_commit(offsets)
            except Exception:
                LOG.warning("an interceptor failed on a commit", exc_info=True)

    def close(self) -> None:
        for one in self._each:
            try:
                one.close()
            except Exception:
                LOG.warning("an interceptor failed to close", exc_info=True)
