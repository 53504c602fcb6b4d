"""The command's half of a client campaign: target, proxy, progress, table, exit code."""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import click

from touchstone.fuzz import interrupts
from touchstone.fuzz.account import STARTING, Account, concluded
from touchstone.fuzz.campaign import Result
from touchstone.fuzz.clients.campaign import (
    BadFinding,
    NotStarted,
    Players,
    Stage,
    Tally,
    cause_of,
    groups,
    load,
    run,
    write,
)
from touchstone.fuzz.clients.faults import LOGIN, askable
from touchstone.fuzz.clients.proxy import Proxy
from touchstone.fuzz.clients.session import SCRAM_MECHANISM, USER, Program, program_of
from touchstone.fuzz.corpus_run import create_topics, wait_until
from touchstone.fuzz.generator import Pair
from touchstone.fuzz.runner import Link, require_loopback, stopwatch
from touchstone.fuzz.share import Played
from touchstone.harness import shown
from touchstone.harness.adapters import adapter_file
from touchstone.harness.model import advertised
from touchstone.harness.model.profiles import PROFILES
from touchstone.harness.model.sasl_messages import salted_password
from touchstone.harness.model.security_settings import SASL_LISTENER, SCRAM, USERS
from touchstone.harness.model.target import (
    Address,
    Endpoint,
    Shape,
    Target,
    Unavailable,
    Versions,
)
from touchstone.reference_impl.wire.apis import API

REPORT_EVERY_S = 10.0
CASES = 200
CLIENTS_AT_A_TIME = 4
"""They wait more than they work. Each may take the memory that its program is allowed."""
CONFIG = {
    "auto.create.topics.enable": "false",
    "group.initial.rebalance.delay.ms": "0",
    "offsets.topic.num.partitions": "1",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
}
"""Of a target that we start: groups begin at once."""
WITH_LISTENERS = ("reference", "process")
"""Kinds of targets that we give a SASL listener, beside the plain one."""
ALTER_USERS, DESCRIBE_USERS = 51, 50  # AlterUserScramCredentials from Kafka 2.7 on
ITERATIONS, SALT = 4096, b"salt"
FOUND, BROKE, INCOMPLETE = 1, 2, 3


@dataclass(frozen=True)
class ClientBounds:
    """What was asked for: cases or seconds, where findings go, or one to play again; how many
    clients play at a time; the APIs whose answers are spoiled, of all where there is none.
    """

    seed: int
    cases: int | None
    seconds: float | None
    account: Account
    replay: Path | None
    jobs: int
    apis: tuple[str, ...] = ()


def run_client(target: Target, word: str, bounds: ClientBounds, *, mine: bool) -> int:
    """Start the target and spoil its answers to the client that a word names; returns the exit
    code. Raises Unavailable (the target, or the client), UnknownTarget, StartFailed, NotLoopback.
    """
    for host, _ in getattr(target, "addresses", ()):  # before anything at all goes there
        require_loopback(host, is_mine=mine)
    reason = target.available()
    if reason:
        raise Unavailable(reason)
    program = program_of(adapter_file.find(word))
    client = Path(word).name.removesuffix(adapter_file.FILE)
    endpoint = target.start(Shape(config=settings_of(target)))
    require_loopback(endpoint.bootstrap[0][0], is_mine=mine)
    served = served_by(target)
    brokers = listeners(endpoint, served)
    pairs = about(bounds.apis, program.keys, brokers, served)
    try:
        with ExitStack() as opened:
            stages = [
                opened.enter_context(stage(program, brokers, pairs)) for _ in range(bounds.jobs)
            ]
            bounds.account.seconds[STARTING] += bounds.account.elapsed()
            return play_clients(client, stages, bounds)
    except NotStarted as problem:
        click.echo(f"touchstone fuzz: {client} does not start: {problem}", err=True)
        return INCOMPLETE
    except BadFinding as problem:
        click.echo(f"touchstone fuzz: {problem}", err=True)
        return BROKE


def settings_of(target: Target) -> dict[str, str]:
    """What a target that we start is given."""
    if target.kind == "external":
        return {}
    if target.kind not in WITH_LISTENERS or target.release is None:
        return CONFIG
    return PROFILES["sasl"].subjects(target.release) | CONFIG


def served_by(target: Target) -> Versions:
    """What it serves, of what it lists: a client that is held to another version never gets on."""
    table = target.advertised()
    release = target.release or advertised.nearest(table)
    return {key: advertised.served(release, key, table) for key in table}


def listeners(endpoint: Endpoint, served: Versions) -> list[Address]:
    """The plain listener, and behind it the one of SASL if a user could be made who logs in there.
    Raises NotPrepared.
    """
    plain, further = endpoint.bootstrap[0], endpoint.listeners.get(SASL_LISTENER, ())
    if not further or ALTER_USERS not in served:
        return [plain]
    password = salted_password(SCRAM_MECHANISM, USERS[USER], SALT, ITERATIONS)
    row = {
        "name": USER, "mechanism": 1 + SCRAM.index(SCRAM_MECHANISM), "iterations": ITERATIONS,
        "salt": SALT, "salted_password": password,
    }  # fmt: skip
    with Link(*plain) as link:
        link.ask(ALTER_USERS, 0, {"deletions": [], "upsertions": [row]})
        wait_until(lambda: _knows(link), f"{USER} was not made", link)
    return [plain, further[0]]


