"""A session of a client campaign: a client's adapter is told to write and to read all the time.

The adapter is the one that `pytest suites/` judges the client by (docs/adapter.md). A session here
is a producer that writes a record every tenth of a second and a consumer that reads the topic; what
the adapter says of them is told as lines:

    ready           the next session can begin
    progress        a record was acknowledged, and one was read, since the last
    error WORDS     the client reported an error of its own
    fatal WORDS     it raised what is none
    closed          the session is over
    end             the process is dead

Whether an error is just is not judged here.
"""

from __future__ import annotations

import builtins
import queue
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from touchstone.harness.adapters import lines, program
from touchstone.harness.adapters.adapter_file import ClientFile
from touchstone.harness.adapters.process import END, Process
from touchstone.harness.adapters.program import MIB
from touchstone.harness.model.security_settings import SASL_LISTENER, SCRAM, USERS
from touchstone.harness.model.target import Unavailable

KEYS = (0, 1, 2, 3, 8, 9, 10, 11, 14, 17, 18, 22, 36)
"""APIs that a client asks while it logs in, while it writes and while a group reads."""
PACE_S = 0.1
GROWTH = 400 * MIB
"""A virtual machine takes memory in large pieces; the sizes that answers claim are beyond it."""
WRITE = "write"
OF_THE_PROCESS = {lines.READY: "ready", lines.RESET: "closed"}
"""An event as the line of a session that says the same."""
PRODUCER: Mapping[str, str] = {
    "delivery.timeout.ms": "4000", "request.timeout.ms": "3000", "max.block.ms": "4000",
    "metadata.max.age.ms": "2000", "linger.ms": "0",
}  # fmt: skip
CONSUMER: Mapping[str, str] = {
    "auto.offset.reset": "earliest", "session.timeout.ms": "6000", "request.timeout.ms": "7000",
    "metadata.max.age.ms": "2000", "fetch.max.wait.ms": "100", "auto.commit.interval.ms": "200",
}  # fmt: skip
WISHED = {"producer": PRODUCER, "consumer": CONSUMER}
"""Settings by kind of client; one that a client has not is left away."""
USER, SCRAM_MECHANISM = "alice", SCRAM[0]
_MODULE = "org.apache.kafka.common.security.scram.ScramLoginModule"
LOGIN_SETTINGS: Mapping[str, str] = {
    "security.protocol": SASL_LISTENER, "sasl.mechanism": SCRAM_MECHANISM,
    "sasl.jaas.config": f'{_MODULE} required username="{USER}" password="{USERS[USER]}";',
}  # fmt: skip
"""Settings of a client that logs in: of SCRAM, whose broker says what a client has to parse."""

_OF_THE_SYSTEM = (OSError, Warning, BufferError)  # what clients rightly let through
OF_PYTHON = {
    name
    for name, one in vars(builtins).items()
    if isinstance(one, type) and issubclass(one, Exception) and not issubclass(one, _OF_THE_SYSTEM)
} | {"error"}  # of struct and of zlib
OF_JAVA = {
    "ArithmeticException", "ArrayIndexOutOfBoundsException", "BufferOverflowException",
    "BufferUnderflowException", "ClassCastException", "ConcurrentModificationException",
    "IllegalArgumentException", "IllegalStateException", "IndexOutOfBoundsException",
    "NegativeArraySizeException", "NoSuchElementException", "NullPointerException",
    "NumberFormatException", "OutOfMemoryError", "RuntimeException", "StackOverflowError",
    "StringIndexOutOfBoundsException", "UnsupportedOperationException",
}  # fmt: skip
OF_JAVASCRIPT = {"EvalError", "RangeError", "ReferenceError", "SyntaxError", "TypeError"}
NO_CLIENTS_OWN = OF_PYTHON | OF_JAVA | OF_JAVASCRIPT
"""Exceptions of a language: a client that lets one reach its application did not expect the answer.
An adapter names an exception by its class alone, so a client whose own class has such a name and
no code of Kafka's is wronged; none is known.
"""
OVER = ("shutdown_complete", lines.LACKS)
ERRORS = ("client_error", "consumer_error", "producer_send_error", "offsets_committed")


@dataclass(frozen=True)
class Program(program.Program):
    """An adapter's program with the APIs that its client uses; `growth` is how much resident
    memory, in bytes, one session may take: answers are a thousandth of that.
    """

    keys: tuple[int, ...] = KEYS
    growth: int = GROWTH


def program_of(client: ClientFile) -> Program:
    """The program of a client file, built first where it has to be. Raises Unavailable."""
    found = client.program()
    return Program(found.command, found.address_space, found.environment)


@dataclass
class Clients:
    """The two clients of one session, and what came of them. Times are monotonic seconds."""

    bootstrap: str
    topic: str
    sasl: str | None = None  # where they log in instead
    names: dict[str, str] = field(default_factory=dict)  # kind: client
    able: set[str] = field(default_factory=set)  # clients that write, or have subscribed
    logged_in: set[str] = field(default_factory=set)  # clients that were told to
    unopened: set[str] = field(default_factory=set)  # clients that could not be opened
    due: dict[str, float] = field(default_factory=dict)  # "write", or the kind to open again: when
    acknowledged: bool = False
    read: bool = False
    closing: set[str] | None = None  # names that have not closed yet; None: the session goes on

    def kind_of(self, name: str | None) -> str | None:
        """Of a client of this session that was not opened again since."""
        return next((kind for kind, now in self.names.items() if now == name), None)

    def progress(self) -> list[str]:
        """The line that says so, once a record was acknowledged and one was read, by who reads."""
        if not (self.acknowledged and (self.read or "consumer" not in self.names)):
            return []
        self.acknowledged = self.read = False
        return ["progress"]


