"""Retention that changes while a log lives, and what it means for producers and deleted records.

Sources: LogManager.topicConfigUpdated, ProducerStateManager at 1.0.2, 2.2.1, 2.8.2, 3.9.2; KIP-360,
KIP-854; clauses LOG-17, LOG-30, LOG-31, DYN-10.
"""

from touchstone.harness.model.claim import claim, only
from touchstone.harness.model.expect import all_of, answer, by_release
from touchstone.harness.model.placeholders import Now, Ref
from touchstone.harness.model.scenario import Until
from touchstone.harness.model.steps import (
    alter_configs,
    delete_records,
    init_producer_id,
    produce,
    producer_ready,
)
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.producing import stored_at
from touchstone.suites.kit.records import ONE, THREE, TWO, batch, from_producer
from touchstone.suites.kit.segments import (
    FAST_LOG_MANAGER,
    FOREVER,
    HOUR,
    LOOK,
    MINUTE,
    OLD,
    TEN_MINUTES,
    earliest,
    retention_passes,
    segmented,
    starts_at,
    stays_at,
)
from touchstone.suites.kit.topics import ends_at, log_end

ROW = "topics[0].partitions[0]"
FETCHED = "responses[0].partitions[0]"


@claim(
    "log.a-shorter-retention-reaches-a-live-log",
    evidence=(
        "LOG-17",
        "DYN-10",
    ),
    **LOOK,
)
def test_a_shorter_retention_reaches_a_live_log(case):
    """Lowering retention.ms of a topic deletes segments that the former value kept."""
    topic = case.topic()
    configs = {"segment.ms": 1000}
    return case.scenario(
        segmented(topic, batch(ONE, at=OLD), batch(TWO), configs=FOREVER),
        earliest(topic, "before"),
        alter_configs(topic, configs | TEN_MINUTES, name="alter"),
        starts_at(topic, 1),
        expect=all_of(stays_at(0, "before"), answer("earliest", f"{ROW}.offset").is_(1)),
    )


@claim(
    "log.removing-an-override-restores-the-brokers-retention",
    evidence=(
        "DYN-10",
        "LOG-30",
    ),
    **LOOK,
)
def test_removing_an_override_restores_the_brokers_retention(case):
    """A topic whose retention.ms is removed is subject to the broker's default of one week
    again."""
    topic = case.topic()
    week = 7 * 24 * HOUR
    many = batch(ONE, at=-week - HOUR), batch(TWO, at=-week + HOUR), batch(THREE)
    return case.scenario(
        segmented(topic, *many, configs=FOREVER),
        earliest(topic, "before"),
        alter_configs(topic, {"segment.ms": 1000}, name="alter"),
        starts_at(topic, 1),
        retention_passes(case.topic("witness")),
        earliest(topic, "after"),
        expect=all_of(stays_at(0, "before"), stays_at(1, "after")),
    )


@claim(
    "log.brokers-defaults-hold-where-a-topic-says-nothing",
    evidence=(
        "LOG-30",
        "LOG-17",
    ),
    **LOOK,
)
def test_brokers_defaults_hold_where_a_topic_says_nothing(case):
    """A topic without overrides loses segments older than the default of one week and keeps younger
    ones."""
    topic = case.topic()
    week = 7 * 24 * HOUR
    return case.scenario(
        segmented(topic, batch(ONE, at=-week - HOUR), batch(TWO, at=-week + HOUR)),
        starts_at(topic, 1),
        retention_passes(case.topic("witness")),
        earliest(topic, "after"),
        expect=stays_at(1, "after"),
    )


@claim(
    "log.producers-outlive-their-records",
    evidence=(
        "LOG-20",
        "APPEND-17",
        "KIP-360",
    ),
    api="Produce",
    versions=only("Produce", 3),
    config=FAST_LOG_MANAGER,
)
def test_producers_outlive_their_records(case):
    """After retention deleted a producer's records, releases since 2.5 still answer its repeated
    batch with the first offset and accept its next sequence; earlier ones refuse a gap without that
    memory."""
    topic, producer = case.topic(), Ref("init", "producer_id")

    def send(sequence, name, at=0):
        own = from_producer(producer, 0, sequence, ONE, timestamp=Now(at))
        return produce(topic, 0, own, name=name)

    code = "responses[0].partition_responses[0].error_code"
    return case.scenario(
        segmented(topic, configs=TEN_MINUTES),
        producer_ready(),
        init_producer_id(name="init"),
        send(0, "one", OLD),
        starts_at(topic, 1),
        send(0, "one again"),  # stays, so that its producer is known to all
        send(5, "a gap"),
        send(1, "two"),
        log_end(topic),
        expect=by_release(
            {
                "1.0-2.2": answer("a gap", code).is_not(ErrorCode.NONE),
                "2.8+": all_of(stored_at("one again", 0), stored_at("two", 1)),
            }
        ),
    )


@claim(
    "log.silent-producers-are-forgotten",
    evidence=("LOG-31", "KIP-854"),
    api="Produce",
    versions=only("Produce", 3),
    releases="3.9+",
    config=FAST_LOG_MANAGER
    | {"producer.id.expiration.ms": 1000, "producer.id.expiration.check.interval.ms": 200},
)
def test_silent_producers_are_forgotten(case):
    """A producer whose last batch is older than producer.id.expiration.ms is forgotten: a sequence
    that would have been a gap is accepted."""
    topic, producer = case.topic(), Ref("init", "producer_id")

    def send(sequence, name, at=-MINUTE):
        own = from_producer(producer, 0, sequence, ONE, timestamp=Now(at))
        return produce(topic, 0, own, name=name)

    code = "responses[0].partition_responses[0].error_code"
    return case.scenario(
        segmented(topic),
        producer_ready(),
        init_producer_id(name="init"),
        send(0, "one"),
        Until(send(5, "a gap"), code, "==", ErrorCode.NONE),
        log_end(topic),
        expect=all_of(stored_at("one", 0), stored_at("a gap", 1), ends_at(2)),
    )


@claim(
    "log.deleted-records-and-retention-agree",
    evidence=(
        "LOG-19",
        "LOG-27",
    ),
    **LOOK,
)
def test_deleted_records_and_retention_agree(case):
    """Retention leaves the log start where DeleteRecords put it, and DeleteRecords below it returns
    it as low_watermark."""
    topic = case.topic()
    many = batch(ONE, at=OLD), batch(TWO, THREE, at=-MINUTE), batch(ONE)
    return case.scenario(
        segmented(topic, *many, configs=TEN_MINUTES),
        delete_records(topic, 0, 2, name="delete"),
        retention_passes(case.topic("witness")),
        earliest(topic),
        delete_records(topic, 0, 1, name="back"),
        expect=all_of(stays_at(2), answer("back", f"{ROW}.low_watermark").is_(2)),
    )
