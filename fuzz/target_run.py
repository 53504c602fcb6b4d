"""Campaigns at one target: it is started, prepared, played, watched, and reported.

`touchstone fuzz` (`__main__`) says what is asked; here it is done.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import click

from touchstone.fuzz import corpus_folder, interrupts, replays, ring, triage
from touchstone.fuzz.account import STARTING, TRYING_AGAIN, Account, concluded
from touchstone.fuzz.campaign import SCRIPTED, Campaign, Finding, Result
from touchstone.fuzz.cases import corpus, write_outcomes
from touchstone.fuzz.corpus_run import play_corpus
from touchstone.fuzz.culprits import culprit
from touchstone.fuzz.deaths import ORACLE, Deaths
from touchstone.fuzz.edges import every_edge
from touchstone.fuzz.frozen_run import play_frozen
from touchstone.fuzz.jobs import play_jobs
from touchstone.fuzz.minimised_corpus import minimise
from touchstone.fuzz.oracles import sent_frame
from touchstone.fuzz.progress import Progress
from touchstone.fuzz.runner import Link, stopwatch
from touchstone.fuzz.running import Reach, RunningTarget
from touchstone.fuzz.sequences import campaign_run, script_file
from touchstone.fuzz.share import Played, Share, merged
from touchstone.fuzz.triage.surviving import Surviving
from touchstone.fuzz.watches import WATCHES
from touchstone.fuzz.watches.watching import Complaint, Watching
from touchstone.harness.cli import holding
from touchstone.harness.model import advertised
from touchstone.harness.model.target import Address, Target, Unavailable

FOUND, BROKE, INCOMPLETE = 1, 2, 3
FIRST_DEATH = 90  # files of findings are numbered; those of deaths begin here
FIRST_CULPRIT = 80  # and those of watches here
RESTORE_SCRIPTED = 500  # scripts make topics of their own
LEAST_SMALL_S = 60.0
"""Seconds for which findings of a campaign are made small, or as long as it was played; those that
are left then are only replayed."""


@dataclass(frozen=True)
class Guidance:
    """The frames that a campaign builds on, kept in a folder where there is one."""

    folder: Path | None
    minimised: bool  # nothing is played but the folder, which is made small


@dataclass(frozen=True)
class Special:
    """What is asked of the target instead of campaigns."""

    replay: Path | None
    record: bool


@dataclass(frozen=True)
class Bounds:
    """How long a campaign goes on: cases, or seconds, whichever was given."""

    cases: int | None
    seconds: float | None
    seed: int
    account: Account
    guidance: Guidance | None = None
    coverage: bool = False
    jobs: int = 1
    sources: tuple[Path, ...] = ()  # transcripts and captures that sequences begin with

    @property
    def given(self) -> bool:
        """By the user, who is obeyed rather than the plan."""
        return self.cases is not None or self.seconds is not None

    def folder(self, campaign: Campaign) -> Path:
        """Where its findings go."""
        return self.account.out / campaign.name


class TargetDied(Exception):
    """The target stopped accepting connections; says after which case."""


def play_campaign(
    campaign: Campaign, running: RunningTarget, bounds: Bounds
) -> tuple[Played, list[Watching], Deaths]:
    """A generated campaign, until it ends or its user does; its watches look on where others can
    reach the target. One that dies and can be started again goes on behind the case that killed it.
    """
    whole_share = share = share_of(campaign, running, bounds)
    parts: list[Played] = []
    watchings: list[Watching] = []
    deaths = Deaths(campaign.name, bounds.seed, folder=bounds.folder(campaign))
    while True:
        attempt = partial(play_share, share, running, bounds)
        try:
            played, watching = running.unharmed(attempt, tell)
        except KeyboardInterrupt:  # while it was started again
            break
        parts.append(played)
        watchings += [watching] if watching else []
        if played.gone is not None and not running.can_restart and played.ring:
            path = ring.write(
                bounds.folder(campaign) / f"death-01{ring.SUFFIX}", played.gone, played.ring
            )
            played.gone += f"; what it was sent last is in {path}"
        if played.gone is None or played.result.interrupted or not running.can_restart:
            break
        tell(f"{campaign.name}: the target died and is started again: {played.gone}")
        deaths.note(played.suspects, played.gone, running.restart_prepared, played.ring)
        rest = rest_of(whole_share, parts)
        if rest is None or deaths.too_many or interrupts.ended():
            break
        share = replace(rest, left_out=frozenset(deaths.killers))
    whole = one_after_another(parts)
    whole.result.campaign = campaign.name
    if deaths.count:
        whole.gone = None  # it was started again
    if bounds.guidance and bounds.guidance.folder:
        written = corpus_folder.store(bounds.guidance.folder, whole.corpus)
        tell(f"{campaign.name}: {written} new frames in {bounds.guidance.folder}")
    return whole, watchings, deaths


def share_of(campaign: Campaign, running: RunningTarget, bounds: Bounds) -> Share:
    where, guidance = running.where, bounds.guidance
    folder = guidance.folder if guidance else None
    timed = bounds.seconds is not None
    return Share(
        campaign,
        campaign.own(running.pairs()),
        where,
        bounds.seed,
        bounds.cases if bounds.cases is not None or timed else campaign.cases,
        bounds.seconds,
        guided=guidance is not None,
        coverage=where.address is None and bounds.coverage,
        kept=tuple(corpus_folder.load(folder)) if folder else (),
    )


def play_share(
    share: Share, running: RunningTarget, bounds: Bounds
) -> tuple[Played, Watching | None]:
    """Until the share's end, its user's or the target's, which is stopped then: of one that hangs
    watches would wait for an answer. It is played where the target is now, which is prepared once
    for all processes. Raises NotPrepared.
    """
    where = running.where
    world = running.prepare() if bounds.jobs > 1 and where.address else None
    share = replace(share, where=where, world=world)
    played = Played(Result(share.campaign.name))
    watching = None
    try:
        with contextlib.ExitStack() as stack:
            if running.watched is not None:
                watching = stack.enter_context(
                    Watching(
                        share.campaign.watches,
                        running.watched,
                        lambda: played.result.played(played.sent),
                    )
                )
            played = play_jobs(share, bounds.jobs, tell, played)
            if played.gone is not None and where.address is not None:
                played.gone += f"; {running.obituary()}"
            if watching is not None:
                watching.last_look = played.gone is None
            if played.gone is not None and running.can_restart:
                running.target.stop()
    except KeyboardInterrupt:  # while watches began or ended
        played.result.interrupted = True
    if played.gone is None and watching is not None and watching.saw_it_dead:
        played.gone = f"it was gone when its last case was over; {running.obituary()}"
    if watching is not None and played.gone is not None:
        watching.forget_death()
    return played, watching


def one_after_another(parts: Sequence[Played]) -> Played:
    """What these came to together, each of which began when the last had ended."""
    whole = merged(parts)
    whole.seconds = sum(part.seconds for part in parts)
    return whole


def rest_of(share: Share, parts: Sequence[Played]) -> Share | None:
    """What is left of a share behind the cases that were in flight last; None where that is
    nothing. A guided campaign builds on what it has learned, by another seed: the first would draw
    the same again.
    """
    done = one_after_another(parts)
    cases = None if share.cases is None else share.cases - done.result.cases
    seconds = None if share.seconds is None else share.seconds - done.seconds
    if (cases is not None and cases <= 0) or (seconds is not None and seconds <= 0):
        return None
    return replace(
        share,
        cases=cases,
        seconds=seconds,
        begin=max((one.index + 1 for one in done.suspects), default=done.result.cases),
        seed=share.seed + len(parts) * share.guided,
        kept=tuple(done.corpus) if share.guided else share.kept,
    )


def play_scripts(campaign: Campaign, running: RunningTarget, bounds: Bounds) -> None:
    """One campaign of scripts, and its report. A target that dies and can be started again goes on.
    Raises TargetDied, once all that was found is written.
    """
    elapsed, result = stopwatch(), Result(campaign.name)
    timed = bounds.seconds is not None
    cases = bounds.cases if bounds.cases is not None or timed else campaign.cases
    progress = Progress(elapsed, tell, cases=cases, seconds=bounds.seconds)

    def wanted(so_far: Result) -> bool:
        goes_on = progress.wanted(so_far)
        if goes_on and so_far.cases % RESTORE_SCRIPTED == 0:
            with interrupts.prompt():
                running.prepare()
        return goes_on

    def again() -> Address:
        running.restart_prepared().close()
        tell(f"{campaign.name}: the target died after case {result.cases} and is started again")
        return running.address

    done, gone = campaign_run.run_scripted(
        campaign, running.target, running.address, wanted, result, seed=bounds.seed,
        files=bounds.sources, revive=again if running.can_restart else None,
        obituary=running.obituary,
    )  # fmt: skip
    played = Played(result, gone=gone, seconds=elapsed())
    bounds.account.played(played)
    click.echo(
        f"{campaign.name}: {result.cases} cases, {played.rate:.0f}/s, "
        f"{len(result.signatures)} behaviours, {len(result.findings)} findings"
    )
    for line in campaign_run.summary(done):
        click.echo(line)
    campaign_run.report(done, result.findings, bounds.account)
    if gone is not None:
        raise TargetDied(
            f"target died after case {result.cases} of {campaign.name}, seed {bounds.seed}: {gone}"
        )


def tell(line: str) -> None:
    click.echo(line, err=True)


def report(played: Played, campaign: Campaign, running: RunningTarget, bounds: Bounds) -> None:
    """The campaign's line in the table, then one file per cause of findings. Raises TargetDied once
    all that was found is written.
    """

    restore = partial(running.restore, campaign)

    def restart() -> None:
        running.restart()
        restore()

    result, account, elapsed = played.result, bounds.account, stopwatch()
    account.played(played)
    click.echo(
        f"{campaign.name}: {result.cases} cases, {played.rate:.0f}/s, "
        f"{played.connects} connections, {len(result.signatures)} behaviours, "
        f"{len(result.findings)} findings"
        + (f", {played.places} lines and branches" if played.places else "")
    )
    report_edges(played, campaign, running, bounds)
    surviving = Surviving(
        triage.trial_on(campaign, running.link, restore, result.findings),
        restart if running.can_restart else None,
    )
    surviving.gone = played.gone
    most_s = max(LEAST_SMALL_S, played.seconds)

    def begins(cause: str) -> None:
        tell(f"{campaign.name}: {cause}")

    def has_time() -> bool:
        return not interrupts.ended() and elapsed() < most_s

    with account.timed(TRYING_AGAIN):
        ones = triage.settled(result.findings, surviving.trial, begins, has_time)
        for number, one in enumerate(ones):
            path = triage.write_settled(one, bounds.folder(campaign), number)
            account.settled(campaign.name, one, path)
            click.echo(triage.terminal_lines(one, path))
            click.echo(f"           {account.replay(path)}")
    if surviving.deaths:
        click.echo(f"  the target died {surviving.deaths} times while findings were made small")
    result.interrupted |= surviving.interrupted
    if surviving.gone is not None and not surviving.interrupted:
        raise TargetDied(
            f"target died after case {result.cases} of {campaign.name}, seed {bounds.seed}: "
            f"{surviving.gone}"
        )


def report_edges(
    played: Played, campaign: Campaign, running: RunningTarget, bounds: Bounds
) -> None:
    """How many of all edges were sent, of a campaign that sends each once."""
    if campaign.every_edge and bounds.guidance is None:
        there = len(every_edge(campaign.own(running.pairs()), bounds.seed))
        sent = played.result.edges
        click.echo(
            f"  every edge: {sent} of {there} (API, version, field, value) were sent, each once: "
            f"{100 * sent / max(there, 1):.0f} %"
        )


def report_deaths(deaths: Deaths, account: Account) -> None:
    """How often the target died, then one file per kind of frame that killed it."""
    if deaths.count:
        click.echo(f"  deaths of the target: {deaths.count}; it was started again each time")
    for number, finding in enumerate(deaths.killers.values()):
        path = triage.write(finding, account.out / deaths.campaign, FIRST_DEATH + number)
        account.cause(deaths.campaign, triage.cause_of(finding), finding, path)
        key, faults = finding.as_script.steps[0].wire[4:6], " ".join(finding.faults) or "no fault"
        click.echo(
            f"  {deaths.campaign}: dies of key {int.from_bytes(key)} ({faults}), case "
            f"{finding.index}: {path.name}; such requests were left out from then on"
        )
        click.echo(f"           {finding.sentence}")
        click.echo(f"           {account.replay(path)}")
    for one in deaths.unexplained:
        click.echo(f"  it outlived each case in flight, sent alone: {one}")
        if one.path is not None:
            click.echo(f"           what it was sent last: {account.replay(one.path)}")
        account.complaint(deaths.campaign, ORACLE, str(one), one.path)


def report_watches(
    campaign: Campaign, watching: Watching, running: RunningTarget, bounds: Bounds, *, died: bool
) -> None:
    """What the watches measured and who could not look, then complaints, with the case that brings
    one about where there is such. Which cases a watch saw is not known of a target that `died`.
    """
    account = bounds.account
    for name, figures in watching.figures.items():
        click.echo(f"  {name}: {figures}", err=True)
    for name, reason in watching.not_watched.items():
        click.echo(f"  {name}: not watched: {reason}", err=True)
    for complaint in watching.complaints:
        click.echo(f"  {complaint.watch}: {complaint.sentence} (after {complaint.seconds:.1f} s)")
        finding = None if died else culprit_of(complaint, campaign, running, bounds)
        if finding is None:
            account.complaint(campaign.name, complaint.watch, complaint.sentence)
            continue
        path = triage.write(finding, bounds.folder(campaign), FIRST_CULPRIT)
        account.cause(campaign.name, triage.cause_of(finding), finding, path)
        told = " ".join(finding.faults) or "no fault"
        key = sent_frame(finding.wire).key
        click.echo(f"           brought about by key {key} ({told}), case {finding.index} alone")
        click.echo(f"           in {path.name}: {account.replay(path)}")


def culprit_of(
    complaint: Complaint, campaign: Campaign, running: RunningTarget, bounds: Bounds
) -> Finding | None:
    """The case that a watch complained about; None where it was not looked for or not found."""
    alone = bounds.jobs == 1 and bounds.guidance is None and not interrupts.ended()
    if complaint.dead or not alone or not WATCHES[complaint.watch].repeats:
        return None
    tell(f"{campaign.name}: {complaint.watch} complained; which case of {complaint.cases} was it?")
    share = share_of(campaign, running, bounds)
    try:
        return culprit(complaint, campaign, running, share)
    except (ConnectionError, Unavailable) as gone:
        tell(f"{campaign.name}: it was not found: {gone}")
        return None


def run_on_target(
    target: Target,
    picked: list[tuple[Campaign, float | None]],
    bounds: Bounds,
    special: Special,
    reach: Reach,
) -> int:
    """Start the target and do what was asked of it; returns the exit code."""
    with bounds.account.timed(STARTING):
        started = RunningTarget(target, reach)
    with started as running:
        holding.choose_if_known(target, reach.release)
        if special.replay is not None:
            if special.replay.suffix == ring.SUFFIX:
                return replays.replay_ring(special.replay, running)
            if not reach.in_process and script_file.is_script(special.replay):
                running.prepare()  # a script names what campaigns made before it
                found = campaign_run.replay(special.replay, running.address, running.obituary)
                return FOUND if found else 0
            return replays.replay_case(special.replay, running)
        if special.record:
            return record_outcomes(target, running.link)
        if bounds.guidance and bounds.guidance.minimised and bounds.guidance.folder:
            before, now = minimise(bounds.guidance.folder, running.where)
            click.echo(f"{before} frames before, {now} now show the same")
            return 0
        with interrupts.kept(), concluded(bounds.account):
            for campaign, planned_s in picked:
                own = bounds if bounds.given else replace(bounds, seconds=planned_s)
                play_and_report(campaign, running, own)
                bounds.account.write()
                if interrupts.ended():
                    tell(f"interrupted in {campaign.name}; what it found until then is written")
                    return INCOMPLETE
    return FOUND if bounds.account.causes else 0


def play_and_report(campaign: Campaign, running: RunningTarget, bounds: Bounds) -> None:
    """A campaign, and what it found. Raises TargetDied once that is written."""
    if campaign.source in SCRIPTED:
        play_scripts(campaign, running, bounds)
        return
    if campaign.source == "corpus":
        played = play_frozen(campaign, running, bounds.seed, tell)
    else:
        played, watchings, deaths = play_campaign(campaign, running, bounds)
        report_deaths(deaths, bounds.account)
        for watching in watchings:
            report_watches(campaign, watching, running, bounds, died=bool(deaths.count))
    report(played, campaign, running, bounds)


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
