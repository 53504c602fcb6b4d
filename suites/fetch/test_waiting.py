"""When a Fetch is answered: at once, when enough bytes arrive, or after max_wait_ms.

"At once" is tested without a clock: the request allows a minute, and is sent as a raw frame whose
wait the driver does not know, so an answer that comes only after the wait misses the step's
deadline. A Fetch that waits for an append allows ten minutes, longer than any step is observed, so
that only the append can complete it.

Sources: ReplicaManager.fetchMessages and DelayedFetch at 2.2.1; clauses FETCH-04 to FETCH-09.
"""

from touchstone.harness.model.claim import claim, every
from touchstone.harness.model.expect import all_of, answer, answered, records
from touchstone.harness.model.scenario import Await, Frame, Raw, Send
from touchstone.harness.model.steps import a_topic, fetch, produce
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.fetching import nothing_comes, part, question
from touchstone.suites.kit.records import ONE, SIZE, TWO, batch
from touchstone.suites.kit.topics import a_log, among

PARTITION = "responses[0].partitions[0]"
PRODUCED = "responses[0].partition_responses[0]"
MINUTE_MS, AGES_MS = 60_000, 600_000
VERSIONS = among(0, 4, 12, 17)


@claim(
    "fetch.without-a-wait-is-answered-at-once",
    evidence=("FETCH-04",),
    api="Fetch",
    versions=every("Fetch"),
    where=VERSIONS,
)
def test_without_a_wait_is_answered_at_once(case):
    """Fetch with max_wait_ms=0 is answered at once, however few bytes there are."""
    topic = case.topic()
    return case.scenario(
        a_log(topic, batch(ONE)),
        fetch(topic, version=case.version, max_wait_ms=0, min_bytes=1 << 20, name="fetch"),
        expect=records("fetch", "[*].value").is_([ONE]),
    )


@claim(
    "fetch.enough-bytes-are-answered-at-once",
    evidence=("FETCH-05",),
    api="Fetch",
    versions=every("Fetch"),
    where=VERSIONS,
)
def test_enough_bytes_are_answered_at_once(case):
    """Fetch is answered at once when min_bytes are available."""
    topic = case.topic()
    body = question(
        case.version,
        [(topic, [part()])],
        max_wait_ms=MINUTE_MS,
        min_bytes=SIZE,
    )
    return case.scenario(
        a_log(topic, batch(ONE)),
        Raw(Frame("Fetch", case.version, body), name="fetch", expect="answer"),
        expect=records("fetch", "[*].value").is_([ONE]),
    )


@claim(
    "fetch.a-minimum-of-nothing-is-answered-at-once",
    evidence=("FETCH-05",),
    api="Fetch",
    versions=every("Fetch"),
    where=VERSIONS,
)
def test_a_minimum_of_nothing_is_answered_at_once(case):
    """Fetch with min_bytes=0 is answered at once, even without records."""
    topic = case.topic()
    body = question(case.version, [(topic, [part()])], max_wait_ms=MINUTE_MS, min_bytes=0)
    return case.scenario(
        a_topic(topic),
        Raw(Frame("Fetch", case.version, body), name="fetch", expect="answer"),
        expect=answer("fetch", f"{PARTITION}.error_code").is_(ErrorCode.NONE),
    )


@claim(
    "fetch.a-failed-partition-is-answered-at-once",
    evidence=("FETCH-06",),
    api="Fetch",
    versions=every("Fetch"),
    where=VERSIONS,
)
def test_a_failed_partition_is_answered_at_once(case):
    """Fetch is answered at once when a partition fails, with the records of the
    other partitions.
    """
    topic = case.topic()
    body = question(
        case.version,
        [(topic, [part(0), part(1, 9)])],
        max_wait_ms=MINUTE_MS,
        min_bytes=1 << 20,
    )
    return case.scenario(
        a_topic(topic, 2),
        produce(topic, 0, batch(ONE)),
        Raw(Frame("Fetch", case.version, body), name="fetch", expect="answer"),
        expect=all_of(
            answer("fetch", "responses[0].partitions[*].error_code").is_(
                [ErrorCode.NONE, ErrorCode.OFFSET_OUT_OF_RANGE]
            ),
            records("fetch", "[*].value").is_([ONE]),
        ),
    )


