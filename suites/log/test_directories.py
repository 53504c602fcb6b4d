"""DescribeLogDirs and AlterReplicaLogDirs: where a broker keeps its logs, and how large they are.

Sources: KIP-113 (both), KIP-827 (size of the disk); ReplicaManager.describeLogDirs and
alterReplicaLogDirs at 1.0.2, 2.8.2 and 3.9.2; clauses LOG-01, LOG-02.
"""

from touchstone.harness.model.claim import claim, every
from touchstone.harness.model.expect import all_of, answer, by_release
from touchstone.harness.model.placeholders import Ref
from touchstone.harness.model.scenario import Ask, Until
from touchstone.harness.model.steps import (
    a_topic,
    create_topic,
    delete_records,
    delete_topic,
    topic_gone,
    topic_ready,
)
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.records import ONE, SIZE, THREE, TWO, batch
from touchstone.suites.kit.segments import SIZES, describe_log_dirs, size_is
from touchstone.suites.kit.topics import a_log

PARTS = "results[*].topics[*].partitions[*]"


def move(version, path, *topics, name="move"):
    """AlterReplicaLogDirs of partition 0 of each topic."""
    rows = [{"name": topic, "partitions": [0]} for topic in topics]
    return Ask("AlterReplicaLogDirs", version, {"dirs": [{"path": path, "topics": rows}]}, name)


ASK = {"api": "DescribeLogDirs"}


@claim(
    "log.directories-tell-the-size-of-logs",
    evidence=(
        "LOG-01",
        "KIP-113",
    ),
    versions=every("DescribeLogDirs"),
    **ASK,
)
def test_directories_tell_the_size_of_logs(case):
    """DescribeLogDirs returns the size in bytes of each partition asked for, with offset_lag 0 and
    is_future_key false."""
    topic = case.topic()
    return case.scenario(
        a_log(topic, batch(ONE), batch(TWO)),
        describe_log_dirs(topic, version=case.version),
        expect=all_of(
            answer("dirs", SIZES).each_is(2 * SIZE),
            answer("dirs", f"{PARTS}.offset_lag").each_is(0),
            answer("dirs", f"{PARTS}.is_future_key").each_is(False),
        ),
    )


