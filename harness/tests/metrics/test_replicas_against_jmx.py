"""Of three brokers one dies: the leader's metrics are what a real 4.3.1 says of the same."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

import pytest

from touchstone.harness.tests.metrics.places import Measured, ours, real
from touchstone.reference_impl.io.client import Client

pytestmark = [
    pytest.mark.live, pytest.mark.java, pytest.mark.maven, pytest.mark.slow,
    pytest.mark.timeout(300),
]  # fmt: skip
SECONDS = 90
MANAGER = "kafka.server:type=ReplicaManager,name="
UNDER = MANAGER + "UnderReplicatedPartitions:Value"
COPIED = "kafka.server:type=BrokerTopicMetrics,name=ReplicationBytesOutPerSec:Count"
COMPARED = re.compile(
    r"ReplicaManager|type=Partition|type=Log,|topic=copied|ReplicationBytes"
    r"|OfflinePartitionsCount|Preferred|Global|BrokerCount"
)
# Fetches of followers are as many as time gives.
APART = re.compile(r"TotalFetchRequests|topic=__")


def until(measure: Callable[[], Measured], name: str, least: float) -> Measured:
    deadline = time.monotonic() + SECONDS
    while (found := measure())[name] < least and time.monotonic() < deadline:
        pass  # a real broker's answer takes a JVM's start
    return found


def moments(place) -> list[Measured]:
    with place(3, {}) as cluster, Client(cluster.bootstrap) as client:
        client.admin.create_topic(
            "copied", assignments={0: [0, 1, 2], 1: [1, 0, 2], 2: [2, 0, 1]},
            configs={"min.insync.replicas": "2"},
        )  # fmt: skip
        producer = client.producer(idempotence=False)
        for number in range(5):
            producer.send("copied", b"%d" % number, partition=0)
            producer.flush()
        whole = until(cluster.measure, COPIED, 1)
        cluster.kill(2)
        return [whole, until(cluster.measure, UNDER, 2)]


def test_leaders_followers_and_isr_are_counted_as_kafka_counts_them():
    for theirs, mine in zip(moments(real), moments(ours), strict=True):
        names = [n for n in mine if n in theirs and COMPARED.search(n) and not APART.search(n)]
        assert {name: mine[name] for name in names} == {name: theirs[name] for name in names}
        assert len(names) > 40
    assert (mine[UNDER], mine[f"{MANAGER}AtMinIsrPartitionCount:Value"]) == (2, 2)
