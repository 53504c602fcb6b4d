"""A share session keeps what a member fetches, so that it need not repeat it.

One for each member of each group. A request of epoch 0 begins it anew, each later one names the
epoch that is next and says what changed, -1 ends it. An answer leaves out partitions that have
nothing to say, except those that were added since the last one, or failed. A session goes with
the connection it began on. Refusals are `ApiError` with an error code.

Sources: SharePartitionManager.newContext, ShareSessionCache, ShareSession, CachedSharePartition,
PartitionRotateStrategy@4.3.1; KIP-932.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.wire.errors import ErrorCode as E

FIRST, FINAL = 0, -1
_LAST_EPOCH = 2**31 - 1
TopicIdPartition = tuple[bytes, int]  # topic id, partition
SessionKey = tuple[str, str]  # group, member


@dataclass(slots=True)
class Session:
    connection: Hashable
    epoch: int = 1  # of the request that is due
    unsaid: dict[TopicIdPartition, bool] = field(
        default_factory=dict
    )  # whether the next answer must tell

    def rotated(self, epoch: int) -> list[TopicIdPartition]:
        """The partitions, beginning with another one in each epoch."""
        places = list(self.unsaid)
        at = epoch % len(places) if places and epoch >= 1 else 0
        return places[at:] + places[:at]

    def tells(self, place: TopicIdPartition, *, records: bool, failed: bool) -> bool:
        """Whether an answer has to hold this partition."""
        if place not in self.unsaid:
            return True
        tell = records or failed or self.unsaid[place]
        self.unsaid[place] = failed
        if records:
            self.unsaid[place] = self.unsaid.pop(place)
        return tell


class Sessions:
    def __init__(self, room: int) -> None:
        self._room = room
        self._sessions: dict[SessionKey, Session] = {}
        self._connections: dict[Hashable, tuple[SessionKey, Session]] = {}

    def __len__(self) -> int:
        return len(self._sessions)

    def fetch(
        self,
        key: SessionKey,
        epoch: int,
        wanted: Iterable[TopicIdPartition],
        forgotten: Iterable[TopicIdPartition],
        *,
        acknowledges: bool,
        connection: Hashable,
    ) -> Session | None:
        """The session a ShareFetch goes on with; None if it ends one."""
        if epoch == FINAL:
            self._there(key)
            return None
        if epoch == FIRST:
            if acknowledges:
                raise ApiError(E.INVALID_REQUEST)
            self._sessions.pop(key, None)
            if len(self._sessions) >= self._room:
                raise ApiError(E.SHARE_SESSION_LIMIT_REACHED)
            session = Session(connection, unsaid=dict.fromkeys(wanted, False))
            self._sessions[key] = session
            self._connections[connection] = key, session
            return session
        session = self._due(key, epoch)
        for place in wanted:
            session.unsaid.setdefault(place, True)
        for place in forgotten:
            session.unsaid.pop(place, None)
        return session

    def acknowledge(self, key: SessionKey, epoch: int) -> None:
        """A ShareAcknowledge takes an epoch as well."""
        if epoch == FIRST:
            raise ApiError(E.INVALID_SHARE_SESSION_EPOCH)
        if epoch == FINAL:
            self._there(key)
        else:
            self._due(key, epoch)

    def end(self, key: SessionKey) -> list[TopicIdPartition] | None:
        """What it held, None if there is none."""
        session = self._sessions.pop(key, None)
        return None if session is None else list(session.unsaid)

    def disconnected(self, connection: Hashable) -> tuple[SessionKey | None, str | None]:
        """The session that ends with this connection, and the group that has none left now."""
        key, session = self._connections.pop(connection, (None, None))
        if key is None:
            return None, None
        stands = self._sessions.get(key) is session
        others = (each for each in self._sessions if each[0] == key[0])
        left = sum(1 for each in others if not (stands and each == key))
        return (key if stands else None), (None if left else key[0])

    def _there(self, key: SessionKey) -> Session:
        session = self._sessions.get(key)
        if session is None:
            raise ApiError(E.SHARE_SESSION_NOT_FOUND)
        return session

    def _due(self, key: SessionKey, epoch: int) -> Session:
        session = self._there(key)
        if session.epoch != epoch:
            raise ApiError(E.INVALID_SHARE_SESSION_EPOCH)
        session.epoch = 1 if epoch == _LAST_EPOCH else epoch + 1
        return session
