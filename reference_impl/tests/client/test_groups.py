"""A member of a group against a made-up coordinator: every error has its reaction."""

import re

import pytest

from touchstone.reference_impl.client.assignors import assigned, subscription
from touchstone.reference_impl.client.classic_consumer import ClassicConsumer
from touchstone.reference_impl.client.flow import ClientError, KafkaError
from touchstone.reference_impl.client.group_consumer import Listener
from touchstone.reference_impl.client.group_offsets import CommitFailed, Offset, RebalanceInProgress
from touchstone.reference_impl.client.member import REACTIONS, Do
from touchstone.reference_impl.wire.errors import ErrorCode as E

from .coordinating import Coordinating
from .scripted import Runner, topic, view

BOTH = [("t", 0), ("t", 1)]


def member(script: Coordinating, **options) -> tuple[ClassicConsumer, Runner]:
    seen = view(*script.topics)
    options = {"auto_commit_ms": None, "reset": "earliest"} | options
    consumer = ClassicConsumer(seen, "g", **options)
    consumer.subscribe(["t"])
    return consumer, Runner(seen, script)


def apis(runner: Runner) -> list[str]:
    return [ask.api for ask in runner.asks]


def test_a_new_member_finds_its_coordinator_joins_and_begins_where_the_group_is():
    script = Coordinating()
    script.offsets = {("t", 1): 42}
    consumer, runner = member(script)
    runner.run(consumer.poll())
    assert consumer.positions == {("t", 0): 0, ("t", 1): 42}
    assert (consumer.member.id, consumer.member.generation) == ("member", 1)
    wanted = ["FindCoordinator", "JoinGroup", "SyncGroup", "OffsetFetch", "ListOffsets", "Fetch"]
    assert [api for api in apis(runner) if api != "Metadata"] == wanted
    assert runner.asked("JoinGroup")[0].timeout_ms == 305_000


def test_a_member_id_that_is_required_is_taken_at_once():
    consumer, runner = member(Coordinating(JoinGroup=[E.MEMBER_ID_REQUIRED]))
    runner.run(consumer.poll())
    assert [ask.body["member_id"] for ask in runner.asked("JoinGroup")] == ["", "named"]
    assert not runner.pauses


@pytest.mark.parametrize("said", [E.NOT_COORDINATOR, E.COORDINATOR_NOT_AVAILABLE, "closed"])
@pytest.mark.parametrize("api", ["JoinGroup", "SyncGroup", "OffsetFetch"])
def test_a_coordinator_that_moved_is_looked_for(api, said):
    consumer, runner = member(Coordinating(**{api: [said]}))
    runner.run(consumer.poll())
    assert apis(runner).count("FindCoordinator") == 2
    assert apis(runner).count("JoinGroup") == (1 if api == "OffsetFetch" else 2)
    assert runner.pauses == [100]


@pytest.mark.parametrize("api", ["JoinGroup", "OffsetFetch", "FindCoordinator"])
def test_a_coordinator_that_loads_is_waited_for(api):
    consumer, runner = member(Coordinating(**{api: [E.COORDINATOR_LOAD_IN_PROGRESS] * 3}))
    runner.run(consumer.poll())
    assert runner.pauses == [100, 200, 400]
    assert apis(runner).count("FindCoordinator") == (4 if api == "FindCoordinator" else 1)
    assert consumer.member.generation == 1


def test_offsets_that_a_transaction_holds_are_waited_for():
    consumer, runner = member(Coordinating(OffsetFetch=[E.UNSTABLE_OFFSET_COMMIT]))
    runner.run(consumer.poll())
    assert runner.pauses == [100]
    assert all(ask.body["require_stable"] for ask in runner.asked("OffsetFetch"))


FATAL = [
    E.FENCED_INSTANCE_ID,
    E.INCONSISTENT_GROUP_PROTOCOL,
    E.INVALID_SESSION_TIMEOUT,
    E.GROUP_MAX_SIZE_REACHED,
    E.GROUP_AUTHORIZATION_FAILED,
]


