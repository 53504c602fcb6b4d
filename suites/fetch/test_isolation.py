"""Isolation levels: a read_committed Fetch ends before the first open transaction.

A transactional batch alone opens a transaction here, as releases before 3.6 allow; since KIP-890
the partition must be added at the coordinator first. So these claims end with 2.8, and
suites/transactions makes them of every release.

Sources: KIP-98, Log.fetchUpperBound at 2.2.1; clauses FETCH-03, META-01.
"""

from touchstone.harness.model.claim import claim, range_
from touchstone.harness.model.expect import all_of, answer, records
from touchstone.harness.model.placeholders import Ref
from touchstone.harness.model.steps import fetch, init_producer_id, produce
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.records import ONE, THREE, TWO, batch
from touchstone.suites.kit.topics import a_log, among

READ_UNCOMMITTED, READ_COMMITTED = 0, 1
PARTITION = "responses[0].partitions[0]"
ROW = "topics[0].partitions[0]"


def an_open_transaction(case, topic):
    """A log of a committed record, then two of which the first's transaction is open."""
    transaction = case.transactional_id()
    held = batch(
        TWO,
        producer_id=Ref("producer", "producer_id"),
        producer_epoch=Ref("producer", "producer_epoch"),
        base_sequence=0,
        transactional=True,
    )
    return [
        a_log(topic, batch(ONE)),
        init_producer_id(name="producer"),
        produce(topic, 0, held, transactional_id=transaction, name="open"),
        produce(topic, 0, batch(THREE), name="behind it"),
    ]


@claim(
    "fetch.read-committed-stops-at-the-last-stable-offset",
    evidence=("FETCH-03", "KIP-98"),
    api="Fetch",
    versions=range_("Fetch", 4),
    releases="1.0-2.8",
    switches=("hw-ignored",),
    where=among(4, 6, 10, 12),
)
def test_read_committed_stops_at_the_last_stable_offset(case):
    """A read_committed Fetch ends at the last stable offset, before the first open transaction;
    read_uncommitted reads on.
    """
    topic = case.topic()
    return case.scenario(
        an_open_transaction(case, topic),
        fetch(
            topic, version=case.version, max_wait_ms=0, isolation=READ_COMMITTED, name="committed"
        ),
        fetch(topic, version=case.version, max_wait_ms=0, name="uncommitted"),
        fetch(
            topic, 0, 1, version=case.version, max_wait_ms=0, isolation=READ_COMMITTED, name="at it"
        ),
        expect=all_of(
            answer("open", "responses[0].partition_responses[0].error_code").is_(ErrorCode.NONE),
            answer("committed", f"{PARTITION}.last_stable_offset").is_(1),
            answer("committed", f"{PARTITION}.high_watermark").is_(3),
            answer("committed", f"{PARTITION}.aborted_transactions").has_length(0),
            records("committed", "[*].value").is_([ONE]),
            records("uncommitted", "[*].value").is_([ONE, TWO, THREE]),
            answer("at it", f"{PARTITION}.records").has_length(0),
        ),
    )


@claim(
    "fetch.a-committed-log-is-the-same-for-both-isolations",
    evidence=("FETCH-03", "KIP-98"),
    api="Fetch",
    versions=range_("Fetch", 4),
    where=among(4, 12, 17),
)
def test_a_committed_log_is_the_same_for_both_isolations(case):
    """Without transactions the last stable offset is the high watermark and no transaction is
    listed as aborted.
    """
    topic = case.topic()
    return case.scenario(
        a_log(topic, batch(ONE), batch(TWO)),
        fetch(
            topic, version=case.version, max_wait_ms=0, isolation=READ_COMMITTED, name="committed"
        ),
        expect=all_of(
            answer("committed", f"{PARTITION}.last_stable_offset").is_(2),
            answer("committed", f"{PARTITION}.aborted_transactions").has_length(0),
            records("committed", "[*].value").is_([ONE, TWO]),
        ),
    )
