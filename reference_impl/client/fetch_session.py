"""What one broker remembers of a consumer's fetches, so that a request names only what changed.

The first request of a session (epoch 0) names every partition; the answer gives the session an id,
and the requests that follow (epochs 1, 2, ...) name the partitions that are new or have moved, and
those to forget. An answer leaves out partitions of which there is nothing to say. Whatever goes
wrong, the next request begins anew; it names the old session, so that the broker lets go of it.
Brokers before Fetch v7 give no id, and each request of theirs stands alone.

Sources: KIP-227; FetchSessionHandler, FetchMetadata at 4.3.1.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

from .flow import TopicPartition

NO_SESSION = 0
FIRST_EPOCH, LAST_EPOCH = 0, -1
_HIGHEST_EPOCH = 2**31 - 1
# The broker no longer knows the session, or not at this epoch: no partition is to blame.
SESSION_ERRORS = (
    ErrorCode.FETCH_SESSION_ID_NOT_FOUND,
    ErrorCode.INVALID_FETCH_SESSION_EPOCH,
)


class WantedPartition(NamedTuple):
    """What a fetch asks of one partition: its topic's id (zeros: unknown) and its row."""

    topic_id: bytes
    row: Struct


Wanted = Mapping[TopicPartition, WantedPartition]


class FetchSession:
    """Requests to one broker, one at a time: `request`, and then `take` or `fail`."""

    def __init__(self) -> None:
        self.id = NO_SESSION
        self.epoch = FIRST_EPOCH
        self.places: Collection[
            TopicPartition
        ] = ()  # what the last request asked for, named or not
        self._kept: Wanted = {}
        self._by_ids = False

    def request(self, wanted: Wanted, *, by_ids: bool) -> Struct:
        """The fields of a Fetch that asks for `wanted`; `by_ids`: topics may be named by id."""
        if by_ids is not self._by_ids:  # one session knows its topics in one way only (KIP-516)
            self.fail()
            self._by_ids = by_ids
        changed, gone = wanted, {}
        if self.epoch != FIRST_EPOCH:
            changed = {place: one for place, one in wanted.items() if self._kept.get(place) != one}
            gone = {
                place: one
                for place, one in self._kept.items()
                if place not in wanted or wanted[place].topic_id != one.topic_id
            }
        self._kept, self.places = dict(wanted), wanted.keys()
        forgotten = [
            {"topic": topic["topic"], "topic_id": topic["topic_id"], "partitions": indexes}
            for topic in _by_topic(gone)
            for indexes in [[row["partition"] for row in topic["partitions"]]]
        ]
        return {
            "session_id": self.id,
            "session_epoch": self.epoch,
            "topics": _by_topic(changed),
            "forgotten_topics_data": forgotten,
        }

    def take(self, answer: Struct, places: Collection[TopicPartition]) -> bool:
        """Note an answer about `places`; returns whether it is believed. One that names what was
        not asked, or as the first of a session leaves something out, is not (CONS-31).
        """
        code = answer.get("error_code", ErrorCode.NONE)
        if code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND:
            self.id = NO_SESSION
        asked = set(self.places)
        given = set(places)
        if code or not given <= asked or (self.epoch == FIRST_EPOCH and given != asked):
            self.fail()
            return False
        self.id = answer.get("session_id", NO_SESSION)
        if self.id == NO_SESSION:
            self.epoch = FIRST_EPOCH
        else:
            self.epoch = 1 if self.epoch == _HIGHEST_EPOCH else self.epoch + 1
        return True

    def fail(self) -> None:
        """Begin anew: no answer came, or one that cannot be used."""
        self.epoch = FIRST_EPOCH

    def farewell(self) -> Struct | None:
        """The fields of a Fetch that ends the session; None where the broker keeps none."""
        if self.id == NO_SESSION:
            return None
        return {"session_id": self.id, "session_epoch": LAST_EPOCH, "topics": []}


def _by_topic(wanted: Wanted) -> list[Struct]:
    topics: dict[tuple[str, bytes], Struct] = {}
    for (name, _), (topic_id, row) in wanted.items():
        fresh = {"topic": name, "topic_id": topic_id, "partitions": []}
        topics.setdefault((name, topic_id), fresh)["partitions"].append(row)
    return list(topics.values())
