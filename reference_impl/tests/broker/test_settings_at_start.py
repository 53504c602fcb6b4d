"""A setting whose value means nothing ends the start, in Kafka's words and with its name."""

from __future__ import annotations

import pytest

from touchstone.reference_impl.broker.configs import broker_settings, config_view
from touchstone.reference_impl.broker.personas.releases import RELEASES
from touchstone.reference_impl.io.server import serve

# What ConfigDef of 4.3.1 says of these with KafkaConfig's definitions.
NUMBER, TRUTH = "Not a number of type {}", "Expected value to be either true or false"
REFUSED = (
    ("message.max.bytes", "abc", NUMBER.format("INT")),
    ("num.partitions", "99999999999", NUMBER.format("INT")),
    ("log.retention.hours", "1.5", NUMBER.format("INT")),
    ("offsets.topic.replication.factor", "40000", NUMBER.format("SHORT")),
    ("auto.create.topics.enable", "maybe", TRUTH),
    ("num.io.threads", "0", "Value must be at least 1"),
    (
        "log.message.timestamp.type",
        "Never",
        "String must be one of: CreateTime, LogAppendTime",
    ),
)


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize(("name", "value", "why"), REFUSED)
def test_the_start_ends_as_kafkas(release, name, value, why):
    with pytest.raises(ValueError, match="^Invalid value") as refused:
        serve(release=release, config={name: value})
    assert str(refused.value) == f"Invalid value {value} for configuration {name}: {why}"


@pytest.mark.parametrize("release", RELEASES)
def test_the_defaults_of_a_release_are_its_own(release):
    definitions = config_view.broker_definitions(release).values()
    defaults = {each.name: each.default for each in definitions if each.default is not None}
    broker_settings.check_start(defaults, release)


def test_bounds_are_a_releases_own():
    """KIP-1030 raised the least size of a segment in 4.0."""
    broker_settings.check_start({"log.segment.bytes": "14"}, "3.9")
    with pytest.raises(ValueError, match="must be at least 1048576"):
        broker_settings.check_start({"log.segment.bytes": "14"}, "4.3")
    with pytest.raises(ValueError, match="must be no more than 1"):
        broker_settings.check_start({"log.cleaner.min.cleanable.ratio": "1.5"}, "4.3")


def test_what_nobody_knows_is_a_plug_ins():
    broker_settings.check_start({"my.own.setting": "abc"}, "4.3")
    broker_settings.check_start({"zookeeper.session.timeout.ms": "abc"}, "4.3")
