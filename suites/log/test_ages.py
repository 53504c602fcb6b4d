"""How old a segment is whose batches are of different instants, and which of them count.

Sources: Log.deleteOldSegments, LogSegment.largestTimestamp at 1.0.2, 2.8.2; UnifiedLog and
LocalLog at 3.9.2 and 4.3.1; clause LOG-17.
"""

from touchstone.harness.model.claim import claim
from touchstone.harness.model.expect import all_of, answer
from touchstone.harness.model.placeholders import Now
from touchstone.harness.model.steps import alter_configs, list_offsets
from touchstone.suites.kit.records import ONE, THREE, TWO, batch
from touchstone.suites.kit.segments import (
    FOREVER,
    LOOK,
    MINUTE,
    OLD,
    OLDER,
    TEN_MINUTES,
    earliest,
    retention_passes,
    segmented,
    starts_at,
    stays_at,
)

WIDE = TEN_MINUTES | {"segment.ms": 58 * MINUTE}
YOUNG = -5 * MINUTE
ROW = "topics[0].partitions[0]"


@claim("log.one-young-batch-keeps-its-segment", evidence=("LOG-17",), young=("last", "between"),
       releases="3.9+", **LOOK)  # fmt: skip
def test_one_young_batch_keeps_its_segment(case):
    """Retention keeps a segment one of whose batches is younger than retention.ms, also where its
    other batches are older: those before it, and those behind it."""
    topic = case.topic()
    behind = [batch(TWO, at=OLD + MINUTE)] if case.young == "between" else []
    many = [batch(ONE, at=OLDER), batch(ONE, at=OLD), batch(TWO, at=YOUNG), *behind, batch(THREE)]
    return case.scenario(
        segmented(topic, *many, configs=WIDE | FOREVER),  # else its old part goes alone
        alter_configs(topic, WIDE, name="from now on"),
        starts_at(topic, 1),
        retention_passes(case.topic("witness")),
        earliest(topic, "after"),
        list_offsets(topic, timestamp=Now(OLD), name="by time"),
        expect=all_of(stays_at(1, "after"), answer("by time", f"{ROW}.offset").is_(1)),
    )


@claim("log.a-segment-goes-when-all-of-it-is-old", evidence=("LOG-16", "LOG-17"),
       releases="3.9+", **LOOK)  # fmt: skip
def test_a_segment_goes_when_all_of_it_is_old(case):
    """Retention deletes a segment of several batches once its newest is older than retention.ms,
    with all of them."""
    topic = case.topic()
    many = batch(ONE, at=OLD), batch(TWO, at=-20 * MINUTE), batch(ONE, at=-30 * MINUTE)
    return case.scenario(
        segmented(topic, *many, batch(THREE), configs=WIDE),
        starts_at(topic, 3),
        list_offsets(topic, timestamp=Now(OLD), name="by time"),
        expect=answer("by time", f"{ROW}.offset").is_(3),
    )
