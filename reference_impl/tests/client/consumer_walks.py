"""What a consumer does on any cluster: the reference broker is asked, and real Kafka too
(`harness/tests/clients`).
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable

import pytest

from touchstone.reference_impl.client.consumer import NoPosition, Wakeup
from touchstone.reference_impl.client.offsets import READ_COMMITTED
from touchstone.reference_impl.io.client import Client

Until = Callable[[Callable[[], bool]], None]
READS = {"reset": "earliest", "max_wait_ms": 50}


def filled(client: Client, name: str, records: int, *, partitions: int = 1) -> int:
    """Records of two hours ago, a millisecond apart; when the first was made."""
    first = client.now() - 7_200_000
    client.admin.create_topic(name, partitions=partitions)
    producer = client.producer()
    for number in range(records):
        producer.send(name, b"%d" % number, partition=number % partitions, timestamp=first + number)
    producer.flush()
    return first


def values(records: list) -> list[int]:
    return [int(record.value) for record in records]


def fetching_ahead(client: Client, name: str, until: Until) -> None:
    """Few at a time, in order, each once; a fetch is under way when the last was handed out."""
    filled(client, name, 23)
    consumer = client.consumer([(name, 0)], max_poll_records=5, **READS)
    got: list[int] = []
    until(lambda: got.extend(values(consumer.poll())) or len(got) == 23)
    assert got == list(range(23))
    assert consumer.core.fetcher.under_way
    consumer.pause([(name, 0)])
    client.producer().send(name, b"23", partition=0)
    late = client.producer()
    late.send(name, b"24", partition=0)
    late.flush()
    assert consumer.poll() == []
    consumer.resume([(name, 0)])
    until(lambda: got.extend(values(consumer.poll())) or 24 in got)
    consumer.close()


def seeking(client: Client, name: str, until: Until) -> None:
    first = filled(client, name, 10)
    place = (name, 0)
    consumer = client.consumer([place], **READS)
    assert consumer.beginning_offsets([place]) == {place: 0}
    assert consumer.end_offsets([place]) == {place: 10}
    assert consumer.offsets_for_times({place: first + 4})[place].offset == 4
    got: list[int] = []
    until(lambda: got.extend(values(consumer.poll())) or len(got) == 10)
    assert (consumer.position(place), consumer.lag(place)) == (10, 0)
    consumer.seek_to_beginning()
    assert consumer.position(place) == 0
    consumer.seek_to_end([place])
    assert consumer.position(place) == 10
    consumer.seek(place, 7)
    until(lambda: got.extend(values(consumer.poll())) or len(got) == 13)
    assert got[10:] == [7, 8, 9]
    consumer.seek(place, 99)  # beyond the end: the policy decides
    until(lambda: got.extend(values(consumer.poll())) or len(got) == 23)
    consumer.close()
    strict = client.consumer([place], reset="none", max_wait_ms=50)
    with pytest.raises(NoPosition):
        strict.poll()
    since = client.consumer([place], reset="by_duration:P1D", max_wait_ms=50)
    assert since.position(place) == 0
    now = client.consumer([place], reset="by_duration:PT1H", max_wait_ms=50)
    assert now.poll() == [], "nothing is as new"
    fresh = client.producer()
    fresh.send(name, b"10", partition=0)
    fresh.flush()
    until(lambda: got.extend(values(now.poll())) or 10 in got)


def waking(client: Client, name: str, until: Until) -> None:
    client.admin.create_topic(name)
    consumer = client.consumer([(name, 0)], **READS)
    consumer.wakeup()
    with pytest.raises(Wakeup):
        consumer.poll(60_000)
    assert consumer.poll(0) == []
    consumer.close(0)


def committed_only(client: Client, name: str, until: Until) -> None:
    client.admin.create_topic(name)
    producer = client.transactional_producer(name)
    for ends in (producer.abort, producer.commit):
        producer.begin()
        for number in range(3):
            producer.send(name, b"%d" % number)
        producer.flush()
        ends()
    strict = client.consumer([(name, 0)], isolation=READ_COMMITTED, **READS)
    got: list = []
    until(lambda: got.extend(strict.poll()) or len(got) == 3)
    assert [record.offset for record in got] == [4, 5, 6]
    everything = client.consumer([(name, 0)], **READS)
    until(lambda: got.extend(everything.poll()) or len(got) == 9)


def assignors(client: Client, name: str, until: Until) -> None:
    """Each by its name, as the coordinator sees it; a member that leaves is gone at once."""
    filled(client, name, 4, partitions=2)
    for assignor in ("range", "roundrobin", "sticky", "cooperative-sticky"):
        group = f"{name}-{assignor}"
        with client.consumer(group=group, topics=[name], assignors=[assignor], **READS) as member:
            got: list = []
            until(lambda each=member, into=got: into.extend(each.poll()) or len(into) == 4)
            known = client.admin.describe_classic_groups([group]).all()[group]
            assert known.assignor_name == assignor
            assert known.members[0].owned == {(name, 0), (name, 1)}
        assert client.admin.describe_classic_groups([group]).all()[group].members == ()
        held = client.admin.list_group_offsets({group: [(name, 0), (name, 1)]}).all()[group].all()
        assert {each.offset for each in held.values()} == {2}, "closing commits"


def patterns(client: Client, name: str, until: Until) -> None:
    filled(client, f"{name}-one", 2)
    member = client.consumer(group=name, metadata_max_age_ms=200, **READS)
    member.subscribe(pattern=re.compile(rf"^{name}-"))
    got: list = []
    until(lambda: got.extend(member.poll()) or len(got) == 2)
    filled(client, f"{name}-two", 2)
    until(lambda: got.extend(member.poll()) or len(got) == 4)
    assert {record.topic for record in got} == {f"{name}-one", f"{name}-two"}
    member.close()


def patterns_of_the_broker(client: Client, name: str, until: Until) -> None:
    """The expression is the coordinator's to match (KIP-848)."""
    filled(client, f"{name}-one", 2)
    member = client.consumer(group=name, protocol="consumer", **READS)
    member.subscribe(pattern=f"{name}-.*")
    got: list = []
    until(lambda: got.extend(member.poll()) or len(got) == 2)
    member.close()


