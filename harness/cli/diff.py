"""`touchstone diff`: a failing case as a card, then both answers field by field with byte offsets.

The card says what is claimed, what was asked and where both answers part
(`harness/judgement/card.py`). Those are of normalised answers; the view below is
what was really received, so names and ids show as they were. Fields that differ are marked `>`,
the first `>>`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from touchstone.harness.cli.values import FILE
from touchstone.harness.judgement import anatomy, bundle, card
from touchstone.harness.judgement.anatomy import Leaf
from touchstone.harness.judgement.bundle import BadBundle
from touchstone.harness.judgement.compare import Difference, compare
from touchstone.harness.model import transcript
from touchstone.harness.model.provenance import Provenance
from touchstone.harness.model.transcript import RoundTrip, Transcript
from touchstone.harness.run import pcap
from touchstone.reference_impl.wire.apis import API
from touchstone.reference_impl.wire.errors import name_of

WIDTH = 34
CONTEXT = 3
LISTED = 40


@click.command()
@click.argument("a", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("b", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--all", "everything", is_flag=True, help="All steps and fields.")
@click.option("--hex", "as_hex", is_flag=True, help="Both frames of a differing step as hex too.")
@click.option(
    "--pcap",
    "capture",
    type=FILE,
    metavar="FILE",
    help="Write both sides as a packet capture, for Wireshark.",
)
def command(a: Path, b: Path | None, everything: bool, as_hex: bool, capture: Path | None) -> None:
    """Show where two transcripts differ, field by field.

    A is a bundle (shown as a card first; its oracle is compared with its target), or A is the
    oracle's transcript and B the target's. Exit code 0: no difference, 1: some, 3: a file cannot
    be read.
    """
    found_card = None if b is not None else card.of_bundle(bundle.read(a), str(a))
    oracle, target = sides(a, b)
    if capture is not None:
        capture.write_bytes(pcap.dumps((oracle, target)))
        click.echo(f"{capture}: oracle 198.51.100.1:9092, target 198.51.100.2:9092")
    found = compare(oracle, target)
    if found_card is not None:
        click.echo("\n".join([*card.lines(found_card), ""]))
    for line in render(oracle, target, found, everything=everything, as_hex=as_hex):
        click.echo(line)
    sys.exit(1 if found else 0)


def sides(a: Path, b: Path | None) -> tuple[Transcript, Transcript]:
    """(oracle, target) of one bundle, or of two files that are transcripts or bundles."""
    if b is not None:
        return _target_of(a), _target_of(b)
    found = bundle.read(a)
    if found.oracle is None:
        raise BadBundle(f"{a}: it holds no oracle's transcript; name a second file")
    return found.oracle, found.target


def _target_of(path: Path) -> Transcript:
    return transcript.read(path) if path.suffix == ".jsonl" else bundle.read(path).target


def render(
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
            yield from _step(label, *pair, places.get(label, []), first, everything)
            if as_hex:
                yield from _hex(*pair)


def _who(one: Transcript) -> str:
    head = one.header
    if head.origin is not None:
        return f"{Provenance.from_json(head.origin)}, nonce {head.nonce}"
    release = f" (Kafka {head.release})" if head.release else ""
    return f"{head.target}{release}, {head.kind}, nonce {head.nonce}"


def _step(
    label: str, left: RoundTrip | None, right: RoundTrip | None, places: list[str],
    first: tuple[str, str] | None, everything: bool,
) -> Iterator[str]:  # fmt: skip
    asked = left or right
    assert asked is not None
    yield f"step {asked.step} {label!r}: {_asked(asked)}"
    yield f"  {'':2} {'':36} {'oracle: ' + _outcome(left):<{WIDTH}} target: {_outcome(right)}"
    rows = list(_aligned(left, right))
    marked = [any(_under(path, place) for place in places) for path, *_ in rows]
    leading = first[1] if first and first[0] == label else None
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
