"""One case of a client: an adapter, its proxy and a broker that misbehaves, on one transcript.

A `ClientRun` is a run of a scenario (harness/driver/runner.py) that also has steps for a client.
What the adapter says and what crosses the proxy is noted in the order in which it came, with the
step that was under way. An adapter that dies, says what is no event, or lacks something ends the
case; the transcript says so, and nothing is raised.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from touchstone.harness.adapters import lines
from touchstone.harness.adapters.lying import HONEST, Liar
from touchstone.harness.adapters.process import END, Process
from touchstone.harness.adapters.program import Program
from touchstone.harness.adapters.proxy import HOST, Proxy
from touchstone.harness.adapters.tap import Active, Tap
from touchstone.harness.driver.finishing import finished
from touchstone.harness.driver.runner import Run, Stop
from touchstone.harness.model.client_steps import OPEN, Change, Hear, Mend, Spoil, Tell, Watch
from touchstone.harness.model.scenario import Scenario
from touchstone.harness.model.target import Endpoint, OutOfScope
from touchstone.harness.model.transcript import Event, Transcript
from touchstone.reference_impl.broker.faults.fault_plan import Plan, Rule
from touchstone.reference_impl.wire.apis import by_name

LOOK_S = 0.5  # a wait is woken by each event; this is for what wakes nobody
CLOSE_S = 5.0  # an adapter may take that long to forget its clients, or it is started again


class Adapter:
    """The process of an adapter, kept from case to case; the run under way hears what it says."""

    def __init__(self, program: Program, start_s: float) -> None:
        self.program, self.start_s = program, start_s
        self.about: Mapping[str, Any] = {}
        self._process: Process[Program] | None = None
        self._heard: Callable[[str], None] = lambda line: None
        self._ready = threading.Event()
        self._reset = threading.Event()
        self._dead = threading.Event()
        self.last_words = ""

    def start(self) -> str | None:
        """Why it cannot be had; None when it is ready."""
        if self._process is not None and not self._dead.is_set():
            return None
        self.end()
        for flag in (self._ready, self._dead):
            flag.clear()
        try:
            self._process = Process(self.program, self._line)
        except OSError as error:
            return f"{self.program.command[0]}: {error.strerror}"
        until = time.monotonic() + self.start_s
        while not self._ready.wait(0.05):
            if self._dead.is_set():
                return f"it ended before it was ready: {self._process.how_it_ended()}"
            if time.monotonic() > until:
                said = self._process.last_words()
                self.end()
                why = f"it did not say {lines.READY} within {self.start_s:g} s"
                return f"{why}; {said}" if said else why
        return None

    def listen(self, heard: Callable[[str], None]) -> None:
        self._heard = heard

    def say(self, line: str) -> None:
        assert self._process is not None, "an adapter is started first"
        self._process.say(line)

    def how_it_ended(self) -> str:
        return "" if self._process is None else self._process.how_it_ended()

    def forget(self) -> None:
        """Have it drop all clients of a case; one that does not is started anew."""
        self._heard = lambda line: None
        if self._process is None or self._dead.is_set():
            return
        self._reset.clear()
        self.say(lines.command("reset", None, {}))
        if not self._reset.wait(CLOSE_S):
            self.end()

    def end(self) -> None:
        if self._process is not None:
            self._process.end()
            self._process = None
        self._dead.set()

    def _line(self, line: str) -> None:
        if line == END:
            self._dead.set()
        elif not self._ready.is_set() or f'"{lines.RESET}"' in line:
            try:
                row = lines.event(line)
            except lines.BadLine:
                return
            if row["name"] == lines.READY:
                self.about = row
                self._ready.set()
            elif row["name"] == lines.RESET:
                self._reset.set()
            return
        self._heard(line)


class ClientRun(Run):
    """One scenario on its way through a client and an endpoint."""

    def __init__(
        self, scenario: Scenario, endpoint: Endpoint, nonce: str, deadline_s: float,
        adapter: Adapter, liar: Liar = HONEST,
    ) -> None:  # fmt: skip
        super().__init__(scenario, endpoint, nonce, deadline_s)
        self.adapter = adapter
        self.plan = _plan(endpoint)
        self.of_client: list[Event] = []  # apart: a wait on a broker rewrites its own
        self._changed = threading.Condition()
        self._over = False
        self._lies = None if liar.requests is None else liar.requests()
        self._mishears = None if liar.answers is None else liar.answers()
        self._command = None if liar.commands is None else liar.commands()
        known = sorted(endpoint.brokers.items()) or list(enumerate(endpoint.bootstrap))
        self._upstreams = [address for _, address in known]
        self._ids = dict(enumerate(number for number, _ in known))
        self._event_of = None if liar.events is None else liar.events()
        self.tap: Tap | None = None
        self.bootstrap = ""

    def play(self) -> None:
        """Every step, and then the end of all that the case began."""
        with Proxy(*self._upstreams) as proxy:
            ports = dict(zip((port for _, port in self._upstreams), proxy.ports, strict=True))
            self.tap = Tap(self._note, ports, self._ids, self._lies, self._mishears)
            proxy.passage = self.tap
            self.bootstrap = ",".join(f"{HOST}:{port}" for port in proxy.ports)
            self.adapter.listen(self._heard)
            try:
                self.all_steps()
            finally:
                self._over = True  # what its clients do when they are dropped is not the case's
                self._mend(Mend())
                self.adapter.forget()

    def _one_step(self, step: Any) -> None:
        act = _DO.get(type(step))
        if act is None:
            super()._one_step(step)
        else:
            act(self, step)

    # the steps

    def _tell(self, step: Tell) -> None:
        fields = self.bindings.resolve(dict(step.fields))
        if step.command == OPEN:
            own = {"bootstrap.servers": self.bootstrap, "client.id": step.client}
            fields["config"] = own | dict(fields.get("config") or {})
        self._note("told", step.client, note=lines.command(step.command, step.client, fields))
        row = {"command": step.command, "client": step.client} | fields
        given = row if self._command is None else self._command(row)
        if given is not None:
            self.adapter.say(json.dumps(given))

    def _hear(self, step: Hear) -> None:
        where = self.bindings.resolve(dict(step.where))

        def heard() -> int:
            found = [
                json.loads(event.note)
                for event in self.of_client
                if event.direction == "said" and event.connection == step.client
            ]
            fitting = [
                row for row in found
                if row["name"] == step.event and where.items() <= row.items()
            ]  # fmt: skip
            if step.field is None:
                return len(fitting)
            values = [row[step.field] for row in fitting]
            return sum(len(one) if isinstance(one, list) else one for one in values)

        self._wait(
            lambda: heard() >= step.count,
            lambda: f"{step.client}: {step.count} {step.event}, {heard()} came",
        )

    def _watch(self, step: Watch) -> None:
        key = by_name(step.api).key
        first = 0 if step.since is None else self.scenario.labels.index(step.since)

        def seen() -> int:
            asked = [e for e in self.of_client if e.direction == "asked" and e.step >= first]
            return sum(event.api == key for event in asked)

        with self._changed:
            wanted = max(step.count, seen() + step.more if step.more else 0)
        self._wait(lambda: seen() >= wanted, lambda: f"{wanted} {step.api}, {seen()} came")

    def _spoil(self, step: Spoil) -> None:
        if self.plan is None:
            raise OutOfScope("a broker that misbehaves on demand: the reference broker does")
        self.plan.add(Rule.of(self.bindings.resolve(dict(step.rule))))

    def _change(self, step: Change) -> None:
        assert self.tap is not None
        self.tap.changes.append(Active(step))

    def _mend(self, step: Mend) -> None:
        if self.plan is not None:
            self.plan.clear()
        if self.tap is not None:
            self.tap.changes.clear()

    # what comes

    def _wait(self, done: Callable[[], bool], missed: Callable[[], str]) -> None:
        """Until it is so. Raises Stop when the adapter is over, or the deadline."""
        until = time.perf_counter() + self.patience_s
        with self._changed:
            while not done():
                over = [e for e in self.of_client if e.direction in ("died", "lacking")]
                left = until - time.perf_counter()
                if over or left <= 0:
                    if not over:
                        self._note("unheard", "", note=missed())
                    raise Stop
                self._changed.wait(min(left, LOOK_S))

    def _note(self, direction: str, connection: str, **more: Any) -> None:
        at_us = (time.perf_counter_ns() - self.began) // 1000
        with self._changed:
            if self._over:
                return
            self.of_client.append(Event(at_us, connection, direction, self.step, **more))
            self._changed.notify_all()

    def _heard(self, line: str) -> None:
        if line == END:
            self._note("died", "", note=self.adapter.how_it_ended())
            return
        try:
            row = lines.event(line)
        except lines.BadLine as error:
            self._note("babbled", "", note=f"{error}: {line[:200]}")
            return
        told = row if self._event_of is None else self._event_of(row)
        if told is None:
            return
        if told["name"] == lines.LACKS:
            self._note("lacking", str(told.get("client", "")), note=str(told["what"]))
        else:
            self._note("said", str(told.get("client", "")), note=json.dumps(told))


_DO: dict[type, Callable[[ClientRun, Any], None]] = {
    Tell: ClientRun._tell,
    Hear: ClientRun._hear,
    Watch: ClientRun._watch,
    Spoil: ClientRun._spoil,
    Change: ClientRun._change,
    Mend: ClientRun._mend,
}


def _plan(endpoint: Endpoint) -> Plan | None:
    """The fault plan of a reference cluster in this process; None of any other."""
    node = next(iter(endpoint.nodes.values()), None)
    running = getattr(node, "running", None)
    return None if running is None else running.faults


def run(
    scenario: Scenario, endpoint: Endpoint, adapter: Adapter, *, nonce: str, deadline_s: float,
    target: str, release: str | None, liar: Liar = HONEST,
) -> Transcript:  # fmt: skip
    """The transcript of a client's case. Raises OutOfScope, and what is a mistake of ours."""
    one = ClientRun(scenario, endpoint, nonce, deadline_s, adapter, liar)
    try:
        one.play()
    finally:
        one.end()
    one.events = sorted([*one.events, *one.of_client], key=lambda event: event.at_us)
    return finished(one, target=target, release=release)
