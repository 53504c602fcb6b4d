"""A machine that does the same to real Kafka and to the reference broker, step by step.

What a machine's rules say is sent to both sides, whose answers must be equal; after each step both
must look the same, where both are given time to get there. Sessions and timeouts are longer than
any history, so time decides nothing. Hypothesis draws histories from a fixed seed.
"""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from touchstone.harness.bench.line import Line
from touchstone.harness.model.target import Shape
from touchstone.harness.targets import parse, probe
from touchstone.harness.tests.groups.sides import Side
from touchstone.reference_impl.wire.apis import by_name
from touchstone.reference_impl.wire.errors import ErrorCode

EXAMPLES = int(os.environ.get("TOUCHSTONE_EXAMPLES", "30"))
STEPS = 25
AGREE_S, QUIET_S, PATIENCE_S = 4.0, 0.02, 30
# 3.9 then has all groups in the coordinator that was written for KIP-848, classic ones too.
PREVIEW = {
    "group.coordinator.rebalance.protocols": "classic,consumer",
    "group.consumer.migration.policy": "bidirectional",
}
LOOKS = 30  # at the least: on a busy machine one may take seconds
NEWEST = 8  # of the versions that are tried, if a machine says no other
BUSY = (ErrorCode.CONCURRENT_TRANSACTIONS, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.NOT_COORDINATOR)  # fmt: skip
_CODES = ("error_code", "partition_error_code")
_numbers = itertools.count()


class Lockstep(RuleBasedStateMachine):
    """The same to each of `brokers`: [(name, address)], oracle first; `versions` both serve."""

    brokers: list[tuple[str, str]]
    versions: dict[str, tuple[int, int]]
    lines = 0  # connections of their own, for what may wait

    def __init__(self) -> None:
        super().__init__()
        self.group = f"random-{os.getpid()}-{next(_numbers)}"
        self.sides = [Side(name, at, self.group, self.lines) for name, at in self.brokers]
        self.over = False
        for side in self.sides:
            for kind in (0, 1):
                ask_until_ready(side, "FindCoordinator", 1, {"key": self.group, "key_type": kind})

    def teardown(self) -> None:
        for side in self.sides:
            side.close()

    def going(self) -> list[Side]:
        return [] if self.over else self.sides

    def version(self, draw: int, api: str) -> int:
        """One of those that both serve, counted round."""
        low, high = self.versions[api]
        return low + draw % (high - low + 1)

    def both(
        self, api: str, version: int, body: Callable[[Side], dict[str, Any]]
    ) -> dict[str, Any]:
        """The answer that both gave; AssertionError if they gave two."""
        answers = [ask_until_ready(side, api, version, body(side)) for side in self.sides]
        assert answers[1] == answers[0], f"{api} {version}: {apart(*answers)}"
        return answers[0]

    def alike(self, look: Callable[[Side], Any], *, settled: Callable[[Any], bool]) -> list[Any]:
        """What is seen of each side, once that is the same, or after a while."""
        until, looks = time.monotonic() + AGREE_S, 0
        while True:
            looks += 1
            seen = [look(side) for side in self.sides]
            if seen[0] == seen[1] and settled(seen[0]):
                return seen
            if looks > LOOKS and time.monotonic() > until:
                return seen

    def agree(self, look: Callable[[Side], Any], *, settled: Callable[[Any], bool] = bool) -> None:
        """Both look the same; AssertionError if not soon."""
        seen = self.alike(look, settled=settled)
        assert seen[1] == seen[0], apart(*seen)


def apart(kafkas: Any, ours: Any, where: str = "") -> list[str]:
    """Where two answers differ: path, what Kafka says, what we say."""
    if isinstance(kafkas, dict) and isinstance(ours, dict) and kafkas.keys() == ours.keys():
        return [line for key in kafkas for line in apart(kafkas[key], ours[key], f"{where}.{key}")]
    if isinstance(kafkas, list) and isinstance(ours, list) and len(kafkas) == len(ours):
        pairs = enumerate(zip(kafkas, ours, strict=True))
        return [line for at, (a, b) in pairs for line in apart(a, b, f"{where}[{at}]")]
    return [] if kafkas == ours else [f"{where}: {kafkas!r}, ours {ours!r}"]


