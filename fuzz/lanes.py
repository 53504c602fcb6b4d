"""Which connection a case may take, and with whom it may share it.

A connection to a target is a lane; what it may carry depends on the shape of a case:

- A whole frame without a fault neither ends its connection nor is held: several go out in one
  write, with one probe (`runner`) behind the last. Kafka answers a connection's requests in order,
  so an answer that carries the correlation id of a later case says that the earlier ones had all
  that they will ever have. When such a lane ends, the first case without an answer ended it; those
  behind it were never read, and go out again.
- A whole frame with a fault may end its connection: one at a time on a lane.
- A request that a peer may hold, and bytes that do not end where a frame ends, have a lane of their
  own, so that no other case waits behind them.
- A request that a broker hands on, to its controller or to a share coordinator, goes out on one of
  few lanes, alone: a broker of KRaft has one such request on its way at a time
  (NodeToControllerChannelManager.buildNetworkClient@4.3.1: one in flight; PersisterStateManager,
  `inFlight`: one of each kind), and each that changes metadata is flushed to a disk. Hundreds at
  once were silent for want of their turn, and a whole block of cases behind them.
"""

from __future__ import annotations

import errno
import os
import socket
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from touchstone.fuzz.oracles import SentFrame
from touchstone.fuzz.outcome import Outcome
from touchstone.fuzz.runner import ANSWER_LIMIT
from touchstone.fuzz.segments import frames_in, may_wait
from touchstone.reference_impl.broker.control.forwarding import FORWARDED
from touchstone.reference_impl.wire.framing import Frames

SHARED, OWN, IN_TURN = range(3)
"""Which lanes a case may take."""
MOST = {OWN: 64, IN_TURN: 8}
HANDED_ON = FORWARDED | {90, 91, 92}  # Describe-, Alter- and DeleteShareGroupOffsets
HELD_TIMEOUT_S = 0.1
"""Seconds for a request that may be held: long enough for an answer, too short to be missed."""
HELD_IN_TURN_S = 0.5
"""The same for one that waits for its turn first."""
TIMES_IN_TURN = 3
"""How much longer a request may take that is for a controller, which may have resigned: the next
one, or the same one again, works after two seconds."""


Kind = tuple[int, tuple[str, ...]]
"""An API key, and the faults put into the request."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A case before it is sent: where it comes from, its bytes, the faults put in."""

    index: int
    sent: SentFrame
    faults: tuple[str, ...]

    @property
    def kind(self) -> Kind:
        return self.sent.key, self.faults


class Flight:
    """A case on its way: how it may travel, the answers so far, and its outcome in the end."""

    __slots__ = ("alone", "answers", "correlation", "held", "lanes", "outcome", "planned", "whole")

    def __init__(self, planned: Planned) -> None:
        wire = planned.sent.wire
        self.planned = planned
        frames, self.whole = frames_in(wire)
        self.held = may_wait(wire)
        self.alone = bool(planned.faults) or len(frames) != 1
        if self.whole and planned.sent.key in HANDED_ON:
            self.lanes = IN_TURN
        else:
            self.lanes = OWN if self.held or not self.whole else SHARED
        self.correlation = wire[8:12]
        self.answers: list[bytes] = []
        self.outcome: Outcome | None = None

    @property
    def size(self) -> int:
        return len(self.planned.sent.wire) + sum(map(len, self.answers))


class Lane:
    """A connection and the cases that are on it, in the order in which they were sent."""

    __slots__ = (
        "deadline", "done_before", "done_when_asked", "events", "flights", "frames", "lanes",
        "last", "left", "number", "out", "proven", "rounds", "since", "socket",
    )  # fmt: skip

    def __init__(
        self, address: tuple[str, int], lanes: int, login: Callable[[], socket.socket] | None = None
    ) -> None:
        """`login` makes a connection where there is more to do than to connect."""
        self.socket = self._connecting(address) if login is None else login()
        self.socket.setblocking(False)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.frames = Frames(ANSWER_LIMIT)
        self.flights: deque[Flight] = deque()
        self.out = b""  # what the socket has not taken yet
        self.last = False  # our half is closed when that has left
        self.events = 0
        self.lanes = lanes  # among which it is one
        self.number = 0  # of the connection, among all of a campaign
        self.left = False  # to a case that takes long; does not count among the connections
        self.since = 0.0
        self.done_before = 0  # cases that had ended by then
        self.done_when_asked = -1  # and when it was last asked whether this is silence; -1: never
        self.deadline = 0.0
        self.rounds = 0  # of asking elsewhere, before this silence is believed
        self.proven: Callable[[bool], None] | None = None  # a witness: told whether it was answered

    @staticmethod
    def _connecting(address: tuple[str, int]) -> socket.socket:
        """A connection that is being made. Raises OSError."""
        family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        made = socket.socket(family, socket.SOCK_STREAM)
        made.setblocking(False)
        problem = made.connect_ex(address)
        if problem not in (0, errno.EINPROGRESS):
            raise OSError(problem, os.strerror(problem))
        return made

    @property
    def may_wait(self) -> bool:
        """Whether a peer may hold what it is at."""
        return bool(self.flights) and self.flights[0].held

    def patience_s(self, timeout_s: float) -> float:
        """Seconds for what the peer is at, where `timeout_s` are enough for a plain question."""
        if self.lanes == IN_TURN:
            return HELD_IN_TURN_S if self.may_wait else TIMES_IN_TURN * timeout_s
        return HELD_TIMEOUT_S if self.may_wait else timeout_s
