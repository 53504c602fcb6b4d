"""Send the steps of a finding again and say whether the complaint still holds.

    python replay.py FINDING.toml [HOST:PORT]        127.0.0.1:9092 where none is given

`touchstone fuzz` writes this program beside its findings. It needs Python 3.11 and nothing else:
the file says how the answers are to be read. Exit codes: 0 the complaint does not hold, 1 it holds,
2 the file is no finding, or its complaint is about more than answers, 3 the target does not accept
connections or has not become ready.

What a finding's file holds, beside the story that people read:

    seen, expected      what the accused step's outcome was; what Kafka's was, where it is known
    [complaint]         step (from 0), and `holds` when its outcome is: silent, garbled, closed,
                        uncorrelated, unreadable, unanswered, answered, code -1 (where `signature`
                        says), as seen, other (than expected), unexpected (by its step),
                        gone (the target)
    names               of groups and transactions, which get others each time
    [[setup]]           frames, sent until the answer to the last one has `is` at offset `at`
    [[steps]]           wire (hex, size included), connection, and how bodies are to be read:
                        `request` is there where `references` say what is put in: the value
                        `out_of` the answer to an earlier `step`, `into` this request, `plus` a
                        number. `delay_ms` pass before the step; while its answer carries one of
                        the error codes `again`, or `until` it is as `expected`, it is sent again.
                        One that is expected to be held is answered when another one releases it

A body is read as its fields lie: `name type`, in order. A type is a primitive, (fields), or [type];
`?` allows null. A leading `~` means compact lengths and tagged fields (KIP-482).

Behind each step goes a probe (ApiVersions v0): Kafka answers in order, so the probe's answer says
that nothing more comes. Bytes that do not end where a frame ends are followed by a close instead.
"""

from __future__ import annotations

import argparse
import contextlib
import ipaddress
import re
import socket
import struct
import sys
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from touchstone.fuzz.replay_bodies import Body, Unreadable, get

PROBE_ID = b"prob"
PROBE = struct.pack(">ihh4sh", 10, 18, 0, PROBE_ID, -1)
KEPT, CLOSED, SILENT, GARBLED = "kept", "closed", "silent", "garbled"
API_VERSIONS, UNSUPPORTED_VERSION = 18, (35).to_bytes(2, "big")
MOST_BYTES = 64 << 20  # of one answer
ELSEWHERE_S = 10.0
TRIES, REST_S = 400, 0.02
HELD_S, DYING_S = 0.1, 2.0
CODES = ("error_code", "partition_error_code", "acknowledge_error_code")


# --- what comes back ------------------------------------------------------------------------------


class Connection:
    """One connection to the target, opened when it is first used and again when it has ended."""

    def __init__(self, address: tuple[str, int], timeout_s: float) -> None:
        self.address, self.timeout_s = address, timeout_s
        self.socket: socket.socket | None = None

    def play(self, wire: bytes, *, whole: bool, may_wait: bool) -> tuple[list[bytes], str]:
        """(answers, how it ended) of these bytes."""
        self.send(wire + (PROBE if whole else b""), whole=whole)
        return self.collect(self.timeout_s, may_wait=may_wait)

    def send(self, wire: bytes, *, whole: bool = True) -> None:
        if self.socket is None:
            self.socket = socket.create_connection(self.address, self.timeout_s)
            self.buffer = b""
        try:
            self.socket.sendall(wire)
            if not whole:
                self.socket.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # whoever collects hears of it

    def collect(
        self, timeout_s: float, *, may_wait: bool, held: bool = False
    ) -> tuple[list[bytes], str]:
        """What has come until a probe was answered; one answer where it is `held`, without one."""
        answers: list[bytes] = []
        if self.socket is None:
            return answers, CLOSED
        try:
            for frame in self._frames(timeout_s, may_wait):
                if frame[:4] != PROBE_ID:
                    answers.append(frame)
                if frame[:4] == PROBE_ID or held:
                    return answers, KEPT
            end = CLOSED
        except TimeoutError:
            end = SILENT
        except Unreadable:
            end = GARBLED
        except OSError:
            end = CLOSED
        if end != SILENT or not held:
            self.close()
        return answers, end

    def close(self) -> None:
        if self.socket is not None:
            self.socket.close()
            self.socket = None

    def _frames(self, timeout_s: float, may_wait: bool) -> Iterator[bytes]:
        deadline = time.monotonic() + timeout_s
        while True:
            while len(self.buffer) >= 4:
                size = struct.unpack_from(">i", self.buffer)[0]
                if not 0 <= size <= MOST_BYTES:
                    raise Unreadable(f"a frame of {size} bytes")
                if len(self.buffer) < 4 + size:
                    break
                frame, self.buffer = self.buffer[4 : 4 + size], self.buffer[4 + size :]
                yield frame
            chunk = self._chunk(deadline, may_wait)
            if not chunk:
                return
            self.buffer += chunk

    def _chunk(self, deadline: float, may_wait: bool) -> bytes:
        """Seconds alone prove no silence: the target must have answered somebody else since."""
        assert self.socket is not None
        try:
            self.socket.settimeout(max(0.001, deadline - time.monotonic()))
            return self.socket.recv(65536)
        except TimeoutError:
            if may_wait:
                raise
        with socket.create_connection(self.address, ELSEWHERE_S) as other:
            other.sendall(PROBE)
            other.recv(65536)
        self.socket.settimeout(0.1)
        return self.socket.recv(65536)


