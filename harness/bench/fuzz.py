"""Executions a second of the fuzzer beside boofuzz's, on our broker and on Kafka, and in process.

Both send to the same broker in turns of one run. boofuzz is the peer as it is fastest: without its
logs, its web page, and without looking at any answer, which our fuzzer reads, parses and judges.
It is taken from this Python where it is installed, else from a virtual environment of its own in
the cache. In process the peer is the same campaign without coverage: what watching lines costs.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import venv
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from touchstone.harness.bench.contest import (
    Figure,
    Options,
    available_peers,
    best,
    our_broker,
    peer_broker,
)
from touchstone.harness.model.target import Shape
from touchstone.harness.targets.cache import cache_dir, kept

BOOFUZZ = "boofuzz==0.4.2"
CAMPAIGNS = ("valid", "frames", "fields", "records")
PERSISTENT, FRESH = "persistent", "connection per case"
TURN_SECONDS = 6
LONGEST_TURN = 300
WARM = 3000
"""Cases played before the first that counts: codecs and handlers are made at first use."""
INSTALL_SECONDS = 300
CONFIG = {
    "auto.create.topics.enable": "false",
    "group.initial.rebalance.delay.ms": "0",
    "log.retention.bytes": "1048576",
    "log.segment.bytes": "1048576",
    "offsets.topic.num.partitions": "1",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
}


def run(options: Options) -> Iterator[Figure]:
    peer = boofuzz_python(options)
    with our_broker(options, config=CONFIG) as (bootstrap, _):
        yield from over_sockets(options, f"reference@{options.release}", bootstrap, peer)
    for name in available_peers(options):
        with peer_broker(name, Shape(config=CONFIG)) as (bootstrap, _):
            yield from over_sockets(options, name, bootstrap, peer)
    yield from in_process(options)


def over_sockets(
    options: Options, target: str, bootstrap: str, peer: Path | None
) -> Iterator[Figure]:
    """Each campaign in both ways beside boofuzz in the same way, in turns."""
    address = bootstrap.partition(",")[0]
    for way, fresh in ((PERSISTENT, False), (FRESH, True)):
        how = {
            "address": address,
            "release": target.partition("@")[2] or options.release,
            "fresh": fresh,
        }
        ours = [partial(fuzz_rate, name, **how) for name in CAMPAIGNS]
        theirs: list[Callable[[], float]] = []
        if peer is not None:
            theirs = [partial(boofuzz_rate, peer, address, way)]
        rates = best(options.rounds, max, *ours, *theirs)
        beside = ("boofuzz", round(rates[-1])) if peer is not None else (None, None)
        for name, rate in zip(CAMPAIGNS, rates, strict=False):
            options.say(f"fuzz {name} on {target}, {way}: {rate:,.0f} cases/s")
            yield Figure("fuzz", f"{name} on {target}, {way}", round(rate), "cases/s", *beside)


def in_process(options: Options) -> Iterator[Figure]:
    """With coverage, beside the same without it, and then in two processes."""
    for name in CAMPAIGNS:
        here = partial(fuzz_rate, name, release=options.release, warm=WARM)
        watched, plain = partial(here, coverage=True), here
        rates = best(options.rounds, max, watched, plain)
        what = f"{name} in process, with coverage"
        yield Figure("fuzz", what, round(rates[0]), "cases/s", "without coverage", round(rates[1]))
    two = partial(fuzz_rate, "valid", release=options.release, warm=WARM, coverage=True, jobs=2)
    (rate,) = best(options.rounds, max, two)
    yield Figure("fuzz", "valid in two processes, with coverage", round(rate), "cases/s")


def fuzz_rate(campaign: str, **how: object) -> float:
    """One turn of ours, in a process of its own."""
    wanted = json.dumps({"campaign": campaign, "seconds": TURN_SECONDS, **how})
    argv = [sys.executable, "-m", "touchstone.fuzz.speed", wanted]
    return printed(argv, f"{campaign} {how}")


def printed(argv: list[str], what: str) -> float:
    """The rate that a turn prints. Raises RuntimeError with the end of what it said otherwise."""
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=LONGEST_TURN)
    try:
        return float(done.stdout.split()[-1])
    except (IndexError, ValueError):
        raise RuntimeError(f"{what}: {done.stderr[-500:]}") from None


def boofuzz_rate(python: Path, address: str, way: str) -> float:
    host, _, port = address.rpartition(":")
    script = Path(__file__).with_name("boofuzz_peer.py")
    argv = [str(python), str(script), host, port, str(TURN_SECONDS), way]
    return printed(argv, "boofuzz")


def boofuzz_python(options: Options) -> Path | None:
    """A Python that has boofuzz; None, and a word why, where there is none to be had."""
    if importlib.util.find_spec("boofuzz") is not None:
        return Path(sys.executable)
    try:
        return kept(cache_dir() / BOOFUZZ.replace("==", "-"), install) / "bin" / "python"
    except (OSError, subprocess.SubprocessError) as problem:
        options.say(f"boofuzz not run: {problem}")
        return None


def install(folder: Path) -> None:
    venv.create(folder, with_pip=True)
    subprocess.run(
        [str(folder / "bin" / "python"), "-m", "pip", "-q", "install", BOOFUZZ],
        check=True, capture_output=True, timeout=INSTALL_SECONDS,
    )  # fmt: skip
