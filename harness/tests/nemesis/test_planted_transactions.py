"""Planted defects of transactions under a workload, judged; a sound broker conforms.

Nothing is harmed. When the workload has gone, one transaction more is aborted in each partition, of
the same transactional id: what a broker forgot to end there ends with it, the wrong way. Somebody
reads while it is open, since members seldom happen to. Waits are for what members were told, never
for time.
"""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from touchstone.harness.checkers.histories import CONFORMS, Report, judge
from touchstone.harness.driver.workload import Plan, Workload
from touchstone.harness.driver.workload.consumers import ISOLATIONS, poll, seek
from touchstone.harness.driver.workload.transactions import producer_of
from touchstone.harness.model import history as histories
from touchstone.reference_impl.io.client import Client
from touchstone.reference_impl.io.server import serve

pytestmark = pytest.mark.slow
CONFIG = {"transaction.state.log.num.partitions": "1", "offsets.topic.num.partitions": "1"}
PATIENCE_S, PATIENCE_MS = 120.0, 30_000
COMMITS, ABORTS = 20, 5


def told(path: Path, *switches: str) -> Report:
    """The judgement of one producer's transactions on a broker with these defects."""
    with serve(brokers=1, config=CONFIG, switches=switches) as running:
        plan = Plan(
            tuple(running.bootstrap), ("t",), transactional=1, producers=1, members=0,
            request_ms=PATIENCE_MS,
        )  # fmt: skip
        with Workload(plan, path) as workload:
            until = time.perf_counter() + PATIENCE_S
            counts = workload.recorder.counts
            while counts["commit ok"] < COMMITS or counts["abort ok"] < ABORTS:
                assert time.perf_counter() < until, f"it never came to pass: {counts}"
                workload.over.wait(0.05)
            workload.halt()
            with Client(running.bootstrap) as client:
                for topic, partition in plan.places:
                    aborted(client, workload, topic, partition)
            assert workload.finish(PATIENCE_S)
    with path.open(encoding="utf-8") as lines:
        return judge(histories.read(lines, str(path)))


def aborted(client: Client, workload: Workload, topic: str, partition: int) -> None:
    """One record in a transaction of its own, asked for while it is open, then aborted."""
    note, name = workload.recorder, f"last:{partition}"
    core = producer_of(client.view, "t.transactor-0", PATIENCE_MS)
    client.run(core.init())
    core.begin()
    number = note.begin(
        "last", "send", topic=topic, partition=partition, value=name, acks=-1, idempotent=True,
        transaction=name,
    )  # fmt: skip
    delivery = core.send(topic, name.encode(), partition=partition)
    client.run(core.flush())
    offset = delivery.result().offset
    note.end(number, "ok", offset=offset)
    look(client, workload, topic, partition, offset)
    number = note.begin("last", "abort", transaction=name)
    client.run(core.abort())
    note.end(number)


def look(client: Client, workload: Workload, topic: str, partition: int, offset: int) -> None:
    """One read_committed poll from this offset on."""
    reader, isolation = f"reader:{partition}", "read_committed"
    consumer = client.consumer(
        [(topic, partition)], isolation=ISOLATIONS.index(isolation), reset="none", max_wait_ms=50
    )
    seek(workload.recorder, reader, consumer, (topic, partition), offset)
    poll(workload.recorder, reader, isolation, consumer)


def test_a_sound_broker_keeps_its_promises(tmp_path):
    report = told(tmp_path / "h.jsonl")
    assert report.verdict == CONFORMS, report.broken or report.counts


@pytest.mark.parametrize(
    ("switch", "name"),
    [
        ("aborted-visible", "aborted-read"),
        ("lso-ignored", "aborted-read"),
        ("torn-transaction", "torn-transaction"),
    ],
)
def test_a_defect_is_seen(tmp_path, switch, name):
    assert name in told(tmp_path / "h.jsonl", switch).names()
