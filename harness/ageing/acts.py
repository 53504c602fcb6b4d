"""What happens to a cluster that ages, act by act, by our client and by signals.

Each act is a function of the cluster, a source of chance and the act; it returns when its effect is
complete. What clients do stays under names that begin with `tenant-`, which no case of the suites
uses, and is left there: whoever judges must not be disturbed by it.
"""

from __future__ import annotations

import contextlib
import random
import threading
from collections.abc import Callable, Iterator, Mapping

from touchstone.harness.ageing.cluster import AgedCluster
from touchstone.harness.ageing.life import Act
from touchstone.harness.model import security_settings
from touchstone.reference_impl.client.admin.cluster import FeatureUpdate
from touchstone.reference_impl.client.admin.configs import AlterConfigOp, ConfigResource, ConfigType
from touchstone.reference_impl.client.admin.credentials import ScramMechanism, ScramUpsertion
from touchstone.reference_impl.client.admin.quotas import quota_entity
from touchstone.reference_impl.client.flow import ClientError
from touchstone.reference_impl.io.client import Client

TENANT, LOADED = "tenant-", "tenant-load"
PAUSE_S, END_S = 0.1, 10.0
RECORDS, PRODUCERS = 300, 40
QUORUM_FEATURE = "kraft.version"  # a new cluster of fixed voters has it at 0
# Dynamic settings that an owner might have set, none of which a client can see.
DYNAMIC = {"background.threads": "6", "log.cleaner.threads": "2", "num.io.threads": "5"}

Doing = Callable[[AgedCluster, random.Random, Act], None]


def tenants(cluster: AgedCluster, draw: random.Random, _: Act) -> None:
    """A topic with records, a group that has read some of them, and transactions of both ends."""
    name = f"{TENANT}{draw.randrange(10**8)}"
    with Client(cluster.bootstrap) as client:
        admin = client.admin
        replicas = min(3, len(cluster.life.ids))
        admin.create_topic(name, partitions=draw.randint(1, 5), replication=replicas)
        producer = client.producer()
        for number in range(RECORDS):
            producer.send(name, b"%d" % number, key=b"%d" % (number % 7))
        producer.flush()
        producer.close()
        admin.alter_group_offsets(f"{name}-idle", {(name, 0): draw.randint(1, 9)}).all()
        with client.consumer(group=f"{name}-readers", topics=[name], reset="earliest") as consumer:
            while not consumer.poll(timeout_ms=1000):
                pass
            consumer.commit()
        orders = client.transactional_producer(f"{name}-orders")
        for end in (orders.commit, orders.abort):
            orders.begin()
            orders.send(name, b"order")
            end()
        orders.close()


def expire(cluster: AgedCluster, draw: random.Random, _: Act) -> None:
    """Logs that no longer begin at 0, groups that are gone, a topic that is gone."""
    with Client(cluster.bootstrap) as client:
        admin = client.admin
        names = sorted(name for name in admin.list_topics() if name.startswith(TENANT))
        places = {(name, 0): -1 for name in names}
        admin.delete_records(places).all()
        admin.delete_groups([f"{name}-idle" for name in names])  # 1.0 cannot
        if len(names) > 1:
            admin.delete_topics([draw.choice(names)]).all()


def restart(cluster: AgedCluster, _: random.Random, act: Act) -> None:
    cluster.restart(act.number)


def kill(cluster: AgedCluster, _: random.Random, act: Act) -> None:
    cluster.kill(act.number)


def settings(cluster: AgedCluster, draw: random.Random, _: Act) -> None:
    """Of all brokers, some; of a topic, one."""
    name = draw.choice(sorted(DYNAMIC))
    everybody = ConfigResource(ConfigType.BROKER, "")
    with Client(cluster.bootstrap) as client:
        changes = {everybody: [AlterConfigOp(name, DYNAMIC[name])]}
        topics = sorted(one for one in client.admin.list_topics() if one.startswith(TENANT))
        for topic in topics[:1]:
            its = ConfigResource(ConfigType.TOPIC, topic)
            changes[its] = [AlterConfigOp("max.message.bytes", "2000000")]
        client.admin.incremental_alter_configs(changes).all()


