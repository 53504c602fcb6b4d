"""Versions, unknown fields, throttling, sessions, replicas: a consumer and the protocol."""

from touchstone.harness.model.claim import SHOULD, claim
from touchstone.harness.model.expect import all_of, client
from touchstone.harness.model.steps import create_topic, topic_ready
from touchstone.suites.kit.clients import (
    C,
    Change,
    Watch,
    a_topic,
    assign,
    consumer,
    reads,
    stored,
)

READ = {"client": C, "field": "value"}
THROTTLED_MS = 400
TAGS = {90: b"from the future"}
FETCH = {"api_key": 1}


@claim("consumer.a-lower-version-is-used-where-no-other-is-offered", evidence=("KIP-35",),
       role="client", switches=("versions-ignored",))  # fmt: skip
def test_a_lower_version_is_used_where_no_other_is_offered(case):
    """A consumer whose broker offers Fetch up to version 6 sends Fetch in 6 or lower."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        stored(topic, "a"),
        Change("ApiVersions", "api_keys[*].max_version", 6, times=0, where=FETCH),
        consumer(),
        assign(topic),
        reads(1),
        expect=all_of(
            client("versions", api="Fetch").each_is_one_of(*range(7)),
            client("consumed", **READ).is_(["a"]),
        ),
    )


@claim("consumer.unknown-tagged-fields-are-passed-over", evidence=("KIP-482",), role="client",
       switches=("dies-of-the-unknown",))  # fmt: skip
def test_unknown_tagged_fields_are_passed_over(case):
    """A consumer reads answers that have tagged fields which it does not know."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        stored(topic, "a"),
        *(
            Change(api, path, TAGS, times=0)
            for api, path in (
                ("Metadata", "topics[*].partitions[*]._tags"), ("Metadata", "_tags"),
                ("ListOffsets", "topics[*]._tags"), ("Fetch", "_tags"),
                ("Fetch", "responses[*]._tags"), ("Fetch", "responses[*].partitions[*]._tags"),
            )
        ),
        consumer(),
        assign(topic),
        reads(1),
        expect=client("consumed", **READ).is_(["a"]),
    )  # fmt: skip


@claim("consumer.throttle-time-is-waited-for", evidence=("KIP-219",), role="client",
       releases="2.2+",
       switches=("throttle-hidden",))  # fmt: skip
def test_throttle_time_is_waited_for(case):
    """A consumer whose answer says throttle_time_ms 400 is silent on that connection meanwhile."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        stored(topic, "a"),
        Change("Fetch", "throttle_time_ms", THROTTLED_MS),
        consumer(),
        assign(topic),
        reads(1),
        Watch("Fetch", more=1),
        expect=client("pause ms", api="Fetch", nth=1).at_least(THROTTLED_MS - 10),
    )


@claim("consumer.a-fetch-session-is-incremental", evidence=("KIP-227",), level=SHOULD,
       role="client", switches=("sessions-refused",))  # fmt: skip
def test_a_fetch_session_is_incremental(case):
    """A consumer that was given a fetch session names it, and no partition that did not change."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        stored(topic, "a"),
        consumer(),
        assign(topic),
        reads(1),
        Watch("Fetch", more=3),
        expect=client("asked", api="Fetch", path="topics").contains([]),
    )


@claim("consumer.a-preferred-replica-is-read-from", evidence=("KIP-392",), role="client",
       switches=("preferred-replica-hidden",), brokers=3, racks=("a", "b", "c"))  # fmt: skip
def test_a_preferred_replica_is_read_from(case):
    """A consumer with a rack that a leader sends to a follower fetches from that follower."""
    topic = case.topic()
    return case.scenario(
        create_topic(topic, assignments={0: [0, 1, 2]}),
        topic_ready(topic, 1, brokers=3),
        Change("Fetch", "responses[*].partitions[*].preferred_read_replica", 1),
        consumer(config={"client.rack": "b"}),
        assign(topic),
        Watch("Fetch", 3),
        expect=client("brokers", api="Fetch").contains(1),
        config={"default.replication.factor": 3},
    )
