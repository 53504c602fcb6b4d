"""`touchstone fuzz --client NAME`: faults in answers to a client; findings as files that replay.

The broker behind the proxy is any target, ours by default. Each finding is played again before it
is called one, and a session without a fault after it: what does not show a second time, or shows
without the fault, is counted as unsteady. A file holds the case as
fields (client, seed, index and what they were drawn to be) and the last spoiled answer as bytes.
"""

from __future__ import annotations

import threading
import tomllib
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from pathlib import Path

from touchstone.fuzz.clients.case import HANGS, Patience, Verdict, play
from touchstone.fuzz.clients.faults import WAYS, Fault, Spoiler, drawn
from touchstone.fuzz.clients.proxy import Proxy
from touchstone.fuzz.clients.session import Player, Program
from touchstone.fuzz.generator import Pair
from touchstone.reference_impl.wire.apis import API

CASES_PER_PROCESS = 50
START_S = 60.0
TRIES = 3
NEVER = 1_000_000  # no session asks so often
MOST_HEX = 4000
"""Bytes of an answer that a finding's file shows."""


class BadFinding(ValueError):
    """A file that holds no case of a client campaign; names the field."""


class NotStarted(Exception):
    """The client's program did not say that it is ready."""


@dataclass(frozen=True)
class ClientFinding:
    """A finding: the case, the verdict, the last answer as it was and as it went out."""

    index: int
    fault: Fault
    verdict: Verdict
    honest: bytes
    spoiled: bytes


@dataclass
class Tally:
    """What a campaign came to so far."""

    begun: int = 0
    cases: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    unsteady: int = 0
    found: list[ClientFinding] = field(default_factory=list)
    pairs: set[Pair] = field(default_factory=set)  # of which answers were spoiled
    interrupted: bool = False

    def count(
        self, index: int, fault: Fault, verdict: Verdict, spoiler: Spoiler, shown: bool
    ) -> None:
        self.cases += 1
        self.kinds[verdict.kind] += 1
        if spoiler.fired:
            self.pairs |= spoiler.asked
        if shown:
            self.found.append(ClientFinding(index, fault, verdict, *spoiler.last))
        elif verdict.is_finding:
            self.unsteady += 1


