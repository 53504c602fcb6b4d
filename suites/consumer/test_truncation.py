"""A consumer whose log was cut under another leader (KIP-320)."""

from touchstone.harness.model.claim import claim
from touchstone.harness.model.expect import all_of, client
from touchstone.suites.kit.clients import (
    QUICK,
    C,
    Change,
    Hear,
    Tell,
    Watch,
    a_topic,
    assign,
    commit,
    consumer,
    reads,
    seek,
    stored,
    subscribe,
)
from touchstone.suites.kit.moving import MOVES, moved
from touchstone.suites.kit.three_brokers import placed, write

OLD, NEW = 1, 2
EPOCH_END = "topics[*].partitions[*].end_offset"
VALIDATED = "topics[*].partitions[*].leader_epoch"


def _reads_under_two_leaders(case, topic, *between, config=None):
    """Two records are read, then another broker leads, and a third record is written there."""
    return [
        placed(topic, {0: [OLD, NEW]}),
        write(topic, b"a", to=OLD, name="write a"),
        write(topic, b"b", to=OLD, name="write b"),
        consumer(config=config),
        assign(topic),
        reads(2, name="two are read"),
        *between,
        moved(case, topic, (NEW, OLD)),
        write(topic, b"c", to=NEW, name="write c"),
    ]


@claim("consumer.a-position-is-validated-under-a-new-leader", evidence=("KIP-320",),
       role="client", switches=("epochs-not-asked", "ignores-truncation"), **MOVES)  # fmt: skip
def test_a_position_is_validated_under_a_new_leader(case):
    """Before a consumer reads from a new leader it asks that one by OffsetForLeaderEpoch where the
    epoch of the record before its position ended, and then reads on without loss and repetition.
    """
    topic = case.topic()
    return case.scenario(
        _reads_under_two_leaders(case, topic),
        reads(3, name="the third is read"),
        expect=all_of(
            client("asked", api="OffsetForLeaderEpoch", path=VALIDATED).each_is(0),
            client("brokers", api="OffsetForLeaderEpoch").each_is(NEW),
            client("consumed", client=C, field="value").is_(["a", "b", "c"]),
        ),
    )


@claim("consumer.a-truncated-log-is-noticed", evidence=("KIP-320",), role="client",
       switches=("truncation-hidden", "ignores-truncation"), **MOVES)  # fmt: skip
def test_a_truncated_log_is_noticed(case):
    """A consumer with a reset policy whose new leader says that the epoch of its position ended at
    offset 1 goes on at offset 1, where the logs part.
    """
    topic = case.topic()
    return case.scenario(
        _reads_under_two_leaders(
            case, topic, Change("OffsetForLeaderEpoch", EPOCH_END, 1, name="the cut")
        ),
        reads(4, name="what follows is read"),
        expect=client("consumed", client=C, field="offset").is_([0, 1, 1, 2]),
    )


@claim("consumer.truncation-without-a-policy-is-an-error", evidence=("KIP-320",), role="client",
       switches=("truncation-hidden", "ignores-truncation"), **MOVES)  # fmt: skip
def test_truncation_without_a_policy_is_an_error(case):
    """A consumer with auto.offset.reset none whose log was cut below its position reports an error,
    and hands out nothing more.
    """
    topic = case.topic()
    return case.scenario(
        placed(topic, {0: [OLD, NEW]}),
        write(topic, b"a", to=OLD, name="write a"),
        write(topic, b"b", to=OLD, name="write b"),
        consumer(config={"auto.offset.reset": "none"}),
        Tell("poll", C, {"on": False}),
        Hear("command_done", C, where={"command": "poll"}),
        assign(topic),
        seek(topic, 0),
        Tell("poll", C, {"on": True}),
        reads(2, name="two are read"),
        Change("OffsetForLeaderEpoch", EPOCH_END, 1, times=0, name="the cut"),
        moved(case, topic, (NEW, OLD)),
        write(topic, b"c", to=NEW, name="write c"),
        Hear("consumer_error", C),
        expect=client("consumed", client=C, field="value").is_(["a", "b"]),
    )


@claim("consumer.validation-is-tried-again", evidence=("KIP-320",), role="client",
       switches=("epochs-not-asked",), error=("FENCED_LEADER_EPOCH", "NOT_LEADER_OR_FOLLOWER"),
       **MOVES)  # fmt: skip
def test_validation_is_tried_again(case):
    """A consumer whose OffsetForLeaderEpoch meets an error of a stale leader asks again, and reads
    on.
    """
    topic = case.topic()
    code = {"FENCED_LEADER_EPOCH": 74, "NOT_LEADER_OR_FOLLOWER": 6}[case.error]
    return case.scenario(
        _reads_under_two_leaders(
            case,
            topic,
            Change("OffsetForLeaderEpoch", "topics[*].partitions[*].error_code", code,
                   name="the error"),
        ),
        reads(3, name="the third is read"),
        expect=all_of(
            client("count", api="OffsetForLeaderEpoch").at_least(2),
            client("consumed", client=C, field="value").is_(["a", "b", "c"]),
        ),
    )  # fmt: skip


@claim("consumer.a-fetch-names-the-leader-epoch", evidence=("KIP-320",), role="client",
       switches=("epoch-of-leader-not-named",), **MOVES)  # fmt: skip
def test_a_fetch_names_the_leader_epoch(case):
    """Each Fetch names the leader epoch that Metadata told, so that a stale one is refused."""
    topic = case.topic()
    named = {"api": "Fetch", "path": "topics[*].partitions[*].current_leader_epoch"}
    return case.scenario(
        _reads_under_two_leaders(case, topic),
        reads(3, name="the third is read"),
        Watch("Fetch", more=2),
        expect=all_of(
            client("asked", **named).contains([[0]]), client("asked", **named).contains([[1]])
        ),
    )


@claim("consumer.a-commit-names-the-epoch-of-its-record", evidence=("KIP-320",), role="client",
       releases="2.2+", switches=("epoch-of-commit-not-named",))  # fmt: skip
def test_a_commit_names_the_epoch_of_its_record(case):
    """A commit of a position names the leader epoch of the record before it."""
    topic, group = case.topic(), case.group()
    named = {"api": "OffsetCommit", "path": "topics[*].partitions[*].committed_leader_epoch"}
    return case.scenario(
        a_topic(topic),
        stored(topic, "a"),
        consumer(config={"group.id": group, "enable.auto.commit": "false"}),
        subscribe(topic),
        reads(1),
        commit(),
        expect=client("asked", **named).is_([[[0]]]),
        config=QUICK,
    )