@pytest.mark.parametrize("api", ["JoinGroup", "SyncGroup"])
@pytest.mark.parametrize("code", FATAL)
def test_what_a_member_cannot_help_is_raised(api, code):
    consumer, runner = member(Coordinating(**{api: [code]}))
    with pytest.raises(KafkaError, match=code.name):
        runner.run(consumer.poll())


@pytest.mark.parametrize("api", ["JoinGroup", "SyncGroup"])
def test_who_was_refused_joins_again_with_the_next_poll(api):
    consumer, runner = member(Coordinating(**{api: [E.INCONSISTENT_GROUP_PROTOCOL]}))
    with pytest.raises(KafkaError):
        runner.run(consumer.poll())
    runner.run(consumer.poll())
    assert len(runner.asked("JoinGroup")) == 2
    assert consumer.positions == dict.fromkeys(BOTH, 0)


@pytest.mark.parametrize(
    ("api", "code", "ids"),
    [
        ("JoinGroup", E.UNKNOWN_MEMBER_ID, ["", ""]),
        ("SyncGroup", E.UNKNOWN_MEMBER_ID, ["", ""]),
        ("SyncGroup", E.ILLEGAL_GENERATION, ["", "member"]),
        ("SyncGroup", E.REBALANCE_IN_PROGRESS, ["", "member"]),
    ],
)
def test_a_membership_that_is_gone_is_begun_again(api, code, ids):
    consumer, runner = member(Coordinating(**{api: [code]}))
    runner.run(consumer.poll())
    assert [ask.body["member_id"] for ask in runner.asked("JoinGroup")] == ids
    assert not consumer.member.rejoin


@pytest.mark.parametrize(
    ("code", "told", "ids"),
    [
        (E.REBALANCE_IN_PROGRESS, ["assigned", "revoked", "assigned"], ["", "member"]),
        (E.ILLEGAL_GENERATION, ["assigned", "lost", "assigned"], ["", "member"]),
        (E.UNKNOWN_MEMBER_ID, ["assigned", "lost", "assigned"], ["", ""]),
    ],
)
def test_a_heartbeat_tells_of_a_rebalance_and_of_a_lost_membership(code, told, ids):
    script = Coordinating(Heartbeat=[code])
    consumer, runner = member(script)
    events = []
    consumer.subscribe(
        ["t"],
        listener=Listener(
            assigned=lambda places: events.append("assigned"),
            revoked=lambda places: events.append("revoked"),
            lost=lambda places: events.append("lost"),
        ),
    )
    runner.run(consumer.poll())
    runner.view.now += 3_000
    runner.run(consumer.poll())
    assert events == told
    assert [ask.body["member_id"] for ask in runner.asked("JoinGroup")] == ids


def test_heartbeats_go_out_at_their_interval_and_not_before():
    consumer, runner = member(Coordinating())
    for _ in range(10):
        runner.run(consumer.poll())
        runner.view.now += 1_000
    assert len(runner.asked("Heartbeat")) == 3


def test_a_session_without_an_answer_makes_the_coordinator_unknown():
    consumer, runner = member(Coordinating(), session_timeout_ms=6_000)
    runner.run(consumer.poll())
    runner.view.now += 6_001
    runner.run(consumer.beat())
    assert apis(runner)[-2:] == ["FindCoordinator", "Heartbeat"]


def test_who_does_not_poll_leaves_and_cannot_commit():
    consumer, runner = member(Coordinating(), max_poll_interval_ms=1_000)
    runner.run(consumer.poll())
    runner.run(consumer.commit())
    runner.view.now += 3_000
    with pytest.raises(CommitFailed, match="poll was not called"):
        runner.run(consumer.commit())
    assert apis(runner)[-1] == "LeaveGroup"
    runner.run(consumer.poll())
    assert consumer.member.generation == 2
    runner.run(consumer.commit())


def test_who_waits_for_the_other_members_does_not_fail_to_poll():
    script = Coordinating()
    consumer, runner = member(script, max_poll_interval_ms=1_000)

    def slow(ask):
        runner.view.now += 3_000 * (ask.api == "JoinGroup")
        return script(ask)

    runner.script = slow
    runner.run(consumer.poll())
    runner.run(consumer.commit())
    assert not runner.asked("LeaveGroup")


