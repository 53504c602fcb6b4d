"""What a second and a third cleaning make of what the first one left.

Sessions of groups are the clock: their member is gone after a second of silence.

Sources: KIP-534 (delete horizon); RecordBatch.deleteHorizonMs, MemoryRecords.filterTo at 3.9.2 and
4.3.1; clause LOG-24.
"""

from touchstone.harness.model.claim import claim, only
from touchstone.harness.model.expect import all_of, batches, records
from touchstone.harness.model.scenario import Until
from touchstone.harness.model.steps import alter_configs, fetch, produce
from touchstone.suites.kit import groups
from touchstone.suites.kit.records import ONE, TWO, keyed
from touchstone.suites.kit.segments import (
    BYTES,
    COMPACT,
    END,
    FAST_LOG_MANAGER,
    FIRST,
    LAST,
    MINUTE,
    NEXT,
    RECORD,
    SECOND,
    SEGMENT_MS,
    TOMBSTONE,
    A,
    B,
    C,
    cleaned,
    closing,
    segmented,
    shrunk,
)
from touchstone.suites.rebalance.test_timeouts import paused

RETENTION_MS = 4000
HORIZON = 0x40  # the attribute of a batch that has one


@claim("log.a-tombstones-end-is-set-once", evidence=("LOG-24", "KIP-534"), api="Fetch",
       versions=only("Fetch", 4), releases="3.9+",
       config=FAST_LOG_MANAGER | groups.CLUSTER)  # fmt: skip
def test_a_tombstones_end_is_set_once(case):
    """A tombstone is removed by the first cleaning later than delete.retention.ms after the one
    that left it first, although another cleaning left it again meanwhile."""
    topic = case.topic()
    configs = {"segment.ms": SEGMENT_MS, "delete.retention.ms": RETENTION_MS}
    many = keyed(A, ONE, at=FIRST), keyed(B, ONE, at=FIRST), keyed(A, None, at=SECOND)
    return case.scenario(
        groups.coordinated(case.group("other0")),
        segmented(topic, *many, closing(NEXT), configs=configs),
        alter_configs(topic, configs | COMPACT, name="compact"),
        shrunk(topic, 2 * RECORD + TOMBSTONE),
        [paused(case, n) for n in (0, 1)],
        produce(topic, 0, keyed(C, ONE, at=LAST), name="more"),
        Until(fetch(topic, name="again", max_wait_ms=0), BYTES, "len >=", 2 * RECORD + TOMBSTONE),
        [paused(case, n) for n in (2, 3, 4)],
        produce(topic, 0, keyed(C, TWO, at=MINUTE), name="still more"),
        cleaned(topic, 3 * RECORD, name="at last"),
        expect=all_of(
            records("cleaned", "[*].key").is_([B, A]),
            batches("again", "[1].attributes").is_(HORIZON),
            records("again", "[*].key").is_([B, A, END]),
            records("at last", "[*].key").is_([B, END, C]),
        ),
    )
