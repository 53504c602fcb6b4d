"""Targets that mean harm, or are broken as if they did: to whoever asks, and to who reads of it.

No checker is for them. What is promised is that whoever asks one ends within the time that it
states, keeps no more bytes than it was sent, connects to nobody else, and shows none of their
control characters. `harness/tests/test_hostile.py` has each of them asked.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import Any

from touchstone.harness.targets.misbehaviour import AnswerChange, HangUp, Liar, Lie, Turn, sized
from touchstone.reference_impl.wire.schema import Struct

HOSTILE: dict[str, Liar] = {}

STRANGER = ("192.0.2.1", 9092)  # of nobody (RFC 5737)
SEQUENCES = "\x1b[2J\x1b]0;owned\x07\x1b[31m \x9b31m"  # clear, set a title, colour; and C1's CSI
BREAKS = "\r\n\x0b\x0c\x85\u2028\u2029\0\x7f"
BIDI = "\u202e\u2066\u200f\u2069\u061c"  # what follows is shown from right to left
MARKDOWN = (
    "\n# owned\n\n![](http://192.0.2.1/p.png) [here](javascript:alert(1)) <img src=x onerror=a()>"
    "</script><script>a()</script> | a | b |\n|---|---|\n```\n- [x] done @somebody #1 **b** `c`"
    "\n::error file=a::owned"
)
TEXT = f"owned{SEQUENCES}{BREAKS}{BIDI}{MARKDOWN}"
"""What it says wherever it may say something."""


def hostile(name: str, **how: Any) -> Callable[[Lie], Lie]:
    """Register a lie of bytes; its docstring is its sentence."""

    def register(lie: Lie) -> Lie:
        HOSTILE[name] = Liar(name, (lie.__doc__ or "").strip(), "", lie, **how)
        return lie

    return register


def changes(name: str, *apis: str) -> Callable[[AnswerChange], AnswerChange]:
    """Register a lie about the decoded answers of these APIs, of all where none is named."""

    def register(change: AnswerChange) -> AnswerChange:
        def lie(turn: Turn) -> list[bytes] | None:
            if turn.honest is None or (apis and turn.api not in apis):
                return None
            try:
                body = turn.answer
            except ValueError:  # an ApiVersions of a version that nobody has, answered in another
                return None
            change(turn, body)
            return [turn.encoded(body)]

        HOSTILE[name] = Liar(name, (change.__doc__ or "").strip(), "", lie)
        return change

    return register


def _asked_for_something(turn: Turn) -> bool:
    return turn.api not in ("ApiVersions", "Metadata")


@hostile("a-byte-a-second", drip_s=1.0)
def _drips(turn: Turn) -> list[bytes] | None:
    """Sends honest answers, one byte a second."""
    return None


@hostile("two-gigabytes", raw=True)
def _two_gigabytes(turn: Turn) -> list[bytes]:
    """Says that its answer has two gigabytes, and sends a hundred bytes."""
    return [struct.pack(">ii", 2**31 - 1, turn.correlation_id) + bytes(100)]


@hostile("two-gigabytes-later", raw=True)
def _two_gigabytes_later(turn: Turn) -> list[bytes]:
    """Answers ApiVersions and Metadata, and promises two gigabytes to everything else."""
    if _asked_for_something(turn):
        return [struct.pack(">ii", 2**31 - 1, turn.correlation_id) + bytes(100)]
    return [sized(turn.honest or b"")]


@hostile("endless-bytes", raw=True, endless=True)
def _endless(turn: Turn) -> list[bytes]:
    """Sends frames that answer nothing for as long as anybody reads."""
    return [sized(struct.pack(">i", -1) + bytes(1 << 16))]


@hostile("fills-a-frame", raw=True, endless=True)
def _fills(turn: Turn) -> list[bytes]:
    """Sends one frame of fifteen megabytes after the other, under the right id."""
    return [sized(struct.pack(">i", turn.correlation_id) + bytes(15 << 20))]


@hostile("half-an-answer")
def _half(turn: Turn) -> list[bytes]:
    """Sends half of each answer and closes the connection."""
    if turn.honest is None:
        raise HangUp
    return [turn.honest[: len(turn.honest) // 2]]


@hostile("id-of-the-one-before")
def _one_before(turn: Turn) -> list[bytes] | None:
    """Answers each request under the id of the one before it."""
    if turn.honest is None:
        return None
    return [struct.pack(">i", turn.correlation_id - 1) + turn.honest[4:]]


@hostile("huge-array")
def _huge_array(turn: Turn) -> list[bytes] | None:
    """Says that what it lists has two thousand million entries, in a frame of a few bytes."""
    if not _asked_for_something(turn):
        return None
    return [turn.frame[4:8] + struct.pack(">i", 2**31 - 1) * 4]


@hostile("endless-varint")
def _endless_varint(turn: Turn) -> list[bytes] | None:
    """Writes each length as a varint of a megabyte."""
    return [turn.frame[4:8] + b"\xff" * (1 << 20)] if _asked_for_something(turn) else None


@hostile("endless-varints-at-once")
def _endless_varints(turn: Turn) -> list[bytes]:
    """Does so in every answer."""
    return [turn.frame[4:8] + bytes(6) + b"\xff" * (1 << 20)]


@changes("thousands-of-ranges", "ApiVersions")
def _ranges(turn: Turn, body: Struct) -> None:
    """Advertises each API key there could be, many of them from a version to one before it."""
    more = range(1000, 32000)
    body["api_keys"] += [
        {"api_key": key, "min_version": key % 7, "max_version": key % 5} for key in more
    ]


@changes("names-no-broker", "Metadata")
def _nobody(turn: Turn, body: Struct) -> None:
    """Knows no broker, itself included."""
    body |= {"brokers": [], "controller_id": -1}


def _brokers(*places: tuple[str, int]) -> list[Struct]:
    return [
        {"node_id": 1001 + number, "host": host, "port": port, "rack": None}
        for number, (host, port) in enumerate(places)
    ]


@changes("names-strangers", "Metadata")
def _strangers(turn: Turn, body: Struct) -> None:
    """Says that its brokers are on machines of other people."""
    body["brokers"] = _brokers(STRANGER, ("192.0.2.2", 22), ("192.0.2.3", 25))
    body["controller_id"] = 1002


@changes("sends-to-strangers", "FindCoordinator")
def _sends_away(turn: Turn, body: Struct) -> None:
    """Says that coordinators are on the machine of somebody else."""
    place = {"node_id": 1001, "host": STRANGER[0], "port": STRANGER[1]}
    for row in body.get("coordinators") or [body]:
        row |= place


@changes("names-no-address", "Metadata")
def _no_address(turn: Turn, body: Struct) -> None:
    """Names brokers at what cannot be an address."""
    long = "a" * 300
    body["brokers"] = _brokers(
        ("", 9092), ("127.0.0.1", 0), ("127.0.0.1", 70_000), ("127.0.0.1", -1), (long, 9092),
        ("a..b", 9092), ("\0", 9092), (TEXT, 9092),
    )  # fmt: skip


@changes("names-crowds", "Metadata")
def _crowds(turn: Turn, body: Struct) -> None:
    """Names twenty thousand brokers."""
    body["brokers"] = _brokers(*(("127.0.0.1", 1 + port) for port in range(20_000)))


def texts(value: Any) -> Iterator[tuple[Any, Any]]:
    """(what holds it, its key) of each text in a decoded answer."""
    pairs = list(value.items() if isinstance(value, dict) else enumerate(value))
    for key, one in pairs:
        if isinstance(one, str):
            yield value, key
        elif isinstance(one, dict | list):
            yield from texts(one)


@changes("says-it-everywhere")
def _says(turn: Turn, body: Struct) -> None:
    """Puts escape sequences, line breaks, Markdown and HTML into each message, and into each name
    but those of hosts.
    """
    for holder, key in list(texts(body)):
        if key != "host":
            holder[key] = TEXT


@changes("explains-itself")
def _explains(turn: Turn, body: Struct) -> None:
    """Explains each error in such words, also where there is none."""
    for holder, key in _messages(body):
        holder[key] = TEXT


def _messages(value: Any) -> Iterator[tuple[Struct, str]]:
    if isinstance(value, dict):
        for key, one in list(value.items()):
            if key == "error_message":
                yield value, key
            yield from _messages(one)
    elif isinstance(value, list):
        for one in value:
            yield from _messages(one)
