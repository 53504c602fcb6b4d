"""`touchstone fuzz`: campaigns against a target; findings out as files that replay.

Progress goes to stderr, the table to stdout. Exit codes: 0 nothing found, 1 findings, 2 the fuzzer
broke, 3 the target is not available or died (the last case and the seed are named).
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import click

from touchstone.checkout import ONLY_HERE, ROOT
from touchstone.fuzz import plans, triage
from touchstone.fuzz.campaign import BadCampaign, Campaign, Result, campaigns, run
from touchstone.fuzz.cases import (
    BadCase,
    corpus,
    load,
    outcomes,
    reviewed_differences,
    write_outcomes,
)
from touchstone.fuzz.corpus_run import (
    AFTER_DELETION,
    NotPrepared,
    create_topics,
    delete_topics,
    listed_topics,
    play_corpus,
    prepare,
)
from touchstone.fuzz.engine import Engine
from touchstone.fuzz.generator import TOPICS, Generator, Pair, harmless, pairs_of
from touchstone.fuzz.oracles import ORACLES
from touchstone.fuzz.progress import Progress
from touchstone.fuzz.runner import Link, NotLoopback, require_loopback, stopwatch
from touchstone.harness.model import advertised
from touchstone.harness.model.target import Shape, StartFailed, Target, Unavailable
from touchstone.harness.targets import UnknownTarget, parse
from touchstone.harness.targets.probe import NotReady

FOUND, BROKE, INCOMPLETE = 1, 2, 3
FINDINGS = Path("touchstone-findings")  # where the command runs
SMALL_CLUSTER = {
    "auto.create.topics.enable": "false",
    "group.initial.rebalance.delay.ms": "0",
    "log.retention.bytes": "1048576",
    "log.segment.bytes": "1048576",
    "offsets.topic.num.partitions": "1",
    "offsets.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "share.coordinator.state.topic.num.partitions": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "transaction.state.log.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
}
"""Of a target that we start: neither a mutated name nor a long run makes it grow."""
RESTORE_EVERY = 10_000
CONTROLLED_SHUTDOWN = 7
"""An API that a broker serves where ZooKeeper holds the registry."""
MOST_SUSPECTS = 20


@dataclass(frozen=True)
class Bounds:
    """How long a campaign goes on: cases, or seconds, whichever was given."""

    cases: int | None
    seconds: float | None
    seed: int
    out: Path
    ours: bool
    fresh: bool = False  # a connection for each case

    @property
    def given(self) -> bool:
        """By the user, who is obeyed rather than the plan."""
        return self.cases is not None or self.seconds is not None


class TargetDied(Exception):
    """The target stopped accepting connections; says after which case."""


def served_pairs(target: Target) -> list[Pair]:
    """The (API key, version) pairs that the target serves and that do it no harm."""
    listed = target.advertised()
    release = target.release or advertised.nearest(listed)
    ranges = {key: advertised.served(release, key, listed) for key in listed}
    return harmless(pairs_of(ranges))


def topic_restorer(link: Link, *, ours: bool, zookeeper: bool) -> Callable[[], None]:
    """What creates the topics that cases name; of a cluster of ours it deletes all others."""

    def restore_topics() -> None:
        if ours:
            others = sorted(name for name in listed_topics(link) if not name.startswith("__"))
            delete_topics(link, others, rests=AFTER_DELETION if zookeeper else 0)
        create_topics(link, dict.fromkeys(TOPICS, False))

    return restore_topics


def progress_of(campaign: Campaign, bounds: Bounds) -> Progress:
    """When a campaign ends, and what is told until then."""
    frozen, timed = campaign.source == "corpus", bounds.seconds is not None
    cases = bounds.cases if bounds.cases is not None or timed else campaign.cases
    return Progress(
        stopwatch(),
        lambda line: click.echo(line, err=True),
        cases=None if frozen else cases,
        seconds=None if frozen else bounds.seconds,
    )


def play_campaign(
    campaign: Campaign, target: Target, link: Link, engine: Engine, bounds: Bounds
) -> Result:
    """One campaign against a running target, until it ends or its user does. Raises TargetDied."""
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
            wanted=progress_of(campaign, bounds).wanted,
            recorded=recorded,
            result=result,
            engine=engine,
            every=RESTORE_EVERY,
            pause=topic_restorer(
                link, ours=bounds.ours, zookeeper=CONTROLLED_SHUTDOWN in target.advertised()
            ),
        )
    except KeyboardInterrupt:
        result.interrupted = True
        return result
    except ConnectionError as gone:
        suspects = ", ".join(str(case.index) for case in engine.in_flight()[:MOST_SUSPECTS])
        raise TargetDied(
            f"target died after case {result.cases} of {campaign.name}, seed {bounds.seed}"
            f"{f' (in flight: {suspects})' if suspects else ''}: {gone}"
        ) from gone


def recorded_for(target: Target) -> dict[str, str] | None:
    """What real Kafka of the target's release did, without what is reviewed for our personas."""
    release = target.release or advertised.release_of(target.advertised())
    try:
        recorded = outcomes(release) if release else None
    except FileNotFoundError:
        return None
    if recorded is None or target.kind != "reference":
        return recorded
    known_different = {
        n for row in reviewed_differences() if release in row.releases for n in row.cases
    }
    return {name: shown for name, shown in recorded.items() if name not in known_different}


