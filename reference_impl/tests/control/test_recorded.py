"""What five real brokers answered on the control side, asked again of their personas.

`recorded/RELEASE.jsonl.xz` holds conversations with single nodes of 1.0.2, 2.2.1, 2.8.2, 3.9.2 and
4.3.1: every row a request and its answer, in the order in which they were sent, over every version
of ApiVersions, Metadata, CreateTopics, DeleteTopics, CreatePartitions, DescribeConfigs,
AlterConfigs, IncrementalAlterConfigs, FindCoordinator, DescribeCluster and
DescribeTopicPartitions. Here each request goes to one broker without sockets, and each answer must
be the recorded one, but for what two clusters may differ in:

- ids of topics and of the cluster, ports, the metadata offset that stands behind the features;
- the order of entries, for Kafka answers in the order of hash tables;
- the settings that describe the node itself.
"""

import json
import lzma
from pathlib import Path

import pytest

from touchstone.reference_impl.broker.personas.releases import RELEASES
from touchstone.reference_impl.tests.control.node import Peer, brokers

FOLDER = Path(__file__).parent / "recorded"
SETTINGS = {
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "group.initial.rebalance.delay.ms": "0",
}
OF_THE_NODE = {
    "advertised.listeners",
    "broker.id",
    "controller.listener.names",
    "controller.quorum.voters",
    "listener.security.protocol.map",
    "listeners",
    "log.dirs",
    "node.id",
    "process.roles",
    "zookeeper.connect",
}
# A ZooKeeper controller takes the topics of one request in the order of a hash table: which of two
# new names that collide is the one refused, hangs on the names.
KNOWN = ("ct collide in one",)
NO_ID = "$" + "0" * 32


class Replay:
    """Asks, and learns which of our topic ids stands for which recorded one."""

    def __init__(self, release):
        self.peer = Peer(brokers(release, config=SETTINGS)[0])
        self.ours = {}

    def ask(self, key, version, body):
        return _plain(self.peer.ask(key, version, self.outward(body)))

    def outward(self, value):
        if isinstance(value, dict):
            return {name: self.outward(child) for name, child in value.items()}
        if isinstance(value, list):
            return [self.outward(child) for child in value]
        if isinstance(value, str) and value.startswith("$"):
            return bytes.fromhex(self.ours.get(value, value)[1:])
        return value

    def same(self, expected, answer, name=""):
        """Equal, apart from what may differ; ids are bound to each other on first sight."""
        if isinstance(expected, dict) and isinstance(answer, dict):
            if expected.get("name") in OF_THE_NODE and "value" in expected:
                return answer.get("name") == expected["name"]
            return expected.keys() == answer.keys() and all(
                self.same(expected[key], answer[key], key) for key in expected
            )
        if isinstance(expected, list) and isinstance(answer, list):
            pairs = zip(_in_order(expected), _in_order(answer), strict=False)
            return len(expected) == len(answer) and all(self.same(*p, name) for p in pairs)
        if name == "topic_id" and expected != NO_ID and answer != NO_ID:
            return self.ours.setdefault(expected, answer) == answer
        if name in ("port", "finalized_features_epoch"):
            return (expected > 0) == (answer > 0)
        if name == "cluster_id":
            return (expected is None) == (answer is None)
        return expected == answer


def _plain(value):
    if isinstance(value, dict):
        return {name: _plain(child) for name, child in value.items()}
    if isinstance(value, list):
        return [_plain(child) for child in value]
    return "$" + value.hex() if isinstance(value, bytes) else value


def _in_order(entries):
    """By name where entries have one, by everything but ids where not."""
    return sorted(entries, key=_rank) if entries and isinstance(entries[0], dict) else entries


def _rank(entry):
    names = ("name", "key", "resource_type", "resource_name", "error_code", "partition_index")
    return [str(entry.get(name)) for name in names]


def rows(release):
    with lzma.open(FOLDER / f"{release}.jsonl.xz", "rt") as lines:
        return [json.loads(line) for line in lines]


@pytest.mark.slow
@pytest.mark.parametrize("release", RELEASES)
def test_the_persona_answers_as_its_release_did(release):
    replay, differing = Replay(release), []
    for name, key, version, body, expected in rows(release):
        answer = replay.ask(key, version, body)
        same = replay.same(expected, answer)
        compared = name and not name.startswith(KNOWN)  # a row without name prepares the next
        if compared and not same:
            differing.append((name, expected, answer))
    assert differing == []


def test_the_replay_would_notice():
    """Each thing that may differ is let through, and nothing beside it."""
    replay = Replay("4.3")
    one, other = "$" + "11" * 16, "$" + "22" * 16
    assert replay.same({"topic_id": one, "port": 1}, {"topic_id": other, "port": 2})
    assert not replay.same({"topic_id": one}, {"topic_id": "$" + "33" * 16})
    assert not replay.same({"topic_id": one}, {"topic_id": NO_ID})
    assert not replay.same([{"name": "a"}], [{"name": "a"}, {"name": "b"}])
    assert replay.same([{"name": "a"}, {"name": "b"}], [{"name": "b"}, {"name": "a"}])
    assert not replay.same({"error_message": ""}, {"error_message": None})
    assert not replay.same({"name": "x", "value": "1"}, {"name": "x", "value": "2"})
