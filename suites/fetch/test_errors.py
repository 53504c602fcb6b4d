"""Errors of a Fetch per partition: unknown names and ids, leader epochs, isolation levels, unknown
replicas.

Sources: KafkaApis.handleFetchRequest and Partition.checkCurrentLeaderEpoch at 2.2.1, KIP-320
(leader epochs), KIP-516 (topic ids), KIP-595 (diverging epochs); clause FETCH-21.
"""

from touchstone.harness.model.claim import OBSERVED, claim, range_
from touchstone.harness.model.expect import all_of, answer, by_release, refused
from touchstone.harness.model.scenario import Ask, Frame, Raw
from touchstone.harness.model.steps import a_topic, fetch, metadata
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.fetching import part, question
from touchstone.suites.kit.records import ONE, TWO, batch
from touchstone.suites.kit.topics import a_log, among

PARTS = "responses[0].partitions"


@claim(
    "fetch.unknown-topics-and-partitions-are-refused",
    evidence=("FETCH-21",),
    api="Fetch",
    versions=range_("Fetch", 0, 12),
    where=among(0, 3, 4, 7, 12),
)
def test_unknown_topics_and_partitions_are_refused(case):
    """Fetch of an unknown topic or partition answers UNKNOWN_TOPIC_OR_PARTITION."""
    topic, nowhere = case.topic(), case.topic("nowhere")
    asked = {"topic": (nowhere, 0), "partition": (topic, 7), "negative": (topic, -1)}
    code, high = f"{PARTS}[0].error_code", f"{PARTS}[0].high_watermark"
    return case.scenario(
        a_topic(topic),
        [
            fetch(of, index, version=case.version, max_wait_ms=0, name=word)
            for word, (of, index) in asked.items()
        ],
        expect=all_of(
            *(answer(word, code).is_(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION) for word in asked),
            *(answer(word, high).is_(-1) for word in asked),
        ),
    )


@claim(
    "fetch.the-unknown-comes-last",
    evidence=("FETCH-21", "FETCH-06"),
    level=OBSERVED,
    api="Fetch",
    versions=range_("Fetch", 0, 12),
    where=among(0, 4, 7, 12),
)
def test_the_unknown_comes_last(case):
    """Fetch answers unknown topics after the others and, from 2.2 on, unknown partitions too."""
    topic, nowhere = case.topic(), case.topic("nowhere")
    asked = question(case.version, [(nowhere, [part(0)]), (topic, [part(7), part(0)])])
    order = answer("fetch", "responses[0].partitions[*].partition_index")
    return case.scenario(
        a_log(topic, batch(ONE)),
        Ask("Fetch", case.version, asked, name="fetch"),
        expect=by_release({"1.0": order.is_([7, 0]), "2.2+": order.is_([0])}),
    )


