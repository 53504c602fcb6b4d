"""`touchstone fuzz`: campaigns against a target; findings out as files that replay.

Progress goes to stderr, the table to stdout. Exit codes: 0 nothing found, 1 findings, 2 the fuzzer
broke, 3 the target is not available or died (the last case and the seed are named).
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import click

from touchstone.checkout import ONLY_HERE, ROOT
from touchstone.fuzz import against, triage
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
from touchstone.fuzz.watches.watch import CANARY, Watched
from touchstone.fuzz.watches.watching import Watching
from touchstone.harness.model import advertised
from touchstone.harness.model.target import Shape, StartFailed, Target, Unavailable
from touchstone.harness.targets import UnknownTarget, parse
from touchstone.harness.targets.probe import NotReady

FOUND, BROKE, INCOMPLETE = 1, 2, 3
FINDINGS = Path("touchstone-findings")  # where the command runs
SMALL_CLUSTER = {
    "auto.create.topics.enable": "false",
    "group.initial.rebalance.delay.ms": "0",
    "log.cleaner.backoff.ms": "500",
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
                link,
                sorted(n for n in listed_topics(link) if not n.startswith(("__", CANARY))),
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


def play_campaign(
    campaign: Campaign, target: Target, watched: Watched, link: Link, bounds: Bounds
) -> tuple[Result, Watching]:
    """One campaign against a running target, and what its watches saw. Raises TargetDied."""
    pairs = [one for one in served_pairs(target) if one.key in campaign.keys or not campaign.keys]
    result = Result(campaign.name)
    recorded = None
    if campaign.source == "corpus":
        prepare(link, corpus())
        recorded = recorded_for(target)
    watching = Watching(campaign.watches, watched, lambda: result.played(link.tally.sent))
    try:
        with watching:
            run(
                campaign,
                link,
                lambda draw: Generator(pairs, draw),
                seed=bounds.seed,
                wanted=continuation(campaign, bounds, topic_restorer(link, ours=bounds.ours)),
                recorded=recorded,
                result=result,
            )
            link.close()
        return result, watching
    except ConnectionError as gone:
        raise TargetDied(
            f"target died after case {result.cases} of {campaign.name}, seed {bounds.seed}: {gone}"
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


def report_watches(watching: Watching) -> int:
    """What the watches measured and who could not look, then complaints; how many there are."""
    for name, figures in watching.figures.items():
        click.echo(f"  {name}: {figures}", err=True)
    for name, reason in watching.not_watched.items():
        click.echo(f"  {name}: not watched: {reason}", err=True)
    for complaint in watching.complaints:
        click.echo(f"  {complaint.watch}: {complaint.sentence} (by case {complaint.cases})")
    return len(watching.complaints)


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
@click.option(
    "--against", "oracle", metavar="T", help="Compare each case's outcome with this one's."
)
@click.option("--this-target-is-mine", "mine", is_flag=True, help="Any address; topics may go.")
def command(
    word: str, names: tuple[str, ...], seconds: float | None, cases: int | None, seed: int,
    out: Path, replay: Path | None, record: bool, oracle: str | None, mine: bool,
) -> None:  # fmt: skip
    """Run fuzz campaigns against a target.

    Exit code 0: nothing found, 1: findings, 2: the fuzzer broke, 3: target not available or dead.
    """
    if record and ROOT is None:
        raise click.UsageError(f"--record {ONLY_HERE}")
    try:
        picked = chosen(names)
        target, other = parse(word), parse(oracle) if oracle else None
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
        if other is not None:
            sys.exit(run_against(target, other, picked, bounds, mine=mine))
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
        if other is not None:
            other.stop()


def run_against(
    target: Target, oracle: Target, picked: list[Campaign], bounds: Bounds, *, mine: bool
) -> int:
    """Play the generated campaigns at both targets and say where they part; the exit code."""
    sides: list[Link] = []
    for each in (target, oracle):
        if reason := each.available():
            raise Unavailable(reason)
        host, port = each.start(Shape(config=SMALL_CLUSTER)).bootstrap[0]
        require_loopback(host, is_mine=mine)
        sides.append(Link(host, port))
    served = set(served_pairs(oracle))
    common = [pair for pair in served_pairs(target) if pair in served]
    restorers = [topic_restorer(link, ours=bounds.ours) for link in sides]
    found = 0
    for campaign in picked:
        if campaign.source != "generated":
            continue
        wanted = compared_until(campaign, bounds, restorers)
        pairs = [pair for pair in common if pair.key in campaign.keys or not campaign.keys]
        compared = against.compare(
            campaign, sides[0], sides[1], partial(Generator, pairs), seed=bounds.seed, wanted=wanted
        )
        click.echo(f"{campaign.name}: {target.name} against {oracle.name}")
        for line in against.told(compared, oracle.release):
            click.echo(line)
        found += len(against.unreviewed(compared, oracle.release))
    for link in sides:
        link.close()
    return FOUND if found else 0


def compared_until(
    campaign: Campaign, bounds: Bounds, restorers: list[Callable[[], None]]
) -> Callable[[against.Comparison], bool]:
    elapsed = stopwatch()
    limit = campaign.cases if bounds.cases is None else bounds.cases

    def wanted(so_far: against.Comparison) -> bool:
        if so_far.cases % RESTORE_EVERY == 0:
            for restore in restorers:
                restore()
        return elapsed() < bounds.seconds if bounds.seconds is not None else so_far.cases < limit

    return wanted


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
    endpoint = target.start(Shape(config=config))
    host, port = endpoint.bootstrap[0]
    require_loopback(host, is_mine=mine)
    watched = Watched(endpoint, target.advertised(), in_process=target.kind == "reference")
    with Link(host, port) as link:
        if replay is not None:
            return replay_case(replay, picked, link)
        if record:
            return record_outcomes(target, link)
        found = 0
        for campaign in picked:
            elapsed = stopwatch()
            result, watching = play_campaign(campaign, target, watched, link, bounds)
            rate = result.cases / max(elapsed(), 1e-9)
            click.echo(
                f"{campaign.name}: {result.cases} cases, {rate:.0f}/s, {link.tally.connects} "
                f"connections, {len(result.signatures)} behaviours, "
                f"{len(result.findings)} findings"
            )
            found += report_watches(watching) + report(result, campaign, link, bounds)
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
