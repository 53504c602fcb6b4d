"""Fetch sessions (KIP-227): what requests name and leave out, and how a session ends."""

import pytest

from touchstone.reference_impl.client.fetch_session import FetchSession, WantedPartition
from touchstone.reference_impl.io.client import Client
from touchstone.reference_impl.io.server import serve
from touchstone.reference_impl.wire.errors import ErrorCode as E

from .test_consumer import consuming, part

T0, T1, U0 = ("t", 0), ("t", 1), ("u", 0)
T, U = b"t" * 16, b"u" * 16
NONE = bytes(16)


def wanted(*places, offset=0, topic_id=NONE):
    return {
        place: WantedPartition(topic_id, {"partition": place[1], "fetch_offset": offset})
        for place in places
    }


def named(request):
    return [(row["topic"], p["partition"]) for row in request["topics"] for p in row["partitions"]]


def forgotten(request):
    return [
        (row["topic"], row["topic_id"], row["partitions"])
        for row in request["forgotten_topics_data"]
    ]


def opened(*places, **how) -> FetchSession:
    """A session whose first request, about these places, was answered."""
    session = FetchSession()
    session.request(wanted(*places, **how), by_ids="topic_id" in how)
    assert session.take({"error_code": 0, "session_id": 77}, places)
    return session


def test_the_first_request_names_all_and_asks_for_a_session():
    request = FetchSession().request(wanted(T0, U0), by_ids=False)
    assert (request["session_id"], request["session_epoch"]) == (0, 0)
    assert named(request) == [T0, U0] and forgotten(request) == []


def test_later_requests_name_what_is_new_or_has_moved_and_what_to_forget():
    session = opened(T0, T1, U0)
    request = session.request(wanted(T0, U0) | wanted(T0, offset=9), by_ids=False)
    assert (request["session_id"], request["session_epoch"]) == (77, 1)
    assert named(request) == [T0] and forgotten(request) == [("t", NONE, [1])]
    assert session.take({"error_code": 0, "session_id": 77}, ())
    request = session.request(wanted(T0, U0) | wanted(T0, offset=9), by_ids=False)
    assert request["session_epoch"] == 2 and named(request) == forgotten(request) == []


def test_a_topic_that_was_made_anew_is_forgotten_and_named_again():
    session = opened(T0, topic_id=T)
    request = session.request(wanted(T0, topic_id=U), by_ids=True)
    assert named(request) == [T0] and forgotten(request) == [("t", T, [0])]


def test_topics_are_known_by_id_or_by_name_but_not_by_both():
    session = opened(T0, topic_id=T)
    request = session.request(wanted(T0), by_ids=False)
    assert (request["session_id"], request["session_epoch"]) == (77, 0), "which ends the old one"


@pytest.mark.parametrize(
    ("code", "id_"), [(E.FETCH_SESSION_ID_NOT_FOUND, 0), (E.INVALID_FETCH_SESSION_EPOCH, 77)]
)
def test_after_an_error_the_session_begins_anew(code, id_):
    session = opened(T0)
    session.request(wanted(T0), by_ids=False)
    assert not session.take({"error_code": code}, ())
    request = session.request(wanted(T0), by_ids=False)
    assert (request["session_id"], request["session_epoch"]) == (id_, 0) and named(request) == [T0]


def test_after_no_answer_the_session_begins_anew():
    session = opened(T0)
    session.fail()
    assert session.request(wanted(T0), by_ids=False)["session_epoch"] == 0


@pytest.mark.parametrize("given", [(), (T0,), (T0, T1, U0)])
def test_a_first_answer_is_about_all_that_was_asked_and_nothing_else(given):
    session = FetchSession()
    session.request(wanted(T0, T1), by_ids=False)
    assert not session.take({"error_code": 0, "session_id": 5}, given)
    assert session.request(wanted(T0, T1), by_ids=False)["session_epoch"] == 0


def test_a_later_answer_may_leave_out_but_not_add():
    session = opened(T0, T1)
    session.request(wanted(T0, T1), by_ids=False)
    assert session.take({"error_code": 0, "session_id": 77}, [T1])
    assert not session.take({"error_code": 0, "session_id": 77}, [U0])


def test_a_broker_without_sessions_is_told_all_each_time():
    session = FetchSession()
    for _ in range(2):
        request = session.request(wanted(T0), by_ids=False)
        assert named(request) == [T0] and request["session_epoch"] == 0
        assert session.take({"error_code": 0}, [T0])
    assert session.farewell() is None


def test_the_epoch_after_the_highest_is_1():
    session = opened(T0)
    session.epoch = 2**31 - 1
    assert session.take({"error_code": 0, "session_id": 77}, ()) and session.epoch == 1


def test_a_lost_session_costs_no_metadata_and_no_record():
    consumer, runner = consuming()
    consumer.seek(("t", 0), 5)
    answers = [
        {
            "error_code": 0,
            "session_id": 9,
            "responses": [{"topic": "t", "partitions": [part(b"")]}],
        },
        {"error_code": E.FETCH_SESSION_ID_NOT_FOUND, "session_id": 0, "responses": []},
        {"error_code": 0, "session_id": 9, "responses": [{"topic": "t", "partitions": [part()]}]},
    ]
    runner.script = lambda ask: answers.pop(0)
    got = [row.offset for _ in range(3) for row in runner.run(consumer.poll())]
    assert got == [5, 6, 7, 8, 9] and not runner.asked("Metadata") and not runner.pauses
    epochs = [(ask.body["session_id"], ask.body["session_epoch"]) for ask in runner.asked("Fetch")]
    assert epochs == [(0, 0), (9, 1), (0, 0)]


@pytest.mark.parametrize("release", ["1.0", "2.2", "2.8", "4.3"])
def test_a_broker_keeps_one_session_until_the_consumer_closes(release):
    with serve(brokers=1, release=release) as cluster, Client(cluster.bootstrap) as client:
        client.admin.create_topic("t", partitions=3)
        producer, consumer = client.producer(), client.consumer(
            [("t", index) for index in range(3)], reset="earliest"
        )  # fmt: skip
        values = []
        for number in range(6):
            producer.send("t", b"%d" % number, partition=number % 3)
            producer.flush()
            while len(values) <= number:
                values += [int(row.value) for row in consumer.poll(timeout_ms=1000)]
        assert values == list(range(6))
        (session,) = consumer.core.fetcher.sessions.values()
        assert (session.id != 0, session.epoch > 5) == ((release != "1.0",) * 2)
        id_ = session.id
        consumer.close()
        body = {"replica_id": -1, "max_wait_ms": 0, "min_bytes": 0, "topics": []}
        gone = body | {"session_id": id_, "session_epoch": session.epoch}
        if release != "1.0":
            answer = client.ask("Fetch", gone, node=0, versions=(7, 12))
            assert answer["error_code"] == E.FETCH_SESSION_ID_NOT_FOUND
