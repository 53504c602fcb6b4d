"""Each planted defect of a consumer is seen: a test that holds without it fails with it."""

from collections.abc import Callable

import pytest

from touchstone.reference_impl.client.classic_consumer import ClassicConsumer
from touchstone.reference_impl.client.consumer import Consumer, LogTruncated
from touchstone.reference_impl.client.defects import plant
from touchstone.reference_impl.client.defects.consumer import TABLE
from touchstone.reference_impl.client.flow import ClientError
from touchstone.reference_impl.client.group_consumer import Listener
from touchstone.reference_impl.client.offsets import READ_COMMITTED
from touchstone.reference_impl.wire.errors import ErrorCode as E

from . import test_commits as commits
from . import test_consumer as consuming
from . import test_consumer_clauses as clauses
from . import test_groups as groups
from . import test_handing_out as handing_out
from . import test_position_epochs as epochs
from . import test_read_replicas as replicas
from .coordinating import Coordinating

T0 = ("t", 0)


def committed_records_only():
    """Of transactions as real Kafka had them, by a whole consumer."""
    release, stable, aborted, data = consuming.TRANSACTIONS[-1]
    rows = [pair.split(":") for pair in aborted.split(",")]
    listed = [{"producer_id": int(p), "first_offset": int(o)} for p, o in rows]
    part = consuming.part(bytes.fromhex(data), aborted=listed)
    consumer, runner = consuming.consuming(isolation=READ_COMMITTED)
    consumer.seek(T0, 0)
    runner.script = lambda ask: {"responses": [{"topic": "t", "partitions": [part]}]}
    assert [row.value for row in runner.run(consumer.poll())] == [b"q1", b"q2", b"p3"]


def seeks_drop_what_was_fetched():
    handing_out.test_what_is_not_wanted_any_more_is_dropped(lambda consumer: consumer.seek(T0, 6))


def all_records_are_handed_out():
    consumer, runner = consuming.consuming(reset="earliest")
    assert [row.offset for row in runner.run(consumer.poll())] == [5, 6, 7, 8, 9]


def stale_leaders_are_left():
    consuming.test_old_knowledge_is_renewed_after_a_pause_that_grows(E.NOT_LEADER_OR_FOLLOWER)


def out_of_range_goes_where_the_policy_says():
    consumer, runner = consuming.consuming(E.OFFSET_OUT_OF_RANGE, reset="earliest")
    consumer.seek(T0, 99)
    for _ in range(2):
        runner.run(consumer.poll())
    rows = [ask.body["topics"][0]["partitions"][0] for ask in runner.asked("ListOffsets")]
    assert [row["timestamp"] for row in rows] == [-2]


def truncation_is_noticed():
    consumer, runner = epochs.after_an_election((0, 3, 6), reset="none")
    with pytest.raises(LogTruncated):
        runner.run(consumer.poll())


def the_next_offset_is_committed():
    consumer, runner = groups.member(script := Coordinating())
    runner.run(consumer.poll())
    consumer.positions = {T0: 7}
    runner.run(consumer.commit())
    (row,) = script.commits[0]["topics"][0]["partitions"]
    assert row["committed_offset"] == 7


def callbacks_of_a_rebalance_in_order(code=E.REBALANCE_IN_PROGRESS, told=("revoked", "assigned")):
    script = Coordinating(Heartbeat=[code])
    consumer, runner = groups.member(script)
    heard: list[str] = []
    names = ("assigned", "revoked", "lost")
    consumer.listener = Listener(
        **{name: lambda _, name=name: heard.append(name) for name in names}
    )
    runner.run(consumer.poll())
    del heard[:]
    runner.view.now += 3_000
    script.share = [("t", 1)]
    runner.run(consumer.poll())
    assert heard == list(told)


def what_is_gone_is_lost():
    callbacks_of_a_rebalance_in_order(E.UNKNOWN_MEMBER_ID, ("lost", "assigned"))


