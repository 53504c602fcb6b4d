"""Counters that go on through a cluster's life, compared by what the case itself changed.

A coordinator, a leader of the metadata or of an internal topic has an epoch that is 0 or 1 in a
cluster that was just formatted and whatever its restarts have made it in any other. Who asks cares
for two things: that it is an epoch, and how it stands to the others of the same counter: equal in a
marker and in DescribeProducers, one more after a restart. So the first value of a counter that a
case meets is its base, and each becomes its distance from the base: `$coordinator-epoch+0`. Values
that mean "none" stay, and so do those that the case has sent itself.

Sources: TransactionStateManager (coordinatorEpoch is the leader epoch of the partition of
__transaction_state), EndTransactionMarker, ProducerStateEntry, KafkaRaftClient at 1.0.2 to 4.3.1.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from touchstone.reference_impl.wire.schema import Struct

if TYPE_CHECKING:
    from touchstone.harness.judgement.normalize import Symbols

COORDINATORS, QUORUM = "coordinator-epochs", "quorum-epochs"
METADATA_VERSION, LEVELS = "metadata.version", ("max_version_level", "min_version_level")
CONTROL = 0x20  # of a batch's attributes
_MARKER = struct.Struct(">hi")  # the value of a marker: its version, the coordinator's epoch


def learn(body: Struct, symbols: Symbols) -> None:
    """Coordinator epochs that a case sends as if it were a coordinator: they come back as sent."""
    for marker in body["markers"] or ():
        symbols.sent_epochs.add((marker["producer_id"], marker["coordinator_epoch"]))


def coordinators(symbols: Symbols, _: Any, row: Struct) -> Struct:
    """A producer as a partition knows it, or a marker in the log of an internal topic, with its
    coordinator's epoch by name.
    """
    if "coordinator_epoch" in row:
        epoch = _coordinator_epoch(symbols, row["producer_id"], row["coordinator_epoch"])
        return row | {"coordinator_epoch": epoch}
    if row.get("attributes", 0) & CONTROL and "records" in row:
        return row | {"records": markers(symbols, row["producer_id"], row["records"])}
    return row


def markers(symbols: Symbols, producer: int, records: list[Struct]) -> list[Struct]:
    """Control records of a producer, in whose values its coordinator's epoch goes by name."""
    return [_marker(symbols, producer, record) for record in records]


def _marker(symbols: Symbols, producer: int, record: Struct) -> Struct:
    value = record["value"]
    if not isinstance(value, bytes) or len(value) != _MARKER.size:
        return record
    version, epoch = _MARKER.unpack(value)
    named = _coordinator_epoch(symbols, producer, epoch)
    symbols.used[COORDINATORS] += named != epoch
    return record | {"value": [version, named]}


def _coordinator_epoch(symbols: Symbols, producer: int, epoch: int) -> int | str:
    """Of one producer, for others may have other coordinators. -1: there was no marker."""
    if epoch < 0 or (producer, epoch) in symbols.sent_epochs:
        return epoch
    return symbols.since("coordinator-epoch", producer, epoch)


def quorum_epoch(symbols: Symbols, value: Any, row: Mapping[str, Any]) -> Any:
    """All partitions of an answer have one: there is one metadata log. 0: nobody was elected."""
    elected = isinstance(value, int) and value > 0 and not row.get("error_code")
    return symbols.since("quorum-epoch", "", value) if elected else value


def metadata_offset(symbols: Symbols, value: Any, row: Struct) -> Any:
    known = "error_code" not in row or row["error_code"] == 0
    return "$metadata-offset" if known and isinstance(value, int) and value > 0 else value


def feature_epoch(symbols: Symbols, value: Any, _: Struct) -> Any:
    """Any change of the cluster's metadata moves it, between two answers of one case too."""
    return "$feature-epoch" if isinstance(value, int) and value >= 0 else value


def metadata_version(symbols: Symbols, _: Any, answer: Struct) -> Struct:
    """The level to which a cluster's owner has brought the metadata, if its brokers support it."""
    supported = {row["name"]: row for row in answer.get("supported_features") or ()}
    rows = answer.get("finalized_features")
    if METADATA_VERSION not in supported or not rows:
        return answer
    known = supported[METADATA_VERSION]
    least, most = known["min_version"], known["max_version"]

    def named(row: Struct) -> Struct:
        levels = {word: row[word] for word in LEVELS}
        if row["name"] != METADATA_VERSION or not all(least <= n <= most for n in levels.values()):
            return row
        return row | {n: symbols.since("metadata-version", "", v) for n, v in levels.items()}

    return answer | {"finalized_features": [named(row) for row in rows]}


# Reasons (see `normalize`): name, sentence, fields, rewrite, APIs.
ROWS: tuple[tuple[Any, ...], ...] = (
    (COORDINATORS, "Each start of a coordinator is an epoch, also before a case; markers tell it.",
     ("",), coordinators, frozenset({"DescribeProducers", "Fetch"})),
    (QUORUM, "The leader epoch of the metadata log counts its elections, also before a case.",
     ("leader_epoch",), quorum_epoch, frozenset({"DescribeQuorum"})),
    ("metadata-offsets", "How far a metadata log is depends on all that was ever done there.",
     ("high_watermark", "log_end_offset"), metadata_offset, frozenset({"DescribeQuorum"})),
    ("metadata-version", "Who upgrades brokers finalizes the level of their metadata later.",
     ("",), metadata_version, frozenset({"ApiVersions"})),
    ("feature-epoch", "The epoch of finalized features is an offset of the metadata log.",
     ("finalized_features_epoch",), feature_epoch),
)  # fmt: skip