def test_beat_leaves_for_who_does_not_poll():
    consumer, runner = member(Coordinating(), max_poll_interval_ms=10_000)
    runner.run(consumer.poll())
    for _ in range(5):
        runner.view.now += 3_000
        runner.run(consumer.beat())
    assert len(runner.asked("Heartbeat")) == 3
    assert len(runner.asked("LeaveGroup")) == 1


def test_a_static_member_does_not_leave():
    consumer, runner = member(Coordinating(), instance_id="one")
    runner.run(consumer.poll())
    assert runner.asked("JoinGroup")[0].body["group_instance_id"] == "one"
    runner.run(consumer.close())
    assert "LeaveGroup" not in apis(runner)


@pytest.mark.parametrize(
    ("code", "error", "generation"),
    [
        (E.REBALANCE_IN_PROGRESS, RebalanceInProgress, 1),
        (E.ILLEGAL_GENERATION, CommitFailed, -1),
        (E.UNKNOWN_MEMBER_ID, CommitFailed, -1),
        (E.FENCED_INSTANCE_ID, KafkaError, -1),
        (E.OFFSET_METADATA_TOO_LARGE, KafkaError, 1),
    ],
)
def test_a_commit_that_is_refused(code, error, generation):
    consumer, runner = member(Coordinating(OffsetCommit=[code]))
    runner.run(consumer.poll())
    with pytest.raises(error):
        runner.run(consumer.commit())
    assert consumer.member.generation == generation


@pytest.mark.parametrize(
    "code",
    [
        E.COORDINATOR_LOAD_IN_PROGRESS,
        E.UNKNOWN_TOPIC_OR_PARTITION,
        E.NOT_COORDINATOR,
        E.REQUEST_TIMED_OUT,
        "closed",
    ],
)
def test_a_commit_is_tried_again(code):
    script = Coordinating(OffsetCommit=[code, code])
    consumer, runner = member(script)
    runner.run(consumer.poll())
    runner.run(consumer.commit({("t", 0): Offset(5, 3, "why")}))
    (body,) = script.commits
    assert body["topics"][0]["partitions"] == [
        {
            "partition_index": 0,
            "committed_offset": 5,
            "committed_leader_epoch": 3,
            "committed_metadata": "why",
        }
    ]
    assert runner.pauses == [100, 200]


def test_auto_commit_takes_what_the_last_poll_returned_when_its_time_has_come():
    script = Coordinating()
    consumer, runner = member(script, auto_commit_ms=5_000)
    runner.run(consumer.poll())
    assert not script.commits
    consumer.positions["t", 0] = 7
    runner.view.now += 4_000
    runner.run(consumer.poll())
    assert not script.commits
    runner.view.now += 1_000
    runner.run(consumer.poll())
    (body,) = script.commits
    assert [row["committed_offset"] for row in body["topics"][0]["partitions"]] == [7, 0]
    runner.run(consumer.close())
    assert len(script.commits) == 2


def test_auto_commit_comes_before_a_rebalance():
    script = Coordinating(Heartbeat=[E.REBALANCE_IN_PROGRESS])
    consumer, runner = member(script, auto_commit_ms=60_000)
    runner.run(consumer.poll())
    runner.view.now += 3_000
    runner.run(consumer.poll())
    order = [api for api in apis(runner) if api in ("OffsetCommit", "JoinGroup")]
    assert order == ["JoinGroup", "OffsetCommit", "JoinGroup"]


def test_a_cooperative_member_keeps_what_it_has_and_joins_again_after_it_gave_up_some():
    script = Coordinating()
    consumer, runner = member(script, assignors=["cooperative-sticky"])
    events = []
    listener = Listener(
        assigned=lambda places: events.append(("+", places)),
        revoked=lambda places: events.append(("-", places)),
    )
    consumer.subscribe(["t"], listener=listener)
    runner.run(consumer.poll())
    script.leads, script.share = False, [("t", 1)]
    consumer.member.rejoin = "told to"
    runner.run(consumer.poll())
    assert events == [("+", BOTH), ("-", [("t", 0)]), ("+", []), ("+", [])]
    assert consumer.positions.keys() == {("t", 1)}
    assert len(runner.asked("JoinGroup")) == 3


