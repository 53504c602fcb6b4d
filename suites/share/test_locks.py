"""Locks that end or are renewed, and records that were delivered too often.

Sources: KIP-932, KIP-1222; SharePartition@4.3.1; observed on 4.3.1.
"""

from touchstone.harness.model.claim import range_
from touchstone.harness.model.expect import all_of
from touchstone.harness.model.steps import produce
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.records import batch
from touchstone.suites.kit.shares import (
    ACCEPT,
    ACK_CODE,
    BERT,
    BRIEF_MS,
    LONG_MS,
    RELEASE_IT,
    RENEW,
    a_group,
    acknowledge,
    acquired,
    claims,
    fetch,
    has,
    is_,
    nothing,
    run,
    wrong,
)

API, FETCHES = "ShareAcknowledge", "ShareFetch"
RENEWING = range_(API, 2)
LOCK_MS = 2500  # over soon, and not before a busy machine has asked who holds it
THREE = (batch(b"one", b"two", b"three"),)


locks = claims(API)


@locks("locks-end", api=FETCHES, switches=("share-locks-never-end",))
def test_locks_end(case):
    """Records whose acquisition lock expires become available to other members, with a delivery
    count one higher."""
    group, topic = case.topic("group"), case.topic()
    how = {"version": case.version}
    return case.scenario(
        a_group(group, topic, *THREE, lock_ms=LOCK_MS),
        fetch(group, 0, topic, **how, name="first"),
        fetch(group, 0, topic, member=BERT, wait_ms=BRIEF_MS, **how, name="locked"),
        fetch(group, 1, topic, member=BERT, wait_ms=LONG_MS, **how, name="second"),
        expect=all_of(has("locked"), has("second", (0, 2, 2))),
    )


@locks("late-acknowledgements-are-refused")
def test_late_acknowledgements_are_refused(case):
    """ShareAcknowledge of records whose acquisition lock has expired answers
    INVALID_RECORD_STATE."""
    group, topic = case.topic("group"), case.topic()
    return case.scenario(
        a_group(group, topic, *THREE, lock_ms=LOCK_MS),
        fetch(group, 0, topic, name="first"),
        fetch(group, 0, topic, member=BERT, wait_ms=BRIEF_MS, name="begins"),
        fetch(group, 1, topic, member=BERT, wait_ms=LONG_MS, name="second"),
        acknowledge(group, 1, topic, run(0, 2, ACCEPT), version=case.version, name="late"),
        expect=all_of(has("second", (0, 2, 2)), wrong("late", ErrorCode.INVALID_RECORD_STATE)),
    )


@locks("locks-of-parts-end", api=FETCHES)
def test_locks_of_parts_end(case):
    """When the lock of a partly acknowledged batch expires, the other records are delivered
    again."""
    group, topic = case.topic("group"), case.topic()
    how = {"version": case.version}
    return case.scenario(
        a_group(group, topic, *THREE, lock_ms=LOCK_MS),
        fetch(group, 0, topic, **how, name="first"),
        acknowledge(group, 1, topic, run(0, 1, ACCEPT), name="two"),
        fetch(group, 2, topic, wait_ms=LONG_MS, **how, name="again"),
        expect=has("again", (2, 2, 2)),
    )


@locks("renewed-locks-last", versions=RENEWING)
def test_renewed_locks_last(case):
    """ShareAcknowledge with type renew keeps records with their member: others do not acquire them,
    and the member may accept them."""
    group, topic = case.topic("group"), case.topic()
    how = {"version": case.version}
    return case.scenario(
        acquired(group, topic, *THREE, lock_ms=20_000),
        acknowledge(group, 1, topic, run(0, 2, RENEW), renews=True, **how, name="renew"),
        acknowledge(group, 2, topic, run(1, 1, RENEW), renews=True, **how, name="renew one"),
        fetch(group, 0, topic, member=BERT, name="others"),
        acknowledge(group, 3, topic, run(0, 2, ACCEPT), **how, name="accept"),
        expect=all_of(wrong("renew", 0), wrong("renew one", 0), has("others"), wrong("accept", 0)),
    )