class Players:
    """The client's process, replaced after a finding and after some cases.

    `close` comes from another thread than the one that plays: it ends the process under a case.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self._process: Player | None = None
        self._played = 0
        self._closed = threading.Event()

    def process(self) -> Player:
        """One that is ready. Raises NotStarted, also once it is closed."""
        if self._closed.is_set():
            raise NotStarted("its campaign is over")
        if self._process is not None and self._played < CASES_PER_PROCESS:
            self._played += 1
            return self._process
        self.end()
        fresh = Player(self.program)
        self._process, self._played = fresh, 1
        if self._closed.is_set():  # meanwhile
            self.end()
        if not fresh.wait_for("ready", START_S):
            words = fresh.last_words()
            raise NotStarted(words or "it does not say that it is ready")
        return fresh

    def end(self) -> None:
        if self._process is not None:
            self._process.end()
            self._process = None

    def close(self) -> None:
        self._closed.set()
        self.end()


@dataclass
class Stage:
    """Where cases are played: the client's processes, the proxy, a fresh topic for each, and the
    (API key, version) pairs that cases are about, in turn.
    """

    players: Players
    proxy: Proxy
    fresh_topic: Callable[[], str]
    pairs: Sequence[Pair]
    patience: Patience = field(default_factory=Patience)

    def play(self, fault: Fault) -> tuple[Verdict, Spoiler]:
        """One case. Raises NotStarted."""
        topic = self.fresh_topic()
        result = play(self.players.process(), self.proxy, fault, topic, self.patience)
        if result[0].is_finding:
            self.players.end()
        return result


def run(stages: Sequence[Stage], seed: int, wanted: Callable[[Tally], bool]) -> Tally:
    """The cases of this seed, each stage playing the next one, while `wanted(tally)` holds, or
    until Ctrl-C. What a stage raises ends them all and is raised.
    """
    tally, lock, over = Tally(), threading.Lock(), threading.Event()

    def work(stage: Stage) -> None:
        while True:
            with lock:
                if over.is_set() or not wanted(tally):
                    return
                index = tally.begun
                tally.begun += 1
            played = judged(stage, drawn(seed, index, stage.pairs))
            with lock:
                if not over.is_set():  # else its client was ended under it
                    tally.count(index, *played)

    with ThreadPoolExecutor(len(stages), "client") as pool:
        try:
            for done in as_completed([pool.submit(work, stage) for stage in stages]):
                done.result()
        except BaseException as problem:
            over.set()
            for stage in stages:
                stage.players.close()
            if not isinstance(problem, KeyboardInterrupt):
                raise
            tally.interrupted = True
    tally.found.sort(key=lambda one: one.index)
    return tally


def judged(stage: Stage, fault: Fault) -> tuple[Fault, Verdict, Spoiler, bool]:
    """A case, its verdict, and whether that showed again, where it is a finding."""
    verdict, spoiler = stage.play(fault)
    return fault, verdict, spoiler, verdict.is_finding and shows_again(stage, fault, verdict)


def shows_again(stage: Stage, fault: Fault, verdict: Verdict) -> bool:
    """Whether the same comes of the same case, while a session without a fault does well: on a busy
    machine a client that is slow is not one that hangs. What no busy machine does has three tries,
    for it may hang on which thread of the client was first.
    """
    tries = 1 if verdict.kind == HANGS else TRIES
    if all(stage.play(fault)[0].kind != verdict.kind for _ in range(tries)):
        return False
    honest, _ = stage.play(replace(fault, nth=NEVER))
    return not honest.is_finding


def groups(found: list[ClientFinding]) -> list[list[ClientFinding]]:
    """Findings of one kind, API and first word (an exception's class), smallest answer first."""
    by_kind: dict[tuple[str, int, str], list[ClientFinding]] = {}
    for one in found:
        first = one.verdict.words.partition(":")[0].partition(" ")[0]
        by_kind.setdefault((one.verdict.kind, one.fault.key, first), []).append(one)
    return [sorted(those, key=lambda one: len(one.spoiled)) for those in by_kind.values()]


def write(one: ClientFinding, client: str, seed: int, folder: Path, number: int) -> Path:
    """One finding as a file for `--replay`."""
    folder.mkdir(parents=True, exist_ok=True)
    fault = one.fault
    path = folder / f"{number:02}-{one.verdict.kind}-{API[fault.key].name}-{fault.way}.toml"
    words = one.verdict.words.replace("\\", "/").replace('"', "'")
    cap = "" if fault.version is None else f"version = {fault.version}\n"
    path.write_text(
        f"# {client}, seed {seed}, case {one.index}: {fault.sentence}\n"
        f'client = "{client}"\nkind = "{one.verdict.kind}"\nwords = "{words}"\n'
        f"key = {fault.key}\n{cap}nth = {fault.nth}\ntimes = {fault.times}\n"
        f'way = "{fault.way}"\nseed = "{fault.seed}"\n'
        f'honest = "{one.honest[:MOST_HEX].hex()}"\nspoiled = "{one.spoiled[:MOST_HEX].hex()}"\n'
    )
    return path


def load(path: Path) -> Fault:
    """The case of a finding's file. Raises BadFinding."""
    try:
        fields = tomllib.loads(path.read_text())
        fault = Fault(
            fields["key"], fields.get("version"), fields["nth"], fields["times"], fields["way"],
            fields["seed"],
        )  # fmt: skip
    except tomllib.TOMLDecodeError as problem:
        raise BadFinding(f"{path}: not TOML: {problem}") from problem
    except KeyError as problem:
        raise BadFinding(f"{path}: field {problem} is missing") from problem
    if fault.way not in WAYS:
        raise BadFinding(f"{path}: way: no {fault.way!r}")
    return fault
