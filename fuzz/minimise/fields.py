"""Simpler fields of one step's decoded body, level by level of the schema's tree.

A field is simple when it is null, empty or at its default, whichever of these its row of the schema
knows, in this order. Of an array only the elements stay that the complaint needs; of a text only
the shortest beginning.
"""

from __future__ import annotations

import copy
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from touchstone.fuzz.minimise import frame_bytes, record_batches
from touchstone.fuzz.minimise.search import Search, smallest
from touchstone.fuzz.minimise.steps import with_step
from touchstone.fuzz.mutators import frame
from touchstone.fuzz.script import Reference, Step
from touchstone.fuzz.segments import SIZE, frames_in
from touchstone.harness.model.path import PathError, get, parse, spell
from touchstone.reference_impl.wire.apis import API
from touchstone.reference_impl.wire.headers import Request, decode_request, encode_request
from touchstone.reference_impl.wire.schema import ZERO, Field, Struct, fields_of

Path = tuple[str | int, ...]
LONG = 8  # of a text that is worth shortening: characters or bytes


@dataclass(frozen=True)
class FieldPlace:
    """A value of a body: the way to it, the row of the schema, and whether it is an element of the
    array that the row describes.
    """

    path: Path
    row: Field
    value: Any
    is_element: bool = False


def opened(wire: bytes) -> Request | None:
    """The one whole request that these bytes are; None where they are something else."""
    frames, whole = frames_in(wire)
    if not whole or len(frames) != 1:
        return None
    try:
        return decode_request(frames[0])
    except ValueError:
        return None


def simpler(search: Search, number: int) -> bool:
    """Make the step simpler; False where its bytes are no request, or where the complaint is about
    how the bytes say it (an over-long varint, say): written anew, they are not complained about.
    """
    request = opened(search.best.steps[number].wire)
    if request is None:
        return False
    body = _Body(search, number, request)
    if not body.accepts(lambda _: None):
        return False
    body.accepts(lambda _: None, plain_header=True)
    _fewer_references(search, number)
    depth = 0
    while places := body.places(depth):
        _simplify(body, places)
        for path in [p.path for p in body.places(depth) if isinstance(p.value, list)]:
            _fewer_elements(body, path)
        depth += 1
    for path in [place.path for place in body.places() if _is_long(place)]:
        _shortest(body, path)
    for path in [p.path for p in body.places() if p.row.type == "records" and p.value]:
        record_batches.simpler(bytes(body.at(path)), partial(body.puts, path))
    frame_bytes.fewer_behind(search, number, body.end)
    return True


class _Body:
    """The best body so far of one step, and how it is tried with a change."""

    def __init__(self, search: Search, number: int, request: Request) -> None:
        self.search, self.number = search, number
        self.key, self.version = request.header.key, request.header.version
        self.header = request.header

    @property
    def step(self) -> Step:
        return self.search.best.steps[self.number]

    @property
    def request(self) -> Request:
        found = opened(self.step.wire)
        assert found is not None, "only what can be opened is ever accepted here"
        return found

    @property
    def end(self) -> int:
        """Offset in the frame at which its body ends; no schema describes what follows."""
        return self.request.end

    def places(self, depth: int | None = None) -> list[FieldPlace]:
        """The values of the best body at this depth (from 0), or all of them."""
        rows = API[self.key].request.fields
        found = _places(rows, self.version, self.request.body, ())
        return [place for place in found if depth is None or _depth(place) == depth]

    def at(self, path: Path) -> Any:
        return get(self.request.body, spell(path))

    def puts(self, path: Path, value: Any) -> bool:
        return self.accepts(lambda body: _put(body, path, value))

    def accepts(
        self,
        change: Callable[[Struct], object],
        *,
        base: Struct | None = None,
        references: Sequence[Reference] | None = None,
        plain_header: bool = False,
    ) -> bool:
        """Whether the complaint holds when `change` has changed the body in place: the best one, or
        a copy of `base`. Of the references those stay whose place is still there.
        """
        request, step = self.request, self.step
        body = copy.deepcopy(request.body if base is None else base)
        change(body)
        header = request.header
        try:
            written = encode_request(
                header.key, header.version, header.correlation_id,
                None if plain_header else header.client_id, body,
                tags={} if plain_header else header.tags,
            )  # fmt: skip
        except (ValueError, struct.error):
            return False
        wire = frame(written + step.wire[SIZE + request.end :])
        asked = step.references if references is None else references
        kept = tuple(one for one in asked if _leads(body, one.into))
        fresh = replace(step, wire=wire, references=kept)
        return self.search.accepts(with_step(self.search.best, self.number, fresh))


