"""A script over its connections: sockets and the clock of scripts are here (as of single cases in
`fuzz.runner`).

Each connection is a lane on which one step at a time is under way. A step that the script expects
an answer to is awaited by itself; what follows a step without an expectation is a probe
(ApiVersions v0, as in `fuzz.runner`), because whatever was broken may have no answer. A step that
may wait for others is given a short time to be answered at once; after that other lanes go on, and
its answer is read when a later step releases it or its lane is wanted.

Which answer belongs to which step follows from the order on its lane, never from correlation ids:
whether those are right is an oracle's to say.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from touchstone.fuzz.outcome import CLOSED, GARBLED, KEPT, RESET, SILENT, Outcome
from touchstone.fuzz.runner import ANSWER_LIMIT, PROBE, PROBE_ANSWER, connect, require_answers
from touchstone.fuzz.script import Script, Step, filled
from touchstone.fuzz.segments import SIZE, frames_in, may_wait
from touchstone.fuzz.sequences.judge import changed_nothing, code_of, other_values
from touchstone.fuzz.sequences.played import Played
from touchstone.reference_impl.wire.framing import FrameError, Frames
from touchstone.reference_impl.wire.headers import API_VERSIONS, decode_response
from touchstone.reference_impl.wire.schema import Struct

CHUNK = 65536
AGAIN_S = 0.002
"""Between two tries of a step that a target is not ready for."""
UNSUPPORTED_VERSION = (35).to_bytes(2, "big")


@dataclass(frozen=True)
class Patience:
    """How many seconds are waited: for an answer; for one that may be held; behind one that may be
    held and that nobody expects anything of; and until a step is no longer refused for the moment.
    """

    answer_s: float = 2.0
    held_s: float = 0.03
    blocked_s: float = 0.1
    again_s: float = 10.0

    def times(self, factor: float) -> Patience:
        return Patience(self.answer_s * factor, self.held_s * factor, self.blocked_s, self.again_s)


@dataclass
class _Lane:
    """One connection, and the step that is under way on it."""

    socket: socket.socket
    frames: Frames = field(default_factory=lambda: Frames(ANSWER_LIMIT))
    step: int | None = None
    whole: bool = True  # what is under way ends where a frame ends
    probed: bool = False
    unexpected: bool = False  # what is under way may be held for ever
    got: list[bytes] = field(default_factory=list)
    ready: list[bytes] = field(default_factory=list)  # frames read that no step has asked for


class Session:
    """The steps of one script, played one by one: `play` gives each outcome as it is known."""

    def __init__(self, address: tuple[str, int], patience: Patience) -> None:
        self.address, self.patience = address, patience
        self.answers: dict[int, Struct] = {}
        self.outcomes: dict[int, Outcome] = {}
        self.sent: list[bytes] = []
        self.early: set[int] = set()
        self.held: set[int] = set()
        self.connects = 0
        self._steps: list[Step] = []
        self._lanes: dict[int, _Lane] = {}
        self._lane_of: dict[int, int] = {}
        self._astray = False  # a broken request was not refused: what comes is not as expected

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections; what is under way is not awaited."""
        for lane in self._lanes.values():
            lane.socket.close()

    def play(self, step: Step) -> Outcome | None:
        """Send the next step; None when it is held. Raises ConnectionError when the target accepts
        no connection.
        """
        number = len(self._steps)
        self._steps.append(step)
        if step.delay_ms:
            time.sleep(step.delay_ms / 1000)
        for reference in step.references:
            self._settle(reference.step)
        wanted = step.expected is not None and not self._astray
        deadline = time.monotonic() + (self.patience.again_s if wanted else self.patience.blocked_s)
        outcome = self._try(number, step)
        while outcome is not None and self._refused_for_now(number, step, outcome):
            if time.monotonic() > deadline:
                break
            time.sleep(AGAIN_S)
            self.sent.pop()
            outcome = self._try(number, step)
        if step.faults and outcome is not None:
            body = self.answers.get(number)
            self._astray |= not changed_nothing(self.sent[number], outcome, body)
        if step.faults and outcome is None:
            self.held.add(number)
            self._astray = True
        if step.expected is not None and step.expected.releases is not None:
            self._settle(step.expected.releases)
        return outcome

    def finish(self) -> None:
        """Whatever is still under way was not answered."""
        for lane in list(self._lanes.values()):
            if lane.step is not None:
                self._await(lane, 0.0)

    def _refused_for_now(self, number: int, step: Step, outcome: Outcome) -> bool:
        body = self.answers.get(number)
        if outcome.end != KEPT or body is None:
            return False
        if step.until and step.expected is not None and not code_of(body):
            return other_values(self.answers, body, step.expected) is not None
        return code_of(body) in step.again

    def _try(self, number: int, step: Step) -> Outcome | None:
        wire = filled(step, self.answers)
        self.sent.append(wire)
        expected = None if self._astray else step.expected
        held = may_wait(wire) if expected is None else expected.held
        lane = self._lane(step.connection)
        lane.step, lane.got, lane.whole = number, [], frames_in(wire)[1]
        lane.unexpected = held and expected is None
        self._lane_of[number] = step.connection
        lane.probed = lane.whole and expected is None
        try:
            lane.socket.sendall(wire + (PROBE if lane.probed else b""))
            if not lane.whole:
                lane.socket.shutdown(socket.SHUT_WR)
        except OSError:
            return self._over(lane, RESET)
        outcome = self._await(lane, self.patience.held_s if held else None)
        if outcome is not None and held:
            self.early.add(number)
        return outcome

    def _lane(self, connection: int) -> _Lane:
        """The lane, with nothing under way on it."""
        lane = self._lanes.get(connection)
        if lane is not None and lane.step is not None:
            self._settle(lane.step)
            lane = self._lanes.get(connection)
        if lane is None:
            self.connects += 1
            made = connect(self.address, self.patience.answer_s)
            made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            lane = self._lanes[connection] = _Lane(made)
        return lane

    def _settle(self, number: int) -> None:
        """Have the outcome of an earlier step, which may have been held."""
        lane = self._lanes.get(self._lane_of.get(number, -1))
        if lane is not None and lane.step == number:
            self._await(lane, None)

    def _await(self, lane: _Lane, held_s: float | None) -> Outcome | None:
        """The outcome of what is under way on a lane; None when it may be held and is."""
        patience = self.patience.blocked_s if lane.unexpected else self.patience.answer_s
        deadline = time.monotonic() + (patience if held_s is None else held_s)
        rounds = 0 if lane.unexpected else 1
        while True:
            try:
                frame = self._frame(lane, deadline)
            except TimeoutError:
                if held_s:
                    return None
                if held_s == 0.0 or not rounds:
                    return self._over(lane, SILENT)
                # Seconds alone prove no silence: on a busy machine answers come late.
                rounds -= 1
                require_answers(self.address)
                deadline = time.monotonic() + self.patience.held_s
                continue
            except FrameError:
                return self._over(lane, GARBLED)
            except OSError:
                return self._over(lane, RESET)
            if frame is None:
                return self._over(lane, CLOSED)
            if frame[:4] == PROBE_ANSWER:
                return self._over(lane, KEPT)
            lane.got.append(frame)
            if lane.whole and not lane.probed:
                return self._over(lane, KEPT)

    def _over(self, lane: _Lane, end: str) -> Outcome:
        number, lane.step = lane.step, None
        assert number is not None, "a lane without a step was awaited"
        if end != KEPT:
            lane.socket.close()
            self._lanes = {key: one for key, one in self._lanes.items() if one is not lane}
        outcome = self.outcomes[number] = Outcome(tuple(lane.got), end)
        body = _decoded(self.sent[number], lane.got)
        if body is not None:
            self.answers[number] = body
        return outcome

    def _frame(self, lane: _Lane, deadline: float) -> bytes | None:
        """The next frame; None after FIN; TimeoutError at the deadline."""
        while not lane.ready:
            lane.socket.settimeout(max(deadline - time.monotonic(), 1e-4))
            chunk = lane.socket.recv(CHUNK)
            if not chunk:
                return None
            lane.ready += lane.frames.feed(chunk)
        return lane.ready.pop(0)


