"""Requests 83 to 87: how states of share partitions are written down, read and fenced.

Brokers send them to the share coordinator; who asks as they do is answered as they are. The group
need not be there: the coordinator of states knows share partitions only.

Sources: KIP-932, KIP-1226; ShareCoordinatorService, ShareCoordinatorShard@4.3.1; observed on 4.3.1.
"""

from touchstone.harness.model.expect import all_of, answer
from touchstone.harness.model.placeholders import TopicId
from touchstone.harness.model.scenario import Until
from touchstone.harness.model.steps import a_topic, ask
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.shares import a_group, claims

INITIALISE, READ, WRITE, DELETE, SUMMARY = (
    "InitializeShareGroupState",
    "ReadShareGroupState",
    "WriteShareGroupState",
    "DeleteShareGroupState",
    "ReadShareGroupStateSummary",
)
ROW = "results[0].partitions[0]"
CODE, BATCHES = f"{ROW}.error_code", f"{ROW}.state_batches"
STATE = "no-such-group"  # of states; groups are not asked for
AVAILABLE, ACKNOWLEDGED, ARCHIVED = 0, 2, 4


states = claims()


def asked(api, topic, version=0, partition=0, group=STATE, name=None, broker=None, **fields):
    topic_id = topic if isinstance(topic, bytes) else TopicId(topic)
    rows = [{"topic_id": topic_id, "partitions": [{"partition": partition} | fields]}]
    return ask(api, version, {"group_id": group, "topics": rows}, name=name, broker=broker)


def begin(topic, epoch=1, start=0, **how):
    return asked(INITIALISE, topic, state_epoch=epoch, start_offset=start, **how)


def read(topic, leader=0, **how):
    return asked(READ, topic, leader_epoch=leader, **how)


def batch(first, last, state, count):
    return {
        "first_offset": first,
        "last_offset": last,
        "delivery_state": state,
        "delivery_count": count,
    }


def write(topic, *batches, epoch=1, leader=0, start=0, version=1, done=0, **how):
    fields = {"delivery_complete_count": done} if version else {}
    return asked(
        WRITE, topic, version, state_epoch=epoch, leader_epoch=leader, start_offset=start,
        state_batches=list(batches), **fields, **how,
    )  # fmt: skip


def summary(topic, version=1, **how):
    return asked(SUMMARY, topic, version, leader_epoch=-1, **how)


def a_state(case, topic, **how):
    """A topic whose first share partition has a state; a group has the states' topic made."""
    return [
        a_group(case.topic("maker"), case.topic("made")),
        a_topic(topic),
        Until(begin(topic, name="begun", **how), CODE, "==", 0),
    ]


def is_(step, code):
    return answer(step, CODE).is_(code)


@states("states-begin-once-for-an-epoch", INITIALISE)
def test_states_begin_once_for_an_epoch(case):
    """InitializeShareGroupState sets the start offset for the same or a newer state epoch and
    answers FENCED_STATE_EPOCH for an older one."""
    topic = case.topic()
    return case.scenario(
        a_state(case, topic, epoch=3, start=5),
        begin(topic, epoch=3, start=7, version=case.version, name="the same"),
        begin(topic, epoch=2, start=9, version=case.version, name="older"),
        begin(topic, epoch=-1, start=8, version=case.version, name="none"),
        summary(topic, name="summary"),
        expect=all_of(
            is_("the same", 0),
            is_("older", ErrorCode.FENCED_STATE_EPOCH),
            is_("none", 0),
            answer("summary", f"{ROW}.start_offset").is_(8),
        ),
    )


