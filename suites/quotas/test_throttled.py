"""Fetches above a quota, their sizes and sessions, and connections that are not read meanwhile.

Sources: KafkaApis.handleFetchRequest, ClientQuotaManager.maybeRecordAndGetThrottleTimeMs,
unrecordQuotaSensor and getMaxValueInQuotaWindow at 2.8.2, 3.9.2 and 4.3.1; KIP-13, KIP-219;
FETCH-22, DYN-16.
"""

from touchstone.harness.model.claim import claim
from touchstone.harness.model.expect import all_of, answer, records
from touchstone.harness.model.scenario import Await, Quiet, Ref, Send
from touchstone.harness.model.steps import a_topic, fetch, produce
from touchstone.suites.kit.quotas import CONSUMER, LARGE, LIMIT, PRODUCER, limited, of_client
from touchstone.suites.kit.records import ONE, batch
from touchstone.suites.kit.topics import appended

WAIT, SINCE = "throttle_time_ms", "2.8+"
HALF = b"y" * 12_000  # of which one is within LIMIT's ten seconds and two are not
MOST = 13_000  # bytes of a read: one such batch, and a part of the next
ROW = "responses[0].partitions[0]"
A_LITTLE_MS = 1000  # less than two batches of HALF would have a client wait
QUIET_MS = 1000  # much less than LARGE has its client wait


def reads(topic, client, offset, name, *, to="c", session=0, epoch=-1, most=MOST):
    return fetch(
        topic, 0, offset, version=11, client_id=client, connection=to, name=name,
        session_id=session, session_epoch=epoch, partition_max_bytes=most,
    )  # fmt: skip


@claim("quotas.a-fetch-is-no-larger-than-its-quota", evidence=("DYN-16", "KIP-13"), releases=SINCE)
def test_a_fetch_is_no_larger_than_its_quota(case):
    """A Fetch of a client with a consumer quota reads no more than the quota's window of bytes,
    though there are more, so the client waits for what the answer has beside records at most."""
    topic, client = case.topic(), case.group("client")
    return case.scenario(
        limited(of_client(client), {CONSUMER: LIMIT}),
        a_topic(topic),
        appended(topic, batch(HALF), batch(HALF), batch(HALF)),
        reads(topic, client, 0, "read", most=1 << 20),
        expect=answer("read", WAIT).at_most(A_LITTLE_MS),
    )


@claim("quotas.a-fetch-that-waits-takes-nothing", evidence=("FETCH-22", "KIP-219"), releases=SINCE)
def test_a_fetch_that_waits_takes_nothing(case):
    """A Fetch above its client's quota returns no records, and its bytes do not count: a small one
    of the same client has not to wait."""
    topic, small, client = case.topic(), case.topic("small"), case.group("client")
    return case.scenario(
        limited(of_client(client), {CONSUMER: LIMIT}),
        a_topic(topic),
        a_topic(small),
        appended(topic, batch(HALF), batch(HALF)),
        produce(small, 0, batch(ONE), name="small one"),
        reads(topic, client, 0, "first"),
        reads(topic, client, 1, "second", to="d"),
        reads(small, client, 0, "third", to="e"),
        expect=all_of(
            answer("first", WAIT).is_(0),
            answer("second", WAIT).at_least(1),
            answer("second", "responses").has_length(0),
            answer("third", WAIT).is_(0),
            records("third").has_length(1),
        ),
    )


@claim("quotas.a-fetch-that-waits-keeps-its-session", evidence=("FETCH-22", "KIP-227"),
       releases=SINCE)  # fmt: skip
def test_a_fetch_that_waits_keeps_its_session(case):
    """A Fetch of a session that is above its client's quota returns the session's id and no error,
    and the session goes on."""
    topic, client = case.topic(), case.group("client")
    session = Ref("first", "session_id")
    return case.scenario(
        limited(of_client(client), {CONSUMER: LIMIT}),
        a_topic(topic),
        appended(topic, batch(HALF), batch(HALF)),
        reads(topic, client, 0, "first", epoch=0),
        reads(topic, client, 1, "second", session=session, epoch=1),
        reads(topic, client, 2, "third", session=session, epoch=2),
        expect=all_of(
            answer("second", WAIT).at_least(1),
            answer("second", "session_id").is_(session),
            answer("third", "error_code").is_(0),
            answer("third", "session_id").is_(session),
        ),
    )


@claim("quotas.who-waits-is-not-read", evidence=("KIP-219",), releases=SINCE)
def test_who_waits_is_not_read(case):
    """A client above its quota is answered at once and not read until its time is over: what it
    sends meanwhile on that connection is answered afterwards, and on another one at once."""
    topic, client = case.topic(), case.group("client")
    body = {"topics": [], "allow_auto_topic_creation": False}
    return case.scenario(
        limited(of_client(client), {PRODUCER: LIMIT}),
        a_topic(topic),
        produce(topic, 0, batch(LARGE), acks=1, client_id=client, connection="p", name="written"),
        Send("Metadata", 4, body, "held", connection="p", client_id=client),
        Quiet("p", name="silence", least_ms=QUIET_MS),
        fetch(topic, 0, 0, client_id=client, connection="q", name="elsewhere"),
        Await("held"),
        expect=all_of(
            answer("written", WAIT).at_least(QUIET_MS),
            records("elsewhere").has_length(1),
            answer("held", "topics").has_length(0),
        ),
    )
