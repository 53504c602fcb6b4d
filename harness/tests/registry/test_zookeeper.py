"""The reference broker beside a real ZooKeeper: the same znodes as Kafka's, and tools heard.

The same requests are made that the brokers of `reference_impl/tests/registry/recorded` were given.
"""

import itertools
import json
import os
import time

import pytest
from kazoo.client import KazooClient

from touchstone.reference_impl.cluster.znodes import RegistryError
from touchstone.reference_impl.io.client import Client
from touchstone.reference_impl.io.server import serve
from touchstone.reference_impl.tests.registry.real_trees import RELEASES, plain, real
from touchstone.reference_impl.tests.registry.test_znodes import FEW, MANY
from touchstone.reference_impl.wire.records import build

pytestmark = [pytest.mark.live, pytest.mark.java, pytest.mark.maven, pytest.mark.slow]
SECONDS = 300
TOPIC, BROKER = 2, 4
QUOTAS = {"producer_byte_rate": 1024.0, "request_percentage": 20.5, "consumer_byte_rate": 2048.0}
SETTINGS = {
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "zookeeper.session.timeout.ms": "6000",
}
STATE = '{{"controller_epoch":{},"leader":{},"version":1,"leader_epoch":{},"isr":[{}]}}'
_numbers = itertools.count()


@pytest.fixture
def keeper(zookeeper):
    """A client with a chroot of its own, which is removed afterwards, and how a broker names it."""
    root = f"/touchstone-{os.getpid()}-{next(_numbers)}"
    client = KazooClient(zookeeper)
    client.start(timeout=SECONDS)
    client.ensure_path(root)
    client.chroot = root
    client.where = f"{zookeeper}{root}"
    yield client
    client.chroot = ""
    client.delete(root, recursive=True)
    client.stop()
    client.close()


def tree(client, path=""):
    data, stat = client.get(path or "/")
    text = None if data is None else data.decode()
    found = {path: (text, bool(stat.ephemeralOwner))} if path else {}
    for child in sorted(client.get_children(path or "/")):
        found |= tree(client, f"{path}/{child}")
    return found


def until(done):
    deadline = time.monotonic() + SECONDS
    while not done():
        assert time.monotonic() < deadline, "it did not come"


def create(client, name, count, configs=None, assigned=False):
    places = [{"partition_index": i, "broker_ids": [0]} for i in range(count)] if assigned else []
    row = {
        "name": name,
        "num_partitions": -1 if assigned else count,
        "replication_factor": -1 if assigned else 1,
        "assignments": places,
        "configs": [{"name": key, "value": value} for key, value in (configs or {}).items()],
    }
    body = {"topics": [row], "timeout_ms": 9000, "validate_only": False}
    answer = client.ask("CreateTopics", body, "controller")
    assert answer["topics"][0]["error_code"] == 0, answer


def grow(client, name, count):
    body = {"topics": [{"name": name, "count": count, "assignments": None}], "timeout_ms": 9000}
    answer = client.ask("CreatePartitions", {**body, "validate_only": False}, "controller")
    assert answer["results"][0]["error_code"] == 0, answer


def alter(client, kind, name, configs):
    rows = [{"name": key, "value": value} for key, value in configs.items()]
    resource = {"resource_type": kind, "resource_name": name, "configs": rows}
    body = {"resources": [resource], "validate_only": False}
    answer = client.ask("AlterConfigs", body, "any")
    assert answer["responses"][0]["error_code"] == 0, answer


