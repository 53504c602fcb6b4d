"""Replication quotas: which followers the leader throttles.

The follower is stopped and the scenario fetches in its place, so that each fetch is known; the
first batch exceeds a rate of one byte per second for as long as a case lasts.

Sources: ReplicaManager.shouldLeaderThrottle and ReplicationQuotaManager (2.8.2 to 4.3.1), KIP-73,
KIP-226; clauses DYN-13 to DYN-15, FETCH-22.
"""

from touchstone.harness.model.claim import claim
from touchstone.harness.model.expect import all_of, answer, records
from touchstone.harness.model.scenario import Until
from touchstone.harness.model.steps import BROKER, alter_configs, at_controller, describe_configs
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.records import ONE, TWO, batch
from touchstone.suites.kit.three_brokers import (
    MARK,
    READ,
    SHORT_SESSIONS,
    a_log,
    follow,
    on,
    stopped,
    stored,
    until_led,
    write,
)

RATE = "leader.replication.throttled.rate"
MARKED = {"leader.replication.throttled.replicas": "0:1"}
LARGE = b"x" * 20_000
SLOWLY = on("2.8+", SHORT_SESSIONS)  # 2.2 shows no values of settings it has no definition of


def limited(rate, name):
    """Broker 1 may send so many bytes in a second to its throttled followers (None: any)."""
    configs = {} if rate is None else {RATE: rate}
    shown = describe_configs("1", RATE, kind=BROKER, version=1, broker=1, name=f"{name} shown")
    return [
        alter_configs("1", configs, kind=BROKER, broker=1, name=name),
        Until(shown, "results[0].configs", "len ==", len(configs)),  # listed while it is set
    ]


def marked_out(topic):
    """Its replica on broker 1 is throttled from now on. (Before KRaft brokers are told of changes
    alone, not of what a topic is created with.)
    """
    return alter_configs(topic, MARKED, name="marked out", **at_controller())


@claim("replication.a-throttled-follower-gets-no-more", evidence=("DYN-15", "DYN-13", "FETCH-22"),
       listed=(True, False), **SLOWLY)  # fmt: skip
def test_a_throttled_follower_gets_no_more(case):
    """A throttled follower outside the ISR gets no records while the leader exceeds
    leader.replication.throttled.rate; replicas not listed as throttled get all.
    """
    name = case.topic()
    asked = follow(name, 1, name="asked")
    held = Until(asked, f"{READ}.records", "len ==", 0)  # once it has had more than its rate
    return case.scenario(
        a_log(name, (1, 2), ONE),
        marked_out(name) if case.listed else [],
        stopped(2),
        until_led(case, name, 1, [1], "alone"),
        limited(1, "slow"),
        write(name, batch(LARGE)),
        held if case.listed else asked,
        limited(None, "fast"),
        Until(follow(name, 1, name="let go"), f"{READ}.records", "len >=", len(LARGE)),
        expect=all_of(
            stored("write", 1),
            answer("asked", f"{READ}.error_code").is_(ErrorCode.NONE),
            records("let go", "[0].value").is_(LARGE),
            answer("asked", f"{READ}.records").is_(b"")
            if case.listed
            else records("asked", "[0].value").is_(LARGE),
        ),
    )


@claim("replication.who-is-in-sync-is-not-throttled", evidence=("DYN-15", "FETCH-22"), **SLOWLY)
def test_who_is_in_sync_is_not_throttled(case):
    """A follower in the ISR is never throttled, whatever the rate: acks=all appends succeed."""
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2), ONE),
        marked_out(name),
        limited(1, "slow"),
        write(name, batch(LARGE), name="first"),
        write(name, batch(LARGE), name="second"),
        write(name, TWO, name="third"),
        limited(None, "fast"),
        expect=all_of(stored("first", 1), stored("second", 2), stored("third", 3)),
    )


@claim("replication.marks-are-told-under-a-quota", evidence=("DYN-15", "REPL-09"),
       **on("3.9+", SHORT_SESSIONS))  # fmt: skip
def test_marks_are_told_under_a_quota(case):
    """A throttled follower that gets no records still gets the current high watermark."""
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2), ONE),
        marked_out(name),
        stopped(2),
        until_led(case, name, 1, [1], "alone"),
        limited(1, "slow"),
        write(name, batch(LARGE)),
        follow(name, 1, name="first"),
        write(name, TWO, name="next"),
        follow(name, 2, name="second"),
        limited(None, "fast"),
        expect=all_of(
            records("second").has_length(0), answer("second", MARK).is_(3), stored("next", 2)
        ),
    )
