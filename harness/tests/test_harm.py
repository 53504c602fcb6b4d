"""Faults are steps: inflicted on a broker's node, recorded, and always undone.

The brokers here are scripts and their nodes are lists of what was done to them; what a fault does
to a real process is tested with the targets.
"""

from __future__ import annotations

import json

import pytest

from touchstone.harness import checkers
from touchstone.harness.driver import harm, run
from touchstone.harness.judgement.verdict import UNSUPPORTED
from touchstone.harness.model import steps
from touchstone.harness.model.claim import claim
from touchstone.harness.model.expect import nothing_expected
from touchstone.harness.model.placeholders import Records, Ref, TopicId
from touchstone.harness.model.scenario import Ask, Controller, Inflict, Name, Scenario
from touchstone.harness.model.target import Endpoint, StartFailed
from touchstone.harness.run.judge import Judge
from touchstone.harness.run.oracles import Nobody
from touchstone.harness.targets.liars import LyingServer
from touchstone.harness.tests.test_driver import LONG_S, SHORT_S, VERSIONS, answering, directions

ASK = Ask("ApiVersions", 0, {}, name="asked", broker=1)


class Node:
    """A broker's node that remembers what was done to it, and may refuse one verb."""

    def __init__(self, refuses=""):
        self.done, self.refuses = [], refuses

    def __getattr__(self, verb):
        def do():
            self.done.append(verb)
            if verb == self.refuses:
                raise StartFailed(f"{verb} refused")

        return do


def cluster(server, node):
    """An endpoint whose two brokers are one script; broker 1 can be harmed."""
    (address,) = server.endpoint.bootstrap
    metadata = {0: address, 1: address}
    return Endpoint((address, address), brokers=metadata, nodes={1: node})


def whole(internal=()):
    """Answers of a cluster that is whole, or whose internal topic is not in sync."""
    brokers = [{"node_id": n, "host": "h", "port": 1, "rack": None} for n in (0, 1)]
    parts = [
        {
            "error_code": 0, "partition_index": 0, "leader_id": 0, "replica_nodes": [0, 1],
            "isr_nodes": list(isr),
        }
        for isr in internal
    ]  # fmt: skip
    topic = {"error_code": 0, "name": "__x", "is_internal": True, "partitions": parts}
    topics = [topic] if parts else []
    told = {"brokers": brokers, "cluster_id": "c", "controller_id": 0, "topics": topics}
    return answering(ApiVersions=VERSIONS, Metadata=told)


def play(node, *scenario, script=None, patience=LONG_S):
    with LyingServer(None, script or whole()) as server:
        endpoint = cluster(server, node)
        return run(Scenario(scenario, brokers=2), endpoint, nonce="n", deadline_s=patience)


def test_a_fault_is_data():
    asked = Scenario([steps.kill_broker(1), steps.pause_broker(Controller(other=True), name="p")])
    stored = Scenario.from_json(json.loads(json.dumps(asked.to_json())))
    assert stored == asked
    assert stored.harms
    assert stored.labels == ("kill broker 1#0", "p")
    assert not Scenario([ASK]).harms
    with pytest.raises(ValueError, match="fault must be one of"):
        Inflict("insult", 1)


@pytest.mark.parametrize(
    "done, undone",
    [
        (["kill"], ["kill", "start"]),
        (["stop"], ["stop", "start"]),
        (["pause"], ["pause", "resume"]),
        (["pause", "resume"], ["pause", "resume"]),
        (["kill", "start", "pause"], ["kill", "start", "pause", "resume"]),
        (["pause", "kill"], ["pause", "kill", "start"]),
    ],
)
def test_what_is_done_is_undone(done, undone):
    node = Node()
    seen = play(node, *(Inflict(fault, 1) for fault in done))
    assert node.done == undone
    assert [event.note for event in seen.events if event.direction == "inflicted"] == done
    assert {event.broker for event in seen.events} == {1}


def test_a_case_that_ends_early_is_undone_too(monkeypatch):
    monkeypatch.setattr(harm, "MEND_S", SHORT_S)  # nobody says that the cluster is whole
    node = Node()
    missing = steps.metadata(TopicId(Name("none")), broker=0)
    script = answering(Metadata=None)
    seen = play(node, steps.kill_broker(1), missing, ASK, script=script, patience=SHORT_S)
    assert node.done == ["kill", "start"]
    assert "received" not in directions(seen)


