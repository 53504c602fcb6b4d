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
                        says), other (than expected), same (as seen)
    [[setup]]           frames, sent until the answer to the last one has `is` at offset `at`
    [[steps]]           wire (hex, size included), connection, and how bodies are to be read:
                        `request` is there where `references` say what is put in: the value
                        `out_of` the answer to an earlier `step`, `into` this request, `plus` a
                        number. `delay_ms` pass before the step; while its answer carries one of
                        the error codes `again`, it is sent again

A body is read as its fields lie: `name type`, in order. A type is a primitive, (fields), or [type];
`?` allows null. A leading `~` means compact lengths and tagged fields (KIP-482).

Behind each step goes a probe (ApiVersions v0): Kafka answers in order, so the probe's answer says
that nothing more comes. Bytes that do not end where a frame ends are followed by a close instead.
"""

from __future__ import annotations

import argparse
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

PROBE_ID = b"prob"
PROBE = struct.pack(">ihh4sh", 10, 18, 0, PROBE_ID, -1)
KEPT, CLOSED, SILENT, GARBLED = "kept", "closed", "silent", "garbled"
API_VERSIONS, UNSUPPORTED_VERSION = 18, (35).to_bytes(2, "big")
MOST_BYTES = 64 << 20  # of one answer
ELSEWHERE_S = 10.0
TRIES, REST_S = 400, 0.02
FIXED = {
    "bool": "B", "int8": "b", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I",
    "int64": "q", "float64": "d", "uuid": "16s",
}  # fmt: skip


BATCH = {  # fields of a record batch's header: offset, struct code
    "base_offset": (0, "q"), "partition_leader_epoch": (12, "i"), "attributes": (21, "h"),
    "last_offset_delta": (23, "i"), "base_timestamp": (27, "q"), "max_timestamp": (35, "q"),
    "producer_id": (43, "q"), "producer_epoch": (51, "h"), "base_sequence": (53, "i"),
    "records_count": (57, "i"),
}  # fmt: skip


class Unreadable(ValueError):
    """The bytes are no such body."""


# --- how a body lies ------------------------------------------------------------------------------


def read_shape(text: str) -> Any:
    """A type: a primitive's name, {field: type}, [type], each in a pair with "may be null"."""
    words = re.findall(r"\w+|[()\[\]?]", text)
    shape = _fields(words)
    if words:
        raise ValueError(f"not the shape of a body, from {words[0]!r} on")
    return shape


def _fields(words: list[str]) -> dict[str, Any]:
    fields = {}
    while words and words[0] not in ")]":
        name = words.pop(0)
        fields[name] = _type(words)
    return fields


def _type(words: list[str]) -> tuple[Any, bool]:
    word = words.pop(0)
    kind: Any = word
    if word == "(":
        kind = _fields(words)
        words.pop(0)
    elif word == "[":
        kind = [_type(words)]
        words.pop(0)
    nullable = words[:1] == ["?"]
    if nullable:
        words.pop(0)
    return kind, nullable


class Body:
    """A body read from `at` on: `value` is what it holds, `spans` where each primitive lies."""

    def __init__(self, shape: str, data: bytes, at: int) -> None:
        self.data, self.at, self.compact = data, at, shape.startswith("~")
        self.spans: dict[str, tuple[int, int, str]] = {}
        self.value = self._struct(read_shape(shape), "")

    def _take(self, size: int) -> bytes:
        if not 0 <= size <= len(self.data) - self.at:
            raise Unreadable(f"{size} bytes at offset {self.at} of {len(self.data)}")
        self.at += size
        return self.data[self.at - size : self.at]

    def _number(self, code: str) -> Any:
        return struct.unpack(">" + code, self._take(struct.calcsize(">" + code)))[0]

    def _varint(self) -> int:
        value = 0
        for shift in (0, 7, 14, 21, 28):
            byte = self._take(1)[0]
            value |= (byte & 127) << shift
            if byte < 128:
                value &= 0xFFFFFFFF
                return value - (1 << 32) if value >> 31 else value
        raise Unreadable("a varint of more than five bytes")

    def _length(self, code: str, nullable: bool) -> int:
        length = self._varint() - 1 if self.compact else self._number(code)
        if length < 0 and not nullable:
            raise Unreadable(f"a length of {length} at offset {self.at}")
        return length

    def _struct(self, fields: dict[str, Any], path: str) -> dict[str, Any]:
        value = {
            name: self._one(type_, f"{path}.{name}" if path else name)
            for name, type_ in fields.items()
        }
        for _ in range(self._varint() if self.compact else 0):
            self._varint()
            self._take(self._varint())
        return value

    def _one(self, type_: tuple[Any, bool], path: str) -> Any:
        kind, nullable = type_
        start = self.at
        if isinstance(kind, dict):
            return None if nullable and self._number("b") < 0 else self._struct(kind, path)
        if isinstance(kind, list):
            count = self._length("i", nullable)
            if count > len(self.data) - self.at:
                raise Unreadable(f"an array of {count} elements at offset {start}")
            if count < 0:
                return None
            return [self._one(kind[0], f"{path}[{index}]") for index in range(count)]
        if kind in FIXED:
            value = self._number(FIXED[kind])
        else:
            length = self._length("h" if kind == "string" else "i", nullable)
            value = None if length < 0 else self._take(length)
            if kind == "string" and value is not None:
                value = value.decode("utf-8", "surrogateescape")
        self.spans[path] = (start, self.at, kind)
        return value

    def replaced(self, path: str, value: Any) -> bytes:
        """The data with another value of a primitive."""
        holder, _, field = path.rpartition(".")
        if path not in self.spans and field in BATCH:
            start, end, kind = self.spans[holder]
            at = end - len(get(self.value, holder))
            return self.data[:at] + with_field(self.data[at:end], field, value) + self.data[end:]
        start, end, kind = self.spans[path]
        return self.data[:start] + self._written(kind, value) + self.data[end:]

    def _written(self, kind: str, value: Any) -> bytes:
        if kind in FIXED:
            return struct.pack(">" + FIXED[kind], value)
        raw = value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value
        length = -1 if raw is None else len(raw)
        if not self.compact:
            return struct.pack(">h" if kind == "string" else ">i", length) + (raw or b"")
        length, head = length + 1, b""
        while length > 127:
            head, length = head + bytes([length & 127 | 128]), length >> 7
        return head + bytes([length]) + (raw or b"")


