"""A broker keeps share sessions, each until its peer ends it or disconnects.

With a session its member's records go back to where others may have them. A group of which nobody
has a session here any more is not thought of any longer (`share_partitions.forget_group`), so that
what is written down is all that counts of it.

Sources: ShareSessionCache, SharePartitionManager.ShareGroupListenerImpl@4.3.1; KIP-932.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from touchstone.reference_impl.broker.coordinators.groups import Groups
from touchstone.reference_impl.broker.data.share_partitions import SharePartitions
from touchstone.reference_impl.share.sessions import SessionKey, Sessions

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker
    from touchstone.reference_impl.broker.effects import Connection


class ShareSessions:
    """The share sessions of one broker."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self.sessions = Sessions(broker.room(Groups).number("group.share.max.share.sessions"))

    def end(self, key: SessionKey, now: int) -> None:
        """The session is over: what its member has goes back."""
        group, member = key
        for place in self.sessions.end(key) or ():
            self._broker.room(SharePartitions).release((group, *place), member, now)

    def end_with_connection(self, connection: Connection) -> None:
        """A session began on this connection and goes with it."""

        def gone(now: int) -> None:
            key, deserted = self.sessions.disconnected(connection)
            if key is not None:
                self.end(key, now)
            if deserted is not None:
                self._broker.room(SharePartitions).forget_group(deserted)

        self._broker.when_closed(connection, "share session", gone)
