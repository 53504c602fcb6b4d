"""Settings that set the pace are paid for; settings that a claim is about are wanted."""

from __future__ import annotations

import pytest

from touchstone.harness.model import pace
from touchstone.harness.model.pace import Least, RaisedTimeouts
from touchstone.harness.model.scenario import Inflict, Scenario
from touchstone.harness.model.target import Setting, Shape

NOW = {
    "group.initial.rebalance.delay.ms": Setting("3000", False),
    "group.min.session.timeout.ms": Setting("6000", False),
    "log.cleaner.backoff.ms": Setting("15000", True),
    "controlled.shutdown.retry.backoff.ms": Setting("60000", False),
    "log.segment.delete.delay.ms": Setting("60000", False),
    "log.retention.check.interval.ms": Setting("300000", False),
    "message.max.bytes": Setting("1048588", True),
    "num.io.threads": Setting("8", True),
    "auto.create.topics.enable": Setting("true", False),
    "offsets.topic.num.partitions": Setting("50", False),
}


def fitted(subject=(), **config):
    names = {name.replace("_", "."): value for name, value in config.items()}
    return pace.fit(Shape(config=names), subject, NOW)


def test_what_is_set_already_costs_nothing():
    assert fitted(message_max_bytes=1048588) == pace.NOTHING_TO_DO
    assert pace.fit(Shape(), (), NOW) == pace.NOTHING_TO_DO


def test_a_wait_is_longer_by_what_is_in_force():
    assert fitted(group_initial_rebalance_delay_ms=0).patience_ms == pace.TURNS * 3000
    both = fitted(group_initial_rebalance_delay_ms=0, log_cleaner_backoff_ms=100)
    assert both.patience_ms == pace.TURNS * (3000 + 14900)
    assert fitted(group_initial_rebalance_delay_ms=9000).patience_ms == 0, "it is shorter here"


def test_a_young_cluster_is_waited_for_until_brokers_look_after_their_logs():
    shape = Shape(config={pace.FIRST_TASKS: "0", "log.cleaner.backoff.ms": 100})
    own = pace.TURNS * 14900
    for in_force in (NOW, NOW | {pace.FIRST_TASKS: Setting("0", False)}):
        ages = {age: pace.fit(shape, (), in_force, age).patience_ms for age in (None, 10.0, 31.0)}
        assert ages == {None: own, 10.0: own + 20_000, 31.0: own}
    assert pace.fit(Shape(), (), NOW, 10.0) == pace.NOTHING_TO_DO, "it waits for no such task"


@pytest.mark.parametrize(("fault", "waits_ms"), [("pause", 30_000), ("stop", 0), ("kill", 0)])
def test_a_controller_that_has_asked_a_frozen_broker_is_waited_for(fault, waits_ms):
    scenario = Scenario((Inflict(fault, 1),), brokers=3)
    assert pace.until_given_up_ms(scenario, {}) == waits_ms
    here = {pace.SILENCE: Setting("5000", False)}
    assert pace.until_given_up_ms(scenario, here) == min(waits_ms, 5000)


def test_what_takes_too_long_is_said_and_not_waited_for():
    found = fitted(log_retention_check_interval_ms=100, group_initial_rebalance_delay_ms=0)
    assert found.slow == {"log.retention.check.interval.ms": "300000"}
    assert found.patience_ms == 0
    longest = pace.TURNS * 60_000
    found = fitted(controlled_shutdown_retry_backoff_ms=0)
    assert found.patience_ms == longest, "the longest that is"


def test_a_claim_waits_for_no_pace_that_only_others_of_its_shape_want():
    """Those about the cleaner share clusters with those about retention."""
    shape = Shape(config={"log.retention.check.interval.ms": 200, "log.cleaner.backoff.ms": 100})
    found = pace.fit(shape, (), NOW, not_awaited=("log.retention.check.interval.ms",))
    assert not found.slow
    assert found.patience_ms == pace.TURNS * 14_900 + pace.FIRST_TASKS_MS


def test_nobody_waits_for_files_of_segments_that_are_gone():
    assert not fitted(log_segment_delete_delay_ms=100).patience_ms


def test_what_nobody_tells_has_kafkas_default():
    shape = Shape(config={"group.initial.rebalance.delay.ms": 0})
    assert pace.fit(shape, (), {}).patience_ms == pace.TURNS * 3000
    assert pace.fit(Shape(config={"message.max.bytes": 1}), (), {}).missing


def test_a_timeout_that_is_forbidden_has_a_least_value():
    found = fitted(group_min_session_timeout_ms=1)
    assert found.least == {"group.min.session.timeout.ms": Least(1, 6000)}
    assert not found.missing and not found.patience_ms
    assert not fitted(group_min_session_timeout_ms=7000).least


def test_a_number_of_internal_partitions_is_free():
    assert fitted(offsets_topic_num_partitions=1) == pace.NOTHING_TO_DO


