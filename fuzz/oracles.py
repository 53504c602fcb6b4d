"""What must hold whatever we send: each oracle is a named function of one case's outcome.

An oracle looks at the request's header fields as the frame carries them when it goes out (a peer
answers what it reads, not what we meant) and at the outcome, and answers None or a sentence. It
never talks to a target. Oracles that need the state of the target (memory, acknowledged records)
belong to a campaign's watch, not here.
"""

from __future__ import annotations

import re
import struct
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from touchstone.fuzz.outcome import CLOSED, GARBLED, KEPT, RESET, SILENT, Outcome, describe_answer
from touchstone.fuzz.segments import SIZE, may_wait
from touchstone.fuzz.unknown_errors import brought_about_by_state, is_forgiven
from touchstone.reference_impl.wire.headers import decode_request, decode_response
from touchstone.reference_impl.wire.records import check_crc, entries
from touchstone.reference_impl.wire.records.errors import RecordError
from touchstone.reference_impl.wire.schema import Struct

MINUS_ONE = re.compile(r"([^ (]+)=-1(?=[,)])")
INDEX = re.compile(r"\[\d+\]")
PRODUCE = 0


@dataclass(frozen=True)
class SentFrame:
    """The frame of a case as it went out: what its header says it is, and the bytes. One that is
    `broken` has a fault, or nobody knows that it has none.
    """

    key: int
    version: int
    correlation_id: int
    wire: bytes
    broken: bool = True


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


def knows_its_errors(sent: SentFrame, outcome: Outcome) -> str | None:
    """UNKNOWN_SERVER_ERROR, which means "a bug", is answered only where real Kafka does so too
    (`unknown_errors.toml`), and never to a request that nobody broke.
    """
    for frame in outcome.answers:
        text = describe_answer(sent.key, sent.version, frame)
        paths = {INDEX.sub("[*]", path) for path in MINUS_ONE.findall(text)}
        if not paths:
            continue
        if {(sent.key, path) for path in paths} <= brought_about_by_state():
            continue
        if not sent.broken:
            return f"key {sent.key} version {sent.version}, as it should be, is answered {text}"
        body = body_of(sent.wire)
        if not all(is_forgiven(sent.key, path, body) for path in paths):
            return f"key {sent.key} version {sent.version}: {text}"
    return None


@lru_cache(maxsize=8)  # several oracles ask about the same case
def body_of(wire: bytes) -> Struct | None:
    """The body of a request; None where that cannot be read."""
    try:
        return decode_request(wire[SIZE:]).body
    except ValueError:
        return None


def asks_for_no_answer(sent: SentFrame) -> bool:
    """Produce with acks 0 has no answer, so that a close is how its sender learns of an error."""
    body = body_of(sent.wire) if sent.key == PRODUCE else None
    return body is not None and body["acks"] == 0


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


def refuses_wrong_checksums(sent: SentFrame, outcome: Outcome) -> str | None:
    """A batch whose checksum is not that of its bytes is not acknowledged, whatever its codec."""
    if sent.key != PRODUCE or not outcome.answers:
        return None
    wrong = wrong_checksums(sent.wire)
    for frame in outcome.answers if wrong else ():
        for where in wrong & partitions_without_error(sent.version, frame):
            return f"key 0 version {sent.version}: a batch with a wrong checksum is stored: {where}"
    return None


Place = tuple[Any, int]
"""A topic's name or id, and a partition."""


def wrong_checksums(wire: bytes) -> set[Place]:
    """Where this Produce sends one batch, and nothing else, whose checksum is wrong."""
    body = body_of(wire)
    topics = () if body is None else body["topic_data"]
    rows = [(_topic(topic), row) for topic in topics for row in topic["partition_data"]]
    times = Counter((topic, row["index"]) for topic, row in rows)
    found = {(topic, row["index"]) for topic, row in rows if _is_wrong(row["records"])}
    return {where for where in found if times[where] == 1}


def _topic(row: Struct) -> Any:
    return row.get("name") or row.get("topic_id")


def _is_wrong(records: bytes | None) -> bool:
    try:
        ((at, size, magic),) = entries(records or b"")
    except ValueError:  # none or several, or bytes that are no records
        return False
    try:
        check_crc(records or b"", at, size, magic)
    except RecordError:
        return size == len(records or b"")
    return False


def partitions_without_error(version: int, frame: bytes) -> set[Place]:
    """What an answer to Produce of this version says is stored."""
    try:
        topics = decode_response(PRODUCE, version, frame).body["responses"]
    except (ValueError, KeyError):
        return set()
    return {
        (_topic(topic), row["index"])
        for topic in topics
        for row in topic["partition_responses"]
        if not row["error_code"]
    }


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
        refuses_wrong_checksums,
    )
}
