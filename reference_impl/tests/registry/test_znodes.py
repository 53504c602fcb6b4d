"""Znodes: the texts of three real releases, byte for byte; steps between trees."""

import random

import pytest

from touchstone.reference_impl.cluster import znodes
from touchstone.reference_impl.cluster.client_settings import entity
from touchstone.reference_impl.cluster.topology import Cluster, Node
from touchstone.reference_impl.cluster.znodes import (
    DELETED_TOPICS,
    Form,
    Step,
    Times,
    Znode,
    picture,
    steps,
)
from touchstone.reference_impl.tests.registry.real_trees import RELEASES, form, grown, plain, real

TIMES = Times({0: 7}, 8)
MANY = {
    "retention.ms": "1000000",
    "cleanup.policy": "compact",
    "segment.bytes": "1048576",
    "min.insync.replicas": "1",
    "max.message.bytes": "100000",
    "flush.messages": "7",
}
FEW = {"segment.ms": "60000", "delete.retention.ms": "99"}
OFFSETS = {
    "compression.type": "producer",
    "cleanup.policy": "compact",
    "segment.bytes": "104857600",
}
TRANSACTIONS = {
    "compression.type": "uncompressed",
    "cleanup.policy": "compact",
    "min.insync.replicas": "1",
    "segment.bytes": "104857600",
    "unclean.leader.election.enable": "false",
}
QUOTAS = {"producer_byte_rate": 1024.0, "request_percentage": 20.5, "consumer_byte_rate": 2048.0}


def cluster(*nodes: Node) -> Cluster:
    return Cluster(nodes or [Node(0, "127.0.0.1", 9092)], random=random.Random(1))


class Drawn:
    """The tree of a cluster, drawn after each change, as a mirror draws it."""

    def __init__(self, made: Cluster, release: str) -> None:
        self.cluster, self.form, self.tree = made, form(release), {}

    def draw(self, deleting=()) -> dict[str, Znode]:
        self.tree = picture(self.cluster, self.form, TIMES, self.tree, deleting)
        return self.tree


def as_real(release: str) -> Drawn:
    """What the recorded brokers had been asked."""
    made = cluster()
    drawn = Drawn(made, release)
    grown(made, "__consumer_offsets", 50, configs=OFFSETS)
    if release != "2.2":
        grown(made, "__transaction_state", 50, configs=TRANSACTIONS)
    if release != "2.8":
        made.create("b-absent", [[9]])
    made.next_producer_id = 1000
    grown(made, "zk-one", 1)
    grown(made, "zk-few", 6, configs=FEW)
    grown(made, "zk-many", 12, configs=MANY)
    for count in range(2, 6):
        grown(made, f"zk-p{count}", count)
        grown(made, f"zk-m{count}", count)
    growth = {"zk-one": 3, "zk-g12": 2, "zk-g23": 3, "zk-g34": 4, "zk-g24": 4, "zk-g14": 4}
    for name in list(growth)[1:]:
        grown(made, name, int(name[-2]))
    drawn.draw()
    for name, count in growth.items():
        made.grow(name, [[0]] * (count - len(made.topics[name].partitions)))
    made.configure("zk-one", {"retention.ms": "5000", "segment.bytes": "1048576"})
    if release != "1.0":
        made.dynamic_configs["0"] = {"follower.replication.throttled.rate": "1000000"}
        made.dynamic_configs[""] = {"log.cleaner.backoff.ms": "15000"}
    if release == "2.8":
        for who in (
            {"user": "zk u/1"}, {"client-id": "zk-c"}, {"user": None},
            {"user": "zk u/1", "client-id": "zk-c"}, {"user": None, "client-id": None},
        ):  # fmt: skip
            made.client_settings.set_quotas(entity(who), dict(QUOTAS))
    drawn.draw()
    return drawn


