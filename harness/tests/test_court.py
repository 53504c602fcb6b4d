"""What the court does about targets that lack something, or are lost on the way."""

from __future__ import annotations

from harness.claim import CaseId, Claim
from harness.court import Court
from harness.expect import answered
from harness.oracles import Nobody
from harness.scenario import Scenario
from harness.steps import create_topic, metadata, topic_ready
from harness.targets import parse
from harness.tests.small_kafka import API_VERSIONS, CREATE_TOPICS, METADATA, small_kafka, word
from harness.verdict import CONFORMS, INCONCLUSIVE, UNSUPPORTED

DEADLINE_S = 60.0


def court_of(server):
    return Court(parse(word(server)), Nobody("4.3"), "4.3", nonce="court", deadline_s=DEADLINE_S)


def a_case(id):
    made = Claim(id, "It is.", ("TOPIC-11",), "MUST", "demo", "demo.test")
    return CaseId(made, None, {})


def test_what_a_step_needs_and_the_target_lacks_is_unsupported_at_once():
    asked = []

    def without_topics(key, version, answer):
        asked.append(key)
        if key == API_VERSIONS:
            answer["api_keys"] = [r for r in answer["api_keys"] if r["api_key"] != CREATE_TOPICS]
        return None if key == CREATE_TOPICS else answer

    scenario = Scenario((create_topic("t", name="create"), topic_ready("t")))
    with small_kafka(twist=without_topics) as server:
        court = court_of(server)
        verdicts = [
            court.judge(a_case(f"demo.case-{n}"), scenario, answered("create")).verdict
            for n in range(20)
        ]
        court.close()
    assert {verdict.kind for verdict in verdicts} == {UNSUPPORTED}
    assert "a step needs CreateTopics: version 2 is advertised not at all" in verdicts[0].reason
    assert asked.count(CREATE_TOPICS) == 1, "the probe asks, and no case after it"


def test_what_is_advertised_is_not_excused():
    """The same refusal, advertised: the case runs and says what it saw."""

    def refuses(key, version, answer):
        return None if key == CREATE_TOPICS else answer

    scenario = Scenario((create_topic("t", name="create"), metadata(name="after")))
    with small_kafka(twist=refuses) as server:
        court = court_of(server)
        found = court.judge(a_case("demo.case"), scenario, answered("create"))
        court.close()
    assert found.verdict.kind not in (UNSUPPORTED, CONFORMS)
    assert found.target is not None


def test_rows_behind_a_dead_target_name_the_case_that_met_it_last():
    scenario = Scenario((metadata(name="ask"),))

    def dies(key, version, answer):
        if key == METADATA and killing:
            server.stop()
            return None
        return answer

    killing = []
    with small_kafka(twist=dies) as server:
        court = court_of(server)
        first = court.judge(a_case("demo.harmless"), scenario, answered("ask")).verdict
        killing.append(True)
        court.judge(a_case("demo.killer"), scenario, answered("ask"))
        behind = [
            court.judge(a_case(f"demo.behind-{n}"), scenario, answered("ask")).verdict
            for n in range(3)
        ]
        court.close()
    assert first.kind == CONFORMS
    assert {verdict.kind for verdict in behind} == {INCONCLUSIVE}
    assert all("demo.killer" in verdict.reason for verdict in behind), behind[0].reason


def test_a_claim_about_one_broker_is_judged_on_a_larger_cluster():
    def three(key, version, answer):
        if key == METADATA:
            answer["brokers"] += [answer["brokers"][0] | {"node_id": id} for id in (1, 2)]
        return answer

    asked = metadata(name="ask")
    with small_kafka(twist=three) as server:
        court = court_of(server)
        one = court.judge(a_case("demo.one"), Scenario((asked,)), answered("ask"))
        four = court.judge(a_case("demo.four"), Scenario((asked,), brokers=4), answered("ask"))
        court.close()
    assert one.verdict.kind == CONFORMS
    assert four.verdict.kind == INCONCLUSIVE
    assert "4 brokers are wanted" in four.verdict.reason
