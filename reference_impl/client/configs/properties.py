"""Java's properties files, as Kafka's tools read those of `--command-config`.

Source: java.util.Properties.load(InputStream) of Java 17.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

ENCODING = "latin-1"  # a character of another alphabet is written as \uXXXX
KEYS = " =:#!"  # what ends a key, or begins a comment, where no backslash is before it
_COMMENT = r"[ \t\f]*[#!][^\r\n]*"  # which no backslash makes longer
_LINE = re.compile(_COMMENT + r"|(?:[^\\\r\n]|\\(?:\r\n|[^\r\n]|[\r\n]|$))+")
_FOLDED = re.compile(r"\\(?:\r\n|\r|\n)[ \t\f]*")
_KEY = re.compile(r"((?:[^\\=: \t\f]|\\.)*)[ \t\f]*[=:]?[ \t\f]*", re.DOTALL)
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|.)", re.DOTALL)
_NAMED = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


def parse(text: str) -> dict[str, str]:
    """Return every key with its value; of a key that is there twice the last value. Raise
    ValueError for a `\\u` without four digits.
    """
    found = {}
    for line in _LINE.findall(text):
        line = line.lstrip(" \t\f")
        if not line or line[0] in "#!":
            continue
        line = _FOLDED.sub("", line)
        key = _KEY.match(line)
        assert key is not None  # every part of it may be empty
        found[_plain(key[1])] = _plain(line[key.end() :])
    return found


def text(properties: Mapping[str, str]) -> str:
    """Return a file that `parse` reads back."""
    return "".join(
        f"{_spelled(key, KEYS)}={_spelled(value)}\n" for key, value in properties.items()
    )


def _spelled(text: str, more: str = "") -> str:
    found = "".join(
        f"\\{one}" if one == "\\" or one in more
        else one if " " <= one <= "~"
        else f"\\u{ord(one):04x}"
        for one in text
    )  # fmt: skip
    return f"\\{found}" if found[:1] == " " and not more else found


def _plain(text: str) -> str:
    return _ESCAPE.sub(_meant, text.removesuffix("\\") if _is_open(text) else text)


def _is_open(text: str) -> bool:
    """Whether it ends in a backslash that escapes nothing, as the last line of a file may."""
    return (len(text) - len(text.rstrip("\\"))) % 2 == 1


def _meant(found: re.Match[str]) -> str:
    one = found[1]
    if one == "u":
        raise ValueError("Malformed \\uxxxx encoding.")
    return chr(int(one[1:], 16)) if len(one) > 1 else _NAMED.get(one, one)
