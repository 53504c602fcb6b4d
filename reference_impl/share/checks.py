"""A request's acknowledgements of one partition are checked before any record is looked at.

Runs come in order and do not overlap more than at an end; each has one type for all, or one for
each record; types are those the version knows. All that fails is INVALID_REQUEST.

Sources: KafkaApis.validateAcknowledgementBatches@4.3.1; KIP-932, KIP-1222.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from touchstone.reference_impl.share.in_flight import ACKNOWLEDGED, ARCHIVED, AVAILABLE, State

GAP, ACCEPT, RELEASE, REJECT, RENEW = range(5)
BECOMES: dict[int, State] = {
    GAP: ARCHIVED,
    ACCEPT: ACKNOWLEDGED,
    RELEASE: AVAILABLE,
    REJECT: ARCHIVED,
}


class AcknowledgementBatch(NamedTuple):
    first: int
    last: int
    types: Sequence[int]

    def type_of(self, offset: int) -> int:
        return self.types[offset - self.first] if len(self.types) > 1 else self.types[0]


class AcknowledgementRules(NamedTuple):
    """The acknowledgements that the request's version and its flag allow."""

    renews: bool  # the version has the type
    renewing: bool  # the request says that it renews

    @property
    def last(self) -> int:
        return RENEW if self.renews else REJECT


_FAULTS: tuple[Callable[[AcknowledgementBatch, int, AcknowledgementRules], bool], ...] = (
    lambda one, end, known: one.first > one.last,
    lambda one, end, known: one.first < end,
    lambda one, end, known: not one.types,
    lambda one, end, known: len(one.types) > 1 and one.last - one.first != len(one.types) - 1,
    lambda one, end, known: any(not 0 <= kind <= known.last for kind in one.types),
    lambda one, end, known: RENEW in one.types and not known.renewing,
)


def faulty(batches: Sequence[AcknowledgementBatch], known: AcknowledgementRules) -> bool:
    end = -1
    for one in batches:
        if any(fault(one, end, known) for fault in _FAULTS):
            return True
        end = one.last
    return False
