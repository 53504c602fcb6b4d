"""Fewer bytes, where no schema says what they are: a frame that cannot be read, or what is behind a
body. The size in front is right, or lies as it did.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from touchstone.fuzz.minimise.search import Search, smallest
from touchstone.fuzz.minimise.steps import with_step
from touchstone.fuzz.mutators import FIXED_HEADER, frame
from touchstone.fuzz.segments import SIZE, frames_in
from touchstone.reference_impl.wire.apis import API
from touchstone.reference_impl.wire.headers import encode_request
from touchstone.reference_impl.wire.schema import fields_of


def shorter(search: Search, number: int) -> None:
    """The fewest frames, then the fewest bytes behind the first frame's key, version and id."""
    wire = search.best.steps[number].wire
    frames, whole = frames_in(wire)
    if whole and len(frames) > 1:
        smallest(
            frames,
            lambda kept: bool(kept) and _sends(search, number, b"".join(map(frame, kept))),
        )
    for plain in plain_frames(search.best.steps[number].wire):
        if _sends(search, number, plain):
            break
    wire = search.best.steps[number].wire
    whole = frames_in(wire)[1] and len(frames_in(wire)[0]) == 1
    head, rest = wire[:FIXED_HEADER], wire[FIXED_HEADER:]

    def enough(kept: list[int]) -> bool:
        left = head + bytes(rest[at] for at in kept)
        return _sends(search, number, frame(left[SIZE:]) if whole else left)

    if rest:
        smallest(range(len(rest)), enough)


def plain_frames(wire: bytes) -> Iterator[bytes]:
    """Frames with the same first bytes, and behind them the plainest that a schema knows: the API's
    oldest and newest body, for a peer that reads on although it does not know the version.
    """
    key = int.from_bytes(wire[SIZE : SIZE + 2], "big")
    if len(wire) < FIXED_HEADER or key not in API:
        return
    request = API[key].request
    for version in (request.all_versions()[0], API[key].latest):
        body = {row.name: row.default_value(version) for row in fields_of(request.fields, version)}
        behind = encode_request(key, version, 0, None, body)[FIXED_HEADER - SIZE :]
        if FIXED_HEADER + len(behind) < len(wire):
            yield frame(wire[SIZE:FIXED_HEADER] + behind)


def fewer_behind(search: Search, number: int, end: int) -> None:
    """The fewest bytes behind offset `end` of the step's frame."""
    wire = search.best.steps[number].wire
    body, behind = wire[SIZE : SIZE + end], wire[SIZE + end :]

    def enough(kept: list[int]) -> bool:
        return _sends(search, number, frame(body + bytes(behind[at] for at in kept)))

    if behind:
        smallest(range(len(behind)), enough)


def _sends(search: Search, number: int, wire: bytes) -> bool:
    step = replace(search.best.steps[number], wire=wire)
    return search.accepts(with_step(search.best, number, step))
