"""Groups and their offsets by an admin client (KIP-222, KIP-396, KIP-496)."""

from touchstone.harness.model.claim import claim
from touchstone.harness.model.expect import all_of, answer, client
from touchstone.suites.kit.admins import does
from touchstone.suites.kit.clients import (
    QUICK,
    A,
    C,
    a_topic,
    admin,
    close,
    commit,
    consumer,
    fault,
    place,
    reads,
    stored,
    subscribe,
)
from touchstone.suites.kit.transactions import offset_fetch

DONE = {"name": "admin_result"}
MEMBER = {"partition.assignment.strategy": "range", "enable.auto.commit": "false"}


def _a_member(topic, group):
    """A group with one member that has read and committed two records."""
    return [
        a_topic(topic),
        stored(topic, "a", "b"),
        consumer(config=MEMBER | {"group.id": group}),
        subscribe(topic),
        reads(2),
        commit(),
        admin(),
    ]


def _an_empty_group(topic, group):
    """A group whose member has left."""
    return [_a_member(topic, group), close(C)]


@claim("admin.groups-are-asked-of-every-broker", evidence=("KIP-222",), role="client",
       releases="2.8+", switches=("admin-gives-nothing",), brokers=3)  # fmt: skip
def test_groups_are_asked_of_every_broker(case):
    """An admin client asks every broker for its groups, and gives all of them."""
    topic, group = case.topic(), case.group()
    return case.scenario(
        a_topic(topic, brokers=3),
        stored(topic, "a", "b"),
        consumer(config=MEMBER | {"group.id": group}),
        subscribe(topic),
        admin(),
        does("list_groups"),
        expect=all_of(
            *(client("brokers", api="ListGroups").contains(at) for at in (0, 1, 2)),
            client("given", operation="list_groups").contains(group),
        ),
        config=QUICK,
    )


@claim("admin.a-group-is-described-by-its-coordinator", evidence=("KIP-222",), role="client",
       switches=("admin-gives-nothing",))  # fmt: skip
def test_a_group_is_described_by_its_coordinator(case):
    """An admin client finds a group's coordinator, and gives the group's state and members."""
    topic, group = case.topic(), case.group()
    return case.scenario(
        _a_member(topic, group),
        does("describe_group", group=group),
        expect=all_of(
            client("count", api="FindCoordinator", client=A).at_least(1),
            client("results", operation="describe_group").is_([{"state": "Stable", "members": 1}]),
        ),
        config=QUICK,
    )


@claim("admin.a-group-with-members-is-kept", evidence=("KIP-229",), role="client",
       releases="2.2+", switches=("admin-errors-swallowed",))  # fmt: skip
def test_a_group_with_members_is_kept(case):
    """An admin client that deletes a group which has members reports NON_EMPTY_GROUP."""
    topic, group = case.topic(), case.group()
    return case.scenario(
        _a_member(topic, group),
        does("delete_groups", groups=[group]),
        expect=client("codes", **DONE).is_(["NON_EMPTY_GROUP"]),
        config=QUICK,
    )


@claim("admin.an-empty-group-is-deleted", evidence=("KIP-229",), role="client", releases="2.2+",
       switches=("deletes-nothing",))  # fmt: skip
def test_an_empty_group_is_deleted(case):
    """An admin client deletes a group without members, and its offsets are gone."""
    topic, group = case.topic(), case.group()
    return case.scenario(
        _an_empty_group(topic, group),
        does("delete_groups", groups=[group]),
        offset_fetch(group, topic, name="after"),
        expect=all_of(
            client("codes", **DONE).is_([""]),
            answer("after", "topics[0].partitions[0].committed_offset").is_(-1),
        ),
        config=QUICK,
    )


@claim("admin.a-moved-coordinator-is-looked-up", evidence=("KIP-229",), role="client",
       releases="2.2+", switches=("passing-errors-are-final",),
       error=("NOT_COORDINATOR", "COORDINATOR_LOAD_IN_PROGRESS"))  # fmt: skip
