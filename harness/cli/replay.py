"""`touchstone replay BUNDLE --target T`: the same case on a target again, outside pytest.

The scenario, the expectation and the oracle's transcript come from the bundle, so nothing else is
needed: not the suites, not a recording, not Java. Names are new, since the old topics may be there.
It is judged as a run judges it (`run.again`), so what a run forgives or knows is no difference.
"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from touchstone.harness import shown
from touchstone.harness.cli import holding
from touchstone.harness.cli.following import follows
from touchstone.harness.cli.logging_in import logs_in
from touchstone.harness.cli.values import FOLDER, SECONDS
from touchstone.harness.judgement import bundle, card
from touchstone.harness.judgement.verdict import BROKEN, CONFORMS, DIVERGES
from touchstone.harness.run import again, asked
from touchstone.harness.targets import parse

EXITS = {CONFORMS: 0, DIVERGES: 1, BROKEN: 2}


def _prefix(ctx: click.Context, parameter: click.Parameter, text: str | None) -> str | None:
    """Check how names are to begin."""
    try:
        asked.check_prefix(text or "")
    except ValueError as wrong:
        raise click.UsageError(str(wrong)) from wrong
    return text


@click.command()
@click.argument("path", metavar="BUNDLE",
                type=click.Path(exists=True, dir_okay=False, path_type=Path))  # fmt: skip
@click.option("--target", "word", required=True, metavar="T", help="Where to send it.")
@click.option("--out", type=FOLDER, help="Write the new bundle here.")
@click.option("--deadline", type=SECONDS, default=10.0, help="Seconds per step.")
@click.option("--prefix", metavar="TEXT", callback=_prefix,
              help="Of all names that it makes; as in the run that stored it.")  # fmt: skip
@holding.names_release
@follows
@logs_in
def command(
    path: Path, word: str, out: Path | None, deadline: float, prefix: str | None,
    release: str | None,
) -> None:  # fmt: skip
    """Send a stored case to a target and judge it again. Its names begin as in the run that stored
    it, unless --prefix says how, and it is held against the Kafka whose answers the bundle has.

    Exit code 0: it conforms, or a pin knows it; 1: it differs, 2: the harness broke, 3: it could
    not be judged.
    """
    old = bundle.read(path)
    target = parse(word)
    holding.check(target, release)
    try:
        found = again.replayed(old, target, deadline, word=word, prefix=prefix, release=release)
    except again.OtherRelease as other:
        raise click.UsageError(str(other)) from other
    verdict, new = found.judgement.verdict, found.bundle
    differs = new is not None and not verdict.conforms
    told = card.lines(card.of_bundle(new)) if new and differs else [str(verdict)]
    told += [f"held against Kafka {found.against.release}: {found.against.reason}"]
    told += [f"at first: {one.verdict.reason}"] if (one := found.judgement.at_first) else []
    told += [f"known: {found.known}"] if found.known else []
    click.echo("\n".join(map(shown.block, [f"{old.case} on {word}", *told, *found.told])))
    if verdict.kind != old.verdict.get("kind"):
        before = f"it was {old.verdict.get('kind')}: {old.verdict.get('reason')}"
        click.echo(shown.block(before))
    if out is not None and new is not None:
        click.echo(f"wrote {bundle.write(new, out)}")
    sys.exit(0 if found.known else EXITS.get(verdict.kind, 3))