def describe(step: dict[str, Any], answers: list[bytes], end: str) -> tuple[str, Any]:
    """(the outcome as one line, the last answer's fields) as `touchstone fuzz` writes it."""
    words, value = [], None
    for frame in answers:
        word, value = describe_answer(step, frame)
        words.append(word)
    return " ".join(["; ".join(words), end] if words else [end]), value


def describe_answer(step: dict[str, Any], frame: bytes) -> tuple[str, Any]:
    shape = step.get("answer", "")
    if step["key"] == API_VERSIONS and frame[4:6] == UNSUPPORTED_VERSION:
        shape = step.get("answer_v0", shape)
    try:
        at = 5 if shape.startswith("~") and step["key"] != API_VERSIONS else 4
        if not shape or len(frame) < at or frame[4:at] not in (b"", b"\0"):
            raise Unreadable("no such answer")
        body = Body(shape, frame, at)
    except Unreadable:
        return "unreadable", None
    if body.at != len(frame):
        return f"trailing({len(frame) - body.at})", body.value
    codes = ", ".join(f"{path}={code}" for path, code in error_codes(body.value, ""))
    return f"answer({codes})", body.value


def error_codes(value: Any, path: str) -> Iterator[tuple[str, int]]:
    """Every error code that is not 0, with its path."""
    if isinstance(value, dict):
        for name, inner in value.items():
            here = f"{path}.{name}" if path else name
            if name != "error_code":
                yield from error_codes(inner, here)
            elif inner:
                yield here, inner
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from error_codes(inner, f"{path}[{index}]")


def holds(finding: dict[str, Any], shown: str, answers: list[bytes], sent: bytes) -> bool | None:
    """Whether the complaint is still to be made; None where answers alone do not say it."""
    end = shown.rpartition(" ")[2]
    return {
        "silent": end == SILENT,
        "garbled": end == GARBLED,
        "closed": end in (CLOSED, GARBLED),
        "uncorrelated": any(frame[:4] != sent[8:12] for frame in answers),
        "unreadable": "unreadable" in shown or "trailing(" in shown,
        "unanswered": shown == KEPT,
        "answered": bool(answers),
        "code -1": all(
            word in re.sub(r"\[\d+\]", "[]", shown) for word in finding["signature"].split()
        ),
        "as seen": comparable(shown) == comparable(finding["seen"]),
        "other": comparable(shown) != comparable(finding.get("expected", "")),
    }.get(finding["complaint"]["holds"])


def comparable(shown: str) -> str:
    """An outcome without the name of what is wrong with unreadable bytes."""
    return re.sub(r"unreadable\(\w+\)", "unreadable", shown)


# --- the finding ----------------------------------------------------------------------------------


def load(path: Path) -> dict[str, Any]:
    """The file's content; ValueError where it is no finding."""
    finding = tomllib.loads(path.read_text())
    for name in ("seen", "complaint", "steps"):
        if name not in finding:
            raise ValueError(f"{path}: no {name}")
    return finding


def prepare(finding: dict[str, Any], address: tuple[str, int], timeout_s: float) -> None:
    """Ask until everything that the steps need is there; TimeoutError."""
    connection = Connection(address, timeout_s)
    for setup in finding.get("setup", ()):
        wanted, at = bytes.fromhex(setup["is"]), setup["at"]
        for _ in range(TRIES):
            for wire in setup["wires"]:
                answers, _ = connection.play(bytes.fromhex(wire), whole=True, may_wait=False)
            if answers and answers[0][at : at + len(wanted)] == wanted:
                break
            time.sleep(REST_S)
        else:
            raise TimeoutError(f"not so: {setup['sentence']}")
    connection.close()


