"""The follower's half of a fetch session (KIP-227) says only what changed since the last fetch.

The leader's half is `fetch_sessions`. A session begins with a fetch that names everything (epoch
0); when the leader gives it an id, later fetches name the partitions that are new or moved and
those that are to be forgotten. Any refusal, or a lost connection, begins anew. Before version 7
there are no sessions and every fetch names everything.

Source: FetchSessionHandler at 2.2.1, 2.8.2, 3.9.
"""

from __future__ import annotations

from collections.abc import Iterable

from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

FIRST_WITH_SESSIONS, FIRST_BY_ID = 7, 13
NO_SESSION = INITIAL_EPOCH = 0
_LAST_EPOCH = 2**31 - 1
_NO_DIRECTORY = bytes(16)
_NO_HIGH_WATERMARK = 2**63 - 1
REFUSED = (
    ErrorCode.FETCH_SESSION_ID_NOT_FOUND,
    ErrorCode.INVALID_FETCH_SESSION_EPOCH,
    ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR,
)

Topic = str | bytes  # a name, or an id from version 13 on (KIP-516)
SessionPlace = tuple[Topic, int]
FetchPosition = tuple[
    int, int, int, int
]  # fetch offset, log start, leader epoch, last fetched epoch


class FollowerSession:
    def __init__(self, version: int) -> None:
        self._sessions = version >= FIRST_WITH_SESSIONS
        self.by_id = version >= FIRST_BY_ID
        self._known: dict[SessionPlace, FetchPosition] = {}
        self._id, self._epoch = NO_SESSION, INITIAL_EPOCH
        self.failed = False  # the last answer was an error other than about the session

    @property
    def goes_on(self) -> bool:
        """Whether the leader remembers what was asked for last; else all is to be named."""
        return self._id != NO_SESSION

    def close(self) -> None:
        """The next fetch names everything."""
        self._known, self._id, self._epoch = {}, NO_SESSION, INITIAL_EPOCH

    def request(
        self, rows: dict[SessionPlace, FetchPosition], gone: Iterable[SessionPlace], max_bytes: int
    ) -> Struct:
        """The fields of a Fetch that say what is wanted, in as few words as can.

        `rows` are wanted, `gone` are not; of others the last word stands while the session goes on.
        """
        known = self._known
        changed = {key: row for key, row in rows.items() if known.get(key) != row}
        gone = [key for key in gone if key in known]
        topics: dict[Topic, list[Struct]] = {}
        for (topic, index), (offset, start, epoch, last_epoch) in changed.items():
            topics.setdefault(topic, []).append(
                {
                    "partition": index,
                    "current_leader_epoch": epoch,
                    "fetch_offset": offset,
                    "last_fetched_epoch": last_epoch,
                    "log_start_offset": start,
                    "partition_max_bytes": max_bytes,
                    "replica_directory_id": _NO_DIRECTORY,
                    "high_watermark": _NO_HIGH_WATERMARK,
                }
            )
        forgotten: dict[Topic, list[int]] = {}
        for topic, index in gone:
            forgotten.setdefault(topic, []).append(index)
        if self._sessions:
            known.update(changed)
            for key in gone:
                del known[key]
        return {
            "session_id": self._id,
            "session_epoch": self._epoch,
            "topics": [{**self._named(t), "partitions": each} for t, each in topics.items()],
            "forgotten_topics_data": [
                {**self._named(t), "partitions": each} for t, each in forgotten.items()
            ],
        }

    def accepts(self, answer: Struct) -> bool:
        """Whether an answer may be used; else the next fetch names everything."""
        code = answer.get("error_code", ErrorCode.NONE)
        self.failed = code not in REFUSED and code != ErrorCode.NONE
        if code:
            self.close()
            return False
        if self._sessions:
            if answer["session_id"] == NO_SESSION:
                self.close()
            else:
                self._id = answer["session_id"]
                self._epoch = 1 if self._epoch == _LAST_EPOCH else self._epoch + 1
        return True

    def _named(self, topic: Topic) -> dict[str, Topic]:
        if self.by_id:
            return {"topic_id": topic, "topic": ""}
        return {"topic_id": bytes(16), "topic": topic}
