"""Where real Kafka answers UNKNOWN_SERVER_ERROR, and to what: the rows of `unknown_errors.toml`.

A row forgives an answer of -1 at its path only to a request that somebody broke, and where `says`
names fields, only if one of these is as it says: to anything else -1 is an exception of a handler.
What follows from the state of the broker alone (`by_state`) is forgiven whatever was asked.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from touchstone.harness.model.record_view import view
from touchstone.reference_impl.wire.apis import by_name
from touchstone.reference_impl.wire.embedded.consumer_protocol import decode_subscription
from touchstone.reference_impl.wire.schema import Struct

PATH = Path(__file__).parent / "unknown_errors.toml"
CLAUSE = re.compile(r"(\S+) (is not|is below|is|are) (.+)")


def leaves(value: Any, path: list[str]) -> Iterator[Any]:
    """The values at a path of names, of every element of the arrays on the way."""
    if isinstance(value, list):
        for one in value:
            yield from leaves(one, path)
    elif not path:
        yield value
    elif isinstance(value, dict) and path[0] in value:
        yield from leaves(value[path[0]], path[1:])


def are_odd_records(values: list[Any]) -> bool:
    """Whether there are none, or a batch does not decode or is compressed, or is a message set:
    Kafka looks only into what it decompresses or converts, and does not expect what it finds there.
    """
    return any(
        entry.get("magic", 0) < 2 or "fault" in entry or entry["attributes"] & 7
        or entry["crc"] != entry["crc_computed"]
        or entry.get("records_count", len(entry["records"])) != len(entry["records"])
        for records in values
        for entry in view(records) or [{}]
    )  # fmt: skip


def are_odd_protocols(values: list[Any]) -> bool:
    """Whether a name comes twice, or a subscription does not decode."""
    names = [one["name"] for one in values]
    return len(set(names)) < len(names) or not all(_decodes(one["metadata"]) for one in values)


def _decodes(metadata: bytes) -> bool:
    try:
        decode_subscription(bytes(metadata))
    except (ValueError, TypeError):
        return False
    return True


ODD: dict[str, Callable[[list[Any]], bool]] = {
    "odd records": are_odd_records,
    "odd protocols": are_odd_protocols,
}


class Clause(NamedTuple):
    """A condition of one field of a request: `words` are as the file has them."""

    path: list[str]
    relation: str
    words: str

    def holds(self, body: Struct) -> bool:
        found = list(leaves(body, self.path))
        if self.relation == "are":
            return bool(found) and ODD[self.words](found)
        if self.relation == "is":  # there
            return bool(found)
        numbers = [int(word) for word in self.words.split()]
        if self.relation == "is below":
            return any(value < numbers[0] for value in found)
        return any(value not in numbers for value in found)


@cache
def reviewed() -> dict[tuple[int, str], tuple[Clause, ...]]:
    """The clauses by API key and path (without indexes); none where any broken request is enough.

    Raises ValueError for a clause that cannot be read.
    """
    found: dict[tuple[int, str], tuple[Clause, ...]] = {}
    for row in tomllib.loads(PATH.read_text())["error"]:
        found[by_name(row["api"]).key, row["path"]] = tuple(map(clause, row.get("says", ())))
    return found


@cache
def brought_about_by_state() -> frozenset[tuple[int, str]]:
    """The API keys and paths where no request shows why, so any may be answered so."""
    rows = tomllib.loads(PATH.read_text())["error"]
    return frozenset((by_name(row["api"]).key, row["path"]) for row in rows if row.get("by_state"))


def clause(text: str) -> Clause:
    read = CLAUSE.fullmatch(text)
    if read is None or (read[2] == "are" and read[3] not in ODD):
        raise ValueError(f"{PATH.name}: no clause: {text!r}")
    return Clause(read[1].split("."), read[2], read[3])


def is_forgiven(key: int, path: str, body: Struct | None) -> bool:
    """Whether a broken request, of this body where that can be read, may be answered so here."""
    clauses = reviewed().get((key, path))
    if clauses is None:
        return False
    return body is None or not clauses or any(one.holds(body) for one in clauses)
