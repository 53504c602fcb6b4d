"""Defects of consumers and members of groups, as clients of the wild have had them.

Each is planted in one core: methods of it or of its parts are replaced on that object alone.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ..classic_consumer import ClassicConsumer
from ..consumer import Consumer
from ..fetcher import FetchPart
from ..flow import Flow, TopicPartition
from ..group_consumer import GroupConsumer
from ..group_offsets import Offset
from ..member import Do
from ..offsets import READ_UNCOMMITTED
from ..reading import Consumed
from ..reset_policy import TO_LATEST
from .planting import Defect, defect

TABLE: list[Defect] = []
_defect = partial(defect, TABLE)
Real = Callable[..., Any]


def _replace(part: object, method: str, change: Callable[..., Any]) -> None:
    """Have `change` called with the real method, and with what the method is called with."""
    setattr(part, method, partial(change, getattr(part, method)))


def _nothing(*_: Any, **__: Any) -> None:
    """In place of something that ought to happen."""


def _no_flow(*_: Any, **__: Any) -> Flow[None]:
    """In place of a flow that ought to ask somebody."""
    return
    yield


# --- what is handed out ------------------------------------------------------------------------


@_defect("hands-out-aborted-records", "A committed reader is given what was aborted.")
def hands_out_aborted_records(consumer: Consumer) -> None:
    def take(real: Real, *arguments: Any) -> None:
        isolation, consumer.isolation = consumer.isolation, READ_UNCOMMITTED
        try:
            real(*arguments)
        finally:
            consumer.isolation = isolation

    _replace(consumer, "_take_records", take)


@_defect("forgets-paused", "A paused partition is fetched and handed out.")
def forgets_paused(consumer: Consumer) -> None:
    _replace(consumer, "pause", _nothing)


@_defect("skips-the-rest-of-a-fetch", "What lies beyond max.poll.records is never handed out.")
def skips_the_rest_of_a_fetch(consumer: Consumer) -> None:
    def take(real: Real, place: TopicPartition, buffer: Any, room: int) -> list[Consumed]:
        given: list[Consumed] = real(place, buffer._replace(records=buffer.records[:room]), room)
        return given

    _replace(consumer, "_take_from", take)


@_defect("checks-no-checksums", "Damaged records are handed out.")
def checks_no_checksums(consumer: Consumer) -> None:
    consumer.check_crcs = False


@_defect("seek-keeps-what-was-fetched", "After a seek what was fetched before is handed out first.")
def seek_keeps_what_was_fetched(consumer: Consumer) -> None:
    def seek(real: Real, place: TopicPartition, *arguments: Any) -> None:
        real(place, *arguments)
        if buffer := consumer._buffers.get(place):
            consumer.positions[place] = buffer.start

    _replace(consumer, "seek", seek)


@_defect("loses-the-first-of-a-fetch", "The first record of every fetch is left out.")
def loses_the_first_of_a_fetch(consumer: Consumer) -> None:
    def take(real: Real, found: FetchPart, stale: set[str]) -> None:
        real(found, stale)
        if buffer := consumer._buffers.get(found.place):
            consumer._buffers[found.place] = buffer._replace(records=buffer.records[1:])

    _replace(consumer, "_take_partition", take)


@_defect("overlooks-good-records-before-damage", "Damage in a partition hides what came before it.")
def overlooks_good_records_before_damage(consumer: Consumer) -> None:
    def hand_out(real: Real) -> list[Consumed]:
        consumer._raise_error()
        given: list[Consumed] = real()
        return given

    _replace(consumer, "_hand_out", hand_out)


# --- leaders and positions ---------------------------------------------------------------------


@_defect("keeps-fetching-from-a-stale-leader", "NOT_LEADER_OR_FOLLOWER renews no metadata.")
def keeps_fetching_from_a_stale_leader(consumer: Consumer) -> None:
    _replace(consumer, "_distrust", _nothing)


@_defect("ignores-truncation", "No new leader is asked whether it has what was read.")
def ignores_truncation(consumer: Consumer) -> None:
    _replace(consumer._epochs, "is_due", lambda real, *arguments: False)


@_defect("resets-to-the-end", "Whatever the policy says, a reset goes to the end.")
def resets_to_the_end(consumer: Consumer) -> None:
    def reset(real: Real, place: TopicPartition, policy: Any) -> None:
        real(place, TO_LATEST)

    _replace(consumer, "_reset", reset)


@_defect("ignores-the-preferred-replica", "It reads from the leader all the same.")
def ignores_the_preferred_replica(consumer: Consumer) -> None:
    _replace(consumer._replicas, "prefer", _nothing)


@_defect("fetches-nothing-ahead", "The next fetch is sent only when somebody polls.")
def fetches_nothing_ahead(consumer: Consumer) -> None:
    _replace(consumer, "_fetch_ahead", _no_flow)


# --- groups ------------------------------------------------------------------------------------


@_defect("commits-the-last-offset", "It commits the offset of the last record, not of the next.")
def commits_the_last_offset(consumer: GroupConsumer) -> None:
    def offsets(real: Real) -> dict[TopicPartition, Offset]:
        return {place: each._replace(offset=each.offset - 1) for place, each in real().items()}

    _replace(consumer, "_offsets", offsets)


@_defect("tells-assigned-before-revoked", "A rebalance calls its callbacks in the wrong order.")
def tells_assigned_before_revoked(consumer: ClassicConsumer) -> None:
    def take_over(real: Real, share: list[TopicPartition]) -> Flow[None]:
        yield from consumer._tell(consumer.listener.assigned, share)
        yield from real(share)

    _replace(consumer, "_take_over", take_over)


@_defect("tells-lost-as-revoked", "What others may own already is told as revoked.")
def tells_lost_as_revoked(consumer: GroupConsumer) -> None:
    def lose(real: Real, places: list[TopicPartition]) -> Flow[None]:
        yield from consumer._give_up(places)

    _replace(consumer, "_lose", lose)


@_defect("stops-heartbeats", "A member sends no heartbeat.")
def stops_heartbeats(consumer: GroupConsumer) -> None:
    _replace(consumer.member, "beat", _no_flow)


@_defect("static-member-leaves", "A static member leaves its group when it is closed.")
def static_member_leaves(consumer: ClassicConsumer) -> None:
    def leave(real: Real, why: str) -> Flow[None]:
        own, consumer.member.instance_id = consumer.member.instance_id, None
        yield from real(why)
        consumer.member.instance_id = own

    _replace(consumer.member, "leave", leave)


@_defect("joins-with-an-id-that-is-unknown", "After UNKNOWN_MEMBER_ID it joins with the same id.")
def joins_with_an_id_that_is_unknown(consumer: ClassicConsumer) -> None:
    def react(real: Real, *arguments: Any) -> Do:
        own = consumer.member.id
        does: Do = real(*arguments)
        if does is Do.FORGET:
            consumer.member.id = own
        return does

    _replace(consumer.member, "react", react)


@_defect("commits-without-a-membership", "It commits though its membership is lost.")
def commits_without_a_membership(consumer: GroupConsumer) -> None:
    _replace(consumer, "_must_be_member", _nothing)


@_defect("calls-back-in-the-wrong-order", "Callbacks of commits run last one first.")
def calls_back_in_the_wrong_order(consumer: GroupConsumer) -> None:
    def commit_queued(real: Real) -> Flow[None]:
        consumer._queued.reverse()
        yield from real()

    _replace(consumer, "_commit_queued", commit_queued)


@_defect("stays-though-poll-is-overdue", "It stays in its group whether anybody polls or not.")
def stays_though_poll_is_overdue(consumer: GroupConsumer) -> None:
    _replace(consumer, "_overdue", _no_flow)


@_defect("forgets-to-commit-before-a-rebalance", "What was read is revoked uncommitted.")
def forgets_to_commit_before_a_rebalance(consumer: ClassicConsumer) -> None:
    def prepare(real: Real) -> Flow[None]:
        own, consumer.auto_commit_ms = consumer.auto_commit_ms, None
        yield from real()
        consumer.auto_commit_ms = own

    _replace(consumer, "_prepare", prepare)