def with_field(batch: bytes, field: str, value: int) -> bytes:
    """A record batch with another field in its header, and the checksum that then is right."""
    at, code = BATCH[field]
    changed = bytearray(batch)
    struct.pack_into(">" + code, changed, at, value)
    end = 12 + struct.unpack_from(">i", batch, 8)[0]
    struct.pack_into(">I", changed, 17, crc32c(bytes(changed[21:end])))
    return bytes(changed)


def crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def get(value: Any, path: str) -> Any:
    """What stands at a path such as `topics[0].name`; LookupError."""
    for name, index in re.findall(r"(\w+)|\[(-?\d+)\]", path):
        value = value[name if name else int(index)]
    return value


# --- what comes back ------------------------------------------------------------------------------


class Connection:
    """One connection to the target, opened when it is first used and again when it has ended."""

    def __init__(self, address: tuple[str, int], timeout_s: float) -> None:
        self.address, self.timeout_s = address, timeout_s
        self.socket: socket.socket | None = None

    def play(self, wire: bytes, *, whole: bool, may_wait: bool) -> tuple[list[bytes], str]:
        """(answers, how it ended) of these bytes."""
        answers: list[bytes] = []
        if self.socket is None:
            self.socket = socket.create_connection(self.address, self.timeout_s)
            self.buffer = b""
        try:
            self.socket.sendall(wire + (PROBE if whole else b""))
            if not whole:
                self.socket.shutdown(socket.SHUT_WR)
            for frame in self._frames(may_wait):
                if frame[:4] == PROBE_ID:
                    return answers, KEPT
                answers.append(frame)
            end = CLOSED
        except TimeoutError:
            end = SILENT
        except Unreadable:
            end = GARBLED
        except OSError:
            end = CLOSED
        self.close()
        return answers, end

    def close(self) -> None:
        if self.socket is not None:
            self.socket.close()
            self.socket = None

    def _frames(self, may_wait: bool) -> Iterator[bytes]:
        deadline = time.monotonic() + self.timeout_s
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
        "other": comparable(shown) != comparable(finding.get("expected", "")),
        "same": comparable(shown) == comparable(finding["seen"]),
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


def replay(finding: dict[str, Any], address: tuple[str, int], timeout_s: float) -> bool | None:
    """Send every step, print what came back; whether the complaint holds."""
    connections: dict[int, Connection] = {}
    values: dict[int, Any] = {}
    found: bool | None = False
    for number, step in enumerate(finding["steps"]):
        wire = filled(step, values)
        connection = connections.setdefault(
            step.get("connection", 0), Connection(address, timeout_s)
        )
        time.sleep(step.get("delay_ms", 0) / 1000)
        for _ in range(TRIES):
            answers, end = connection.play(
                wire, whole=step.get("whole", True), may_wait=step.get("may_wait", False)
            )
            shown, values[number] = describe(step, answers, end)
            if not any(re.search(rf"={code}[,)]", shown) for code in step.get("again", ())):
                break
            time.sleep(REST_S)
        print(f"step {number}, {step['api']} {step['version']}: {shown}")
        if number == finding["complaint"]["step"]:
            found = holds(finding, shown, answers, wire)
            print(f"  in the finding: {finding['seen']}")
            for name in ("expected", "kafka"):
                if finding.get(name):
                    print(f"  {name}: {finding[name]}")
    for connection in connections.values():
        connection.close()
    return found


def filled(step: dict[str, Any], values: dict[int, Any]) -> bytes:
    """The step's bytes with what earlier answers brought; as they stand where nothing did."""
    wire = bytes.fromhex(step["wire"])
    for reference in step.get("references", ()):
        try:
            value = get(values[reference["step"]], reference["out_of"])
            if isinstance(value, int):
                value += reference.get("plus", 0)
            body = Body(step["request"], wire, step["body_at"])
            frame = body.replaced(reference["into"], value)[4:]
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
        found = replay(finding, (str(resolved), int(port)), chosen.timeout)
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
