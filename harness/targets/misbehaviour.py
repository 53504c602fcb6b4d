"""What each liar does, one lie per property that a checker watches.

A lie is a function of one Turn: a request with its honest answer. It gives the frames to send in
its place, or None to stay honest. `spoils` is the short form for lies about a decoded field.
Every lie names who must catch it; `harness/tests` runs them all.
"""

from __future__ import annotations

import copy
import random
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from touchstone.reference_impl.wire import headers
from touchstone.reference_impl.wire.apis import API
from touchstone.reference_impl.wire.records import patch
from touchstone.reference_impl.wire.records.walk import entries
from touchstone.reference_impl.wire.schema import Struct


def sized(frame: bytes) -> bytes:
    """The frame with its size in front."""
    return struct.pack(">i", len(frame)) + frame


class HangUp(Exception):
    """The liar closes the connection here."""


@dataclass(slots=True)
class Turn:
    """One request and its honest answer, as a liar sees them."""

    frame: bytes
    honest: bytes | None
    api: str
    version: int
    request: Struct
    memory: dict[str, Any]  # shared by all turns of one liar

    @property
    def answer(self) -> Struct:
        """A decoded copy of the honest answer's body, to be spoiled."""
        assert self.honest is not None, "what was not answered cannot be spoiled"
        return copy.deepcopy(headers.decode_response(self.key, self.version, self.honest).body)

    @property
    def key(self) -> int:
        return struct.unpack_from(">h", self.frame)[0]

    @property
    def correlation_id(self) -> int:
        return struct.unpack_from(">i", self.frame, 4)[0]

    def encoded(self, body: Struct) -> bytes:
        return headers.encode_response(self.key, self.version, self.correlation_id, body)


Lie = Callable[[Turn], list[bytes] | None]  # frames to send; None: stay honest
AnswerChange = Callable[[Turn, Struct], None]  # changes a decoded answer in place


@dataclass(frozen=True, slots=True)
class Liar:
    """One lie: its name, what it does, who must notice."""

    name: str
    sentence: str
    caught_by: str
    lie: Lie
    raw: bool = False  # the lie's bytes are sent as they are, without a size
    drip_s: float = 0.0  # seconds between two bytes
    endless: bool = False  # its bytes are sent again and again


LIARS: dict[str, Liar] = {}


def liar(name: str, *, caught_by: str, raw: bool = False) -> Callable[[Lie], Lie]:
    """Registers a lie; its docstring is its sentence."""

    def register(lie: Lie) -> Lie:
        LIARS[name] = Liar(name, (lie.__doc__ or "").strip(), caught_by, lie, raw)
        return lie

    return register


def spoils(name: str, api: str, *, caught_by: str) -> Callable[[AnswerChange], Lie]:
    """Registers a lie that changes the decoded answer of one API in place."""

    def register(change: AnswerChange) -> Lie:
        def lie(turn: Turn) -> list[bytes] | None:
            if turn.api != api or turn.honest is None:
                return None
            body = turn.answer
            change(turn, body)
            return [turn.encoded(body)]

        LIARS[name] = Liar(name, (change.__doc__ or "").strip(), caught_by, lie)
        return lie

    return register


@liar("never-answers", caught_by="hung")
def _never(turn: Turn) -> list[bytes]:
    """Takes every request and says nothing."""
    return []


@liar("always-closes", caught_by="closed")
def _closes(turn: Turn) -> list[bytes]:
    """Closes the connection at the first request."""
    raise HangUp


@liar("garbage", caught_by="framing", raw=True)
def _garbage(turn: Turn) -> list[bytes]:
    """Sends bytes whose first four are no size."""
    return [b"HTTP/1.1 400 Bad Request\r\n\r\n".replace(b"HTTP", b"\xff\xff\xff\xf0")]


def _answers_honestly(turn: Turn) -> bool:
    return turn.api in ("ApiVersions", "Metadata")


def _random(turn: Turn) -> bytes:
    """Eight bytes to a thousand, the same for the same request."""
    chance = random.Random(turn.frame)
    return chance.randbytes(chance.choice((8, 30, 64, 200, 1000)))


