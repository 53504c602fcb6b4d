"""Share consumers: acknowledgements as they travel, sessions, and whole walks on our broker."""

import pytest

from touchstone.reference_impl.client.flow import ClientError
from touchstone.reference_impl.client.share_consumer import ShareConsumer
from touchstone.reference_impl.client.share_session import AcknowledgeType as A
from touchstone.reference_impl.client.share_session import ShareSession, batches
from touchstone.reference_impl.io.client import Client
from touchstone.reference_impl.io.server import serve

from .admin.test_over_sockets import HASTE, until
from .consumer_walks import paced
from .scripted import view
from .share_walks import WALKS

BEATS = {
    "group.share.heartbeat.interval.ms": "100",
    "group.share.min.heartbeat.interval.ms": "100",
}
PLACE = (bytes(15) + b"1", 0)


def test_runs_of_offsets_have_one_type_or_one_for_each():
    acks = {7: A.ACCEPT, 5: A.ACCEPT, 6: A.ACCEPT, 9: A.RELEASE, 10: A.REJECT}
    assert batches(acks) == [
        {"first_offset": 5, "last_offset": 7, "acknowledge_types": [1]},
        {"first_offset": 9, "last_offset": 10, "acknowledge_types": [2, 3]},
    ]


def test_a_session_names_what_is_new_acknowledged_or_forgotten():
    session = ShareSession()
    first = session.fetch([PLACE], {})
    assert (first["share_session_epoch"], len(first["topics"])) == (0, 1)
    session.succeeded()
    assert session.fetch([PLACE], {}) == {
        "share_session_epoch": 1, "topics": [], "forgotten_topics_data": [],
    }  # fmt: skip
    session.succeeded()
    acked = session.fetch([], {PLACE: {3: A.ACCEPT}})
    (row,) = acked["topics"][0]["partitions"]
    assert row["acknowledgement_batches"][0]["first_offset"] == 3
    assert acked["forgotten_topics_data"] == [{"topic_id": PLACE[0], "partitions": [0]}]
    session.lost()
    assert not session.begun
    assert session.acknowledge({}, last=True)["share_session_epoch"] == -1


def test_what_cannot_be_is_refused():
    with pytest.raises(ClientError, match="none of Kafka's"):
        ShareConsumer(view(), "g", member_id="m", acknowledgement="never")
    with pytest.raises(ClientError, match="INVALID_GROUP_ID"):
        ShareConsumer(view(), "", member_id="m")
    consumer = ShareConsumer(view(), "g", member_id="m")
    with pytest.raises(ClientError, match="names topics"):
        consumer.subscribe([])
    with pytest.raises(ClientError, match="nothing is subscribed to"):
        next(consumer.poll())


@pytest.fixture(scope="module")
def client():
    with serve(brokers=1, config=HASTE | BEATS) as made, Client(made.bootstrap) as client:
        yield client


@pytest.mark.slow
@pytest.mark.parametrize("walk", WALKS, ids=lambda walk: walk.__name__)
def test_a_walk_through(client, walk):
    walk(client, f"share-{walk.__name__}", until)


@pytest.mark.slow
def test_a_member_is_kept_between_polls_and_leaves_when_poll_is_overdue(client):
    client.admin.create_topic("share-kept")
    with client.share_consumer("share-kept", ["share-kept"], max_wait_ms=20) as consumer:
        until(lambda: consumer.poll() == [] and bool(consumer.core.assignment))
        member = consumer.core.member
        beaten = member.beat_at
        until(lambda: paced(member.beat_at > beaten))
        consumer.core.max_poll_interval_ms = 1
        until(lambda: paced(member.generation < 0))
        described = client.admin.describe_share_groups(["share-kept"]).all()["share-kept"]
        assert described.members == ()