@claim(
    "log.all-directories-with-all-logs",
    evidence=(
        "LOG-01",
        "KIP-113",
    ),
    versions=every("DescribeLogDirs"),
    where=lambda row: row["version"] in (0, 1, 3),
    **ASK,
)
def test_all_directories_with_all_logs(case):
    """DescribeLogDirs with topics=null returns every partition of the broker."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic, 3),
        Ask("DescribeLogDirs", case.version, {"topics": None}, "dirs"),
        expect=answer("dirs", "results[0].topics[*].name").contains(topic),
    )


@claim(
    "log.unknown-logs-are-left-out",
    evidence=(
        "LOG-01",
        "KIP-113",
    ),
    versions=every("DescribeLogDirs"),
    where=lambda row: row["version"] in (0, 1),
    **ASK,
)
def test_unknown_logs_are_left_out(case):
    """DescribeLogDirs leaves out topics and partitions that the broker does not have, without an
    error."""
    topic, missing = case.topic(), case.topic("missing")
    rows = [{"topic": topic, "partitions": [0, 7]}, {"topic": missing, "partitions": [0]}]
    return case.scenario(
        a_topic(topic),
        Ask("DescribeLogDirs", case.version, {"topics": rows}, "dirs"),
        expect=all_of(
            answer("dirs", "results[0].error_code").is_(ErrorCode.NONE),
            answer("dirs", f"{PARTS}.partition_index").each_is(0),
        ),
    )


@claim(
    "log.deleted-records-still-take-room",
    evidence=(
        "LOG-19",
        "LOG-01",
    ),
    versions=every("DescribeLogDirs"),
    where=lambda row: row["version"] in (0, 1),
    **ASK,
)
def test_deleted_records_still_take_room(case):
    """DescribeLogDirs counts records that DeleteRecords removed as long as their segment exists."""
    topic = case.topic()
    return case.scenario(
        a_log(topic, batch(ONE), batch(TWO), batch(THREE)),
        delete_records(topic, 0, 1, name="delete"),
        describe_log_dirs(topic, version=case.version),
        expect=answer("dirs", SIZES).each_is(3 * SIZE),
    )


@claim(
    "log.a-deleted-topic-is-in-no-directory",
    evidence=(
        "LOG-22",
        "LOG-21",
    ),
    releases="1.0-2.2,3.9+",
    versions=every("DescribeLogDirs"),
    where=lambda row: row["version"] in (0, 1),
    **ASK,
)
def test_a_deleted_topic_is_in_no_directory(case):
    """DescribeLogDirs does not list a deleted topic, and a topic created under the same name starts
    with an empty log."""
    topic = case.topic()
    return case.scenario(
        a_log(topic, batch(ONE)),
        delete_topic(topic, name="delete"),
        topic_gone(topic),
        Until(describe_log_dirs(topic, version=case.version), "results[0].topics", "len ==", 0),
        Until(
            create_topic(topic, name="create again"), "topics[0].error_code", "==", ErrorCode.NONE
        ),
        topic_ready(topic, again=" again"),
        size_is(topic, 0, version=case.version),
        expect=all_of(
            answer("delete", "responses[0].error_code").is_(ErrorCode.NONE),
            answer("dirs", "results[0].topics").has_length(0),
            answer("create again", "topics[0].error_code").is_(ErrorCode.NONE),
            answer("size", f"{PARTS}.partition_size").is_([[[0]]]),
        ),
    )


@claim(
    "log.moving-to-no-directory-is-refused",
    evidence=(
        "LOG-02",
        "KIP-113",
    ),
    api="AlterReplicaLogDirs",
    versions=every("AlterReplicaLogDirs"),
)
def test_moving_to_no_directory_is_refused(case):
    """AlterReplicaLogDirs to a directory that the broker does not have answers
    LOG_DIR_NOT_FOUND."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        move(case.version, "/no/such/directory", topic),
        expect=answer("move", "results[0].partitions[0].error_code").is_(
            ErrorCode.LOG_DIR_NOT_FOUND
        ),
    )


@claim(
    "log.moving-to-where-it-is-does-nothing",
    evidence=(
        "LOG-02",
        "KIP-113",
    ),
    api="AlterReplicaLogDirs",
    versions=every("AlterReplicaLogDirs"),
)
def test_moving_to_where_it_is_does_nothing(case):
    """AlterReplicaLogDirs to the replica's own directory answers no error and starts no move."""
    topic = case.topic()
    version = 0 if case.release == "1.0" else 1
    return case.scenario(
        a_log(topic, batch(ONE)),
        describe_log_dirs(topic, version=version, name="before"),
        move(case.version, Ref("before", "results[0].log_dir"), topic),
        describe_log_dirs(topic, version=version, name="after"),
        expect=all_of(
            answer("move", "results[0].partitions[0].error_code").is_(ErrorCode.NONE),
            answer("after", f"{PARTS}.is_future_key").each_is(False),
        ),
    )


@claim(
    "log.moving-what-is-not-there-is-refused",
    evidence=(
        "LOG-02",
        "KIP-113",
    ),
    api="AlterReplicaLogDirs",
    versions=every("AlterReplicaLogDirs"),
)
def test_moving_what_is_not_there_is_refused(case):
    """AlterReplicaLogDirs of a partition that the broker does not have answers
    UNKNOWN_TOPIC_OR_PARTITION (REPLICA_NOT_AVAILABLE on 1.0)."""
    topic, missing = case.topic(), case.topic("missing")
    version = 0 if case.release == "1.0" else 1
    moved = answer("move", "results[0].partitions[0].error_code")
    return case.scenario(
        a_topic(topic),
        describe_log_dirs(topic, version=version, name="before"),
        move(case.version, Ref("before", "results[0].log_dir"), missing),
        expect=by_release(
            {
                "1.0": moved.is_(ErrorCode.REPLICA_NOT_AVAILABLE),
                "2.2+": moved.is_(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
            }
        ),
    )
