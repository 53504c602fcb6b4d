"""A date that is corrected moves what is stamped, and no session, lease, lag or timeout."""

from __future__ import annotations

import pytest

from touchstone.reference_impl.io import wall_clock
from touchstone.reference_impl.io.client import Client
from touchstone.reference_impl.io.server import serve
from touchstone.reference_impl.io.wall_clock import WallClock

HOUR = 3_600_000
LEASES = {
    "broker.session.timeout.ms": "3000", "replica.lag.time.max.ms": "3000",
    "min.insync.replicas": "2", "log.message.timestamp.type": "LogAppendTime",
}  # fmt: skip


class Machine:
    """The `time` of a machine whose date somebody sets."""

    date = uptime = 5_000_000_000_000_000_000

    def time_ns(self):
        return self.date

    def monotonic_ns(self):
        return self.uptime


def test_a_corrected_date_moves_what_is_stamped_and_no_timer(monkeypatch):
    machine = Machine()
    monkeypatch.setattr(wall_clock, "time", machine)
    clock = WallClock()
    began = clock()
    machine.date -= HOUR * 1_000_000
    assert clock() == began and clock.wall(began) == began - HOUR
    machine.date += 7_000_000
    machine.uptime += 7_000_000
    assert clock() == began + 7 and clock.wall(clock()) == began + 7 - HOUR


def test_time_that_passes_without_waiting_passes_for_both():
    clock = WallClock()
    began = clock()
    clock.advanced += HOUR
    assert clock() >= began + HOUR and clock.wall(began + HOUR) - began in range(HOUR - 5, HOUR + 5)


@pytest.mark.slow
@pytest.mark.parametrize("ms", [HOUR, -HOUR])
def test_brokers_go_on_when_their_date_jumps_and_returns(ms):
    with serve(3, config=LEASES) as cluster, Client(cluster.bootstrap) as client:
        client.admin.create_topic("t", replication=3)
        producer = client.producer(delivery_timeout_ms=5_000, request_timeout_ms=2_000)
        for ahead in (0, ms, 0):
            cluster.jump(ahead)
            for _ in range(20):
                delivery = producer.send("t", b"x")
                producer.flush()
                assert delivery.error is None
        consumer = client.consumer([("t", 0)], reset="earliest")
        records = []
        while len(records) < 60:
            records += consumer.poll()
        stamps = [records[at].timestamp for at in (19, 39, 59)]
        assert round((stamps[1] - stamps[0]) / HOUR) == round(ms / HOUR)
        assert round((stamps[2] - stamps[0]) / HOUR) == 0
