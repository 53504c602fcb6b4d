"""Metrics of a running cluster, from Python and by Prometheus' own reader of the text."""

from __future__ import annotations

import subprocess
import sys
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest
from prometheus_client.parser import text_string_to_metric_families

from touchstone.reference_impl.io.client import Client
from touchstone.reference_impl.io.metrics_http import MetricsDoor
from touchstone.reference_impl.io.server import serve

MESSAGES = "kafka.server:type=BrokerTopicMetrics,name=MessagesInPerSec:Count"
UNTOUCHED = """
import sys
from touchstone import Client, serve
with serve() as cluster, Client(cluster.bootstrap) as client:
    client.admin.create_topic("t")
    wanted = "prometheus_client", "touchstone.reference_impl.broker.metrics", "http"
    print(sorted({name for name in sys.modules if name.startswith(wanted)} - {"http"}))
"""


@pytest.fixture
def cluster():
    with serve(brokers=2, profile="test") as cluster:
        cluster.observe()
        yield cluster


def produce(cluster, *values):
    with Client(cluster.bootstrap) as client:
        if "t" not in cluster.cluster.topics:
            client.admin.create_topic("t", replication=1)
        producer = client.producer()
        for value in values:
            producer.send("t", value)
        producer.flush()


def get(door, host=None):
    place = urlsplit(door.url)
    peer = HTTPConnection(place.hostname, place.port, timeout=60)
    peer.request("GET", "/metrics", headers={"Host": host} if host else {})
    answer = peer.getresponse()
    text = answer.read().decode()
    peer.close()
    return answer.status, text


def test_prometheus_reads_what_python_is_told(cluster):
    produce(cluster, b"a", b"b", b"c")
    with MetricsDoor(cluster.measure) as door:
        status, text = get(door)
    assert status == 200
    samples = [each for family in text_string_to_metric_families(text) for each in family.samples]
    found = {(each.name, *sorted(each.labels.items())): each.value for each in samples}
    assert len(found) == len(samples)
    told = {number: cluster.metrics(number)[MESSAGES] for number in (0, 1)}
    name = "kafka_server_brokertopicmetrics_messagesin_total"
    assert {n: found[name, ("broker", str(n))] for n in told} == told
    assert sum(told.values()) == 3
    assert {each.name for each in samples if not each.name.startswith("kafka_")} == set()


def test_a_page_of_elsewhere_is_told_nothing(cluster):
    with MetricsDoor(cluster.measure) as door:
        port = urlsplit(door.url).port
        assert get(door, f"localhost:{port}")[0] == get(door, f"127.0.0.1:{port}")[0] == 200
        status, text = get(door, f"pages.example:{port}")
    assert status == 403 and "kafka_" not in text


def test_it_listens_on_loopback_unless_told_otherwise(cluster):
    with MetricsDoor(cluster.measure) as door:
        assert urlsplit(door.url).hostname == "127.0.0.1"


def test_a_broker_that_starts_again_counts_from_zero(cluster):
    produce(cluster, b"a")
    leader = cluster.cluster.partition("t", 0).leader
    assert cluster.metrics(leader)[MESSAGES] == 1
    cluster.kill(leader)
    with pytest.raises(KeyError):
        cluster.metrics(leader)
    cluster.start_broker(leader)
    produce(cluster, b"b")  # before anybody asks: the new core counts from its start
    assert cluster.metrics(leader)[MESSAGES] == 1


@pytest.mark.slow
def test_nothing_of_it_is_loaded_before_somebody_asks():
    argv = [sys.executable, "-c", UNTOUCHED]
    said = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=60)
    assert said.stdout.strip() == "[]"
