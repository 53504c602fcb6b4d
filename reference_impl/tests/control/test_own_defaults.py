"""A broker's own dynamic settings hold for the topics it has, and nobody else's."""

import pytest

from touchstone.reference_impl.broker.configs.config_view import spread_defaults
from touchstone.reference_impl.tests.control.node import brokers


def limits(made):
    return [broker.config_of("t").max_message_bytes for broker in made]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, [1_048_588] * 3),
        ({"1": {"message.max.bytes": "100"}}, [1_048_588, 100, 1_048_588]),
        ({"": {"message.max.bytes": "70"}}, [70] * 3),
        ({"": {"message.max.bytes": "70"}, "2": {"message.max.bytes": "50"}}, [70, 70, 50]),
    ],
)
def test_one_brokers_default_is_its_own(settings, expected):
    made = brokers("2.8", 3)
    made[0].cluster.create("t", [[0, 1, 2]])
    made[0].cluster.dynamic_configs = settings
    spread_defaults(made[0])
    assert limits(made) == expected


def test_an_override_is_above_them_all():
    made = brokers("2.8", 3)
    made[0].cluster.create("t", [[0, 1, 2]], {"max.message.bytes": "7"})
    made[0].cluster.dynamic_configs = {"1": {"message.max.bytes": "100"}}
    spread_defaults(made[0])
    assert limits(made) == [7] * 3


def test_a_format_that_does_not_hold_is_shown_and_not_used():
    broker = brokers("2.8")[0]
    topic = broker.cluster.create("t", [[0]])
    wanted = {"message.format.version": "0.9.0"}
    broker.cluster.configure("t", wanted, frozenset(wanted))
    assert (topic.configs, broker.config_of("t").message_format_version) == (wanted, "2.8-IV1")


@pytest.mark.parametrize("release", ["2.2", "2.8", "4.3"])
def test_what_is_taken_back_may_hold_on_until_another_setting_comes(release):
    made = brokers(release, 2)
    cluster = made[0].cluster
    cluster.create("t", [[0, 1]])

    def told(settings):
        cluster.dynamic_configs = settings
        spread_defaults(made[0])
        return limits(made)[1]

    unset = limits(made)[1]
    assert told({"1": {"message.max.bytes": "100"}}) == 100
    assert told({"1": {}}) == (100 if release == "2.2" else unset)
    assert told({"1": {"log.cleaner.threads": "1"}}) == (100 if release == "2.2" else unset)
    assert told({"1": {"log.segment.bytes": "2000000"}}) == unset
    assert told({"": {"message.max.bytes": "70"}}) == 70
    assert limits(made)[0] == 70
