"""Offsets that a consumer commits, and where it goes on (CONS-19, CONS-23, CONS-39 to CONS-46)."""

from touchstone.harness.model.claim import claim
from touchstone.harness.model.expect import all_of, client
from touchstone.suites.kit.clients import (
    QUICK,
    C,
    Watch,
    a_topic,
    assign,
    close,
    commit,
    consumer,
    fault,
    reads,
    stored,
    subscribe,
    texts,
)

OTHER = "d"
MANUAL = {"enable.auto.commit": "false"}


def _reader(group, **more):
    return {"group.id": group} | MANUAL | more


@claim("consumer.the-offset-of-the-next-record-is-committed", evidence=("CONS-23", "CONS-46"),
       role="client", switches=("commits-the-last-offset",))  # fmt: skip
def test_the_offset_of_the_next_record_is_committed(case):
    """A consumer that has read three records commits offset 3, that of the next one."""
    topic, group = case.topic(), case.group()
    return case.scenario(
        a_topic(topic),
        stored(topic, *texts(3)),
        consumer(config=_reader(group)),
        subscribe(topic),
        reads(3),
        commit(),
        expect=client("commits", topic=topic).is_([3]),
        config=QUICK,
    )


@claim("consumer.a-group-goes-on-where-it-was", evidence=("CONS-19", "CONS-45"), role="client",
       switches=("commits-the-last-offset",))  # fmt: skip
def test_a_group_goes_on_where_it_was(case):
    """A new member of a group reads on from the committed offset."""
    topic, group = case.topic(), case.group()
    return case.scenario(
        a_topic(topic),
        stored(topic, *texts(3)),
        consumer(config=_reader(group)),
        subscribe(topic),
        reads(3),
        commit(),
        close(C),
        stored(topic, "new"),
        consumer(OTHER, _reader(group)),
        subscribe(topic, client=OTHER),
        reads(1, OTHER),
        expect=client("consumed", client=OTHER, field="value").is_(["new"]),
        config=QUICK,
    )


@claim("consumer.given-offsets-are-committed", evidence=("CONS-41",), role="client",
       switches=("commits-the-last-offset",))  # fmt: skip
def test_given_offsets_are_committed(case):
    """A commit of offsets that the application names commits those."""
    topic, group = case.topic(), case.group()
    given = [{"topic": topic, "partition": 0, "offset": 2}]
    return case.scenario(
        a_topic(topic),
        stored(topic, *texts(3)),
        consumer(config=_reader(group)),
        subscribe(topic),
        reads(3),
        commit(offsets=given),
        expect=client("commits", topic=topic).is_([2]),
        config=QUICK,
    )


@claim("consumer.auto-commit-commits-what-was-read", evidence=("CONS-39", "CONS-23"),
       role="client", switches=("commits-the-last-offset",))  # fmt: skip
def test_auto_commit_commits_what_was_read(case):
    """A consumer that commits by itself every 200 ms commits what its application was given."""
    topic, group = case.topic(), case.group()
    own = {"group.id": group, "enable.auto.commit": "true", "auto.commit.interval.ms": 200}
    return case.scenario(
        a_topic(topic),
        stored(topic, *texts(3)),
        consumer(config=own),
        subscribe(topic),
        reads(3),
        Watch("OffsetCommit", 1),
        close(C),
        expect=client("commits", topic=topic).contains(3),
        config=QUICK,
    )


@claim("consumer.closing-commits-what-was-read", evidence=("CONS-39",), role="client",
       switches=("commits-the-last-offset",))  # fmt: skip
def test_closing_commits_what_was_read(case):
    """A consumer that commits by itself does so when it is closed, and commits what was read."""
    topic, group = case.topic(), case.group()
    own = {"group.id": group, "enable.auto.commit": "true", "auto.commit.interval.ms": 60000}
    return case.scenario(
        a_topic(topic),
        stored(topic, *texts(3)),
        consumer(config=own),
        subscribe(topic),
        reads(3),
        close(C),
        expect=client("commits", topic=topic).is_([3]),
        config=QUICK,
    )


