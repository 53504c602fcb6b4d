"""The faults on real Kafka as processes: each bites, is undone, and the history conforms.

One cluster for all of them; it stands on namespaces, clocks and disks of its own where this machine
grants them, and what it does not grant is skipped in words.
"""

from __future__ import annotations

import pytest

from touchstone.harness.checkers.histories import CONFORMS
from touchstone.harness.cli.nemesis import bootstrap_of, shape_of
from touchstone.harness.driver.workload import Plan
from touchstone.harness.nemesis import campaign, faults
from touchstone.harness.nemesis.fault_target import FaultTarget
from touchstone.harness.targets.isolation import ISOLATIONS, Isolations
from touchstone.harness.targets.process import KafkaProcess

pytestmark = [pytest.mark.slow, pytest.mark.java, pytest.mark.live]
GRANTED = {name: part().unsupported() for name, part in ISOLATIONS.items()}


@pytest.fixture(scope="module")
def cluster():
    here = [name for name, why in GRANTED.items() if why is None]
    target = KafkaProcess(
        "4.3", isolation=lambda: Isolations([ISOLATIONS[name]() for name in here])
    )
    reason = target.available()
    if reason:
        pytest.skip(reason)
    yield FaultTarget(target.kind, target.start(shape_of(target, 3, {})))
    target.stop()


@pytest.mark.parametrize("name", sorted(faults()))
def test_a_fault_bites_and_nothing_is_lost(cluster, tmp_path, name):
    why = GRANTED.get(faults()[name].ISOLATION)
    if why:
        pytest.skip(why)
    topic = f"live-{name}"
    plan = Plan(bootstrap_of(cluster.endpoint), (topic,), "kafka@4.3", 1, replication=3)
    outcome = campaign.run(cluster, plan, [name], 2.0, tmp_path / "live.history.jsonl")
    assert outcome.bites and all(bite.proof for bite in outcome.bites), outcome.why_not
    assert outcome.verdict == CONFORMS, outcome.report.broken or outcome.why_not
