"""Checkpoint files: text of a version, a count, and a line for each entry.

One offset per partition (recovery points, high watermarks, log starts, cleaner progress) and, in a
partition's own folder, the offset at which each leader epoch began, are the same thing but for what
stands on a line. The count guards against a file that was cut short.

Sources: OffsetCheckpointFile, LeaderEpochCheckpointFile, CheckpointFile at 1.0.2 to 4.3.1; LOG-15.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from .errors import FileFormatError

VERSION = 0


def encode_offsets(offsets: Mapping[tuple[str, int], int]) -> bytes:
    """`topic partition offset` in the order given: Kafka's own order is that of a hash map."""
    return _encode((topic, index, offset) for (topic, index), offset in offsets.items())


def decode_offsets(data: bytes) -> dict[tuple[str, int], int]:
    found = {}
    for number, (topic, *numbers) in enumerate(_lines(data, 3), 3):
        index, offset = _integers(numbers, number)
        found[topic, index] = offset
    return found


def encode_epochs(epochs: Iterable[tuple[int, int]]) -> bytes:
    """`epoch start-offset`, oldest first."""
    return _encode(epochs)


def decode_epochs(data: bytes) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for number, fields in enumerate(_lines(data, 2), 3):
        epoch, start = _integers(fields, number)
        found.append((epoch, start))
    return found


def _encode(rows: Iterable[tuple[str | int, ...]]) -> bytes:
    lines = [" ".join(map(str, row)) for row in rows]
    return "".join(f"{line}\n" for line in [VERSION, len(lines), *lines]).encode()


def _lines(data: bytes, fields: int) -> list[list[str]]:
    """The words of each entry; FileFormatError for another version, count or shape."""
    if not data:
        return []  # a file that was made and never written: no epoch began yet (1.0.2, 2.2.1)
    try:
        lines = data.decode().splitlines()
    except UnicodeDecodeError as fault:
        raise FileFormatError(1, f"no text: {fault.reason}") from None
    if len(lines) < 2:
        raise FileFormatError(len(lines) + 1, "version and count are missing")
    (version,), (count,) = _integers([lines[0]], 1), _integers([lines[1]], 2)
    if version != VERSION:
        raise FileFormatError(1, f"version {version} of a checkpoint file is unknown")
    rows = [line.split() for line in lines[2:]]
    if len(rows) != count:
        raise FileFormatError(2, f"{count} entries are announced, {len(rows)} are there")
    for number, row in enumerate(rows, 3):
        if len(row) != fields:
            raise FileFormatError(number, f"{len(row)} words instead of {fields}")
    return rows


def _integers(words: Sequence[str], line: int) -> list[int]:
    try:
        return [int(word) for word in words]
    except ValueError:
        raise FileFormatError(line, f"no number in {' '.join(words)!r}") from None
