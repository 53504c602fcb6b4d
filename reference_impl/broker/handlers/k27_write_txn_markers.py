"""WriteTxnMarkers: a coordinator has the ends of transactions written.

One batch per producer and partition, answered when all are replicated. Without an authorizer
anybody may ask.

v1 is flexible; v2 tells the version of the transaction (KIP-1228).

Sources: KafkaApis.handleWriteTxnMarkersRequest at 1.0.2, 2.8.2; observed on all five releases.
"""

from __future__ import annotations

from collections.abc import Callable

from touchstone.reference_impl.broker.coordinators.marker_writing import Mark, MarkerWriter
from touchstone.reference_impl.broker.effects import Request, Wait, waiting
from touchstone.reference_impl.ticket import Ticket
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

MarkedPartition = tuple[int, str, int]  # producer id, topic, partition
CodesByMarker = dict[MarkedPartition, int | None]


def handle(request: Request, markers: MarkerWriter, now: int) -> Struct | Wait:
    named = [(marker, _named(marker)) for marker in request.body["markers"]]
    codes: CodesByMarker = {key: None for _, keys in named for key in keys}
    whole: Ticket[Struct] = Ticket()
    unsettled = set(codes)  # counted down: a look at all codes after each answer is quadratic

    def settle(key: MarkedPartition, code: int) -> None:
        codes[key] = code
        unsettled.discard(key)
        if not unsettled:
            whole.give(_answer(codes))

    for marker, keys in named:
        mark = Mark(
            marker["producer_id"],
            marker["producer_epoch"],
            marker["transaction_result"],
            marker["coordinator_epoch"],
            marker["transaction_version"],
        )
        if not all(markers.can_be_written(mark, topic, index) for _, topic, index in keys):
            return fail(request, ErrorCode.UNKNOWN_SERVER_ERROR)
        for key in keys:
            markers.write(key[1], key[2], mark, now, _then(key, settle))
    if not codes:
        whole.give(_answer(codes))
    return waiting(whole, lambda answer: answer)


def fail(request: Request, code: int) -> Struct:
    return _answer({key: code for m in request.body["markers"] for key in _named(m)})


def _then(
    key: MarkedPartition, settle: Callable[[MarkedPartition, int], None]
) -> Callable[[int, int], None]:
    return lambda code, now: settle(key, code)


def _named(marker: Struct) -> list[MarkedPartition]:
    """Each once: of a partition that a marker names again, Kafka keeps one control record."""
    producer = marker["producer_id"]
    named = (
        (producer, topic["name"], index)
        for topic in marker["topics"]
        for index in topic["partition_indexes"]
    )
    return list(dict.fromkeys(named))


def _answer(codes: CodesByMarker) -> Struct:
    markers: dict[int, dict[str, list[Struct]]] = {}
    last: tuple[int, str] | None = None
    rows: list[Struct] = []
    for (producer, topic, index), code in codes.items():
        if last != (producer, topic):
            last = producer, topic
            rows = markers.setdefault(producer, {}).setdefault(topic, [])
        rows.append({"partition_index": index, "error_code": code})
    return {
        "markers": [
            {
                "producer_id": producer,
                "topics": [{"name": name, "partitions": rows} for name, rows in topics.items()],
            }
            for producer, topics in markers.items()
        ]
    }
