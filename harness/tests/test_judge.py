"""What the judge does about targets that lack something, or are lost on the way."""

from __future__ import annotations

import threading

import pytest

from touchstone.harness.driver import standing
from touchstone.harness.judgement import ending
from touchstone.harness.judgement.verdict import CONFORMS, DIVERGES, INCONCLUSIVE, UNSUPPORTED
from touchstone.harness.model.case import Case
from touchstone.harness.model.claim import CaseId, Claim
from touchstone.harness.model.expect import answered
from touchstone.harness.model.scenario import Scenario
from touchstone.harness.model.steps import create_topic, metadata, topic_ready
from touchstone.harness.model.target import Endpoint
from touchstone.harness.run.ahead import Ahead, Work
from touchstone.harness.run.judge import Judge
from touchstone.harness.run.oracles import Nobody
from touchstone.harness.targets import parse, probe
from touchstone.harness.tests.small_kafka import (
    API_VERSIONS,
    CREATE_TOPICS,
    METADATA,
    small_kafka,
    word,
)

DEADLINE_S = 60.0


@pytest.fixture(autouse=True)
def _nobody_comes_back(monkeypatch):
    monkeypatch.setattr(standing, "BACK_S", 0.0)


def judge_of(server):
    return Judge(parse(word(server)), Nobody("4.3"), "4.3", nonce="judge", deadline_s=DEADLINE_S)


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
        judge = judge_of(server)
        verdicts = [
            judge.judgement(a_case(f"demo.case-{n}"), scenario, answered("create")).verdict
            for n in range(20)
        ]
        judge.close()
    assert {verdict.kind for verdict in verdicts} == {UNSUPPORTED}
    assert "a step needs CreateTopics: version 2 is advertised not at all" in verdicts[0].reason
    assert asked.count(CREATE_TOPICS) == 1, "the probe asks, and no case after it"


def test_what_only_prepares_is_asked_in_a_version_that_is_served():
    """A broker without CreateTopics below 4 is asked in 4; a claim about 2 is not for it."""

    def later(key, version, answer):
        if key == API_VERSIONS:
            for row in answer["api_keys"]:
                if row["api_key"] == CREATE_TOPICS:
                    row["min_version"] = 4
        return None if key == CREATE_TOPICS and version < 4 else answer

    scenario = Scenario((create_topic("t", name="create"), metadata("t", name="after")))
    about = Claim("demo.old", "It is.", ("T-1",), "MUST", "demo", "demo.test", "CreateTopics")
    with small_kafka(twist=later) as server:
        judge = judge_of(server)
        found = judge.judgement(a_case("demo.case"), scenario, answered("after"))
        old = judge.judgement(CaseId(about, 2, {}), scenario, answered("create"))
        judge.close()
    assert found.verdict.kind == CONFORMS, found.verdict
    assert found.target is not None
    versions = [one.event.version for one in found.target.round_trips if one.label == "create"]
    assert versions == [4]
    assert old.verdict.kind == UNSUPPORTED


def about_old_topics(twist, requests, brokers=1):
    """The verdict on CreateTopics 2, which the target does not advertise; `requests` are filled."""

    def offers_others(key, version, answer):
        requests.append((key, version))
        if key == API_VERSIONS:
            answer["api_keys"] = [r for r in answer["api_keys"] if r["api_key"] != CREATE_TOPICS]
        return twist(key, answer)

    about = Claim("demo.old", "It is.", ("T-1",), "MUST", "demo", "demo.test", "CreateTopics")
    own = create_topic("t", partitions=3, name="create")
    scenario = Scenario((metadata(name="before"), own, metadata(name="after")), brokers)
    with small_kafka(twist=offers_others) as server:
        judge = judge_of(server)
        verdict = judge.judgement(CaseId(about, 2, {}), scenario, answered("create")).verdict
        judge.close()
    return verdict


def test_what_a_case_is_about_is_proved_by_its_own_request():
    requests = []
    found = about_old_topics(lambda key, a: None if key == CREATE_TOPICS else a, requests)
    assert found.kind == UNSUPPORTED, found
    assert requests.count((CREATE_TOPICS, 2)) == 1, "and by no other"
    own = requests.index((CREATE_TOPICS, 2))
    assert METADATA in [key for key, _ in requests[:own]], "what stands before it was asked"


def test_where_the_cluster_of_a_case_cannot_be_had_a_probe_proves_it():
    requests = []
    found = about_old_topics(lambda key, a: None if key == CREATE_TOPICS else a, requests, 3)
    assert found.kind == UNSUPPORTED and requests.count((CREATE_TOPICS, 2)) == 1, found


def test_who_answers_what_it_does_not_offer_differs_in_that_alone():
    found = about_old_topics(lambda key, answer: answer, [])
    assert found.kind == DIVERGES
    assert [(one.path, one.target) for one in found.differences] == [("unoffered", "answered")]
    assert not found.failures and not found.notes


def test_which_versions_a_stranger_serves():
    made = Claim("demo.topics", "It is.", ("T-1",), "MUST", "demo", "demo.test", "CreateTopics")
    with small_kafka() as server:
        judge = judge_of(server)
        assert [judge.serves(CaseId(made, version, {})) for version in (1, 2, 7, 8)] == [
            False, True, True, False,
        ]  # fmt: skip
        assert judge.serves(a_case("demo.case")), "no version is asked for"
        judge.close()


