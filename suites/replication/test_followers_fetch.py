"""Effects that a follower's Fetch has on the leader and a consumer's has not.

The follower is paused and the scenario fetches in its place, so that each step is one request.

Sources: ReplicaManager.fetchMessages, Partition.updateFollowerFetchState, DelayedFetch (1.0.2 to
4.3.1); clauses APPEND-05, FETCH-02, FETCH-10, REPL-07 to REPL-09.
"""

from dataclasses import replace

from touchstone.harness.model.claim import claim
from touchstone.harness.model.expect import all_of, answer, outcome, records
from touchstone.harness.model.scenario import Await, Quiet
from touchstone.harness.model.steps import pause_broker, resume_broker
from touchstone.suites.kit.in_flight import sent
from touchstone.suites.kit.records import ONE, TWO
from touchstone.suites.kit.three_brokers import (
    LONG_MS,
    MARK,
    SHORT_SESSIONS,
    a_log,
    follow,
    marked,
    read,
    stored,
    write,
)


def apart(step, connection="b"):
    """The same step on a connection of its own, which nobody who waits holds up."""
    return replace(step, connection=connection)


def unfollowed(topic):
    """A log of one record whose follower in sync is silent from now on."""
    return [
        a_log(topic, (1, 2), ONE),
        pause_broker(2),
        read(topic, 1, name="drained", max_wait_ms=700),
    ]


@claim("replication.only-followers-move-the-mark", evidence=("FETCH-02", "REPL-07", "REPL-08"),
       **SHORT_SESSIONS)  # fmt: skip
def test_only_followers_move_the_mark(case):
    """A follower's Fetch at the log end advances the high watermark; a consumer's does not."""
    name = case.topic()
    return case.scenario(
        unfollowed(name),
        write(name, TWO, acks=1),
        read(name, 2, name="consumer"),
        read(name, name="after the consumer"),
        follow(name, 2, name="follower"),
        marked(name, 2),
        resume_broker(2),
        expect=all_of(
            answer("after the consumer", MARK).is_(1),
            answer("read", MARK).is_(2),
            records("read", "[1].value").is_(TWO),
        ),
    )


@claim(
    "replication.a-consumer-waits-for-the-follower",
    evidence=("FETCH-10", "FETCH-02"),
    **SHORT_SESSIONS,
)
def test_a_consumer_waits_for_the_follower(case):
    """A consumer that waits at the high watermark is answered when the follower fetches the new
    record, not when the leader appends it.
    """
    name, asked = case.topic(), "waiting"
    return case.scenario(
        unfollowed(name),
        write(name, TWO, acks=1),
        sent(read(name, 1, name=asked, max_wait_ms=LONG_MS)),
        Quiet("broker 1", name="nothing"),
        apart(follow(name, 2, name="follower")),
        Await(asked),
        resume_broker(2),
        expect=all_of(outcome("nothing").is_("silent"), records(asked, "[0].value").is_(TWO)),
    )


@claim(
    "replication.a-follower-waits-for-an-append",
    evidence=("APPEND-05", "FETCH-02"),
    **SHORT_SESSIONS,
)
def test_a_follower_waits_for_an_append(case):
    """An append completes a follower's waiting Fetch before the high watermark advances; a consumer
    does not see the record yet.
    """
    name, asked = case.topic(), "waiting"
    return case.scenario(
        unfollowed(name),
        apart(sent(follow(name, 1, name=asked, max_wait_ms=LONG_MS))),
        Quiet("b", name="nothing"),
        write(name, TWO, acks=1),
        Await(asked),
        read(name, 1, name="unseen"),
        resume_broker(2),
        expect=all_of(
            outcome("nothing").is_("silent"),
            records(asked, "[0].value").is_(TWO),
            answer("unseen", MARK).is_(1),
        ),
    )


@claim(
    "replication.a-leader-alone-sees-at-once", evidence=("APPEND-05", "REPL-08"), **SHORT_SESSIONS
)
def test_a_leader_alone_sees_at_once(case):
    """When the leader is the whole ISR, an append advances the high watermark to its end and
    completes a consumer's waiting Fetch.
    """
    name, asked = case.topic(), "waiting"
    return case.scenario(
        a_log(name, (1,), ONE),
        apart(sent(read(name, 1, name=asked, max_wait_ms=LONG_MS))),
        Quiet("b", name="nothing"),
        write(name, ONE, TWO),
        Await(asked),
        read(name, name="after"),
        expect=all_of(
            outcome("nothing").is_("silent"),
            stored("write", 1),
            answer(asked, MARK).is_(3),
            answer("after", MARK).is_(3),
        ),
    )
