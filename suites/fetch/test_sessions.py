"""Fetch sessions (KIP-227): full and incremental fetches, session ids and session epochs.

Sources: KIP-227; FetchManager and FetchSession at 2.2.1 and 3.9; clauses FETCH-19, FETCH-20;
observed on the four releases that have version 7.
"""

from touchstone.harness.model.claim import claim, range_
from touchstone.harness.model.expect import all_of, answer, records
from touchstone.harness.model.scenario import Ask
from touchstone.harness.model.steps import a_topic, fetch
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.fetching import full, more, part, question
from touchstone.suites.kit.records import ONE, TWO, batch
from touchstone.suites.kit.topics import among, appended

VERSIONS = among(7, 12, 13, 18)


@claim(
    "fetch.a-full-fetch-opens-a-session",
    evidence=("FETCH-19", "KIP-227"),
    api="Fetch",
    versions=range_("Fetch", 7),
    where=VERSIONS,
)
def test_a_full_fetch_opens_a_session(case):
    """A Fetch with session epoch 0 opens a session; one with epoch -1 does not."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        full(case, topic),
        fetch(topic, version=case.version, max_wait_ms=0, name="sessionless"),
        expect=all_of(
            answer("full", "session_id").at_least(1),
            answer("full", "responses").has_length(1),
            answer("sessionless", "session_id").is_(0),
            answer("sessionless", "responses").has_length(1),
        ),
    )


@claim(
    "fetch.a-session-tells-only-what-is-new",
    evidence=("FETCH-19", "KIP-227"),
    api="Fetch",
    versions=range_("Fetch", 7),
    where=VERSIONS,
)
def test_a_session_tells_only_what_is_new(case):
    """An incremental Fetch answers only the partitions of its session that have changed."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic, 2),
        full(case, topic, part(0), part(1)),
        more(case, 1, "nothing new"),
        appended(topic, batch(ONE), partition=1),
        more(case, 2, "news"),
        expect=all_of(
            answer("nothing new", "error_code").is_(ErrorCode.NONE),
            answer("nothing new", "responses").has_length(0),
            answer("news", "responses[0].partitions[*].partition_index").is_([1]),
            records("news", "[*].value").is_([ONE]),
        ),
    )


@claim(
    "fetch.a-session-remembers-offsets-and-forgets-partitions",
    evidence=("FETCH-19", "KIP-227"),
    api="Fetch",
    versions=range_("Fetch", 7),
    where=among(7, 12),
)
def test_a_session_remembers_offsets_and_forgets_partitions(case):
    """An incremental Fetch can change a partition's offset for the session and remove partitions
    from it.
    """
    topic = case.topic()
    forgotten = [{"topic": topic, "partitions": [1]}]
    return case.scenario(
        a_topic(topic, 2),
        full(case, topic, part(0), part(1)),
        appended(topic, batch(ONE), batch(TWO)),
        appended(topic, batch(ONE), partition=1),
        more(case, 1, "moved", [(topic, [part(0, 1)])], forgotten_topics_data=forgotten),
        more(case, 2, "again"),
        expect=all_of(
            answer("moved", "responses[0].partitions[*].partition_index").is_([0]),
            records("moved", "[*].value").is_([TWO]),
            records("again", "[*].value").is_([TWO]),
        ),
    )


@claim(
    "fetch.unknown-sessions-are-not-found",
    evidence=("FETCH-20", "KIP-227"),
    api="Fetch",
    versions=range_("Fetch", 7),
    where=VERSIONS,
)
def test_unknown_sessions_are_not_found(case):
    """An unknown session id answers FETCH_SESSION_ID_NOT_FOUND and no partition."""
    body = question(case.version, [], session_id=0, session_epoch=3)
    return case.scenario(
        Ask("Fetch", case.version, body, name="fetch"),
        expect=all_of(
            answer("fetch", "error_code").is_(ErrorCode.FETCH_SESSION_ID_NOT_FOUND),
            answer("fetch", "session_id").is_(0),
            answer("fetch", "responses").has_length(0),
        ),
    )


@claim(
    "fetch.session-epochs-count-up",
    evidence=("FETCH-20", "KIP-227"),
    api="Fetch",
    versions=range_("Fetch", 7),
    where=VERSIONS,
)
def test_session_epochs_count_up(case):
    """A session epoch out of order answers INVALID_FETCH_SESSION_EPOCH; the session continues."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        full(case, topic),
        more(case, 2, "too early"),
        more(case, 1, "in turn"),
        more(case, 1, "again"),
        expect=all_of(
            answer("too early", "error_code").is_(ErrorCode.INVALID_FETCH_SESSION_EPOCH),
            answer("in turn", "error_code").is_(ErrorCode.NONE),
            answer("again", "error_code").is_(ErrorCode.INVALID_FETCH_SESSION_EPOCH),
        ),
    )


@claim(
    "fetch.the-final-epoch-closes-a-session",
    evidence=("FETCH-20", "KIP-227"),
    api="Fetch",
    versions=range_("Fetch", 7),
    where=VERSIONS,
)
def test_the_final_epoch_closes_a_session(case):
    """Session epoch -1 closes the session: the answer has session id 0, and later fetches answer
    FETCH_SESSION_ID_NOT_FOUND.
    """
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        full(case, topic),
        more(case, -1, "close", [(topic, [part()])]),
        more(case, 1, "after"),
        expect=all_of(
            answer("close", "session_id").is_(0),
            answer("close", "responses").has_length(1),
            answer("after", "error_code").is_(ErrorCode.FETCH_SESSION_ID_NOT_FOUND),
        ),
    )