@locks("groups-may-not-renew", versions=RENEWING)
def test_groups_may_not_renew(case):
    """ShareAcknowledge with type renew answers INVALID_RECORD_STATE where
    share.renew.acknowledge.enable is false."""
    group, topic = case.topic("group"), case.topic()
    how = {"version": case.version}
    return case.scenario(
        acquired(group, topic, *THREE, renews="false"),
        acknowledge(group, 1, topic, run(0, 2, RENEW), renews=True, **how, name="renew"),
        acknowledge(group, 2, topic, run(1, 1, RENEW), renews=True, **how, name="renew one"),
        expect=all_of(
            wrong("renew", ErrorCode.INVALID_RECORD_STATE),
            wrong("renew one", ErrorCode.INVALID_RECORD_STATE),
        ),
    )


@locks("renewing-fetches-read-nothing", api=FETCHES, versions=range_(FETCHES, 2))
def test_renewing_fetches_read_nothing(case):
    """ShareFetch that renews locks and asks for records answers INVALID_REQUEST; one with
    max_records, max_bytes and min_bytes 0 renews them."""
    group, topic = case.topic("group"), case.topic()
    zero = {"max_records": 0, "max_bytes": 0, "min_bytes": 0}
    how = {"version": case.version, "renews": True}
    return case.scenario(
        acquired(group, topic, *THREE),
        produce(topic, 0, batch(b"four"), name="more"),
        fetch(group, 1, topic, run(0, 2, RENEW), **how, name="wants"),
        fetch(group, 1, topic, run(0, 2, RENEW), **zero, **how, name="wants nothing"),
        expect=all_of(is_("wants", ErrorCode.INVALID_REQUEST), is_("wants nothing", 0, ACK_CODE)),
    )


@locks("deliveries-have-a-limit")
def test_deliveries_have_a_limit(case):
    """A record that was released share.delivery.count.limit times is not delivered again; the next
    record is."""
    group, topic = case.topic("group"), case.topic()
    how = {"version": case.version}
    return case.scenario(
        acquired(group, topic, batch(b"bad"), limit=2),
        acknowledge(group, 1, topic, run(0, 0, RELEASE_IT), **how, name="once"),
        fetch(group, 2, topic, name="again"),
        acknowledge(group, 3, topic, run(0, 0, RELEASE_IT), **how, name="twice"),
        fetch(group, 4, topic, name="no more"),
        produce(topic, 0, batch(b"good"), name="more"),
        fetch(group, 5, topic, name="the next"),
        expect=all_of(has("again", (0, 0, 2)), nothing("no more"), has("the next", (1, 1, 1))),
    )


@locks("bad-records-come-in-few", api=FETCHES)
def test_bad_records_come_in_few(case):
    """ShareFetch returns records that reached half of share.delivery.count.limit in smaller
    batches, and at last one alone."""
    group, topic = case.topic("group"), case.topic()
    turns = [(7, 1), (7, 2), (3, 3), (0, 4)]  # last offset, deliveries
    steps = []
    for turn, (last, count) in enumerate(turns):
        name, back = f"fetch {count}", f"back {count}"
        steps += [
            fetch(group, 2 * turn, topic, version=case.version, name=name),
            acknowledge(group, 2 * turn + 1, topic, run(0, last, RELEASE_IT), name=back),
        ]
    return case.scenario(
        a_group(group, topic, batch(*[b"%d" % at for at in range(8)]), limit=4),
        *steps,
        fetch(group, 8, topic, version=case.version, name="the next"),
        expect=all_of(
            *[has(f"fetch {count}", (0, last, count)) for last, count in turns],
            has("the next", (1, 1, 4)),
        ),
    )


@locks("locks-that-end-count-too", api=FETCHES)
def test_locks_that_end_count_too(case):
    """A delivery whose lock expired counts towards share.delivery.count.limit."""
    group, topic = case.topic("group"), case.topic()
    how = {"version": case.version, "wait_ms": LONG_MS}
    return case.scenario(
        a_group(group, topic, batch(b"bad"), lock_ms=LOCK_MS, limit=2),
        fetch(group, 0, topic, **how, name="first"),
        fetch(group, 1, topic, **how, name="second"),
        fetch(group, 2, topic, version=case.version, wait_ms=2 * LOCK_MS, name="third"),
        expect=all_of(has("first", (0, 0, 1)), has("second", (0, 0, 2)), nothing("third")),
    )
