"""A leader writes a marker: one control batch into its partition.

A marker in a partition of `__consumer_offsets` also says what becomes of the offsets that its
producer has pending there: they count, or they are forgotten.

Sources: KafkaApis.handleWriteTxnMarkersRequest at 1.0.2, 2.8.2, trunk of 2024-10; KIP-98.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from touchstone.reference_impl.broker.control.internal_topics import OFFSETS
from touchstone.reference_impl.broker.coordinators import internal_log
from touchstone.reference_impl.broker.coordinators.groups import Groups
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.records.control import ABORT, COMMIT, marker_batch

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker


NOBODY = -1


class Mark(NamedTuple):
    producer_id: int
    producer_epoch: int
    commit: bool
    coordinator_epoch: int
    version: int = 0  # of transactions


class MarkerWriter:
    """Writes markers into the partitions that a broker leads."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker

    def can_be_written(self, mark: Mark, topic: str, index: int) -> bool:
        """Whether there is such a batch: none has no producer id or epoch but that of nobody.

        Kafka fails when it makes one (MemoryRecordsBuilder.validateProducerState,
        appendEndTxnMarker), for each partition that this broker has.
        """
        made = NOBODY not in (mark.producer_id, mark.producer_epoch)
        return made or self._broker.replicas.get(topic, index) is None

    def write(
        self,
        topic: str,
        index: int,
        mark: Mark,
        now: int,
        then: Callable[[int, int], None],
    ) -> None:
        """Append the marker; `then(code, now)` once it is replicated, or why it is not written."""
        replica, code = self._broker.replicas.locate(topic, index)
        if replica is None:
            then(code, now)
            return
        config = self._broker.config_of(topic)
        formats = self._broker.persona.quirk("append.old-formats")
        if formats and old_format(config.message_format_version):
            then(ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT, now)
            return
        batch = marker_batch(
            COMMIT if mark.commit else ABORT,
            producer_id=mark.producer_id,
            producer_epoch=mark.producer_epoch,
            coordinator_epoch=mark.coordinator_epoch,
            timestamp=now,
        )

        def written(code: int, at: int) -> None:
            if not code and topic == OFFSETS:
                self._broker.room(Groups).transaction_ended(index, mark.producer_id, mark.commit)
            then(code, at)

        internal_log.append(self._broker, topic, index, batch, now, written)


def old_format(version: str) -> bool:
    """Whether message.format.version means a format without producers (before 0.11)."""
    major, minor, *_ = (*version.split("-")[0].split("."), "0")
    return (int(major), int(minor)) < (0, 11)
