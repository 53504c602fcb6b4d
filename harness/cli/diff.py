"""`touchstone diff`: a failing case as a card, then both answers field by field with byte offsets.

The card says what is claimed, what was asked and where both answers part
(`harness/judgement/card.py`). Those are of normalised answers; the view below it
(`harness/results/answers.py`) is what was really received, so names and ids show as they were.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from touchstone.harness import shown
from touchstone.harness.cli.values import FILE
from touchstone.harness.judgement import bundle, card
from touchstone.harness.judgement.bundle import BadBundle
from touchstone.harness.judgement.compare import Difference, compare
from touchstone.harness.model import transcript
from touchstone.harness.model.transcript import Transcript
from touchstone.harness.results import answers
from touchstone.harness.run import pcap


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
        for line in found_card.client.splitlines():
            click.echo(shown.line(f"    {line}"))
    for line in lines(oracle, target, found, everything=everything, as_hex=as_hex):
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


def lines(
    oracle: Transcript, target: Transcript, found: list[Difference], *,
    everything: bool = False, as_hex: bool = False,
) -> Iterator[str]:  # fmt: skip
    """Yield the report as a terminal shows it: nothing in an answer moves a cursor."""
    said = answers.lines(oracle, target, found, everything=everything, as_hex=as_hex)
    return map(shown.line, said)
