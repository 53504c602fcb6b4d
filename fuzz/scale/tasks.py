"""What one Spark task does: play a shard of the campaigns, or settle some of the groups.

Case i of a campaign descends from (seed, i) alone, so shard k of n plays the cases k, k + n, k + 2n
... and all shards together play what one machine plays with that seed. The frozen corpus is one
shard's, since its cases have an order. Every task starts and stops a target of its own.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from touchstone.fuzz import share
from touchstone.fuzz.campaign import Campaign, Finding, Result, campaigns
from touchstone.fuzz.frozen_run import play_frozen
from touchstone.fuzz.running import Reach, RunningTarget
from touchstone.fuzz.triage import Settled, settle, trial_on
from touchstone.harness.targets import parse


@dataclass(frozen=True)
class Job:
    """What one task does: campaigns for `seconds` or `cases` (of all shards together) each."""

    target: str
    campaigns: tuple[str, ...]
    seed: int
    shard: int
    shards: int
    seconds: float | None
    cases: int | None
    is_mine: bool = False


@dataclass(frozen=True)
class Played:
    """What a shard made of one campaign; `died` says how its target ended."""

    shard: int
    result: Result
    seconds: float
    died: str | None = None


@dataclass(frozen=True)
class Chore:
    """Groups of findings for one task to settle: each campaign's name, its findings."""

    target: str
    groups: tuple[tuple[str, tuple[Finding, ...]], ...]
    is_mine: bool = False


@contextlib.contextmanager
def started(word: str, *, is_mine: bool) -> Iterator[RunningTarget]:
    """A target for one task. Raises Unavailable, StartFailed, NotReady."""
    target = parse(word)
    try:
        with RunningTarget(target, Reach(mine=is_mine)) as running:
            yield running
    finally:
        target.stop()


def play_shard(job: Job) -> list[Played]:
    """The task of the first stage: every campaign's cases of this shard."""
    known = campaigns()
    with started(job.target, is_mine=job.is_mine) as running:
        return [
            play_campaign(known[name], running, job)
            for name in job.campaigns
            if known[name].source != "corpus" or job.shard == 0
        ]


def play_campaign(campaign: Campaign, running: RunningTarget, job: Job) -> Played:
    """One campaign's cases of this shard; a target that is gone before its first is told so too."""
    try:
        if campaign.source == "corpus":
            played = play_frozen(campaign, running, job.seed, silent)
        else:
            played = running.unharmed(
                lambda: share.play(generated_share(campaign, running, job), silent), silent
            )
    except ConnectionError as gone:
        return Played(job.shard, Result(campaign.name), 0.0, f"before the first case: {gone}")
    died = played.gone and f"after case {played.result.cases}: {played.gone}"
    return Played(job.shard, played.result, played.seconds, died)


def generated_share(campaign: Campaign, running: RunningTarget, job: Job) -> share.Share:
    cases = campaign.cases if job.cases is None else job.cases
    return share.Share(
        campaign,
        campaign.own(running.pairs()),
        running.where,
        job.seed,
        None if job.seconds is not None else share_of(cases, (job.shard, job.shards)),
        job.seconds,
        job=job.shard,
        jobs=job.shards,
        alone=True,
    )


def silent(_: str) -> None:
    """Spark shows how far its tasks are."""


def share_of(cases: int, shard: tuple[int, int]) -> int:
    """How many of the first `cases` cases are the shard's: its number, and how many there are."""
    number, count = shard
    return len(range(number, cases, count))


def settle_groups(chore: Chore) -> list[tuple[str, Settled]]:
    """The task of the second stage: what stands for each of these groups, by campaign."""
    known = campaigns()
    with started(chore.target, is_mine=chore.is_mine) as running:
        return [(name, settled_on(known[name], members, running)) for name, members in chore.groups]


def settled_on(campaign: Campaign, members: Sequence[Finding], running: RunningTarget) -> Settled:
    restore = partial(running.restore, campaign)
    restore()
    trial = trial_on(campaign, running.link, restore, members)
    return settle(members[0], trial, members=len(members))
