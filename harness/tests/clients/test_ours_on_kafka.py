"""The reference client on real Kafka 4.3, 2.8 and 1.0: what it does on our broker it does there.

One cluster at a time: each release is started when the one before it has been stopped.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import pytest

from touchstone.harness.model.target import Shape
from touchstone.harness.targets import parse
from touchstone.harness.tests.clients.conftest import HASTE
from touchstone.harness.tests.clients.programs import PATIENCE_S
from touchstone.reference_impl.io.client import Client
from touchstone.reference_impl.tests.client import test_groups_over_sockets as groups
from touchstone.reference_impl.tests.client import test_over_sockets
from touchstone.reference_impl.tests.client.admin import walks
from touchstone.reference_impl.tests.client.admin.test_over_sockets import FIRST, RELEASES
from touchstone.reference_impl.tests.client.consumer_walks import FIRST as CONSUMER_WALKS
from touchstone.reference_impl.tests.client.share_walks import WALKS as SHARE_WALKS
from touchstone.reference_impl.tests.client.test_share_consumer import BEATS

pytestmark = [
    pytest.mark.slow,
    pytest.mark.live,
    pytest.mark.java,
    pytest.mark.maven,
    pytest.mark.timeout(4 * PATIENCE_S),
]
REAL = ("4.3", "2.8", "1.0")
# Who connects without a name may do anything, so every other test sees what it would see without.
_AUTHORIZER = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
}
_COMMON = ("group.initial.rebalance.delay.ms", "offsets.topic.num.partitions")

KNOWN = [
    lambda cluster, client: test_over_sockets.test_a_request_larger_than_any_socket_buffer(client),
    lambda cluster, client: test_over_sockets.test_acks(client, -1),
    lambda cluster, client: groups.test_members_share_a_topic_and_read_each_record_once(
        cluster, "cooperative-sticky"
    ),
    lambda cluster, client: groups.test_a_group_goes_on_where_it_was(cluster),
    lambda cluster, client: groups.test_records_are_copied_once_with_their_offsets(cluster),
    lambda cluster, client: groups.test_the_next_producer_of_an_id_fences_the_last(cluster),
]


@pytest.fixture(scope="module", params=REAL)
def release(request) -> Iterator[tuple[str, str]]:
    """A release and the addresses of its one broker."""
    target = parse(f"kafka@{request.param}")
    if reason := target.available():
        pytest.skip(f"not run: {reason}")
    settings = {name: HASTE[name] for name in _COMMON}
    if request.param == REAL[0]:
        settings = HASTE | BEATS | _AUTHORIZER
    endpoint = target.start(Shape(1, config=settings))
    yield request.param, ",".join(f"{host}:{port}" for host, port in endpoint.bootstrap)
    target.stop()


@pytest.fixture
def client(release) -> Iterator[Client]:
    with Client(release[1]) as client:
        yield client


def until(done: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not done():
        assert time.monotonic() < end, "it does not come"


@pytest.mark.parametrize("walk", CONSUMER_WALKS, ids=lambda walk: walk.__name__)
def test_a_walk_of_the_consumer(release, client, walk):
    if RELEASES.index(release[0]) >= RELEASES.index(CONSUMER_WALKS[walk]):
        walk(client, f"walk-{walk.__name__.replace('_', '-')}", until)


@pytest.mark.parametrize("known", KNOWN)
def test_what_holds_on_the_reference_broker_holds_here(release, client, known):
    client.release = release[0]
    known(SimpleNamespace(release=release[0], bootstrap=release[1]), client)


@pytest.mark.parametrize("walk", SHARE_WALKS, ids=lambda walk: walk.__name__)
def test_a_walk_of_the_share_consumer(release, client, walk):
    if release[0] == REAL[0]:
        walk(client, f"share-{walk.__name__}", until)


@pytest.mark.parametrize("walk", FIRST, ids=lambda walk: walk.__name__)
def test_a_walk_of_the_admin_client(release, client, walk):
    if RELEASES.index(release[0]) >= RELEASES.index(FIRST[walk]):
        walk(client, f"admin-{walk.__name__}", until)


def test_the_cluster_is_described(client):
    walks.cluster(client)


def test_access_is_granted_where_there_is_an_authorizer(release, client):
    if release[0] == REAL[0]:
        walks.access(client, "granted", until)
    else:
        walks.no_access_control(client)
