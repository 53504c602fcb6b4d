"""Producers and transactions, as an operator sees them (KIP-664, KIP-360): describe, list, end."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from touchstone.reference_impl.wire.errors import ErrorCode as E
from touchstone.reference_impl.wire.schema import Struct

from ..flow import LATEST_VERSION, Flow, KafkaError, TopicPartition, named
from .driver import AdminCore, Call
from .results import Results, by_topic, error_in, partition_rows, picked

_V_DURATION, _V_PATTERN = 1, 2


class ProducerState(NamedTuple):
    """-1 offset: no transaction; the timestamp is in ms since the epoch."""

    producer_id: int
    producer_epoch: int
    last_sequence: int
    last_timestamp: int
    coordinator_epoch: int
    current_txn_start_offset: int = -1


class TransactionDescription(NamedTuple):
    """Start in ms since the epoch, -1 where none is under way."""

    transactional_id: str
    transaction_state: str
    producer_id: int
    producer_epoch: int
    transaction_timeout_ms: int
    transaction_start_time_ms: int
    partitions: frozenset[TopicPartition] = frozenset()


class TransactionListing(NamedTuple):
    transactional_id: str
    producer_id: int
    transaction_state: str


class FencedProducer(NamedTuple):
    producer_id: int
    producer_epoch: int


class TransactionAdmin(AdminCore):
    def describe_producers(
        self, places: Iterable[TopicPartition]
    ) -> Flow[Results[TopicPartition, tuple[ProducerState, ...]]]:
        """Those that the leader of each partition remembers (from 2.8)."""

        def body(places: list[TopicPartition]) -> Struct:
            topics = by_topic(places).items()
            return {"topics": [{"name": name, "partition_indexes": rows} for name, rows in topics]}

        def read(
            answer: Struct, places: list[TopicPartition]
        ) -> dict[TopicPartition, tuple[ProducerState, ...] | KafkaError]:
            return {
                place: error_in(row, named(place))
                or tuple(picked(ProducerState, each) for each in row["active_producers"])
                for place, row in partition_rows(answer["topics"])
            }

        return (yield from self._carry_out(Call("DescribeProducers", body, read), places))

    def describe_transactions(
        self, ids: Iterable[str]
    ) -> Flow[Results[str, TransactionDescription]]:
        def read(answer: Struct, keys: list[str]) -> dict[str, TransactionDescription | KafkaError]:
            return {
                row["transactional_id"]: error_in(row, row["transactional_id"]) or _described(row)
                for row in answer["transaction_states"]
            }

        call = Call("DescribeTransactions", lambda keys: {"transactional_ids": keys}, read)
        return (yield from self._carry_out(call, ids))

    def list_transactions(
        self,
        states: Iterable[str] = (),
        producer_ids: Iterable[int] = (),
        *,
        longer_than_ms: int = -1,
        pattern: str | None = None,
    ) -> Flow[Results[int, list[TransactionListing]]]:
        """By coordinating broker; filters by duration from 3.8, by pattern of the id from 4.1."""
        body = {
            "state_filters": list(states),
            "producer_id_filters": list(producer_ids),
            "duration_filter": longer_than_ms,
            "transactional_id_pattern": pattern,
        }
        lowest = _V_PATTERN if pattern else _V_DURATION if longer_than_ms >= 0 else 0

        def read(
            answer: Struct, nodes: list[int]
        ) -> dict[int, list[TransactionListing] | KafkaError]:
            found = [picked(TransactionListing, row) for row in answer["transaction_states"]]
            return dict.fromkeys(nodes, error_in(answer) or found)

        again = frozenset({E.COORDINATOR_LOAD_IN_PROGRESS})
        versions = (lowest, LATEST_VERSION)
        call = Call("ListTransactions", lambda _: body, read, again=again, versions=versions)
        return (yield from self._carry_out(call, (yield from self._brokers())))

    def abort_transaction(self, place: TopicPartition, hanging: ProducerState) -> Flow[None]:
        """Write an ABORT marker for a transaction that nobody ends; raises where that fails.

        `hanging` comes from `describe_producers`; its own coordinator is not asked, so this is for
        transactions that have none (KIP-664).
        """
        marker = {
            "producer_id": hanging.producer_id,
            "producer_epoch": hanging.producer_epoch,
            "coordinator_epoch": max(0, hanging.coordinator_epoch),
            "transaction_result": False,
            "topics": [{"name": place[0], "partition_indexes": [place[1]]}],
        }

        def read(
            answer: Struct, places: list[TopicPartition]
        ) -> dict[TopicPartition, None | KafkaError]:
            rows = (row for each in answer["markers"] for row in partition_rows(each["topics"]))
            return {at: error_in(row, named(at)) for at, row in rows}

        call = Call("WriteTxnMarkers", lambda _: {"markers": [marker]}, read)
        (yield from self._carry_out(call, [place])).all()

    def fence_producers(
        self, ids: Iterable[str], *, transaction_timeout_ms: int = 1
    ) -> Flow[Results[str, FencedProducer]]:
        """Take each transactional id from whoever has it (KIP-98): its open transaction aborts."""

        def body(keys: list[str]) -> Struct:
            (key,) = keys
            return {"transactional_id": key, "transaction_timeout_ms": transaction_timeout_ms}

        def read(answer: Struct, keys: list[str]) -> dict[str, FencedProducer | KafkaError]:
            (key,) = keys
            return {key: error_in(answer, key) or picked(FencedProducer, answer)}

        again = frozenset({E.CONCURRENT_TRANSACTIONS})
        call = Call("InitProducerId", body, read, alone=True, again=again)
        return (yield from self._carry_out(call, ids))


def _described(row: Struct) -> TransactionDescription:
    places = frozenset(
        (each["topic"], index) for each in row["topics"] for index in each["partitions"]
    )
    return picked(TransactionDescription, row, partitions=places)
