"""Cases to outcomes: the only sockets and the only clock of the fuzzer.

A case is written together with a probe, an ApiVersions v0 request with a correlation id of its own.
Kafka answers a connection's requests in order, so when the probe's answer arrives, everything the
peer had to say about the case has been said: no case waits out a deadline to learn that nothing was
coming (a produce with acks 0, say), and a peer that wedged is told apart from one that had nothing
to say. One round trip a case, on one connection that is replaced when the peer closes it.

Seconds alone prove no silence: on a busy machine a close comes late. A peer that said nothing in
time is asked on a second connection, and only when it has answered there is it silent here.

Bytes that do not end where a frame ends would swallow the probe, and waiting for the rest is what
a good peer does. Behind such a case we close our half instead, and the peer's close is the answer.
"""

from __future__ import annotations

import contextlib
import ipaddress
import selectors
import socket
import struct
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from touchstone.fuzz.outcome import CLOSED, GARBLED, KEPT, RESET, SILENT, Outcome
from touchstone.harness.targets import reach
from touchstone.reference_impl.wire.framing import FrameError, Frames, framed
from touchstone.reference_impl.wire.headers import decode_response, encode_request
from touchstone.reference_impl.wire.schema import Struct

PROBE_CORRELATION = 0x70726F62  # "prob"
PROBE = framed(encode_request(18, 0, PROBE_CORRELATION, "touchstone-probe", {}))
PROBE_ANSWER = struct.pack(">i", PROBE_CORRELATION)
ANSWER_LIMIT = 64 * 1024 * 1024
"""Bytes of one answer we are ready to read; a broker that claims more is not believed."""


ASK_TIMEOUT_S = 10.0
CHUNK = 65536
APART_S = 2.0
"""Seconds without an answer, after which what was asked is taken to be held."""
SETTLE_S = 0.05
"""Seconds for bytes that a target has written to be seen."""
ROUNDS = 3
"""How often a silent peer is asked elsewhere: with several threads it may answer there first."""


def stopwatch() -> Callable[[], float]:
    """Seconds since this call, whenever it is asked."""
    started = time.monotonic()
    return lambda: time.monotonic() - started


class Hangs(ConnectionError):
    """The target accepts connections and answers on none of them."""


class NotLoopback(Exception):
    """The target's address is on another machine, and its owner has not said so."""


def is_loopback(host: str) -> bool:
    return ipaddress.ip_address(_number(host)).is_loopback


def _number(host: str) -> str:
    return str(socket.getaddrinfo(host, None)[0][4][0])


def _as_number(host: str) -> str:
    return "" if host == _number(host) else f" ({_number(host)})"


def require_loopback(host: str, *, is_mine: bool) -> None:
    """Raise NotLoopback unless `host` is a loopback address or the user claimed it."""
    if not (is_mine or is_loopback(host)):
        raise NotLoopback(
            f"{host} is not a loopback address{_as_number(host)}; the fuzzer sends to other "
            "machines only with --this-target-is-mine"
        )


Address = tuple[str, int]
Question = tuple[int, int, Struct]
"""API key, version, body."""


def connect(address: Address, seconds: float) -> socket.socket:
    """Return a connection, logged in on where the target wants that. Raise OSError."""
    return reach.entered(socket.create_connection(address, seconds), address, seconds)


def resolved(address: Address) -> Address | None:
    """The same with a number for a name; None for a name that does not resolve."""
    try:
        return socket.gethostbyname(address[0]), address[1]
    except OSError:
        return None


def frame_of(key: int, version: int, body: Struct) -> bytes:
    """A question of the fuzzer's own, with its length."""
    return framed(encode_request(key, version, 1, "touchstone-fuzz", body))


def decoded(key: int, version: int, answer: bytes) -> Struct | None:
    """The body of an answer; None of one that cannot be read."""
    try:
        return decode_response(key, version, answer).body
    except ValueError:
        return None


@dataclass
class Tally:
    """What a link has done so far; counts of cases, connections and bytes each way."""

    cases: int = 0
    connects: int = 0
    sent: int = 0
    received: int = 0