@liar("random-bytes", caught_by="framing", raw=True)
def _random_bytes(turn: Turn) -> list[bytes] | None:
    """Answers ApiVersions and Metadata, and sends random bytes to everything else."""
    return None if _answers_honestly(turn) else [_random(turn)]


@liar("random-frames", caught_by="correlation-id")
def _random_frames(turn: Turn) -> list[bytes] | None:
    """Answers ApiVersions and Metadata, and sends frames of random bytes to everything else."""
    return None if _answers_honestly(turn) else [_random(turn)]


@liar("random-answers", caught_by="answer-parses")
def _random_answers(turn: Turn) -> list[bytes] | None:
    """Answers ApiVersions and Metadata; all its other answers are random behind their ids."""
    return None if _answers_honestly(turn) else [turn.frame[4:8] + _random(turn)]


@liar("endless-frame", caught_by="hung", raw=True)
def _endless(turn: Turn) -> list[bytes]:
    """Promises sixteen megabytes and sends eight bytes of them."""
    return [struct.pack(">ii", 16 << 20, turn.correlation_id)]


@liar("flood", caught_by="correlation-id")
def _flood(turn: Turn) -> list[bytes]:
    """Sends hundreds of frames that answer nothing, and never the answer."""
    return [struct.pack(">i", -1 - i) + bytes(8) for i in range(400)]


def _drips(turn: Turn) -> list[bytes] | None:
    """Sends honest answers, one byte every tenth of a second."""
    return None


LIARS["slow-drip"] = Liar("slow-drip", _drips.__doc__ or "", "hung", _drips, drip_s=0.1)


