"""Followers that stay alive but stop fetching: when they leave the ISR, and what follows from it.

Sources: Partition.maybeShrinkIsr and getOutOfSyncReplicas, Replica.updateFetchState (1.0.2 to
4.3.1), KIP-16 (lag is a time), KAFKA-13091; clauses REPL-07 to REPL-14, REPL-16 to REPL-18, CTL-19.
"""

from touchstone.harness.model.claim import claim
from touchstone.harness.model.expect import all_of, answer, by_release, records
from touchstone.harness.model.scenario import Until
from touchstone.harness.model.steps import pause_broker, resume_broker
from touchstone.suites.kit.records import ONE, THREE, TWO
from touchstone.suites.kit.three_brokers import (
    ISR,
    MARK,
    OFFSET,
    SHORT_LAG,
    SHORT_SESSIONS,
    a_log,
    end,
    follow,
    led_by,
    look,
    marked,
    on,
    read,
    stored,
    until_led,
    write,
)


def drained(topic, offset=1):
    """Wait until the leader has nothing left to answer to a follower that is paused."""
    return read(topic, offset, name="drained", max_wait_ms=700)


@claim("isr.a-stalled-follower-leaves", evidence=("REPL-09", "REPL-11", "REPL-14"), **SHORT_LAG)
def test_a_stalled_follower_leaves(case):
    """A follower that stops fetching leaves the ISR after replica.lag.time.max.ms in the same
    leader epoch, and the high watermark advances (in 2.8 with the next append, KAFKA-13091).
    """
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2, 0), ONE),
        pause_broker(2),
        drained(name),
        write(name, TWO, acks=1),
        read(name, 1, name="before"),
        until_led(case, name, 1, [1, 0]),
        read(name, name="after"),
        write(name, THREE, acks=1, name="next"),
        marked(name, 3, name="last"),
        resume_broker(2),
        expect=all_of(
            answer("before", MARK).is_(1),
            by_release(
                {
                    "1.0-2.2,3.9+": answer("after", MARK).is_(2),
                    "2.8": answer("after", MARK).is_(1),
                }
            ),
            led_by("look", 1, [1, 0], 0, joined=True),
        ),
    )


@claim(
    "isr.a-new-isr-is-told-later",
    evidence=("REPL-17", "CTL-19", "REPL-14"),
    **on("1.0-2.2", SHORT_LAG),
)
def test_a_new_isr_is_told_later(case):
    """A leader that shrinks the ISR advances the high watermark at once, while Metadata of every
    broker still shows the old ISR until the controller has propagated the change.
    """
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2, 0), ONE),
        pause_broker(2),
        drained(name),
        write(name, TWO, acks=1),
        marked(name, 2, name="shrunk"),
        look(case, name, "its leader", at=1),
        look(case, name, "another"),
        until_led(case, name, 1, [1, 0]),
        resume_broker(2),
        expect=all_of(
            answer("its leader", ISR).is_([1, 2, 0]),
            answer("another", ISR).is_([1, 2, 0]),
            led_by("look", 1, [1, 0], 0, joined=True),
        ),
    )


@claim("isr.a-stalled-follower-returns", evidence=("REPL-16", "REPL-18"), **SHORT_LAG)
def test_a_stalled_follower_returns(case):
    """A stalled follower that fetches again catches up and rejoins the ISR in the same leader
    epoch.
    """
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2, 0), ONE),
        pause_broker(2),
        drained(name),
        write(name, TWO, acks=1),
        until_led(case, name, 1, [1, 0], "gone"),
        resume_broker(2),
        until_led(case, name, 1, [1, 0, 2]),
        expect=led_by("look", 1, [1, 0, 2], 0, joined=True),
    )


@claim("isr.an-idle-partition-forgives", evidence=("REPL-11", "observed on 2.2.1"), **SHORT_LAG)
def test_an_idle_partition_forgives(case):
    """A follower at the log end stays in the ISR however long it does not fetch; in
    1.0 it leaves.
    """
    name = case.topic()
    gone = until_led(case, name, 1, [1]) if case.release == "1.0" else look(case, name)
    return case.scenario(
        a_log(name, (1, 2), ONE),
        pause_broker(2),
        read(name, 1, name="idle", max_wait_ms=3000),
        gone,
        resume_broker(2),
        expect=by_release({"1.0": led_by("look", 1, [1], 0), "2.2+": led_by("look", 1, [1, 2], 0)}),
    )