def as_recorded(client, release):
    """What real brokers were asked, in the same order."""
    create(client, "zk-one", 1)
    create(client, "zk-few", 6, FEW)
    create(client, "zk-many", 12, MANY)
    create(client, "zk-gone", 1, FEW)
    grow(client, "zk-one", 3)
    gone = {"topic_names": ["zk-gone"], "topics": [{"name": "zk-gone"}], "timeout_ms": 9000}
    client.ask("DeleteTopics", gone, "controller")
    alter(client, TOPIC, "zk-one", {"retention.ms": "5000", "segment.bytes": "1048576"})
    for count in range(2, 6):
        create(client, f"zk-p{count}", count)
        create(client, f"zk-m{count}", count, assigned=True)
    for before, after in ((1, 2), (2, 3), (3, 4), (2, 4), (1, 4)):
        create(client, f"zk-g{before}{after}", before)
        grow(client, f"zk-g{before}{after}", after)
    if release != "1.0":
        alter(client, BROKER, "0", {"follower.replication.throttled.rate": "1000000"})
        alter(client, BROKER, "", {"log.cleaner.backoff.ms": "15000"})
    if release == "2.8":
        ops = [{"key": key, "value": value, "remove": False} for key, value in QUOTAS.items()]
        user, client_id = ("user", "zk u/1"), ("client-id", "zk-c")
        every = ("user", None), ("client-id", None)
        for who in ([user], [client_id], [every[0]], [user, client_id], every):
            rows = [{"entity_type": kind, "entity_name": name} for kind, name in who]
            body = {"entries": [{"entity": rows, "ops": ops}], "validate_only": False}
            assert client.ask("AlterClientQuotas", body, "any")["entries"][0]["error_code"] == 0
    client.ask("FindCoordinator", {"key": "g", "key_type": 0, "coordinator_keys": ["g"]}, "any")
    if release != "2.2":
        client.ask("FindCoordinator", {"key": "t", "key_type": 1}, "any", versions=(1, 2))
    anew = {"transactional_id": None, "transaction_timeout_ms": 9000}
    client.ask("InitProducerId", {**anew, "producer_id": -1, "producer_epoch": -1}, "any")


def kept(path):
    """Not announcements, whose numbers count what else a broker was asked; nor other topics."""
    internal = "/topics/__" in path and "/partitions" in path
    return not (path.startswith("/config/changes/") or internal or path.endswith("/b-absent"))


@pytest.mark.parametrize("release", RELEASES)
def test_the_same_znodes_as_kafka(release, keeper):
    with serve(release=release, zookeeper=keeper.where, config=SETTINGS) as running:
        with Client(running.bootstrap) as client:
            as_recorded(client, release)
        running.registry.settle(SECONDS)
        ours = {path: node for path, node in plain(tree(keeper)).items() if kept(path)}
        announced = [keeper.get(f"/config/changes/{name}")[0].decode()
                     for name in sorted(keeper.get_children("/config/changes"))]  # fmt: skip
    assert ours == {path: node for path, node in plain(real(release)).items() if kept(path)}
    assert announced[0] == '{"version":2,"entity_path":"topics/zk-one"}'
    assert keeper.get_children("/brokers/ids") == []  # the session ended with the process
    assert not keeper.exists("/controller")


@pytest.mark.parametrize("release", RELEASES)
def test_what_tools_write_is_acted_on(release, keeper):
    with serve(release=release, zookeeper=keeper.where, config=SETTINGS) as running:
        topics = running.cluster.topics
        running.registry.settle(SECONDS)
        keeper.create("/config/topics/old", b'{"version":1,"config":{}}')
        keeper.create("/brokers/topics/old", b'{"version":1,"partitions":{"0":[0],"1":[0]}}')
        until(lambda: keeper.exists("/brokers/topics/old/partitions/1/state"))
        assert [partition.leader for partition in topics["old"].partitions] == [0, 0]
        keeper.set("/config/topics/old", b'{"version":1,"config":{"retention.ms":"77"}}')
        text = b'{"version":2,"entity_path":"topics/old"}'
        keeper.create("/config/changes/config_change_", text, sequence=True)
        until(lambda: topics["old"].configs == {"retention.ms": "77"})
        keeper.create("/admin/delete_topics/old", b"")
        until(lambda: not keeper.exists("/admin/delete_topics/old"))
        assert "old" not in topics
        assert not keeper.exists("/brokers/topics/old")
        assert not keeper.exists("/config/topics/old")


def test_a_preferred_election_and_a_move(keeper):
    with serve(2, release="1.0", zookeeper=keeper.where, config=SETTINGS) as running:
        running.registry.settle(SECONDS)
        keeper.create("/brokers/topics/t", b'{"version":1,"partitions":{"0":[0]}}')
        state = "/brokers/topics/t/partitions/0/state"
        until(lambda: keeper.exists(state))
        rows = [{"topic": "t", "partition": 0, "replicas": [1]}]
        text = json.dumps({"version": 1, "partitions": rows}).encode()
        keeper.create("/admin/reassign_partitions", text)
        until(lambda: json.loads(keeper.get(state)[0])["isr"] == [1])
        until(lambda: not keeper.exists("/admin/reassign_partitions"))
        rows = [{"topic": "t", "partition": 0}]
        text = json.dumps({"version": 1, "partitions": rows}).encode()
        keeper.create("/admin/preferred_replica_election", text)
        until(lambda: not keeper.exists("/admin/preferred_replica_election"))


