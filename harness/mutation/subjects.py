"""Whom mutants are planted in: our broker, in this process, or our client, in that of its adapter.

A subject says which cases there are, what each of them runs, and how a changed function gets to
where the cases meet it.
"""

from __future__ import annotations

import json
import os
import tempfile
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from touchstone.harness.adapters import adapter_file
from touchstone.harness.judgement.verdict import BROKEN, CONFORMS, DIVERGES, Verdict
from touchstone.harness.model.case import Case, run_case
from touchstone.harness.model.claim import BROKER_ROLE, CLIENT_ROLE, CaseId
from touchstone.harness.mutation import harmed_client, planting, reach
from touchstone.harness.mutation.operators import Mutant, Source
from touchstone.harness.mutation.reach import AnyJudge, Hook, Measured
from touchstone.harness.mutation.settings import DEFAULTS, QUIRKS
from touchstone.harness.run import detection
from touchstone.harness.run.client_judge import ClientJudge
from touchstone.harness.run.judge import judge_for
from touchstone.harness.run.oracles import Recorded
from touchstone.harness.targets import parse

DEADLINE_S = 10.0
NONCE = "mutation"


@dataclass(frozen=True)
class Subject(ABC):
    """One release of Kafka; `rooms` are those of the pair that mutants come from, less `left_out`,
    what is there to be a defect; `tables` are values of the release (`settings`).
    """

    release: str
    role: ClassVar[str]
    rooms: ClassVar[tuple[str, ...]]
    left_out: ClassVar[tuple[str, ...]]
    tables: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def judge(self) -> AnyJudge:
        """One for this process, which ends it by `close`."""

    @abstractmethod
    def measure(self, part: int, parts: int) -> Iterator[Measured]:
        """What every `parts`-th case runs."""

    @abstractmethod
    def plant(self, module: str, source: Source, mutant: Mutant) -> None:
        """Harm what is judged in this process from now on."""

    def cases(self, judge: AnyJudge) -> list[tuple[CaseId, Any]]:
        """The cases of a run by default, each with the function of its claim."""
        return reach.newest(detection.functions(self.role).values(), judge)

    @abstractmethod
    def prepare(self, judge: AnyJudge) -> None:
        """Read what every process will need."""

    @abstractmethod
    def red(self, function: Any, case: CaseId, judge: AnyJudge) -> str:
        """What kills a mutant in a verdict; empty where the case lets it live. Chance kills none:
        what is red is asked again.
        """


class Brokers(Subject):
    """Our broker, in a thread of this process."""

    role = BROKER_ROLE
    rooms = ("broker", "cluster", "group", "log", "security", "share", "txn", "wire")
    left_out = ("broker.defects", "broker.faults")
    tables = (QUIRKS, DEFAULTS)

    def judge(self) -> AnyJudge:
        name = f"reference@{self.release}"
        return judge_for(name, nonce=NONCE, deadline_s=DEADLINE_S, again=1)

    def prepare(self, judge: AnyJudge) -> None:
        assert isinstance(judge.oracle, Recorded)
        for suite in {case.claim.suite for case, _ in self.cases(judge)}:
            judge.oracle.store.cases(suite)

    def measure(self, part: int, parts: int) -> Iterator[Measured]:
        places = planting.functions(name for room in self.rooms for name in planting.modules(room))
        hook = Hook(places)
        threading.setprofile(hook)
        judge = self.judge()
        try:
            for case, function in self.cases(judge)[part::parts]:
                hook.seen = set()
                began = time.monotonic()
                conforms = _verdict(function, case, judge).kind == CONFORMS
                seen = list(hook.seen)  # at once: a broker's thread may be adding
                found = {places[code] for code in seen} if conforms else None
                yield case.id, time.monotonic() - began, found
        finally:
            threading.setprofile(None)
            judge.close()

    def plant(self, module: str, source: Source, mutant: Mutant) -> None:
        planting.plant(module, source, mutant)

    def red(self, function: Any, case: CaseId, judge: AnyJudge) -> str:
        verdict = _verdict(function, case, judge)  # the judge asks again by itself
        return _told(verdict) if verdict.kind in (DIVERGES, BROKEN) else ""


class Clients(Subject):
    """Our client, in the process of its adapter; the broker is ours and sound."""

    role = CLIENT_ROLE
    rooms = harmed_client.ROOMS
    left_out = ("client.defects",)

    def judge(self) -> ClientJudge:
        client = adapter_file.find("touchstone")
        command = (*client.start.command[:-1], harmed_client.__name__)
        harmed = replace(client, start=replace(client.start, command=command))
        broker = parse(f"reference@{self.release}")
        return ClientJudge(harmed, broker, nonce=NONCE, deadline_s=DEADLINE_S)

    def prepare(self, judge: AnyJudge) -> None:
        """Nothing is recorded of clients."""

    def measure(self, part: int, parts: int) -> Iterator[Measured]:
        judge = self.judge()
        with tempfile.TemporaryDirectory() as folder:
            kept = Path(folder) / "places"
            os.environ[harmed_client.MEASURED] = str(kept)
            try:
                for case, function in self.cases(judge)[part::parts]:
                    kept.write_text("")
                    began = time.monotonic()
                    conforms = _verdict(function, case, judge).kind == CONFORMS
                    judge.end_adapter()
                    lines = map(json.loads, kept.read_text().splitlines())
                    found = {(line[0], line[1]) for line in lines} if conforms else None
                    yield case.id, time.monotonic() - began, found
            finally:
                del os.environ[harmed_client.MEASURED]
                judge.close()

    def plant(self, module: str, source: Source, mutant: Mutant) -> None:
        os.environ[harmed_client.PLANTED] = json.dumps([module, mutant.number])

    def red(self, function: Any, case: CaseId, judge: AnyJudge) -> str:
        """A client that cannot be judged any more is dead as well."""
        for _ in range(2):
            verdict = _verdict(function, case, judge)
            if verdict.kind == CONFORMS:
                return ""
        return _told(verdict)


def _verdict(function: Any, case: CaseId, judge: AnyJudge) -> Verdict:
    return run_case(function, Case(case, judge)).verdict


def _told(verdict: Verdict) -> str:
    return f"{verdict.kind}: {verdict.reason}"


SUBJECTS = {BROKER_ROLE: Brokers, CLIENT_ROLE: Clients}
