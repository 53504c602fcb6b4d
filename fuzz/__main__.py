"""`touchstone fuzz`: campaigns against a target; findings out as files that replay.

Progress goes to stderr, the table to stdout. Exit codes: 0 nothing found, 1 findings, 2 the fuzzer
broke, 3 the target is not available or died (the last case and the seed are named).
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import click

from touchstone.checkout import ONLY_HERE, ROOT
from touchstone.fuzz import triage
from touchstone.fuzz.campaign import BadCampaign, Campaign, Result, campaigns, run
from touchstone.fuzz.cases import (
    BadCase,
    corpus,
    write_outcomes,
)
from touchstone.fuzz.corpus_run import (
    NotPrepared,
    create_topics,
    delete_topics,
    listed_topics,
    play_corpus,
    prepare,
)
from touchstone.fuzz.generator import TOPICS, Generator
from touchstone.fuzz.oracles import ORACLES
from touchstone.fuzz.runner import Link, NotLoopback, require_loopback, stopwatch
from touchstone.fuzz.scale import driver
from touchstone.fuzz.targets import SMALL_CLUSTER, recorded_for, served_pairs
from touchstone.fuzz.triage.restoring import restorer
from touchstone.harness.model import advertised
from touchstone.harness.model.target import Shape, StartFailed, Target, Unavailable
from touchstone.harness.spark.session import NotRun
from touchstone.harness.targets import UnknownTarget, parse
from touchstone.harness.targets.probe import NotReady

FOUND, BROKE, INCOMPLETE = 1, 2, 3
FINDINGS = Path("touchstone-findings")  # where the command runs
RESTORE_EVERY = 5000
REPORT_EVERY = 2000


@dataclass(frozen=True)
class Bounds:
    """How long a campaign goes on: cases, or seconds, whichever was given."""

    cases: int | None
    seconds: float | None
    seed: int
    out: Path
    ours: bool


class TargetDied(Exception):
    """The target stopped accepting connections; says after which case."""


def topic_restorer(link: Link, *, ours: bool) -> Callable[[], None]:
    """What creates the topics that cases name; of a cluster of ours it deletes all others."""

    def restore_topics() -> None:
        if ours:
            delete_topics(
                link, sorted(name for name in listed_topics(link) if not name.startswith("__"))
            )
        create_topics(link, dict.fromkeys(TOPICS, False))

    return restore_topics


def continuation(
    campaign: Campaign, bounds: Bounds, restore_topics: Callable[[], None]
) -> Callable[[Result], bool]:
    """What says before each case whether to go on; reports progress and restores topics."""
    elapsed = stopwatch()
    limit = campaign.cases if bounds.cases is None else bounds.cases

    def wanted(result: Result) -> bool:
        done = result.cases
        if campaign.source == "generated" and done % RESTORE_EVERY == 0:
            restore_topics()
        if done and done % REPORT_EVERY == 0:
            rate = done / elapsed()
            click.echo(
                f"{campaign.name}: {done} cases, {rate:.0f}/s, "
                f"{len(result.signatures)} behaviours, {len(result.findings)} findings",
                err=True,
            )
        if campaign.source == "corpus":
            return True
        if bounds.seconds is not None:
            return elapsed() < bounds.seconds
        return done < limit

    return wanted


def play_campaign(campaign: Campaign, target: Target, link: Link, bounds: Bounds) -> Result:
    """One campaign against a running target. Raises TargetDied."""
    pairs = [one for one in served_pairs(target) if one.key in campaign.keys or not campaign.keys]
    result = Result(campaign.name)
    recorded = None
    if campaign.source == "corpus":
        prepare(link, corpus())
        recorded = recorded_for(target)
    try:
        return run(
            campaign,
            link,
            lambda draw: Generator(pairs, draw),
            seed=bounds.seed,
            wanted=continuation(campaign, bounds, topic_restorer(link, ours=bounds.ours)),
            recorded=recorded,
            result=result,
        )
    except ConnectionError as gone:
        raise TargetDied(
            f"target died after case {result.cases} of {campaign.name}, seed {bounds.seed}: {gone}"
        ) from gone


def report(
    result: Result, campaign: Campaign, target: Target, shape: Shape, link: Link, bounds: Bounds
) -> int:
    """Write one file per cause of findings; returns how many of them repeat."""

    def prepare_topics() -> None:
        if campaign.source == "corpus":
            prepare(link, corpus(), fresh=target.kind != "reference")
        else:
            topic_restorer(link, ours=bounds.ours)()

    restore = restorer(target, shape, link, prepare_topics)
    trial = triage.trial_on(campaign, link, restore, result.findings)
    steady = 0
    for number, one in enumerate(triage.settled(result.findings, trial)):
        path = triage.write_settled(one, bounds.out / campaign.name, number)
        click.echo(triage.told(one, path))
        steady += one.is_steady
    return steady


def chosen(names: tuple[str, ...]) -> list[Campaign]:
    there = campaigns()
    for name in names:
        if name not in there:
            raise click.UsageError(f"no campaign {name!r}; there are {', '.join(there)}")
    return [there[name] for name in names or there]


@click.command("fuzz")
@click.option("--target", "word", default="reference", metavar="T", help="As for pytest suites/.")
@click.option("--campaign", "names", multiple=True, metavar="NAME", help="All by default.")
@click.option("--seconds", type=float, help="For all generated campaigns together.")
@click.option("--cases", type=int, help="For each generated campaign.")
@click.option("--seed", default=1, help="Where every draw comes from.")
@click.option("--out", type=click.Path(path_type=Path), default=FINDINGS, help="For findings.")
@click.option("--replay", type=click.Path(exists=True, path_type=Path), help="One stored case.")
@click.option("--record", is_flag=True, help="Keep what this target does with the corpus.")
@click.option("--master", metavar="URL", help="Run shards as tasks on this Spark master.")
@click.option("--shards", default=2, help="Each with a broker of its own.")
@click.option("--shards-share-target", "shared", is_flag=True, help="Which none of them starts.")
@click.option("--this-target-is-mine", "mine", is_flag=True, help="Any address; topics may go.")
def command(
    word: str, names: tuple[str, ...], seconds: float | None, cases: int | None, seed: int,
    out: Path, replay: Path | None, record: bool, master: str | None, shards: int, shared: bool,
    mine: bool,
) -> None:  # fmt: skip
    """Run fuzz campaigns against a target.

    A complaint is made small and replayed five times. What is complained about five times is a
    finding, written to --out; what is not goes to `unsteady` there, and decides no exit code.

    Exit code 0: nothing found, 1: findings, 2: the fuzzer broke, 3: target not available or dead.
    """
    if record and ROOT is None:
        raise click.UsageError(f"--record {ONLY_HERE}")
    try:
        picked = chosen(names)
        target = parse(word)
    except (BadCampaign, BadCase) as problem:
        click.echo(f"touchstone fuzz: {problem}", err=True)
        sys.exit(BROKE)
    except UnknownTarget as problem:
        raise click.UsageError(str(problem)) from None
    ours = mine or target.kind != "external"
    shares = sum(campaign.source == "generated" for campaign in picked)
    share = None if seconds is None else seconds / max(shares, 1)
    bounds = Bounds(cases, share, seed, out, ours)
    try:
        if master is not None:
            plan = driver.Plan(
                word, tuple(one.name for one in picked), seed, share, cases, out, mine
            )
            driver.refuse_shared(target, is_shared=shared)
            sys.exit(driver.run_sharded(plan, master, shards))
        sys.exit(run_on_target(target, picked, bounds, replay, record=record, mine=mine))
    except (
        NotRun,
        Unavailable,
        StartFailed,
        NotReady,
        NotLoopback,
        NotPrepared,
        TargetDied,
    ) as problem:
        click.echo(f"touchstone fuzz: {target.name}: {problem}", err=True)
        sys.exit(INCOMPLETE)
    except ConnectionError as problem:
        click.echo(f"touchstone fuzz: {target.name} no longer accepts: {problem}", err=True)
        sys.exit(INCOMPLETE)
    except Exception:  # ours, not the target's: it must not leave with the code of a finding
        traceback.print_exc()
        sys.exit(BROKE)
    finally:
        target.stop()


def run_on_target(
    target: Target, picked: list[Campaign], bounds: Bounds, replay: Path | None,
    *, record: bool, mine: bool,
) -> int:  # fmt: skip
    """Start the target and do what was asked of it; returns the exit code."""
    for host, _ in getattr(target, "addresses", ()):  # before anything at all goes there
        require_loopback(host, is_mine=mine)
    reason = target.available()
    if reason:
        raise Unavailable(reason)
    config = {} if target.kind == "external" else SMALL_CLUSTER
    shape = Shape(config=config)
    host, port = target.start(shape).bootstrap[0]
    require_loopback(host, is_mine=mine)
    with Link(host, port) as link:
        if replay is not None:
            return replay_case(replay, picked, link)
        if record:
            return record_outcomes(target, link)
        found = 0
        for campaign in picked:
            elapsed = stopwatch()
            result = play_campaign(campaign, target, link, bounds)
            rate = result.cases / max(elapsed(), 1e-9)
            click.echo(
                f"{campaign.name}: {result.cases} cases, {rate:.0f}/s, {link.tally.connects} "
                f"connections, {len(result.signatures)} behaviours, "
                f"{len(result.findings)} findings"
            )
            found += report(result, campaign, target, shape, link, bounds)
    return FOUND if found else 0


def replay_case(path: Path, picked: list[Campaign], link: Link) -> int:
    """Send a stored case once more and say what happens; all oracles judge unless it names one."""
    stored = triage.load(path)
    prepare(link, [stored.case], fresh=False)
    named = (
        [stored.case.oracle] if stored.case.oracle else ORACLES.keys() - {"keeps_the_connection"}
    )
    oracles = {name: oracle for name, oracle in ORACLES.items() if name in named}
    judged = Campaign("replay", "", "generated", {}, (0, 0), oracles, 1)
    shown, findings = triage.replayed(judged, stored, link)
    for line in shown:
        click.echo(f"{stored.case.name}: {line}")
    for finding in findings:
        click.echo(f"  {finding.oracle}: {finding.sentence}")
    return FOUND if findings else 0


def record_outcomes(target: Target, link: Link) -> int:
    """Record the corpus's signatures on real Kafka: twice, and only if they agree."""
    release = target.release or advertised.release_of(target.advertised())
    if release is None or target.kind in ("reference", "recorded"):
        raise Unavailable("only a real release of Kafka is recorded")
    first, second = play_corpus(link, corpus()), play_corpus(link, corpus())
    unsteady = [name for name in first if first[name] != second[name]]
    for name in unsteady:
        click.echo(f"unsteady: {name}: {first[name]!r}, then {second[name]!r}", err=True)
    if unsteady:
        return FOUND
    click.echo(f"{len(first)} outcomes kept in {write_outcomes(release, first).name}")
    return 0


if __name__ == "__main__":
    command()
