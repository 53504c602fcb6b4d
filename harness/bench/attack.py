"""What a well-behaved client waits while others send hostile frames: p50 and p99, beside a peer's.

One canary asks ApiVersions, Produce (acks=all, one record) and Fetch in turn on a connection of its
own. First alone, then beside peers in another process: mutated frames of every kind (`frames`),
valid requests of 100 KB with thousands of elements in one array (`wide`), and each of the lanes of
`attack_lanes`: expressions, payloads, pipelines, answers that nobody reads, groups, topics.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import random
import socket
import threading
import time
from collections.abc import Callable, Iterator
from multiprocessing.synchronize import Event
from typing import Any

from touchstone.fuzz.campaign import campaigns, generated, play
from touchstone.fuzz.corpus_run import create_topics
from touchstone.fuzz.generator import TOPICS, Generator, harmless, pairs_of
from touchstone.fuzz.oracles import SentFrame, sent_frame
from touchstone.fuzz.runner import Address, Link
from touchstone.fuzz.widened import Widened, places
from touchstone.harness.bench import attack_lanes
from touchstone.harness.bench.attack_lanes import LANES
from touchstone.harness.bench.contest import (
    Figure,
    Options,
    available_peers,
    our_broker,
    peer_broker,
)
from touchstone.harness.model import advertised
from touchstone.reference_impl.wire.framing import Frames, framed
from touchstone.reference_impl.wire.headers import encode_request
from touchstone.reference_impl.wire.records import build

PRODUCE, FETCH, API_VERSIONS = 0, 1, 18
CANARY = "canary"
ATTACKERS, SECONDS, TIMEOUT_S, PATIENCE_S = 8, 15.0, 0.5, 20.0
WIDE_BYTES = 100_000
SEED = 1
MIXES = ("frames", "wide")  # of frames that a campaign plays; then there are lanes
EVERY = 0.005  # s between two questions of the canary


class Canary:
    """Asks one thing after another and keeps how long each answer took, in ms."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._count = 0
        self._connect()

    def _connect(self) -> None:
        self._socket = socket.create_connection(self._address, PATIENCE_S)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._frames = Frames()

    def close(self) -> None:
        self._socket.close()

    def watch(self, seconds: float) -> list[float]:
        """Milliseconds of each question that was asked within so many seconds, sorted.

        One that is not answered in PATIENCE_S counts as that, and the canary connects anew, as
        often as it takes: a peer may be gone, or too busy to accept.
        """
        took, ends = [], time.monotonic() + seconds
        while time.monotonic() < ends:
            for key, version, body in self._questions():
                began = time.perf_counter()
                try:
                    self._ask(key, version, body)
                    took.append((time.perf_counter() - began) * 1000)
                except OSError:
                    took.append(PATIENCE_S * 1000)
                    self._connect_anew(ends)
                    break
            time.sleep(EVERY)
        return sorted(took)

    def _connect_anew(self, until: float) -> None:
        self.close()
        while time.monotonic() < until:
            with contextlib.suppress(OSError):
                self._connect()
                return
            time.sleep(EVERY)

    def _questions(self) -> Iterator[tuple[int, int, dict[str, Any]]]:
        yield API_VERSIONS, 0, {}
        record = build(2, [b"canary"], timestamp=int(time.time() * 1000))
        rows = [{"index": 0, "records": record}]
        topics = [{"name": CANARY, "partition_data": rows}]
        how = {"transactional_id": None, "acks": -1, "timeout_ms": 30_000}
        yield PRODUCE, 9, {**how, "topic_data": topics}
        row = {"partition": 0, "fetch_offset": self._count, "partition_max_bytes": 1 << 16}
        asked = [{"topic": CANARY, "partitions": [row]}]
        yield FETCH, 11, {"max_wait_ms": 0, "min_bytes": 0, "max_bytes": 1 << 16, "topics": asked}
        self._count += 1

    def _ask(self, key: int, version: int, body: dict[str, Any]) -> None:
        self._socket.sendall(framed(encode_request(key, version, 1, CANARY, body)))
        while True:
            chunk = self._socket.recv(1 << 16)
            if not chunk:
                raise ConnectionError("the canary's connection was closed")
            if self._frames.feed(chunk):
                return


