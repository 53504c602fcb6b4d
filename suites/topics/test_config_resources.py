"""ListConfigResources: what has configs of its own.

Version 0 knows client metrics only (KIP-714); the request was renamed and opened to other kinds in
version 1 (KIP-1142).

Sources: KafkaApis.handleListConfigResources at 3.9.2 and 4.3.1.
"""

from touchstone.harness.model.claim import claim, every, range_
from touchstone.harness.model.expect import all_of, answer, by_release
from touchstone.harness.model.scenario import Ask, Until
from touchstone.harness.model.steps import (
    APPEND,
    BROKER,
    DELETE,
    SET,
    SUBTRACT,
    TOPIC,
    a_topic,
    describe_configs,
    incremental_alter_configs,
)
from touchstone.reference_impl.wire.errors import ErrorCode

API = "ListConfigResources"
ALTERED = "responses[0].error_code"
LOGGER, METRICS, GROUP, NO_KIND = 8, 16, 32, 99
FOUND = "config_resources"


def list_resources(version, *kinds, name="list"):
    return Ask(API, version, {"resource_types": list(kinds)}, name)


@claim("topics.no-metrics-no-resources", evidence=("KIP-714", "KIP-1142"), api=API,
       releases="3.9+")  # fmt: skip
def test_no_metrics_no_resources(case):
    """ListConfigResources for client metrics returns an empty list while no subscription exists."""
    return case.scenario(
        list_resources(case.version, METRICS),
        expect=all_of(
            answer("list", "error_code").is_(ErrorCode.NONE), answer("list", FOUND).is_([])
        ),
    )


@claim("topics.topics-are-resources", evidence=("KIP-1142",), api=API, versions=range_(API, 1),
       capabilities=("only-broker",), kind=(TOPIC, BROKER, LOGGER))  # fmt: skip
def test_topics_are_resources(case):
    """ListConfigResources lists topics, brokers or broker loggers, whichever type the request
    names, and nothing else."""
    topic = case.topic()
    named = {TOPIC: topic, BROKER: "0", LOGGER: "0"}[case.kind]
    return case.scenario(
        a_topic(topic),
        list_resources(case.version, case.kind),
        expect=all_of(
            answer("list", f"{FOUND}[*].resource_name").contains(named),
            answer("list", f"{FOUND}[*].resource_type").each_is(case.kind),
        ),
    )


@claim("topics.unknown-resources-are-not-listed", evidence=("KIP-1142",), api=API,
       versions=range_(API, 1))  # fmt: skip
def test_unknown_resources_are_not_listed(case):
    """ListConfigResources for an unknown resource type answers UNSUPPORTED_VERSION and an empty
    list."""
    return case.scenario(
        list_resources(case.version, NO_KIND),
        expect=all_of(
            answer("list", "error_code").is_(ErrorCode.UNSUPPORTED_VERSION),
            answer("list", FOUND).is_([]),
        ),
    )


@claim("topics.metrics-are-subscribed-to", evidence=("KIP-714", "observed on 3.9.2 and 4.3.1"),
       api=API, releases="3.9+")  # fmt: skip
def test_metrics_are_subscribed_to(case):
    """A client metrics subscription exists and is listed from its first setting on, and ends when
    its last setting is deleted."""
    name = case.topic("metrics")
    keys = ("interval.ms", "metrics", "match")
    made = [(key, SET, value) for key, value in zip(keys, ("1000", "a.,b.", "client_id=c.*"),
                                                    strict=True)]  # fmt: skip
    ended = [(key, DELETE, None) for key in keys]
    shown = describe_configs(name, version=4, kind=METRICS, synonyms=True, name="shown")
    return case.scenario(
        incremental_alter_configs(name, made, version=1, kind=METRICS, name="made"),
        Until(shown, "results[0].configs[*].value", "contains", "1000"),
        list_resources(case.version, METRICS),
        incremental_alter_configs(name, ended, version=1, kind=METRICS, name="ended"),
        Until(list_resources(case.version, METRICS, name="after"), FOUND, "==", []),
        expect=all_of(
            answer("made", ALTERED).is_(ErrorCode.NONE),
            answer("shown", "results[0].configs[*].config_source").contains(7),
            answer("list", f"{FOUND}[*].resource_name").contains(name),
            answer("ended", ALTERED).is_(ErrorCode.NONE),
            answer("after", FOUND).is_([]),
        ),
    )