def report(result: Result, campaign: Campaign, link: Link, bounds: Bounds) -> int:
    """Write one file per group of findings; returns how many groups there are."""
    groups = triage.grouped(result.findings)
    for number, ((oracle, key, shown), members) in enumerate(groups.items()):
        small = triage.minimised_on_target(members[0], campaign, link)
        path = triage.write(small, bounds.out / campaign.name, number)
        click.echo(f"  {len(members):6} x {oracle} key {key}: {shown or 'no answer'}")
        click.echo(f"           {small.sentence}; {len(small.wire)} bytes in {path.name}")
    return len(groups)


def chosen(names: tuple[str, ...]) -> list[tuple[Campaign, float | None]]:
    try:
        return plans.chosen(names)
    except KeyError as unknown:
        there = ", ".join((*campaigns(), *plans.plans()))
        raise click.UsageError(f"no campaign {unknown}; there are {there}") from None


@click.command("fuzz")
@click.option("--target", "word", default="reference", metavar="T", help="As for pytest suites/.")
@click.option(
    "--campaign", "names", multiple=True, metavar="NAME", help="Or a plan; all by default."
)
@click.option("--seconds", type=float, help="For all generated campaigns together.")
@click.option("--cases", type=int, help="For each generated campaign.")
@click.option("--seed", default=1, help="Where every draw comes from.")
@click.option("--out", type=click.Path(path_type=Path), default=FINDINGS, help="For findings.")
@click.option("--replay", type=click.Path(exists=True, path_type=Path), help="One stored case.")
@click.option("--record", is_flag=True, help="Keep what this target does with the corpus.")
@click.option("--connection-per-case", "fresh", is_flag=True, help="Instead of some that last.")
@click.option("--this-target-is-mine", "mine", is_flag=True, help="Any address; topics may go.")
def command(
    word: str, names: tuple[str, ...], seconds: float | None, cases: int | None, seed: int,
    out: Path, replay: Path | None, record: bool, fresh: bool, mine: bool,
) -> None:  # fmt: skip
    """Run fuzz campaigns against a target.

    NAME is a campaign, or a plan of several: smoke, nightly, weekly. Ctrl-C ends the campaign and
    reports what it came to. Exit code 0: nothing found, 1: findings, 2: the fuzzer broke, 3: target
    not available or dead, or interrupted.
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
    shares = sum(campaign.source == "generated" for campaign, _ in picked)
    share = None if seconds is None else seconds / max(shares, 1)
    bounds = Bounds(cases, share, seed, out, ours, fresh)
    try:
        sys.exit(run_on_target(target, picked, bounds, replay, record=record, mine=mine))
    except (Unavailable, StartFailed, NotReady, NotLoopback, NotPrepared, TargetDied) as problem:
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
    target: Target, picked: list[tuple[Campaign, float | None]], bounds: Bounds,
    replay: Path | None, *, record: bool, mine: bool,
) -> int:  # fmt: skip
    """Start the target and do what was asked of it; returns the exit code."""
    for host, _ in getattr(target, "addresses", ()):  # before anything at all goes there
        require_loopback(host, is_mine=mine)
    reason = target.available()
    if reason:
        raise Unavailable(reason)
    config = {} if target.kind == "external" else SMALL_CLUSTER
    host, port = target.start(Shape(config=config)).bootstrap[0]
    require_loopback(host, is_mine=mine)
    with Link(host, port) as link:
        if replay is not None:
            return replay_case(replay, link)
        if record:
            return record_outcomes(target, link)
        found = 0
        for campaign, planned_s in picked:
            own = bounds if bounds.given else replace(bounds, seconds=planned_s)
            result, groups = run_and_report(campaign, target, link, own)
            found += groups
            if result.interrupted:
                click.echo(f"interrupted in {campaign.name}; what it found until then is written")
                return INCOMPLETE
    return FOUND if found else 0


def run_and_report(
    campaign: Campaign, target: Target, link: Link, bounds: Bounds
) -> tuple[Result, int]:
    """A campaign, its line in the table, its findings; and how many groups of them there are."""
    elapsed = stopwatch()
    with Engine(link.address, fresh=bounds.fresh) as engine:
        result = play_campaign(campaign, target, link, engine, bounds)
        connects = engine.tally.connects or link.tally.connects
    rate = result.cases / max(elapsed(), 1e-9)
    click.echo(
        f"{campaign.name}: {result.cases} cases, {rate:.0f}/s, {connects} connections, "
        f"{len(result.signatures)} behaviours, {len(result.findings)} findings"
    )
    return result, report(result, campaign, link, bounds)


def replay_case(path: Path, link: Link) -> int:
    """Send a stored case once more and say what happens; all oracles judge unless it names one."""
    case = load(path)
    prepare(link, [case], fresh=False)
    named = [case.oracle] if case.oracle else [n for n in ORACLES if n != "keeps_the_connection"]
    judged = Campaign("replay", "", "generated", {}, (0, 0), {n: ORACLES[n] for n in named}, 1)
    shown, findings = triage.replay(judged, case.wire, link)
    click.echo(f"{case.name}: {shown}")
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