@pytest.mark.parametrize("release", RELEASES)
def test_every_znode_equals_the_real_one(release):
    ours = plain({path: tuple(node) for path, node in as_real(release).tree.items()})
    theirs = plain(real(release))
    topics = {f"{znodes.TOPICS}/__consumer_offsets", f"{znodes.TOPICS}/__transaction_state"}
    ours = {p: n for p, n in ours.items() if not any(p.startswith(f"{t}/p") for t in topics)}
    assert {p: ours.get(p) for p in theirs} == theirs
    assert ours.keys() == theirs.keys()


def test_a_broker_with_a_rack_and_one_that_is_gone():
    made = cluster(Node(1, "h", 9, rack="r1"), Node(2, "h", 10, alive=False))
    tree = Drawn(made, "1.0").draw()
    assert tree["/brokers/ids/1"] == Znode(
        '{"listener_security_protocol_map":{"PLAINTEXT":"PLAINTEXT"},'
        '"endpoints":["PLAINTEXT://h:9"],"rack":"r1","jmx_port":-1,"host":"h",'
        '"timestamp":"0","port":9,"version":4}',
        ephemeral=True,
    )
    assert "/brokers/ids/2" not in tree


def test_a_move_shows_in_the_topic_of_2_8():
    made = cluster()
    made.create("t", [[0], [0]])
    made.write(made.topics["t"].partitions[1], replicas=[1, 0], adding=(1,), removing=(0,))
    text = Drawn(made, "2.8").draw()["/brokers/topics/t"].text
    assert '"partitions":{"0":[0],"1":[1,0]}' in text
    assert '"adding_replicas":{"1":[1]},"removing_replicas":{"1":[0]}' in text


def test_a_controller_that_is_gone_has_no_node():
    made = cluster()
    drawn = Drawn(made, "2.2")
    before = drawn.draw()
    made.brokers[0].alive = False
    gone = {step.path for step in steps(before, drawn.draw()) if step.verb == "delete"}
    assert gone == {"/controller", "/brokers/ids/0"}


def test_a_deletion_that_waits_keeps_the_topic():
    made = cluster()
    made.create("t", [[0]])
    drawn = Drawn(made, "1.0")
    before = drawn.draw()
    made.delete("t")
    waiting = drawn.draw(deleting=["t"])
    assert steps(before, waiting) == [Step("create", f"{DELETED_TOPICS}/t", Znode())]
    done = steps(waiting, drawn.draw())
    assert [step.verb for step in done] == ["delete"] * 6
    assert [step.path for step in done[:2]] == [
        "/config/topics/t",
        "/brokers/topics/t/partitions/0/state",
    ]


def test_changed_settings_are_announced_and_new_topics_are_not():
    made = cluster()
    drawn = Drawn(made, "2.2")
    before = drawn.draw()
    made.create("t", [[0]], {"retention.ms": "1"})
    made.dynamic_configs["0"] = {"x": "1"}
    told = [step for step in steps(before, drawn.draw()) if step.verb == "notify"]
    assert [step.znode.text for step in told] == ['{"version":2,"entity_path":"brokers/0"}']
    before = drawn.tree
    made.configure("t", {})
    last = steps(before, drawn.draw())
    assert [(step.verb, step.znode.text) for step in last] == [
        ("set", znodes.EMPTY_CONFIG),
        ("notify", '{"version":2,"entity_path":"topics/t"}'),
    ]


def test_quotas_that_end_leave_an_empty_node():
    made = cluster()
    drawn = Drawn(made, "2.8")
    who = entity({"user": "u", "client-id": "c~ *"})
    made.client_settings.set_quotas(who, {"producer_byte_rate": 1.0})
    path = "/config/users/u/clients/c%7E%20%2A"
    assert drawn.draw()[path].text == '{"version":1,"config":{"producer_byte_rate":"1"}}'
    made.client_settings.set_quotas(who, {"producer_byte_rate": None})
    assert drawn.draw()[path].text == znodes.EMPTY_CONFIG


def test_nothing_is_written_twice_nor_for_another_order_of_keys():
    drawn = as_real("2.2")
    before = drawn.tree
    assert steps(before, drawn.draw()) == []
    foreign = {"/config/topics/t": Znode('{"config":{"a":"1"},"version":1}')}
    ours = {"/config/topics/t": Znode('{"version":1,"config":{"a":"1"}}')}
    assert steps(foreign, ours) == []
    assert steps({"/n": Znode("1")}, {"/n": Znode("2")}) == [Step("set", "/n", Znode("2"))]


