"""Every edge once: each field of each (API key, version) pair at each edge of its type.

Drawn with replacement, 28,000 cases reached 39 % of 14,628 edges, and a broker that ends at one
value of one field was not seen to. So a campaign with `every_edge` sends each of them once, in an
order of its seed, before it draws anything. A field within a struct or an array that is null or
empty in every valid request is reached all the same: what leads to it is filled.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from touchstone.fuzz.draw import hash_of
from touchstone.fuzz.generator import GUARDED, MOST_PARTITIONS, Generator, Pair
from touchstone.fuzz.mutators.field_edge import of_element
from touchstone.reference_impl.wire.apis import API
from touchstone.reference_impl.wire.headers import encode_request
from touchstone.reference_impl.wire.schema import Field, Struct, fields_of

PREFIX = "edge "
"""How the fault of such a case begins; the path of its field follows."""
COUNTS = {(19, "topics.num_partitions"), (37, "topics.count")}
"""Fields whose high values a broker obeys, and is busy with for a while."""


class Edge(NamedTuple):
    """A field of a pair, and which of its edges."""

    pair: Pair
    path: str
    number: int

    @property
    def fault(self) -> str:
        return PREFIX + self.path


def is_edge(faults: Sequence[str]) -> bool:
    """Return whether a case with these faults is one of `every_edge`."""
    return bool(faults) and faults[0].startswith(PREFIX)


@lru_cache(maxsize=4)
def every_edge(pairs: tuple[Pair, ...], seed: int) -> list[Edge]:
    """Return each edge of these pairs once, in the order of the seed; GUARDED ones have none."""
    found = [
        Edge(pair, path, number)
        for pair in pairs
        if pair.key not in GUARDED
        for path, values in edges_of(pair).items()
        for number in range(len(values))
    ]
    random.Random(hash_of(seed, "every edge")).shuffle(found)
    return found


@lru_cache(maxsize=512)
def edges_of(pair: Pair) -> Mapping[str, tuple[Any, ...]]:
    """Return the path of each field of requests of this pair, with its edges."""
    found = _fields(API[pair.key].request.fields, pair.version, "")
    return {path: _harmless(pair.key, path, values) for path, values in found}


def _fields(
    rows: Iterable[Field], version: int, above: str
) -> Iterator[tuple[str, tuple[Any, ...]]]:
    for row in fields_of(list(rows), version):
        path = above + row.name
        none = (None,) if row.is_nullable(version) else ()
        if row.element == "struct":
            yield path, (*none, *([[]] if row.is_array else []))
            yield from _fields(row.fields, version, f"{path}.")
        elif row.is_array:
            yield path, (*none, [], *([value] for value in of_element(row)))
        elif row.type == "records":
            yield path, (*none, b"")
        else:
            yield path, (*none, *of_element(row))


def _harmless(key: int, path: str, values: tuple[Any, ...]) -> tuple[Any, ...]:
    if (key, path) not in COUNTS:
        return values
    return tuple(value for value in values if value <= MOST_PARTITIONS)


def frame_of(edge: Edge, generator: Generator, correlation_id: int) -> bytes:
    """Return a request, size included, that is valid but for this field."""
    pair, path = edge.pair, edge.path
    body = generator.body_through(pair, path.rpartition(".")[0])
    value = edges_of(pair)[path][edge.number]
    holder = _holder(body, path.split(".")[:-1])
    holder[path.rpartition(".")[2]] = value
    client = generator.draw.choice(("touchstone-fuzz", None))
    frame = encode_request(pair.key, pair.version, correlation_id, client, body)
    return len(frame).to_bytes(4, "big") + frame


def _holder(body: Struct, path: list[str]) -> Struct:
    """Return the struct at the end of a path; of an array its first element."""
    for name in path:
        inner = body[name]
        body = inner[0] if isinstance(inner, list) else inner
    return body
