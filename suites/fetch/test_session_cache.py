"""The fetch session cache: its slots, and whose session is evicted when it is full.

A shape of its own has a cache of few slots, so every case closes the sessions it has opened. Since
3.7 the cache has eight parts of equal size and a session belongs to one by chance (KAFKA-9401), so
only a cache without any slot is certain there.

Sources: FetchSessionCache.maybeCreateSession and tryEvict at 2.2.1, 2.8.2 and 3.9; KIP-227; clauses
FETCH-19, FETCH-20.
"""

from touchstone.harness.model.claim import claim, range_
from touchstone.harness.model.expect import all_of, answer, records
from touchstone.harness.model.scenario import Ask, Ref
from touchstone.harness.model.steps import a_topic
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.fetching import part, question
from touchstone.suites.kit.records import ONE, batch
from touchstone.suites.kit.topics import a_log, among

SLOTS = "max.incremental.fetch.session.cache.slots"
FOLLOWER = 1
CACHED = {"releases": "2.2-2.8", "versions": range_("Fetch", 7), "where": among(7, 12)}


def opens(case, topic, name, *parts, replica=-1):
    """A full fetch that asks for a session."""
    asked = [(topic, parts or [part()])]
    body = question(case.version, asked, session_epoch=0, replica_id=replica)
    return Ask("Fetch", case.version, body, name=name)


def goes_on(case, name):
    """The session that this step has opened, asked for its news."""
    body = question(case.version, [], session_id=Ref(name, "session_id"), session_epoch=1)
    return Ask("Fetch", case.version, body, name=f"{name} goes on")


def closes(case, *names):
    """The sessions that these steps have opened are closed; one that has none closes nothing."""
    return [
        Ask(
            "Fetch",
            case.version,
            question(case.version, [], session_id=Ref(name, "session_id"), session_epoch=-1),
            name=f"close {name}",
        )
        for name in names
    ]


@claim(
    "fetch.without-slots-there-are-no-sessions",
    evidence=("FETCH-19", "KIP-227"),
    api="Fetch",
    versions=range_("Fetch", 7),
    where=among(7, 12, 13),
    config={SLOTS: 0},
)
def test_without_slots_there_are_no_sessions(case):
    """Without session cache slots a full Fetch is answered in full, with session id 0."""
    topic = case.topic()
    return case.scenario(
        a_log(topic, batch(ONE)),
        opens(case, topic, "full"),
        expect=all_of(
            answer("full", "session_id").is_(0),
            answer("full", "error_code").is_(ErrorCode.NONE),
            records("full", "[*].value").is_([ONE]),
        ),
    )


@claim(
    "fetch.fewer-slots-than-parts-are-none",
    evidence=("FETCH-19", "KIP-227", "observed on 3.9.2 and 4.3.1"),
    api="Fetch",
    releases="3.9+",
    versions=range_("Fetch", 7),
    where=among(7, 13),
    config={SLOTS: 7},
)
def test_fewer_slots_than_parts_are_none(case):
    """Fewer slots than the cache's eight parts are no slots: seven of them keep no session."""
    topic = case.topic()
    names = [f"full {index}" for index in range(8)]
    return case.scenario(
        a_topic(topic),
        [opens(case, topic, name) for name in names],
        expect=all_of(*(answer(name, "session_id").is_(0) for name in names)),
    )


@claim(
    "fetch.a-full-cache-opens-no-session",
    evidence=("FETCH-19", "FETCH-20", "KIP-227"),
    switches=("full-session-cache-evicts-anybody",),
    api="Fetch",
    config={SLOTS: 2},
    **CACHED,
)
def test_a_full_cache_opens_no_session(case):
    """A consumer gets session id 0 while the session cache is full, and a session once another is
    closed.
    """
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        [opens(case, topic, name) for name in ("first", "second", "third")],
        closes(case, "first"),
        opens(case, topic, "fourth"),
        goes_on(case, "second"),
        closes(case, "second", "fourth"),
        expect=all_of(
            answer("second", "session_id").at_least(1),
            answer("third", "session_id").is_(0),
            answer("fourth", "session_id").at_least(1),
            answer("second goes on", "error_code").is_(ErrorCode.NONE),
        ),
    )


@claim(
    "fetch.followers-take-the-places-of-consumers",
    evidence=("FETCH-20", "KIP-227"),
    api="Fetch",
    config={SLOTS: 2},
    **CACHED,
)
def test_followers_take_the_places_of_consumers(case):
    """In a full session cache a follower evicts the consumer session with the fewest partitions."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic, 2),
        opens(case, topic, "large", part(0), part(1)),
        opens(case, topic, "small"),
        opens(case, topic, "follower", replica=FOLLOWER),
        goes_on(case, "large"),
        goes_on(case, "small"),
        closes(case, "large", "follower"),
        expect=all_of(
            answer("follower", "session_id").at_least(1),
            answer("large goes on", "error_code").is_(ErrorCode.NONE),
            answer("small goes on", "error_code").is_(ErrorCode.FETCH_SESSION_ID_NOT_FOUND),
        ),
    )


@claim(
    "fetch.followers-leave-each-other-their-places",
    evidence=("FETCH-20", "KIP-227"),
    api="Fetch",
    config={SLOTS: 2},
    **CACHED,
)
def test_followers_leave_each_other_their_places(case):
    """A session cache full of recent follower sessions admits neither a follower nor a consumer."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic, 2),
        opens(case, topic, "first", replica=FOLLOWER),
        opens(case, topic, "second", replica=FOLLOWER),
        opens(case, topic, "third", part(0), part(1), replica=FOLLOWER),
        opens(case, topic, "consumer", part(0), part(1)),
        closes(case, "first", "second"),
        expect=all_of(
            answer("second", "session_id").at_least(1),
            answer("third", "session_id").is_(0),
            answer("consumer", "session_id").is_(0),
        ),
    )
