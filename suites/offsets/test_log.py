"""What a commit leaves in `__consumer_offsets`: keys, values, tombstones, and in which partition.

Each case notes where the log ends, does something and reads from there; only records of its own
group and topic are compared, opened (harness/judgement/internal_logs.py).

Sources: GroupMetadataManager.storeOffsets, storeGroup, cleanupGroupMetadata at 1.0.2, 2.2.1,
2.8.2; OffsetMetadataManager and GroupCoordinatorRecordHelpers at 4.3; schemas OffsetCommitKey,
OffsetCommitValue, GroupMetadataValue.
"""

from touchstone.harness.model.claim import claim, range_
from touchstone.harness.model.expect import all_of, answer, by_release, own_batches
from touchstone.harness.model.scenario import Until
from touchstone.harness.model.steps import a_topic, delete_topic, describe_configs
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.groups import delete, delete_offsets
from touchstone.suites.kit.internal_logs import OFFSETS as LOG
from touchstone.suites.kit.internal_logs import log_end, since
from touchstone.suites.kit.offsets import (
    CLUSTER,
    CODE,
    MEMBER,
    OWN,
    a_group,
    a_member,
    commit,
    fetch,
    leave,
    part,
    rows,
    serving,
    subscription,
)
from touchstone.suites.kit.transactions import (
    ABORT,
    COMMIT,
    PRODUCER,
    a_producer,
    add_offsets,
    commit_offset,
    ended,
)

READ = "responses[0].partitions[0]"
OFFSET_COMMIT, GROUP_METADATA = 1, 2  # kinds of records, as their keys begin
TRANSACTIONAL, CONTROL = 0x10, 0x20  # of a batch's attributes
OF_COMMITS = {"api": "OffsetCommit", "versions": range_("OffsetCommit", 1), "config": CLUSTER}
OLDEST = OF_COMMITS | {"versions": range_("OffsetCommit", 2, 2)}
# Group ids and their partition of 50: Java's String.hashCode, its absolute value, modulo.
PLACES = {
    "test": 48,
    "csmr_grp_01": 19,
    "消费组": 35,
    "😀": 49,
    "polygenelubricants": 0,
    "my-group": 12,
}


@claim(
    "offsets.commits-are-records-of-the-offsets-topic",
    evidence=("OFFS-17", "OFFS-22"),
    switches=("commit-not-logged",),
    **OF_COMMITS,
)
def test_commits_are_records_of_the_offsets_topic(case):
    """OffsetCommit appends one batch to __consumer_offsets, with a record of key version 1 for each
    partition."""
    topic, group, steps = a_group(case)
    sent = [part(5, 0, committed_metadata="m"), part(6, 1)]
    return case.scenario(
        steps,
        log_end(LOG),
        rows(group, [(topic, sent)], version=case.version, name="ask"),
        since(LOG),
        expect=all_of(
            answer("ask", CODE).is_(ErrorCode.NONE),
            own_batches("log", "[*].records[*].kind").is_([[OFFSET_COMMIT, OFFSET_COMMIT]]),
            own_batches("log", "[*].records[*].key.partition").is_([[0, 1]]),
        ),
    )


@claim(
    "offsets.leader-epochs-are-records-too",
    evidence=("OFFS-22", "KIP-320"),
    **OF_COMMITS | {"versions": range_("OffsetCommit", 6), "releases": "2.2+"},
)
def test_leader_epochs_are_records_too(case):
    """OffsetCommit writes the leader epoch into the record's value, whose version is then 3, and 4
    since 4.x."""
    topic, group, steps = a_group(case)
    fields = {"committed_leader_epoch": 4}
    return case.scenario(
        steps,
        log_end(LOG),
        commit(group, topic, fields=fields, version=case.version, name="ask"),
        since(LOG),
        expect=all_of(
            answer("ask", CODE).is_(ErrorCode.NONE),
            own_batches("log", "[*].records[*].value.leader_epoch").is_([[4]]),
            by_release(
                {
                    "2.2-3.9": own_batches("log", "[*].records[*].version").is_([[3]]),
                    "4.3+": own_batches("log", "[*].records[*].version").is_([[4]]),
                }
            ),
        ),
    )


@claim(
    "offsets.retention-times-are-in-the-record",
    evidence=("OFFS-22", "OFFS-23", "KIP-211"),
    **OF_COMMITS | {"versions": range_("OffsetCommit", 2, 4)},
)
def test_retention_times_are_in_the_record(case):
    """OffsetCommit with retention_time_ms writes a value of version 1, which contains the expiry
    time."""
    topic, group, steps = a_group(case)
    return case.scenario(
        steps,
        log_end(LOG),
        commit(group, topic, retention=3_600_000, version=case.version, name="ask"),
        since(LOG),
        expect=all_of(
            answer("ask", CODE).is_(ErrorCode.NONE),
            own_batches("log", "[*].records[*].version").is_([[1]]),
            own_batches("log", "[*].records[*].value.expires_after").is_([[3_600_000]]),
        ),
    )


