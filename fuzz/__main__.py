"""`touchstone fuzz`: campaigns against a target; findings out as files that replay.

Progress goes to stderr, the table to stdout. Exit codes: 0 nothing found, 1 findings, 2 the fuzzer
broke, 3 the target is not available or died (the last case and the seed are named).
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from touchstone.checkout import ONLY_HERE, ROOT
from touchstone.fuzz import interrupts, plans
from touchstone.fuzz.account import Account
from touchstone.fuzz.campaign import Campaign, campaigns
from touchstone.fuzz.clients.command import CLIENTS_AT_A_TIME, ClientBounds, run_client
from touchstone.fuzz.compared_run import run_against
from touchstone.fuzz.running import Reach
from touchstone.fuzz.scale import driver
from touchstone.fuzz.target_run import (
    Bounds,
    Guidance,
    Special,
    run_on_target,
)  # fmt: skip
from touchstone.harness import exits
from touchstone.harness.cli import holding
from touchstone.harness.cli.logging_in import logs_in
from touchstone.harness.cli.values import FOLDER, SECONDS
from touchstone.harness.model.target import Target
from touchstone.harness.names import did_you_mean
from touchstone.harness.targets import command_config, parse

FINDINGS = Path("touchstone-findings")  # where the command runs


def chosen(names: tuple[str, ...]) -> list[tuple[Campaign, float | None]]:
    try:
        return plans.chosen(names)
    except KeyError as unknown:
        there, name = (*campaigns(), *plans.plans()), unknown.args[0]
        hint = did_you_mean(str(name), there)
        raise click.UsageError(
            f"no campaign {name!r}{hint}; there are {', '.join(there)}"
        ) from None


def played_again(word: str, reach: Reach) -> tuple[str, ...]:
    """The command that plays a file of this run again, up to the file's name."""
    flags = {"--in-process": reach.in_process, "--this-target-is-mine": reach.mine}
    asked = (flag for flag in flags if flags[flag])
    return ("touchstone", "fuzz", "--target", word, *asked, *command_config.words())


@click.command("fuzz")
@click.option("--target", "word", default="reference", metavar="T", help="As for pytest suites/.")
@click.option(
    "--campaign", "names", multiple=True, metavar="NAME", help="Or a plan; all by default."
)
@click.option("--seconds", type=SECONDS, help="Of playing: for all generated campaigns together.")
@click.option("--cases", type=click.IntRange(1), help="For each generated campaign.")
@click.option("--seed", default=1, help="Where every draw comes from.")
@click.option("--out", type=FOLDER, default=FINDINGS, help="For findings.")
@click.option("--replay", type=click.Path(exists=True, dir_okay=False, path_type=Path),
              help="One stored case.")  # fmt: skip
@click.option("--from", "sources", multiple=True, type=click.Path(exists=True, path_type=Path),
              help="Transcripts and captures for the campaign sequences.")  # fmt: skip
@click.option("--record", is_flag=True, help="Keep what this target does with the corpus.")
@click.option(
    "--jobs", type=click.IntRange(1),
    help=f"Processes that share the cases; 1, or {CLIENTS_AT_A_TIME} clients.",
)  # fmt: skip
@click.option("--connection-per-case", "fresh", is_flag=True, help="Instead of some that last.")
@click.option("--in-process", is_flag=True, help="reference@R without sockets.")
@click.option("--guided", is_flag=True, help="Build on frames that showed something new.")
@click.option(
    "--corpus", "folder", type=FOLDER,
    help="Such frames, kept from run to run; implies --guided.",
)  # fmt: skip
@click.option("--minimise-corpus", "minimised", is_flag=True, help="Keep the fewest that show all.")
@click.option(
    "--coverage/--no-coverage", default=None,
    help="In process: tell of lines that ran, and be guided by them; with --guided by default.",
)  # fmt: skip
@click.option(
    "--against", "oracle", metavar="T", help="Compare each case's outcome with this one's."
)
@click.option("--client", metavar="C", help="Spoil answers to this client: as for pytest suites/.")
@click.option("--api", "apis", multiple=True, metavar="NAME",
              help="Spoil answers of this API alone; with --client.")  # fmt: skip
