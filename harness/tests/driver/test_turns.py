"""What every case meets on a cluster that it shares: what it cannot have, how long it may wait."""

from __future__ import annotations

import pytest

from touchstone.harness.driver import turns as turns_
from touchstone.harness.driver.turns import AGAIN_TIMES, Turns
from touchstone.harness.model.claim import CaseId, Claim
from touchstone.harness.model.placeholders import Name
from touchstone.harness.model.scenario import Ask, Scenario
from touchstone.harness.model.target import OutOfScope, Shape
from touchstone.harness.targets import facts, parse
from touchstone.harness.tests.conversations import conversation
from touchstone.reference_impl.io.server import serve

ASKED = {
    "a group": Ask("DescribeGroups", 0, {"groups": [Name("group")]}),
    "a transaction": Ask(
        "InitProducerId", 0, {"transactional_id": Name("id"), "transaction_timeout_ms": 1000}
    ),
    "no name": Ask("InitProducerId", 0, {"transactional_id": None, "transaction_timeout_ms": 1000}),
    "a topic": Ask("Metadata", 4, {"topics": [], "allow_auto_topic_creation": False}),
}


@pytest.mark.parametrize("what", ASKED)
def test_who_coordinates_nothing_is_not_asked_for_groups(monkeypatch, what):
    """An internal topic of one partition may be led by another broker than claims expect."""
    led = {"__consumer_offsets": (1, facts.NOWHERE)}
    monkeypatch.setattr(facts, "internal_topics", lambda *asked: led)
    with serve(brokers=3) as cluster:
        turns = Turns(parse(",".join(cluster.bootstrap)), nonce="scope", deadline_s=60)
        scenario = Scenario((ASKED[what],), brokers=3)
        case = CaseId(Claim("scope.claim", "A sentence", (), "MUST", "scope", "here"), None, {})
        if what in ("a group", "a transaction"):
            with pytest.raises(OutOfScope, match="leads no partition"):
                turns.run(case, scenario, "scope")
        else:
            seen = turns.run(case, scenario, "scope").transcript
            assert [event.direction for event in seen.events][-1] == "received"


def test_the_last_word_has_more_time(monkeypatch):
    """A case that is asked again alone on a busy machine differs for no lack of time."""
    deadlines, run = [], turns_.run
    monkeypatch.setattr(
        turns_,
        "run",
        lambda *asked, **how: deadlines.append(how["deadline_s"]) or run(*asked, **how),
    )
    scenario = Scenario((ASKED["a topic"],))
    case = CaseId(Claim("scope.claim", "A sentence", (), "MUST", "scope", "here"), None, {})
    with serve() as cluster:
        turns = Turns(parse(cluster.bootstrap[0]), nonce="patience", deadline_s=20)
        turns.run(case, scenario, "first")
        turns.run(case, scenario, "again", alone=True)
    assert deadlines == [20, 20 * AGAIN_TIMES]


DELAY = "group.streams.initial.rebalance.delay.ms"


@pytest.mark.parametrize(("code", "judged"), [(5, False), (4, True)])
def test_who_met_a_delay_that_answers_show_wants_the_profile_without_it(monkeypatch, code, judged):
    """ASSIGNMENT_DELAYED: the cluster's own delay lasted, which cannot be set while it runs."""
    said = conversation(
        ("joins", "StreamsGroupHeartbeat", 0, {}, {"status": [{"status_code": code}]})
    )
    monkeypatch.setattr(turns_, "run", lambda *asked, **how: said)
    shape = Shape(config={DELAY: 0})
    claim = Claim("scope.claim", "A sentence", (), "MUST", "scope", "here", shape=shape)
    scenario = Scenario((ASKED["a topic"],), config={DELAY: 0})
    with serve(config={DELAY: "3000"}) as cluster:
        turns = Turns(parse(cluster.bootstrap[0]), nonce="delay", deadline_s=20)
        if judged:
            assert turns.run(CaseId(claim, None, {}), scenario, "delay").transcript is said
        else:
            with pytest.raises(OutOfScope, match=f"wants profile quick .{DELAY}=0"):
                turns.run(CaseId(claim, None, {}), scenario, "delay")