def quotas(cluster: AgedCluster, draw: random.Random, _: Act) -> None:
    who = quota_entity({"user": f"{TENANT}{draw.randrange(10**8)}"})
    with Client(cluster.bootstrap) as client:
        client.admin.alter_client_quotas({who: {"consumer_byte_rate": 1e7}}).all()


def leaders(cluster: AgedCluster, draw: random.Random, _: Act) -> None:
    """The first replica of each of tenants' partitions becomes another, which is then to lead."""
    with Client(cluster.bootstrap) as client:
        admin = client.admin
        names = [name for name in admin.list_topics() if name.startswith(TENANT)]
        placed = {
            (topic.name, part.partition_index): draw.sample(
                part.replica_nodes, len(part.replica_nodes)
            )
            for topic in admin.describe_topics(names).all().values()
            for part in topic.partitions
        }
        admin.alter_partition_reassignments(placed).all()
        while admin.list_partition_reassignments():
            pass
        admin.elect_leaders(placed)


def ids(cluster: AgedCluster, _: random.Random, __: Act) -> None:
    """Producers that come and go: each takes an id."""
    body = {
        "transactional_id": None, "transaction_timeout_ms": 60_000, "producer_id": -1,
        "producer_epoch": -1, "enable2_pc": False, "keep_prepared_txn": False,
    }  # fmt: skip
    with Client(cluster.bootstrap) as client:
        for _number in range(PRODUCERS):
            client.ask("InitProducerId", body)


def upgrade(cluster: AgedCluster, _: random.Random, act: Act) -> None:
    """The brokers, then what they have agreed on, as Kafka's notes on upgrading say."""
    cluster.upgrade(act.release)
    if not cluster.release.kraft:
        return
    with Client(cluster.bootstrap) as client:
        known = client.admin.describe_features()
        newest = {
            name: FeatureUpdate(levels.max_version)
            for name, levels in known.supported.items()
            if name != QUORUM_FEATURE and known.finalized.get(name, 0) < levels.max_version
        }
        if newest:
            client.admin.update_features(newest).all()


DOES: Mapping[str, Doing] = {
    "tenants": tenants,
    "expire": expire,
    "restart": restart,
    "kill": kill,
    "settings": settings,
    "quotas": quotas,
    "leaders": leaders,
    "ids": ids,
    "upgrade": upgrade,
}


def live(cluster: AgedCluster, say: Callable[[str], None]) -> None:
    """Do all that the life of this cluster says, and tell each act as it begins."""
    draw = random.Random(cluster.life.seed)
    if cluster.life.mechanism in security_settings.SCRAM:
        _user(cluster, draw)
    for at, act in enumerate(cluster.life.acts, 1):
        say(f"{at}. {act}")
        DOES[act.kind](cluster, draw, act)
    cluster.wait()


@contextlib.contextmanager
def load(cluster: AgedCluster) -> Iterator[None]:
    """Other people go on meanwhile: records come to a topic of theirs, some each second."""
    over = threading.Event()

    def send() -> None:
        with contextlib.suppress(ClientError, OSError), Client(cluster.bootstrap) as client:
            client.admin.create_topic(LOADED)
            producer = client.producer()
            while not over.wait(PAUSE_S):
                producer.send(LOADED, b"load")
                producer.flush()

    sender = threading.Thread(target=send, daemon=True)
    sender.start()
    try:
        yield
    finally:
        over.set()
        sender.join(END_S)


def _user(cluster: AgedCluster, draw: random.Random) -> None:
    """Whoever is to log in by SCRAM: the first of the users that PLAIN has from the start."""
    name, password = next(iter(security_settings.USERS.items()))
    kind = ScramMechanism(1 + security_settings.SCRAM.index(cluster.life.mechanism))
    user = ScramUpsertion(name, kind, password.encode(), draw.randbytes(16))
    with Client(cluster.bootstrap) as client:
        client.admin.alter_user_scram_credentials([user]).all()
