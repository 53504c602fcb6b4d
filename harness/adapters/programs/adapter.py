"""What every adapter in Python does: commands in, events out, a thread for each client.

It stands alone: the standard library and nothing else, so that an adapter of your own may copy or
import it (docs/adapter.md has the commands, the events and their fields). An adapter gives `play`
a class for each kind of client. A command is a method of that name, called with the command's
fields in the client's own thread; between commands `tick` is called again and again.
"""

from __future__ import annotations

import json
import queue
import re
import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol

OF_A_COMMAND = ("command", "client")
JAAS = "sasl.jaas.config"  # MODULE required username="..." password="...";
Config = dict[str, Any]
# Kafka's name of a setting -> the client's, and what makes its value of Kafka's where they differ
Names = Mapping[str, "str | tuple[str, Callable[[str], Any]]"]
_lock = threading.Lock()


class Lacking(Exception):
    """The client has not what a command, or a setting, asks for."""


class Say(Protocol):
    """Say an event of one client."""

    def __call__(self, name: str, **fields: Any) -> None: ...


class Client(Protocol):
    """One client: commands are its methods; what they raise is said as client_error."""

    def tick(self) -> None:
        """Do for at most a tenth of a second what goes on by itself: deliver, poll."""

    def close(self) -> None:
        """End in order."""


Make = Callable[[Config, Say], Client]
CodeOf = Callable[[BaseException], "int | None"]


def say(name: str, **fields: Any) -> None:
    line = json.dumps({"timestamp": int(time.time() * 1000), "name": name, **fields})
    with _lock:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


def translated(config: Config, names: Names) -> dict[str, Any]:
    """Settings by Kafka's names as the client's own. Raises Lacking for one without a name here."""
    found = {}
    for key, value in spread(config).items():
        own = names.get(key)
        if own is None:
            raise Lacking(f"the setting {key}")
        if isinstance(own, tuple):
            found[own[0]] = own[1](str(value))
        else:
            found[own] = value
    return found


def spread(config: Config) -> Config:
    """The same with the `username` and `password` of `sasl.jaas.config` in its place."""
    rest = dict(config)
    login = rest.pop(JAAS, "")
    return rest | dict(re.findall(r'(username|password)="([^"]*)"', login))


def described(problem: BaseException, code: int | None) -> dict[str, Any]:
    """An error's fields; `code` is Kafka's number of it, where it has one."""
    return {"exception": type(problem).__name__, "message": str(problem)[:500], "code": code}


def encoded(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


def decoded(data: Any) -> str | None:
    return None if data is None else bytes(data).decode("utf-8", "backslashreplace")


def consumed(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The fields of records_consumed, of rows with topic, partition, offset, key and value."""
    places: dict[tuple[str, int], list[int]] = {}
    for row in rows:
        places.setdefault((row["topic"], row["partition"]), []).append(row["offset"])
    partitions = [
        {"topic": topic, "partition": partition, "count": len(offsets), "minOffset": min(offsets),
         "maxOffset": max(offsets)}
        for (topic, partition), offsets in places.items()
    ]  # fmt: skip
    return {"count": len(rows), "partitions": partitions, "records": rows}


class Worker(threading.Thread):
    """One client in its thread."""

    def __init__(self, name: str, make: Make, config: Config, code_of: CodeOf) -> None:
        super().__init__(daemon=True)
        self.client_name = name
        self.commands: queue.Queue[dict[str, Any]] = queue.Queue()
        self._make, self._config, self._code_of = make, config, code_of
        self.dropped = False

    def say(self, name: str, **fields: Any) -> None:
        if not self.dropped:
            say(name, client=self.client_name, **fields)

    def run(self) -> None:
        try:
            client = self._make(self._config, self.say)
        except Lacking as lacking:
            self.say("not_supported", what=str(lacking))
            return
        except Exception as problem:
            self._failed("open", problem)
            return
        self.say("startup_complete")
        while not self.dropped:
            try:
                row = self.commands.get_nowait()
            except queue.Empty:
                try:
                    client.tick()
                except Lacking as lacking:
                    self.say("not_supported", what=str(lacking))
                except Exception as problem:
                    self._failed("tick", problem)
                    time.sleep(0.05)
                continue
            if not self._do(client, row):
                return

    def _do(self, client: Client, row: dict[str, Any]) -> bool:
        """Whether the client goes on."""
        command = row["command"]
        fields = {key: value for key, value in row.items() if key not in OF_A_COMMAND}
        method = getattr(client, command, None)
        if method is None or command.startswith("_") or command == "tick":
            self.say("not_supported", what=f"the command {command}")
            return True
        try:
            method(**fields)
        except Lacking as lacking:
            self.say("not_supported", what=str(lacking))
        except Exception as problem:
            self._failed(str(fields.get("operation", command)), problem)
        else:
            if command == "close":
                self.say("shutdown_complete")
        return bool(command != "close")

    def _failed(self, operation: str, problem: BaseException) -> None:
        fields = described(problem, self._code_of(problem))
        self.say("client_error", operation=operation, **fields)


def play(
    adapter: str, version: str, kinds: Mapping[str, Make], code_of: CodeOf = lambda problem: None
) -> None:
    """Take commands until the input ends."""
    workers: dict[str, Worker] = {}
    say("adapter_ready", adapter=adapter, version=version, kinds=list(kinds))
    for line in sys.stdin:
        row = json.loads(line)
        command, name = row["command"], row.get("client")
        if command == "reset":
            for worker in workers.values():
                worker.dropped = True
            for worker in workers.values():
                worker.join(2)
            workers.clear()
            say("reset_complete")
        elif command == "open" and row["kind"] in kinds:
            worker = Worker(name, kinds[row["kind"]], row["config"], code_of)
            workers[name] = worker
            worker.start()
        elif command == "open":
            say("not_supported", client=name, what=f"a client of kind {row['kind']}")
        elif name in workers:
            workers[name].commands.put(row)
        else:
            say("not_supported", client=name, what=f"the command {command}")