class Link:
    """One connection to a target, replaced whenever the target ends it.

    `timeout_s` is how many seconds a target may take to answer the probe behind a case. Refused
    connections raise ConnectionError: a target that no longer accepts is dead, not silent, and so
    is one that answers nobody (Hangs). When they have passed, `settle` has the target do all that
    it has to do, and only then is its silence believed, however slow the machine is: it answers
    somebody else, unless the caller knows better (of a broker in this process).
    """

    def __init__(
        self,
        host: str,
        port: int,
        *,
        timeout_s: float = 2.0,
        settle: Callable[[], object] | None = None,
    ) -> None:
        self.address = (host, port)
        self.timeout_s = timeout_s
        self.own_settle = settle
        self.settle = settle or (lambda: require_answers(self.address))
        self.tally = Tally()
        self._socket: socket.socket | None = None
        self._frames = Frames(ANSWER_LIMIT)

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def __enter__(self) -> Link:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def play(
        self, segments: Iterable[bytes], *, probe: bool = True, timeout_s: float | None = None,
        may_wait: bool = False,
    ) -> Outcome:  # fmt: skip
        """Write a case's segments in order, then the probe, and collect what comes back. Of a
        request that a peer may hold (`may_wait`) its silence needs no proof.
        """
        self.tally.cases += 1
        answers: list[bytes] = []
        try:
            connection = self._connected()
        except TimeoutError:
            return Outcome((), SILENT)
        try:
            wire = b"".join(segments) + (PROBE if probe else b"")
            self.tally.sent += len(wire)
            connection.sendall(wire)
            if not probe:
                connection.shutdown(socket.SHUT_WR)
            rounds = 0 if may_wait else ROUNDS
            for frame in self._answers(connection, timeout_s or self.timeout_s, rounds):
                if frame[:4] == PROBE_ANSWER:
                    return Outcome(tuple(answers), KEPT)
                answers.append(frame)
            end = CLOSED
        except TimeoutError:
            end = SILENT
        except FrameError:
            end = GARBLED
        except Hangs:
            self.close()
            raise
        except OSError:  # reset, broken pipe, no longer connected: the peer has hung up
            end = RESET
        self.close()
        return Outcome(tuple(answers), end)

    def rest(self) -> None:
        """Give the target a moment before the same question is asked again."""
        time.sleep(0.02)

    def _connected(self) -> socket.socket:
        if self._socket is not None and reach.expiring(self._socket):
            self.close()
        if self._socket is None:
            self.tally.connects += 1
            self._socket = connect(self.address, self.timeout_s)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._frames = Frames(ANSWER_LIMIT)
        return self._socket

    def ask(self, key: int, version: int, body: Struct) -> Struct | None:
        """A question of our own between cases; None when the target hangs up on it, or answers
        what cannot be read: to complain of that is for oracles and watches.
        """
        answer = self.answer_to(key, version, body)
        return None if answer is None else decoded(key, version, answer)

    def ask_all(self, questions: Sequence[Question]) -> list[Struct | None]:
        """What each comes to, as `ask` says; they are written together, for Kafka answers a
        connection's requests in order. Behind one that has no answer the others are asked again.
        """
        found: list[Struct | None] = []
        while len(found) < len(questions):
            left = questions[len(found) :]
            outcome = self.play([frame_of(*one) for one in left], timeout_s=ASK_TIMEOUT_S)
            self.tally.cases -= 1
            for (key, version, _), answer in zip(left, outcome.answers, strict=False):
                found.append(decoded(key, version, answer))
            if len(outcome.answers) < len(left):
                found.append(None)
        return found

    def ask_apart(self, questions: Sequence[Question]) -> list[Struct | None]:
        """The same, each on a connection of its own, all at once: of a target that may hold them.
        None for one that has no answer when none has come for APART_S.
        """
        answers: list[bytes | None] = [None] * len(questions)
        with contextlib.ExitStack() as opened, selectors.DefaultSelector() as selector:
            for number, question in enumerate(questions):
                made = connect(self.address, ASK_TIMEOUT_S)
                opened.enter_context(made)
                self.tally.connects += 1
                made.sendall(frame_of(*question))
                made.setblocking(False)
                selector.register(made, selectors.EVENT_READ, (number, Frames(ANSWER_LIMIT)))
            while selector.get_map() and (ready := selector.select(APART_S)):
                for key, _ in ready:
                    number, frames = key.data
                    over = True
                    with contextlib.suppress(ConnectionResetError, FrameError):
                        chunk = key.fileobj.recv(CHUNK)  # type: ignore[union-attr]
                        found = frames.feed(chunk)
                        answers[number] = found[0] if found else None
                        over = bool(found) or not chunk
                    if over:
                        selector.unregister(key.fileobj)
        return [
            None if answer is None else decoded(key, version, answer)
            for (key, version, _), answer in zip(questions, answers, strict=True)
        ]

    def answer_to(self, key: int, version: int, body: Struct) -> bytes | None:
        """The frame that answers such a question; None when the target hangs up on it."""
        outcome = self.play([frame_of(key, version, body)], timeout_s=ASK_TIMEOUT_S)
        self.tally.cases -= 1
        if outcome.end != KEPT or not outcome.answers:
            return None
        return outcome.answers[0]

    def _answers(self, connection: socket.socket, timeout_s: float, rounds: int) -> Iterator[bytes]:
        """Whole frames until FIN; TimeoutError when the deadline of the whole case has passed."""
        deadline = time.monotonic() + timeout_s
        while chunk := self._chunk(connection, deadline, rounds):
            self.tally.received += len(chunk)
            yield from self._frames.feed(chunk)

    def _chunk(self, connection: socket.socket, deadline: float, rounds: int) -> bytes:
        """What has come, nothing after FIN; TimeoutError."""
        left = deadline - time.monotonic()
        try:
            if left <= 0:
                raise TimeoutError
            connection.settimeout(left)
            return connection.recv(CHUNK)
        except TimeoutError:
            # A peer that drips bytes for ever does not end here either.
            if not rounds or left < -ASK_TIMEOUT_S:
                raise
        connection.settimeout(SETTLE_S)
        for _ in range(rounds):
            self.settle()
            with contextlib.suppress(TimeoutError):
                return connection.recv(CHUNK)
        raise TimeoutError


