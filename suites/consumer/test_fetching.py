"""What a Fetch says, how many there are, and fetch sessions (CONS-29, CONS-30, KIP-227)."""

from itertools import permutations

from touchstone.harness.model.claim import SHOULD, claim
from touchstone.harness.model.expect import all_of, any_of, client
from touchstone.suites.kit.clients import (
    C,
    Change,
    Watch,
    a_topic,
    assign,
    consumer,
    reads,
    spoil,
    stored,
)

READ = {"client": C, "field": "value"}
NUMBERS = {"fetch.min.bytes": 7, "fetch.max.wait.ms": 250, "fetch.max.bytes": 40000}


@claim("consumer.a-fetch-says-what-is-configured", evidence=("CONS-29", "KIP-74"), role="client",
       switches=("limits-not-said",))  # fmt: skip
def test_a_fetch_says_what_is_configured(case):
    """Each Fetch names fetch.min.bytes, fetch.max.wait.ms, fetch.max.bytes, and
    max.partition.fetch.bytes for each partition.
    """
    topic = case.topic()
    limits = {"api": "Fetch", "path": "topics[*].partitions[*].partition_max_bytes"}
    return case.scenario(
        a_topic(topic),
        stored(topic, "a"),
        consumer(config=NUMBERS | {"max.partition.fetch.bytes": 3000}),
        assign(topic),
        reads(1),
        expect=all_of(
            client("asked", api="Fetch", path="min_bytes").each_is(7),
            client("asked", api="Fetch", path="max_wait_ms").each_is(250),
            client("asked", api="Fetch", path="max_bytes").each_is(40000),
            client("asked", **limits).contains([[3000]]),
        ),
    )


@claim("consumer.a-fetch-names-the-rack", evidence=("KIP-392",), role="client", releases="2.8+",
       switches=("rack-not-named",))  # fmt: skip
def test_a_fetch_names_the_rack(case):
    """Each Fetch names client.rack, by which a broker chooses a replica to read from."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        stored(topic, "a"),
        consumer(config={"client.rack": "west"}),
        assign(topic),
        reads(1),
        expect=client("asked", api="Fetch", path="rack_id").each_is("west"),
    )


@claim("consumer.one-fetch-names-all-partitions-of-a-leader", evidence=("CONS-30",),
       role="client", level=SHOULD, switches=("fetches-one-partition",))  # fmt: skip
def test_one_fetch_names_all_partitions_of_a_leader(case):
    """The first Fetch of a consumer with three partitions of one leader names all three."""
    topic = case.topic()
    named = {"api": "Fetch", "path": "topics[*].partitions[*].partition"}
    return case.scenario(
        a_topic(topic, 3),
        *(stored(topic, "v", partition=at) for at in range(3)),
        consumer(),
        assign(topic, 0, 1, 2),
        reads(3),
        expect=any_of(
            *(client("asked", **named).contains([list(order)]) for order in permutations(range(3)))
        ),
    )


@claim("consumer.a-lost-fetch-session-is-begun-anew", evidence=("KIP-227",), role="client",
       level=SHOULD, releases="2.2+", switches=("session-errors-hidden",),
       error=("FETCH_SESSION_ID_NOT_FOUND", "INVALID_FETCH_SESSION_EPOCH"))  # fmt: skip
def test_a_lost_fetch_session_is_begun_anew(case):
    """A consumer whose fetch session its broker does not know any more fetches its partitions anew,
    and loses nothing.
    """
    topic = case.topic()
    code = {"FETCH_SESSION_ID_NOT_FOUND": 70, "INVALID_FETCH_SESSION_EPOCH": 71}[case.error]
    return case.scenario(
        a_topic(topic),
        stored(topic, "a"),
        consumer(),
        assign(topic),
        reads(1, name="the first"),
        Watch("Fetch", more=2),
        Change("Fetch", "error_code", code, name="the error"),
        Watch("Fetch", more=3),
        stored(topic, "b"),
        reads(2, name="the second"),
        expect=all_of(
            client("asked", api="Fetch", path="session_epoch", since="the error").contains(0),
            client("consumed", **READ).is_(["a", "b"]),
        ),
    )


@claim("consumer.a-log-that-grows-is-followed", evidence=("CONS-14", "CONS-25"), role="client",
       switches=("reads-twice", "skips-a-record"))  # fmt: skip
def test_a_log_that_grows_is_followed(case):
    """A consumer at the end of a log gets each record that is written there later, once."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        consumer(),
        assign(topic),
        Watch("Fetch", 2),
        *(step for at in range(4) for step in (stored(topic, f"v{at}"), reads(at + 1))),
        expect=client("consumed", client=C, field="offset").is_([0, 1, 2, 3]),
    )


@claim("consumer.an-answer-about-another-partition-is-dropped", evidence=("CONS-31",),
       role="client", switches=("other-partitions-believed",))  # fmt: skip
def test_an_answer_about_another_partition_is_dropped(case):
    """A consumer whose Fetch of partition 0 is answered with partition 1 takes nothing of that
    answer: it asks for the same offset again.
    """
    topic = case.topic()
    offsets = {"api": "Fetch", "path": "topics[*].partitions[*].fetch_offset"}
    return case.scenario(
        a_topic(topic, 2),
        stored(topic, "a"),
        spoil("delay", "Fetch", 1, ms=300),
        Change("Fetch", "responses[*].partitions[*].partition_index", 1),
        consumer(),
        assign(topic),
        Watch("Fetch", 1),
        Watch("Fetch", more=1, name="again"),
        reads(1),
        expect=all_of(
            client("asked", **offsets, since="again").contains([[0]]),
            client("consumed", client=C, field="partition").is_([0]),
        ),
    )


@claim("consumer.no-partition-starves", evidence=("CONS-48",), role="client",
       switches=("first-partition-first",))  # fmt: skip
def test_no_partition_starves(case):
    """A consumer whose Fetches have room for one batch gets a record of its second partition before
    the twenty batches of the first one are read.
    """
    topic = case.topic()
    small = {"fetch.max.bytes": 1, "max.partition.fetch.bytes": 1}
    return case.scenario(
        a_topic(topic, 2),
        *(stored(topic, f"v{at}") for at in range(20)),
        stored(topic, "other", partition=1),
        spoil("delay", "Fetch", None, ms=30),
        consumer(config=small),
        assign(topic, 0, 1),
        reads(4),
        expect=client("consumed", **READ).contains("other"),
    )
