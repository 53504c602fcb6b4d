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
from touchstone.fuzz.campaign import SCRIPTED, BadCampaign, Campaign, Result, campaigns, run
from touchstone.fuzz.cases import (
    BadCase,
    corpus,
    load,
    outcomes,
    reviewed_differences,
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
from touchstone.fuzz.generator import TOPICS, Generator, Pair, harmless, pairs_of
from touchstone.fuzz.oracles import ORACLES
from touchstone.fuzz.runner import Link, NotLoopback, require_loopback, stopwatch
from touchstone.fuzz.sequences import campaign_run, script_file
from touchstone.harness.model import advertised
from touchstone.harness.model.target import Shape, StartFailed, Target, Unavailable
from touchstone.harness.targets import UnknownTarget, parse
from touchstone.harness.targets.probe import NotReady

FOUND, BROKE, INCOMPLETE = 1, 2, 3
FINDINGS = Path("touchstone-findings")  # where the command runs
SMALL_CLUSTER = {
    "auto.create.topics.enable": "false",
    "group.consumer.assignment.interval.ms": "0",
    "group.initial.rebalance.delay.ms": "0",
    "group.share.assignment.interval.ms": "0",
    "max.incremental.fetch.session.cache.slots": "100000",
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
RESTORE_EVERY = 5000
RESTORE_SCRIPTED = 500  # scripts make topics of their own
REPORT_EVERY = 2000


@dataclass(frozen=True)
class Bounds:
    """How long a campaign goes on: cases, or seconds, whichever was given."""

    cases: int | None
    seconds: float | None
    seed: int
    out: Path
    ours: bool
    sources: tuple[Path, ...] = ()  # transcripts and captures that sequences begin with


class TargetDied(Exception):
    """The target stopped accepting connections; says after which case."""


def served_pairs(target: Target) -> list[Pair]:
    """The (API key, version) pairs that the target serves and that do it no harm."""
    listed = target.advertised()
    release = target.release or advertised.nearest(listed)
    ranges = {key: advertised.served(release, key, listed) for key in listed}
    return harmless(pairs_of(ranges))


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
        every = RESTORE_SCRIPTED if campaign.source in SCRIPTED else RESTORE_EVERY
        if campaign.source != "corpus" and done % every == 0:
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


def play_scripts(campaign: Campaign, target: Target, link: Link, bounds: Bounds) -> int:
    """One campaign of scripts, and its report; how many causes it found. Raises TargetDied."""
    elapsed, result = stopwatch(), Result(campaign.name)
    wanted = continuation(campaign, bounds, topic_restorer(link, ours=bounds.ours))
    try:
        done = campaign_run.run_scripted(
            campaign, target, link.address, wanted, result, seed=bounds.seed, files=bounds.sources
        )
    except ConnectionError as gone:
        raise TargetDied(
            f"target died after case {result.cases} of {campaign.name}, seed {bounds.seed}: {gone}"
        ) from gone
    click.echo(
        f"{campaign.name}: {result.cases} cases, {result.cases / max(elapsed(), 1e-9):.0f}/s, "
        f"{len(result.signatures)} behaviours, {len(result.findings)} findings"
    )
    for line in campaign_run.summary(done):
        click.echo(line)
    return campaign_run.report(done, result.findings, bounds.out / campaign.name)


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
@click.option("--from", "sources", multiple=True, type=click.Path(exists=True, path_type=Path),
              help="Transcripts and captures for the campaign sequences.")  # fmt: skip
@click.option("--record", is_flag=True, help="Keep what this target does with the corpus.")
@click.option("--this-target-is-mine", "mine", is_flag=True, help="Any address; topics may go.")
def command(
    word: str, names: tuple[str, ...], seconds: float | None, cases: int | None, seed: int,
    out: Path, replay: Path | None, sources: tuple[Path, ...], record: bool, mine: bool,
) -> None:  # fmt: skip
    """Run fuzz campaigns against a target.

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
    shares = sum(campaign.source != "corpus" for campaign in picked)
    share = None if seconds is None else seconds / max(shares, 1)
    bounds = Bounds(cases, share, seed, out, ours, sources)
    try:
        sys.exit(run_on_target(target, picked, bounds, replay, record=record, mine=mine))
    except (Unavailable, StartFailed, NotReady, NotLoopback, NotPrepared, TargetDied) as problem:
        click.echo(f"touchstone fuzz: {target.name}: {problem}", err=True)
        sys.exit(INCOMPLETE)
    except (BadCampaign, BadCase) as problem:
        click.echo(f"touchstone fuzz: {problem}", err=True)
        sys.exit(BROKE)
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
    host, port = target.start(Shape(config=config)).bootstrap[0]
    require_loopback(host, is_mine=mine)
    with Link(host, port) as link:
        if replay is not None:
            if script_file.is_script(replay):
                return FOUND if campaign_run.replay(replay, link.address) else 0
            return replay_case(replay, picked, link)
        if record:
            return record_outcomes(target, link)
        found = 0
        for campaign in picked:
            if campaign.source in SCRIPTED:
                found += play_scripts(campaign, target, link, bounds)
                continue
            elapsed = stopwatch()
            result = play_campaign(campaign, target, link, bounds)
            rate = result.cases / max(elapsed(), 1e-9)
            click.echo(
                f"{campaign.name}: {result.cases} cases, {rate:.0f}/s, {link.tally.connects} "
                f"connections, {len(result.signatures)} behaviours, "
                f"{len(result.findings)} findings"
            )
            found += report(result, campaign, link, bounds)
    return FOUND if found else 0


def replay_case(path: Path, picked: list[Campaign], link: Link) -> int:
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
