"""What the share coordinator writes down, when it writes all of it, and what it deletes again.

A case reads its own records of `__share_group_state`, from where the log ended when it began; that
they are Kafka's is seen by comparing them. Three clusters are asked: one that writes a snapshot
after two updates, one that writes nothing but snapshots and deletes what they made redundant every
half second, and one that looks every second for states that nobody writes to. On the last two
nobody may leave a share partition behind: the oldest snapshot that counts is where the log begins,
and as long as one is not cold all that are get a snapshot.

Sources: KIP-932; ShareCoordinatorService, ShareCoordinatorShard, ShareCoordinatorOffsetsManager,
ShareCoordinatorRecordHelpers@4.3.1; observed on 4.3.1.
"""

from touchstone.harness.model.claim import claim, every
from touchstone.harness.model.expect import all_of, answer, own_batches
from touchstone.harness.model.placeholders import Ref
from touchstone.harness.model.scenario import Until
from touchstone.harness.model.steps import EARLIEST, ask, delete_topic, list_offsets, topic_gone
from touchstone.suites.kit.internal_logs import SHARE_STATES as LOG
from touchstone.suites.kit.internal_logs import log_end, since, written
from touchstone.suites.kit.shares import ANNE, CLUSTER, RELEASE, SEEN, a_group, beat, is_
from touchstone.suites.share.test_states import (
    ACKNOWLEDGED,
    AVAILABLE,
    CODE,
    WRITE,
    a_state,
    asked,
    batch,
    begin,
    read,
    summary,
    write,
)
from touchstone.suites.share.test_states import ROW as STATE

OFFSET = "topics[0].partitions[0].offset"
READ = "responses[0].partitions[0]"
SNAPSHOT, UPDATE = 0, 1  # kinds of records, as their keys begin
FEW = CLUSTER | {"share.coordinator.snapshot.update.records.per.snapshot": 2}
PRUNED = CLUSTER | {
    "share.coordinator.snapshot.update.records.per.snapshot": 0,
    "share.coordinator.state.topic.prune.interval.ms": 500,
}
COLD = CLUSTER | {"share.coordinator.cold.partition.snapshot.interval.ms": 1000}


def logs(name, api, config=FEW, **how):
    return claim(
        f"share.{name}", evidence=SEEN, api=api, versions=every(api), releases=RELEASE,
        config=config, **how,
    )  # fmt: skip


def buries():
    """The log got the tombstone of one share partition's state."""
    return all_of(
        own_batches("log", "[*].records[*].kind").is_([[SNAPSHOT]]),
        own_batches("log", "[*].records[*].value").is_([[None]]),
    )


def begins_at(offset, name):
    """Wait until this is where the log begins."""
    return Until(list_offsets(LOG, 0, timestamp=EARLIEST, name=name), OFFSET, "==", offset)


@logs("every-so-often-a-snapshot", WRITE, switches=("share-snapshots-missing",))
def test_every_so_often_a_snapshot(case):
    """After share.coordinator.snapshot.update.records.per.snapshot updates the share coordinator
    writes a snapshot with the next snapshot epoch; initialising a state again writes one, too."""
    topic, group = case.topic(), case.topic("group")
    how = {"group": group, "version": case.version}
    updates = [
        write(topic, batch(at, at, ACKNOWLEDGED, 1), start=at, **how, name=f"write {at}")
        for at in range(5)
    ]
    anew = [
        begin(topic, group=group, name="anew"),
        *(write(topic, batch(at, at, AVAILABLE, 1), **how, name=f"{at} anew") for at in range(2)),
    ]
    return case.scenario(
        a_state(case, topic, group=group),
        written(LOG, *updates, *anew),
        read(topic, group=group, name="read"),
        expect=all_of(
            own_batches("log", "[*].records[*].kind").is_(
                [[UPDATE], [UPDATE], [SNAPSHOT], [UPDATE], [UPDATE], [SNAPSHOT], [UPDATE], [UPDATE]]
            ),
            own_batches("log", "[2].records[0].value.snapshot_epoch").is_(1),
            own_batches("log", "[5].records[0].value.snapshot_epoch").is_(2),
            answer("read", f"{STATE}.start_offset").is_(0),
        ),
    )