def test_a_broker_that_goes_takes_its_node_along(keeper):
    with serve(2, release="2.8", zookeeper=keeper.where, config=SETTINGS) as running:
        until(lambda: keeper.exists("/brokers/ids/1"))
        first = keeper.get("/brokers/ids/1")[1].czxid
        running.stop_broker(1)
        until(lambda: not keeper.exists("/brokers/ids/1"))
        running.start_broker(1)
        until(lambda: keeper.exists("/brokers/ids/1"))
        assert keeper.get("/brokers/ids/1")[1].czxid > first
        assert keeper.exists("/brokers/ids/0")


@pytest.mark.parametrize(
    ("release", "words"),
    [
        ("1.0", "A broker is already registered on the path /brokers/ids/0. This probably"),
        ("2.2", r"ephemeral at /brokers/ids/0, node already exists and owner '\d+' does not match"),
    ],
)
def test_an_id_that_is_taken_is_refused(release, words, keeper):
    with serve(release=release, zookeeper=keeper.where, config=SETTINGS) as running:
        running.registry.settle(SECONDS)
        with pytest.raises(RegistryError, match=words):
            serve(release=release, zookeeper=keeper.where, config=SETTINGS)


def test_a_session_that_is_lost_is_made_good(keeper, zookeeper):
    with serve(2, release="2.8", zookeeper=keeper.where, config=SETTINGS) as running:
        running.registry.settle(SECONDS)
        before = keeper.get("/brokers/ids/1")[1].owner_session_id
        thief = KazooClient(zookeeper, client_id=running.registry.session)
        thief.start(timeout=SECONDS)
        thief.stop()  # ends the session that both have
        thief.close()
        until(lambda: {"0", "1"} <= set(keeper.get_children("/brokers/ids")))
        until(lambda: keeper.exists("/controller"))
        assert keeper.get("/brokers/ids/1")[1].owner_session_id != before


def test_generated_ids_are_never_given_twice(keeper):
    config = {**SETTINGS, "broker.id": "-1"}
    for expected in ([1001, 1002], [1003, 1004]):
        with serve(2, release="2.2", zookeeper=keeper.where, config=config) as running:
            running.registry.settle(SECONDS)
            assert sorted(running.cluster.brokers) == expected
            assert sorted(map(int, keeper.get_children("/brokers/ids"))) == expected


QUOTA = (("client-id", "c"), ("user", None)), "producer_byte_rate"


@pytest.mark.parametrize("release", RELEASES)
def test_what_stood_there_goes_on(release, keeper):
    with serve(release=release, zookeeper=keeper.where, config=SETTINGS) as running:
        with Client(running.bootstrap) as client:
            create(client, "t", 2, {"retention.ms": "5"})
        quotas = running.cluster.client_settings
        quotas.set_quotas(QUOTA[0], {QUOTA[1]: 7.0})
        running.registry.follow()
        running.registry.settle(SECONDS)
        before = running.cluster.topics["t"].id, running.cluster.cluster_id
    with serve(release=release, zookeeper=keeper.where, config=SETTINGS, seed=5) as running:
        topic = running.cluster.topics["t"]
        assert (topic.id, running.cluster.cluster_id) == before
        assert topic.configs == {"retention.ms": "5"}
        assert running.cluster.client_settings.quota(*QUOTA) == 7.0
        running.registry.settle(SECONDS)
        state = json.loads(keeper.get("/brokers/topics/t/partitions/0/state")[0])
        assert (state["leader"], state["leader_epoch"]) == (0, 1)
        assert keeper.get("/controller_epoch")[0] == b"2"


def test_a_kraft_release_has_none(zookeeper):
    with pytest.raises(ValueError, match="no ZooKeeper"):
        serve(release="4.3", zookeeper=zookeeper)