HANGS_S = 15.0
"""Seconds after which a target that answers nobody is as good as dead. A JVM short of memory may
collect garbage for ten."""
DYING_S = 2.0
"""How long a target may take to go, after it did not answer."""
LOOK_S = 0.05


def require_answers(address: Address, patience_s: float | None = None) -> None:
    """Return when the target has answered a probe on a connection of its own, or has ended it.
    Raises ConnectionError: it refuses connections, or answers nobody for HANGS_S.
    """
    patience_s = HANGS_S if patience_s is None else patience_s
    deadline = time.monotonic() + patience_s
    try:
        with (
            connect(address, patience_s) as other,
            contextlib.suppress(ConnectionResetError),
        ):
            other.sendall(PROBE)
            frames = Frames(ANSWER_LIMIT)
            while True:
                other.settimeout(max(deadline - time.monotonic(), 1e-3))
                chunk = other.recv(CHUNK)
                if not chunk or frames.feed(chunk):
                    return
    except TimeoutError:
        raise Hangs(f"it answers nobody for {patience_s:g} s") from None


def refusal(address: Address) -> str | None:
    """How the target refuses a connection; None where it accepts one."""
    try:
        socket.create_connection(address, DYING_S).close()
    except OSError as problem:
        return f"refuses connections afterwards: {problem.strerror or problem}"
    return None


def is_alive(address: Address, dying_s: float = DYING_S) -> bool:
    """Whether the target still accepts connections when it has had `dying_s` seconds to die, and
    answers.
    """
    deadline = time.monotonic() + dying_s
    try:
        while time.monotonic() < deadline:
            socket.create_connection(address, DYING_S).close()
            time.sleep(LOOK_S)
        require_answers(address)
    except OSError:
        return False
    return True