def test_a_moved_coordinator_is_looked_up(case):
    """An admin client whose DeleteGroups meets a coordinator that moved or loads asks again."""
    topic, group = case.topic(), case.group()
    return case.scenario(
        _an_empty_group(topic, group),
        fault("DeleteGroups", case.error, 1),
        does("delete_groups", groups=[group]),
        expect=all_of(
            client("codes", **DONE).is_([""]), client("count", api="DeleteGroups").is_(2)
        ),
        config=QUICK,
    )


@claim("admin.offsets-of-a-group-are-altered", evidence=("KIP-396",), role="client",
       releases="2.2+", switches=("commits-the-last-offset",))  # fmt: skip
def test_offsets_of_a_group_are_altered(case):
    """An admin client that alters an empty group's offset commits it as nobody's member."""
    topic, group = case.topic(), case.group()
    return case.scenario(
        _an_empty_group(topic, group),
        does("alter_offsets", group=group, offsets=[place(topic) | {"offset": 1}]),
        offset_fetch(group, topic, name="after"),
        expect=all_of(
            client("codes", **DONE).is_([""]),
            client("asked", api="OffsetCommit", path="member_id", client=A).is_([""]),
            answer("after", "topics[0].partitions[0].committed_offset").is_(1),
        ),
        config=QUICK,
    )


@claim("admin.offsets-of-a-group-with-members-are-kept", evidence=("KIP-396",), role="client",
       releases="2.2+", switches=("admin-errors-swallowed",))  # fmt: skip
def test_offsets_of_a_group_with_members_are_kept(case):
    """An admin client that alters offsets of a group with members reports UNKNOWN_MEMBER_ID."""
    topic, group = case.topic(), case.group()
    return case.scenario(
        _a_member(topic, group),
        does("alter_offsets", group=group, offsets=[place(topic) | {"offset": 1}]),
        expect=client("codes", **DONE).is_(["UNKNOWN_MEMBER_ID"]),
        config=QUICK,
    )


@claim("admin.offsets-of-a-group-are-given", evidence=("KIP-222",), role="client",
       switches=("admin-gives-nothing",))  # fmt: skip
def test_offsets_of_a_group_are_given(case):
    """An admin client gives what a group has committed of every partition."""
    topic, group = case.topic(), case.group()
    return case.scenario(
        _an_empty_group(topic, group),
        does("group_offsets", group=group),
        expect=client("results", operation="group_offsets").is_([[place(topic) | {"offset": 2}]]),
        config=QUICK,
    )


@claim("admin.offsets-of-a-group-are-deleted", evidence=("KIP-496",), role="client",
       releases="2.8+", switches=("deletes-nothing",))  # fmt: skip
def test_offsets_of_a_group_are_deleted(case):
    """An admin client deletes the offset of a partition from a group that does not read it."""
    topic, group = case.topic(), case.group()
    return case.scenario(
        _an_empty_group(topic, group),
        does("delete_offsets", group=group, **place(topic)),
        offset_fetch(group, topic, name="after"),
        expect=all_of(
            client("codes", **DONE).is_([""]),
            client("count", api="OffsetDelete").is_(1),
            answer("after", "topics[0].partitions[0].committed_offset").is_(-1),
        ),
        config=QUICK,
    )


@claim("admin.offsets-of-a-subscribed-topic-are-kept", evidence=("KIP-496",), role="client",
       releases="2.8+", switches=("admin-errors-swallowed",))  # fmt: skip
def test_offsets_of_a_subscribed_topic_are_kept(case):
    """An admin client that deletes the offset of a topic which a member subscribes to reports
    GROUP_SUBSCRIBED_TO_TOPIC.
    """
    topic, group = case.topic(), case.group()
    return case.scenario(
        _a_member(topic, group),
        does("delete_offsets", group=group, **place(topic)),
        expect=client("codes", **DONE).is_(["GROUP_SUBSCRIBED_TO_TOPIC"]),
        config=QUICK,
    )