@claim(
    "fetch.unknown-partitions-of-a-topic-id-are-refused",
    evidence=("FETCH-21", "KIP-516"),
    api="Fetch",
    versions=range_("Fetch", 13),
    where=among(13, 17),
)
def test_unknown_partitions_of_a_topic_id_are_refused(case):
    """Fetch of an unknown partition by topic id answers UNKNOWN_TOPIC_OR_PARTITION."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        fetch(topic, 5, version=case.version, max_wait_ms=0, name="fetch"),
        expect=all_of(
            answer("fetch", f"{PARTS}[0].error_code").is_(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
            answer("fetch", f"{PARTS}[0].high_watermark").is_(-1),
        ),
    )


@claim(
    "fetch.unknown-topic-ids-are-refused",
    evidence=("FETCH-21", "KIP-516"),
    api="Fetch",
    versions=range_("Fetch", 13),
    where=among(13, 15, 17, 18),
)
def test_unknown_topic_ids_are_refused(case):
    """Fetch of an unknown topic id or of the zero id answers UNKNOWN_TOPIC_ID."""
    unknown = question(case.version, [(b"\x17" * 16, [part()])])
    zero = question(case.version, [(bytes(16), [part()])])
    return case.scenario(
        Ask("Fetch", case.version, unknown, name="unknown"),
        Ask("Fetch", case.version, zero, name="zero"),
        expect=all_of(
            answer("unknown", f"{PARTS}[0].error_code").is_(ErrorCode.UNKNOWN_TOPIC_ID),
            answer("zero", f"{PARTS}[0].error_code").is_(ErrorCode.UNKNOWN_TOPIC_ID),
        ),
    )


@claim(
    "fetch.wrong-leader-epochs-are-fenced",
    evidence=("KIP-320", "FETCH-21"),
    api="Fetch",
    versions=range_("Fetch", 9),
    switches=("leader-epoch-not-checked",),
    where=among(9, 11, 12, 16, 18),
)
def test_wrong_leader_epochs_are_fenced(case):
    """From version 9 on Fetch with a later leader epoch answers UNKNOWN_LEADER_EPOCH; with the
    current one, or none, it succeeds.
    """
    topic = case.topic()

    def asked(name, epoch):
        return fetch(
            topic, version=case.version, max_wait_ms=0, current_leader_epoch=epoch, name=name
        )

    return case.scenario(
        a_log(topic, batch(ONE)),
        asked("newer", 5),
        asked("right", 0),
        asked("none", -1),
        expect=all_of(
            answer("newer", f"{PARTS}[0].error_code").is_(ErrorCode.UNKNOWN_LEADER_EPOCH),
            answer("right", f"{PARTS}[0].error_code").is_(ErrorCode.NONE),
            answer("none", f"{PARTS}[0].error_code").is_(ErrorCode.NONE),
        ),
    )


@claim(
    "fetch.negative-leader-epochs-were-fenced",
    evidence=("KIP-320", "observed on 2.2.1, 2.8.2, 3.9.2 and 4.3.1"),
    level=OBSERVED,
    api="Fetch",
    versions=range_("Fetch", 9),
    where=among(10, 12, 17),
)
def test_negative_leader_epochs_were_fenced(case):
    """Fetch with a leader epoch below -1 answers FENCED_LEADER_EPOCH in 2.2 and succeeds from 2.8
    on.
    """
    topic = case.topic()
    code = f"{PARTS}[0].error_code"
    return case.scenario(
        a_log(topic, batch(ONE)),
        fetch(topic, version=case.version, max_wait_ms=0, current_leader_epoch=-2, name="fetch"),
        expect=by_release(
            {
                "2.2": answer("fetch", code).is_(ErrorCode.FENCED_LEADER_EPOCH),
                "2.8+": answer("fetch", code).is_(ErrorCode.NONE),
            }
        ),
    )


@claim(
    "fetch.a-log-that-left-the-leader-is-told-where",
    evidence=("KIP-595",),
    api="Fetch",
    versions=range_("Fetch", 12),
    where=among(12, 13, 17),
)
def test_a_log_that_left_the_leader_is_told_where(case):
    """Fetch beyond the end of its last fetched epoch answers diverging_epoch and no records."""
    topic = case.topic()
    ahead = question(case.version, [(topic, [part(0, 9, last_fetched_epoch=0)])])
    alike = question(case.version, [(topic, [part(0, 1, last_fetched_epoch=0)])])
    newer = question(case.version, [(topic, [part(0, 1, last_fetched_epoch=7)])])
    return case.scenario(
        a_log(topic, batch(ONE), batch(TWO)),
        Ask("Fetch", case.version, ahead, name="ahead"),
        Ask("Fetch", case.version, alike, name="alike"),
        Ask("Fetch", case.version, newer, name="newer"),
        expect=all_of(
            answer("ahead", f"{PARTS}[0].diverging_epoch.end_offset").is_(2),
            answer("ahead", f"{PARTS}[0].diverging_epoch.epoch").is_(0),
            answer("ahead", f"{PARTS}[0].records").has_length(0),
            answer("alike", f"{PARTS}[0].diverging_epoch.end_offset").is_(-1),
            answer("newer", f"{PARTS}[0].error_code").is_(ErrorCode.OFFSET_OUT_OF_RANGE),
        ),
    )


@claim(
    "fetch.unknown-isolation-levels-close-the-connection",
    evidence=("observed on 1.0.2 and 2.2.1",),
    level=OBSERVED,
    api="Fetch",
    versions=range_("Fetch", 4),
    releases="1.0-2.2",
    where=among(4, 10),
)
def test_unknown_isolation_levels_close_the_connection(case):
    """Up to 2.2 a Fetch with an unknown isolation level closes the connection."""
    topic = case.topic()
    body = question(case.version, [(topic, [part()])], isolation_level=2)
    return case.scenario(
        a_topic(topic),
        Raw(Frame("Fetch", case.version, body), name="fetch", connection="b", expect="close"),
        metadata(name="after"),
        expect=refused("fetch"),
    )


@claim(
    "fetch.strangers-are-no-followers",
    evidence=("observed on 1.0.2, 2.2.1, 2.8.2, 3.9.2 and 4.3.1",),
    level=OBSERVED,
    api="Fetch",
    versions=range_("Fetch", 0, 14),
    where=among(0, 4, 12),
)
def test_strangers_are_no_followers(case):
    """A Fetch with the id of a broker that has no replica of the partition gets no records."""
    topic = case.topic()
    body = question(case.version, [(topic, [part()])], replica_id=77)
    return case.scenario(
        a_log(topic, batch(ONE)),
        Ask("Fetch", case.version, body, name="fetch"),
        expect=answer("fetch", f"{PARTS}[0].records").has_length(0),
    )
