"""Put a fault into a SASL token: a number, a value, a part more or less, a separator, all of it.

A token is what SaslAuthenticate carries in either direction: parts between separators, which most
mechanisms write as `name=value` (SCRAM: `r=NONCE,s=SALT,i=4096`, RFC 5802).
"""

from __future__ import annotations

import random
import re

from touchstone.fuzz.layers import FieldPlace, Opened, within_blob

LAYER = "sasl"
TOKEN = "auth_bytes"
SEPARATOR = re.compile(rb"([,\0\x01])")  # of SCRAM, of PLAIN, of OAUTHBEARER
NUMBERS = (b"-1", b"0", b"2147483647", b"2147483648", b"9" * 30, b"x")
NUMBER = 0.5
"""The share of faults in a number, where there is one: a peer may take it for work to do."""
VALUES = (b"", b"=", b"A", b"AAAA", b"\xff\xfe", b"x" * 3000)
PARTS = (b"", b"m=x", b"e=other-error", b"x", b"=,=")
WHOLE = (b"\0", b",,,", b"\xff" * 20, b"e=invalid-proof", b"v=AAAA", b"x" * 30_000)


def change(opened: Opened, draw: random.Random) -> bytes:
    def wanted(place: FieldPlace) -> bool:
        return place[2].name == TOKEN and place[2].type == "bytes"

    return within_blob(opened, draw, wanted, lambda token: broken(token, draw))


def broken(token: bytes, draw: random.Random) -> bytes:
    """The same token with one fault."""
    parts = SEPARATOR.split(token)  # with the separators between them
    numbers = [at for at in range(0, len(parts), 2) if _value(parts[at]).isdigit()]
    if numbers and draw.random() < NUMBER:
        at = draw.choice(numbers)
        parts[at] = _name(parts[at]) + draw.choice(NUMBERS)
        return b"".join(parts)
    at = draw.randrange(0, len(parts), 2)
    match draw.randrange(6):
        case 0:
            parts[at] = _name(parts[at]) + draw.choice(VALUES)
        case 1:
            begin = min(at, max(len(parts) - 2, 0))  # the separator behind it, or before the last
            del parts[begin : begin + 2]
        case 2:
            parts[at] = draw.choice(PARTS) + b"," + parts[at]
        case 3:
            parts[at] *= 2
        case 4:
            parts[at:] = [parts[at][: len(parts[at]) // 2]]
        case _:
            return draw.choice(WHOLE)
    return b"".join(parts)


def _name(part: bytes) -> bytes:
    """With its "="; nothing where it has none."""
    name, equals, _ = part.partition(b"=")
    return name + equals if equals else b""


def _value(part: bytes) -> bytes:
    return part.partition(b"=")[2]