def test_callbacks_may_commit():
    script = Coordinating()
    consumer, runner = member(script)
    consumer.subscribe(["t"], listener=Listener(revoked=lambda places: consumer.commit()))
    runner.run(consumer.poll())
    consumer.member.rejoin = "told to"
    runner.run(consumer.poll())
    assert [body["generation_id_or_member_epoch"] for body in script.commits] == [1]


def test_the_leader_joins_again_when_a_topic_has_grown():
    script = Coordinating()
    consumer, runner = member(script, metadata_max_age_ms=10_000)
    runner.run(consumer.poll())
    script.topics = (topic("t", 0, 0, 0),)
    runner.view.now += 10_000
    runner.run(consumer.poll())
    assert consumer.positions.keys() == {*BOTH, ("t", 2)}


def test_the_leader_learns_the_topics_of_all_members():
    script = Coordinating(topic("t", 0), topic("u", 0, 0))
    consumer, runner = member(script)
    other = subscription(["u"], (), -1, None)
    joined = script._JoinGroup
    script._JoinGroup = lambda body, code: (
        lambda said: said | {"members": [*said["members"], {"member_id": "o", "metadata": other}]}
    )(joined(body, code))
    seen = consumer.view
    seen.topics.pop("u")
    runner.run(consumer.poll())
    assert {each: assigned(data) for each, data in script.given.items()} == {
        "member": [("t", 0)],
        "o": [("u", 0), ("u", 1)],
    }


def test_a_pattern_takes_what_it_finds_but_nothing_internal():
    internal = topic("t-internal", 0) | {"is_internal": True}
    script = Coordinating(topic("t1", 0), topic("x", 0), internal)
    seen = view()
    consumer = ClassicConsumer(seen, "g", auto_commit_ms=None, metadata_max_age_ms=1_000)
    consumer.subscribe(pattern=re.compile("^t"))
    runner = Runner(seen, script)
    runner.run(consumer.poll())
    assert consumer.positions.keys() == {("t1", 0)}
    script.topics += (topic("t2", 0),)
    seen.now += 1_000
    runner.run(consumer.poll())
    assert consumer.positions.keys() == {("t1", 0), ("t2", 0)}


def test_ways_to_subscribe_exclude_each_other():
    consumer, runner = member(Coordinating())
    consumer.subscribe(["u"])
    assert consumer.topics == {"u"}
    for wrong in (
        lambda: consumer.assign(BOTH),
        lambda: consumer.subscribe(pattern=re.compile("x")),
    ):
        with pytest.raises(ClientError, match="CONS-08"):
            wrong()
    runner.run(consumer.unsubscribe())
    consumer.assign(BOTH)
    with pytest.raises(ClientError, match="CONS-08"):
        consumer.subscribe(["t"])
    for empty in ([], [" "]):
        with pytest.raises(ClientError, match="CONS-06"):
            consumer.subscribe(empty)
    with pytest.raises(KafkaError, match="INVALID_GROUP_ID"):
        ClassicConsumer(view(), "")


def test_assigned_partitions_are_committed_without_a_membership():
    script = Coordinating()
    script.offsets = {("t", 0): 9}
    consumer = ClassicConsumer(view(*script.topics), "g", auto_commit_ms=None, reset="earliest")
    consumer.assign([("t", 0)])
    runner = Runner(consumer.view, script)
    runner.run(consumer.poll())
    runner.run(consumer.commit())
    (body,) = script.commits
    assert (body["generation_id_or_member_epoch"], body["member_id"]) == (-1, "")
    assert body["topics"][0]["partitions"][0]["committed_offset"] == 9
    assert "JoinGroup" not in apis(runner)


def test_every_code_that_a_table_names_has_another_reaction_than_failing():
    assert all(does is not Do.FAIL for table in REACTIONS.values() for does in table.values())
