"""What every bench shares: the options, a figure, and the two brokers that stand side by side.

A rate measured alone says more about the machine and its hour than about the code, so a figure is
ours beside a peer's, taken in turns in one run, best turn of each. `ratio` is made so that more
than one means ours is better, whichever way the unit points.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from types import MappingProxyType
from typing import Any

import click

from touchstone.harness.model.target import Shape, Unavailable
from touchstone.harness.targets import parse, reach
from touchstone.harness.targets.process import KafkaProcess

READY_SECONDS = 60
ONE = Shape()
_NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"
LOGGING_IN = ("producer-perf", "consumer-perf", "latency", "groups", "transactions", "suites")
MEMORY, DISK = STORES = ("memory", "disk")


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line decides for all benches."""

    peers: tuple[str, ...] = ("kafka@4.3",)
    rounds: int = 2
    records: int = 2_000_000
    release: str = "4.3"
    brokers: tuple[int, ...] = (1,)  # sizes of cluster; every partition has so many replicas
    stores: tuple[str, ...] = STORES  # where our broker keeps its log

    def say(self, line: str) -> None:
        """Progress, on stderr: stdout belongs to the table."""
        click.echo(f"bench: {line}", err=True)


@dataclass(frozen=True, slots=True)
class Figure:
    """One thing measured: ours, and a peer's where one could be run."""

    bench: str
    what: str
    ours: float
    unit: str
    peer: str | None = None
    theirs: float | None = None
    more_is_better: bool = True
    notes: Mapping[str, object] = field(default_factory=dict)

    @property
    def ratio(self) -> float | None:
        """More than one: ours is better."""
        if not self.theirs or not self.ours:
            return None
        return self.ours / self.theirs if self.more_is_better else self.theirs / self.ours

    def row(self) -> dict[str, object]:
        made = asdict(self)
        made["ratio"] = None if self.ratio is None else round(self.ratio, 3)
        return made


@contextlib.contextmanager
def our_broker(
    options: Options,
    brokers: int = 1,
    store: str = MEMORY,
    config: Mapping[str, object] = MappingProxyType({}),
) -> Iterator[tuple[str, int]]:
    """`touchstone broker` as users run it: (bootstrap servers, process number)."""
    argv = [sys.executable, "-m", "touchstone", "broker", "--brokers", str(brokers)]
    argv += ["--release", options.release, "--port", "0"]
    argv += [word for name, value in config.items() for word in ("--config", f"{name}={value}")]
    with contextlib.ExitStack() as stack:
        if store == DISK:
            folder = tempfile.TemporaryDirectory(prefix="touchstone-bench-")
            argv += ["--data", stack.enter_context(folder)]
        yield stack.enter_context(served(argv))


@contextlib.contextmanager
def served(argv: list[str]) -> Iterator[tuple[str, int]]:
    # pip compiles what it installs, so no user's start compiles each module again.
    compiled = {name: value for name, value in os.environ.items() if name != _NO_BYTECODE}
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, env=compiled) as process:
        try:
            assert process.stdout is not None
            word, _, bootstrap = process.stdout.readline().strip().partition(" ")
            if word != "ready":
                raise RuntimeError("`touchstone broker` ended before it was ready")
            yield bootstrap, process.pid
        finally:
            process.terminate()
            process.wait(timeout=READY_SECONDS)


@contextlib.contextmanager
def peer_broker(
    name: str, shape: Shape = ONE, profile: str = "bench"
) -> Iterator[tuple[str, list[int]]]:
    """A peer by its target word, Kafka with the options of its own scripts."""
    target = parse(name)
    if isinstance(target, KafkaProcess):
        target = KafkaProcess(name.partition("@")[2], profile=profile)
    try:
        endpoint = target.start(shape)
        bootstrap = ",".join(f"{host}:{port}" for host, port in endpoint.bootstrap)
        yield bootstrap, target.pids() if isinstance(target, KafkaProcess) else []
    finally:
        target.stop()


@contextlib.contextmanager
def side_by_side(options: Options, peer: str, brokers: int) -> Iterator[dict[str, str]]:
    """Bootstrap servers by who is behind them: ours with each store, and the peer's."""
    with contextlib.ExitStack() as stack:
        sides = {
            store: stack.enter_context(our_broker(options, brokers, store))[0]
            for store in options.stores
        }
        sides[peer] = stack.enter_context(peer_broker(peer, Shape(brokers=brokers)))[0]
        yield sides


def figures_of(
    bench: str, what: str, unit: str, rates: dict[str, float], peer: str, **more: Any
) -> Iterator[Figure]:
    """One figure for each store of ours, all beside the same turn of the peer."""
    for store, rate in rates.items():
        if store != peer:
            yield Figure(
                bench, f"{what}, {store}", round(rate), unit, peer, round(rates[peer]), **more
            )


def available_peers(
    options: Options, *, starts: bool = False, logs_in: bool = False
) -> Iterator[str]:
    """Yield the peers that this machine can run; name each other one with its reason. `starts`: the
    bench measures a start, or processes of ours; `logs_in`: it speaks to clusters that want that.
    """
    for name in options.peers:
        try:
            target = parse(name)
            reason = target.available()
            runs_already = getattr(target, "addresses", ())
            if not reason and starts and runs_already:
                reason = "it runs already, and this bench measures what it starts itself"
            wants_login = any(
                reach.is_secured(one) or not reach.is_anonymous(one) for one in runs_already
            )
            if not reason and wants_login and not logs_in:
                reason = f"this bench cannot log in; {', '.join(LOGGING_IN)} can"
        except (Unavailable, ValueError) as missing:
            reason = str(missing)
        if reason:
            options.say(f"{name} not run: {reason}")
        else:
            yield name


def best(rounds: int, better: Callable[..., Any], *contestants: Callable[[], float]) -> list[float]:
    """Each contestant's best turn; they take turns, so a busy minute hurts all alike."""
    turns = [[contestant() for contestant in contestants] for _ in range(rounds)]
    return [better(column) for column in zip(*turns, strict=True)]
