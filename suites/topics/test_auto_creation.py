"""Topics that Metadata makes because somebody asked for them.

Sources: the MetadataRequest schema (allow_auto_topic_creation came with version 4);
KafkaApis.getTopicMetadata (1.0.2 to 2.8.2), DefaultAutoTopicCreationManager (3.9.2, 4.3.1);
clauses TOPIC-01, TOPIC-02, META-10.
"""

from touchstone.harness.model.claim import claim, only, range_
from touchstone.harness.model.expect import all_of, answer, by_release
from touchstone.harness.model.steps import a_topic, metadata, topic_ready
from touchstone.reference_impl.wire.errors import ErrorCode

CODE = "topics[0].error_code"
OFF = {"auto.create.topics.enable": "false"}
FIRST_ANSWER = {
    "1.0-2.8": ErrorCode.LEADER_NOT_AVAILABLE,
    "3.9+": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
}


@claim(
    "topics.metadata-creates-only-where-allowed",
    evidence=("TOPIC-01", "META-10"),
    api="Metadata",
    versions=range_("Metadata", 4),
    where=lambda row: row["version"] in (4, 9, 12),
    switches=("auto-creation-not-asked-for",),
)
def test_metadata_creates_only_where_allowed(case):
    """Metadata creates a missing topic only with allow_auto_topic_creation; its first answer
    carries an error, and a later one finds the topic."""
    no, yes = case.topic("no"), case.topic("yes")
    return case.scenario(
        metadata(no, version=case.version, name="forbidden"),
        metadata(yes, version=case.version, create=True, name="allowed"),
        topic_ready(yes),
        metadata(no, yes, name="after"),
        expect=all_of(
            answer("forbidden", CODE).is_(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
            by_release({r: answer("allowed", CODE).is_(c) for r, c in FIRST_ANSWER.items()}),
            answer("after", "topics[*].error_code").contains(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
            answer("after", "topics[*].error_code").contains(ErrorCode.NONE),
        ),
    )


@claim(
    "topics.old-metadata-always-creates",
    evidence=("TOPIC-01",),
    api="Metadata",
    versions=range_("Metadata", 0, 3),
    where=lambda row: row["version"] in (0, 3),
)
def test_old_metadata_always_creates(case):
    """Metadata 0 to 3 creates a missing topic; its first answer carries an error, and a later one
    finds the topic."""
    name = case.topic()
    return case.scenario(
        metadata(name, version=case.version, name="ask"),
        topic_ready(name),
        metadata(name, name="after"),
        expect=all_of(
            by_release({r: answer("ask", CODE).is_(c) for r, c in FIRST_ANSWER.items()}),
            answer("after", CODE).is_(ErrorCode.NONE),
        ),
    )


@claim(
    "topics.illegal-names-are-not-made-by-asking",
    evidence=("TOPIC-01", "META-10"),
    api="Metadata",
    versions=only("Metadata", 4),
)
def test_illegal_names_are_not_made_by_asking(case):
    """Metadata answers INVALID_TOPIC_EXCEPTION for an illegal name, before 2.8
    UNKNOWN_TOPIC_OR_PARTITION where it does not allow creation.
    """
    return case.scenario(
        metadata("a b", "..", "x" * 250, create=True, name="allowed"),
        metadata("a b", name="forbidden"),
        expect=all_of(
            answer("allowed", "topics[*].error_code").each_is(ErrorCode.INVALID_TOPIC_EXCEPTION),
            by_release(
                {
                    "1.0-2.2": answer("forbidden", CODE).is_(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
                    "2.8+": answer("forbidden", CODE).is_(ErrorCode.INVALID_TOPIC_EXCEPTION),
                }
            ),
        ),
    )


@claim(
    "topics.auto-creation-can-be-off",
    evidence=("TOPIC-02", "META-10"),
    api="Metadata",
    versions=range_("Metadata", 1, 4),
    where=lambda row: row["version"] in (1, 4),
    config=OFF,
)
def test_auto_creation_can_be_off(case):
    """With auto.create.topics.enable=false Metadata answers UNKNOWN_TOPIC_OR_PARTITION for a
    missing topic and creates none, whatever the request allows."""
    there, missing = case.topic("there"), case.topic("missing")
    return case.scenario(
        a_topic(there),
        metadata(there, missing, version=case.version, create=True, name="ask"),
        metadata(missing, version=case.version, create=True, name="after"),
        expect=all_of(
            answer("ask", "topics[*].error_code").contains(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
            answer("after", CODE).is_(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ),
    )
