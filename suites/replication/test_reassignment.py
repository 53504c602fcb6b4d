"""Partition reassignment: other replicas, more or fewer of them, changed and cancelled half way.

A paused broker keeps a reassignment from ending for as long as a case looks at it. 2.8 keeps it in
ZooKeeper, KRaft in the partition's record; both show the replicas that are added and removed.

Sources: KafkaController.onPartitionReassignment (2.8.2), PartitionReassignmentReplicas and
ReplicationControlManager.alterPartitionReassignments (3.9.2, 4.3.1), KIP-455, KIP-860; clause
CTL-22.
"""

from dataclasses import replace

from touchstone.harness.model.claim import claim, only
from touchstone.harness.model.expect import all_of, answer, by_release, records
from touchstone.harness.model.scenario import Until
from touchstone.harness.model.steps import (
    delete_topic,
    pause_broker,
    resume_broker,
    stop_broker,
    topic_gone,
)
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.controllers import reassign, reassignments
from touchstone.suites.kit.records import ONE, THREE, TWO
from touchstone.suites.kit.three_brokers import (
    ISR,
    LEADER,
    PART,
    READ,
    SHORT_SESSIONS,
    SHORT_SESSIONS_UNHARMED,
    a_log,
    look,
    marked,
    read,
    stored,
    until_led,
    write,
)

WITHOUT_EPOCHS = 5  # of Metadata
CODE = "responses[0].partitions[0].error_code"
ROW = f"{PART}.replica_nodes"
LISTED = "topics[0].partitions[0]"
API = "AlterPartitionReassignments"
MOVES = {"api": API, "versions": only(API, 0), **SHORT_SESSIONS_UNHARMED}
HALF_WAY = {"api": API, "versions": only(API, 0), **SHORT_SESSIONS}


def _topic_row(case, topic, name):
    """The Metadata that shows the topic. In 2.8 without epochs: a move goes through a leader epoch
    for each of several steps, and the last may be on its way when the row is whole.
    """
    asked = look(case, topic, name)
    return replace(asked, version=WITHOUT_EPOCHS) if case.release == "2.8" else asked


def done(case, topic, row, *, leader=None, name="done"):
    """Look until the row is this, all of it in sync, under this leader (the first by default)."""
    return [
        Until(
            _topic_row(case, topic, name), ROW, "==", list(row),
            also=(
                (LEADER, "==", row[0] if leader is None else leader),
                (ISR, "len ==", len(row)),
            ),
        ),
        Until(reassignments(topic, name=f"{name} all"), "topics", "len ==", 0),
    ]  # fmt: skip


def serves(topic, broker, mark, name="moved"):
    return marked(topic, mark, at=broker, name=name)


@claim("replication.a-partition-moves", evidence=("CTL-22", "REPL-24", "KIP-455"), **MOVES)
def test_a_partition_moves(case):
    """A reassignment from broker 1 to broker 2 moves the records, and broker 1 no longer serves
    them.
    """
    name = case.topic()
    return case.scenario(
        a_log(name, (1,), ONE, TWO),
        reassign(name, {0: [2]}),
        done(case, name, [2]),
        serves(name, 2, 2),
        Until(
            read(name, name="left"), "responses[0].partitions[0].error_code", "!=", ErrorCode.NONE
        ),
        expect=all_of(
            answer("reassign", CODE).is_(ErrorCode.NONE),
            records("moved", "[1].value").is_(TWO),
            answer("left", f"{READ}.error_code").is_not(ErrorCode.NONE),
        ),
    )


@claim("replication.replicas-are-added", evidence=("CTL-22", "KIP-455"), **MOVES)
def test_replicas_are_added(case):
    """A reassignment can add a replica, which joins the ISR once it has the records."""
    name = case.topic()
    return case.scenario(
        a_log(name, (1,), ONE, TWO),
        reassign(name, {0: [1, 2]}),
        Until(reassignments(name, name="over"), "topics", "len ==", 0),
        done(case, name, [1, 2]),
        write(name, THREE),
        marked(name, 3),
        expect=all_of(
            answer("done", ROW).is_([1, 2]),
            answer("done", ISR).contains(2),
            answer("reassign", CODE).is_(ErrorCode.NONE),
            stored("write", 2),
        ),
    )


@claim("replication.replicas-are-removed", evidence=("CTL-22", "KIP-455"), **MOVES)
def test_replicas_are_removed(case):
    """A reassignment can remove followers and keeps the leader."""
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2, 0), ONE),
        reassign(name, {0: [1]}),
        done(case, name, [1]),
        write(name, TWO),
        expect=all_of(
            answer("done", ROW).is_([1]),
            answer("done", LEADER).is_(1),
            answer("reassign", CODE).is_(ErrorCode.NONE),
            stored("write", 1),
        ),
    )


