"""CreateTopics: what is refused, with which code, and in which order faults are looked for.

The faults of one kind are sent in one request: each topic has its own answer, so a table of faults
costs one exchange. Messages are compared with Kafka's word by word; codes stand here.

Sources: Topic.validate and AdminUtils (1.0.2), AdminManager (2.2.1), ZkAdminManager (2.8.2),
ReplicationControlManager (3.9.2, 4.3.1); clauses TOPIC-07 and TOPIC-10 to TOPIC-14, TOPIC-34.
"""

from touchstone.harness.model.claim import claim, every, only
from touchstone.harness.model.expect import all_of, answer, by_release
from touchstone.harness.model.scenario import Ask
from touchstone.harness.model.steps import a_topic, create_topic, metadata, together, topic_ready
from touchstone.reference_impl.wire.errors import ErrorCode

CODES = "topics[*].error_code"
LONGEST = 249
ILLEGAL = ("", ".", "..", "x" * (LONGEST + 1), "a b", "a/b", "a:b", "a\\b", "a,b", "a\tb", "\u00e9")
BAD_CONFIGS = (
    ("no.such.config", "1"),
    ("cleanup.policy", "sometimes"),
    ("retention.ms", "soon"),
    ("min.insync.replicas", "0"),
    ("max.message.bytes", "-1"),
    ("min.cleanable.dirty.ratio", "2"),
    ("unclean.leader.election.enable", "perhaps"),
    ("compression.type", "rar"),
)


def refused(case, *entries):
    """One request with these (partitions, replication) and a look whether anything was made."""
    names = [case.topic(f"t{index}") for index in range(len(entries))]
    asks = [create_topic(n, *counts) for n, counts in zip(names, entries, strict=True)]
    return together(*asks, name="create"), metadata(*names, name="after")


@claim(
    "topics.illegal-names-are-refused",
    evidence=("TOPIC-07", "KIP-4"),
    api="CreateTopics",
    versions=every("CreateTopics"),
    switches=("topic-created-without-validation",),
)
def test_illegal_names_are_refused(case):
    """CreateTopics answers INVALID_TOPIC_EXCEPTION for names that are empty, "." or "..", longer
    than 249 characters, or contain other characters."""
    asks = [create_topic(name, version=case.version, validate_only=True) for name in ILLEGAL]
    return case.scenario(
        together(*asks, name="create"),
        expect=all_of(
            answer("create", "topics").has_length(len(ILLEGAL)),
            answer("create", CODES).each_is(ErrorCode.INVALID_TOPIC_EXCEPTION),
        ),
    )


@claim(
    "topics.all-legal-characters-make-a-name",
    evidence=("TOPIC-07",),
    api="CreateTopics",
    versions=only("CreateTopics", 2),
)
def test_all_legal_characters_make_a_name(case):
    """CreateTopics accepts names of letters, digits, dot, underscore and dash, up to 249
    characters."""
    odd = case.topic("Az.09_-")
    longest = case.topic("long", length=LONGEST)
    return case.scenario(
        together(
            create_topic(odd, validate_only=True), create_topic(longest, validate_only=True),
            name="create",
        ),
        expect=answer("create", CODES).each_is(ErrorCode.NONE),
    )  # fmt: skip