@liar("half-a-frame", caught_by="framing", raw=True)
def _half(turn: Turn) -> list[bytes] | None:
    """Sends the first half of its first answer, then nothing more."""
    if turn.honest is None or "sent" in turn.memory:
        return []
    turn.memory["sent"] = True
    data = sized(turn.honest)
    return [data[: len(data) // 2]]


@liar("wrong-correlation-id", caught_by="correlation-id")
def _wrong_id(turn: Turn) -> list[bytes] | None:
    """Answers under the next correlation id."""
    if turn.honest is None:
        return None
    return [struct.pack(">i", turn.correlation_id + 1000) + turn.honest[4:]]


@liar("swaps-answers", caught_by="answer-order")
def _swaps(turn: Turn) -> list[bytes] | None:
    """Keeps the first of two ApiVersions v0 answers back until after the second."""
    if turn.api != "ApiVersions" or turn.version != 0 or turn.honest is None:
        return None
    if "kept" not in turn.memory:
        turn.memory["kept"] = turn.honest
        return []
    return [turn.honest, turn.memory.pop("kept")]


@liar("trailing-byte", caught_by="answer-parses")
def _trailing(turn: Turn) -> list[bytes] | None:
    """Sends one byte more than the answer has."""
    return None if turn.honest is None else [turn.honest + b"\0"]


@liar("old-response-header", caught_by="answer-parses")
def _old_header(turn: Turn) -> list[bytes] | None:
    """Leaves out the tagged fields of the response header in flexible versions."""
    if turn.honest is None or turn.api == "ApiVersions" or turn.key not in API:
        return None
    if not API[turn.key].response.is_flexible(turn.version):
        return None
    return [turn.honest[:4] + turn.honest[5:]]


@liar("cut-short", caught_by="answer-parses")
def _cut(turn: Turn) -> list[bytes] | None:
    """Drops the last byte of every answer, with a size that agrees."""
    return None if turn.honest is None else [turn.honest[:-1]]


@liar("long-varints", caught_by="canonical-bytes")
def _long_varint(turn: Turn) -> list[bytes] | None:
    """Writes the last empty tagged fields in two bytes where one would do."""
    if turn.honest is None or turn.key not in API or turn.honest[-1] != 0:
        return None
    if not API[turn.key].response.is_flexible(turn.version):
        return None
    return [turn.honest[:-1] + b"\x80\0"]


@liar("answers-acks-0", caught_by="unasked-bytes")
def _answers_acks_0(turn: Turn) -> list[bytes] | None:
    """Answers Produce although acks=0 asks for none."""
    if turn.api != "Produce" or turn.request.get("acks") != 0:
        return None
    return [turn.encoded({"responses": []})]


@liar("answers-twice", caught_by="unasked-bytes")
def _twice(turn: Turn) -> list[bytes] | None:
    """Sends every answer twice."""
    return None if turn.honest is None else [turn.honest, turn.honest]


@liar("advertises-but-refuses", caught_by="advertised-is-served")
def _refuses(turn: Turn) -> list[bytes] | None:
    """Advertises Fetch as Kafka does and closes when it is asked to serve it."""
    if turn.api == "Fetch":
        raise HangUp
    return None


@spoils("error-minus-one", "ListOffsets", caught_by="no-unknown-error")
def _minus_one(turn: Turn, body: Struct) -> None:
    """Says UNKNOWN_SERVER_ERROR."""
    body["topics"][0]["partitions"][0]["error_code"] = -1


@spoils("timeout-in-fetch", "Fetch", caught_by="legal-error-codes")
def _timeout(turn: Turn, body: Struct) -> None:
    """Says REQUEST_TIMED_OUT inside Fetch, which stopped Java consumers (Redpanda PR 11941)."""
    body["responses"][0]["partitions"][0]["error_code"] = 7


@spoils("negative-throttle", "Metadata", caught_by="throttle-time")
def _throttle(turn: Turn, body: Struct) -> None:
    """Asks to wait for less than nothing."""
    body["throttle_time_ms"] = -5


@spoils("inverted-range", "ApiVersions", caught_by="api-versions")
def _inverted(turn: Turn, body: Struct) -> None:
    """Advertises a range whose end is before its beginning."""
    body["api_keys"][3] |= {"min_version": 3, "max_version": 1}


@spoils("advertises-twice", "ApiVersions", caught_by="api-versions")
def _key_twice(turn: Turn, body: Struct) -> None:
    """Advertises one API key twice."""
    body["api_keys"].append(dict(body["api_keys"][0]))


@spoils("leader-outside", "Metadata", caught_by="metadata-consistency")
def _leader_outside(turn: Turn, body: Struct) -> None:
    """Names a leader that is no replica."""
    for topic in body["topics"]:
        for partition in topic["partitions"]:
            partition["leader_id"] = 77


@spoils("isr-outside", "Metadata", caught_by="metadata-consistency")
def _isr_outside(turn: Turn, body: Struct) -> None:
    """Names an in-sync replica that is no replica."""
    for topic in body["topics"]:
        for partition in topic["partitions"]:
            partition["isr_nodes"] = [*partition["isr_nodes"], 77]


@spoils("no-topic-id", "CreateTopics", caught_by="topic-ids")
def _no_id(turn: Turn, body: Struct) -> None:
    """Creates topics without ids."""
    for topic in body["topics"]:
        topic["topic_id"] = bytes(16)


@spoils("changing-topic-id", "Metadata", caught_by="topic-ids")
def _changing_id(turn: Turn, body: Struct) -> None:
    """Gives a topic another id at every question."""
    turn.memory["asked"] = turn.memory.get("asked", 0) + 1
    for topic in body["topics"]:
        topic["topic_id"] = turn.memory["asked"].to_bytes(16, "big")


def _records(body: Struct) -> Struct | None:
    """The first fetched partition that has records."""
    for topic in body["responses"]:
        for partition in topic["partitions"]:
            if partition["records"]:
                return partition
    return None


def _with_records(name: str, *, caught_by: str) -> Callable[[Callable[[Struct], None]], Lie]:
    """Registers a lie about the first fetched partition that has records."""

    def register(change: Callable[[Struct], None]) -> Lie:
        def spoil(turn: Turn, body: Struct) -> None:
            partition = _records(body)
            if partition is not None:
                change(partition)

        spoil.__doc__ = change.__doc__
        return spoils(name, "Fetch", caught_by=caught_by)(spoil)

    return register


@_with_records("flipped-bit", caught_by="batch-crc")
def _flip(partition: Struct) -> None:
    """Flips one bit in the CRC of a batch."""
    data = bytearray(partition["records"])
    data[17] ^= 1
    partition["records"] = bytes(data)


@_with_records("wrong-count", caught_by="batch-structure")
def _count(partition: Struct) -> None:
    """Counts one record more than a batch holds, under a right CRC."""
    (position, size, _), *_ = entries(partition["records"])
    data = bytearray(partition["records"])
    count = struct.unpack_from(">i", data, position + 57)[0]
    struct.pack_into(">i", data, position + 57, count + 1)
    patch.fix_crc(data, position, size)
    partition["records"] = bytes(data)


@_with_records("batches-backwards", caught_by="fetch-order")
def _backwards(partition: Struct) -> None:
    """Sends batches in reverse."""
    data = partition["records"]
    pieces = [data[position : position + size] for position, size, _ in entries(data)]
    partition["records"] = b"".join(reversed(pieces))


@_with_records("starts-too-early", caught_by="fetch-start")
def _early(partition: Struct) -> None:
    """Moves the first batch so far down that it ends before the offset asked for."""
    data = bytearray(partition["records"])
    patch.set_base_offset(data, 0, -100)
    partition["records"] = bytes(data)


@spoils("ignores-max-bytes", "Fetch", caught_by="fetch-size")
def _too_much(turn: Turn, body: Struct) -> None:
    """Goes on with batches after a small partition_max_bytes is used up."""
    asked = turn.request["topics"][0]["partitions"][0]["partition_max_bytes"]
    partition = _records(body)
    if partition is None or asked > len(partition["records"]):
        return
    more, end = bytearray(), 1000
    while len(more) <= asked:
        piece = bytearray(partition["records"])
        patch.set_base_offset(piece, 0, end)
        more, end = more + piece, end + 1000
    partition["records"] += bytes(more)


@_with_records("beyond-the-watermark", caught_by="fetch-visibility")
def _beyond(partition: Struct) -> None:
    """Shows records that begin at the high watermark."""
    data = bytearray(partition["records"])
    patch.set_base_offset(data, 0, partition["high_watermark"])
    partition["records"] = bytes(data)


@spoils("lso-above-hw", "Fetch", caught_by="watermarks")
def _stable_above(turn: Turn, body: Struct) -> None:
    """Puts the last stable offset above the high watermark."""
    for topic in body["responses"]:
        for partition in topic["partitions"]:
            partition["last_stable_offset"] = partition["high_watermark"] + 1


@spoils("watermark-goes-back", "Fetch", caught_by="high-watermark")
def _goes_back(turn: Turn, body: Struct) -> None:
    """Lowers the high watermark by one at every fetch."""
    turn.memory["fetches"] = turn.memory.get("fetches", 0) + 1
    for topic in body["responses"]:
        for partition in topic["partitions"]:
            partition["high_watermark"] -= turn.memory["fetches"] - 1
            partition["last_stable_offset"] = -1


@spoils("error-with-offset", "Produce", caught_by="produce-answer")
def _error_with_offset(turn: Turn, body: Struct) -> None:
    """Refuses a batch and gives it an offset."""
    body["responses"][0]["partition_responses"][0] |= {"error_code": 2, "base_offset": 5}


@spoils("reuses-offsets", "Produce", caught_by="produce-offsets")
def _reuses(turn: Turn, body: Struct) -> None:
    """Gives every batch the offset 0."""
    body["responses"][0]["partition_responses"][0]["base_offset"] = 0


@spoils("forgets-a-partition", "ListOffsets", caught_by="answers-what-was-asked")
def _forgets(turn: Turn, body: Struct) -> None:
    """Leaves the last partition out of its answer."""
    if len(body["topics"][0]["partitions"]) > 1:
        body["topics"][0]["partitions"].pop()


@spoils("aborts-for-everyone", "Fetch", caught_by="aborted-transactions")
def _aborts(turn: Turn, body: Struct) -> None:
    """Lists aborted transactions to a read_uncommitted consumer."""
    one = {"producer_id": 1, "first_offset": 0}
    body["responses"][0]["partitions"][0]["aborted_transactions"] = [one]


@spoils("session-unasked", "Fetch", caught_by="fetch-session")
def _session(turn: Turn, body: Struct) -> None:
    """Opens a fetch session for a request that wants none."""
    body["session_id"] = 42


@spoils("message-without-error", "CreateTopics", caught_by="error-messages")
def _message(turn: Turn, body: Struct) -> None:
    """Explains an error that there is none of."""
    for topic in body["topics"]:
        if topic["error_code"] == 0:
            topic["error_message"] = "all is well"
