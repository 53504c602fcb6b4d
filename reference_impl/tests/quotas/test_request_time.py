"""Who takes more of a broker's time than request_percentage allows waits, a second at most."""

from __future__ import annotations

import itertools
import random

import pytest

from touchstone.reference_impl.broker.assembly import Assembly
from touchstone.reference_impl.broker.effects import Connection
from touchstone.reference_impl.cluster.client_settings import entity
from touchstone.reference_impl.cluster.topology import Cluster, Node
from touchstone.reference_impl.tests.broker.one_broker import NOW, SILENT, WAITING, OneBroker, batch

MS = 1_000_000  # ns
RELEASES = ("2.2", "2.8", "3.9", "4.3")


class Busy(OneBroker):
    """A broker to which each request takes so many milliseconds."""

    def __init__(self, release: str, ms: int, percent: float | None = 1.0) -> None:
        parts = Assembly.of(release, {}, ())
        self.cluster = parts.cluster([Node(0, "127.0.0.1", 9092)], Cluster, random.Random(0))
        ticks = itertools.count(0, ms * MS).__next__
        memory = parts.memory(self.cluster, 0)
        self.brokers = [parts.broker(self.cluster, 0, memory, thread_time=ticks)]
        self.connection, self.now = Connection(1), NOW
        self.topic()
        if percent is not None:
            self.cluster.client_settings.set_quotas(
                entity({"user": None}), {"request_percentage": percent}
            )

    def throttled(self, api: str, version: int, body: dict, **how) -> int:
        return self.ask(api, version, body, **how)["throttle_time_ms"]


METADATA = ("Metadata", 4, {"topics": [], "allow_auto_topic_creation": False})
HEARTBEAT = ("Heartbeat", 1, {"group_id": "g", "generation_id": 1, "member_id": "m"})


@pytest.mark.parametrize("release", RELEASES)
def test_within_a_millisecond_of_the_formula(release):
    """120 ms of ten seconds are 1.2 %: (1.2 - 1.0) / 1.0 * 10 s, and no more than a second."""
    for ms, wait in ((100, 0), (105, 500), (120, 1000), (500, 1000)):
        assert abs(Busy(release, ms).throttled(*METADATA) - wait) <= 1, ms


@pytest.mark.parametrize("asked", [METADATA, HEARTBEAT, ("ApiVersions", 1, {})])
def test_any_request_counts(asked):
    assert Busy("4.3", 500).throttled(*asked) == 1000


def test_who_waits_is_not_read():
    one = Busy("4.3", 500)
    one.throttled(*METADATA)
    assert one.ask(*METADATA) == WAITING
    assert one.brokers[0].deadline() == NOW + 1000


def test_without_a_quota_time_is_nobodys():
    assert Busy("4.3", 500, None).throttled(*METADATA) == 0


def test_what_only_brokers_ask_is_exempt():
    one = Busy("2.8", 500)
    one.ask("WriteTxnMarkers", 0, {"markers": []})
    assert one.ask(*METADATA) != WAITING


def test_of_epochs_only_brokers_asked_in_1_0():
    body = {"topics": []}
    assert type(Busy("1.0", 500).ask("OffsetForLeaderEpoch", 0, body)) is dict
    assert Busy("2.2", 500).throttled("OffsetForLeaderEpoch", 2, body) == 1000


def test_a_producer_without_acks_is_not_counted():
    one = Busy("4.3", 500)
    assert one.produce(batch(b"x"), acks=0) == SILENT
    assert one.ask(*METADATA) != WAITING


def test_a_fetch_that_took_long_carries_nothing():
    one = Busy("4.3", 500)
    one.store(batch(b"x"))
    part = {"partition": 0, "fetch_offset": 0, "partition_max_bytes": 1 << 20}
    body = {"max_wait_ms": 0, "min_bytes": 1, "max_bytes": 1 << 20,
            "topics": [{"topic": "t", "partitions": [part]}]}  # fmt: skip
    answer = one.ask("Fetch", 12, body)
    assert (answer["throttle_time_ms"], answer["responses"]) == (1000, [])


def test_1_0_waits_for_one_quota_after_the_other():
    one = Busy("1.0", 500)
    one.cluster.client_settings.set_quotas(
        entity({"user": None}), {"producer_byte_rate": 1000.0, "request_percentage": 1.0}
    )
    core = one.brokers[0]
    assert one.produce(batch(b"x" * 20_000), version=5) == WAITING
    first = core.deadline()
    assert core.tick(first) == []
    assert core.deadline() == first + 1000
    answer = one.read(core.tick(first + 1000), "Produce", 5)
    assert answer["throttle_time_ms"] == first - NOW + 1000


def test_the_longest_wait_is_told():
    one = Busy("4.3", 500)
    one.cluster.client_settings.set_quotas(
        entity({"user": None}), {"producer_byte_rate": 1000.0, "request_percentage": 1.0}
    )
    body = {"acks": 1, "timeout_ms": 1000, "transactional_id": None, "topic_data": [
        {"name": "t", "partition_data": [{"index": 0, "records": batch(b"x" * 20_000)}]}
    ]}  # fmt: skip
    assert one.throttled("Produce", 7, body) > 10_000
