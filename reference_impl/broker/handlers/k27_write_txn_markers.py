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
from touchstone.reference_impl.group.members import Ticket
from touchstone.reference_impl.wire.schema import Struct

MarkedPartition = tuple[int, str, int]  # producer id, topic, partition
CodesByMarker = dict[MarkedPartition, int | None]


def handle(request: Request, markers: MarkerWriter, now: int) -> Struct | Wait:
    codes: CodesByMarker = {}
    for marker in request.body["markers"]:
        for key in _named(marker):
            codes[key] = None
    whole: Ticket[Struct] = Ticket()
    unsettled = set(codes)  # counted down: a look at all codes after each answer is quadratic

    def settle(key: MarkedPartition, code: int) -> None:
        codes[key] = code
        unsettled.discard(key)
        if not unsettled:
            whole.give(_answer(codes))

    for marker in request.body["markers"]:
        mark = Mark(
            marker["producer_id"],
            marker["producer_epoch"],
            marker["transaction_result"],
            marker["coordinator_epoch"],
            marker["transaction_version"],
        )
        for key in _named(marker):
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
    producer = marker["producer_id"]
    return [
        (producer, topic["name"], index)
        for topic in marker["topics"]
        for index in topic["partition_indexes"]
    ]


def _answer(codes: CodesByMarker) -> Struct:
    markers: dict[int, dict[str, list[Struct]]] = {}
    for (producer, topic, index), code in codes.items():
        row = {"partition_index": index, "error_code": code}
        markers.setdefault(producer, {}).setdefault(topic, []).append(row)
    return {
        "markers": [
            {
                "producer_id": producer,
                "topics": [{"name": name, "partitions": rows} for name, rows in topics.items()],
            }
            for producer, topics in markers.items()
        ]
    }
