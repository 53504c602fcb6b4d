"""What came of a case, as a value that can be compared, counted and stored.

An outcome is what the peer did, not whether that was right: the answers it gave before the probe
behind the case was answered, and how the connection ended. A signature folds an outcome to the
part that two correct brokers share: which API answered, which error codes stand at which paths, how
it ended. Offsets, ids and instants are not in it, so equal signatures mean equal behaviour across
runs, releases and implementations; they are what findings are grouped by and what novelty means.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

from touchstone.reference_impl.wire.apis import API
from touchstone.reference_impl.wire.headers import API_VERSIONS, decode_response
from touchstone.reference_impl.wire.schema import Field, Struct, fields_of

KEPT, CLOSED, RESET, SILENT, GARBLED = "kept", "closed", "reset", "silent", "garbled"
"""How a case ended: the probe was answered; FIN; RST; nothing until the deadline; not frames."""
RAISED = "raised"
"""Of a broker in this process: an exception left its core."""
UNSUPPORTED_VERSION = (35).to_bytes(2, "big")
REMEMBERED = 2048
"""Bytes of an answer whose description is worth remembering."""


@dataclass(frozen=True)
class Outcome:
    """Raw answers (frames without size) in order of arrival, and how the connection ended."""

    answers: tuple[bytes, ...]
    end: str


Carrier = tuple[str, bool, "tuple[Carrier, ...]"]
"""A field that is an error code (no carriers within), or in whose structs some stand; the flag says
whether it is an array."""


@cache
def carriers(key: int, version: int) -> tuple[Carrier, ...]:
    """Where error codes stand in an answer: nothing else of it is walked."""
    return tuple(_carriers(API[key].response.fields, version))


def _carriers(fields: tuple[Field, ...] | list[Field], version: int) -> Iterator[Carrier]:
    for row in fields_of(fields, version):
        if row.name == "error_code":
            yield row.name, False, ()
        elif row.element == "struct" and (within := tuple(_carriers(row.fields, version))):
            yield row.name, row.is_array, within


def error_codes(
    body: Struct, where: tuple[Carrier, ...], path: str = ""
) -> Iterator[tuple[str, int]]:
    """Every non-zero error code in a decoded answer with its path, indexes kept."""
    for name, is_array, within in where:
        value = body.get(name)
        if not value:
            continue
        if not within:
            yield path + name, value
        elif is_array:
            for index, inner in enumerate(value):
                yield from error_codes(inner, within, f"{path}{name}[{index}].")
        else:
            yield from error_codes(value, within, f"{path}{name}.")


def describe_answer(key: int, version: int, frame: bytes) -> str:
    """One answer as text: its non-zero error codes by path, or why it does not parse."""
    if len(frame) <= REMEMBERED:
        return _describe(key, version, frame[4:])
    return _description(key, version, frame)


@lru_cache(maxsize=8192)
def _describe(key: int, version: int, behind_id: bytes) -> str:
    """Many answers differ in their correlation id alone, which no description tells of."""
    return _description(key, version, bytes(4) + behind_id)


def _description(key: int, version: int, frame: bytes) -> str:
    if key == API_VERSIONS and frame[4:6] == UNSUPPORTED_VERSION:
        version = 0  # so that a peer of any age can read what is supported (KIP-511)
    try:
        response = decode_response(key, version, frame)
    except (ValueError, KeyError) as problem:  # a DecodeError, or no such version, or no such key
        return f"unreadable({type(problem).__name__})"
    if response.end != len(frame):
        return f"trailing({len(frame) - response.end})"
    codes = [f"{path}={code}" for path, code in error_codes(response.body, carriers(key, version))]
    return "answer(" + ", ".join(codes) + ")"


def signature(key: int, version: int, outcome: Outcome) -> str:
    """What two correct brokers share in their reaction to one case sent as (key, version)."""
    answers = "; ".join(describe_answer(key, version, frame) for frame in outcome.answers)
    # A peer that closes with our bytes still unread sends RST instead of FIN; which of the two is a
    # race between its close and our write, so a signature knows only that the peer hung up.
    end = CLOSED if outcome.end == RESET else outcome.end
    return f"{answers} {end}" if answers else end
