"""All parts of one target in one go: the suites are collected once, then a process for each part.

    python -m ci.parts 6 suites/ --target reference@4.3 --results DIR --run NAME ...

Collecting thousands of cases and reading Kafka's answers costs four seconds of a processor and is
the same for every part, so this process does it, forks, and each process goes on with its shard.
They ask brokers that they start themselves; on a target that somebody else runs, parts would share
the names of their topics, so such a target gets a process for each part (`ci/conformance.py`).

The exit code is the worst of all. What a part said whose exit code is not 0 is printed here.
"""

from __future__ import annotations

import dataclasses
import gc
import os
import signal
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO

import pytest

from touchstone.harness import plugin
from touchstone.harness.model.claim import CaseId
from touchstone.harness.model.shard import Shard, by_weight
from touchstone.harness.run.oracles import Recorded
from touchstone.harness.run.tally import worst

# Allocations between two looks for garbage, and looks of each generation before one at the next: a
# case makes thousands of values and few cycles, and Python's 700 cost a tenth of the time.
GARBAGE = 20_000, 50, 50

# Seconds of a case that waits for nothing, and the most that Kafka's own time counts for.
CASE_S, LONGEST_S = 0.2, 10.0


@dataclass(frozen=True)
class Timed(Shard):
    """A part of a persona. Its clusters start in a millisecond, so cases of one shape need not stay
    together, and how long Kafka took tells which of them wait.
    """

    kafka_s: Mapping[str, float] = field(default_factory=dict)  # case id -> seconds

    def deal(self, cases: Sequence[CaseId]) -> list[int]:
        weights = [CASE_S + min(self.kafka_s.get(case.id, 0), LONGEST_S) for case in cases]
        return by_weight(cases, weights, self.count)


def recorded_s(items: Sequence[pytest.Item]) -> dict[str, float]:
    """How long Kafka took for each case, in seconds. Reads the recordings, for all parts."""
    cases = [case for item in items if (case := plugin._case(item)) is not None]
    return {
        case.case.id: case.judge.oracle.store.took_s(case.claim.suite, case.case.id)
        for case in cases
        if isinstance(case.judge.oracle, Recorded)
    }


class Parts:
    """A pytest plugin: forks once everything is collected, before it is dealt out."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.index = 1  # of the part that this process judges
        self.others: dict[int, IO[str]] = {}  # process id -> what it says

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        kafka_s = recorded_s(items)
        sys.stdout.flush()
        sys.stderr.flush()
        gc.collect()
        gc.freeze()  # pages that a collection writes to are no longer shared
        for index in range(2, self.count + 1):
            # It outlives this block: it is read when its writer has ended.
            output = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115
            process = os.fork()
            if not process:
                self._become(index, output)
                break
            self.others[process] = output
        session = plugin._session(config)
        shard = Timed(self.index, self.count, kafka_s)
        session.options = dataclasses.replace(session.options, shard=shard)

    def _become(self, index: int, output: IO[str]) -> None:
        """In a new process: what it says goes to the file, and it waits for nobody."""
        for descriptor in (1, 2):
            os.dup2(output.fileno(), descriptor)
        for file in (output, *self.others.values()):
            file.close()
        self.index, self.others = index, {}

    def wait(self) -> list[int]:
        """The exit codes of the other parts."""
        codes = []
        for process, output in self.others.items():
            code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
            codes.append(code)
            with output:
                output.seek(0)
                if code:
                    print(output.read(), flush=True)
        return codes

    def end(self, *_: object) -> None:
        """On SIGTERM: no part is left behind. pytest would take a SystemExit for a failed case."""
        for process in self.others:
            os.kill(process, signal.SIGTERM)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTERM)


def main(words: Sequence[str]) -> int:
    gc.set_threshold(*GARBAGE)
    parts = Parts(int(words[0]))
    signal.signal(signal.SIGTERM, parts.end)
    # What is captured goes back to the descriptors of the process that collected.
    code = int(pytest.main(["--capture=no", *words[1:]], plugins=[parts]))
    sys.stdout.flush()
    return worst([code, *parts.wait()])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
