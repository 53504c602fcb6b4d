"""OffsetForLeaderEpoch: where an epoch of the leader ended, so that a reader can cut its log there.

A consumer asks with replica id -1. On a single broker every record is of epoch 0.

Sources: KIP-101, KIP-279, KIP-320; Partition.lastOffsetForLeaderEpoch at 2.2.1.
"""

from touchstone.harness.model.claim import claim, every, range_
from touchstone.harness.model.expect import all_of, answer
from touchstone.harness.model.steps import a_topic, offset_for_leader_epoch
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.records import ONE, TWO, batch
from touchstone.suites.kit.topics import a_log

ROW = "topics[0].partitions[0]"


@claim(
    "offsets.the-current-epoch-ends-at-the-log-end",
    evidence=("KIP-101", "KIP-279"),
    api="OffsetForLeaderEpoch",
    versions=every("OffsetForLeaderEpoch"),
)
def test_the_current_epoch_ends_at_the_log_end(case):
    """OffsetForLeaderEpoch returns the log end for the current leader epoch and -1 for a later or
    negative one."""
    topic = case.topic()
    return case.scenario(
        a_log(topic, batch(ONE, TWO)),
        offset_for_leader_epoch(topic, 0, 0, version=case.version, name="current"),
        offset_for_leader_epoch(topic, 0, 5, version=case.version, name="later"),
        offset_for_leader_epoch(topic, 0, -1, version=case.version, name="none"),
        expect=all_of(
            answer("current", f"{ROW}.error_code").is_(ErrorCode.NONE),
            answer("current", f"{ROW}.end_offset").is_(2),
            answer("later", f"{ROW}.end_offset").is_(-1),
            answer("none", f"{ROW}.end_offset").is_(-1),
        ),
    )


@claim(
    "offsets.epochs-of-unknown-partitions-are-refused",
    evidence=("KIP-101",),
    api="OffsetForLeaderEpoch",
    versions=every("OffsetForLeaderEpoch"),
)
def test_epochs_of_unknown_partitions_are_refused(case):
    """OffsetForLeaderEpoch answers UNKNOWN_TOPIC_OR_PARTITION for a topic or partition that does
    not exist."""
    topic, nowhere = case.topic(), case.topic("nowhere")
    return case.scenario(
        a_topic(topic),
        offset_for_leader_epoch(topic, 4, 0, version=case.version, name="partition"),
        offset_for_leader_epoch(nowhere, 0, 0, version=case.version, name="topic"),
        expect=all_of(
            answer("partition", f"{ROW}.error_code").is_(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
            answer("topic", f"{ROW}.error_code").is_(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ),
    )


@claim(
    "offsets.epochs-are-fenced-by-the-askers-epoch",
    evidence=("KIP-320",),
    api="OffsetForLeaderEpoch",
    versions=range_("OffsetForLeaderEpoch", 2),
)
def test_epochs_are_fenced_by_the_askers_epoch(case):
    """OffsetForLeaderEpoch since version 2 answers UNKNOWN_LEADER_EPOCH for a current_leader_epoch
    that is newer than the leader's."""
    topic = case.topic()
    return case.scenario(
        a_log(topic, batch(ONE)),
        offset_for_leader_epoch(
            topic, 0, 0, version=case.version, current_leader_epoch=4, name="newer"
        ),
        offset_for_leader_epoch(
            topic, 0, 0, version=case.version, current_leader_epoch=0, name="right"
        ),
        expect=all_of(
            answer("newer", f"{ROW}.error_code").is_(ErrorCode.UNKNOWN_LEADER_EPOCH),
            answer("right", f"{ROW}.end_offset").is_(1),
        ),
    )
