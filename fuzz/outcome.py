"""What came of a case, as a value that can be compared, counted and stored.

An outcome is what the peer did, not whether that was right: the answers it gave before the probe
behind the case was answered, and how the connection ended. A signature folds an outcome to the
part that two correct brokers share: which API answered, which error codes stand at which paths, how
it ended. Offsets, ids and instants are not in it, so equal signatures mean equal behaviour across
runs, releases and implementations; they are what findings are grouped by and what novelty means.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from touchstone.reference_impl.wire.headers import API_VERSIONS, decode_response

KEPT, CLOSED, RESET, SILENT, GARBLED = "kept", "closed", "reset", "silent", "garbled"
"""How a case ended: the probe was answered; FIN; RST; nothing until the deadline; not frames."""
UNSUPPORTED_VERSION = (35).to_bytes(2, "big")


@dataclass(frozen=True)
class Outcome:
    """Raw answers (frames without size) in order of arrival, and how the connection ended."""

    answers: tuple[bytes, ...]
    end: str


def error_codes(value: Any, path: str = "") -> Iterator[tuple[str, int]]:
    """Every non-zero error code in a decoded answer with its path, indexes kept."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            here = f"{path}.{name}" if path else str(name)
            if name == "error_code" and isinstance(inner, int):
                if inner:
                    yield here, inner
            else:
                yield from error_codes(inner, here)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from error_codes(inner, f"{path}[{index}]")


@lru_cache(maxsize=8)  # an answer is described for its signature and by several oracles
def describe_answer(key: int, version: int, frame: bytes) -> str:
    """One answer as text: its non-zero error codes by path, or why it does not parse."""
    if key == API_VERSIONS and frame[4:6] == UNSUPPORTED_VERSION:
        version = 0  # so that a peer of any age can read what is supported (KIP-511)
    try:
        response = decode_response(key, version, frame)
    except (ValueError, KeyError) as problem:  # a DecodeError, or no such version, or no such key
        return f"unreadable({type(problem).__name__})"
    if response.end != len(frame):
        return f"trailing({len(frame) - response.end})"
    codes = [f"{path}={code}" for path, code in error_codes(response.body)]
    return "answer(" + ", ".join(codes) + ")"


def signature(key: int, version: int, outcome: Outcome) -> str:
    """What two correct brokers share in their reaction to one case sent as (key, version)."""
    answers = "; ".join(describe_answer(key, version, frame) for frame in outcome.answers)
    # A peer that closes with our bytes still unread sends RST instead of FIN; which of the two is a
    # race between its close and our write, so a signature knows only that the peer hung up.
    end = CLOSED if outcome.end == RESET else outcome.end
    return f"{answers} {end}" if answers else end
