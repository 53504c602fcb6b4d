"""Size limits of a Fetch: the first batch comes whole, then limits are spent in request order.

Sources: KIP-74 (whole first batch, order), ReplicaManager.readFromLocalLog at 2.2.1, Log.read;
clauses FETCH-12, FETCH-14; observed on all five releases.
"""

from touchstone.harness.model.claim import OBSERVED, claim, range_
from touchstone.harness.model.expect import all_of, answer, records
from touchstone.harness.model.scenario import Ask
from touchstone.harness.model.steps import a_topic, fetch
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.fetching import part, question
from touchstone.suites.kit.records import ONE, SIZE, THREE, TWO, batch
from touchstone.suites.kit.topics import a_log, among, appended

PARTS = "responses[0].partitions"


def bytes_of(index: int) -> str:
    return f"{PARTS}[{index}].records"


@claim(
    "fetch.the-first-batch-comes-whole",
    evidence=("FETCH-14", "KIP-74"),
    api="Fetch",
    versions=range_("Fetch", 3),
    where=among(3, 4, 12, 17),
)
def test_the_first_batch_comes_whole(case):
    """From version 3 on Fetch answers the first batch whole, even above max_bytes and
    partition_max_bytes.
    """
    topic = case.topic()
    of_answer = question(case.version, [(topic, [part()])], max_bytes=1)
    of_partition = question(case.version, [(topic, [part(partition_max_bytes=1)])])
    of_nothing = question(case.version, [(topic, [part(partition_max_bytes=0)])], max_bytes=0)
    return case.scenario(
        a_log(topic, batch(ONE), batch(TWO)),
        Ask("Fetch", case.version, of_answer, name="answer"),
        Ask("Fetch", case.version, of_partition, name="partition"),
        Ask("Fetch", case.version, of_nothing, name="nothing"),
        expect=all_of(
            *(records(step, "[*].value").is_([ONE]) for step in ("answer", "partition", "nothing"))
        ),
    )


@claim(
    "fetch.before-version-3-a-large-batch-is-cut",
    evidence=("FETCH-14", "KIP-74"),
    level=OBSERVED,
    api="Fetch",
    versions=range_("Fetch", 0, 2),
    where=among(0, 2),
)
def test_before_version_3_a_large_batch_is_cut(case):
    """Before version 3 a Fetch with partition_max_bytes below its first message answers no whole
    message.
    """
    topic = case.topic()
    return case.scenario(
        a_log(topic, batch(ONE), batch(TWO)),
        fetch(topic, version=case.version, max_wait_ms=0, partition_max_bytes=30, name="fetch"),
        expect=all_of(
            answer("fetch", f"{PARTS}[0].error_code").is_(ErrorCode.NONE),
            answer("fetch", f"{PARTS}[0].high_watermark").is_(2),
            records("fetch").has_length(0),
        ),
    )


@claim(
    "fetch.a-partition-limit-ends-its-records",
    evidence=("FETCH-14", "FETCH-12"),
    api="Fetch",
    versions=range_("Fetch", 4),
    limit=(SIZE, 2 * SIZE - 1, 2 * SIZE),
    where=among(4, 12, 17),
)
def test_a_partition_limit_ends_its_records(case):
    """Fetch cuts a partition's records at partition_max_bytes, even in the middle of a batch."""
    topic = case.topic()
    return case.scenario(
        a_log(topic, batch(ONE), batch(TWO), batch(THREE)),
        fetch(
            topic,
            version=case.version,
            max_wait_ms=0,
            partition_max_bytes=case.limit,
            name="fetch",
        ),
        expect=answer("fetch", bytes_of(0)).has_length(case.limit),
    )


@claim(
    "fetch.later-partitions-get-what-is-left",
    evidence=("FETCH-14",),
    api="Fetch",
    versions=range_("Fetch", 3),
    where=among(4, 12, 17),
)
def test_later_partitions_get_what_is_left(case):
    """Fetch spends max_bytes in request order; a partition beyond it gets no
    records and no error.
    """
    topic = case.topic()
    limit = 2 * SIZE
    there = question(case.version, [(topic, [part(0), part(1)])], max_bytes=limit)
    back = question(case.version, [(topic, [part(1), part(0)])], max_bytes=limit)
    both = question(case.version, [(topic, [part(0), part(1)])], max_bytes=3 * SIZE)
    return case.scenario(
        a_topic(topic, 2),
        appended(topic, batch(ONE), batch(TWO)),
        appended(topic, batch(THREE), batch(ONE), partition=1),
        Ask("Fetch", case.version, there, name="0 then 1"),
        Ask("Fetch", case.version, back, name="1 then 0"),
        Ask("Fetch", case.version, both, name="one and a half"),
        expect=all_of(
            answer("0 then 1", f"{PARTS}[*].partition_index").is_([0, 1]),
            answer("0 then 1", f"{PARTS}[*].error_code").is_([ErrorCode.NONE, ErrorCode.NONE]),
            answer("0 then 1", bytes_of(0)).has_length(limit),
            answer("0 then 1", bytes_of(1)).has_length(0),
            answer("1 then 0", f"{PARTS}[*].partition_index").is_([1, 0]),
            answer("1 then 0", bytes_of(0)).has_length(limit),
            answer("1 then 0", bytes_of(1)).has_length(0),
            answer("one and a half", bytes_of(1)).has_length(SIZE),
        ),
    )


@claim(
    "fetch.empty-partitions-leave-the-first-batch-to-others",
    evidence=("FETCH-14", "KIP-74"),
    api="Fetch",
    versions=range_("Fetch", 3),
    where=among(4, 12, 17),
)
def test_empty_partitions_leave_the_first_batch_to_others(case):
    """The first partition with records answers its first batch whole, even if empty partitions
    precede it.
    """
    topic = case.topic()
    asked = question(case.version, [(topic, [part(0), part(1), part(2)])], max_bytes=1)
    return case.scenario(
        a_topic(topic, 3),
        appended(topic, batch(ONE), partition=1),
        appended(topic, batch(TWO), partition=2),
        Ask("Fetch", case.version, asked, name="fetch"),
        expect=all_of(
            answer("fetch", bytes_of(0)).has_length(0),
            answer("fetch", bytes_of(1)).has_length(SIZE),
            answer("fetch", bytes_of(2)).has_length(0),
        ),
    )
