"""What ListOffsets refuses: what is not there, the same partition twice, wrong leader epochs.

Sources: KafkaApis.handleListOffsetRequest at 1.0.2, 2.2.1 and 3.9; KIP-320; clause META-05.
"""

from touchstone.harness.model.claim import OBSERVED, claim, every, range_
from touchstone.harness.model.expect import all_of, answer, refused
from touchstone.harness.model.scenario import Ask, Frame, Raw
from touchstone.harness.model.steps import LATEST, a_topic, list_offsets, metadata
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.records import ONE, batch
from touchstone.suites.kit.topics import a_log, among

ROW = "topics[0].partitions[0]"


def rows(*partitions, timestamp=LATEST):
    """Partitions of a ListOffsets body."""
    return [
        {
            "partition_index": index,
            "current_leader_epoch": -1,
            "timestamp": timestamp,
            "max_num_offsets": 1,
        }
        for index in partitions
    ]


@claim(
    "offsets.unknown-topics-and-partitions-are-refused",
    evidence=("META-05",),
    api="ListOffsets",
    versions=every("ListOffsets"),
    where=among(0, 1, 4, 6, 9, 11),
)
def test_unknown_topics_and_partitions_are_refused(case):
    """ListOffsets answers UNKNOWN_TOPIC_OR_PARTITION for a topic or partition that does not
    exist."""
    topic, nowhere = case.topic(), case.topic("nowhere")
    asked = {"topic": (nowhere, 0), "partition": (topic, 3), "negative": (topic, -1)}
    return case.scenario(
        a_topic(topic),
        [
            list_offsets(of, index, version=case.version, name=word)
            for word, (of, index) in asked.items()
        ],
        expect=all_of(
            *(
                answer(word, f"{ROW}.error_code").is_(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
                for word in asked
            )
        ),
    )


@claim(
    "offsets.others-are-answered-beside-the-unknown",
    evidence=("META-05",),
    api="ListOffsets",
    versions=every("ListOffsets"),
    where=among(0, 1, 5, 9),
)
def test_others_are_answered_beside_the_unknown(case):
    """ListOffsets answers the other partitions of a topic although one does not exist."""
    topic = case.topic()
    codes = "topics[0].partitions[*].error_code"
    return case.scenario(
        a_topic(topic, 2),
        list_offsets(topic, 0, 1, 2, version=case.version, name="ask"),
        expect=all_of(
            answer("ask", codes).contains(ErrorCode.NONE),
            answer("ask", codes).contains(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
            answer("ask", codes).has_length(3),
        ),
    )


@claim(
    "offsets.a-partition-asked-for-twice-is-refused",
    evidence=("META-05",),
    api="ListOffsets",
    versions=range_("ListOffsets", 1),
    where=among(1, 2, 5, 6, 9, 11),
)
def test_a_partition_asked_for_twice_is_refused(case):
    """ListOffsets since version 1 answers INVALID_REQUEST for a partition that the request names
    twice."""
    topic = case.topic()
    body = {
        "replica_id": -1,
        "isolation_level": 0,
        "topics": [{"name": topic, "partitions": rows(0, 0, 1)}],
    }
    return case.scenario(
        a_topic(topic, 2),
        Ask("ListOffsets", case.version, body, name="ask"),
        expect=all_of(
            answer("ask", "topics[0].partitions[*].error_code").contains(ErrorCode.INVALID_REQUEST),
            answer("ask", "topics[0].partitions[*].error_code").contains(ErrorCode.NONE),
        ),
    )


@claim(
    "offsets.of-no-topic-is-answered",
    evidence=("META-05",),
    api="ListOffsets",
    versions=every("ListOffsets"),
    where=among(0, 1, 6, 11),
)
def test_of_no_topic_is_answered(case):
    """ListOffsets without topics answers with no topics."""
    topic = case.topic()
    bare = {"replica_id": -1, "topics": [{"name": topic, "partitions": []}]}
    return case.scenario(
        a_topic(topic),
        Ask("ListOffsets", case.version, {"replica_id": -1, "topics": []}, name="none"),
        Ask("ListOffsets", case.version, bare, name="bare"),
        expect=answer("none", "topics").has_length(0),
    )


@claim(
    "offsets.unknown-leader-epochs-are-refused",
    evidence=("KIP-320", "META-05"),
    api="ListOffsets",
    versions=range_("ListOffsets", 4),
    where=among(4, 5, 6, 9, 11),
)
def test_unknown_leader_epochs_are_refused(case):
    """ListOffsets since version 4 answers UNKNOWN_LEADER_EPOCH and offset -1 for a
    current_leader_epoch that is newer than the leader's."""
    topic = case.topic()
    return case.scenario(
        a_log(topic, batch(ONE)),
        list_offsets(topic, version=case.version, current_leader_epoch=3, name="newer"),
        list_offsets(topic, version=case.version, current_leader_epoch=0, name="right"),
        expect=all_of(
            answer("newer", f"{ROW}.error_code").is_(ErrorCode.UNKNOWN_LEADER_EPOCH),
            answer("newer", f"{ROW}.offset").is_(-1),
            answer("right", f"{ROW}.error_code").is_(ErrorCode.NONE),
            answer("right", f"{ROW}.offset").is_(1),
            answer("right", f"{ROW}.leader_epoch").is_(0),
        ),
    )


@claim(
    "offsets.unknown-isolation-levels-close-the-connection",
    evidence=("observed on 1.0.2 and 2.2.1",),
    level=OBSERVED,
    api="ListOffsets",
    versions=range_("ListOffsets", 2),
    releases="1.0-2.2",
    where=among(2, 5),
)
def test_unknown_isolation_levels_close_the_connection(case):
    """ListOffsets with an unknown isolation level closes the connection up to 2.2."""
    topic = case.topic()
    body = {
        "replica_id": -1,
        "isolation_level": 2,
        "topics": [{"name": topic, "partitions": rows(0)}],
    }
    return case.scenario(
        a_topic(topic),
        Raw(Frame("ListOffsets", case.version, body), name="ask", connection="b", expect="close"),
        metadata(name="after"),
        expect=refused("ask"),
    )
