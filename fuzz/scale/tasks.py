"""What one Spark task does: play a shard of the campaigns, or settle some of the groups.

Case i of a campaign descends from (seed, i) alone, so shard k of n plays the cases k, k + n, k + 2n
... and all shards together play what one machine plays with that seed. The frozen corpus is one
shard's, since its cases have an order. Every task starts and stops a target of its own.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from touchstone.fuzz.campaign import Campaign, Finding, Result, campaigns, run
from touchstone.fuzz.cases import corpus
from touchstone.fuzz.corpus_run import create_topics, prepare
from touchstone.fuzz.generator import TOPICS, Generator
from touchstone.fuzz.runner import Link, require_loopback, stopwatch
from touchstone.fuzz.targets import SMALL_CLUSTER, recorded_for, served_pairs
from touchstone.fuzz.triage import Settled, settle, trial_on
from touchstone.fuzz.triage.restoring import restorer
from touchstone.harness.model.target import Shape, Target, Unavailable
from touchstone.harness.targets import parse

RESTORE_EVERY = 5000


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
def started(word: str, *, is_mine: bool) -> Iterator[tuple[Target, Shape, Link]]:
    """A target for one task, and a link to it. Raises Unavailable, StartFailed, NotReady."""
    target = parse(word)
    for host, _ in getattr(target, "addresses", ()):
        require_loopback(host, is_mine=is_mine)
    reason = target.available()
    if reason:
        raise Unavailable(reason)
    shape = Shape(config={} if target.kind == "external" else SMALL_CLUSTER)
    try:
        host, port = target.start(shape).bootstrap[0]
        require_loopback(host, is_mine=is_mine)
        with Link(host, port) as link:
            yield target, shape, link
    finally:
        target.stop()


def play_shard(job: Job) -> list[Played]:
    """The task of the first stage: every campaign's cases of this shard."""
    known = campaigns()
    with started(job.target, is_mine=job.is_mine) as (target, _, link):
        return [
            play_campaign(replace(known[name], shard=(job.shard, job.shards)), target, link, job)
            for name in job.campaigns
            if known[name].source != "corpus" or job.shard == 0
        ]


def play_campaign(campaign: Campaign, target: Target, link: Link, job: Job) -> Played:
    elapsed, result = stopwatch(), Result(campaign.name)
    pairs = [one for one in served_pairs(target) if one.key in campaign.keys or not campaign.keys]
    frozen = campaign.source == "corpus"
    limit = share_of(campaign.cases if job.cases is None else job.cases, campaign.shard)
    restored = -1

    def wanted(so_far: Result) -> bool:
        nonlocal restored
        if frozen:
            return True
        if so_far.cases // RESTORE_EVERY != restored:
            restored = so_far.cases // RESTORE_EVERY
            create_topics(link, dict.fromkeys(TOPICS, False))
        return so_far.cases < limit if job.seconds is None else elapsed() < job.seconds

    try:
        if frozen:
            prepare(link, corpus())
        run(
            campaign,
            link,
            lambda draw: Generator(pairs, draw),
            seed=job.seed,
            wanted=wanted,
            recorded=recorded_for(target) if frozen else None,
            result=result,
        )
    except ConnectionError as gone:
        return Played(job.shard, result, elapsed(), f"after case {result.cases}: {gone}")
    return Played(job.shard, result, elapsed())


def share_of(cases: int, shard: tuple[int, int]) -> int:
    """How many of the first `cases` cases are the shard's."""
    number, count = shard
    return len(range(number, cases, count))


def settle_groups(chore: Chore) -> list[tuple[str, Settled]]:
    """The task of the second stage: what stands for each of these groups, by campaign."""
    known = campaigns()
    with started(chore.target, is_mine=chore.is_mine) as (target, shape, link):
        return [
            (name, settled_on(known[name], members, target, shape, link))
            for name, members in chore.groups
        ]


def settled_on(
    campaign: Campaign, members: Sequence[Finding], target: Target, shape: Shape, link: Link
) -> Settled:
    def topics() -> None:
        if campaign.source == "corpus":
            prepare(link, corpus(), fresh=target.kind != "reference")
        else:
            create_topics(link, dict.fromkeys(TOPICS, False))

    restore = restorer(target, shape, link, topics)
    restore()
    trial = trial_on(campaign, link, restore, members)
    return settle(members[0], trial, members=len(members))
