"""Every method of the admin client on the reference broker; the same walks ask real Kafka."""

from functools import partial

import pytest

from touchstone.reference_impl.client.admin.cluster import (
    Endpoint,
    FeatureUpdate,
    UpgradeType,
    Voter,
)
from touchstone.reference_impl.client.admin.configs import (
    AlterConfigOp,
    ConfigResource,
    ConfigType,
)
from touchstone.reference_impl.client.admin.partitions import Replica
from touchstone.reference_impl.client.flow import KafkaError
from touchstone.reference_impl.io.client import Client
from touchstone.reference_impl.io.server import serve
from touchstone.reference_impl.wire.errors import ErrorCode as E

from . import walks

FIRST = {  # the first of our releases that can do all of it
    walks.topics: "1.0",
    walks.settings: "1.0",
    walks.groups: "2.2",
    walks.incremental_settings: "2.8",
    walks.quotas: "2.8",
    walks.credentials: "2.8",
    walks.removed_members: "2.8",
    walks.partitions: "2.8",
    walks.producers: "3.9",
    walks.hanging: "3.9",
    walks.newer_groups: "4.3",
}
HASTE = {"group.initial.rebalance.delay.ms": "0"}
RELEASES = ("1.0", "2.2", "2.8", "3.9", "4.3")


@pytest.fixture(scope="module", params=RELEASES)
def client(request):
    with (
        serve(brokers=1, release=request.param, config=HASTE) as made,
        Client(made.bootstrap) as client,
    ):
        client.release = request.param
        yield client


def until(done):
    for _ in range(500):
        if done():
            return
    raise AssertionError("it does not come")


@pytest.mark.parametrize("walk", FIRST, ids=lambda walk: walk.__name__)
def test_a_walk_through(client, walk):
    if RELEASES.index(client.release) >= RELEASES.index(FIRST[walk]):
        walk(client, f"admin-{walk.__name__}", until)


def test_the_cluster_is_described(client):
    walks.cluster(client)
    walks.no_access_control(client)


@pytest.fixture(scope="module")
def newest():
    with serve(brokers=2, config=HASTE) as made, Client(made.bootstrap) as client:
        yield client


def test_topics_are_described_in_pages(newest):
    admin = newest.admin
    for name in ("paged-a", "paged-b"):
        admin.create_topic(name, partitions=5)
    found = admin.describe_topic_partitions(["paged-a", "paged-b"], page=3).all()
    indexes = {
        name: [part.partition_index for part in each.partitions] for name, each in found.items()
    }
    assert indexes == {"paged-a": [0, 1, 2, 3, 4], "paged-b": [0, 1, 2, 3, 4]}
    ids = [each.topic_id for each in found.values()]
    assert admin.delete_topics_by_id(ids).all() == dict.fromkeys(ids)


def test_client_metrics_are_settings_of_their_own_kind(newest):
    resource = ConfigResource(ConfigType.CLIENT_METRICS, "slow-producers")
    change = [AlterConfigOp("interval.ms", "60000")]
    newest.admin.incremental_alter_configs({resource: change}).all()
    assert resource in newest.admin.list_config_resources([ConfigType.CLIENT_METRICS])
    assert resource in newest.admin.list_config_resources()


def test_share_groups_have_offsets(newest):
    admin = newest.admin
    admin.create_topic("shared", partitions=2)
    missing = admin.list_share_group_offsets({"nobody": [("shared", 0)]})
    assert list(missing) == ["nobody"]
    altered = admin.alter_share_group_offsets("nobody", {("shared", 0): 0})
    assert list(altered) == [("shared", 0)]
    deleted = admin.delete_share_group_offsets("nobody", ["shared"])
    assert list(deleted) == ["shared"]


def test_streams_groups_are_told_apart(newest):
    (error,) = newest.admin.describe_streams_groups(["nobody"]).values()
    assert isinstance(error, KafkaError)


def test_replicas_move_between_directories(newest):
    newest.admin.create_topic("moved")
    (dirs,) = [newest.admin.describe_log_dirs([0]).all()[0]]
    home = next(iter(dirs))
    moves = {Replica("moved", 0, 0): home, Replica("moved", 9, 0): "/no/such/place"}
    results = newest.admin.alter_replica_log_dirs(moves)
    assert isinstance(results[Replica("moved", 9, 0)], KafkaError)


def test_tokens_are_refused_where_nobody_is_known(newest):
    admin = newest.admin
    for asked in (
        admin.create_delegation_token,
        partial(admin.renew_delegation_token, b"x"),
        partial(admin.expire_delegation_token, b"x"),
        admin.describe_delegation_tokens,
    ):
        with pytest.raises(KafkaError) as raised:
            asked()
        assert raised.value.code in (
            E.DELEGATION_TOKEN_AUTH_DISABLED,
            E.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED,
        )


def test_features_and_quorum(newest):
    admin = newest.admin
    features = admin.describe_features()
    assert features.finalized["metadata.version"] > 0
    unknown = {"no.such.feature": FeatureUpdate(1, UpgradeType.UPGRADE)}
    assert isinstance(admin.update_features(unknown)["no.such.feature"], KafkaError)
    quorum = admin.describe_metadata_quorum()
    assert quorum.leader_id in [each.replica_id for each in quorum.current_voters]
    voter = Voter(9, bytes(16))
    with pytest.raises(KafkaError):
        admin.add_raft_voter(voter, [Endpoint("CONTROLLER", "localhost", 1)])
    with pytest.raises(KafkaError):
        admin.remove_raft_voter(voter)
    with pytest.raises(KafkaError):
        admin.unregister_broker(99)


def test_filters_need_a_broker_that_knows_them(newest):
    rows = newest.admin.list_groups(types=["streams"]).all().values()
    assert not any(rows)
    found = newest.admin.list_transactions(longer_than_ms=0, pattern="no.*").all()
    assert not any(found.values())
