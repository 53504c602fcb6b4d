"""What the event loop knows of one socket: the frames that came in, the bytes that go out.

A value without decisions: when it is read, written, muted or closed is `event_loop`'s.
"""

from __future__ import annotations

import selectors
import socket
from collections import deque
from typing import TYPE_CHECKING

from touchstone.reference_impl.broker.broker import Broker
from touchstone.reference_impl.broker.data.answer_memory import AnswerMemory
from touchstone.reference_impl.broker.effects import Connection, Principal
from touchstone.reference_impl.cluster.endpoints import PLAINTEXT
from touchstone.reference_impl.io.request_memory import RequestMemory
from touchstone.reference_impl.wire.framing import Frames

if TYPE_CHECKING:
    from touchstone.reference_impl.io.tls import TlsLayer

READ, WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE


class Channel(Connection):
    """A connection with its socket, the frames that wait and the bytes that did not fit."""

    __slots__ = (
        "answers",
        "broker",
        "busy",
        "closing",
        "events",
        "frames",
        "held",
        "in_work",
        "inbox",
        "memory",
        "open",
        "outbox",
        "slow",
        "sock",
        "tls",
        "working",
        "_limit",
    )

    def __init__(
        self,
        number: int,
        sock: socket.socket,
        broker: Broker,
        limit: int,
        peer: str,
        memory: RequestMemory | None = None,
        listener: str = PLAINTEXT,
    ) -> None:
        super().__init__(number, peer, listener=listener)
        self.memory = memory  # None: nobody counts
        self.in_work = 0  # bytes of the request that is handed over, or was last
        self.sock = sock
        self.tls: TlsLayer | None = None  # None: its bytes are what they are
        self.broker = broker
        self.answers = broker.room(AnswerMemory)
        self._limit = limit
        self.inbox = Frames(limit)
        self.frames: deque[bytes] = deque()
        self.outbox: deque[memoryview] = deque()
        self.held: list[bytes] = []  # answers that leave with the next one, in one system call
        self.working = False  # its frames are being handed over right now
        self.busy = False  # a request is in work; with bytes in the outbox its answer is not out
        self.slow = False  # its last request took long
        self.closing = False
        self.events = READ
        self.open = True

    def bound_frames(self, most: int) -> None:
        """Until its peer has said who it is no frame may have more bytes."""
        self.inbox.limit = min(most, self._limit)

    def authenticated(self, principal: Principal) -> None:
        super().authenticated(principal)
        self.inbox.limit = self._limit

    @property
    def peer_port(self) -> int | None:
        try:
            return int(self.sock.getpeername()[1])
        except OSError:  # the peer is gone
            return None

    @property
    def claimed(self) -> int:
        """Bytes of its requests: in work, waiting, and the whole of one that has begun to come."""
        in_work = self.in_work if self.busy else 0
        return in_work + sum(map(len, self.frames)) + self.inbox.claimed

    def may_read(self) -> bool:
        return self.memory is None or self.memory.may_read(self)
