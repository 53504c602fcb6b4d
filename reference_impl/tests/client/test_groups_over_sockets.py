"""Groups and transactions over real sockets: as every release, members of one group in threads."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from touchstone.reference_impl.broker.personas.releases import RELEASES
from touchstone.reference_impl.client.flow import ClientError
from touchstone.reference_impl.client.group_offsets import first_error
from touchstone.reference_impl.client.offsets import READ_COMMITTED
from touchstone.reference_impl.client.transactions import State
from touchstone.reference_impl.io.client import Client
from touchstone.reference_impl.io.server import serve
from touchstone.reference_impl.wire.errors import ErrorCode

SETTINGS = {
    "group.initial.rebalance.delay.ms": "100",
    "offsets.topic.num.partitions": "3",
    "transaction.state.log.num.partitions": "3",
}
PATIENCE_MS = 60_000
MEMBER = {"reset": "earliest", "max_wait_ms": 20, "heartbeat_interval_ms": 100}


@pytest.fixture(scope="module", params=RELEASES)
def cluster(request):
    with serve(brokers=3, release=request.param, config=SETTINGS) as cluster:
        cluster.release = request.param
        yield cluster


def fill(client: Client, name: str, *, partitions: int = 4, records: int = 40) -> None:
    client.admin.create_topic(name, partitions=partitions)
    producer = client.producer()
    for i in range(records):
        producer.send(name, b"%d" % i, partition=i % partitions)
    producer.flush()


@pytest.mark.slow
@pytest.mark.parametrize("assignor", ["range", "roundrobin", "cooperative-sticky"])
def test_members_share_a_topic_and_read_each_record_once(cluster, assignor):
    name = f"shared-{assignor}"
    with Client(cluster.bootstrap) as client:
        fill(client, name)

    held: list[list[tuple[str, int]]] = [[], []]

    def member(number: int) -> list[bytes]:
        """Polls until each has its half: who left sooner would keep the other one waiting."""
        with Client(cluster.bootstrap, client_id=f"m{number}") as client:
            consumer = client.consumer(group=name, topics=[name], assignors=[assignor], **MEMBER)
            got: list[bytes] = []
            end = client.now() + PATIENCE_MS
            while list(map(len, held)) != [2, 2]:
                assert client.now() < end, f"they hold {held}"
                got += [record.value for record in consumer.poll()]
                held[number] = sorted(consumer.positions)
            got += [record.value for record in consumer.poll()]
            consumer.commit()
            return got

    with ThreadPoolExecutor(2) as pool:
        one, other = pool.map(member, range(2))
    assert sorted(held[0] + held[1]) == [(name, i) for i in range(4)]
    assert {int(value) for value in one + other} == set(range(40))


def test_a_group_goes_on_where_it_was(cluster):
    with Client(cluster.bootstrap) as client:
        fill(client, "resumed", partitions=1, records=10)
        for wanted in ([b"0", b"1", b"2", b"3"], [b"4", b"5", b"6", b"7"]):
            consumer = client.consumer(
                group="resumed", topics=["resumed"], max_poll_records=4, **MEMBER
            )
            assert [record.value for record in consumer.poll()] == wanted
            consumer.close()


@pytest.mark.slow
def test_records_are_copied_once_with_their_offsets(cluster):
    with Client(cluster.bootstrap) as client:
        fill(client, "copied", partitions=2, records=20)
        client.admin.create_topic("copies", partitions=3)
        consumer = client.consumer(
            group="copiers", topics=["copied"], auto_commit_ms=None, isolation=READ_COMMITTED,
            **MEMBER,
        )  # fmt: skip
        producer = client.transactional_producer("copier")
        assert producer.second_version == (cluster.release == "4.3")
        records: list = []
        while len(records) < 20:
            records += consumer.poll()
        member = "copiers" if cluster.release in ("1.0", "2.2") else consumer.group_metadata
        for end in (producer.abort, producer.commit):
            producer.begin()
            for each in records:
                producer.send("copies", each.value, partition=int(each.value) % 3)
            producer.send_offsets(dict(consumer.positions), member)
            producer.flush()
            end()
        reader = client.consumer([("copies", i) for i in range(3)], isolation=READ_COMMITTED,
                                 **{k: MEMBER[k] for k in ("reset", "max_wait_ms")})  # fmt: skip
        copies: list = []
        while len(copies) < 20:
            copies += [record.value for record in reader.poll()]
        assert sorted(map(int, copies)) == list(range(20))
        assert {p[1]: o.offset for p, o in consumer.committed(consumer.positions).items()} == {
            0: 10,
            1: 10,
        }


def test_the_next_producer_of_an_id_fences_the_last(cluster):
    with Client(cluster.bootstrap) as client:
        client.admin.create_topic("fenced")
        old = client.transactional_producer("fenced")
        old.begin()
        left = old.send("fenced", b"never seen")
        old.flush()
        assert left.result().offset == 0
        new = client.transactional_producer("fenced")
        with pytest.raises(ClientError):
            old.send("fenced", b"too late")
            old.commit()
        with pytest.raises(ClientError):
            old.abort()
        assert old.state is State.OVER
        new.begin()
        new.send("fenced", b"seen")
        new.commit()
        reader = client.consumer([("fenced", 0)], isolation=READ_COMMITTED, reset="earliest")
        assert [record.value for record in reader.poll()] == [b"seen"]


def test_who_does_not_coordinate_a_group_says_so_to_a_transaction_too(cluster):
    with Client(cluster.bootstrap) as client:
        client.admin.create_topic("elsewhere")
        wanted = {"key": "g", "key_type": 0, "coordinator_keys": ["g"]}
        found = client.ask("FindCoordinator", wanted)
        while found.get("coordinators", [found])[0]["error_code"]:  # its topic is being made
            found = client.ask("FindCoordinator", wanted)
        coordinator = (found.get("coordinators") or [found])[0]["node_id"]
        row = {
            "partition_index": 0,
            "committed_offset": 1,
            "committed_leader_epoch": -1,
            "committed_metadata": None,
        }
        body = {
            "transactional_id": "id",
            "group_id": "g",
            "producer_id": 1,
            "producer_epoch": 0,
            "member_id": "",
            "topics": [{"name": "elsewhere", "partitions": [row]}],
        }
        for node in {0, 1, 2} - {coordinator}:
            answer = client.ask("TxnOffsetCommit", body, node=node)
            assert first_error(answer) == ErrorCode.NOT_COORDINATOR
