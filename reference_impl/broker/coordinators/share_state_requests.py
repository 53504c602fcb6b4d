"""Requests 83 to 87 have one row per share partition, which its coordinator answers.

Whoever asks for nothing, or for a group without a name, is answered nothing. The answer comes when
everything that was to be written is.

Sources: ShareCoordinatorService@4.3.1; KIP-932; observed on 4.3.1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from touchstone.reference_impl.broker.coordinators.share_states import (
    NOT_OURS,
    ResultListener,
    ShareStates,
)
from touchstone.reference_impl.broker.effects import Request, Wait, waiting
from touchstone.reference_impl.share.coordinator import (
    ShareCoordinator,
    SharePartitionKey,
    ShareResult,
)
from touchstone.reference_impl.ticket import Ticket
from touchstone.reference_impl.wire.errors import ErrorCode as E
from touchstone.reference_impl.wire.schema import Struct

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker

AskCoordinator = Callable[[ShareCoordinator, SharePartitionKey, Struct], ShareResult]
Show = Callable[[ShareResult], Struct]
_NOT_OURS = ShareResult(NOT_OURS)
_STATE = "share group state"
_WHAT = {  # what each of the five is about to do
    83: f"initialize {_STATE}",
    84: f"read {_STATE}",
    85: f"write {_STATE}",
    86: f"delete {_STATE}",
    87: f"read {_STATE} summary",
}


class ShareStateRequests:
    """Serves the five APIs by which leaders keep the states of their share partitions."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker

    def serve(
        self, request: Request, now: int, ask: AskCoordinator, show: Show = lambda told: {}
    ) -> Struct | Wait:
        """`ask` a coordinator about one row; `show` what its answer has beside an error."""
        body = request.body
        group, topics = body["group_id"], body["topics"]
        if not group or not topics or not all(topic["partitions"] for topic in topics):
            return {"results": []}
        ticket: Ticket[Struct] = Ticket()
        rows: dict[tuple[bytes, int], Struct] = {}
        wanted = [
            (bytes(topic["topic_id"]), row) for topic in topics for row in topic["partitions"]
        ]
        # In the order of the request, each once: who names a place twice waits for one answer.
        places = list(dict.fromkeys((topic_id, row["partition"]) for topic_id, row in wanted))

        states = self._broker.room(ShareStates)

        def answered(place: tuple[bytes, int], told: ShareResult) -> None:
            rows[place] = _row(request, place[1], told)
            if not told.fault:
                rows[place] |= show(told)
            if len(rows) == len(places):
                ticket.give({"results": _grouped(places, rows)})

        for topic_id, row in wanted:
            place = topic_id, row["partition"]
            key = (group, *place)
            told = ask(states.coordinator, key, row) if states.coordinates(key) else _NOT_OURS
            if told.write is None:
                answered(place, told)
            else:
                states.keep(told, told.write, now, _then(answered, place))
        return waiting(ticket, lambda answer: answer)


def _then(
    answered: Callable[[tuple[bytes, int], ShareResult], None], place: tuple[bytes, int]
) -> ResultListener:
    return lambda told, at: answered(place, told)


def fail(request: Request, code: int) -> Struct:
    message = E(code).name
    return {
        "results": [
            {
                "topic_id": topic["topic_id"],
                "partitions": [
                    {"partition": row["partition"], "error_code": code, "error_message": message}
                    for row in topic["partitions"]
                ],
            }
            for topic in request.body["topics"]
        ]
    }


def _row(request: Request, index: int, told: ShareResult) -> Struct:
    code, message, early = told.fault or (E.NONE, None, False)
    if early:
        message = f"Unable to {_WHAT[request.header.key]}: {message}"
    return {"partition": index, "error_code": code, "error_message": message}


def _grouped(
    places: list[tuple[bytes, int]], rows: dict[tuple[bytes, int], Struct]
) -> list[Struct]:
    topics: dict[bytes, list[Struct]] = {}
    for place in places:
        topics.setdefault(place[0], []).append(rows[place])
    return [{"topic_id": each, "partitions": parts} for each, parts in topics.items()]
