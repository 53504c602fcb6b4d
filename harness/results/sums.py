"""The checksums of a run's files, written when the run has written everything else.

`SHA256SUMS` has the format of the program `sha256sum`, which can check it too. Whoever writes to a
run's folder last writes the file anew, so it always speaks of the whole folder.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

NAME = "SHA256SUMS"


def write(folder: Path) -> None:
    """Write the checksum of every file below the folder, in path order."""
    lines = [f"{_digest(folder / name)}  {name}\n" for name in _names(folder)]
    (folder / NAME).write_text("".join(lines), encoding="utf-8")


def complaints(folder: Path, needed: frozenset[str] = frozenset()) -> Iterator[str]:
    """What is not as it was when the checksums were written; `needed` are names that must have one.

    Raises OSError where a file cannot be read.
    """
    if not (folder / NAME).is_file():
        yield f"no {NAME}: nothing proves that the files are as they were written"
        return
    told: dict[str, str] = {}
    for number, line in enumerate((folder / NAME).read_text("utf-8", "replace").splitlines(), 1):
        digest, space, name = line.partition("  ")
        if not space or len(digest) != hashlib.sha256().digest_size * 2:
            yield f"{NAME}:{number}: not a checksum and a name"
        told[name] = digest
    for name, digest in told.items():
        path = folder / name
        if not path.is_file():
            yield f"{name}: it has a checksum in {NAME} and is not there"
        elif _digest(path) != digest:
            yield f"{name}: its checksum is not that of {NAME}: it was changed after the run"
    for name in sorted(needed - told.keys()):
        yield f"{name}: it has no checksum in {NAME}"


def _names(folder: Path) -> list[str]:
    found = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return sorted(name for name in found if name != NAME)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
