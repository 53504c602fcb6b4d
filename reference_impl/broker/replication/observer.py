"""Whoever counts what a broker does is told of it here; nobody is unless metrics are asked for.

The seam between the broker and `broker.metrics`, which is not loaded without need. Each call is one
of a request, a batch or a change of the ISR, never one of a record.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.effects import Request
    from touchstone.reference_impl.log.partition_log import AppendResult
    from touchstone.reference_impl.wire.schema import Struct


class Observer(Protocol):
    def answered(self, request: Request, body: Struct | None) -> None:
        """The request is done with; None where its answer has no body."""

    def appended(self, topic: str, size: int, result: AppendResult | None, code: int) -> None:
        """A leader's log took so many bytes; without a result it refused them with this code."""

    def read(self, topics: Iterable[str]) -> None:
        """A Fetch arrived for partitions of these topics, each named once for each partition."""

    def replicated(self, size: int) -> None:
        """A follower took so many bytes from its leader."""

    def isr_changed(self, before: int, after: int) -> None:
        """An ISR of so many replicas has another number of them now."""
