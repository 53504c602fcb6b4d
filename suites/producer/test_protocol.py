"""Versions, unknown fields, throttling: what every client owes the protocol."""

from touchstone.harness.model.claim import claim
from touchstone.harness.model.expect import all_of, any_of, client
from touchstone.suites.kit.clients import Change, a_topic, fault, producer, sent, texts

THROTTLED_MS = 400
TAGS = {90: b"from the future"}
PRODUCE = {"api_key": 0}


@claim("producer.versions-are-asked-first", evidence=("KIP-35",), role="client",
       switches=("versions-not-asked",))  # fmt: skip
def test_versions_are_asked_first(case):
    """A client asks ApiVersions before anything else on a connection."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        producer(),
        sent(topic, ["v"]),
        expect=all_of(
            client("order", names=["ApiVersions", "Metadata", "Produce"]).contains("Produce"),
            client("first asked").each_is("ApiVersions"),
        ),
    )


@claim("producer.a-lower-version-is-used-where-no-other-is-offered", evidence=("KIP-35",),
       role="client", switches=("versions-ignored",))  # fmt: skip
def test_a_lower_version_is_used_where_no_other_is_offered(case):
    """A producer whose broker offers Produce up to version 7 sends Produce in 7 or lower."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        Change("ApiVersions", "api_keys[*].max_version", 7, times=0, where=PRODUCE),
        producer(),
        sent(topic, ["v"]),
        expect=all_of(
            client("versions", api="Produce").each_is_one_of(*range(8)),
            client("events", name="producer_send_success", path="value").is_(["v"]),
        ),
    )


@claim("producer.an-older-api-versions-is-fallen-back-to", evidence=("KIP-511", "KIP-35"),
       role="client", releases="3.9+", switches=("versions-not-asked",))  # fmt: skip
def test_an_older_api_versions_is_fallen_back_to(case):
    """A client whose ApiVersions is refused asks it again in a version that the answer offers."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        fault("ApiVersions", "UNSUPPORTED_VERSION", 1, versions=[3, 99]),
        Change("ApiVersions", "api_keys[0].max_version", 2),
        producer(),
        sent(topic, ["v"]),
        expect=all_of(
            any_of(*(client("versions", api="ApiVersions").contains(one) for one in (0, 1, 2))),
            client("events", name="producer_send_success", path="value").is_(["v"]),
        ),
    )


@claim("producer.unknown-tagged-fields-are-passed-over", evidence=("KIP-482",), role="client",
       switches=("dies-of-the-unknown",))  # fmt: skip
def test_unknown_tagged_fields_are_passed_over(case):
    """A producer reads answers that have tagged fields which it does not know."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        Change("ApiVersions", "_tags", TAGS, times=0),
        Change("Metadata", "topics[*]._tags", TAGS, times=0),
        Change("Metadata", "_tags", TAGS, times=0),
        Change("Produce", "responses[*].partition_responses[*]._tags", TAGS, times=0),
        Change("Produce", "_tags", TAGS, times=0),
        producer(),
        sent(topic, texts(2)),
        expect=client("events", name="producer_send_success", path="value").is_(texts(2)),
    )


@claim("producer.throttle-time-is-waited-for", evidence=("KIP-219",), role="client",
       releases="2.2+",
       switches=("throttle-hidden",))  # fmt: skip
def test_throttle_time_is_waited_for(case):
    """A producer whose answer says throttle_time_ms 400 is silent on that connection meanwhile."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        producer(),
        sent(topic, ["a"], number=1),
        Change("Produce", "throttle_time_ms", THROTTLED_MS),
        sent(topic, ["b"], number=2),
        sent(topic, ["c"], number=3),
        expect=client("pause ms", api="Produce", nth=2).at_least(THROTTLED_MS - 10),
    )
