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
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from pathlib import Path

from touchstone.fuzz import interrupts
from touchstone.fuzz.clients.case import HANGS, Patience, Verdict, play
from touchstone.fuzz.clients.faults import WAYS, Fault, Spoiler, drawn
from touchstone.fuzz.clients.proxy import Proxy
from touchstone.fuzz.clients.session import Player, Program
from touchstone.fuzz.generator import Pair
from touchstone.fuzz.triage import Cause
from touchstone.fuzz.triage.finding_file import atomically, text
from touchstone.reference_impl.wire.apis import API

CASES_PER_PROCESS = 50
START_S = 60.0
TRIES = 3
NEVER = 1_000_000  # no session asks so often
LOOK_S = 0.1
"""How often it is looked whether the user wants an end."""
UNSTEADY = "unsteady"
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
    again: bool = True  # it was played once more and showed the same


@dataclass
class Tally:
    """What a campaign came to so far. `untried` are findings, by index, that nobody has played once
    more yet.
    """

    begun: int = 0
    cases: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    unsteady: int = 0
    found: list[ClientFinding] = field(default_factory=list)
    untried: dict[int, ClientFinding] = field(default_factory=dict)
    pairs: set[Pair] = field(default_factory=set)  # of which answers were spoiled
    interrupted: bool = False

    def count(
        self, index: int, fault: Fault, verdict: Verdict, spoiler: Spoiler, shown: bool
    ) -> None:
        self.untried.pop(index, None)
        self.cases += 1
        self.kinds[verdict.kind] += 1
        if spoiler.fired:
            self.pairs |= spoiler.asked
        if shown:
            self.found.append(ClientFinding(index, fault, verdict, *spoiler.last))
        elif verdict.is_finding:
            self.unsteady += 1

    def interrupt(self) -> None:
        """What was not played once more stays as it was seen."""
        self.interrupted = True
        self.cases += len(self.untried)
        self.kinds.update(one.verdict.kind for one in self.untried.values())
        self.found += self.untried.values()
        self.untried.clear()


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
            fault = drawn(seed, index, stage.pairs)
            verdict, spoiler = stage.play(fault)
            with lock:
                if over.is_set():  # its client was ended under it
                    return
                if verdict.is_finding:
                    seen = ClientFinding(index, fault, verdict, *spoiler.last, again=False)
                    tally.untried[index] = seen
            shown = verdict.is_finding and shows_again(stage, fault, verdict)
            with lock:
                if not over.is_set():
                    tally.count(index, fault, verdict, spoiler, shown)

    def end() -> None:
        with lock:
            over.set()
        for stage in stages:
            stage.players.close()

    with ThreadPoolExecutor(len(stages), "client") as pool:
        try:
            left = {pool.submit(work, stage) for stage in stages}
            while left and not interrupts.ended():
                done, left = wait(left, LOOK_S, FIRST_EXCEPTION)
                for one in done:
                    one.result()
        except KeyboardInterrupt:
            tally.interrupted = True
        finally:
            end()
    if tally.interrupted or interrupts.ended():
        tally.interrupt()
    tally.found.sort(key=lambda one: one.index)
    return tally


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


def cause_of(one: ClientFinding) -> Cause:
    """Its kind, API and first word (an exception's class)."""
    first = one.verdict.words.partition(":")[0].partition(" ")[0]
    return Cause(one.verdict.kind, one.fault.key, first)


def groups(found: list[ClientFinding]) -> list[list[ClientFinding]]:
    """Findings of one cause, those that showed again first and of these the smallest answer."""
    by_cause: dict[Cause, list[ClientFinding]] = {}
    for one in found:
        by_cause.setdefault(cause_of(one), []).append(one)
    return [
        sorted(those, key=lambda one: (not one.again, len(one.spoiled)))
        for those in by_cause.values()
    ]


def write(one: ClientFinding, client: str, seed: int, folder: Path, number: int) -> Path:
    """One finding as a file for `--replay`, whole or not at all; one that was not played once more
    goes to the folder `unsteady` within.
    """
    folder = folder if one.again else folder / UNSTEADY
    folder.mkdir(parents=True, exist_ok=True)
    fault = one.fault
    path = folder / f"{number:02}-{one.verdict.kind}-{API[fault.key].name}-{fault.way}.toml"
    cap = "" if fault.version is None else f"version = {fault.version}\n"
    atomically(
        path,
        f"# {client}, seed {seed}, case {one.index}: {fault.sentence}\n"
        f'client = {text(client)}\nkind = "{one.verdict.kind}"\nwords = {text(one.verdict.words)}\n'
        f"key = {fault.key}\n{cap}nth = {fault.nth}\ntimes = {fault.times}\n"
        f'way = "{fault.way}"\nseed = "{fault.seed}"\n'
        f'honest = "{one.honest[:MOST_HEX].hex()}"\nspoiled = "{one.spoiled[:MOST_HEX].hex()}"\n',
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