def _places(rows: Any, version: int, struct_: Struct, way: Path) -> Iterator[FieldPlace]:
    for row in fields_of(rows, version):
        path, value = (*way, row.name), struct_.get(row.name)
        yield FieldPlace(path, row, value)
        if isinstance(value, list):
            for index, element in enumerate(value):
                if row.element == "struct":
                    yield from _places(row.fields, version, element, (*path, index))
                else:
                    yield FieldPlace((*path, index), row, element, is_element=True)
        elif isinstance(value, dict) and row.type == "struct":
            yield from _places(row.fields, version, value, path)


def _depth(place: FieldPlace) -> int:
    """How many structs and arrays are around it."""
    return sum(isinstance(part, str) for part in place.path) - 1 + place.is_element


def options(place: FieldPlace, version: int) -> list[Any]:
    """The simpler values of a place, the simplest first; none where it is as simple as it gets."""
    row = place.row
    kind = row.element if place.is_element else row.type
    found: list[Any] = []
    if row.is_tagged(version) and not place.is_element:
        found.append(row.default_value(version))  # then it takes no byte at all
    if row.is_nullable(version) and not place.is_element:
        found.append(None)
    if kind.startswith("[]"):
        found.append([])
    elif kind != "struct":
        found += [ZERO.get(kind, 0)] if place.is_element else [
            row.default_value(version), ZERO.get(kind, 0)
        ]  # fmt: skip
    simple: list[Any] = []
    for value in found:
        if value == place.value and type(value) is type(place.value):
            break
        if value not in simple and not (value is None and not row.is_nullable(version)):
            simple.append(value)
    return simple


def _simplify(body: _Body, places: list[FieldPlace]) -> None:
    """Every place of a level at its simplest value, but for those that must not; these are tried at
    their next simple value.
    """
    rank = 0
    while choices := {
        place.path: simple[rank]
        for place in places
        if len(simple := options(place, body.version)) > rank
    }:
        staying = smallest(list(choices), _all_but(body, choices))
        places = [place for place in places if place.path in staying]
        rank += 1


def _all_but(body: _Body, choices: dict[Path, Any]) -> Callable[[list[Path]], bool]:
    """What says whether it is enough that these places stay, and all others get their choice."""
    base = body.request.body

    def enough(staying: list[Path]) -> bool:
        def change(now: Struct) -> None:
            for path in choices.keys() - set(staying):
                _put(now, path, copy.deepcopy(choices[path]))

        return body.accepts(change, base=base)

    return enough


def _fewer_elements(body: _Body, path: Path) -> None:
    base, references = body.request.body, body.step.references
    whole: list[Any] = body.at(path)
    if len(whole) > 1:
        smallest(
            range(len(whole)),
            lambda kept: bool(kept) and body.accepts(
                lambda now: _put(now, path, [copy.deepcopy(whole[index]) for index in kept]),
                base=base,
                references=[one for old in references if (one := _moved(old, path, kept))],
            ),
        )  # fmt: skip


def _moved(reference: Reference, array: Path, kept: list[int]) -> Reference | None:
    """The reference when of an array these elements stay."""
    way = parse(reference.into)
    if tuple(way[: len(array)]) != array or len(way) == len(array):
        return reference
    index = way[len(array)]
    if index not in kept or not isinstance(index, int):
        return None
    way[len(array)] = kept.index(index)
    return replace(reference, into=spell(way))


def _fewer_references(search: Search, number: int) -> None:
    step = search.best.steps[number]
    smallest(
        step.references,
        lambda kept: search.accepts(
            with_step(search.best, number, replace(step, references=tuple(kept)))
        ),
    )


def _is_long(place: FieldPlace) -> bool:
    return (
        isinstance(place.value, str | bytes)
        and place.row.element not in ("records", "uuid")
        and len(place.value) > LONG
    )


def _shortest(body: _Body, path: Path) -> None:
    """The shortest beginning of a text that is enough, taking it that a longer one is too."""
    text = body.at(path)
    enough, too_short = len(text), 0
    while enough - too_short > 1:
        length = (enough + too_short) // 2
        if body.puts(path, text[:length]):
            enough = length
        else:
            too_short = length


def _put(body: Any, path: Path, value: Any) -> None:
    *way, last = path
    holder = body
    for part in way:
        holder = holder[part]
    holder[last] = value


def _leads(body: Struct, path: str) -> bool:
    try:
        get(body, path)
    except PathError:
        return False
    return True
