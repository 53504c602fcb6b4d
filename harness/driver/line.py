"""One TCP connection seen as a stream of frames, every operation bounded by an instant.

A deadline is absolute: a peer that drips one byte a second gets no more time than one that says
nothing. A frame's size is believed only up to FRAME_LIMIT and what a request asks for in bytes of
records, at most RECORDS_LIMIT; one beyond it is refused by its four bytes, and nothing is allocated
for bytes that have not come.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import time
from dataclasses import dataclass

from touchstone.harness.model.target import Address
from touchstone.harness.targets import reach

FRAME_LIMIT, RECORDS_LIMIT = 16 << 20, 64 << 20
CHUNK = 256 << 10
QUIET_S = (0.2, 10, 1.0, 0.7)
"""A silence: at least, this many round trips, at most; and at least where an answer is awaited: it
comes wrongly at once, or after half a second (fetch.max.wait.ms by default), as a wait cut short.
"""


@dataclass(slots=True)
class Pending:
    """A request on its way: which step sent it, and how its answer will be read."""

    step: int
    api: int | None
    version: int | None
    correlation_id: int | None
    wanted: bool = True
    answered: bool = False


class Line:
    """One TCP connection: whole frames out of a deadline-bounded byte stream. Raises OSError, also
    for an address that cannot be one, or that is not to be asked (`reach`): brokers tell addresses.
    """

    def __init__(self, address: Address, timeout: float, *, bare: bool = False) -> None:
        """`bare`: without the login that the address may want (`reach.connect`)."""
        began, self.address = time.perf_counter(), address
        self.socket = reach.connect(address, timeout, bare=bare)
        self.round_trip = time.perf_counter() - began
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = bytearray()
        self.records = 0  # bytes of them that one answer on this connection may bring
        self.pending: list[Pending] = []
        self.lost = False

    @property
    def silence_s(self) -> float:
        """How long nothing comes from a peer that has nothing to say."""
        least, round_trips, most, awaited = QUIET_S
        waits = any(one.wanted and not one.answered for one in self.pending)
        return max(min(max(least, round_trips * self.round_trip), most), awaited * waits)

    def expect_records(self, size: object) -> None:
        """Let an answer be larger by the bytes of records that a request asks for (max_bytes)."""
        if isinstance(size, int):
            self.records = max(self.records, min(size, RECORDS_LIMIT))

    def write(self, data: bytes, deadline: float) -> str | None:
        """Sends all of it; "timeout" or "reset" when that was not possible."""
        if not data:  # to look is no attempt to say something: our direction may have ended
            return None
        left = max(deadline - time.perf_counter(), 0.001)
        try:
            if reach.expiring(self.socket) and all(one.answered for one in self.pending):
                reach.renew(self.socket, left)
            self.socket.settimeout(left)
            self.socket.sendall(data)
        except TimeoutError:
            return "timeout"
        except OSError:
            return "reset"
        return None

    def read(self, deadline: float) -> tuple[str, bytes]:
        """("received", frame), or how it ended: closed, reset, timeout, garbled, and what lay."""
        while True:
            if len(self.buffer) >= 4:
                (size,) = struct.unpack_from(">i", self.buffer)
                if not 0 <= size <= FRAME_LIMIT + self.records:
                    return "garbled", bytes(self.buffer[:64])
                if len(self.buffer) >= 4 + size:
                    frame = bytes(self.buffer[4 : 4 + size])
                    del self.buffer[: 4 + size]
                    return "received", frame
            how = self._more(deadline)
            if how:
                return how, bytes(self.buffer[:4096])

    def _more(self, deadline: float) -> str | None:
        left = deadline - time.perf_counter()
        try:
            if left <= 0:
                self.socket.setblocking(False)
            else:
                self.socket.settimeout(left)
            chunk = self.socket.recv(CHUNK)
        except (TimeoutError, BlockingIOError):
            return "timeout"
        except OSError:
            return "reset"
        self.buffer += chunk
        return None if chunk else "closed"

    def end(self) -> None:
        with contextlib.suppress(OSError):
            self.socket.close()


def whose(pending: list[Pending], raw: bytes) -> Pending | None:
    """The request a frame answers: by correlation id, else the oldest that awaits an answer.

    Of several with this id (a step asked again) it is the one that waits, else raw bytes whose id
    we do not know, else the last one, whose second answer this is.
    """
    if len(raw) >= 4:
        (correlation_id,) = struct.unpack_from(">i", raw)
        same = [one for one in pending if one.correlation_id == correlation_id]
        waiting = [one for one in same if not one.answered]
        unknown = [one for one in pending if one.correlation_id is None and not one.answered]
        unknown.sort(key=lambda one: not one.wanted)
        if same:
            return next(iter((*waiting, *unknown)), same[-1])
    return next((one for one in pending if one.wanted and not one.answered), None)
