"""Settings of somebody else's brokers are as they were, behind each case that altered them."""

from __future__ import annotations

import pytest

from touchstone.harness.driver.keeping import SettingsRestorer
from touchstone.harness.model.scenario import Ask, Scenario, Until
from touchstone.harness.run import altered
from touchstone.harness.run.altered import BROKER, LOGGER, SECRET
from touchstone.harness.tests.driver.clusters import EVERYTHING, Cluster

ALL, ONE, LOG = (BROKER, ""), (BROKER, "3"), (LOGGER, "3")


def asks(*resources, api="IncrementalAlterConfigs"):
    rows = [{"resource_type": kind, "resource_name": name} for kind, name in resources]
    return Ask(api, 0, {"resources": rows})


def test_what_a_scenario_alters_stands_in_its_steps():
    steps = asks(ALL, (2, "t")), Until(asks((BROKER, "0"), api="AlterConfigs"), "x", "is", 0)
    assert altered.resources(Scenario(steps)) == [ALL, (BROKER, "0")]
    assert altered.resources(Scenario((Ask("Metadata", 1, {}),))) == []


@pytest.mark.parametrize(
    ("before", "after", "back"),
    [
        ({"a": "1"}, {"a": "1"}, {}),
        ({"a": "1"}, {"a": "2"}, {"a": "1"}),
        ({"a": "1"}, {}, {"a": "1"}),
        ({}, {"a": "2"}, {"a": None}),
        ({"a": "1"}, {"b": "2"}, {"a": "1", "b": None}),
    ],
)
def test_what_brings_a_state_back(before, after, back):
    found = altered.changes({ONE: before}, {ONE: after})
    assert found == ({ONE: back} if back else {})


def test_a_logger_that_is_new_was_not_made_by_a_case():
    assert altered.changes({LOG: {"a": "INFO"}}, {LOG: {"a": "INFO", "b": "INFO"}}) == {}
    assert altered.changes({LOG: {"a": "INFO"}}, {LOG: {"a": "DEBUG"}}) == {LOG: {"a": "INFO"}}


def test_what_was_not_seen_before_is_not_put_back():
    assert altered.changes({}, {ONE: {"a": "1"}}) == {}


def test_what_stands_on_a_broker_itself():
    def row(name, source):
        return {"name": name, "value": "1", "config_source": source, "is_sensitive": name == "p"}

    def told(resource):
        rows = [row("own", 2), row("all", 3), row("file", 4), row("level", 6), row("p", 2)]
        kind, name = resource
        row_of = {"error_code": 0, "resource_type": kind, "resource_name": name, "configs": rows}
        return altered.own({"results": [row_of]})

    assert told(ONE) == {ONE: {"own": "1", "level": "1", "p": SECRET}}
    assert told(ALL) == {ALL: {"own": "1", "all": "1", "level": "1", "p": SECRET}}


@pytest.mark.parametrize("incremental", [True, False])
def test_a_case_leaves_no_setting_behind(incremental):
    offered = EVERYTHING | ({} if incremental else {44: (0, -1)})
    with Cluster() as cluster:
        cluster.own = {ONE: {"a": "1", "kept": "5"}, ALL: {"b": "2"}}
        with SettingsRestorer().kept([ALL, (BROKER, "0")], cluster.endpoint, offered):
            cluster.own = {ONE: {"c": "9"}, ALL: {"b": "7", "d": "8"}}
    assert cluster.own == {ONE: {"a": "1", "kept": "5"}, ALL: {"b": "2"}}


def test_it_is_put_back_when_the_case_fails():
    with Cluster() as cluster:
        with (
            pytest.raises(ZeroDivisionError),
            SettingsRestorer().kept([ALL], cluster.endpoint, EVERYTHING),
        ):
            cluster.own[ALL] = {"a": "1"}
            raise ZeroDivisionError
        assert cluster.own[ALL] == {}


def test_what_nobody_altered_is_not_touched():
    with Cluster() as cluster, SettingsRestorer().kept([ALL], cluster.endpoint, EVERYTHING):
        pass
    assert [api for api, _ in cluster.asked] == ["DescribeConfigs"] * 2


def test_what_cannot_be_put_back_is_told_once():
    keeper = SettingsRestorer()
    with Cluster() as cluster:
        for _ in range(2):
            cluster.own = {ONE: {"ssl.keystore.password": "p"}}
            with keeper.kept([ONE], cluster.endpoint, EVERYTHING):
                cluster.own[ONE] = {}
        cluster.own = {}
        with keeper.kept([ALL], cluster.endpoint, EVERYTHING):
            cluster.own[ALL] = {"a": "1"}
            cluster.refuses = 42
    assert keeper.words == [
        "ssl.keystore.password of broker 3 (its value before was secret)",
        "a of all brokers (INVALID_REQUEST)",
    ]


def test_an_interrupted_run_puts_back_the_newest_first():
    keeper = SettingsRestorer()
    with Cluster() as cluster:
        cluster.own[ALL] = {"a": "1"}
        keeper.keep([ALL], cluster.endpoint, EVERYTHING)
        cluster.own[ALL] = {"a": "2"}
        waiting = keeper.kept([ALL], cluster.endpoint, EVERYTHING)
        waiting.__enter__()
        cluster.own[ALL] = {"a": "3"}
        keeper.put_back()
        assert cluster.own[ALL] == {"a": "1"}


def test_a_target_that_does_not_tell_its_settings_is_left_alone():
    with Cluster() as cluster, SettingsRestorer().kept([ALL], cluster.endpoint, {44: (0, 1)}):
        cluster.own[ALL] = {"a": "1"}
    assert not cluster.asked
