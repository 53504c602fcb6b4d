"""Fetch sessions that change: partitions join and leave, sessions replace each other and end.

Sources: KIP-227; FetchManager.newContext and IncrementalFetchContext at 2.2.1, 2.8.2 and 3.9;
KIP-516 (topic ids in sessions); clauses FETCH-19, FETCH-20; observed on the four releases that have
version 7.
"""

from touchstone.harness.model.claim import claim, only, range_
from touchstone.harness.model.expect import all_of, answer, records
from touchstone.harness.model.scenario import Ask, Await, Ref, Send
from touchstone.harness.model.steps import (
    a_topic,
    create_partitions,
    delete_records,
    produce,
    topic_ready,
)
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.fetching import SESSION, full, more, nothing_comes, part, question
from touchstone.suites.kit.records import ONE, SIZE, TWO, batch
from touchstone.suites.kit.topics import among, appended

VERSIONS = among(7, 12, 13)
INDEXES = "responses[0].partitions[*].partition_index"
FIRST = "responses[0].partitions[0]"


def over(topic, case):
    """The word by which a forgotten topic is named in this version."""
    named = question(case.version, [(topic, [])])["topics"][0]
    return {key: value for key, value in named.items() if key != "partitions"}


def of_sessions(id, *evidence, **how):
    """A claim about every version that has sessions."""
    how = {"versions": range_("Fetch", 7), "where": VERSIONS} | how
    return claim(id, evidence=(*evidence, "KIP-227"), api="Fetch", **how)


@of_sessions("fetch.a-full-fetch-replaces-the-session-it-names", "FETCH-20")
def test_a_full_fetch_replaces_the_session_it_names(case):
    """A full Fetch that names a session closes it and opens a new one."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        full(case, topic),
        full(case, topic, name="again", session_id=SESSION),
        more(case, 1, "old"),
        more(case, 1, "new", session=Ref("again", "session_id")),
        expect=all_of(
            answer("again", "session_id").at_least(1),
            answer("old", "error_code").is_(ErrorCode.FETCH_SESSION_ID_NOT_FOUND),
            answer("new", "error_code").is_(ErrorCode.NONE),
        ),
    )


@of_sessions("fetch.a-session-that-nobody-knows-may-be-replaced", "FETCH-20")
def test_a_session_that_nobody_knows_may_be_replaced(case):
    """A full Fetch and a closing Fetch may name a session id that does not exist."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        full(case, topic, session_id=0x7ABCDEF),
        more(case, -1, "close", [(topic, [part()])], session=0x7ABCDEE),
        expect=all_of(
            answer("full", "session_id").at_least(1),
            answer("close", "error_code").is_(ErrorCode.NONE),
            answer("close", "session_id").is_(0),
        ),
    )


@of_sessions("fetch.a-session-without-partitions-ends", "FETCH-19")
def test_a_session_without_partitions_ends(case):
    """Forgetting the last partition of a session closes it: the next Fetch answers
    FETCH_SESSION_ID_NOT_FOUND.
    """
    topic = case.topic()
    forgotten = [over(topic, case) | {"partitions": [0]}]
    return case.scenario(
        a_topic(topic),
        full(case, topic),
        more(case, 1, "forget", forgotten_topics_data=forgotten),
        more(case, 2, "after"),
        expect=all_of(
            answer("forget", "session_id").is_(0),
            answer("forget", "responses").has_length(0),
            answer("after", "error_code").is_(ErrorCode.FETCH_SESSION_ID_NOT_FOUND),
        ),
    )


@of_sessions("fetch.a-session-takes-up-partitions", "FETCH-19")
def test_a_session_takes_up_partitions(case):
    """A partition added to a session is answered once in any case, and then only when it has
    changed.
    """
    topic = case.topic()
    return case.scenario(
        a_topic(topic, 2),
        full(case, topic),
        more(case, 1, "joins", [(topic, [part(1)])]),
        more(case, 2, "silent"),
        appended(topic, batch(ONE), partition=1),
        more(case, 3, "news"),
        expect=all_of(
            answer("joins", INDEXES).is_([1]),
            answer("silent", "responses").has_length(0),
            answer("news", INDEXES).is_([1]),
            records("news", "[*].value").is_([ONE]),
        ),
    )


