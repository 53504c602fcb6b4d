"""What a case will do is known before its first byte: who it harms, and what it looks at."""

from __future__ import annotations

import pytest

from touchstone.harness.model import steps
from touchstone.harness.model.claim import CaseId, Claim
from touchstone.harness.model.expect import answered
from touchstone.harness.model.scenario import Ask, HalfClose, Raw, Scenario, Send, Until
from touchstone.harness.run import dry

BROKER, LOGGER, TOPIC, GROUP = 4, 8, 2, 32


def altering(kind, name="x", api="IncrementalAlterConfigs"):
    rows = [{"resource_type": kind, "resource_name": "0", "configs": [{"name": name}]}]
    return Ask(api, 0, {"resources": rows})


def quotas(*names):
    entity = [{"entity_type": "user", "entity_name": name} for name in names]
    return Ask("AlterClientQuotas", 0, {"entries": [{"entity": entity, "ops": []}]})


def a_case():
    claim = Claim("demo.case", "It is.", ("TOPIC-11",), "MUST", "demo", "demo.test")
    return CaseId(claim, None, {})


def test_a_function_is_run_without_a_target():
    def claim(case):
        return case.scenario(steps.metadata(name="ask"), expect=answered("ask"))

    found = dry.run(claim, a_case(), "4.3")
    assert found.scenario.labels == ("ask",) and found.expectation == answered("ask")


def test_a_function_that_fails_or_returns_no_scenario_is_none():
    assert dry.run(lambda case: None, a_case(), "4.3") is None
    assert dry.run(lambda case: 1 / 0, a_case(), "4.3") is None


@pytest.mark.parametrize(
    ("step", "alone"),
    [
        (steps.metadata(), False),
        (altering(TOPIC), False),
        (altering(GROUP), False),
        (altering(BROKER), True),
        (altering(LOGGER), True),
        (altering(BROKER, api="AlterConfigs"), True),
        (Until(altering(BROKER), "x", "is", 1), True),
        (Send("IncrementalAlterConfigs", 0, altering(BROKER).body, name="s"), True),
        (quotas("somebody"), False),
        (quotas("somebody", None), True),
        (Ask("UpdateFeatures", 0, {}), True),
        (Ask("ListConfigResources", 0, {}), True),
        (Ask("ListConfigResources", 1, {"resource_types": [2]}), False),
        (steps.kill_broker(1), True),
        (Raw(b""), False),
    ],
)
def test_who_changes_what_is_everybodys_is_alone(step, alone):
    assert dry.alone(Scenario((step,), brokers=3)) == alone


@pytest.mark.parametrize(
    ("step", "kills"), [(Raw(b"x"), True), (HalfClose(), True), (steps.metadata(), False)]
)
def test_who_sends_no_request_may_kill(step, kills):
    assert dry.may_kill(Scenario((step,))) == kills


def test_a_setting_that_is_named_is_looked_at():
    scenario = Scenario((altering(TOPIC, "retention.ms"),))
    assert dry.looks_at(scenario, "retention.ms")
    assert not dry.looks_at(scenario, "log.retention.ms")
    assert not dry.looks_at(scenario, "retention")


@pytest.mark.parametrize(
    ("api", "groups", "topics"),
    [
        ("JoinGroup", True, False), ("OffsetCommit", True, False), ("Produce", False, False),
        ("DeleteTopics", False, True), ("ShareGroupHeartbeat", True, False),
    ],
)  # fmt: skip
def test_who_uses_groups_and_who_deletes_topics(api, groups, topics):
    for step in (Ask(api, 0, {}), Send(api, 0, {}, name="s"), Until(Ask(api, 0, {}), "x", "is", 1)):
        scenario = Scenario((Raw(b""), step))
        assert dry.uses_groups(scenario) == groups
        assert dry.deletes_topics(scenario) == topics