@claim(
    "isr.a-slow-follower-leaves",
    evidence=("REPL-07", "REPL-12"),
    **on("1.0-2.2,3.9+", SHORT_LAG),  # in 2.8 a high watermark alone does not show it (KAFKA-13091)
)
def test_a_slow_follower_leaves(case):
    """A follower that fetches but never reaches the log end leaves the ISR."""
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2, 0), ONE),
        pause_broker(2),
        drained(name),
        write(name, TWO, acks=1),
        Until(follow(name, 1, name="slow"), MARK, "==", 2),
        until_led(case, name, 1, [1, 0]),
        resume_broker(2),
        expect=led_by("look", 1, [1, 0], 0, joined=True),
    )


@claim("isr.a-follower-at-the-end-stays", evidence=("REPL-07", "REPL-12", "REPL-13"), **SHORT_LAG)
def test_a_follower_at_the_end_stays(case):
    """A follower that reaches the log end again and again stays in the ISR while the log grows."""
    name = case.topic()
    rounds = [
        (
            write(name, TWO, acks=1, name=f"write {n}"),
            follow(name, n, name=f"fetch {n}"),
            follow(name, n + 1, name=f"end {n}", max_wait_ms=600),
        )
        for n in range(1, 7)
    ]
    return case.scenario(
        a_log(name, (1, 2), ONE),
        pause_broker(2),
        drained(name),
        rounds,
        look(case, name),
        read(name),
        resume_broker(2),
        expect=all_of(led_by("look", 1, [1, 2], 0), answer("read", MARK).is_(7)),
    )


@claim("isr.the-leader-never-leaves", evidence=("REPL-14", "REPL-08"), **SHORT_LAG)
def test_the_leader_never_leaves(case):
    """When every follower stalls, the leader alone is the ISR and the high watermark reaches its
    log end (in 2.8 with the next append, KAFKA-13091).
    """
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2), ONE),
        pause_broker(2),
        drained(name),
        write(name, TWO, acks=1),
        until_led(case, name, 1, [1]),
        read(name, name="shrunk"),
        write(name, THREE, acks=1, name="next"),
        read(name, name="alone"),
        resume_broker(2),
        expect=all_of(
            answer("look", ISR).is_([1]),
            by_release(
                {
                    "1.0-2.2,3.9+": answer("shrunk", MARK).is_(2),
                    "2.8": answer("shrunk", MARK).is_(1),
                }
            ),
            answer("alone", MARK).is_(3),
        ),
    )


@claim("isr.the-slowest-member-holds-the-mark", evidence=("REPL-07", "REPL-08"), **SHORT_SESSIONS)
def test_the_slowest_member_holds_the_mark(case):
    """The high watermark is the fetch offset of the slowest ISR member and never moves back."""
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2, 0), ONE),
        pause_broker(2),
        drained(name),
        write(name, TWO, acks=1),
        write(name, THREE, acks=1, name="third"),
        read(name, name="held"),
        follow(name, 2, name="second fetched"),
        marked(name, 2, name="moved"),
        follow(name, 3, name="all fetched"),
        marked(name, 3, name="whole"),
        follow(name, 1, name="again"),
        read(name, name="stays"),
        resume_broker(2),
        expect=all_of(answer("held", MARK).is_(1), answer("stays", MARK).is_(3)),
    )


@claim("isr.followers-read-above-the-mark", evidence=("REPL-06", "REPL-09"), **SHORT_SESSIONS)
def test_followers_read_above_the_mark(case):
    """Fetch and ListOffsets of a follower reach the log end; those of a consumer end at the high
    watermark.
    """
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2), ONE),
        pause_broker(2),
        drained(name),
        write(name, TWO, acks=1),
        read(name, name="consumer"),
        follow(name, 1, name="follower"),
        end(name, name="consumer's end"),
        end(name, name="follower's end", replica_id=2),
        resume_broker(2),
        expect=all_of(
            answer("consumer", MARK).is_(1),
            records("follower", "[0].value").is_(TWO),
            answer("consumer's end", OFFSET).is_(1),
            answer("follower's end", OFFSET).is_(2),
            stored("write", 1),
        ),
    )
