"""Which paths ZooKeeper's client refuses, and in what words.

A name that nobody looked at before becomes a node below `/brokers/topics` or `/config/topics`. What
is refused there ends the whole request of a broker of 1.0 to 2.8.

Source: org.apache.zookeeper.common.PathUtils.validatePath at 3.4.10 (Kafka 1.0.2), 3.4.13 (2.2.1)
and 3.5.9 (2.8.2); asked of the three brokers.
"""

from __future__ import annotations

from itertools import pairwise

from touchstone.reference_impl.broker.personas.persona import Persona

SLASH, DOT = "/."
REFUSED = (0x00, 0x1F), (0x7F, 0x9F), (0xD800, 0xF8FF), (0xFFF0, 0xFFFF)
"""Code units, of which a character beyond the BMP has two; 3.4.10 takes the first and the last."""


def refusal(path: str, persona: Persona) -> str | None:
    """What is said of a path that begins with a slash; None of one that may be a node's."""
    if path.endswith(SLASH):
        return "Path must not end with / character"
    units = path.encode("utf-16-be", "surrogatepass")
    codes = [high << 8 | low for high, low in zip(units[::2], units[1::2], strict=True)]
    bounds, word = persona.quirk("zookeeper.refused-bounds-and-word")
    for at, (before, code) in enumerate(pairwise(codes), 1):
        reason = None
        if code == 0:
            reason = "null character not allowed"
        elif code == before == ord(SLASH):
            reason = "empty node name specified"
        elif code == ord(DOT) and _ends(codes, at) and _is_relative(codes, at):
            reason = "relative paths not allowed"
        elif any(low + 1 - bounds <= code < high + bounds for low, high in REFUSED):
            reason = word
        if reason:
            return f'Invalid path string "{path}" caused by {reason} @{at}'
    return None


def _ends(codes: list[int], at: int) -> bool:
    return at + 1 == len(codes) or codes[at + 1] == ord(SLASH)


def _is_relative(codes: list[int], at: int) -> bool:
    """Whether the dot at `at` is all of a node's name, or the second of two that are."""
    begin = at - 1 if codes[at - 1] == ord(DOT) else at
    return codes[begin - 1] == ord(SLASH)
