"""ListConfigResources: what has configs of its own.

Version 0 knows client metrics only (KIP-714); the request was renamed and opened to other kinds in
version 1 (KIP-1142).

Sources: KafkaApis.handleListConfigResources at 3.9.2 and 4.3.1.
"""

from harness.claim import claim, range_
from harness.expect import all_of, answer
from harness.scenario import Ask
from harness.steps import BROKER, TOPIC, a_topic

API = "ListConfigResources"
NONE, TOO_OLD = 0, 35
LOGGER, METRICS, GROUP, NO_KIND = 8, 16, 32, 99
FOUND = "config_resources"


def list_resources(version, *kinds, name="list"):
    return Ask(API, version, {"resource_types": list(kinds)}, name)


@claim("topics.no-metrics-no-resources", evidence=("KIP-714", "KIP-1142"), api=API,
       releases="3.9+")  # fmt: skip
def test_no_metrics_no_resources(case):
    """Where nobody subscribed to client metrics there is none to list."""
    verdict = case.judge(
        list_resources(case.version, METRICS),
        expect=all_of(
            answer("list", "error_code").is_(NONE), answer("list", FOUND).is_([])
        ),
    )
    assert verdict.conforms, verdict


@claim("topics.topics-are-resources", evidence=("KIP-1142",), api=API, versions=range_(API, 1),
       kind=(TOPIC, BROKER, LOGGER))  # fmt: skip
def test_topics_are_resources(case):
    """Every topic has configs, every broker too, and a broker's loggers once more."""
    topic = case.topic()
    named = {TOPIC: topic, BROKER: "0", LOGGER: "0"}[case.kind]
    verdict = case.judge(
        a_topic(topic),
        list_resources(case.version, case.kind),
        expect=all_of(
            answer("list", f"{FOUND}[*].resource_name").contains(named),
            answer("list", f"{FOUND}[*].resource_type").each_is(case.kind),
        ),
    )
    assert verdict.conforms, verdict


@claim("topics.unknown-resources-are-not-listed", evidence=("KIP-1142",), api=API,
       versions=range_(API, 1))  # fmt: skip
def test_unknown_resources_are_not_listed(case):
    """A kind that nothing is of answers UNSUPPORTED_VERSION."""
    verdict = case.judge(
        list_resources(case.version, NO_KIND),
        expect=all_of(
            answer("list", "error_code").is_(TOO_OLD), answer("list", FOUND).is_([])
        ),
    )
    assert verdict.conforms, verdict
