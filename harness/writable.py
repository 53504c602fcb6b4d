"""Whether something can be written at a place, asked before hours of work are written there."""

from __future__ import annotations

import importlib
import os
from pathlib import Path


def why_not(path: Path, *, folder: bool) -> str | None:
    """Return why no folder, or no file, can be written at `path`; None where it can.

    A byte is written where it would stand, to a file that is gone at once: permissions mean nothing
    to root, and say nothing of a disk that is full or of /proc. Nothing is left behind, so what
    else is wrong with a command can still be found.
    """
    try:
        if folder and path.exists() and not path.is_dir():
            return "it is a file"
        if not folder and path.exists():
            return _of_file(path)
        place = next(one for one in (path, *path.absolute().parents) if one.exists())
        if not place.is_dir():
            return f"{place} is a file"
        tempfile = importlib.import_module("tempfile")  # 8 modules, which a broker does without
        with tempfile.TemporaryFile(dir=place, buffering=0) as file:
            file.write(b"\n")
    except OSError as error:
        return error.strerror or str(error)
    return None


def write_whole(path: Path, text: str) -> None:
    """Write a file so that it holds what it held, or all of the text: also where a disk fills up.
    Raises OSError.
    """
    place = path.resolve()
    if place.exists() and not place.is_file():
        place.write_text(text, encoding="utf-8")  # a device or a pipe, which nothing can replace
        return
    fresh = place.with_name(f".{place.name}.new")
    try:
        fresh.write_text(text, encoding="utf-8")
        fresh.replace(place)
    except OSError:
        fresh.unlink(missing_ok=True)
        raise


def _of_file(path: Path) -> str | None:
    """A file that is there keeps what it holds. Of a device it is only asked who may write."""
    if path.is_dir():
        return "it is a folder"
    return None if os.access(path, os.W_OK) else "it may not be written"