class Replay:
    """The steps of a finding on a target: what came back of each, by its number."""

    def __init__(self, finding: dict[str, Any], address: tuple[str, int], timeout_s: float) -> None:
        self.finding, self.address, self.timeout_s = finding, address, timeout_s
        self.steps: list[dict[str, Any]] = finding["steps"]
        ending = f"-{time.time_ns() // 1000:x}"
        self.names = {name: name + ending for name in finding.get("names", ())}
        self.values: dict[int, Any] = {}
        self.ends: dict[int, tuple[str, list[bytes], bytes]] = {}
        self.connections: dict[int, Connection] = {}
        self.held: dict[int, bytes] = {}  # what was sent by steps that wait for others
        self.early: set[int] = set()

    def run(self) -> bool | None:
        """Send every step, print what came back; whether the complaint holds."""
        for number, step in enumerate(self.steps):
            for earlier in self._awaited(step):
                self._settle(earlier, self.timeout_s)
            time.sleep(step.get("delay_ms", 0) / 1000)
            for _ in range(TRIES):
                self._play(number, step, filled(step, self.values, self.names))
                if not self._refused_for_now(number, step):
                    break
                time.sleep(REST_S)
            if (released := step.get("expected", {}).get("releases")) in self.held:
                self._settle(released, self.timeout_s)
        for number in list(self.held):
            self._settle(number, HELD_S)
        for connection in self.connections.values():
            connection.close()
        accused = self.finding["complaint"]["step"]
        for number, step in enumerate(self.steps):
            print(f"step {number}, {step['api']} {step['version']}: {self.ends[number][0]}")
            for name in ("seen", "expected", "kafka") if number == accused else ():
                if self.finding.get(name):
                    print(f"  {'in the finding' if name == 'seen' else name}: {self.finding[name]}")
        if self.finding["complaint"]["holds"] == "unexpected":
            return self._is_unexpected(accused)
        return holds(self.finding, *self.ends[accused])

    def _awaited(self, step: dict[str, Any]) -> list[int]:
        """Earlier steps that are under way on this one's connection, or whose answer it needs."""
        needed = {one["step"] for one in step.get("references", ())}
        place = step.get("connection", 0)
        return [n for n in self.held if n in needed or self.steps[n].get("connection", 0) == place]

    def _play(self, number: int, step: dict[str, Any], wire: bytes) -> None:
        place = step.get("connection", 0)
        connection = self.connections.setdefault(place, Connection(self.address, self.timeout_s))
        whole, may_wait = step.get("whole", True), step.get("may_wait", False)
        if not step.get("expected", {}).get("held"):
            self._note(number, wire, *connection.play(wire, whole=whole, may_wait=may_wait))
            return
        connection.send(wire)
        self.held[number] = wire
        self._settle(number, HELD_S, keep=True)

    def _settle(self, number: int, timeout_s: float, *, keep: bool = False) -> None:
        """Have the answer of a step that may be held; where it still is and is to `keep`, later."""
        connection = self.connections[self.steps[number].get("connection", 0)]
        answers, end = connection.collect(timeout_s, may_wait=True, held=True)
        if keep and end != SILENT:
            self.early.add(number)
        if not (keep and end == SILENT):
            self._note(number, self.held.pop(number), answers, end)

    def _note(self, number: int, wire: bytes, answers: list[bytes], end: str) -> None:
        shown, self.values[number] = describe(self.steps[number], answers, end)
        self.ends[number] = shown, answers, wire

    def _refused_for_now(self, number: int, step: dict[str, Any]) -> bool:
        body = self.values.get(number)
        if body is None:
            return False
        again = code_of(body) in step.get("again", ())
        return again or (bool(step.get("until")) and not code_of(body) and self._differs(number))

    def _is_unexpected(self, number: int) -> bool:
        """Whether an answer is none of those that its step expects."""
        expected, end = self.steps[number]["expected"], self.ends[number][0].rpartition(" ")[2]
        if expected.get("held"):
            released = any(s.get("expected", {}).get("releases") == number for s in self.steps)
            if not released or number in self.early:
                return number in self.early or end != SILENT
        if not expected["codes"]:
            return end != CLOSED
        body = self.values.get(number)
        if end != KEPT or body is None or code_of(body) not in expected["codes"]:
            return True
        return not code_of(body) and self._differs(number)

    def _differs(self, number: int) -> bool:
        """Whether an answer does not show the values that its step expects of it."""
        expected, body = self.steps[number]["expected"], self.values[number]
        wanted = [(path, plain(value)) for path, value in expected.get("values", ())]
        for one in expected.get("equal", ()):
            try:
                wanted.append((one["into"], referenced(one, self.values)))
            except (LookupError, TypeError):
                continue  # the earlier answer is judged where it was given
        try:
            return any(get(body, path) != value for path, value in wanted)
        except (LookupError, TypeError):
            return True


