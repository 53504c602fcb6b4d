"""Whether a broker still lives that answered a moment ago, also where it is started again at once.

Who asks an address again sees a death only while nobody listens there. A supervisor that restarts
a broker within a tenth of a second leaves no such moment to rely on; but all connections to the
dead one have ended. So one is kept open to each address on which nothing is asked but ApiVersions:
when it ends although it was in use a moment ago, the broker has ended, or does what no broker may,
which is to end the connections of others for what one client has sent.

A broker may close connections that are idle, so the end of one counts only if another is known to
have been left in peace for as long. Where a proxy keeps connections for a broker behind it nothing
is seen here.
"""

from __future__ import annotations

import contextlib
import select
import struct
import time

from touchstone.harness.driver.line import Line
from touchstone.harness.model.target import Address
from touchstone.reference_impl.wire import headers
from touchstone.reference_impl.wire.apis import by_name

ANSWER_S = 5.0
FRESH_S = 1.0  # a connection that was used so long ago is used again before the next case
LATE_S = 0.25  # kfake answers others for 7 ms after it has read what it dies of
AGAIN_S = 10.0  # after one on which nobody answered no other is opened for so long
LONGEST_IDLE_S = 10.0  # an idle connection is watched so long, to learn whether it is left in peace
_ASK = headers.encode_request(by_name("ApiVersions").key, 0, 1, "touchstone-liveness", {})


class OpenConnection:
    """One connection to a broker that is kept open. Used by one thread at a time."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self._line: Line | None = None
        self._used = 0.0  # when it was answered last
        self._failed: float | None = None  # when one was not answered
        self._in_peace_s = 0.0  # the longest idle time that a connection has outlived

    def use(self) -> bool:
        """See to it that there is one that was answered within FRESH_S; False where nobody listens.
        There is none, either, of a broker that listens and does not answer.
        """
        idle_s = time.perf_counter() - self._used
        if self._line is not None and idle_s < FRESH_S:
            return True
        if self._line is not None and self._asked(self._line) == "received":
            self._in_peace_s = max(self._in_peace_s, idle_s)
            return True
        self.end()
        if self._failed is None or time.perf_counter() - self._failed > AGAIN_S:
            self._line = self._opened()
        return self._line is not None or self._failed is not None

    def has_ended(self) -> bool:
        """Whether the broker has ended it, and not because it was idle; it is forgotten then."""
        how = "timeout" if self._line is None else self._line.read(0)[0]
        if how == "timeout":
            return False
        idle_s = time.perf_counter() - self._used
        self.end()
        if how not in ("closed", "reset"):  # it sends what nobody has asked for
            return False
        return idle_s <= self._in_peace_s or self._is_left_in_peace(max(idle_s, LATE_S))

    def wait(self, seconds: float) -> None:
        """Return when it ends, or when time is up."""
        line = self._line
        if line is None:
            time.sleep(seconds)
            return
        with contextlib.suppress(OSError, ValueError):  # others may close it meanwhile
            select.select([line.socket], (), (), seconds)

    def end(self) -> None:
        """Close it, if it is there."""
        if self._line is not None:
            self._line.end()
            self._line = None

    def __del__(self) -> None:
        self.end()  # whoever judges a single case may never say that the run is over

    def _opened(self) -> Line | None:
        """Another connection, if it is answered. One that is closed instead may have met the end
        of the broker, whose next life answers: that is tried once.
        """
        self._failed = None
        for _ in range(2):
            try:
                line = Line(self.address, ANSWER_S)
            except OSError:
                return None
            how = self._asked(line)
            if how == "received":
                return line
            line.end()
            if how == "timeout":
                break
        self._failed = time.perf_counter()
        return None

    def _asked(self, line: Line) -> str:
        """How a question on this connection ended: "received", or as for `Line.read`."""
        deadline = time.perf_counter() + ANSWER_S
        how = line.write(struct.pack(">i", len(_ASK)) + _ASK, deadline) or line.read(deadline)[0]
        if how == "received":
            self._used = time.perf_counter()
        return how

    def _is_left_in_peace(self, idle_s: float) -> bool:
        """Whether a new connection is still there after so long a time without a question."""
        if idle_s > LONGEST_IDLE_S:
            return False
        line = self._opened()
        if line is None:
            return True  # nobody is there: that is an end
        left = line.read(time.perf_counter() + idle_s)[0] == "timeout"
        line.end()
        if left:
            self._in_peace_s = max(self._in_peace_s, idle_s)
        return left