@states("states-are-of-partitions", INITIALISE)
def test_states_are_of_partitions(case):
    """InitializeShareGroupState answers UNKNOWN_TOPIC_OR_PARTITION for a topic or partition that
    does not exist and INVALID_REQUEST for a negative partition."""
    topic = case.topic()
    return case.scenario(
        a_state(case, topic),
        begin(bytes(range(16)), version=case.version, name="no topic"),
        begin(topic, partition=4, version=case.version, name="no partition"),
        begin(topic, partition=-1, version=case.version, name="negative"),
        expect=all_of(
            is_("no topic", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
            is_("no partition", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
            is_("negative", ErrorCode.INVALID_REQUEST),
        ),
    )


@states("nothing-is-answered-nothing", INITIALISE)
def test_nothing_is_answered_nothing(case):
    """InitializeShareGroupState with an empty group id or without topics returns no results."""
    topic = case.topic()
    body = {"group_id": STATE, "topics": []}
    return case.scenario(
        a_state(case, topic),
        begin(topic, group="", version=case.version, name="no group"),
        ask(INITIALISE, case.version, body, name="no topics"),
        expect=all_of(
            answer("no group", "results").has_length(0),
            answer("no topics", "results").has_length(0),
        ),
    )


@states("states-are-read", READ)
def test_states_are_read(case):
    """ReadShareGroupState returns the state epoch and start offset that InitializeShareGroupState
    set, without batches."""
    topic = case.topic()
    return case.scenario(
        a_state(case, topic, epoch=3, start=5),
        read(topic, version=case.version, name="read"),
        expect=all_of(
            is_("read", 0),
            answer("read", f"{ROW}.state_epoch").is_(3),
            answer("read", f"{ROW}.start_offset").is_(5),
            answer("read", BATCHES).has_length(0),
        ),
    )


@states("states-must-begin-to-be-read", READ)
def test_states_must_begin_to_be_read(case):
    """ReadShareGroupState answers INVALID_REQUEST for a state that was not initialised and for a
    negative partition, and returns no results for an empty group id."""
    topic, other = case.topic(), case.topic("other")
    return case.scenario(
        a_topic(other),
        a_state(case, topic),
        read(other, version=case.version, name="not begun"),
        read(topic, partition=-1, version=case.version, name="negative"),
        read(topic, group="", version=case.version, name="no group"),
        expect=all_of(
            is_("not begun", ErrorCode.INVALID_REQUEST),
            is_("negative", ErrorCode.INVALID_REQUEST),
            answer("no group", "results").has_length(0),
        ),
    )


@states("older-leaders-are-fenced", READ)
def test_older_leaders_are_fenced(case):
    """ReadShareGroupState and WriteShareGroupState answer FENCED_LEADER_EPOCH for a leader epoch
    older than the newest that has read the state."""
    topic = case.topic()
    return case.scenario(
        a_state(case, topic),
        read(topic, 5, version=case.version, name="newer"),
        read(topic, 4, version=case.version, name="older"),
        read(topic, -1, version=case.version, name="nobody"),
        write(topic, batch(0, 1, ACKNOWLEDGED, 1), leader=4, name="writes"),
        summary(topic, name="summary"),
        expect=all_of(
            is_("newer", 0),
            is_("older", ErrorCode.FENCED_LEADER_EPOCH),
            is_("nobody", 0),
            is_("writes", ErrorCode.FENCED_LEADER_EPOCH),
            answer("summary", f"{ROW}.leader_epoch").is_(5),
        ),
    )


@states("writes-are-put-together", WRITE)
def test_writes_are_put_together(case):
    """WriteShareGroupState merges neighbouring batches of the same state, and a higher delivery
    count overrides a lower one."""
    topic = case.topic()
    how = {"version": case.version}
    return case.scenario(
        a_state(case, topic),
        write(topic, batch(0, 4, AVAILABLE, 1), batch(5, 9, ACKNOWLEDGED, 1), **how, name="first"),
        write(topic, batch(2, 3, AVAILABLE, 2), batch(10, 11, ACKNOWLEDGED, 1), **how, name="2nd"),
        write(topic, batch(3, 3, ARCHIVED, 2), batch(0, 0, AVAILABLE, 0), **how, name="third"),
        read(topic, name="read"),
        expect=answer("read", BATCHES).is_(
            [
                batch(0, 1, AVAILABLE, 1),
                batch(2, 2, AVAILABLE, 2),
                batch(3, 3, ARCHIVED, 2),
                batch(4, 4, AVAILABLE, 1),
                batch(5, 11, ACKNOWLEDGED, 1),
            ]
        ),
    )


@states("writes-move-the-start", WRITE)
def test_writes_move_the_start(case):
    """WriteShareGroupState with a start offset drops what lies below it; -1 keeps the start
    offset."""
    topic = case.topic()
    how = {"version": case.version}
    return case.scenario(
        a_state(case, topic),
        write(topic, batch(0, 9, AVAILABLE, 1), **how, name="first"),
        write(topic, start=4, **how, name="moves"),
        write(topic, batch(20, 21, AVAILABLE, 1), start=-1, **how, name="stays"),
        read(topic, name="read"),
        expect=all_of(
            answer("read", f"{ROW}.start_offset").is_(4),
            answer("read", BATCHES).is_([batch(4, 9, AVAILABLE, 1), batch(20, 21, AVAILABLE, 1)]),
        ),
    )


@states("older-states-do-not-write", WRITE)
def test_older_states_do_not_write(case):
    """WriteShareGroupState answers FENCED_STATE_EPOCH for an older state epoch and INVALID_REQUEST
    for a state that was not initialised."""
    topic, other = case.topic(), case.topic("other")
    how = {"version": case.version}
    return case.scenario(
        a_topic(other),
        a_state(case, topic, epoch=3),
        write(topic, batch(0, 1, AVAILABLE, 1), epoch=2, **how, name="older"),
        write(topic, batch(0, 1, AVAILABLE, 1), epoch=-1, **how, name="none"),
        write(other, batch(0, 1, AVAILABLE, 1), **how, name="not begun"),
        write(topic, batch(0, 1, AVAILABLE, 1), epoch=3, partition=-1, **how, name="negative"),
        expect=all_of(
            is_("older", ErrorCode.FENCED_STATE_EPOCH),
            is_("none", 0),
            is_("not begun", ErrorCode.INVALID_REQUEST),
            is_("negative", ErrorCode.INVALID_REQUEST),
        ),
    )


@states("deleted-states-are-gone", DELETE)
def test_deleted_states_are_gone(case):
    """DeleteShareGroupState removes a state: reading it answers INVALID_REQUEST, and deleting it
    again answers no error."""
    topic = case.topic()
    return case.scenario(
        a_state(case, topic, epoch=3),
        asked(DELETE, topic, case.version, name="deleted"),
        asked(DELETE, topic, case.version, name="again"),
        read(topic, name="read"),
        begin(topic, epoch=1, name="begins in an older epoch"),
        asked(DELETE, topic, case.version, partition=4, name="no partition"),
        expect=all_of(
            is_("deleted", 0),
            is_("again", 0),
            is_("read", ErrorCode.INVALID_REQUEST),
            is_("begins in an older epoch", 0),
            is_("no partition", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ),
    )


@states("summaries-tell-the-start", SUMMARY)
def test_summaries_tell_the_start(case):
    """ReadShareGroupStateSummary returns the state epoch and the start offset."""
    topic = case.topic()
    return case.scenario(
        a_state(case, topic, epoch=3, start=5),
        summary(topic, version=case.version, name="begun summary"),
        write(topic, batch(5, 6, ACKNOWLEDGED, 1), epoch=3, start=5, done=2, name="written"),
        summary(topic, version=case.version, name="written summary"),
        expect=all_of(
            answer("begun summary", f"{ROW}.state_epoch").is_(3),
            answer("written summary", f"{ROW}.start_offset").is_(5),
        ),
    )


@states("summaries-of-nothing", SUMMARY)
def test_summaries_of_nothing(case):
    """ReadShareGroupStateSummary returns start offset -1 for a state that was not initialised and
    UNKNOWN_TOPIC_OR_PARTITION for a partition that does not exist."""
    topic, other = case.topic(), case.topic("other")
    return case.scenario(
        a_topic(other),
        a_state(case, topic),
        summary(other, version=case.version, name="not begun"),
        summary(other, version=case.version, partition=4, name="no partition"),
        expect=all_of(
            answer("not begun", f"{ROW}.start_offset").is_(-1),
            is_("not begun", 0),
            is_("no partition", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ),
    )