@claim(
    "fetch.of-no-partition-is-answered-at-once",
    evidence=("FETCH-07",),
    api="Fetch",
    versions=every("Fetch"),
    where=VERSIONS,
)
def test_of_no_partition_is_answered_at_once(case):
    """Fetch without partitions is answered at once."""
    body = question(case.version, [], max_wait_ms=MINUTE_MS)
    return case.scenario(
        Raw(Frame("Fetch", case.version, body), name="fetch", expect="answer"),
        expect=answer("fetch", "responses").has_length(0),
    )


@claim(
    "fetch.waits-for-an-append",
    evidence=("FETCH-08", "FETCH-09"),
    api="Fetch",
    versions=every("Fetch"),
    where=VERSIONS,
)
def test_waits_for_an_append(case):
    """Fetch at the log end waits until an append on another connection completes it."""
    topic = case.topic()
    body = question(case.version, [(topic, [part()])], max_wait_ms=AGES_MS)
    return case.scenario(
        a_topic(topic),
        Send("Fetch", case.version, body, name="fetch", connection="b"),
        nothing_comes(),
        produce(topic, 0, batch(ONE), name="append"),
        Await("fetch"),
        expect=all_of(
            answer("append", f"{PRODUCED}.error_code").is_(ErrorCode.NONE),
            records("fetch", "[*].value").is_([ONE]),
        ),
    )  # fmt: skip


@claim(
    "fetch.waits-until-there-are-enough-bytes",
    evidence=("FETCH-05", "FETCH-08", "FETCH-12"),
    api="Fetch",
    versions=every("Fetch"),
    where=among(4, 12, 17),
)
def test_waits_until_there_are_enough_bytes(case):
    """An append that leaves a waiting Fetch below min_bytes does not complete it."""
    topic = case.topic()
    body = question(case.version, [(topic, [part()])], max_wait_ms=AGES_MS, min_bytes=2 * SIZE)
    return case.scenario(
        a_topic(topic),
        Send("Fetch", case.version, body, name="fetch", connection="b"),
        produce(topic, 0, batch(ONE), name="too little"),
        nothing_comes(),
        produce(topic, 0, batch(TWO), name="enough"),
        Await("fetch"),
        expect=records("fetch", "[*].value").is_([ONE, TWO]),
    )


@claim(
    "fetch.answers-with-what-there-is-when-time-is-up",
    evidence=("FETCH-08",),
    api="Fetch",
    versions=every("Fetch"),
    where=VERSIONS,
)
def test_answers_with_what_there_is_when_time_is_up(case):
    """Fetch with fewer than min_bytes available answers them after max_wait_ms."""
    topic = case.topic()
    return case.scenario(
        a_log(topic, batch(ONE)),
        fetch(topic, version=case.version, max_wait_ms=50, min_bytes=1 << 20, name="fetch"),
        expect=all_of(
            answer("fetch", f"{PARTITION}.error_code").is_(ErrorCode.NONE),
            records("fetch", "[*].value").is_([ONE]),
        ),
    )


@claim(
    "fetch.bytes-beyond-a-partition-limit-do-not-count",
    evidence=("FETCH-12",),
    api="Fetch",
    versions=every("Fetch"),
    where=among(4, 12, 17),
)
def test_bytes_beyond_a_partition_limit_do_not_count(case):
    """A waiting Fetch counts each partition's bytes only up to partition_max_bytes."""
    topic = case.topic()
    body = question(
        case.version,
        [(topic, [part(partition_max_bytes=SIZE)])],
        max_wait_ms=1500,  # longer than `nothing_comes` listens
        min_bytes=SIZE + 1,
    )
    return case.scenario(
        a_log(topic, batch(ONE), batch(TWO)),
        Send("Fetch", case.version, body, name="fetch", connection="b"),
        nothing_comes(name="waits"),
        Await("fetch"),
        expect=all_of(answered("fetch"), records("fetch", "[*].value").is_([ONE])),
    )