def plain(value: Any) -> Any:
    """A value of a file as answers have it: bytes stand there as {hex}."""
    return bytes.fromhex(value["hex"]) if isinstance(value, dict) and "hex" in value else value


def code_of(body: Any) -> int:
    """The first error code that is not 0; 0 where there is none."""
    rows = body.items() if isinstance(body, dict) else enumerate(body or ())
    for name, inner in rows:
        code = inner if name in CODES else 0
        if isinstance(inner, dict | list):
            code = code_of(inner)
        if code:
            return int(code)
    return 0


def is_gone(address: tuple[str, int]) -> bool:
    """Whether the target refuses connections when it has had time to die."""
    deadline = time.monotonic() + DYING_S
    while time.monotonic() < deadline:
        try:
            socket.create_connection(address, DYING_S).close()
        except OSError:
            return True
        time.sleep(REST_S)
    return False


def referenced(one: dict[str, Any], values: dict[int, Any]) -> Any:
    value = get(values[one["step"]], one["out_of"])
    return value + one.get("plus", 0) if isinstance(value, int) else value


def filled(step: dict[str, Any], values: dict[int, Any], names: dict[str, str]) -> bytes:
    """The step's bytes with other names and with what earlier answers brought; as they stand where
    nothing did.
    """
    wire = bytes.fromhex(step["wire"])
    changed = []
    try:
        body = Body(step["request"], wire, step["body_at"])
        there = {path: get(body.value, path) for path in body.spans}
        changed = [
            (path, names[v]) for path, v in there.items() if isinstance(v, str) and v in names
        ]
    except (LookupError, ValueError, struct.error):
        pass  # a request that cannot be read
    for reference in step.get("references", ()):
        try:
            changed.append((reference["into"], referenced(reference, values)))
        except (LookupError, TypeError):
            continue
    for path, value in changed:
        try:
            frame = Body(step["request"], wire, step["body_at"]).replaced(path, value)[4:]
            wire = struct.pack(">i", len(frame)) + frame
        except (LookupError, TypeError, ValueError, struct.error):
            continue
    return wire


def main(arguments: list[str] | None = None) -> int:
    asked = argparse.ArgumentParser(description="Send the steps of a finding again.")
    asked.add_argument("finding", type=Path)
    asked.add_argument("target", nargs="?", default="127.0.0.1:9092", metavar="HOST:PORT")
    asked.add_argument("--timeout", type=float, default=2.0, help="seconds for each answer")
    asked.add_argument("--this-target-is-mine", action="store_true", help="any address")
    chosen = asked.parse_args(arguments)
    host, _, port = chosen.target.rpartition(":")
    try:
        finding = load(chosen.finding)
        resolved = socket.getaddrinfo(host.strip("[]"), int(port))[0][4][0]
    except (OSError, ValueError) as problem:
        print(problem, file=sys.stderr)
        return 2
    if not (ipaddress.ip_address(resolved).is_loopback or chosen.this_target_is_mine):
        print(f"{resolved} is no loopback address (--this-target-is-mine)", file=sys.stderr)
        return 2
    try:
        prepare(finding, (str(resolved), int(port)), chosen.timeout)
        replay = Replay(finding, (str(resolved), int(port)), chosen.timeout)
        if finding["complaint"]["holds"] == "gone":
            with contextlib.suppress(ConnectionError, KeyError):
                replay.run()
            found: bool | None = is_gone((str(resolved), int(port)))
        else:
            found = replay.run()
    except OSError as problem:
        print(f"{chosen.target}: {problem}", file=sys.stderr)
        return 3
    if found is None:
        print(f"answers alone do not show it: touchstone fuzz --replay {chosen.finding}")
        return 2
    print("the complaint holds" if found else "the complaint does not hold")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