def test_a_session_of_its_own_for_each_registration():
    old, new = Znode('{"timestamp":"1"}', True), Znode('{"timestamp":"2"}', True)
    assert [s.verb for s in steps({"/b": old}, {"/b": new})] == ["delete", "create"]


def test_what_others_wrote_is_understood():
    text = '{"version":1,"partitions":{"1":[2,0],"0":[0]}}'
    found = znodes.read_topic("t", text, '{"version":1,"config":{"retention.ms":"5"}}', [0])
    assert [(p.index, p.replicas, p.isr, p.leader) for p in found.partitions] == [
        (0, [0], [0], 0),
        (1, [2, 0], [0], 0),
    ]
    assert found.configs == {"retention.ms": "5"}
    assert znodes.read_change('{"version":2,"entity_path":"topics/t"}') == "topics/t"
    old = '{"version":1,"entity_type":"topics","entity_name":"t"}'
    assert znodes.read_change(old) == "topics/t"
    with pytest.raises(ValueError):
        znodes.read_topic("t", "nonsense", None, [0])


def test_a_release_has_a_form_or_no_zookeeper():
    assert form("2.8")[:4] == Form(("topics", "clients", "users", "brokers", "ips"), 5, 3)[:4]
    assert form("2.8").taken_id.startswith("Error while creating ephemeral at {path},")
    with pytest.raises(ValueError, match="no ZooKeeper"):
        form("3.9")


@pytest.mark.parametrize(
    ("path", "who"),
    [
        ("clients/c", {"client-id": "c"}),
        ("clients/<default>", {"client-id": None}),
        ("users/u%20v", {"user": "u v"}),
        ("users/u/clients/c%7E%20%2A", {"user": "u", "client-id": "c~ *"}),
        ("users/<default>/clients/<default>", {"user": None, "client-id": None}),
        ("users/u/clients", None),
        ("brokers/1", None),
        ("topics/t", None),
    ],
)
def test_whose_quotas_stand_at_a_path(path, who):
    assert znodes.read_entity(path) == (who if who is None else entity(who))


def test_quotas_are_read_as_they_were_written():
    made, who = cluster(), entity({"user": "u", "client-id": "c"})
    made.client_settings.set_quotas(who, {"producer_byte_rate": 1.5, "request_percentage": 2.0})
    text = Drawn(made, "2.8").draw()["/config/users/u/clients/c"].text
    other = cluster()
    other.client_settings.set_quotas(who, {"consumer_byte_rate": 9.0})
    read = znodes.read_quotas({**znodes.read_config(text), "SCRAM-SHA-256": "salt=x"})
    other.client_settings.replace_quotas(who, read)
    assert list(other.client_settings.quotas()) == list(made.client_settings.quotas())


# ------------------------------------------------------------------- what a controller is left

ORDERS = {  # what three nodes of each wrote when a follower of all these had been paused
    "1.0": "t5 t3 t2 t4 t0 other.topic0 t1 other.topic1",
    "2.2": "t0 other.topic0 t1 t2 t4 t5 other.topic1 t3",
}


@pytest.mark.parametrize("release", ORDERS)
def test_partitions_stand_in_an_announcement_as_their_hashes_have_it(release):
    places = [("t", index) for index in range(6)] + [("other.topic", 0), ("other.topic", 1)]
    text = znodes.isr_change(places, form(release))
    assert text.startswith('{"version":1,"partitions":[{"topic":"')
    told = znodes.read_isr_change(text)
    assert " ".join(f"{topic}{index}" for topic, index in told) == ORDERS[release]


def test_many_partitions_fill_a_set_that_grows():
    places = [("t", index) for index in range(200)]
    told = znodes.read_isr_change(znodes.isr_change(places, form("1.0")))
    assert (sorted(told), told == places) == (places, False)