def test_a_broker_can_be_the_one_that_an_answer_named():
    found = steps.metadata(broker=0, name="found")
    named = Ref("found", "brokers[1].node_id")
    node = Node()
    seen = play(node, found, Inflict("pause", named), Inflict("resume", named))
    assert node.done == ["pause", "resume"]
    inflicted = [event for event in seen.events if event.direction == "inflicted"]
    assert {event.broker for event in inflicted} == {1}
    assert {event.connection for event in inflicted} == {"broker of brokers[1].node_id in found"}


def test_connections_to_a_broker_that_returns_begin_anew():
    seen = play(Node(), ASK, steps.kill_broker(1), steps.start_broker(1), Ask("ApiVersions", 0, {},
                name="again", broker=1))  # fmt: skip
    assert directions(seen, "again") == ["opened", "sent", "received"]


def test_the_only_broker_needs_no_number():
    node = Node()
    with LyingServer(None, whole()) as server:
        (address,) = server.endpoint.bootstrap
        endpoint = Endpoint((address,), nodes={1: node})
        run(Scenario([steps.stop_broker(0)]), endpoint, nonce="n", deadline_s=LONG_S)
    assert node.done == ["stop", "start"]


def test_a_broker_that_cannot_be_harmed_ends_the_case():
    seen = play(Node(), steps.kill_broker(0), ASK)
    assert [event.direction for event in seen.events] == ["unresolved"]
    assert "cannot be harmed" in seen.events[0].note


def test_a_broker_that_does_not_come_back_is_said():
    seen = play(Node(refuses="start"), steps.kill_broker(1))
    assert [event.direction for event in seen.events] == ["inflicted", "unmended"]
    assert "start refused" in seen.events[-1].note


def test_a_cluster_that_stays_apart_is_said(monkeypatch):
    monkeypatch.setattr(harm, "MEND_S", SHORT_S)
    seen = play(Node(), steps.kill_broker(1), script=whole(internal=([0],)))
    assert seen.events[-1].direction == "unmended"
    assert "whole" in seen.events[-1].note


def test_the_harness_asks_a_broker_that_is_there():
    one, two = ("one", 1), ("two", 2)
    book = harm.Harm(Endpoint((one, two), {0: one, 1: two}, nodes={0: Node()}))
    assert book.informant == one
    book.inflict("kill", 0)
    assert book.informant == two
    book.inflict("start", 0)
    assert book.informant == one


def test_who_cannot_be_harmed_is_unsupported():
    @claim("harm.nobody", evidence=("KIP-1",), brokers=2)
    def test_nobody(case):
        """A sentence."""

    class ExternalTarget:
        name, kind, release = "stranger", "external", "4.3"

        def available(self):
            return None

        def advertised(self):
            return {}

        def start(self, shape):
            return Endpoint((("127.0.0.1", 1),))

    made = test_nobody.__touchstone_claim__
    judge = Judge(ExternalTarget(), Nobody("4.3"), "4.3", nonce="n")
    (case,) = judge.cases(made)
    scenario = Scenario([steps.kill_broker(1)], brokers=2)
    verdict = judge.judgement(case, scenario, nothing_expected()).verdict
    assert verdict.kind == UNSUPPORTED
    assert "cannot be harmed" in verdict.reason


def test_what_a_harmed_broker_had_not_promised_may_be_gone(monkeypatch):
    monkeypatch.setattr(harm, "MEND_S", SHORT_S)

    def appended(offset):
        part = {"index": 0, "error_code": 0, "base_offset": offset, "log_append_time_ms": -1}
        return {"responses": [{"name": "t", "partition_responses": [part]}], "throttle_time_ms": 0}

    script = answering(Produce=appended(0), Metadata=None)
    records = Records({"magic": 2, "records": [b"v"]})
    twice = [steps.produce("t", 0, records, broker=1, name=f"write {n}") for n in (1, 2)]

    def fired(*scenario):
        found = checkers.check_all(play(Node(), *scenario, script=script))
        return "produce-offsets" in {finding.checker for finding in found}

    assert fired(*twice)
    assert not fired(twice[0], steps.pause_broker(1), steps.resume_broker(1), twice[1])
