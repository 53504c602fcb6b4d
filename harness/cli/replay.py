"""`touchstone replay BUNDLE --target T`: the same bytes to a target again, outside pytest.

The scenario, the expectation and the oracle's transcript come from the bundle, so nothing else is
needed: not the suites, not a recording, not Java. Names are new, since the old topics may be there.
"""

from __future__ import annotations

import dataclasses
import secrets
import sys
from pathlib import Path

import click

from touchstone.harness import driver, shown
from touchstone.harness.cli.following import follows
from touchstone.harness.cli.logging_in import logs_in
from touchstone.harness.cli.values import FOLDER, SECONDS
from touchstone.harness.judgement import bundle, card
from touchstone.harness.judgement.verdict import BROKEN, CONFORMS, DIVERGES, judge
from touchstone.harness.targets import parse

EXITS = {CONFORMS: 0, DIVERGES: 1, BROKEN: 2}


@click.command()
@click.argument("path", metavar="BUNDLE",
                type=click.Path(exists=True, dir_okay=False, path_type=Path))  # fmt: skip
@click.option("--target", "word", required=True, metavar="T", help="Where to send it.")
@click.option("--out", type=FOLDER, help="Write the new bundle here.")
@click.option("--deadline", type=SECONDS, default=10.0, help="Seconds per step.")
@follows
@logs_in
def command(path: Path, word: str, out: Path | None, deadline: float) -> None:
    """Send a stored case to a target and judge it again.

    Exit code 0: it conforms, 1: it differs, 2: the harness broke, 3: it could not be judged.
    """
    old, target = bundle.read(path), parse(word)
    try:
        endpoint = target.start(old.scenario.shape)
        seen = driver.run(
            old.scenario, endpoint, nonce=secrets.token_hex(4), deadline_s=deadline,
            target=target.name, release=target.release,
        )  # fmt: skip
    finally:
        target.stop()
    verdict = judge(
        old.expectation, seen, old.oracle, release=old.release, api=old.api, version=old.version,
        strict=old.strict,
    )  # fmt: skip
    new = dataclasses.replace(old, target=seen)
    told = [str(verdict)] if verdict.conforms else card.lines(card.of_bundle(new))
    click.echo("\n".join(map(shown.block, [f"{old.case} on {target.name}", *told])))
    if verdict.kind != old.verdict.get("kind"):
        before = f"it was {old.verdict.get('kind')}: {old.verdict.get('reason')}"
        click.echo(shown.block(before))
    if out is not None:
        summary = {
            "kind": verdict.kind, "connection": verdict.connection, "reason": verdict.reason,
            "signature": verdict.signature, "stack": verdict.stack,
        }  # fmt: skip
        written = bundle.write(dataclasses.replace(new, verdict=summary), out)
        click.echo(f"wrote {written}")
    sys.exit(EXITS.get(verdict.kind, 3))