@claim("offsets.refused-rows-are-not-in-the-log", evidence=("OFFS-16", "OFFS-17"), **OF_COMMITS)
def test_refused_rows_are_not_in_the_log(case):
    """OffsetCommit writes records only for the partitions that it accepts."""
    topic, group, steps = a_group(case)
    sent = [part(5, 0, committed_metadata="m" * 4097), part(6, 1)]
    return case.scenario(
        steps,
        log_end(LOG),
        rows(group, [(topic, sent)], version=case.version, name="ask"),
        commit(group, topic, 9, member="m", generation=4, version=case.version, name="refused"),
        since(LOG),
        expect=all_of(
            answer("ask", "topics[0].partitions[*].error_code").contains(
                ErrorCode.OFFSET_METADATA_TOO_LARGE
            ),
            answer("refused", CODE).is_(ErrorCode.UNKNOWN_MEMBER_ID),
            own_batches("log", "[*].records[*].key.partition").is_([[1]]),
            own_batches("log", "[*].records[*].value.offset").is_([[6]]),
        ),
    )


@claim(
    "offsets.groups-are-records-of-the-offsets-topic",
    evidence=("OFFS-22", "GROUP-18"),
    **OLDEST,
)
def test_groups_are_records_of_the_offsets_topic(case):
    """A classic group writes one record for each generation, with its members, and one without
    members when the last one leaves."""
    topic, group, steps = a_group(case)
    return case.scenario(
        steps,
        log_end(LOG),
        a_member(group, metadata=subscription(topic)),
        commit(group, topic, version=case.version, **OWN, name="ask"),
        leave(group, "left", member=MEMBER),
        since(LOG),
        expect=all_of(
            answer("ask", CODE).is_(ErrorCode.NONE),
            by_release(
                {
                    "1.0-3.9": all_of(
                        own_batches("log", "[*].records[*].kind").is_(
                            [[GROUP_METADATA], [OFFSET_COMMIT], [GROUP_METADATA]]
                        ),
                        own_batches("log", "[0].records[0].value.members").has_length(1),
                        own_batches("log", "[2].records[0].value.members").has_length(0),
                    ),
                    "4.3+": all_of(
                        own_batches("log", "[*].records[*].kind").is_(
                            [[GROUP_METADATA], [GROUP_METADATA], [OFFSET_COMMIT], [GROUP_METADATA]]
                        ),
                        own_batches("log", "[1].records[0].value.members").has_length(1),
                        own_batches("log", "[3].records[0].value.members").has_length(0),
                    ),
                }
            ),
        ),
    )


@claim(
    "offsets.deleted-offsets-leave-tombstones",
    evidence=("OFFS-22", "KIP-496"),
    api="OffsetDelete",
    versions=range_("OffsetDelete", 0),
    config=CLUSTER,
)
def test_deleted_offsets_leave_tombstones(case):
    """OffsetDelete writes a tombstone for each offset that it removes."""
    topic, group, steps = a_group(case)
    return case.scenario(
        steps,
        commit(group, topic, name="sent"),
        log_end(LOG),
        delete_offsets(group, topic, 0, 1, name="ask"),
        Until(since(LOG), f"{READ}.error_code", "==", ErrorCode.NONE),
        expect=all_of(
            answer("ask", CODE).is_(ErrorCode.NONE),
            own_batches("log", "[*].records[*].kind").is_([[OFFSET_COMMIT]]),
            own_batches("log", "[*].records[*].value").is_([[None]]),
        ),
    )


@claim(
    "offsets.deleted-groups-leave-tombstones",
    evidence=("OFFS-24", "KIP-229"),
    switches=("group-tombstones-missing",),
    api="DeleteGroups",
    versions=range_("DeleteGroups", 0),
    config=CLUSTER,
    lived=(True, False),
    full=True,
)
def test_deleted_groups_leave_tombstones(case):
    """DeleteGroups writes a tombstone for each offset and for the group itself, before 4.x only if
    the group had a generation."""
    topic, group, steps = a_group(case)
    before = (
        [
            a_member(group),
            commit(group, topic, **OWN, name="sent"),
            leave(group, "left", member=MEMBER),
        ]
        if case.lived
        else [commit(group, topic, name="sent")]
    )
    both = own_batches("log", "[*].records[*].kind").is_([[OFFSET_COMMIT, GROUP_METADATA]])
    one = own_batches("log", "[*].records[*].kind").is_([[OFFSET_COMMIT]])
    return case.scenario(
        steps,
        before,
        log_end(LOG),
        delete(group, version=case.version, name="ask"),
        since(LOG),
        expect=all_of(
            answer("ask", "results[0].error_code").is_(ErrorCode.NONE),
            by_release({"2.2-3.9": both if case.lived else one, "4.3+": both}),
            own_batches("log", "[*].records[*].value").each_is(None),
        ),
    )


