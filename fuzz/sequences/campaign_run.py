"""Campaigns of scripts from the command line: where the cases come from, what is said of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import click

from touchstone.fuzz.account import Account
from touchstone.fuzz.campaign import BadCampaign, Campaign, Finding, Result, chosen
from touchstone.fuzz.deaths import MOST, ORACLE
from touchstone.fuzz.machines import MACHINES
from touchstone.fuzz.machines.machine import Machine
from touchstone.fuzz.machines.spoken import spoken
from touchstone.fuzz.machines.walked_scripts import Cell, WalkedScripts
from touchstone.fuzz.oracles import ORACLES
from touchstone.fuzz.runner import DYING_S, Link, is_alive
from touchstone.fuzz.sequences import script_file
from touchstone.fuzz.sequences.judge import complaint, signature_of
from touchstone.fuzz.sequences.mutated import Sequences
from touchstone.fuzz.sequences.mutations import mutations
from touchstone.fuzz.sequences.player import Player
from touchstone.fuzz.sequences.scripted import (
    AS_EXPECTED,
    Case,
    Scripted,
    cause_of,
    walked_cases,
)
from touchstone.fuzz.sequences.sources import scripts_in
from touchstone.fuzz.triage import Cause, write
from touchstone.harness.model import advertised
from touchstone.harness.model.target import Target


def machines_of(campaign: Campaign) -> list[Machine]:
    """Raises BadCampaign naming a machine that does not exist."""
    if campaign.machines == ("*",):
        return list(MACHINES.values())
    for name in campaign.machines:
        if name not in MACHINES:
            there = ", ".join(MACHINES)
            raise BadCampaign(f"{campaign.name}: machines: no {name!r}; there are {there}")
    return [MACHINES[name] for name in campaign.machines]


def walks_on(
    target: Target, campaign: Campaign, address: tuple[str, int], word: str
) -> WalkedScripts:
    """The campaign's machines as a running target has them."""
    listed = target.advertised()
    release = target.release or advertised.nearest(listed)
    served = {key: advertised.served(release, key, listed) for key in listed}
    with Link(*address) as link:
        ranges = spoken(served, link.ask)
    return WalkedScripts(machines_of(campaign), ranges, release, word)


def run_scripted(
    campaign: Campaign,
    target: Target,
    address: tuple[str, int],
    wanted: Callable[[Result], bool],
    result: Result,
    *,
    seed: int,
    files: tuple[Path, ...] = (),
    revive: Callable[[], tuple[str, int]] | None = None,
    obituary: Callable[[], str] = lambda: "gone",
) -> tuple[Scripted, str | None]:
    """Play a campaign of scripts; (what was played, how the target ended for good, if it did). One
    that dies and that `revive` starts again, at the address that it gives, goes on; `obituary` says
    how it ended.
    """
    player = Player(*address)
    walks = walks_on(target, campaign, address, f"{player.nonce()}-")
    scripted = Scripted(campaign, player, walks, seed=seed)
    cases = cases_of(campaign, walks, seed, files)

    def player_of_another() -> Player:
        assert revive is not None
        return Player(*revive())

    while True:
        try:
            scripted.run(cases, wanted, result)
        except ConnectionError as gone:
            said = f"{gone} (case {result.cases}); {obituary()}"
            if revive is None or scripted.deaths >= MOST:
                return scripted, said
            scripted.died(said, player_of_another, result)
        except KeyboardInterrupt:
            return scripted, None
        else:
            return scripted, None


def cases_of(
    campaign: Campaign, walks: WalkedScripts, seed: int, files: tuple[Path, ...] = ()
) -> Iterator[Case]:
    """The cases of a campaign of machines or of sequences; `files` are what the latter begin with.
    Raises BadCampaign, BadCase.
    """
    if campaign.source == "machine":
        return walked_cases(walks, campaign, seed)
    stored = [load for path in files for load in scripts_in(path)]
    names = list(campaign.mutations)
    path = Path(campaign.name)
    drawn = Sequences(walks, stored, chosen(path, "mutations", names, mutations()))
    return drawn.cases(seed, campaign.faults)


def summary(scripted: Scripted) -> Iterator[str]:
    """What a campaign of scripts came to, beside cases and findings."""
    tally = scripted.tally
    yield f"  {tally.steps} steps over {scripted.player.connects} connections"
    if tally.valid_steps:
        yield f"  {tally.accepted:.1%} of valid scripts' steps were answered without an error code"
    if tally.tried and scripted.walks is not None:
        for name, cells in scripted.walks.cells().items():
            tried = tally.tried.get(name, Counter())
            apis = scripted_cells(MACHINES[name], cells)
            seen = scripted_cells(MACHINES[name], [cell for cell in cells if cell in tried])
            yield (
                f"  {name}: {sum(cell in tried for cell in cells)} of {len(cells)} transitions, "
                f"{len(seen)} of {len(apis)} (state, API) cells"
            )
    if scripted.deaths:
        yield f"  deaths of the target: {scripted.deaths}; it was started again each time"
    if scripted.unexplained:
        told = "; ".join(scripted.unexplained)
        yield f"  of {len(scripted.unexplained)} it outlived the last scripts, played alone: {told}"
    if tally.unsteady:
        yield f"  {tally.unsteady} complaints were not made again and are not counted"


def scripted_cells(machine: Machine, cells: list[Cell]) -> set[tuple[str, int]]:
    """The (state, API key) pairs of these (state, action) cells."""
    return {(state, machine.acts[action].key) for state, action in cells}


def report(scripted: Scripted, findings: list[Finding], account: Account) -> None:
    """Write a file for each cause, and say of each and of deaths without one."""
    name = scripted.campaign.name
    for number, (finding, times) in enumerate(
        zip(findings, scripted.tally.known.values(), strict=True)
    ):
        path = write(finding, account.out / name, number, members=times, scripted=True)
        account.cause(name, Cause(*cause_of(finding)), finding, path, members=times)
        click.echo(f"  {times:6} x {finding.oracle}: {finding.sentence}")
        click.echo(f"           {finding.step + 1} steps in {path.name}")
        click.echo(f"           {account.replay(path)}")
    for said in scripted.unexplained:
        account.complaint(name, ORACLE, said)


def replay(path: Path, address: tuple[str, int], obituary: Callable[[], str]) -> bool:
    """Play a stored script and say what happens; returns whether something is complained about.
    `obituary` says how a target ended that dies of it.
    """
    text = path.read_text()
    script = script_file.loads(text, str(path))
    dying_s = DYING_S if f'oracle = "{ORACLE}"' in text else 0.0
    judged = Campaign("replay", "", "sequence", {}, (0, 0), dict(ORACLES), 1)
    del judged.oracles["keeps_the_connection"]
    scripted = Scripted(judged, Player(*address))
    try:
        played = scripted.player.play(script)
    except ConnectionError:
        if is_alive(address):
            raise
        played = None
    if played is None or not is_alive(address, dying_s):
        click.echo(f"{path.stem}: the target died of it: {obituary()}")
        return True
    click.echo(f"{path.stem}: {signature_of(played)}")
    wrong = complaint(played)
    if wrong is not None:
        click.echo(f"  {AS_EXPECTED}: {wrong[1]}")
    found = scripted.findings(Case(0, script, ()), played)
    for finding in found:
        if finding.oracle != AS_EXPECTED:
            click.echo(f"  {finding.oracle}: {finding.sentence}")
    return bool(found)
