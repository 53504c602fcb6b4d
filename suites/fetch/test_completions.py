"""Further events that complete a waiting Fetch, or do not: other partitions, a deleted topic, a new
segment.

Sources: DelayedFetch.tryComplete, ReplicaManager.stopReplicas at 1.0.2, 2.2.1, 2.8.2 and 3.9;
clauses FETCH-08, FETCH-09, FETCH-11, FETCH-12.
"""

from touchstone.harness.model.claim import claim, every
from touchstone.harness.model.expect import all_of, answer, records
from touchstone.harness.model.scenario import Await, Send
from touchstone.harness.model.steps import a_topic, delete_topic, produce
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.fetching import nothing_comes, part, question
from touchstone.suites.kit.records import ONE, SIZE, TWO, batch
from touchstone.suites.kit.topics import among

AGES_MS = 600_000
FIRST = "responses[0].partitions[0]"


def waits(case, topic, *parts, **fields):
    """A fetch on another connection that is to be completed by what the case does."""
    body = question(case.version, [(topic, parts)], **{"max_wait_ms": AGES_MS} | fields)
    return Send("Fetch", case.version, body, name="fetch", connection="b")


def of_waits(id, *evidence, **how):
    how = {"versions": every("Fetch"), "where": among(4, 12)} | how
    return claim(id, evidence=evidence, api="Fetch", **how)


@of_waits("fetch.appends-complete-a-wait-whatever-their-acks", "FETCH-09", acks=(0, 1, -1))
def test_appends_complete_a_wait_whatever_their_acks(case):
    """With one replica an append completes a waiting Fetch, whatever its acks."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        waits(case, topic, part()),
        nothing_comes(),
        produce(topic, 0, batch(ONE), acks=case.acks, name="append"),
        Await("fetch"),
        expect=records("fetch", "[*].value").is_([ONE]),
    )


@of_waits("fetch.bytes-of-all-partitions-count-together", "FETCH-12", "FETCH-09")
def test_bytes_of_all_partitions_count_together(case):
    """A waiting Fetch adds up the bytes of all its partitions; appends to other partitions do not
    count.
    """
    topic, other = case.topic(), case.topic("other")
    return case.scenario(
        a_topic(topic, 3),
        a_topic(other),
        waits(case, topic, part(0), part(1), min_bytes=2 * SIZE),
        produce(other, 0, batch(ONE), name="elsewhere"),
        produce(topic, 2, batch(ONE), name="beside"),
        produce(topic, 0, batch(ONE), name="half"),
        nothing_comes(),
        produce(topic, 1, batch(TWO), name="whole"),
        Await("fetch"),
        expect=all_of(
            records("fetch", "[*].value").is_([ONE]),
            answer("fetch", "responses[0].partitions[*].high_watermark").is_([1, 1]),
        ),
    )


@of_waits("fetch.a-new-segment-completes-a-wait", "FETCH-11", releases="1.0-3.9")
def test_a_new_segment_completes_a_wait(case):
    """A new segment completes a Fetch that waits in the old one, however few bytes there are."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic, configs={"segment.bytes": SIZE + 10}),
        produce(topic, 0, batch(ONE), name="before"),
        waits(case, topic, part(), min_bytes=1 << 20),
        nothing_comes(),
        produce(topic, 0, batch(TWO), name="rolls"),
        Await("fetch"),
        expect=records("fetch", "[*].value").is_([ONE]),
    )


@of_waits("fetch.the-end-of-a-topic-ends-a-wait", "FETCH-11", releases="2.8+")
def test_the_end_of_a_topic_ends_a_wait(case):
    """Deleting a topic completes a Fetch that waits on it with UNKNOWN_TOPIC_OR_PARTITION."""
    return deleted_while_waiting(case, AGES_MS)


@of_waits("fetch.the-end-of-a-topic-was-met-when-time-was-up", "FETCH-11", releases="1.0-2.2")
def test_the_end_of_a_topic_was_met_when_time_was_up(case):
    """Before 2.8 a Fetch that waits on a deleted topic answers UNKNOWN_TOPIC_OR_PARTITION only
    after max_wait_ms.
    """
    return deleted_while_waiting(case, 5000)  # as long as a deletion may take


def deleted_while_waiting(case, max_wait_ms):
    """A fetch waits for a topic, and the topic is deleted."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        waits(case, topic, part(), max_wait_ms=max_wait_ms),
        nothing_comes(),
        delete_topic(topic, name="delete"),
        Await("fetch"),
        expect=answer("fetch", f"{FIRST}.error_code").is_(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    )
