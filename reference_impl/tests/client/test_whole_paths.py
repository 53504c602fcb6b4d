"""One record, one fetch and one commit on their whole way, over sockets, as every release."""

import pytest

from touchstone.reference_impl.client.group_offsets import Offset
from touchstone.reference_impl.group import log_records
from touchstone.reference_impl.group.members import Group
from touchstone.reference_impl.io.client import Client
from touchstone.reference_impl.io.server import serve

RELEASES = [
    "1.0",
    *(pytest.param(name, marks=pytest.mark.slow) for name in ("2.2", "2.8", "3.9")),
    "4.3",
]
QUICK = {"reset": "earliest", "max_wait_ms": 20}


@pytest.fixture(scope="module", params=RELEASES)
def client(request):
    settings = {"offsets.topic.num.partitions": "1", "group.initial.rebalance.delay.ms": "0"}
    served = serve(brokers=1, release=request.param, config=settings)
    with served as cluster, Client(cluster.bootstrap) as client:
        yield client


def test_even_numbers_by_the_way_and_odd_ones_waited_for_are_all_in_order(client):
    """Key and value are the number (PROD-51): per partition offsets are consecutive."""
    client.admin.create_topic("demo", partitions=3)
    producer = client.producer()
    sent = []
    for number in range(40):
        sent.append(producer.send("demo", b"%d" % number, key=b"%d" % number))
        if number % 2:
            producer.flush()
            assert sent[-1].done, "who waits for a record knows of it"
    producer.close()
    for partition in range(3):
        ours = [each.result() for each in sent if each.partition == partition]
        assert [each.offset for each in ours] == list(range(len(ours)))
    reader = client.consumer([("demo", index) for index in range(3)], **QUICK)
    got = []
    while len(got) < len(sent):
        got += reader.poll(1_000)
    for partition in range(3):
        values = [int(row.value) for row in got if row.partition == partition]
        assert values == sorted(values)
        assert all(row.key == row.value for row in got)


def test_a_commit_goes_to_the_log_and_back_into_what_the_consumer_knows(client):
    """MISC-03: consumer, coordinator, `__consumer_offsets`, and the consumer's own memory."""
    client.admin.create_topic("committed")
    producer = client.producer()
    for number in range(9):
        producer.send("committed", b"%d" % number)
    producer.close()
    consumer = client.consumer(group="path", topics=["committed"], auto_commit_ms=None, **QUICK)
    consumer.poll()
    heard = []
    wanted = {("committed", 0): Offset(5, -1, "note")}
    consumer.commit_async(wanted, lambda *told: heard.append(told))
    while not heard:
        consumer.poll(20)
    assert heard == [(wanted, None)] and consumer.last_committed == wanted
    fetch = {
        "replica_id": -1,
        "max_wait_ms": 0,
        "min_bytes": 0,
        "topics": [
            {
                "topic": "__consumer_offsets",
                "partitions": [{"partition": 0, "fetch_offset": 0, "partition_max_bytes": 1 << 20}],
            }
        ],
    }
    answer = client.ask("Fetch", fetch, versions=(4, 4))
    data = answer["responses"][0]["partitions"][0]["records"]
    groups: dict[str, Group] = {}
    log_records.read(bytes(data), groups, lambda name: None, client.now())
    stored = groups["path"].offsets["committed", 0]
    assert (stored.offset, stored.metadata) == (5, "note")
    again = client.consumer(group="path", topics=["committed"], auto_commit_ms=None, **QUICK)
    consumer.close()
    left = []
    while len(left) < 4:
        left += again.poll(1_000)
    assert [row.offset for row in left] == [5, 6, 7, 8]