class Player:
    """Plays scripts against one target, each over connections of its own."""

    def __init__(self, host: str, port: int, patience: Patience | None = None) -> None:
        self.address = (host, port)
        self.patience = patience or Patience()
        self.steps = self.connects = 0

    def session(self, patience: Patience | None = None) -> Session:
        return Session(self.address, patience or self.patience)

    def play(self, script: Script, patience: Patience | None = None) -> Played:
        """All steps. Raises ConnectionError when the target no longer accepts connections."""
        with self.session(patience) as session:
            for step in script.steps:
                session.play(step)
            session.finish()
            self.steps += len(script.steps)
            self.connects += session.connects
            return played(script, session)

    def nonce(self) -> str:
        """A word that no earlier run on this target has used."""
        return f"{time.time_ns() // 1000:x}"


def played(script: Script, session: Session) -> Played:
    """What has come of the script until now; what is under way is silent so far."""
    silent = Outcome((), SILENT)
    outcomes = tuple(session.outcomes.get(n, silent) for n in range(len(session.sent)))
    return Played(
        script,
        tuple(session.sent),
        outcomes,
        session.answers,
        frozenset(session.early),
        frozenset(session.held),
    )


def _decoded(sent: bytes, got: Iterable[bytes]) -> Struct | None:
    """The body of the first answer to what was sent; None when there is none that parses."""
    if len(sent) < SIZE + 4:
        return None
    key, version = struct.unpack_from(">hh", sent, SIZE)
    for frame in got:
        read = 0 if key == API_VERSIONS and frame[4:6] == UNSUPPORTED_VERSION else version
        with contextlib.suppress(ValueError, KeyError):
            return decode_response(key, read, frame).body
        return None
    return None