def test_what_is_advertised_is_not_excused():
    """The same refusal, advertised: the case runs and says what it saw."""

    def refuses(key, version, answer):
        return None if key == CREATE_TOPICS else answer

    scenario = Scenario((create_topic("t", name="create"), metadata(name="after")))
    with small_kafka(twist=refuses) as server:
        judge = judge_of(server)
        found = judge.judgement(a_case("demo.case"), scenario, answered("create"))
        judge.close()
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
        judge = judge_of(server)
        first = judge.judgement(a_case("demo.harmless"), scenario, answered("ask")).verdict
        killing.append(True)
        judge.judgement(a_case("demo.killer"), scenario, answered("ask"))
        behind = [
            judge.judgement(a_case(f"demo.behind-{n}"), scenario, answered("ask")).verdict
            for n in range(3)
        ]
        judge.close()
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
        judge = judge_of(server)
        one = judge.judgement(a_case("demo.one"), Scenario((asked,)), answered("ask"))
        four = judge.judgement(a_case("demo.four"), Scenario((asked,), brokers=4), answered("ask"))
        judge.close()
    assert one.verdict.kind == CONFORMS
    assert four.verdict.kind == INCONCLUSIVE
    assert "4 brokers are wanted" in four.verdict.reason


class Mortal:
    """A target of ours that ends when somebody asks for a deadly topic, and is started again."""

    name, release, kind, owned = "mortal", "4.3", "file", True

    def __init__(self):
        self.servers, self.lock = [], threading.RLock()

    def available(self):
        return None

    def advertised(self):
        return probe.api_versions(self.start(None).bootstrap[0])

    def start(self, shape):
        with self.lock:
            if not self.servers or self.servers[-1].listener.fileno() < 0:
                number = len(self.servers)

                def dies(key, version, answer):
                    if key == CREATE_TOPICS and answer["topics"][0]["name"] == "deadly":
                        self.servers[number].stop()
                        return None
                    return answer

                self.servers.append(small_kafka(twist=dies))
            return Endpoint((self.servers[-1].address,))

    def stop(self):
        for server in self.servers:
            server.stop()


def test_a_target_that_dies_of_the_probe_has_not_refused_it(monkeypatch):
    """Its cases are asked, and the first of them that ends it is known."""
    with small_kafka("1.0") as server:
        judge = Judge(parse(word(server)), Nobody("4.3"), "4.3", nonce="n", deadline_s=DEADLINE_S)
        asked = "Fetch", 17, Scenario([metadata()])
        assert judge._proved(*asked).kind == UNSUPPORTED
        judge._probes.clear()
        monkeypatch.setattr(judge.turns, "ask", lambda *asked: None)
        assert judge._proved(*asked) is None
        judge.close()


def a_work(judge, name, *steps):
    """A case whose function asks these steps; "deadly" ones end the target."""
    case = Case(a_case(f"demo.{name}"), judge)
    return Work(name, lambda case: case.scenario(*steps, expect=answered("ask")), case, alone=False)


def judged(judge, works, jobs):
    ahead = Ahead(works, jobs)
    for work in works:
        ahead.wait(work.key, lambda: None, 1.0)
    ahead.close()
    return {work.key: work.case.judgement.verdict for work in works}


@pytest.mark.parametrize("jobs", [1, 8])
def test_who_ends_the_target_is_known_and_the_others_are_judged(jobs):
    target = Mortal()
    judge = Judge(target, Nobody("4.3"), "4.3", nonce="n", deadline_s=DEADLINE_S)
    deadly = create_topic("deadly", name="ask", version=5)
    fine = create_topic("fine", name="ask", version=5)
    works = [a_work(judge, f"case-{n}", deadly if n in (3, 12) else fine) for n in range(20)]
    verdicts = judged(judge, works, jobs)
    killers = {name for name, verdict in verdicts.items() if ending.is_one(verdict)}
    assert killers == {"case-3", "case-12"}
    assert {verdicts[name].kind for name in killers} == {DIVERGES}
    assert verdicts["case-3"].reason == "the target ended while ask was asked"
    others = {verdict.kind for name, verdict in verdicts.items() if name not in killers}
    assert others == {CONFORMS}
    assert judge.close() == []


def test_behind_the_end_of_a_strangers_target_nothing_is_run():
    target = Mortal()
    target.owned = False
    target.kind = "external"
    judge = Judge(target, Nobody("4.3"), "4.3", nonce="n", deadline_s=DEADLINE_S)
    steps = [create_topic(word, name="ask", version=5) for word in ("deadly", "fine")]
    first = judge.judgement(a_case("demo.killer"), Scenario(steps[:1]), answered("ask")).verdict
    target.start = lambda shape: Endpoint((target.servers[0].address,))
    behind = judge.judgement(a_case("demo.behind"), Scenario(steps[1:]), answered("ask")).verdict
    assert ending.is_one(first) and first.kind == DIVERGES
    assert behind.kind == INCONCLUSIVE
    assert behind.reason == "not run: the target ended while demo.killer was asked"


def test_what_was_set_on_a_target_that_is_gone_is_told():
    with small_kafka() as server:
        judge = judge_of(server)
        judge.turns.tuning._run = {"log.cleaner.backoff.ms": "100"}
        judge.turns.standing.gone = "the target ended"
        told = judge.close()
    assert told == ["not put back, for the target is gone: log.cleaner.backoff.ms"]
