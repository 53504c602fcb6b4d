"""Where the rules of locks and deliveries end: limits met exactly, records of others, renewals.

Sources: KIP-932, KIP-1222; SharePartition@4.3.1; observed on 4.3.1.
"""

from touchstone.harness.model.claim import range_
from touchstone.harness.model.expect import all_of
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.records import batch
from touchstone.suites.kit.shares import (
    ACCEPT,
    BERT,
    BRIEF_MS,
    LONG_MS,
    REJECT,
    RELEASE_IT,
    RENEW,
    a_group,
    acknowledge,
    acquired,
    claims,
    fetch,
    has,
    nothing,
    run,
    wrong,
)

API, FETCHES = "ShareAcknowledge", "ShareFetch"
LOCK_MS = 2500  # over soon, and not before a busy machine has asked who holds it
THREE = (batch(b"one", b"two", b"three"),)
STATE = ErrorCode.INVALID_RECORD_STATE

borders = claims(API)


@borders("a-record-of-another-is-not-acknowledged", types=(ACCEPT, RELEASE_IT, REJECT))
def test_a_record_of_another_is_not_acknowledged(case):
    """ShareAcknowledge of one record that another member has acquired answers INVALID_RECORD_STATE,
    also where records of the same batch were acknowledged before; the other member accepts it."""
    group, topic = case.topic("group"), case.topic()
    how = {"version": case.version}
    return case.scenario(
        acquired(group, topic, *THREE),
        acknowledge(group, 1, topic, run(0, 0, ACCEPT), **how, name="own"),
        fetch(group, 0, topic, member=BERT, name="begins"),
        acknowledge(group, 1, topic, run(1, 1, case.types), member=BERT, **how, name="other's"),
        acknowledge(group, 2, topic, run(1, 2, ACCEPT), **how, name="the rest"),
        expect=all_of(wrong("own", 0), wrong("other's", STATE), wrong("the rest", 0)),
    )


@borders("a-renewed-lock-lasts-once-more", versions=range_(API, 2))
def test_a_renewed_lock_lasts_once_more(case):
    """A lock that is renewed several times at once ends share.record.lock.duration.ms after the
    last renewal, and the records become available to others."""
    group, topic = case.topic("group"), case.topic()
    how = {"version": case.version, "renews": True}
    renewals = [
        acknowledge(group, turn, topic, run(0, 2, RENEW), **how, name=f"renewal {turn}")
        for turn in range(1, 7)
    ]
    return case.scenario(
        acquired(group, topic, *THREE, lock_ms=LOCK_MS),
        *renewals,
        fetch(group, 0, topic, member=BERT, wait_ms=BRIEF_MS, name="locked"),
        fetch(group, 1, topic, member=BERT, wait_ms=LONG_MS, name="second"),
        expect=all_of(wrong("renewal 6", 0), has("locked"), has("second", (0, 2, 2))),
    )


@borders("bad-records-come-in-few-from-the-larger-half-on", api=FETCHES)
def test_bad_records_come_in_few_from_the_larger_half_on(case):
    """ShareFetch returns whole batches until records reached more than half of an odd
    share.delivery.count.limit, and smaller ones from then on."""
    group, topic = case.topic("group"), case.topic()
    turns = [(7, 1), (7, 2), (7, 3), (3, 4), (0, 5)]  # last offset, deliveries
    steps = []
    for turn, (last, count) in enumerate(turns):
        steps += [
            fetch(group, 2 * turn, topic, version=case.version, name=f"fetch {count}"),
            acknowledge(group, 2 * turn + 1, topic, run(0, last, RELEASE_IT), name=f"back {count}"),
        ]
    return case.scenario(
        a_group(group, topic, batch(*[b"%d" % at for at in range(8)]), limit=5),
        *steps,
        expect=all_of(*[has(f"fetch {count}", (0, last, count)) for last, count in turns]),
    )


@borders("released-records-come-back-where-no-more-fit", api=FETCHES)
def test_released_records_come_back_where_no_more_fit(case):
    """ShareFetch acquires released records again while exactly share.partition.max.record.locks are
    in flight, and no new ones."""
    group, topic = case.topic("group"), case.topic()
    many = [batch(*[b"%d" % i for i in range(100)]), batch(b"new")]
    return case.scenario(
        a_group(group, topic, *many, locks=100),
        fetch(group, 0, topic, version=case.version, max_records=100, name="first"),
        fetch(group, 1, topic, version=case.version, name="full"),
        acknowledge(group, 2, topic, run(10, 19, RELEASE_IT), name="released"),
        fetch(group, 3, topic, version=case.version, name="again"),
        expect=all_of(has("first", (0, 99, 1)), nothing("full"), has("again", (10, 19, 2))),
    )


@borders("rejected-records-are-not-delivered-again", api=FETCHES, done=(ACCEPT, REJECT))
def test_rejected_records_are_not_delivered_again(case):
    """ShareFetch delivers what was released of a batch again, and not what was accepted or
    rejected."""
    group, topic = case.topic("group"), case.topic()
    how = {"version": case.version}
    return case.scenario(
        acquired(group, topic, *THREE),
        acknowledge(group, 1, topic, run(0, 2, RELEASE_IT, case.done, RELEASE_IT), name="mixed"),
        fetch(group, 0, topic, member=BERT, wait_ms=LONG_MS, **how, name="again"),
        expect=all_of(wrong("mixed", 0), has("again", (0, 0, 2), (2, 2, 2))),
    )
