"""What must hold whatever we send: each oracle is a named function of one case's outcome.

An oracle looks at the request's header fields as the frame carries them when it goes out (a peer
answers what it reads, not what we meant) and at the outcome, and answers None or a sentence. It
never talks to a target. Oracles that need the state of the target (memory, acknowledged records)
belong to a campaign's watch, not here.
"""

from __future__ import annotations

import re
import struct
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from touchstone.fuzz.outcome import CLOSED, GARBLED, KEPT, RESET, SILENT, Outcome, describe_answer
from touchstone.fuzz.segments import SIZE, may_wait
from touchstone.reference_impl.wire.apis import by_name
from touchstone.reference_impl.wire.headers import decode_request

MINUS_ONE = re.compile(r"([^ (]+)=-1(?=[,)])")
INDEX = re.compile(r"\[\d+\]")
UNKNOWN_ERRORS = Path(__file__).parent / "unknown_errors.toml"
PRODUCE = 0


@dataclass(frozen=True)
class SentFrame:
    """The frame of a case as it went out: what its header says it is, and the bytes."""

    key: int
    version: int
    correlation_id: int
    wire: bytes


_FIXED = struct.Struct(">hhi")  # API key, version, correlation id


def sent_frame(wire: bytes) -> SentFrame:
    """What these bytes say they are; a frame cut inside its header is key 0 with zeroes."""
    fixed = wire[SIZE : SIZE + _FIXED.size].ljust(_FIXED.size, b"\0")
    key, version, correlation_id = _FIXED.unpack(fixed)
    return SentFrame(key, version, correlation_id, wire)


Oracle = Callable[[SentFrame, Outcome], str | None]


def answers_in_time(sent: SentFrame, outcome: Outcome) -> str | None:
    """The peer answers or hangs up before the deadline, unless the request lets it wait."""
    if outcome.end != SILENT or may_wait(sent.wire):
        return None
    return "no answer and no close before the deadline"


def speaks_frames(sent: SentFrame, outcome: Outcome) -> str | None:
    """What comes back is made of frames of a believable size."""
    return "the answer is not made of frames" if outcome.end == GARBLED else None


def correlates(sent: SentFrame, outcome: Outcome) -> str | None:
    """Answers carry the correlation id of the request they answer."""
    expected = sent.correlation_id.to_bytes(4, "big", signed=True)
    for frame in outcome.answers:
        if frame[:4] != expected:
            return f"correlation id {frame[:4].hex()} answers {expected.hex()}"
    return None


def parses(sent: SentFrame, outcome: Outcome) -> str | None:
    """An answer parses with the schema of the request's key and version and ends where it says."""
    for frame in outcome.answers:
        text = describe_answer(sent.key, sent.version, frame)
        if not text.startswith("answer("):
            return f"key {sent.key} version {sent.version}: {text}"
    return None


@cache
def reviewed_unknown_errors() -> dict[int, frozenset[str]]:
    """Where real Kafka answers UNKNOWN_SERVER_ERROR: paths without indexes, by API key."""
    found: dict[int, set[str]] = {}
    for row in tomllib.loads(UNKNOWN_ERRORS.read_text())["error"]:
        found.setdefault(by_name(row["api"]).key, set()).add(row["path"])
    return {key: frozenset(paths) for key, paths in found.items()}


def knows_its_errors(sent: SentFrame, outcome: Outcome) -> str | None:
    """Malformed input is answered with UNKNOWN_SERVER_ERROR, which means "a bug", only where real
    Kafka does so too (`unknown_errors.toml`).
    """
    for frame in outcome.answers:
        text = describe_answer(sent.key, sent.version, frame)
        paths = {INDEX.sub("[*]", path) for path in MINUS_ONE.findall(text)}
        if paths - reviewed_unknown_errors().get(sent.key, frozenset()):
            return f"key {sent.key} version {sent.version}: {text}"
    return None


def asks_for_no_answer(sent: SentFrame) -> bool:
    """Produce with acks 0 has no answer, so that a close is how its sender learns of an error."""
    try:
        return sent.key == PRODUCE and decode_request(sent.wire[SIZE:]).body["acks"] == 0
    except ValueError:
        return False


def keeps_the_connection(sent: SentFrame, outcome: Outcome) -> str | None:
    """A well-formed request of an advertised version is answered, not hung up on."""
    if outcome.end == KEPT or (outcome.end == SILENT and may_wait(sent.wire)):
        return None
    if outcome.end in (CLOSED, RESET) and asks_for_no_answer(sent):
        return None
    return f"key {sent.key} version {sent.version}: connection {outcome.end} on a valid request"


def answers_or_hangs_up(sent: SentFrame, outcome: Outcome) -> str | None:
    """A request is not passed over: it is answered or ends its connection, but for acks 0."""
    if outcome.answers or outcome.end != KEPT or len(sent.wire) <= SIZE:
        return None
    if asks_for_no_answer(sent):
        return None
    return f"key {sent.key} version {sent.version}: no answer, and the connection goes on"


def answers_nothing_to_acks_0(sent: SentFrame, outcome: Outcome) -> str | None:
    """Whoever asks for no answer gets none: it would be taken for that of the next request."""
    if outcome.answers and asks_for_no_answer(sent):
        return f"key {sent.key} version {sent.version}: an answer to acks 0"
    return None


ORACLES: dict[str, Oracle] = {
    oracle.__name__: oracle
    for oracle in (
        answers_in_time,
        speaks_frames,
        correlates,
        parses,
        knows_its_errors,
        keeps_the_connection,
        answers_or_hangs_up,
        answers_nothing_to_acks_0,
    )
}