def run(options: Options) -> Iterator[Figure]:
    with our_broker(options) as (bootstrap, _):
        ours = measured(options, "ours", bootstrap)
    peers = {}
    for peer in available_peers(options):
        with peer_broker(peer) as (bootstrap, _):
            peers[peer] = measured(options, peer, bootstrap)
    for phase, waits in ours.items():
        for share in (50, 99):
            mine, what = percentile(waits, share), f"canary p{share}, {phase}"
            if not peers:
                yield Figure("attack", what, mine, "ms", more_is_better=False)
            for peer, theirs in peers.items():
                other = percentile(theirs[phase], share)
                yield Figure("attack", what, mine, "ms", peer, other, more_is_better=False)


def measured(options: Options, who: str, bootstrap: str) -> dict[str, list[float]]:
    """What the canary waited, in ms: alone, and in each mix."""
    host, _, port = bootstrap.partition(",")[0].rpartition(":")
    address = host, int(port)
    with Link(*address) as link:
        create_topics(link, dict.fromkeys([*TOPICS, CANARY], False))
    found = {}
    with contextlib.closing(Canary(address)) as canary:
        canary.watch(SECONDS / 5)  # what is made once is made
        found["alone"] = canary.watch(SECONDS / 3)
        for mix in (*MIXES, *lanes_of(options.release)):
            with attacked(address, mix, options.release) as sent:
                found[mix] = canary.watch(SECONDS)
            options.say(f"{who}, {mix}: {sent():,} frames beside {len(found[mix])} questions")
    for phase, waits in found.items():
        shown = [percentile(waits, share) for share in (50, 99, 100)]
        options.say(f"{who}, {phase}: p50 {shown[0]} ms, p99 {shown[1]} ms, most {shown[2]} ms")
    return found


def lanes_of(release: str) -> list[str]:
    """Those whose API the release has."""
    table = advertised.table(release)
    has = {(key, version) for key, (low, high) in table.items() for version in range(low, high + 1)}
    return [name for name, lane in LANES.items() if lane.needs in has]


def percentile(waits: list[float], share: int) -> float:
    """Of sorted values: the least that `share` % of them do not exceed."""
    return round(waits[max(0, -(-len(waits) * share // 100) - 1)], 2)


@contextlib.contextmanager
def attacked(address: Address, mix: str, release: str) -> Iterator[Callable[[], int]]:
    """Peers in another process, until the end of the `with`; gives how many frames they sent."""
    spawned = multiprocessing.get_context("spawn")
    count, began, over = spawned.Value("q", 0), spawned.Event(), spawned.Event()
    process = spawned.Process(target=_attack, args=(address, mix, release, count, began, over))
    process.start()
    try:
        if not began.wait(PATIENCE_S):
            raise TimeoutError("the peers did not begin")
        yield lambda: int(count.value)
    finally:
        over.set()
        process.join(PATIENCE_S)
        process.kill()


def _attack(
    address: Address, mix: str, release: str, count: Any, began: Event, over: Event
) -> None:
    def counted() -> None:
        with count.get_lock():
            count.value += 1
        began.set()

    def one(seed: int) -> None:
        if mix in LANES:
            attack_lanes.run(mix, address, seed, over.is_set, counted)
            return
        with Link(*address, timeout_s=TIMEOUT_S, settle=lambda: None) as link:
            for sent in frames_of(mix, release, seed):
                if over.is_set():
                    return
                with contextlib.suppress(ConnectionError, TimeoutError):
                    play(link, sent)
                counted()

    threads = [threading.Thread(target=one, args=(SEED + at,)) for at in range(ATTACKERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def frames_of(mix: str, release: str, seed: int) -> Iterator[SentFrame]:
    """Frames for ever; each seed's are its own."""
    pairs = harmless(pairs_of(advertised.table(release)))
    if mix == "frames":
        for _, sent, _ in generated(
            campaigns()["frames"], lambda draw: Generator(pairs, draw), seed
        ):
            yield sent
    draw, wide = random.Random(seed), places(pairs)
    while True:
        pair, path = draw.choice(wide)
        made = Widened(path, 1, same=draw.random() < 0.5, seed=draw.randrange(1 << 30))
        one = len(made.frame_of(pair, 1))
        made.count = 101
        each = max(1, (len(made.frame_of(pair, 1)) - one) // 100)
        made.count = max(1, (WIDE_BYTES - one) // each)
        yield sent_frame(made.frame_of(pair, 1))