def cooperative_callbacks_in_order():
    script = Coordinating(Heartbeat=[E.REBALANCE_IN_PROGRESS])
    consumer, runner = groups.member(script, assignors=["cooperative-sticky"])
    heard: list[str] = []
    consumer.listener = Listener(
        assigned=lambda _: heard.append("assigned"), revoked=lambda _: heard.append("revoked")
    )
    runner.run(consumer.poll())
    del heard[:]
    runner.view.now += 3_000
    script.share = [("t", 1)]
    runner.run(consumer.poll())
    assert heard[0] == "revoked"


def an_unknown_member_joins_as_a_new_one():
    script = Coordinating(Heartbeat=[E.UNKNOWN_MEMBER_ID])
    consumer, runner = groups.member(script)
    runner.run(consumer.poll())
    runner.view.now += 3_000
    runner.run(consumer.poll())
    assert [ask.body["member_id"] for ask in runner.asked("JoinGroup")] == ["", ""]


CHECKS: dict[str, Callable[[], None]] = {
    "hands-out-aborted-records": committed_records_only,
    "forgets-paused": handing_out.test_a_paused_partition_is_neither_fetched_nor_handed_out,
    "skips-the-rest-of-a-fetch": (
        handing_out.test_a_poll_hands_out_no_more_than_it_may_and_the_rest_without_a_new_fetch
    ),
    "checks-no-checksums": consuming.test_damage_is_reported_and_the_position_stays,
    "seek-keeps-what-was-fetched": seeks_drop_what_was_fetched,
    "loses-the-first-of-a-fetch": all_records_are_handed_out,
    "overlooks-good-records-before-damage": (
        handing_out.test_damage_in_one_partition_costs_the_others_nothing
    ),
    "keeps-fetching-from-a-stale-leader": stale_leaders_are_left,
    "ignores-truncation": truncation_is_noticed,
    "resets-to-the-end": out_of_range_goes_where_the_policy_says,
    "ignores-the-preferred-replica": (
        replicas.test_the_named_replica_is_asked_until_its_lease_ends
    ),
    "fetches-nothing-ahead": (
        clauses.test_cons_15_the_next_fetch_is_under_way_before_records_are_returned
    ),
    "commits-the-last-offset": the_next_offset_is_committed,
    "tells-assigned-before-revoked": cooperative_callbacks_in_order,
    "tells-lost-as-revoked": what_is_gone_is_lost,
    "stops-heartbeats": groups.test_heartbeats_go_out_at_their_interval_and_not_before,
    "static-member-leaves": groups.test_a_static_member_does_not_leave,
    "joins-with-an-id-that-is-unknown": an_unknown_member_joins_as_a_new_one,
    "commits-without-a-membership": commits.test_callbacks_run_in_the_order_of_their_commits,
    "calls-back-in-the-wrong-order": commits.test_callbacks_run_in_the_order_of_their_commits,
    "stays-though-poll-is-overdue": groups.test_beat_leaves_for_who_does_not_poll,
    "forgets-to-commit-before-a-rebalance": groups.test_auto_commit_comes_before_a_rebalance,
}


@pytest.mark.parametrize("check", dict.fromkeys(CHECKS.values()), ids=lambda each: each.__name__)
def test_a_check_holds_without_a_defect(check):
    check()


@pytest.mark.parametrize("name", [each.name for each in TABLE])
def test_a_defect_is_seen(monkeypatch, name):
    """Every consumer that the check makes has it."""
    for kind in (Consumer, ClassicConsumer):
        monkeypatch.setattr(kind, "__init__", planting(kind, kind.__init__, name))
    with pytest.raises((AssertionError, pytest.fail.Exception, ClientError)):
        CHECKS[name]()


def planting(kind, made, name):
    def init(self, *arguments, **options):
        made(self, *arguments, **options)
        if type(self) is kind:
            plant(self, name)

    return init


def test_each_defect_has_a_name_of_its_own_and_a_sentence():
    assert len(TABLE) == len(CHECKS) and {each.name for each in TABLE} == CHECKS.keys()
    assert all(each.sentence.endswith(".") for each in TABLE)