class Player(Process[Program]):
    """A running adapter that plays one session after another.

    What it says is only queued by the thread that reads it, and understood in `line`: the campaign
    asks for a line all the time, so records are written, and clients opened again, there too.
    """

    def __init__(self, program: Program) -> None:
        self._events: queue.Queue[str] = queue.Queue()
        self._said: list[str] = []  # lines of the session that nobody has taken yet
        self._lacking: set[tuple[str, str]] = set()  # (kind, setting) that the client has not
        self._kinds = list(WISHED)
        self._logs_in = True  # unless the client turns out to have no such setting
        self._opened = 0
        self._clients = Clients("", "")
        super().__init__(program, self._events.put)

    def begin(self, bootstrap: str, topic: str, sasl: str | None = None) -> None:
        """Write to a topic and read it, as a group of that name; log in at `sasl`, where that is
        wanted and the client can.
        """
        self._clients = Clients(bootstrap, topic, sasl)
        for kind in self._kinds:
            self._open(kind)

    def stop(self) -> None:
        """Close the clients; "closed" is the line that says so."""
        clients = self._clients
        names = [name for name in clients.names.values() if name not in clients.unopened]
        clients.closing = set(names)
        clients.due.clear()
        for name in names:
            self._tell("close", name)
        if not names:
            self._tell("reset", None)

    def line(self, timeout_s: float) -> str | None:
        until = time.monotonic() + timeout_s
        while not self._said:
            left = until - time.monotonic()
            next_act = min(self._clients.due.values(), default=until) - time.monotonic()
            try:
                said = self._events.get(timeout=max(0.0, min(left, next_act)))
            except queue.Empty:
                if left <= 0:
                    return None
            else:
                self._said += [END] if said == END else self._understood(said)
            self._act()
        return self._said.pop(0)

    def _act(self) -> None:
        """Do what is due."""
        clients, now = self._clients, time.monotonic()
        for what in [what for what, at in clients.due.items() if at <= now]:
            del clients.due[what]
            if what == WRITE:
                record = {"key": None, "value": "a record"}
                name = clients.names["producer"]
                self._tell("send", name, topic=clients.topic, records=[record])
            else:
                self._open(what)

    def _open(self, kind: str) -> None:
        clients = self._clients
        self._opened += 1
        name = clients.names[kind] = f"{kind}-{self._opened}"
        config = {"bootstrap.servers": clients.bootstrap, "client.id": name}
        if clients.sasl is not None and self._logs_in:
            config |= {"bootstrap.servers": clients.sasl, **LOGIN_SETTINGS}
            clients.logged_in.add(name)
        if kind == "consumer":
            config["group.id"] = clients.topic
        for key, text in WISHED[kind].items():
            if (kind, key) not in self._lacking:
                config[key] = text
        self._tell("open", name, kind=kind, config=config)

    def _tell(self, word: str, client: str | None, **fields: Any) -> None:
        self.say(lines.command(word, client, fields))

    def _understood(self, line: str) -> list[str]:
        """What the adapter said, as lines of the session. Raises Unavailable when the client lacks
        what every session needs.
        """
        try:
            row = lines.event(line)
        except lines.BadLine:  # a virtual machine that ends says so there
            return []
        if row["name"] in OF_THE_PROCESS:
            return [OF_THE_PROCESS[row["name"]]]
        kind = self._clients.kind_of(row.get("client"))
        if kind is None:
            return []
        if self._clients.closing is not None:
            self._closed(self._clients.closing, row)
            return []
        if row["name"] == lines.LACKS and row["client"] not in self._clients.able:
            self._do_without(kind, row["client"], row["what"])
            return []
        return self._of_client(kind, row)

    def _of_client(self, kind: str, row: Mapping[str, Any]) -> list[str]:
        clients, event, now = self._clients, row["name"], time.monotonic()
        if event == "startup_complete" and kind == "consumer":
            self._tell("subscribe", row["client"], topics=[clients.topic])
        elif event in ("startup_complete", "producer_send_success", "producer_send_error"):
            clients.due[WRITE] = now + PACE_S
        if event == "command_done" or (event == "startup_complete" and kind == "producer"):
            clients.able.add(row["client"])
        clients.acknowledged |= event == "producer_send_success"
        clients.read |= event == "records_consumed"
        if event == lines.LACKS:  # a codec of a record that it reads
            return [f"error {row['what']}"]
        if event not in ERRORS or row.get("success"):
            return clients.progress()
        if row.get("operation") == "send":
            clients.due[WRITE] = now + PACE_S
        elif row.get("operation") in ("open", "subscribe"):
            clients.due[kind] = now + PACE_S
        if row.get("operation") == "open":
            clients.unopened.add(row["client"])
        foreign = row.get("code") is None and row["exception"] in NO_CLIENTS_OWN
        words = f"{row['exception']}: {row['message']}"
        return [f"{'fatal' if foreign else 'error'} {' '.join(words.split())}"]

    def _do_without(self, kind: str, name: str, what: str) -> None:
        lacking = {(kind, key) for key in WISHED[kind] if key in what} - self._lacking
        if lacking:
            self._lacking |= lacking
            self._open(kind)
        elif name in self._clients.logged_in:
            self._logs_in = False
            self._open(kind)
        elif kind == "consumer":
            self._kinds.remove(kind)
            del self._clients.names[kind]
        else:
            raise Unavailable(f"a session writes, and it has not {what}")

    def _closed(self, still: set[str], row: Mapping[str, Any]) -> None:
        """A client has closed, or cannot: the adapter drops them all behind the last one."""
        if row["name"] in OVER or row.get("operation") in ("open", "close"):
            still.discard(row["client"])
            if not still:
                self._tell("reset", None)