@pytest.mark.parametrize(
    ("name", "into"),
    [
        ("message.max.bytes", "settable"),
        ("auto.create.topics.enable", "missing"),  # not dynamic
        ("num.io.threads", "missing"),  # dynamic, and nobody else's to set
        ("no.such.setting", "missing"),
    ],
)
def test_what_a_claim_is_about_is_set_or_missing(name, into):
    found = pace.fit(Shape(config={name: "77"}), (), NOW)
    assert getattr(found, into) == {name: "77"}


def test_a_subject_is_never_only_pace():
    name = "log.cleaner.backoff.ms"
    assert pace.fit(Shape(config={name: 1}), (name,), NOW).settable == {name: "1"}
    shared = Shape(config={"group.max.size": 2})
    assert pace.fit(shared, (), NOW) == pace.NOTHING_TO_DO, "its cluster has it for other claims"
    assert pace.fit(shared, ("group.max.size",), NOW).missing == {"group.max.size": "2"}


@pytest.mark.parametrize(
    ("value", "raised"), [(50, 50), (100, 5000), (600, 5500), (4999, 9899), (5000, 5000)]
)
def test_shifted_values_keep_their_distance(value, raised):
    assert Least(100, 5000).shifted(value) == raised


@pytest.mark.parametrize(
    ("value", "raised"),
    [
        (500, 6000),
        (1000, 12000),
        (30_000, 300_000),  # one that is meant not to end grows no further than allowed
        (400_000, 400_000),
        (0, 0),  # below what the claim's own cluster allows: it is to be refused
    ],
)
def test_scaled_values_keep_their_proportion(value, raised):
    assert Least(1, 6000).scaled(value, smallest=500) == raised


def test_nothing_is_scaled_where_the_smallest_is_allowed():
    assert Least(1, 6000).scaled(7000, smallest=7000) == 7000


def test_sessions_of_a_scenario_grow_together():
    joins = [("JoinGroup", {"session_timeout_ms": ms}) for ms in (500, 1000, 45_000)]
    raised = RaisedTimeouts({"group.min.session.timeout.ms": Least(1, 6000)}, joins)
    sent = [raised.request(api, body)["session_timeout_ms"] for api, body in joins]
    assert sent == [6000, 12000, 300_000]
    assert raised.more_ms == 11_000, "the longest wait that is waited for"
    assert not raised.configs


def test_settings_of_a_group_are_raised_and_remembered():
    name = "consumer.heartbeat.interval.ms"
    body = {"resources": [{"resource_type": 32, "configs": [{"name": name, "value": "200"}]}]}
    raised = RaisedTimeouts({"group.consumer.min.heartbeat.interval.ms": Least(100, 5000)})
    sent = raised.request("IncrementalAlterConfigs", body)
    assert sent["resources"][0]["configs"] == [{"name": name, "value": "5100"}]
    assert raised.configs == {name: {"5100": "200"}}
    other = {"resources": [{"resource_type": 2, "configs": [{"name": "a", "value": None}]}]}
    assert raised.request("IncrementalAlterConfigs", other) == other


def test_without_a_least_value_requests_stay():
    body = {"session_timeout_ms": 1}
    assert RaisedTimeouts({}).request("JoinGroup", body) is body


def test_only_dynamic_waits_are_made_quick():
    shapes = [
        Shape(config={"log.cleaner.backoff.ms": 100, "group.initial.rebalance.delay.ms": 0}),
        Shape(config={"log.cleaner.backoff.ms": 200, "message.max.bytes": 1}),
    ]
    assert pace.quick(shapes, NOW, told=True) == {"log.cleaner.backoff.ms": "100"}
    assert pace.quick(shapes, NOW, told=False) == {}


DELAY = "group.streams.initial.rebalance.delay.ms"


def test_a_delay_that_answers_show_is_looked_for_in_them():
    shown = pace.fit(Shape(config={DELAY: 0}), (), {DELAY: Setting("3000", False)}).shown
    assert shown == {DELAY: "0"}
    assert pace.fit(Shape(config={DELAY: 0}), (), {DELAY: Setting("0", False)}).shown == {}

    def said(api, code):
        return [(api, {"status": [{"status_code": code}]}), (api, None)]

    assert pace.met(shown, said("StreamsGroupHeartbeat", 5)) == shown
    assert pace.met(shown, said("StreamsGroupHeartbeat", 4)) == {}
    assert pace.met(shown, said("StreamsGroupDescribe", 5)) == {}


INTERVAL = "group.consumer.assignment.interval.ms"


@pytest.mark.parametrize(
    "in_force", [{}, {INTERVAL: Setting("1000", True)}], ids=["unknown", "known"]
)
def test_what_is_answered_at_once_only_under_a_shorter_interval_wants_that(in_force):
    shape = Shape(config={INTERVAL: 0})
    assert pace.fit(shape, (), in_force).missing == {INTERVAL: "0"}
    assert pace.fit(shape, (), {INTERVAL: Setting("0", True)}) == pace.NOTHING_TO_DO
    assert pace.quick([shape], {INTERVAL: Setting("1000", True)}, told=False) == {INTERVAL: "0"}