@claim("replication.a-leader-that-is-removed-is-replaced", evidence=("CTL-22",), **MOVES)
def test_a_leader_that_is_removed_is_replaced(case):
    """A reassignment without the current leader makes the first new replica leader."""
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2), ONE),
        reassign(name, {0: [2, 0]}),
        done(case, name, [2, 0]),
        serves(name, 2, 1),
        write(name, TWO, to=2),
        expect=all_of(
            answer("done", ROW).is_([2, 0]),
            answer("done", LEADER).is_(2),
            answer("reassign", CODE).is_(ErrorCode.NONE),
            stored("write", 1),
        ),
    )


@claim("replication.rows-are-reordered", evidence=("CTL-22", "CTL-23"), **MOVES)
def test_rows_are_reordered(case):
    """A reassignment to the same replicas in another order keeps the leader."""
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2), ONE),
        reassign(name, {0: [2, 1]}),
        done(case, name, [2, 1], leader=1),
        write(name, TWO),
        expect=all_of(
            answer("done", ROW).is_([2, 1]),
            answer("done", LEADER).is_(1),
            answer("reassign", CODE).is_(ErrorCode.NONE),
            stored("write", 1),
        ),
    )


@claim("replication.the-same-row-moves-nothing", evidence=("CTL-22",), **MOVES)
def test_the_same_row_moves_nothing(case):
    """A reassignment to the current replicas succeeds and changes nothing."""
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2), ONE),
        reassign(name, {0: [1, 2]}),
        done(case, name, [1, 2]),
        expect=all_of(
            answer("done", ROW).is_([1, 2]),
            answer("done", LEADER).is_(1),
            answer("reassign", CODE).is_(ErrorCode.NONE),
        ),
    )


@claim("replication.moves-under-load", evidence=("CTL-22", "APPEND-22"), **MOVES)
def test_moves_under_load(case):
    """Records written during a reassignment are in the log of the new replicas."""
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2), ONE),
        reassign(name, {0: [1, 0]}),
        [write(name, TWO, name=f"write {n}") for n in range(8)],
        done(case, name, [1, 0]),
        write(name, THREE, name="last"),
        marked(name, 10, offset=9, name="moved"),
        expect=all_of(
            *(stored(f"write {n}", n + 1) for n in range(8)),
            stored("last", 9),
            records("moved", "[0].value").is_(THREE),
        ),
    )


@claim("replication.impossible-rows-are-refused", evidence=("CTL-22", "KIP-455"), **MOVES,
       row=((), (1, 1), (-1,), (1, 9)))  # fmt: skip
def test_impossible_rows_are_refused(case):
    """A reassignment to no replica, a duplicate, a negative or an unknown broker answers
    INVALID_REPLICA_ASSIGNMENT.
    """
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2)),
        reassign(name, {0: case.row}),
        look(case, name),
        expect=all_of(
            answer("reassign", CODE).is_(ErrorCode.INVALID_REPLICA_ASSIGNMENT),
            answer("look", ROW).is_([1, 2]),
        ),
    )


@claim("replication.a-factor-may-be-held", evidence=("KIP-860",), api=API, versions=only(API, 1),
       row=((2,), (1, 2), (0, 2)), **SHORT_SESSIONS_UNHARMED)  # fmt: skip
def test_a_factor_may_be_held(case):
    """With allow_replication_factor_change=false a reassignment to another number of replicas
    answers INVALID_REPLICATION_FACTOR.
    """
    name = case.topic()
    asked = reassign(name, {0: case.row})
    asked = replace(asked, version=1)
    asked.body["allow_replication_factor_change"] = False
    return case.scenario(
        a_log(name, (1,)),
        asked,
        expect=answer("reassign", CODE).is_(
            ErrorCode.NONE if len(case.row) == 1 else ErrorCode.INVALID_REPLICATION_FACTOR
        ),
    )


@claim("replication.unknown-partitions-do-not-move", evidence=("CTL-22", "KIP-455"), **MOVES)
def test_unknown_partitions_do_not_move(case):
    """A reassignment of an unknown topic or partition answers UNKNOWN_TOPIC_OR_PARTITION; other
    partitions of the request move.
    """
    name, other = case.topic(), case.topic("other")
    return case.scenario(
        a_log(name, (1,)),
        reassign(name, {0: [2], 7: [2]}, name="partition"),
        reassign(other, {0: [2]}, name="topic"),
        done(case, name, [2]),
        expect=all_of(
            answer("partition", "responses[0].partitions[*].error_code").contains(
                ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            ),
            answer("topic", CODE).is_(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
            answer("done", ROW).is_([2]),
        ),
    )


@claim("replication.nothing-to-cancel", evidence=("KIP-455",), **MOVES)
def test_nothing_to_cancel(case):
    """Cancelling a reassignment that is not under way answers NO_REASSIGNMENT_IN_PROGRESS."""
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2)),
        reassign(name, {0: None}),
        reassignments(name),
        expect=answer("reassign", CODE).is_(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS),
    )


@claim("replication.nothing-moves", evidence=("KIP-455",), api="ListPartitionReassignments",
       **SHORT_SESSIONS_UNHARMED)  # fmt: skip