def _knows(link: Link) -> bool:
    answer = link.ask(DESCRIBE_USERS, 0, {"users": [{"name": USER}]})
    return answer is not None and bool(answer["results"][0]["credential_infos"])


def about(
    apis: Sequence[str], keys: Sequence[int], brokers: Sequence[Address], served: Versions
) -> list[Pair]:
    """The pairs that cases are about. Raises BadParameter for an API that is not asked."""
    asked = [key for key in keys if key not in LOGIN or brokers[1:]]
    pairs = askable(asked, served)
    there = {API[pair.key].name: pair.key for pair in pairs}
    for name in apis:
        if name not in there:
            raise click.BadParameter(
                f"a session is answered no {name} here, but {', '.join(there)}", param_hint="--api"
            )
    wanted = {there[name] for name in apis}
    return [pair for pair in pairs if not wanted or pair.key in wanted]


@contextmanager
def stage(program: Program, brokers: Sequence[Address], pairs: Sequence[Pair]) -> Iterator[Stage]:
    """Where one client plays at a time; its process ends with it."""
    players = Players(program)
    with Link(*brokers[0]) as link, Proxy(*brokers) as proxy, closing(players):
        yield Stage(players, proxy, topics_on(link), pairs)


def play_clients(client: str, stages: Sequence[Stage], bounds: ClientBounds) -> int:
    """One client's campaign, or one case again; returns the exit code."""
    if bounds.replay is not None:
        return replayed(stages[0], bounds.replay)
    with interrupts.kept(), concluded(bounds.account):
        elapsed = stopwatch()
        tally = run(stages, bounds.seed, continuation(client, bounds.cases, bounds.seconds))
        report(tally, client, bounds, stages[0].pairs, elapsed())
        if tally.interrupted:
            click.echo(f"touchstone fuzz: {client}: interrupted", err=True)
            return INCOMPLETE
    return FOUND if bounds.account.causes else 0


def topics_on(link: Link) -> Callable[[], str]:
    """Makes a new topic at each call: no case reads what another one left."""
    run_name, numbers = secrets.token_hex(4), itertools.count()

    def fresh() -> str:
        name = f"fuzz-client-{run_name}-{next(numbers)}"
        create_topics(link, {name: False})
        return name

    return fresh


def continuation(client: str, cases: int | None, seconds: float | None) -> Callable[[Tally], bool]:
    """What says before each case whether to go on, and reports progress."""
    elapsed = stopwatch()
    most = CASES if cases is None and seconds is None else cases
    told = 0.0

    def wanted(tally: Tally) -> bool:
        nonlocal told
        now = elapsed()
        if tally.cases and now - told >= REPORT_EVERY_S:
            told = now
            of = "" if most is None else f" of {most}"
            left = [] if most is None else [(most - tally.cases) * now / tally.cases]
            left += [] if seconds is None else [seconds - now]
            click.echo(
                f"{client}: {tally.cases}{of} cases, {now / tally.cases:.1f} s each,"
                f" {min(left) / 60:.0f} min left: {counts(tally)}",
                err=True,
            )
        return (seconds is None or now < seconds) and (most is None or tally.begun < most)

    return wanted


def counts(tally: Tally) -> str:
    kinds = ", ".join(f"{count} {kind}" for kind, count in tally.kinds.most_common())
    return f"{kinds}; {tally.unsteady} unsteady, {len(tally.found)} findings"


def report(
    tally: Tally, client: str, bounds: ClientBounds, pairs: Sequence[Pair], seconds: float
) -> None:
    """Print the table and write a file for each group of findings."""
    click.echo(
        f"{client}: {tally.cases} cases, answers of {len(tally.pairs)} (API, version) pairs"
        f" spoiled, {counts(tally)}"
    )
    if tally.cases >= len(pairs):  # each pair had its turn
        click.echo(f"  never asked: {versions_of(set(pairs) - tally.pairs) or 'none'}")
    account, name = bounds.account, f"client-{client}"
    result = Result(name, tally.cases, signatures=tally.kinds)
    account.played(Played(result, seconds=seconds), findings=len(tally.found))
    for number, members in enumerate(groups(tally.found)):
        one = members[0]
        path = write(one, client, bounds.seed, account.out / name, number)
        account.found(
            name, cause_of(one), one.verdict.words, decides=one.again, members=len(members),
            bytes=len(one.spoiled), file=str(path.relative_to(account.out)),
        )  # fmt: skip
        often = "" if one.again else "not played once more: "
        click.echo(f"  {len(members):4} x {often}{one.verdict.kind}: {one.fault.sentence}")
        click.echo(
            f"         {shown.line(one.verdict.words[:160])}; case {one.index} in {path.name}"
        )
        click.echo(f"         {account.replay(path)}")


def versions_of(pairs: Iterable[Pair]) -> str:
    """By API, its versions: "Produce 3 4, Fetch 4"."""
    by_key: dict[int, list[int]] = {}
    for pair in sorted(pairs, key=lambda one: (one.key, one.version)):
        by_key.setdefault(pair.key, []).append(pair.version)
    return ", ".join(f"{API[key].name} {' '.join(map(str, v))}" for key, v in by_key.items())


def replayed(stage: Stage, path: Path) -> int:
    """Play a stored case again; returns the exit code."""
    fault = load(path)
    verdict, spoiler = stage.play(fault)
    click.echo(f"{path.stem}: {fault.sentence}: {verdict.kind} {shown.line(verdict.words)}")
    click.echo(f"  {spoiler.fired} answers spoiled")
    return FOUND if verdict.is_finding else 0
