"""Runs a scenario on an endpoint and gives back a transcript. The only place where time passes.

Whatever a target does is an event, never an exception: it answers, closes, resets, refuses, stays
silent, sends garbage or sends without end. Four bounds make a hostile target cheap. Every step has
one absolute deadline, however slowly bytes drip; a frame may not be larger than its question allows
(`line`); frames that nobody asked for are counted; and after the first hang the rest of the case is
not attempted, so a target that never answers costs one deadline per case.

Correlation ids are the step's number plus one and names come from the nonce, so the same scenario
sends frames of the same bytes and sizes to every target, and a step asked again looks the same.
Exceptions leave this module only for what the harness itself did wrong.
"""

from __future__ import annotations

import contextlib
import dataclasses
import socket
import struct
import time
from typing import Any, NoReturn

from touchstone.harness.driver import auto_creation, deadlines, emptied
from touchstone.harness.driver.brokers import lookup, pauses, resolved, told_ids, topic_id
from touchstone.harness.driver.finishing import finished
from touchstone.harness.driver.halt import Halt
from touchstone.harness.driver.harm import Harm, NotDone
from touchstone.harness.driver.line import Line, Pending, whose
from touchstone.harness.driver.listeners import by_listener
from touchstone.harness.driver.preparation import NO_WAITS, Waits
from touchstone.harness.driver.words import Words, names_accepted, walk
from touchstone.harness.model import path as paths
from touchstone.harness.model.group_numbers import GroupNumbers
from touchstone.harness.model.pace import NOTHING_TO_DO, Fit
from touchstone.harness.model.placeholders import Bindings, Frame, Ref, Unresolved
from touchstone.harness.model.scenario import (
    Ask,
    Await,
    Close,
    HalfClose,
    Inflict,
    Open,
    Quiet,
    Raw,
    Scenario,
    Send,
    Until,
    asked,
    connection_of,
    label,
)
from touchstone.harness.model.target import Address, Endpoint
from touchstone.harness.model.transcript import Event, Transcript
from touchstone.harness.targets import reach
from touchstone.reference_impl.wire import headers
from touchstone.reference_impl.wire.apis import by_name
from touchstone.reference_impl.wire.codec import EncodeError

DEADLINE_S = 10.0
FLOOD = 32  # frames nobody asked for, in one step
TRIES = 500  # of a wait, at most
MOST_S = 90.0  # what a wait lasts on a cluster whose own pace is slow


class Stop(Exception):
    """The rest of the case is not attempted. Never leaves this module."""


def run(
    scenario: Scenario, endpoint: Endpoint, *, nonce: str, deadline_s: float = DEADLINE_S,
    target: str = "", release: str | None = None, seed: int | None = None,
    fit: Fit = NOTHING_TO_DO, halt: Halt | None = None, waits: Waits = NO_WAITS, prefix: str = "",
    kafkas: Transcript | None = None,
) -> Transcript:  # fmt: skip
    """The scenario's transcript on this endpoint. Raises only for mistakes of the harness.
    `halt` may end it at any step. `fit` is what it costs here, `prefix` begins each name that it
    draws, `kafkas` answers are those that the scenario's numbers of groups were written for.
    """
    one = Run(scenario, endpoint, nonce, deadline_s, fit, halt, waits, prefix, kafkas)
    try:
        with one.halt.reaches(one.lines):
            one.all_steps()
    finally:
        one.end()
    return finished(one, target=target, release=release, seed=seed)