def test_nothing_moves(case):
    """ListPartitionReassignments is empty without a reassignment, also for a topic that does not
    exist.
    """
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2)),
        reassignments(name, name="there"),
        reassignments(case.topic("other"), name="not there"),
        expect=all_of(answer("there", "topics").is_([]), answer("not there", "topics").is_([])),
    )


@claim("replication.half-way-both-rows-are-shown", evidence=("CTL-22", "KIP-455"), **HALF_WAY)
def test_half_way_both_rows_are_shown(case):
    """During a reassignment Metadata shows old and new replicas and the old ISR;
    ListPartitionReassignments shows which replicas are added and removed.
    """
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 0), ONE),
        pause_broker(2),
        reassign(name, {0: [1, 2]}),
        Until(look(case, name), ROW, "len ==", 3),
        reassignments(name),
        write(name, TWO),
        resume_broker(2),
        done(case, name, [1, 2]),
        expect=all_of(
            answer("look", ROW).has_length(3),
            answer("look", ISR).is_([1, 0]),
            answer("reassignments", f"{LISTED}.adding_replicas").is_([2]),
            answer("reassignments", f"{LISTED}.removing_replicas").is_([0]),
            stored("write", 1),
        ),
    )


@claim("replication.a-cancelled-move-goes-back", evidence=("CTL-22", "KIP-455"), **HALF_WAY)
def test_a_cancelled_move_goes_back(case):
    """Cancelling a reassignment restores the old replicas and keeps the records written meanwhile;
    KRaft lists the replicas by id instead of in their old order.
    """
    name = case.topic()
    how = {"version": 3} if case.release == "2.8" else {}  # without the epoch, of several, it got
    return case.scenario(
        a_log(name, (1, 0), ONE),
        pause_broker(2),
        reassign(name, {0: [2]}),
        Until(look(case, name), ROW, "len ==", 3),
        write(name, TWO),
        reassign(name, {0: None}, name="cancel"),
        Until(_topic_row(case, name, "done"), ROW, "len ==", 2, also=((ISR, "len ==", 2),)),
        Until(reassignments(name, name="done all"), "topics", "len ==", 0),
        resume_broker(2),
        marked(name, 2, **how),
        expect=all_of(
            answer("cancel", CODE).is_(ErrorCode.NONE),
            stored("write", 1),
            records("read", "[1].value").is_(TWO),
            by_release(
                {"2.8": answer("done", ROW).is_([1, 0]), "3.9+": answer("done", ROW).is_([0, 1])}
            ),
        ),
    )


@claim("replication.a-move-is-changed-half-way", evidence=("CTL-22", "KIP-455"), **HALF_WAY)
def test_a_move_is_changed_half_way(case):
    """A second reassignment replaces the first one and drops the replicas that only the first one
    added.
    """
    name = case.topic()
    return case.scenario(
        a_log(name, (1,), ONE),
        pause_broker(2),
        reassign(name, {0: [2]}),
        Until(look(case, name), ROW, "len ==", 2),
        reassign(name, {0: [0]}, name="instead"),
        done(case, name, [0]),
        resume_broker(2),
        serves(name, 0, 1),
        expect=all_of(
            answer("instead", CODE).is_(ErrorCode.NONE), records("moved", "[0].value").is_(ONE)
        ),
    )


@claim("replication.a-topic-is-deleted-half-way", evidence=("CTL-21", "CTL-22"), **HALF_WAY)
def test_a_topic_is_deleted_half_way(case):
    """Deleting a topic during a reassignment succeeds and ends the reassignment."""
    name = case.topic()
    return case.scenario(
        a_log(name, (1,), ONE),
        pause_broker(2),
        reassign(name, {0: [1, 2]}),
        Until(look(case, name), ROW, "len ==", 2),
        delete_topic(name, timeout_ms=500, name="delete", broker=0),
        resume_broker(2),
        topic_gone(name),
        Until(reassignments(name), "topics", "len ==", 0),
        expect=all_of(
            answer("delete", "responses[0].error_code").is_(ErrorCode.NONE),
            answer(f"gone {name.key}", "topics[0].error_code").is_(
                ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            ),
            answer("reassignments", "error_code").is_(ErrorCode.NONE),
            answer("reassignments", "topics").has_length(0),
        ),
    )


@claim("replication.moves-to-absent-brokers", evidence=("CTL-22", "KIP-455"), **HALF_WAY)
def test_moves_to_absent_brokers(case):
    """A reassignment to a stopped broker answers INVALID_REPLICA_ASSIGNMENT in 2.8; KRaft accepts
    it and waits for the broker.
    """
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 0), ONE),
        stop_broker(2),
        until_led(case, name, 1, [1, 0]),
        reassign(name, {0: [1, 2]}),
        reassignments(name),
        expect=by_release(
            {
                "2.8": all_of(
                    answer("reassign", CODE).is_(ErrorCode.INVALID_REPLICA_ASSIGNMENT),
                    answer("reassignments", "topics").has_length(0),
                ),
                "3.9+": all_of(
                    answer("reassign", CODE).is_(ErrorCode.NONE),
                    answer("reassignments", f"{LISTED}.adding_replicas").is_([2]),
                ),
            }
        ),
    )