REFUSED = {
    "name": (("nosuch", "1"), ErrorCode.INVALID_REQUEST),
    "short": (("interval.ms", "5"), ErrorCode.INVALID_REQUEST),
    "long": (("interval.ms", "3600001"), ErrorCode.INVALID_REQUEST),
    "field": (("match", "client_id=a,nosuch=b"), ErrorCode.INVALID_CONFIG),
    "form": (("match", "client_id"), ErrorCode.INVALID_CONFIG),
    "expression": (("match", "client_id=["), ErrorCode.INVALID_CONFIG),
    "nameless": (("interval.ms", "1000"), ErrorCode.INVALID_REQUEST),
}


@claim("topics.odd-subscriptions-are-refused", evidence=("KIP-714", "observed on 3.9.2 and 4.3.1"),
       api="IncrementalAlterConfigs", versions=every("IncrementalAlterConfigs"), releases="3.9+",
       odd=tuple(REFUSED))  # fmt: skip
def test_odd_subscriptions_are_refused(case):
    """IncrementalAlterConfigs of a client metrics subscription refuses an unknown setting, an
    interval out of range, a malformed match pattern and an empty name."""
    name = "" if case.odd == "nameless" else case.topic("metrics")
    (key, value), code = REFUSED[case.odd]
    return case.scenario(
        incremental_alter_configs(
            name, [(key, SET, value)], version=case.version, kind=METRICS, name="alter"
        ),
        expect=answer("alter", ALTERED).is_(code),
    )


@claim("topics.subscriptions-are-no-lists", evidence=("KIP-714", "observed on 4.3.1"),
       api="IncrementalAlterConfigs", versions=every("IncrementalAlterConfigs"), releases="3.9+",
       operation=(APPEND, SUBTRACT))  # fmt: skip
def test_subscriptions_are_no_lists(case):
    """IncrementalAlterConfigs with APPEND or SUBTRACT on a client metrics subscription answers
    INVALID_CONFIG."""
    return case.scenario(
        incremental_alter_configs(
            case.topic("metrics"),
            [("metrics", case.operation, "a.")],
            version=case.version,
            kind=METRICS,
            name="alter",
        ),
        expect=answer("alter", ALTERED).is_(ErrorCode.INVALID_CONFIG),
    )


LEVELS = {
    "append": ((APPEND, "INFO"), {"2.8+": ErrorCode.INVALID_REQUEST}),
    "subtract": ((SUBTRACT, "INFO"), {"2.8+": ErrorCode.INVALID_REQUEST}),
    "delete": ((DELETE, None), {"2.8+": ErrorCode.INVALID_REQUEST}),
    "level": ((SET, "LOUD"), {"2.8": ErrorCode.INVALID_REQUEST, "3.9+": ErrorCode.INVALID_CONFIG}),
}


@claim("topics.odd-log-levels-are-refused", evidence=("KIP-412", "observed on 2.8.2 and 4.3.1"),
       api="IncrementalAlterConfigs", versions=every("IncrementalAlterConfigs"),
       odd=tuple(LEVELS))  # fmt: skip
def test_odd_log_levels_are_refused(case):
    """IncrementalAlterConfigs of a broker logger refuses APPEND and SUBTRACT, an unknown level, and
    the deletion of the root logger's level."""
    change, codes = LEVELS[case.odd]
    return case.scenario(
        incremental_alter_configs(
            "0", [("root", *change)], version=case.version, kind=LOGGER, name="alter"
        ),
        expect=by_release(
            {which: answer("alter", ALTERED).is_(code) for which, code in codes.items()}
        ),
    )


@claim("topics.unread-intervals-are-refused", evidence=("KIP-714", "observed on 4.3.1"),
       api="IncrementalAlterConfigs", versions=every("IncrementalAlterConfigs"),
       releases="4.3")  # fmt: skip
def test_unread_intervals_are_refused(case):
    """IncrementalAlterConfigs of a client metrics subscription with an interval.ms that is not a
    number answers INVALID_CONFIG."""
    return case.scenario(
        incremental_alter_configs(
            case.topic("metrics"), [("interval.ms", SET, "x")], version=case.version,
            kind=METRICS, name="alter",
        ),
        expect=answer("alter", ALTERED).is_(ErrorCode.INVALID_CONFIG),
    )  # fmt: skip