def ask_until_ready(
    side: Side, api: str, version: int, body: dict[str, Any], *, raw: bool = False
) -> dict[str, Any]:
    """The answer once the coordinator is there and no transaction is being ended.

    `raw`: with the broker's own ids.
    """
    until = time.monotonic() + PATIENCE_S
    while True:
        answer = side.control.ask(api, version, body)
        if not any(code in BUSY for code in codes(answer)) or time.monotonic() > until:
            return answer if raw else side.plain(answer)


def codes(body: Any) -> Iterator[int]:
    """All error codes of an answer."""
    rows = body.items() if isinstance(body, dict) else ((None, each) for each in body)
    for key, value in rows:
        if key in _CODES:
            yield value
        elif isinstance(value, dict | list):
            yield from codes(value)


def compare(
    machine: type[Lockstep],
    release: str,
    apis: Sequence[str],
    *,
    config: dict[str, Any],
    topics: dict[str, int],
    newest: int = NEWEST,
) -> None:
    """Run the machine on real Kafka of this release and on its persona.

    TOUCHSTONE_ORACLES names brokers that run already, as in 2.8=127.0.0.1:39282.
    """
    addresses = dict(row.split("=") for row in os.environ.get("TOUCHSTONE_ORACLES", "").split())
    oracle = parse(f"kafka@{release}")
    if release not in addresses and (reason := oracle.available()):
        pytest.skip(f"not run: {reason}")
    kafka = addresses.get(release) or address(oracle, config)
    try:
        against(machine, ("kafka", kafka), release, apis,
                config=config, topics=topics, newest=newest)  # fmt: skip
    finally:
        oracle.stop()


def against(
    machine: type[Lockstep],
    first: tuple[str, str],
    word: str,
    apis: Sequence[str],
    *,
    config: dict[str, Any],
    topics: dict[str, int],
    newest: int = NEWEST,
) -> None:
    """Run the machine on the broker `first` and on the reference broker that `word` describes."""
    ours = parse(f"reference@{word}")
    try:
        brokers = [first, ("reference", address(ours, config))]
        for _, at in brokers:
            with Line(at) as line:
                for topic, partitions in topics.items():
                    create(line, topic, partitions)
        versions = _versions(first[1], apis, newest)
        made = type(machine.__name__, (machine,), {"brokers": brokers, "versions": versions})
        run_state_machine_as_test(made, settings=settings(
            max_examples=EXAMPLES, stateful_step_count=STEPS, deadline=None, derandomize=True,
            database=None, suppress_health_check=list(HealthCheck), print_blob=False,
            phases=[Phase.generate],  # a disagreement is waited for: shrinking would take an hour
        ))  # fmt: skip
    finally:
        ours.stop()


def create(line: Line, topic: str, partitions: int) -> None:
    """The topic, which may be there, once its partitions are led."""
    row = {"name": topic, "num_partitions": partitions, "replication_factor": 1,
           "assignments": [], "configs": []}  # fmt: skip
    made = {"topics": [row], "timeout_ms": 30_000, "validate_only": False}
    line.ask("CreateTopics", 2, made)
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        answer = line.ask("Metadata", 1, {"topics": [{"name": topic}]})
        if len(answer["topics"][0]["partitions"]) == partitions and not any(codes(answer)):
            return
    raise TimeoutError(f"{topic} has no leaders")


def address(target: Any, config: dict[str, Any]) -> str:
    endpoint = target.start(Shape(1, config=config))
    host, port = endpoint.bootstrap[0]
    return f"{host}:{port}"


def _versions(kafka: str, apis: Sequence[str], newest: int) -> dict[str, tuple[int, int]]:
    """Of each API the versions that Kafka serves; a persona serves the same."""
    host, _, port = kafka.rpartition(":")
    served = probe.api_versions((host, int(port)))
    found = {}
    for api in apis:
        key = by_name(api).key
        if key in served:
            low, high = served[key]
            found[api] = low, min(high, newest)
    return found