@claim(
    "topics.colliding-names-are-refused",
    evidence=("TOPIC-07",),
    api="CreateTopics",
    versions=only("CreateTopics", 2),
)
def test_colliding_names_are_refused(case):
    """CreateTopics answers INVALID_TOPIC_EXCEPTION for a name that differs from an existing one
    only in dots and underscores, and creates nothing."""
    dotted, underscored = case.topic("a.b", token="t"), case.topic("a_b", token="t")
    return case.scenario(
        a_topic(dotted),
        create_topic(underscored, name="create"),
        metadata(underscored, name="after"),
        expect=all_of(
            answer("create", "topics[0].error_code").is_(ErrorCode.INVALID_TOPIC_EXCEPTION),
            answer("create", "topics[0].error_message").matches(".*collides with existing.*"),
            answer("after", "topics[0].error_code").is_(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ),
    )


@claim(
    "topics.partition-counts-below-one-are-refused",
    evidence=("TOPIC-11",),
    api="CreateTopics",
    versions=only("CreateTopics", 2),
)
def test_partition_counts_below_one_are_refused(case):
    """CreateTopics answers INVALID_PARTITIONS for zero partitions or fewer than -1, and creates
    nothing."""
    return case.scenario(
        *refused(case, (0, 1), (-2, 1), (-(1 << 31), 1)),
        expect=all_of(
            answer("create", CODES).each_is(ErrorCode.INVALID_PARTITIONS),
            answer("after", CODES).each_is(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
            by_release(
                {
                    "1.0-2.8": answer("create", "topics[*].error_message").each_is(
                        "Number of partitions must be larger than 0."
                    ),
                    "3.9+": answer("create", "topics[*].error_message").each_is(
                        "Number of partitions was set to an invalid non-positive value."
                    ),
                }
            ),
        ),
    )


@claim(
    "topics.replication-factors-below-one-are-refused",
    evidence=("TOPIC-12",),
    api="CreateTopics",
    versions=only("CreateTopics", 2),
)
def test_replication_factors_below_one_are_refused(case):
    """CreateTopics answers INVALID_REPLICATION_FACTOR for a replication factor of zero or below -1,
    and creates nothing."""
    return case.scenario(
        *refused(case, (1, 0), (1, -2), (2, -32768)),
        expect=all_of(
            answer("create", CODES).each_is(ErrorCode.INVALID_REPLICATION_FACTOR),
            answer("after", CODES).each_is(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
            answer("create", "topics[0].error_message").matches(
                "Replication factor must be larger than 0(, or -1 to use the default value)?[.]"
            ),
        ),
    )


@claim(
    "topics.more-replicas-than-brokers-are-refused",
    evidence=("TOPIC-13",),
    api="CreateTopics",
    versions=only("CreateTopics", 2),
    capabilities=("only-broker",),
)
def test_more_replicas_than_brokers_are_refused(case):
    """CreateTopics answers INVALID_REPLICATION_FACTOR for a replication factor above the number of
    brokers, and creates nothing."""
    message = answer("create", "topics[0].error_message")
    return case.scenario(
        *refused(case, (1, 2), (3, 32767)),
        expect=all_of(
            answer("create", CODES).each_is(ErrorCode.INVALID_REPLICATION_FACTOR),
            answer("after", CODES).each_is(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
            by_release(
                {
                    "1.0-2.8": message.matches(
                        r"Replication factor: (2|32767) larger than available brokers: 1\."
                    ),
                    "3.9+": message.matches("Unable to replicate the partition .*"),
                }
            ),
        ),
    )


@claim(
    "topics.of-two-faults-one-is-named",
    evidence=("TOPIC-14", "observed on 1.0.2, 2.2.1, 2.8.2, 3.9.2 and 4.3.1"),
    api="CreateTopics",
    versions=only("CreateTopics", 2),
)
def test_of_two_faults_one_is_named(case):
    """CreateTopics with a bad partition count and a bad replication factor answers
    INVALID_PARTITIONS on releases with ZooKeeper and INVALID_REPLICATION_FACTOR on KRaft."""
    return case.scenario(
        *refused(case, (0, 0), (0, -2)),
        expect=by_release(
            {
                "1.0-2.8": answer("create", CODES).each_is(ErrorCode.INVALID_PARTITIONS),
                "3.9+": answer("create", CODES).each_is(ErrorCode.INVALID_REPLICATION_FACTOR),
            }
        ),
    )


@claim(
    "topics.faulty-assignments-are-refused",
    evidence=("TOPIC-10",),
    api="CreateTopics",
    versions=only("CreateTopics", 2),
    fault=("a broker twice", "unequal", "no replicas"),
)
def test_faulty_assignments_are_refused(case):
    """CreateTopics answers INVALID_REPLICA_ASSIGNMENT for an assignment with a repeated broker or
    unequal replica counts, and creates nothing."""
    tables = {
        "a broker twice": {0: [0, 0]},
        "unequal": {0: [0], 1: [0, 1]},
        "no replicas": {0: [0], 1: []},
    }
    name = case.topic()
    return case.scenario(
        create_topic(name, assignments=tables[case.fault], name="create"),
        metadata(name, name="after"),
        expect=all_of(
            answer("create", "topics[0].error_code").is_(ErrorCode.INVALID_REPLICA_ASSIGNMENT),
            answer("after", "topics[0].error_code").is_(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ),
    )


@claim(
    "topics.assignments-count-partitions-from-zero",
    evidence=("TOPIC-09", "observed on 2.8.2, 3.9.2 and 4.3.1"),
    api="CreateTopics",
    versions=only("CreateTopics", 5),
    releases="2.8+",
)
def test_assignments_count_partitions_from_zero(case):
    """CreateTopics answers INVALID_REPLICA_ASSIGNMENT for an assignment whose partitions are not
    numbered 0, 1, 2 and so on, and creates nothing."""
    gap, late = case.topic("gap"), case.topic("late")
    return case.scenario(
        together(
            create_topic(gap, assignments={0: [0], 2: [0]}, version=case.version),
            create_topic(late, assignments={1: [0]}, version=case.version),
            name="create",
        ),
        metadata(gap, late, name="after"),
        expect=all_of(
            answer("create", CODES).each_is(ErrorCode.INVALID_REPLICA_ASSIGNMENT),
            answer("after", CODES).each_is(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ),
    )


@claim(
    "topics.assignments-name-brokers-that-are-there",
    evidence=("TOPIC-10", "observed on 3.9.2 and 4.3.1"),
    api="CreateTopics",
    versions=only("CreateTopics", 2),
    releases="3.9+",
)
def test_assignments_name_brokers_that_are_there(case):
    """CreateTopics answers INVALID_REPLICA_ASSIGNMENT on KRaft for an assignment to an unknown
    broker, and creates nothing."""
    one, two = case.topic("one"), case.topic("two")
    return case.scenario(
        together(
            create_topic(one, assignments={0: [77]}),
            create_topic(two, assignments={0: [0], 1: [-1]}),
            name="create",
        ),
        metadata(one, two, name="after"),
        expect=all_of(
            answer("create", CODES).each_is(ErrorCode.INVALID_REPLICA_ASSIGNMENT),
            answer("after", CODES).each_is(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ),
    )


@claim(
    "topics.counts-beside-an-assignment-are-refused",
    evidence=("TOPIC-34",),
    api="CreateTopics",
    versions=only("CreateTopics", 2),
)
def test_counts_beside_an_assignment_are_refused(case):
    """CreateTopics answers INVALID_REQUEST for a partition count or a replication factor beside an
    assignment, and creates nothing."""
    names = [case.topic(f"t{index}") for index in range(3)]
    assigned = [{"partition_index": 0, "broker_ids": [0]}]
    entries = [
        {
            "name": name,
            "num_partitions": partitions,
            "replication_factor": factor,
            "assignments": assigned,
        }
        for name, (partitions, factor) in zip(names, ((1, -1), (-1, 1), (1, 1)), strict=True)
    ]
    body = {"topics": entries, "timeout_ms": 5000, "validate_only": False}
    return case.scenario(
        Ask("CreateTopics", case.version, body, name="create"),
        metadata(*names, name="after"),
        expect=all_of(
            answer("create", CODES).each_is(ErrorCode.INVALID_REQUEST),
            answer("after", CODES).each_is(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ),
    )


@claim(
    "topics.bad-configs-are-refused",
    evidence=("KIP-4", "observed on 1.0.2, 2.2.1, 2.8.2, 3.9.2 and 4.3.1"),
    api="CreateTopics",
    versions=only("CreateTopics", 2),
    switches=("configs-not-validated",),
)
def test_bad_configs_are_refused(case):
    """CreateTopics answers INVALID_CONFIG (on 1.0 also UNKNOWN_SERVER_ERROR) for an unknown config
    or an invalid value, and creates nothing."""
    names = [case.topic(f"t{index}") for index in range(len(BAD_CONFIGS))]
    asks = [
        create_topic(name, configs={key: value}, version=case.version)
        for name, (key, value) in zip(names, BAD_CONFIGS, strict=True)
    ]
    return case.scenario(
        together(*asks, name="create"),
        metadata(*names, name="after"),
        expect=all_of(
            by_release(
                {
                    "1.0": answer("create", CODES).each_is_one_of(
                        ErrorCode.UNKNOWN_SERVER_ERROR, ErrorCode.INVALID_CONFIG
                    ),
                    "2.2+": answer("create", CODES).each_is(ErrorCode.INVALID_CONFIG),
                }
            ),
            answer("after", CODES).each_is(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ),
    )


@claim(
    "topics.configs-without-a-value-are-refused",
    evidence=("observed on 1.0.2, 2.2.1, 2.8.2, 3.9.2 and 4.3.1",),
    api="CreateTopics",
    versions=only("CreateTopics", 2),
)
def test_configs_without_a_value_are_refused(case):
    """CreateTopics refuses a config with a null value (INVALID_CONFIG since 3.9, INVALID_REQUEST on
    2.8, UNKNOWN_SERVER_ERROR before), and creates nothing."""
    name = case.topic()
    code = answer("create", "topics[0].error_code")
    return case.scenario(
        create_topic(name, configs={"retention.ms": None, "cleanup.policy": None}, name="create"),
        metadata(name, name="after"),
        expect=all_of(
            by_release(
                {
                    "1.0-2.2": code.is_(ErrorCode.UNKNOWN_SERVER_ERROR),
                    "2.8": code.is_(ErrorCode.INVALID_REQUEST),
                    "3.9+": code.is_(ErrorCode.INVALID_CONFIG),
                }
            ),
            answer("after", "topics[0].error_code").is_(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ),
    )


@claim(
    "topics.each-topic-is-judged-by-itself",
    evidence=("KIP-4",),
    api="CreateTopics",
    versions=only("CreateTopics", 2),
)
def test_each_topic_is_judged_by_itself(case):
    """CreateTopics creates the topics of a request that are valid although others of it are
    refused."""
    good, bad, there = case.topic("good"), case.topic("bad"), case.topic("there")
    return case.scenario(
        a_topic(there),
        together(create_topic(bad, 0), create_topic(good), create_topic(there), name="create"),
        topic_ready(good),
        metadata(bad, name="after"),
        expect=all_of(
            answer("create", CODES).contains(ErrorCode.NONE),
            answer("create", CODES).contains(ErrorCode.INVALID_PARTITIONS),
            answer("create", CODES).contains(ErrorCode.TOPIC_ALREADY_EXISTS),
            answer("after", "topics[0].error_code").is_(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ),
    )
