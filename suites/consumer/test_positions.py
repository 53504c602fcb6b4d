"""Where a consumer of given partitions stands (CONS-10, CONS-12, CONS-19, CONS-37)."""

from touchstone.harness.model.claim import claim
from touchstone.harness.model.expect import all_of, client
from touchstone.suites.kit.clients import (
    QUICK,
    C,
    Hear,
    Tell,
    Watch,
    a_topic,
    assign,
    close,
    commit,
    consumer,
    reads,
    seek,
    stored,
    texts,
)

READ = {"client": C, "field": "value"}
OTHER = "d"
MANUAL = {"enable.auto.commit": "false"}


@claim("consumer.partitions-that-stay-keep-their-position", evidence=("CONS-10",), role="client",
       switches=("reads-twice",))  # fmt: skip
def test_partitions_that_stay_keep_their_position(case):
    """A consumer that is assigned one more partition goes on in the first one where it was."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic, 2),
        stored(topic, "a", "b"),
        consumer(),
        assign(topic, 0),
        reads(2, name="the first partition"),
        Tell("assign", C, {"partitions": [{"topic": topic, "partition": at} for at in (0, 1)]},
             name="assign both"),
        Hear("command_done", C, 2, where={"command": "assign"}),
        stored(topic, "other", partition=1),
        reads(3, name="the second partition"),
        stored(topic, "c"),
        reads(4, name="the first again"),
        expect=client("consumed", client=C, field="offset", partition=0).is_([0, 1, 2]),
    )  # fmt: skip


@claim("consumer.a-partition-that-goes-is-not-read", evidence=("CONS-10", "CONS-27"),
       role="client", switches=("first-assignment-kept",))  # fmt: skip
def test_a_partition_that_goes_is_not_read(case):
    """A consumer that is assigned another partition in place of the first one gets no more records
    of that.
    """
    topic = case.topic()
    return case.scenario(
        a_topic(topic, 2),
        stored(topic, "a"),
        consumer(),
        assign(topic, 0),
        reads(1, name="the first partition"),
        Tell("assign", C, {"partitions": [{"topic": topic, "partition": 1}]}, name="the other"),
        Hear("command_done", C, 2, where={"command": "assign"}),
        stored(topic, "b"),
        stored(topic, "c", partition=1),
        reads(2, name="the second partition"),
        expect=client("consumed", **READ).is_(["a", "c"]),
    )


@claim("consumer.what-was-sought-comes-before-what-is-committed", evidence=("CONS-19", "CONS-46"),
       role="client", switches=("seek-ignored",))  # fmt: skip
def test_what_was_sought_comes_before_what_is_committed(case):
    """A consumer that seeks before its first poll begins there, not at its group's offset."""
    topic, group = case.topic(), case.group()
    own = MANUAL | {"group.id": group}
    return case.scenario(
        a_topic(topic),
        stored(topic, *texts(4)),
        consumer(C, own),
        assign(topic, client=C),
        reads(4, C),
        commit(C),
        close(C),
        consumer(OTHER, own),
        Tell("poll", OTHER, {"on": False}),
        Hear("command_done", OTHER, where={"command": "poll"}),
        assign(topic, client=OTHER),
        seek(topic, 2, client=OTHER),
        Tell("poll", OTHER, {"on": True}),
        reads(2, OTHER),
        expect=client("consumed", client=OTHER, field="offset").is_([2, 3]),
        config=QUICK,
    )


@claim("consumer.out-of-range-without-a-policy-is-an-error", evidence=("CONS-37",),
       role="client", switches=("errors-swallowed",))  # fmt: skip
def test_out_of_range_without_a_policy_is_an_error(case):
    """A consumer without a reset policy that seeks beyond the log reports OFFSET_OUT_OF_RANGE."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        stored(topic, "a"),
        consumer(config={"auto.offset.reset": "none"}),
        Tell("poll", C, {"on": False}),
        Hear("command_done", C, where={"command": "poll"}),
        assign(topic),
        seek(topic, 50),
        Tell("poll", C, {"on": True}),
        Hear("consumer_error", C),
        expect=all_of(
            client("codes", name="consumer_error").contains("OFFSET_OUT_OF_RANGE"),
            client("consumed", **READ).is_([]),
        ),
    )


@claim("consumer.without-a-group-nothing-is-committed", evidence=("CONS-12", "KIP-289"),
       role="client", switches=("commit-failure-hidden",))  # fmt: skip
def test_without_a_group_nothing_is_committed(case):
    """A commit of a consumer without a group.id fails, and OffsetCommit is not asked."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        stored(topic, "a"),
        consumer(),
        assign(topic),
        reads(1),
        commit(),
        expect=all_of(
            client("events", name="offsets_committed", path="success").is_([False]),
            client("count", api="OffsetCommit").is_(0),
        ),
    )


@claim("consumer.a-reset-asks-for-the-end-of-its-policy", evidence=("CONS-21",), role="client",
       switches=("reset-ignored",), policy=("earliest", "latest"))  # fmt: skip
def test_a_reset_asks_for_the_end_of_its_policy(case):
    """A consumer without a position asks ListOffsets for -2 where auto.offset.reset is earliest,
    and for -1 where it is latest.
    """
    topic = case.topic()
    asked = {"api": "ListOffsets", "path": "topics[*].partitions[*].timestamp"}
    return case.scenario(
        a_topic(topic),
        stored(topic, "a"),
        consumer(config={"auto.offset.reset": case.policy}),
        assign(topic),
        Watch("Fetch", 1),
        expect=client("asked", **asked).each_is({"earliest": -2, "latest": -1}[case.policy]),
    )