@logs("newer-leaders-are-written-down", "ReadShareGroupState")
def test_newer_leaders_are_written_down(case):
    """ReadShareGroupState with a newer leader epoch writes an update; one with the same or an older
    epoch writes nothing."""
    topic, group = case.topic(), case.topic("group")
    reads = [
        read(topic, epoch, group=group, version=case.version, name=f"{word} {epoch}")
        for word, epoch in (("first", 5), ("again", 5), ("older", 4), ("nobody", -1), ("next", 6))
    ]
    return case.scenario(
        a_state(case, topic, group=group),
        written(LOG, *reads),
        expect=all_of(
            own_batches("log", "[*].records[*].kind").is_([[UPDATE], [UPDATE]]),
            own_batches("log", "[*].records[*].value.leader_epoch").is_([[5], [6]]),
        ),
    )


@logs("deleted-topics-leave-tombstones", "DeleteTopics", switches=("share-tombstones-missing",))
def test_deleted_topics_leave_tombstones(case):
    """Deleting a topic writes a tombstone for the state of each of its share partitions."""
    topic, group = case.topic(), case.topic("group")
    return case.scenario(
        a_state(case, topic, group=group),
        log_end(LOG),
        delete_topic(topic, version=case.version, name="delete"),
        topic_gone(topic),
        Until(since(LOG), f"{READ}.high_watermark", ">=", Ref("log end", OFFSET, 1)),
        expect=buries(),
    )


@logs("deleted-share-groups-leave-tombstones", "DeleteGroups")
def test_deleted_share_groups_leave_tombstones(case):
    """Deleting a share group writes a tombstone for the state of each of its share partitions."""
    group, topic = case.topic("group"), case.topic()
    gone = ask("DeleteGroups", case.version, {"groups_names": [group]}, name="delete")
    return case.scenario(
        a_group(group, topic),
        beat(group, ANNE, -1, name="leaves"),
        written(LOG, gone),
        expect=all_of(
            is_("delete", 0, "results[0].error_code"),
            buries(),
        ),
    )


@logs(
    "what-snapshots-made-redundant-is-deleted", WRITE, PRUNED, switches=("share-log-never-pruned",)
)
def test_what_snapshots_made_redundant_is_deleted(case):
    """The share coordinator deletes records of its log below the oldest last snapshot; a share
    partition without further writes holds that offset back."""
    topic, group, idle = case.topic(), case.topic("group"), case.topic("idle")
    made, maker = case.topic("made"), case.topic("maker")
    how = {"group": group, "version": case.version}
    first, second = Ref("before the first", OFFSET), Ref("before the idle one", OFFSET)
    return case.scenario(
        a_state(case, topic, group=group),
        asked("DeleteShareGroupState", made, group=maker, name="nobody else"),
        log_end(LOG, name="before the first"),
        write(topic, batch(0, 1, ACKNOWLEDGED, 1), **how, name="first"),
        begins_at(first, "pruned"),
        write(topic, batch(2, 3, ACKNOWLEDGED, 1), **how, name="second"),
        log_end(LOG, name="before the idle one"),
        begin(topic, group=idle, name="idle"),
        write(topic, batch(4, 5, ACKNOWLEDGED, 1), **how, name="third"),
        write(topic, batch(6, 7, ACKNOWLEDGED, 1), **how, name="fourth"),
        begins_at(second, "held back"),
        read(topic, group=group, name="read"),
        delete_topic(topic, name="delete"),
        topic_gone(topic),
        expect=all_of(
            answer("pruned", OFFSET).is_(first),
            answer("held back", OFFSET).is_(second),
            is_("third", 0, CODE),
            is_("read", 0, CODE),
            answer("read", "results[0].partitions[0].state_batches[*].last_offset").is_([7]),
        ),
    )


@logs(
    "cold-states-get-a-snapshot",
    "ReadShareGroupStateSummary",
    COLD,
    switches=("share-cold-states-stay",),
)
def test_cold_states_get_a_snapshot(case):
    """The share coordinator writes a snapshot of a state without updates for
    share.coordinator.cold.partition.snapshot.interval.ms, once."""
    topic, group = case.topic(), case.topic("group")
    made, maker = case.topic("made"), case.topic("maker")
    grown = Until(log_end(LOG, name="grown"), OFFSET, ">=", Ref("log end", OFFSET, 1))
    return case.scenario(
        a_state(case, topic, group=group),
        asked("DeleteShareGroupState", made, group=maker, name="nobody else"),
        write(topic, batch(0, 1, ACKNOWLEDGED, 1), group=group, name="written"),
        written(LOG, grown),
        summary(topic, version=case.version, group=group, name="summary"),
        delete_topic(topic, name="delete"),
        topic_gone(topic),
        expect=all_of(
            is_("summary", 0, CODE),
            own_batches("log", "[*].records[*].kind").is_([[SNAPSHOT]]),
            own_batches("log", "[*].records[*].value.snapshot_epoch").is_([[1]]),
        ),
    )