def test_a_broker_that_is_killed_stays_registered_until_its_session_ends(keeper):
    """Then the next controller leads in a new epoch, and the state says so."""
    config = {**SETTINGS, "zookeeper.session.timeout.ms": "1500"}
    with serve(3, release="2.2", zookeeper=keeper.where, config=config) as running:
        running.registry.settle(SECONDS)
        keeper.create("/brokers/topics/t", b'{"version":1,"partitions":{"0":[0,1,2]}}')
        state = "/brokers/topics/t/partitions/0/state"
        until(lambda: keeper.exists(state))
        assert keeper.get(state)[0] == STATE.format(1, 0, 0, "0,1,2").encode()
        running.kill(0)
        running.registry.settle(SECONDS)
        assert keeper.exists("/brokers/ids/0")
        until(lambda: not keeper.exists("/brokers/ids/0"))
        until(lambda: keeper.get(state)[0] == STATE.format(2, 1, 1, "1,2").encode())
        assert keeper.get("/controller_epoch")[0] == b"2"
        assert json.loads(keeper.get("/controller")[0])["brokerid"] == 1


def test_a_data_directory_of_another_cluster_is_refused(keeper, tmp_path):
    with serve(release="2.8", data=tmp_path, config=SETTINGS):
        pass
    keeper.create("/cluster/id", b'{"version":"1","id":"another"}', makepath=True)
    with pytest.raises(RegistryError, match="The Cluster ID another doesn't match stored"):
        serve(release="2.8", data=tmp_path, zookeeper=keeper.where, config=SETTINGS)


# -------------------------------------------------------------- what brokers leave a controller


def append(bootstrap):
    """A record that the follower which is paused does not have; the error."""
    records = build(2, [b"x"], timestamp=int(time.time() * 1000))
    rows = [{"index": 0, "records": records}]
    body = {"transactional_id": None, "acks": 1, "timeout_ms": 9000,
            "topic_data": [{"name": "t", "partition_data": rows}]}  # fmt: skip
    with Client(bootstrap[1:2]) as client:
        answer = client.ask("Produce", body, "any")
    return answer["responses"][0]["partition_responses"][0]["error_code"]


LEFT = '{{"version":1,"partitions":[{{"topic":"t","partition":{}}}]}}'


@pytest.mark.parametrize("release", ["1.0", "2.2"])
def test_a_changed_isr_is_announced_and_stays_until_a_controller_reads_it(release, keeper):
    """The text and the number of three real nodes, whose controller was paused as well."""
    config = {**SETTINGS, "zookeeper.session.timeout.ms": "30000", "replica.lag.time.max.ms": "500"}
    with serve(3, release=release, zookeeper=keeper.where, config=config) as running:
        running.registry.settle(SECONDS)
        keeper.create("/brokers/topics/t", b'{"version":1,"partitions":{"0":[1,0,2]}}')
        state = "/brokers/topics/t/partitions/0/state"
        until(lambda: keeper.exists(state))
        running.pause(0)
        assert append(running.bootstrap) == 0
        until(lambda: keeper.get(state)[0] == STATE.format(1, 1, 0, "1,2").encode())
        until(lambda: keeper.get_children("/isr_change_notification"))
        (name,) = keeper.get_children("/isr_change_notification")
        assert name == "isr_change_0000000000"
        assert keeper.get(f"/isr_change_notification/{name}")[0].decode() == LEFT.format(0)
        view = running.brokers[1].metadata
        assert list(view.partition("t", 0).isr) == [1, 0, 2]
        running.resume(0)
        until(lambda: not keeper.exists(f"/isr_change_notification/{name}"))
        until(lambda: list(view.partition("t", 0).isr) in ([1, 2], [1, 2, 0]))


@pytest.mark.parametrize("release", RELEASES)
def test_what_others_leave_is_read_and_removed(release, keeper):
    with serve(release=release, zookeeper=keeper.where, config=SETTINGS) as running:
        running.registry.settle(SECONDS)
        text = LEFT.format(0).encode()
        keeper.create("/isr_change_notification/isr_change_", text, sequence=True)
        text = b'{"version":1,"broker":0,"event":1}'
        keeper.create("/log_dir_event_notification/log_dir_event_", text, sequence=True)
        for parent in ("/isr_change_notification", "/log_dir_event_notification"):
            until(lambda parent=parent: not keeper.get_children(parent))