@click.option("--master", metavar="URL", help="Run shards as tasks on this Spark master.")
@click.option("--shards", type=click.IntRange(1), default=2, help="Each with a broker of its own.")
@click.option("--shards-share-target", "shared", is_flag=True, help="Which none of them starts.")
@holding.names_release
@logs_in
@click.option("--this-target-is-mine", "mine", is_flag=True, help="Any address; topics may go.")
def command(
    word: str, names: tuple[str, ...], seconds: float | None, cases: int | None, seed: int,
    out: Path, replay: Path | None, record: bool, jobs: int | None, fresh: bool, in_process: bool,
    guided: bool, folder: Path | None, minimised: bool, coverage: bool | None,
    oracle: str | None, client: str | None, apis: tuple[str, ...], master: str | None, shards: int,
    shared: bool, sources: tuple[Path, ...], release: str | None, mine: bool,
) -> None:  # fmt: skip
    """Run fuzz campaigns against a target.

    NAME is a campaign, or a plan of several: smoke, nightly, weekly. Ctrl-C ends the run: what was
    played is judged, replayed and written. A second one, or SIGTERM, has it written as it is.

    --seconds is for playing. Starts, the frozen corpus, watches and trying findings again (made
    small as long as was played, at least a minute) come on top; the last line says how much.

    A complaint is made small and replayed five times. What is complained about five times is a
    finding, written to --out; what is not goes to `unsteady` there, and decides no exit code.

    Exit code 0: nothing found, 1: findings, 2: the fuzzer broke, 3: target not available or dead,
    a file that cannot be read, or interrupted, 4: an option or a name is wrong.
    """
    if record and ROOT is None:
        raise click.UsageError(f"--record {ONLY_HERE}")
    picked = chosen(names)
    target, other = parse(word), parse(oracle) if oracle else None
    holding.check(other or target, release)
    if release is not None and (master is not None or client is not None):
        raise click.UsageError("--release goes with neither --master nor --client")
    if in_process and target.kind != "reference":
        raise click.UsageError("--in-process: only the reference broker runs in this process")
    if apis and client is None:
        raise click.UsageError("--api goes with --client C")
    if minimised and folder is None:
        raise click.UsageError("--minimise-corpus needs --corpus DIR")
    guidance = Guidance(folder, minimised) if guided or folder else None
    covered = guidance is not None if coverage is None else coverage
    shares = sum(campaign.source != "corpus" for campaign, _ in picked)
    share = None if seconds is None else seconds / max(shares, 1)
    reach = Reach(fresh=fresh, in_process=in_process, mine=mine, release=release)
    account = Account(target.name, seed, out, played_again(word, reach))
    bounds = Bounds(cases, share, seed, account, guidance, covered, jobs or 1, sources)
    with interrupts.listening(), ending(target, other):
        if master is not None:
            plan = driver.Plan(
                driver.named_anywhere(word), tuple(one.name for one, _ in picked), seed, share,
                cases, out, mine, account.again,
            )  # fmt: skip
            driver.refuse_shared(target, is_shared=shared)
            sys.exit(driver.run_sharded(plan, master, shards))
        if client is not None:
            at_a_time = jobs or CLIENTS_AT_A_TIME
            account.again = (*account.again, "--client", client)
            asked = ClientBounds(seed, cases, seconds, account, replay, at_a_time, apis)
            sys.exit(run_client(target, client, asked, mine=mine))
        if other is not None:
            sys.exit(run_against(target, other, [one for one, _ in picked], bounds, reach))
        sys.exit(run_on_target(target, picked, bounds, Special(replay, record), reach))


@contextlib.contextmanager
def ending(target: Target, other: Target | None) -> Iterator[None]:
    """Say what came in between, leave with its exit code, and stop the targets."""
    try:
        yield
    except click.UsageError:
        raise
    except KeyboardInterrupt:
        click.echo("touchstone fuzz: interrupted", err=True)
        sys.exit(exits.INCOMPLETE)
    except Exception as problem:  # with the target's name before what it says
        if isinstance(problem, ConnectionError) and exits.code_of(problem) == exits.BROKE:
            click.echo(f"touchstone fuzz: {target.name} no longer accepts: {problem}", err=True)
            sys.exit(exits.INCOMPLETE)
        who = "" if str(problem).startswith(target.name) else f": {target.name}"
        sys.exit(exits.say(f"touchstone fuzz{who}", problem))
    finally:
        with interrupts.kept():
            target.stop()
            if other is not None:
                other.stop()


if __name__ == "__main__":
    command()
