"""Every fault bites where its evidence looks, and is undone however its block ends."""

from __future__ import annotations

from contextlib import contextmanager
from random import Random

import pytest

from touchstone.harness import nemesis
from touchstone.harness.model.target import Endpoint, Shape
from touchstone.harness.nemesis import campaign, evidence, faults
from touchstone.harness.nemesis.fault_target import FaultTarget
from touchstone.harness.targets import parse, probe
from touchstone.harness.targets.isolation import ISOLATIONS, Disks, Isolations
from touchstone.reference_impl.io.client import Client

ON_REFERENCE = ["clock-jump", "kill", "one-way", "partition", "pause", "slow-link", "stop"]
ELSEWHERE = ["disk-error", "disk-full"]  # they need a disk of one's own under each broker
PATIENCE_S = 60.0
FAST_ISR = {
    "broker.session.timeout.ms": "400", "broker.heartbeat.interval.ms": "100",
    "replica.lag.time.max.ms": "60000",
}  # fmt: skip


@pytest.fixture(scope="module")
def cluster():
    target = parse("reference@4.3")
    endpoint = target.start(Shape(brokers=3, config=FAST_ISR))
    with Client([f"{host}:{port}" for host, port in endpoint.bootstrap]) as client:
        client.admin.create_topic("replicated", 3, 3)  # links carry something
    yield FaultTarget(target.kind, endpoint)
    target.stop()


def well(cluster: FaultTarget, broker: int) -> bool:
    """It comes to answer on the wire, sees everybody, and its clock is ours."""

    def look() -> str | None:
        whole = probe.sees(cluster.address(broker), set(cluster.brokers))
        return "well" if whole and not cluster.running.clock.ahead else None

    return evidence.until(look, PATIENCE_S) is not None


def test_every_fault_says_what_it_does_and_on_what():
    assert sorted(faults()) == sorted(ON_REFERENCE + ELSEWHERE)
    for name, fault in faults().items():
        assert fault.SENTENCE.endswith("."), name
        assert fault.ISOLATION is None or fault.ISOLATION in ISOLATIONS, name


@pytest.mark.slow
@pytest.mark.parametrize("name", ON_REFERENCE)
def test_it_bites_and_is_undone(cluster, name):
    with faults()[name].inflicted(cluster, 1, Random(1)) as look:
        assert look()
    assert well(cluster, 1)


@pytest.mark.slow
@pytest.mark.parametrize("name", ON_REFERENCE)
@pytest.mark.parametrize("end", [RuntimeError, KeyboardInterrupt])
def test_it_is_undone_whatever_ends_its_block(cluster, name, end):
    with pytest.raises(end), faults()[name].inflicted(cluster, 2, Random(f"{name} {end}")):
        raise end
    assert well(cluster, 2)
    links = cluster.running.links
    assert not links._cut and not any(links._delay.values())


def test_evidence_is_looked_for_and_not_believed(cluster):
    """The liar: nothing was done, so nothing may be seen, however long a busy broker takes."""

    def answers() -> str | None:
        return "it answers" if evidence.silence(cluster.address(0)) is None else None

    assert evidence.until(answers, PATIENCE_S)
    stamp = evidence.Stamp([cluster.address(0)], 0, Random(3))
    assert abs(stamp.ahead_ms()) < 30_000
    links = cluster.running.links
    assert not any(links.refused[pair] for pair in [(7, 8), (8, 7)])


@pytest.fixture(scope="module")
def with_disks():
    target = parse("reference@4.3")
    target.isolate(lambda: Isolations([Disks()]))
    if target.available():
        pytest.skip(target.available())
    endpoint = target.start(Shape(brokers=3, config=FAST_ISR))
    yield FaultTarget(target.kind, endpoint)
    target.stop()


@pytest.mark.slow
@pytest.mark.parametrize("name", ELSEWHERE)
def test_a_disk_fails_under_a_broker_that_then_starts_again(with_disks, name):
    with faults()[name].inflicted(with_disks, 1, Random(1)) as look:
        assert look()
    assert well(with_disks, 1)


@pytest.mark.parametrize("name", ELSEWHERE)
def test_what_cannot_be_done_here_is_said_in_words(cluster, name):
    found = campaign.unsupported([name, "none"], cluster)
    assert list(found) == [name] and "disk" in found[name]


def test_somebody_elses_brokers_are_left_alone(cluster):
    other = FaultTarget("external", Endpoint((cluster.address(0),)))
    assert sorted(campaign.unsupported(sorted(faults()), other)) == sorted(faults())


@pytest.mark.slow
def test_a_fault_that_did_not_bite_makes_a_run_inconclusive(cluster, tmp_path, monkeypatch):
    class Toothless:
        SENTENCE, ISOLATION = "It does nothing.", None

        @staticmethod
        @contextmanager
        def inflicted(cluster, broker, random):
            yield lambda: None

    monkeypatch.setattr(nemesis, "faults", lambda: {"toothless": Toothless})
    monkeypatch.setattr(campaign, "faults", nemesis.faults)
    monkeypatch.setattr(campaign, "WITHOUT_FAULT_S", 0.05)
    monkeypatch.setattr(campaign, "HOLD_S", (0.05, 0.05))
    plan = campaign.Plan(
        tuple(f"{host}:{port}" for host, port in cluster.endpoint.bootstrap), ("toothless",),
        partitions=1, transactional=0, producers=1, followers=1,
    )  # fmt: skip
    outcome = campaign.run(cluster, plan, ["toothless"], 0.2, tmp_path / "h.jsonl")
    assert outcome.report.verdict == "CONFORMS" and outcome.verdict == "INCONCLUSIVE"
    assert "did not bite" in outcome.why_not[0]
