"""A broker keeps share sessions, each until its peer ends it or disconnects.

With a session its member's records go back to where others may have them. A group of which nobody
has a session here any more is not thought of any longer (`share_partitions.forget_group`), so that
what is written down is all that counts of it.

Sources: ShareSessionCache, SharePartitionManager.ShareGroupListenerImpl@4.3.1 (facts); KIP-932.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from touchstone.reference_impl.broker.coordinators.groups import Groups
from touchstone.reference_impl.broker.data import share_partitions
from touchstone.reference_impl.share.sessions import SessionKey, Sessions

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker
    from touchstone.reference_impl.broker.effects import Connection


class ShareSessions:
    """The share sessions of one broker."""

    def __init__(self, broker: Broker) -> None:
        self.sessions = Sessions(broker.room(Groups).number("group.share.max.share.sessions"))


def sessions_of(broker: Broker) -> Sessions:
    return broker.room(ShareSessions).sessions


def end(broker: Broker, key: SessionKey, now: int) -> None:
    """The session is over: what its member has goes back."""
    group, member = key
    for place in sessions_of(broker).end(key) or ():
        share_partitions.release(broker, (group, *place), member, now)


def end_with_connection(broker: Broker, connection: Connection) -> None:
    """A session began on this connection and goes with it."""

    def gone(now: int) -> None:
        key, deserted = sessions_of(broker).disconnected(connection)
        if key is not None:
            end(broker, key, now)
        if deserted is not None:
            share_partitions.forget_group(broker, deserted)

    broker.when_closed(connection, gone)