@claim(
    "offsets.deleted-topics-leave-tombstones",
    evidence=("OFFS-24",),
    api="DeleteTopics",
    versions=range_("DeleteTopics", 1, 1),
    config=CLUSTER,
)
def test_deleted_topics_leave_tombstones(case):
    """Deleting a topic removes each of its offsets with a tombstone."""
    topic, group, steps = a_group(case)
    return case.scenario(
        steps,
        rows(group, [(topic, [part(5), part(6, 1)])], name="sent"),
        log_end(LOG),
        delete_topic(topic, version=case.version, name="ask"),
        Until(fetch(group, None, version=2, name="after"), "topics", "==", []),
        since(LOG),
        expect=all_of(
            answer("after", "topics").is_([]),
            own_batches("log", "[*].records[*].key.partition").is_([[0, 1]]),
            own_batches("log", "[*].records[*].value").is_([[None, None]]),
        ),
    )


@claim(
    "offsets.transactions-are-batches-of-their-own",
    evidence=("KIP-98", "OFFS-22"),
    api="TxnOffsetCommit",
    versions=range_("TxnOffsetCommit", 0),
    config=CLUSTER,
    end=(COMMIT, ABORT),
    full=True,
)
def test_transactions_are_batches_of_their_own(case):
    """TxnOffsetCommit writes a transactional batch of the producer, which a commit or abort marker
    ends."""
    topic, group, steps = a_group(case)
    transaction = case.transactional_id()
    return case.scenario(
        steps,
        a_producer(transaction),
        log_end(LOG),
        add_offsets(transaction, group, name="group added"),
        commit_offset(transaction, group, topic, 7, version=case.version, name="ask"),
        ended(transaction, case.end),
        since(LOG),
        expect=all_of(
            answer("ask", CODE).is_(ErrorCode.NONE),
            own_batches("log", "[*].attributes").is_([TRANSACTIONAL, TRANSACTIONAL | CONTROL]),
            own_batches("log", "[*].producer_id").is_([PRODUCER, PRODUCER]),
            own_batches("log", "[1].records[0].key").is_(
                b"\0\0\0\1" if case.end == COMMIT else b"\0\0\0\0"
            ),
        ),
    )


@claim(
    "offsets.the-offsets-topic-is-compacted",
    evidence=("OFFS-22",),
    api="DescribeConfigs",
    versions=range_("DescribeConfigs", 0, 2),
    config=CLUSTER,
)
def test_the_offsets_topic_is_compacted(case):
    """__consumer_offsets has cleanup.policy=compact."""
    _, group, steps = a_group(case)
    keys = ("cleanup.policy", "segment.bytes", "compression.type")
    return case.scenario(
        steps,
        describe_configs(LOG, *keys, version=case.version, name="ask"),
        expect=answer("ask", "results[0].configs[*].value").contains("compact"),
    )


@claim(
    "offsets.the-offsets-topic-has-segments-as-told",
    evidence=("OFFS-22",),
    api="DescribeConfigs",
    versions=range_("DescribeConfigs", 0, 1),
    config=CLUSTER | {"offsets.topic.segment.bytes": "2000000"},
)
def test_the_offsets_topic_has_segments_as_told(case):
    """__consumer_offsets has the segment.bytes that offsets.topic.segment.bytes says."""
    _, group, steps = a_group(case)
    return case.scenario(
        steps,
        describe_configs(LOG, "segment.bytes", version=case.version, name="ask"),
        expect=answer("ask", "results[0].configs[0].value").is_("2000000"),
    )


@claim(
    "offsets.groups-have-a-partition-by-java-hash",
    evidence=("OFFS-14", "OFFS-15", "GROUP-03"),
    switches=("groups-placed-by-mask",),
    capabilities=("offsets-in-50-partitions",),
    called=tuple(PLACES),
    full=True,
    api="OffsetCommit",
    versions=range_("OffsetCommit", 2, 2),
)
def test_groups_have_a_partition_by_java_hash(case):
    """The records of a group are in partition abs(hashCode of its id) mod 50 of __consumer_offsets,
    where abs of -2147483648 is 0."""
    topic, group, place = case.topic(), case.called, PLACES[case.called]
    return case.scenario(
        a_topic(topic),
        serving(group, topic),
        log_end(LOG, place),
        commit(group, topic, name="ask"),
        since(LOG, place),
        expect=all_of(
            answer("ask", CODE).is_(ErrorCode.NONE),
            own_batches("log", "[*].records[*].key.group").is_([[group]]),
        ),
    )
