"""Both answers of a case beside each other, field by field with byte offsets, as text. Pure.

It is what was really received, so names and ids show as they were; differences are those of the
normalised answers. Fields that differ are marked `>`, the first `>>`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from touchstone.harness.judgement import anatomy
from touchstone.harness.judgement.anatomy import Leaf
from touchstone.harness.judgement.compare import Difference
from touchstone.harness.model.provenance import Provenance
from touchstone.harness.model.transcript import RoundTrip, Transcript
from touchstone.reference_impl.wire.apis import API
from touchstone.reference_impl.wire.errors import name_of

WIDTH = 34
CONTEXT = 3
LISTED = 40


def lines(
    oracle: Transcript, target: Transcript, found: list[Difference], *,
    everything: bool = False, as_hex: bool = False,
) -> Iterator[str]:  # fmt: skip
    """The lines of the report."""
    yield f"oracle {_who(oracle)}"
    yield f"target {_who(target)}"
    yield f"{len(found)} differences" if found else "no difference"
    for difference in found[:LISTED]:
        yield f"  {difference}"
    if len(found) > LISTED:
        yield f"  ... and {len(found) - LISTED} more"
    places: dict[str, list[str]] = {}
    for difference in found:
        places.setdefault(difference.step, []).append(difference.path)
    first = (found[0].step, found[0].path) if found else None
    for label in dict.fromkeys([*oracle.by_label, *target.by_label]):
        if everything or label in places:
            pair = oracle.by_label.get(label), target.by_label.get(label)
            yield ""
            leading = first[1] if first and first[0] == label else None
            yield from step(label, *pair, places.get(label, []), leading, everything)
            if as_hex:
                yield from _hex(*pair)


def events(seen: Transcript) -> dict[str, list[str]]:
    """What happened in each step, a line an event, by the step's label: the view of a client's
    case, in which a step is a command and what the client then did.
    """
    found: dict[str, list[str]] = {}
    for one in seen.events:
        asked = "" if one.api_name is None else f" {one.api_name} v{one.version}"
        note = f" {one.note}" if one.note else ""
        line = f"{one.at_us / 1000:10.1f} ms  {one.connection} {one.direction}{asked}{note}"
        found.setdefault(seen.label(one.step), []).append(line)
    return found


def _who(one: Transcript) -> str:
    head = one.header
    if head.origin is not None:
        return f"{Provenance.from_json(head.origin)}, nonce {head.nonce}"
    release = f" (Kafka {head.release})" if head.release else ""
    return f"{head.target}{release}, {head.kind}, nonce {head.nonce}"


def step(
    label: str, left: RoundTrip | None, right: RoundTrip | None, places: Sequence[str] = (),
    leading: str | None = None, everything: bool = True,
) -> Iterator[str]:  # fmt: skip
    """The lines of one step that at least one side attempted. `places` are paths that differ, of
    which `leading` is marked as the first; without `everything` only what is near them is shown.
    """
    asked = left or right
    assert asked is not None, "a step has a round trip of one side"
    yield f"step {asked.step} {label!r}: {_asked(asked)}"
    yield f"  {'':2} {'':36} {'oracle: ' + _outcome(left):<{WIDTH}} target: {_outcome(right)}"
    rows = list(_aligned(left, right))
    marked = [any(_under(path, place) for place in places) for path, *_ in rows]
    for index, (path, mine, theirs) in enumerate(rows):
        near = any(marked[max(0, index - CONTEXT) : index + CONTEXT + 1])
        if not (everything or near):
            continue
        sign = ">" if marked[index] else ""
        if marked[index] and leading is not None and _under(path, leading):
            sign, leading = ">>", None
        yield f"  {sign:2} {path:<36} {_cell(path, mine):<{WIDTH}} {_cell(path, theirs)}"


def _aligned(
    left: RoundTrip | None, right: RoundTrip | None
) -> Iterator[tuple[str, Leaf | None, Leaf | None]]:
    sides = [
        {} if side is None else {leaf.path: leaf for leaf in anatomy.response_leaves(side)}
        for side in (left, right)
    ]
    for path in dict.fromkeys([*sides[0], *sides[1]]):
        yield path, sides[0].get(path), sides[1].get(path)


def _under(path: str, place: str) -> bool:
    """Whether a leaf is what a difference names, or (in records) what holds it."""
    if path == place:
        return True
    return place.startswith((f"{path}[", f"{path}.")) or path.startswith((f"{place}[", f"{place}."))


def _cell(path: str, leaf: Leaf | None) -> str:
    if leaf is None:
        return "(missing)"
    return f"@{leaf.start:<4} {_short(path, leaf.value)}"


def _short(path: str, value: Any) -> str:
    if isinstance(value, bytes):
        text = f"{len(value)} bytes {value[:8].hex()}" + ("..." if len(value) > 8 else "")
    elif path.endswith("error_code") and isinstance(value, int):
        text = f"{value} {name_of(value)}"
    else:
        text = repr(value)
    return text if len(text) <= WIDTH - 6 else text[: WIDTH - 9] + "..."


def _asked(trip: RoundTrip) -> str:
    event = trip.event
    if event.api is None or event.api not in API:
        return f"{len(event.raw)} raw bytes on {event.connection!r}"
    return f"{API[event.api].name} v{event.version} on {event.connection!r}"


def _outcome(trip: RoundTrip | None) -> str:
    if trip is None:
        return "not attempted"
    if trip.received is not None:
        return f"{len(trip.received.raw)} bytes, {trip.received.at_us / 1000:.1f} ms"
    return trip.ending.direction if trip.ending else "nothing"


def _hex(left: RoundTrip | None, right: RoundTrip | None) -> Iterator[str]:
    for word, side in (("oracle", left), ("target", right)):
        if side is None or side.received is None:
            continue
        yield f"  {word}'s frame"
        raw = side.received.raw
        for at in range(0, len(raw), 16):
            row = raw[at : at + 16]
            text = "".join(chr(b) if 32 <= b < 127 else "." for b in row)
            yield f"    {at:06x}  {row.hex(' '):<47}  {text}"