@of_sessions("fetch.sessions-belong-to-no-connection", "FETCH-19")
def test_sessions_belong_to_no_connection(case):
    """A fetch session continues on another connection."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        full(case, topic),
        appended(topic, batch(ONE)),
        more(case, 1, "elsewhere", connection="b"),
        expect=records("elsewhere", "[*].value").is_([ONE]),
    )


@of_sessions("fetch.a-moved-log-start-is-news", "FETCH-19", "FETCH-23")
def test_a_moved_log_start_is_news(case):
    """A session answers a partition without new records when its log start offset has moved."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        appended(topic, batch(ONE), batch(TWO)),
        full(case, topic, part(0, 2)),
        more(case, 1, "silent"),
        delete_records(topic, 0, 1, name="delete"),
        more(case, 2, "moved"),
        more(case, 3, "silent again"),
        expect=all_of(
            answer("silent", "responses").has_length(0),
            answer("moved", f"{FIRST}.log_start_offset").is_(1),
            answer("silent again", "responses").has_length(0),
        ),
    )


@of_sessions("fetch.a-session-repeats-errors-until-they-end", "FETCH-19", "FETCH-21")
def test_a_session_repeats_errors_until_they_end(case):
    """A session repeats a partition's error in each answer, and answers the partition once more
    when the error ends.
    """
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        full(case, topic, part(1)),
        more(case, 1, "still"),
        create_partitions(topic, 2, name="grow"),
        topic_ready(topic, 2, again="grown"),
        more(case, 2, "there"),
        more(case, 3, "silent"),
        expect=all_of(
            answer("full", f"{FIRST}.error_code").is_(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
            answer("still", f"{FIRST}.error_code").is_(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
            answer("there", f"{FIRST}.error_code").is_(ErrorCode.NONE),
            answer("silent", "responses").has_length(0),
        ),
    )


@of_sessions("fetch.served-partitions-go-to-the-back", "FETCH-19", "FETCH-14")
def test_served_partitions_go_to_the_back(case):
    """In a session a partition that returned records moves behind the others for the next Fetch."""
    topic = case.topic()
    small = {"max_bytes": SIZE}
    return case.scenario(
        a_topic(topic, 2),
        appended(topic, batch(ONE)),
        appended(topic, batch(TWO), partition=1),
        full(case, topic, part(0), part(1), **small),
        more(case, 1, "first", **small),
        more(case, 2, "second", **small),
        more(case, 3, "third", **small),
        expect=all_of(
            records("first", "[*].value").is_([ONE]),
            records("second", "[*].value").is_([TWO]),
            records("third", "[*].value").is_([ONE]),
        ),
    )


@of_sessions("fetch.incremental-fetches-wait-for-news", "FETCH-19", "FETCH-09")
def test_incremental_fetches_wait_for_news(case):
    """An incremental Fetch waits for records and answers only the partition that has some."""
    topic = case.topic()
    body = question(
        case.version, [], session_id=SESSION, session_epoch=1, max_wait_ms=600_000, min_bytes=1
    )
    return case.scenario(
        a_topic(topic, 2),
        full(case, topic, part(0), part(1)),
        Send("Fetch", case.version, body, name="news", connection="b"),
        nothing_comes(),
        produce(topic, 1, batch(ONE), name="append"),
        Await("news"),
        expect=all_of(answer("news", INDEXES).is_([1]), records("news", "[*].value").is_([ONE])),
    )


@of_sessions("fetch.negative-session-epochs-are-out-of-turn", "FETCH-20")
def test_negative_session_epochs_are_out_of_turn(case):
    """A session epoch below -1 answers INVALID_FETCH_SESSION_EPOCH, and the session continues."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        full(case, topic),
        more(case, -2, "negative"),
        more(case, 1, "in turn"),
        expect=all_of(
            answer("negative", "error_code").is_(ErrorCode.INVALID_FETCH_SESSION_EPOCH),
            answer("in turn", "error_code").is_(ErrorCode.NONE),
        ),
    )


@of_sessions(
    "fetch.a-session-keeps-to-names-or-ids",
    "FETCH-20",
    "KIP-516",
    versions=only("Fetch", 13),
)
def test_a_session_keeps_to_names_or_ids(case):
    """A session opened with topic names answers FETCH_SESSION_TOPIC_ID_ERROR to topic ids, and vice
    versa.
    """
    topic = case.topic()
    names, ids = (question(version, [(topic, [part()])], session_epoch=0) for version in (12, 13))

    def crossing(version, opened):
        return question(version, [], session_id=Ref(opened, "session_id"), session_epoch=1)

    return case.scenario(
        a_topic(topic),
        Ask("Fetch", 12, names, name="names"),
        Ask("Fetch", 13, ids, name="ids"),
        Ask("Fetch", 13, crossing(13, "names"), name="names to ids"),
        Ask("Fetch", 12, crossing(12, "ids"), name="ids to names"),
        expect=all_of(
            answer("names to ids", "error_code").is_(ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR),
            answer("ids to names", "error_code").is_(ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR),
        ),
    )