class Run:
    """One scenario on its way through one endpoint."""

    def __init__(
        self, scenario: Scenario, endpoint: Endpoint, nonce: str, deadline_s: float,
        fit: Fit = NOTHING_TO_DO, halt: Halt | None = None, waits: Waits = NO_WAITS,
        prefix: str = "", kafkas: Transcript | None = None,
    ):  # fmt: skip
        self.scenario, self.endpoint = scenario, endpoint
        self.halt, self.waits = halt or Halt(), waits
        self.deadline_s = min(deadline_s + fit.patience_ms / 1000, max(MOST_S, deadline_s))
        self.words = Words(scenario, endpoint, fit)
        self.kafkas, self.numbers = kafkas, GroupNumbers(scenario, kafkas, self._answer)
        self.events: list[Event] = []
        self.lines: dict[str, Line] = {}
        self.brokers: dict[str, int | None] = {}
        self.sent: dict[str, tuple[str, Pending]] = {}  # label -> connection, pending
        self.bodies: dict[str, Any] = {}
        self.harm = Harm(endpoint)
        self.began = time.perf_counter_ns()
        self.topic_ids: dict[str, bytes] = {}
        self.bindings = Bindings(
            nonce, int(time.time() * 1000), answer=self._answer, topic_id=self._topic_id,
            sent=self.words.sent, accepted=names_accepted(endpoint), prefix=prefix,
        )  # fmt: skip
        self.step = 0

    @property
    def patience_s(self) -> float:
        """How long a step may take: longer where a timeout had to be raised."""
        return max(self.deadline_s, min(self.deadline_s + self.words.more_s, MOST_S))

    # the steps

    def all_steps(self) -> None:
        try:
            for index, step in enumerate(self.scenario.steps):
                self.step = index
                self.halt.check(Stop)
                self._one_step(step)
            self._drain()
        except Stop:
            return

    def _one_step(self, step: Any) -> None:
        try:
            _DO[type(step)](self, step)
        except Unresolved as error:
            self._give_up("unresolved", connection_of(step), str(error))
        except EncodeError as error:
            if not any(isinstance(inner, Ref) for inner in walk(step)):
                raise
            self._give_up("unresolved", connection_of(step), f"cannot be encoded: {error}")

    def _ask(self, step: Ask) -> None:
        word = label(step, self.step)
        if word in self.waits.topics:
            return self._make(step)
        kept, until = len(self.events), time.perf_counter() + deadlines.LONGEST_S
        while True:
            pending = self._request(step, wanted=step.answer)
            if pending is not None and step.answer:
                self._await(connection_of(step), pending, self._deadline(step))
            pause_s = emptied.again_in_s(step, word, self._answer, self.kafkas)
            if not pause_s or time.perf_counter() + pause_s > until:
                return None
            more = [one for one in self.events[kept:] if one.step != self.step or not one.raw]
            self.events[kept:] = more
            self.bodies.pop(word, None)
            time.sleep(pause_s)

    def _make(self, step: Ask) -> None:
        """Have Metadata make the topics of a CreateTopics step."""
        body = self.bindings.resolve(step.body)
        counts = auto_creation.make(self.harm.informant, body, self.deadline_s)
        self.words.made(counts)
        api, names = by_name(step.api).key, ", ".join(counts)
        self._event("made", connection_of(step), api=api, version=step.version, note=names)

    def _send(self, step: Send) -> None:
        self._request(step, wanted=True)

    def _await_step(self, step: Await) -> None:
        if step.name in self.sent:
            connection, pending = self.sent[step.name]
            sender = self.scenario.steps[pending.step]
            self._await(connection, pending, self._deadline(sender))

    def _raw(self, step: Raw) -> None:
        line = self._line(step)
        if line is None:
            return
        data = self.bindings.resolve(step.data)
        made = step.data if isinstance(step.data, Frame) else None
        api = step.api or (made and made.api)
        pending = Pending(
            self.step,
            by_name(api).key if api else None,
            step.version if step.version is not None else made.version if made else None,
            struct.unpack_from(">i", data, 4)[0] if step.framed and len(data) >= 8 else None,
            wanted=step.expect in ("answer", "any"),
        )
        if not self._write(connection_of(step), line, pending, data, framed=step.framed):
            return
        self.sent[label(step, self.step)] = connection_of(step), pending
        deadline = self._deadline(step)
        if step.expect in ("answer", "any"):
            self._await(connection_of(step), pending, deadline)
        elif step.expect == "close":
            self._await(connection_of(step), Pending(self.step, None, None, None), deadline)
        else:
            self._listen(connection_of(step), line)

    def _until(self, step: Until) -> None:
        patience_s = self.waits.patience(step, self.patience_s)
        kept, waited = len(self.events), deadlines.Waited()
        for tries, pause in zip(range(1, TRIES + 1), pauses(), strict=False):
            self.halt.check(Stop)
            self._ask(step.ask)
            last = self.events[kept:]
            if any(event.direction not in ("opened", "sent", "received") for event in last):
                return
            body = self._answer(label(step, self.step))
            took_s = waited.answered(body)
            done = body is not None and all(
                paths.holds(body, path, op, self.bindings.resolve(value))
                for path, op, value in self.numbers.conditions(self.step, step)
            )
            unreadable = body is None
            if done or unreadable or took_s + pause > patience_s or tries == TRIES:
                self.events[kept:] = [dataclasses.replace(e, tries=tries) for e in last]
                break
            self.events[kept:] = [event for event in last if event.direction == "opened"]
            self.bodies.pop(label(step, self.step), None)
            time.sleep(pause)
        # An answer that cannot be read would be no better at the next try, and says nothing of how
        # long others have to wait.
        known_s = None if unreadable else took_s
        goes_on = self.waits.ended(step, label(step, self.step), done, known_s)
        if not done:
            wanted = " and ".join(f"{p} {o} {v!r}" for p, o, v in step.conditions)
            self._event("unmet", connection_of(step), note=f"{wanted} after {tries} tries")
            if not goes_on:
                raise Stop

    def _open(self, step: Open) -> None:
        self._line(step)

    def _close(self, step: Close) -> None:
        line = self.lines.pop(step.connection, None)
        if line is not None:
            line.end()
            self._event("ended", step.connection)

    def _half_close(self, step: HalfClose) -> None:
        line = self.lines.get(step.connection)
        if line is None or line.lost:
            self._event("gone", step.connection)
            return
        with contextlib.suppress(OSError):
            line.socket.shutdown(socket.SHUT_WR)
        self._event("half-closed", step.connection)

    def _quiet(self, step: Quiet) -> None:
        line = self._line(step)
        if line is not None:
            self._listen(step.connection, line, step.least_ms / 1000)

    def _inflict(self, step: Inflict) -> None:
        """The broker's node does it; connections to one that is started again begin anew."""
        connection = connection_of(step)
        broker = self._address(step.broker)[1]
        if step.fault == "start":
            for word in [word for word in self.lines if self.brokers.get(word) == broker]:
                self.lines.pop(word).end()
        try:
            self.harm.inflict(step.fault, broker)
        except NotDone as error:
            self._give_up("unresolved", connection, str(error))
        self.brokers.setdefault(connection, broker)
        self._event("inflicted", connection, note=step.fault)

    # requests and answers

    def _request(self, step: Ask | Send, *, wanted: bool) -> Pending | None:
        """Sends the step's request; None when the connection did not take it."""
        body = self.numbers.sent(self.step, step.body, self.bindings.resolve(step.body))
        body = deadlines.granted(step.api, body, self.deadline_s)
        body = self.words.sent(step.api, step.version, body)
        client_id = self.bindings.resolve(step.client_id)
        key = by_name(step.api).key
        correlation_id = self.step + 1
        pending = Pending(self.step, key, step.version, correlation_id, wanted=wanted)
        data = headers.encode_request(key, step.version, correlation_id, client_id, body)
        line = self._line(step)
        connection = connection_of(step)
        if line is None:
            return None
        line.expect_records(body.get("max_bytes"))
        if not self._write(connection, line, pending, data, framed=True):
            return None
        self.sent[label(step, self.step)] = connection, pending
        return pending

    def _write(
        self, connection: str, line: Line, pending: Pending, data: bytes, *, framed: bool
    ) -> bool:
        how = line.write(
            struct.pack(">i", len(data)) + data if framed else data,
            time.perf_counter() + self.deadline_s,
        )
        self._event(
            "sent", connection, raw=data, api=pending.api, version=pending.version,
            correlation_id=pending.correlation_id, framed=framed, silent=not pending.wanted,
        )  # fmt: skip
        line.pending.append(pending)
        if how == "reset":
            self._read_the_rest(connection, line)
            return False
        if how == "timeout":
            self._give_up("timeout", connection, "the target does not read")
        return True

    def _await(self, connection: str, pending: Pending, deadline: float) -> None:
        """Reads until this request is answered, the connection is lost, or time is up (Stop)."""
        line = self.lines.get(connection)
        if line is None or line.lost:
            if not pending.answered:
                self._event("gone", connection, step=pending.step)
            return
        unasked, began = 0, time.perf_counter()
        while not pending.answered:
            how, raw = self.waits.read(line, pending.api, began, deadline)
            if how == "received":
                unasked += not self._received(connection, line, raw)
                if unasked > FLOOD:
                    self._lose("garbled", connection, pending.step, b"", "unasked frames, no end")
                    return
                continue
            self._lose(how, connection, pending.step, raw)
            if how == "timeout" or pending.api is None:  # an end is no answer of this API
                self.waits.answered(pending.api, how != "timeout", time.perf_counter() - began)
            if how == "timeout":
                raise Stop
            return
        self.waits.answered(pending.api, True, time.perf_counter() - began)

    def _read_the_rest(self, connection: str, line: Line) -> None:
        """After a failed write: what the target said before it broke the connection."""
        how, raw = line.read(0)
        while how == "received":
            self._received(connection, line, raw)
            how, raw = line.read(0)
        self._lose("closed" if how == "closed" else "reset", connection, self.step, raw)

    def _listen(self, connection: str, line: Line, least_s: float = 0.0) -> None:
        """Looks for a bounded while at a connection from which nothing should come."""
        deadline = time.perf_counter() + max(line.silence_s, least_s)
        for heard in range(FLOOD):
            how, raw = line.read(deadline)
            if how == "timeout":
                if not heard:  # an answer that came is the event of the step that asked for it
                    self._event("silent", connection, raw=raw)
                return
            if how != "received":
                self._lose(how, connection, self.step, raw)
                return
            self._received(connection, line, raw)

    def _received(self, connection: str, line: Line, raw: bytes) -> bool:
        """Records a frame under the request it answers; False when nobody asked for it."""
        found = whose(line.pending, raw)
        if found is None:
            self._event("received", connection, raw=raw)
            return False
        again, found.answered = found.answered, True
        version = found.version
        if found.api == 18 and raw[4:6] == b"\0\x23":  # an unsupported version is answered in v0
            version = 0
        self._event(
            "received", connection, step=found.step, raw=raw, api=found.api, version=version,
            correlation_id=found.correlation_id,
        )  # fmt: skip
        return found.wanted and not again

    def _answer(self, word: str) -> Any:
        """The decoded answer of the step with this label, None when there is none."""
        if word not in self.bodies and word in self.sent:
            step = self.sent[word][1].step
            for event in reversed(self.events):
                if event.step == step and event.direction == "received":
                    if event.api is None or event.version is None:
                        break  # nobody said which message it is
                    with contextlib.suppress(ValueError):
                        decoded = headers.decode_response(event.api, event.version, event.raw)
                        self.bodies[word] = self.words.answered(decoded.body)
                    break
        return self.bodies.get(word)

    def _topic_id(self, topic: str) -> bytes:
        """A topic's id, as an answer told it, else asked for; and remembered, as a client would."""
        if topic not in self.topic_ids:
            told = told_ids(self.events)
            if topic in told:
                self.topic_ids[topic] = told[topic]
            else:
                self.topic_ids[topic] = topic_id(self.harm.informant, topic, self.deadline_s)
        return self.topic_ids[topic]

    # connections

    def _line(self, step: Any) -> Line | None:
        """The step's connection, opened on first use; None (and an event) when it is lost."""
        connection = connection_of(step)
        step = asked(step)
        line = self.lines.get(connection)
        if line is not None and not line.lost:
            return line
        if line is not None:
            self._event("gone", connection)
            return None
        address, broker = self._address(getattr(step, "broker", None))
        named = step.listener if isinstance(step, Open) else None
        if named is not None:
            address = by_listener(self.endpoint, named, step.broker)
        try:
            most_s = min(self.deadline_s, deadlines.LONGEST_S)
            line = Line(address, most_s, bare=named is not None)  # there the steps log in
        except OSError as error:
            self._give_up("refused", connection, reach.why(error))
        self.lines[connection], self.brokers[connection] = line, broker
        self._event("opened", connection, note=named or "")
        return line

    def _address(self, choice: Any) -> tuple[Address, int | None]:
        """Where a choice of broker leads, and that broker's id where it is known."""
        bootstrap, known = self.endpoint.bootstrap, self.endpoint.brokers
        if choice is None or len(bootstrap) == 1 and self.scenario.brokers == 1:
            return bootstrap[0], None
        if isinstance(choice, Ref):
            choice = self.bindings.resolve(choice)
        if isinstance(choice, int):
            if known:
                ids = list(self.endpoint.ids) or sorted(known)
                if not -len(ids) <= choice < len(ids):
                    raise Unresolved(f"broker {choice} of {len(ids)}")
                return known[ids[choice]], ids[choice]
            if choice >= len(bootstrap):
                raise Unresolved(f"broker {choice} of {len(bootstrap)}")
            return bootstrap[choice], None
        wanted = resolved(choice, self.bindings)
        node, advertised = lookup(self.harm.informant, wanted, self.deadline_s)
        return known.get(node, advertised), node

    # bookkeeping

    def _deadline(self, step: Any) -> float:
        """The instant until which this step's answer is waited for."""
        line = self.lines.get(connection_of(step))
        trip_s = self.waits.round_trip(line.address, line.round_trip) if line else 0.0
        return time.perf_counter() + deadlines.seconds(step, self.waits, self.patience_s, trip_s)

    def _event(
        self, direction: str, connection: str, *, step: int | None = None, **more: Any
    ) -> None:
        at_us = (time.perf_counter_ns() - self.began) // 1000
        step = self.step if step is None else step
        broker = self.brokers.get(connection)
        self.events.append(Event(at_us, connection, direction, step, broker=broker, **more))

    def _lose(self, how: str, connection: str, step: int, raw: bytes, note: str = "") -> None:
        line = self.lines[connection]
        line.lost = True
        line.end()
        self._event(how, connection, step=step, raw=raw, note=note)

    def _give_up(self, direction: str, connection: str, note: str) -> NoReturn:
        self._event(direction, connection, note=note)
        raise Stop

    def _drain(self) -> None:
        """Records what lies unread at the end, without waiting for it."""
        for connection, line in self.lines.items():
            for _ in range(FLOOD):
                if line.lost:
                    break
                how, raw = line.read(0)
                if how != "received":
                    break
                self._received(connection, line, raw)

    def end(self) -> None:
        for line in self.lines.values():
            line.end()
        trouble = self.harm.mend()
        if trouble:
            self._event("unmended", "", note=trouble)


_DO: dict[type, Any] = {
    Ask: Run._ask,
    Send: Run._send,
    Await: Run._await_step,
    Raw: Run._raw,
    Until: Run._until,
    Open: Run._open,
    Close: Run._close,
    HalfClose: Run._half_close,
    Quiet: Run._quiet,
    Inflict: Run._inflict,
}
