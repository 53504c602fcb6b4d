"""A broker looks after its logs by the clock: when, how often, and nobody suffers for another."""

from __future__ import annotations

import pytest

from touchstone.reference_impl.broker.data import log_manager
from touchstone.reference_impl.tests.broker.one_broker import NOW, OneBroker
from touchstone.reference_impl.wire.records import build

HOUR = 3_600_000
CHECK, BACKOFF = 300_000, 15_000  # Kafka's defaults


def record(key, at):
    return build(2, [{"key": key, "value": b"value"}], timestamp=at)


def starts_at(one, instant):
    one.now = instant
    one.brokers[0].tick(instant)
    return one.log().log_start_offset


def an_old_record(**how):
    one = OneBroker(**how)
    one.topic(retention_ms=str(HOUR))
    one.store(record(b"k", NOW - 2 * HOUR))
    return one


def test_the_first_look_is_after_half_a_minute_and_then_every_interval():
    one = an_old_record()
    assert starts_at(one, NOW + 29_999) == 0
    assert starts_at(one, NOW + 30_000) == 1
    one.store(record(b"k", NOW - 2 * HOUR))
    assert starts_at(one, NOW + 30_000 + CHECK - 1) == 1
    assert starts_at(one, NOW + 30_000 + CHECK) == 2


def test_settings_say_when():
    quick = {"log.initial.task.delay.ms": "10", "log.retention.check.interval.ms": "20"}
    one = an_old_record(**quick)
    assert [starts_at(one, NOW + late) for late in (9, 10)] == [0, 1]


def test_a_setting_that_changes_holds_from_the_next_look_on():
    one = an_old_record()
    one.cluster.dynamic_configs[""] = {"log.retention.check.interval.ms": "20"}
    assert starts_at(one, NOW + 30_000) == 1
    one.store(record(b"k", NOW - 2 * HOUR))
    assert starts_at(one, NOW + 30_020) == 2


def a_compacted_log(one, name="t", **configs):
    one.topic(name, cleanup_policy="compact", min_cleanable_dirty_ratio="0", **configs)
    log = one.log(name)
    for key in (b"a", b"a"):
        one.store(record(key, NOW), name=name)
    log.roll(NOW)
    return log


def test_the_dirtiest_log_is_cleaned_when_the_cleaner_wakes():
    one = OneBroker()
    log = a_compacted_log(one)
    for late in (BACKOFF - 1, BACKOFF, BACKOFF + 1, BACKOFF + 2, BACKOFF + 3):
        one.brokers[0].tick(NOW + late)
    assert log.cleaned_to == 2 and log.segments[0].size < 2 * 70
    assert one.brokers[0].deadline() == NOW + 30_000, "the retention is next, nothing is dirty"


def test_without_a_cleaner_nothing_is_cleaned():
    one = OneBroker(**{"log.cleaner.enable": "false"})
    log = a_compacted_log(one)
    for late in range(BACKOFF, 9 * BACKOFF, BACKOFF):
        one.brokers[0].tick(NOW + late)
    assert log.cleaned_to == 0


def test_a_log_that_cannot_be_cleaned_is_left_alone(monkeypatch, caplog):
    one = OneBroker()
    bad, good = a_compacted_log(one, "bad"), a_compacted_log(one, "good")
    honest = log_manager.Cleaning.run

    def run(self):
        if self.log is bad:
            raise ValueError("it will not be cleaned")
        yield from honest(self)

    monkeypatch.setattr(log_manager.Cleaning, "run", run)
    for late in range(12):
        one.brokers[0].tick(NOW + BACKOFF + late)
    assert (bad.cleaned_to, good.cleaned_to) == (0, 2)
    assert "bad-0 cannot be cleaned" in caplog.text


def test_a_log_that_fails_does_not_keep_the_others_from_their_retention(monkeypatch, caplog):
    one = an_old_record()
    one.topic("bad", retention_ms="1")
    one.store(record(b"k", NOW - 2 * HOUR), name="bad")
    bad, honest = one.log("bad"), log_manager.retain

    def retain(log, config, now):
        if log is bad:
            raise ValueError("it will not be looked at")
        return honest(log, config, now)

    monkeypatch.setattr(log_manager, "retain", retain)
    assert starts_at(one, NOW + 30_000) == 1
    assert "retention of bad-0 failed" in caplog.text


@pytest.mark.parametrize("planted", [(), ("retention-ignored",)])
def test_the_planted_defect_is_a_defect(planted):
    one = an_old_record(switches=planted)
    assert starts_at(one, NOW + 30_000) == (0 if planted else 1)


def test_producers_that_are_silent_for_long_are_forgotten():
    one = OneBroker(**{"producer.id.expiration.ms": str(HOUR)})
    one.topic()
    for producer, age in ((1, 2 * HOUR), (2, 0)):
        own = {"producer_id": producer, "producer_epoch": 0, "base_sequence": 0}
        one.store(build(2, [b"x"], timestamp=NOW - age, **own))
    one.brokers[0].tick(NOW + 599_999)
    assert set(one.log().producers.producers) == {1, 2}
    one.brokers[0].tick(NOW + 600_000)
    assert set(one.log().producers.producers) == {2}
