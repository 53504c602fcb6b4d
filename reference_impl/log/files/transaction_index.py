"""`.txnindex`: the transactions of a segment that were aborted, for read-committed readers.

Entries of 34 bytes in the order of their markers: version 0, producer id, first and last offset,
and the last stable offset once the marker counted (KIP-98; TransactionIndex, AbortedTxn; LOG-28).
The file exists only where something was aborted.
"""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct
from typing import NamedTuple

from .errors import FileFormatError

ENTRY = Struct(">hqqqq")
VERSION = 0


class Aborted(NamedTuple):
    producer_id: int
    first_offset: int
    last_offset: int  # of the marker
    last_stable_offset: int


def encode(entries: Iterable[Aborted]) -> bytes:
    return b"".join(ENTRY.pack(VERSION, *entry) for entry in entries)


def decode(data: bytes) -> list[Aborted]:
    if len(data) % ENTRY.size:
        raise FileFormatError(len(data), f"no multiple of {ENTRY.size} bytes")
    found: list[Aborted] = []
    for at in range(0, len(data), ENTRY.size):
        version, *fields = ENTRY.unpack_from(data, at)
        if version > VERSION:
            raise FileFormatError(at, f"version {version} of an aborted transaction is unknown")
        entry = Aborted(*fields)
        if found and entry.last_offset <= found[-1].last_offset:
            raise FileFormatError(at, f"{entry} does not follow {found[-1]}")
        found.append(entry)
    return found
