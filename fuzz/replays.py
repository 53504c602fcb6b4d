"""Files played again, each by who complained: an oracle, a watch, or the target's death."""

from __future__ import annotations

from pathlib import Path

import click

from touchstone.fuzz import ring, triage
from touchstone.fuzz.campaign import Campaign
from touchstone.fuzz.corpus_run import prepare
from touchstone.fuzz.deaths import ORACLE
from touchstone.fuzz.engine import Engine
from touchstone.fuzz.oracles import ORACLES
from touchstone.fuzz.runner import is_alive
from touchstone.fuzz.running import RunningTarget
from touchstone.fuzz.watches import WATCHES
from touchstone.fuzz.watches.watch import Wrong
from touchstone.harness.model.target import Unavailable

FOUND = 1


def replay_case(path: Path, running: RunningTarget) -> int:
    """Send a stored case once more and say what happens; all oracles judge unless it names one."""
    stored, link = triage.load(path), running.link
    prepare(link, [stored.case], fresh=False)
    if stored.case.oracle in WATCHES:
        return replay_watched(stored, running)
    named = (
        [stored.case.oracle] if stored.case.oracle else ORACLES.keys() - {"keeps_the_connection"}
    )
    oracles = {name: oracle for name, oracle in ORACLES.items() if name in named}
    judged = Campaign("replay", "", "generated", {}, (0, 0), oracles, 1)
    try:
        shown, findings = triage.replayed(judged, stored, link)
    except ConnectionError:
        if stored.case.oracle != ORACLE:
            raise
        shown, findings = [], []
    if stored.case.oracle == ORACLE and not is_alive(link.address):
        click.echo(f"{stored.case.name}: the target died of it: {running.obituary()}")
        return FOUND
    for line in shown:
        click.echo(f"{stored.case.name}: {line}")
    for finding in findings:
        click.echo(f"  {finding.oracle}: {finding.sentence}")
    return FOUND if findings else 0


def replay_ring(path: Path, running: RunningTarget) -> int:
    """Send once more what a target was sent in its last seconds, and say whether it lives."""
    running.prepare()
    cases, died = ring.read(path), False
    try:
        with Engine(running.address) as engine:
            for _ in engine.play(cases):
                pass
    except ConnectionError:
        died = True
    if died or not is_alive(running.address):
        click.echo(f"{path.name}: the target died of {len(cases)} frames: {running.obituary()}")
        return FOUND
    click.echo(f"{path.name}: the target outlived {len(cases)} frames")
    return 0


def replay_watched(stored: triage.Stored, running: RunningTarget) -> int:
    """Send a stored case once more under the watch that complained about it."""
    if running.watched is None:
        raise Unavailable("watches look at a target over sockets, not in process")
    watch = WATCHES[str(stored.case.oracle)]()
    judged = Campaign("replay", "", "generated", {}, (0, 0), {}, 1)
    try:
        watch.before(running.watched)
        for line in triage.replayed(judged, stored, running.link)[0]:
            click.echo(f"{stored.case.name}: {line}")
        said = watch.check(0.0)
    except Wrong as wrong:
        said = str(wrong)
    finally:
        watch.close()
    if said:
        click.echo(f"  {stored.case.oracle}: {said}")
    return FOUND if said else 0