@claim("consumer.nothing-is-committed-unasked", evidence=("CONS-39",), role="client",
       switches=("commits-by-itself",))  # fmt: skip
def test_nothing_is_committed_unasked(case):
    """With enable.auto.commit false a consumer that reads and closes commits nothing."""
    topic, group = case.topic(), case.group()
    return case.scenario(
        a_topic(topic),
        stored(topic, *texts(3)),
        consumer(config=_reader(group, **{"auto.commit.interval.ms": 100})),
        subscribe(topic),
        reads(3),
        Watch("Heartbeat", more=1),
        close(C),
        expect=client("commits", topic=topic).is_([]),
        config=QUICK,
    )


@claim("consumer.a-commit-is-tried-again", evidence=("CONS-41",), role="client",
       switches=("says-that-commits-fail",),
       error=("COORDINATOR_LOAD_IN_PROGRESS", "NOT_COORDINATOR", "REQUEST_TIMED_OUT"))  # fmt: skip
def test_a_commit_is_tried_again(case):
    """A commit that waits is sent again when an error meets it that passes, and succeeds."""
    topic, group = case.topic(), case.group()
    return case.scenario(
        a_topic(topic),
        stored(topic, *texts(2)),
        consumer(config=_reader(group)),
        subscribe(topic),
        reads(2),
        fault("OffsetCommit", case.error, 1),
        commit(),
        expect=all_of(
            client("events", name="offsets_committed", path="success").is_([True]),
            client("commits", topic=topic).is_([2, 2]),
        ),
        config=QUICK,
    )


@claim("consumer.a-refused-commit-is-reported", evidence=("CONS-41", "CONS-43"), role="client",
       switches=("commit-failure-hidden",),
       error=("UNKNOWN_MEMBER_ID", "GROUP_AUTHORIZATION_FAILED",
              "OFFSET_METADATA_TOO_LARGE"))  # fmt: skip
def test_a_refused_commit_is_reported(case):
    """A commit that is refused fails for the application."""
    topic, group = case.topic(), case.group()
    return case.scenario(
        a_topic(topic),
        stored(topic, *texts(2)),
        consumer(config=_reader(group)),
        subscribe(topic),
        reads(2),
        fault("OffsetCommit", case.error, 1),
        commit(),
        expect=client("events", name="offsets_committed", path="success").is_([False]),
        config=QUICK,
    )


@claim("consumer.an-assigned-reader-commits-to-its-group", evidence=("CONS-10",), role="client",
       switches=("commits-the-last-offset",))  # fmt: skip
def test_an_assigned_reader_commits_to_its_group(case):
    """A consumer of given partitions commits to its group, and never joins it."""
    topic, group = case.topic(), case.group()
    return case.scenario(
        a_topic(topic),
        stored(topic, *texts(2)),
        consumer(config=_reader(group)),
        assign(topic),
        reads(2),
        commit(),
        expect=all_of(
            client("commits", topic=topic).is_([2]),
            client("count", api="JoinGroup").is_(0),
        ),
        config=QUICK,
    )


@claim("consumer.offset-fetch-is-tried-again", evidence=("CONS-19",), role="client",
       switches=("skips-a-record",),
       error=("COORDINATOR_LOAD_IN_PROGRESS", "NOT_COORDINATOR"))  # fmt: skip
def test_offset_fetch_is_tried_again(case):
    """A consumer whose OffsetFetch meets an error that passes asks again and then reads."""
    topic, group = case.topic(), case.group()
    return case.scenario(
        a_topic(topic),
        stored(topic, *texts(2)),
        fault("OffsetFetch", case.error, 1),
        consumer(config=_reader(group)),
        subscribe(topic, joins=False),
        reads(2),
        expect=all_of(
            client("consumed", client=C, field="value").is_(texts(2)),
            client("count", api="OffsetFetch").at_least(2),
        ),
        config=QUICK,
    )