def static_members(client: Client, name: str, until: Until) -> None:
    """Who comes back under its instance id goes on in the generation in which it left."""
    filled(client, name, 2)
    generations = []
    for _ in range(2):
        with client.consumer(group=name, topics=[name], instance_id="one", **READS) as member:
            until(lambda each=member: bool(each.poll() or each.positions))
            generations.append(member.core.member.generation)
    assert generations[0] == generations[1]


def commits(client: Client, name: str, until: Until) -> None:
    """Callbacks run in the order of commits, in a later call; a second look finds the last."""
    filled(client, name, 5)
    member = client.consumer(group=name, topics=[name], auto_commit_ms=None, **READS)
    got: list = []
    until(lambda: got.extend(member.poll()) or len(got) == 5)
    told: list = []
    for offset in (1, 2, 3):
        member.commit_async({(name, 0): offset}, lambda done, error: told.append((done, error)))
    assert told == []
    until(lambda: member.poll() == [] and len(told) == 3)
    assert told == [({(name, 0): offset}, None) for offset in (1, 2, 3)]
    assert member.committed([(name, 0)])[name, 0].offset == 3
    member.commit()
    assert member.last_committed[name, 0].offset == 5
    member.close()


def paced(done: bool) -> bool:
    """Give another thread its time where it is not done."""
    return done or threading.Event().wait(0.02)


def background(client: Client, name: str, until: Until) -> None:
    """Heartbeats go out between polls; when poll is overdue the member leaves."""
    filled(client, name, 1)
    member = client.consumer(group=name, topics=[name], heartbeat_interval_ms=50, **READS)
    until(lambda: bool(member.poll()))
    core = member.core
    beaten = core.member.beat_at
    until(lambda: paced(core.member.beat_at > beaten))
    core.max_poll_interval_ms = 1
    until(lambda: paced(core.member.generation < 0))
    with Client(client.bootstrap) as other:
        assert other.admin.describe_classic_groups([name]).all()[name].members == ()
    core.max_poll_interval_ms = 300_000
    until(lambda: member.poll() == [] and core.member.generation >= 0)
    member.close()


FIRST = {  # the first of our releases that can do all of it
    fetching_ahead: "1.0",
    seeking: "1.0",
    waking: "1.0",
    committed_only: "1.0",
    assignors: "1.0",
    patterns: "1.0",
    commits: "1.0",
    background: "1.0",
    static_members: "2.8",
    patterns_of_the_broker: "4.3",
}
