"""The latest offset a reader of committed records may have: the last stable one.

A transaction is opened by a transactional batch alone, as releases before 3.6 let a producer do.

Sources: KIP-98, ReplicaManager.fetchOffsetForTimestamp at 2.2.1; clause META-01.
"""

from touchstone.harness.model.claim import claim, range_
from touchstone.harness.model.expect import all_of, answer
from touchstone.harness.model.placeholders import Now, Ref
from touchstone.harness.model.steps import EARLIEST, init_producer_id, list_offsets, produce
from touchstone.suites.kit.records import ONE, THREE, TWO, batch
from touchstone.suites.kit.topics import a_log, among

READ_COMMITTED = 1
ROW = "topics[0].partitions[0]"


@claim(
    "offsets.read-committed-latest-is-the-last-stable-offset",
    evidence=("META-01", "KIP-98"),
    api="ListOffsets",
    versions=range_("ListOffsets", 2),
    releases="1.0-2.8",
    where=among(2, 4, 5, 6),
)
def test_read_committed_latest_is_the_last_stable_offset(case):
    """ListOffsets with read_committed returns the offset at which the first open transaction begins
    for timestamp -1."""
    topic = case.topic()
    held = batch(
        TWO,
        at=1000,
        producer_id=Ref("producer", "producer_id"),
        producer_epoch=Ref("producer", "producer_epoch"),
        base_sequence=0,
        transactional=True,
    )
    committed = {"version": case.version, "isolation": READ_COMMITTED}
    return case.scenario(
        a_log(topic, batch(ONE)),
        init_producer_id(name="producer"),
        produce(topic, 0, held, transactional_id=case.transactional_id(), name="open"),
        produce(topic, 0, batch(THREE, at=2000), name="behind it"),
        list_offsets(topic, **committed, name="committed"),
        list_offsets(topic, version=case.version, name="uncommitted"),
        list_offsets(topic, timestamp=EARLIEST, **committed, name="earliest"),
        list_offsets(topic, timestamp=Now(1000), **committed, name="by time"),
        expect=all_of(
            answer("committed", f"{ROW}.offset").is_(1),
            answer("uncommitted", f"{ROW}.offset").is_(3),
            answer("earliest", f"{ROW}.offset").is_(0),
            answer("by time", f"{ROW}.offset").is_(-1),
        ),
    )
