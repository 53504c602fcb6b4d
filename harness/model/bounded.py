"""Files that somebody else may have made, read within bounds: how large, how long a line, how deep.

A bundle in an issue, rows of another team's run, a target file from a repository: whoever reads
them gets one line where they are out of all proportion, not a machine without memory.
"""

from __future__ import annotations

import json
import lzma
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FILE = 512 << 20  # bytes: a hundred times what a run of all suites writes
LINE = 64 << 20  # the largest frame as hexadecimal digits, and some more of its kind
TABLES = 4 << 20  # of TOML, which people write
DEPTH = 100  # the deepest message of the protocol has nine levels


class TooMuch(ValueError):
    """It is larger, longer or deeper than anything that this harness writes."""


def text(path: Path, most: int = FILE) -> str:
    """The file's text. Raises OSError; TooMuch where it is larger or no file."""
    return data(path, most).decode("utf-8")


def data(path: Path, most: int = FILE) -> bytes:
    """The file's bytes. Raises OSError; TooMuch where there are more, or it is no file."""
    _check_size(path, most)
    with path.open("rb") as file:
        return file.read(most)


def lines(path: Path) -> Iterator[str]:
    """The lines of a file, what is no UTF-8 in them as surrogates. Raises OSError; TooMuch where
    one is too long, or all of them are.
    """
    _check_size(path, FILE)
    with path.open("rb") as file:
        while line := file.readline(LINE + 1):
            if len(line) > LINE:
                raise TooMuch(f"a line of more than {LINE:,} bytes")
            yield line.decode("utf-8", "surrogateescape")


def _check_size(path: Path, most: int) -> None:
    """Raise TooMuch, also for what is no file (a pipe never ends), before it is opened."""
    size = path.stat().st_size
    if size > most:
        raise TooMuch(f"{size:,} bytes, where {most:,} are the most that are read")
    if not path.is_file():
        raise TooMuch("not a file")


def unpacked(path: Path) -> bytes:
    """The content of an .xz file. Raises OSError, LZMAError; TooMuch where it is larger."""
    unpacker = lzma.LZMADecompressor()
    found = unpacker.decompress(data(path), FILE + 1)
    if len(found) > FILE:
        raise TooMuch(f"it holds more than {FILE:,} bytes")
    if not unpacker.eof:
        raise lzma.LZMAError("it ends before its end")
    return found


def json_of(content: str | bytes) -> Any:
    """The value. Raises ValueError, TooMuch where it is nested too deeply."""
    try:
        value = json.loads(content)
    except RecursionError:
        raise TooMuch(f"nested deeper than {DEPTH} levels") from None
    opening = (
        content.count(b"[") + content.count(b"{")
        if isinstance(content, bytes)
        else content.count("[") + content.count("{")
    )
    if opening > DEPTH:  # which is seldom, and quickly seen
        _check(value)
    return value


def toml_of(path: Path, most: int = TABLES) -> dict[str, Any]:
    """The tables of a TOML file. Raises OSError; ValueError, TooMuch where they are nested too
    deeply.
    """
    try:
        found = tomllib.loads(text(path, most))
    except RecursionError:
        raise TooMuch(f"nested deeper than {DEPTH} levels") from None
    _check(found)
    return found


def _check(value: Any) -> None:
    """Raise TooMuch where a value has too many levels."""
    level, depth = [value], 0
    while level:
        if depth > DEPTH:
            raise TooMuch(f"nested deeper than {DEPTH} levels")
        level = [inner for one in level for inner in _inside(one)]
        depth += 1


def _inside(value: Any) -> list[Any]:
    found = value.values() if isinstance(value, dict) else value
    return [one for one in found if isinstance(one, dict | list)]
