"""Which aborted transactions a read of committed records is told of (KIP-98, LOG-28)."""

from __future__ import annotations

from touchstone.reference_impl.log.rules import COORDINATOR
from touchstone.reference_impl.tests.broker.one_broker import NOW, OneBroker
from touchstone.reference_impl.wire.records import build
from touchstone.reference_impl.wire.records.control import ABORT, COMMIT, marker_batch

PRODUCER = 7


def a_log(kinds, switches=()):
    """A broker whose log has one transaction of each kind, two offsets each."""
    broker = OneBroker(switches=switches)
    broker.topic()
    log = broker.log()
    for number, kind in enumerate(kinds):
        log.append(
            build(
                2, [b"v" * 50], timestamp=NOW, producer_id=PRODUCER, producer_epoch=0,
                base_sequence=number, transactional=True,
            ),
            now=NOW,
        )  # fmt: skip
        if kind is not None:
            log.append(
                marker_batch(
                    kind, producer_id=PRODUCER, producer_epoch=0, coordinator_epoch=0,
                    timestamp=NOW,
                ),
                now=NOW, origin=COORDINATOR,
            )  # fmt: skip
    return broker, log


def fetched(broker, offset=0, max_bytes=1 << 20):
    row = {"partition": 0, "fetch_offset": offset, "partition_max_bytes": max_bytes}
    body = {
        "max_wait_ms": 0,
        "min_bytes": 1,
        "max_bytes": 1 << 20,
        "isolation_level": 1,
        "session_epoch": -1,
        "topics": [{"topic": "t", "partitions": [row]}],
    }
    part = broker.ask("Fetch", 11, body)["responses"][0]["partitions"][0]
    return part["last_stable_offset"], [a["first_offset"] for a in part["aborted_transactions"]]


def test_a_cut_answer_lists_what_concerns_it():
    broker, log = a_log([ABORT] * 50)
    log.advance_high_watermark(log.log_end_offset)
    assert fetched(broker) == (100, list(range(0, 100, 2)))
    _, listed = fetched(broker, 10, 400)
    assert listed[0] == 10 and len(listed) < 5


def test_only_aborts_are_listed():
    broker, log = a_log([COMMIT, ABORT, COMMIT])
    log.advance_high_watermark(log.log_end_offset)
    assert fetched(broker) == (6, [2])


def test_a_marker_that_is_not_replicated_holds_readers_back():
    broker, log = a_log([COMMIT, ABORT])
    log.advance_high_watermark(3)  # its marker is at 3
    assert fetched(broker)[0] == 2
    log.advance_high_watermark(4)
    assert fetched(broker) == (4, [2])


def test_the_planted_defects_show():
    broker, log = a_log([ABORT, None], switches=("aborted-visible",))
    log.advance_high_watermark(log.log_end_offset)
    assert fetched(broker) == (2, [])
    broker, log = a_log([ABORT, None], switches=("lso-ignored",))
    log.advance_high_watermark(log.log_end_offset)
    assert fetched(broker)[0] == 3
