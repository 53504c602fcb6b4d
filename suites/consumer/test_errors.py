"""What a consumer does when a fetch goes wrong (CONS-26, CONS-37)."""

from touchstone.harness.model.claim import claim
from touchstone.harness.model.expect import all_of, client
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.clients import (
    C,
    Change,
    Hear,
    Watch,
    a_topic,
    assign,
    consumer,
    fault,
    reads,
    spoil,
    stored,
    texts,
)

READ = {"client": C, "field": "value"}
STALE = ("NOT_LEADER_OR_FOLLOWER", "FENCED_LEADER_EPOCH", "UNKNOWN_TOPIC_OR_PARTITION")
PASSING = ("REPLICA_NOT_AVAILABLE", "KAFKA_STORAGE_ERROR", "UNKNOWN_LEADER_EPOCH",
           "OFFSET_NOT_AVAILABLE")  # fmt: skip
CODE, RECORDS = (f"responses[*].partitions[*].{field}" for field in ("error_code", "records"))


@claim("consumer.a-stale-leader-is-looked-up", evidence=("CONS-37",), role="client",
       switches=("metadata-hidden",), error=STALE)  # fmt: skip
def test_a_stale_leader_is_looked_up(case):
    """A consumer whose Fetch meets an error of a stale leader asks for Metadata and goes on."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        stored(topic, "a"),
        consumer(),
        assign(topic),
        reads(1, name="first"),
        Change("Fetch", CODE, ErrorCode[case.error], name="the error"),
        stored(topic, "b"),
        reads(2, name="second"),
        Watch("Metadata", 1, since="the error"),
        expect=all_of(
            client("consumed", **READ).is_(["a", "b"]),
            client("count", api="Metadata", since="the error").at_least(1),
        ),
    )


@claim("consumer.passing-errors-cost-nothing", evidence=("CONS-37",), role="client",
       switches=("skips-a-record",), error=PASSING)  # fmt: skip
def test_passing_errors_cost_nothing(case):
    """A consumer whose Fetch meets an error that passes reads on, without loss and repetition."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        stored(topic, "a"),
        consumer(),
        assign(topic),
        reads(1, name="first"),
        Change("Fetch", CODE, ErrorCode[case.error], times=2),
        stored(topic, "b"),
        reads(2, name="second"),
        expect=client("consumed", **READ).is_(["a", "b"]),
    )


@claim("consumer.a-refused-fetch-is-reported", evidence=("CONS-37",), role="client",
       switches=("errors-swallowed",))  # fmt: skip
def test_a_refused_fetch_is_reported(case):
    """A Fetch that is answered TOPIC_AUTHORIZATION_FAILED gives the application that error."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        stored(topic, "a"),
        Change("Fetch", CODE, ErrorCode.TOPIC_AUTHORIZATION_FAILED, times=0),
        consumer(),
        assign(topic),
        Hear("consumer_error", C),
        expect=all_of(
            client("codes", name="consumer_error").contains("TOPIC_AUTHORIZATION_FAILED"),
            client("consumed", **READ).is_([]),
        ),
    )


@claim("consumer.a-lost-connection-costs-no-record", evidence=("CONS-23", "CONS-25"),
       role="client", switches=("reads-twice",), how=("close", "drop"))  # fmt: skip
def test_a_lost_connection_costs_no_record(case):
    """A consumer whose connection ends within a Fetch reads on, each record once and in order."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        stored(topic, "a"),
        consumer(config={"request.timeout.ms": 2000}),
        assign(topic),
        reads(1, name="first"),
        spoil(case.how, "Fetch", 1),
        stored(topic, "b"),
        stored(topic, "c"),
        reads(3, name="all"),
        expect=client("consumed", **READ).is_(["a", "b", "c"]),
    )


@claim("consumer.a-corrupt-batch-is-never-handed-out", evidence=("CONS-26",), role="client",
       switches=("crc-unchecked",))  # fmt: skip
def test_a_corrupt_batch_is_never_handed_out(case):
    """A batch with a wrong checksum gives the application an error and none of its records."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        stored(topic, "right", "spoiled on its way"),
        Change("Fetch", RECORDS, 5, times=0),
        consumer(config={"check.crcs": "true"}),
        assign(topic),
        Hear("consumer_error", C),
        expect=client("consumed", **READ).is_([]),
    )


@claim("consumer.good-records-come-before-the-error", evidence=("CONS-26",), role="client",
       switches=("errors-swallowed", "crc-unchecked"))  # fmt: skip
def test_good_records_come_before_the_error(case):
    """Records before a corrupt batch of the same answer are handed out, and then the error is."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        stored(topic, "good"),
        stored(topic, "spoiled on its way"),
        Change("Fetch", RECORDS, 5, times=0),
        consumer(config={"check.crcs": "true", "fetch.min.bytes": 120}),
        assign(topic),
        Hear("consumer_error", C),
        expect=all_of(
            client("consumed", **READ).is_(["good"]),
            client("first and last", names=["records_consumed", "consumer_error"]).is_(
                ["records_consumed", "consumer_error"]
            ),
        ),
    )


@claim("consumer.list-offsets-is-tried-again", evidence=("CONS-21",), role="client",
       switches=("skips-a-record",), error=("NOT_LEADER_OR_FOLLOWER", "LEADER_NOT_AVAILABLE",
       "OFFSET_NOT_AVAILABLE"))  # fmt: skip
def test_list_offsets_is_tried_again(case):
    """A consumer that finds its position asks ListOffsets again when a passing error meets it."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        stored(topic, *texts(2)),
        fault("ListOffsets", case.error, 1),
        consumer(),
        assign(topic),
        reads(2),
        expect=all_of(
            client("consumed", **READ).is_(texts(2)),
            client("count", api="ListOffsets").is_(2),
        ),
    )
