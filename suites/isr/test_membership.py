"""ISR membership when brokers stop, die and return, and who may lead when too few remain.

Brokers are stopped (the controller hears of it) or killed (the controller notices when the session
ends). The ISR of Metadata is compared in order: members that stayed first, then those that joined.

Sources: ReplicaStateMachine and PartitionStateMachine (1.0.2 to 2.8.2), ReplicationControlManager
and PartitionChangeBuilder (3.9.2, 4.3.1), KIP-966; clauses CTL-16 to CTL-18, CTL-24, REPL-16.
"""

from touchstone.harness.model.claim import claim
from touchstone.harness.model.expect import all_of, answer, by_release, records
from touchstone.harness.model.steps import kill_broker, start_broker, stop_broker
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.records import ONE, THREE, TWO
from touchstone.suites.kit.three_brokers import (
    ISR,
    LEADER,
    MARK,
    OFFLINE,
    PART,
    READ,
    SHORT_SESSIONS,
    SHORT_SESSIONS_APART,
    EpochsVary,
    a_log,
    led_by,
    marked,
    read,
    stopped,
    stored,
    until_leaderless,
    until_led,
    without_epochs,
    write,
)

UNCLEAN = {"unclean.leader.election.enable": "true"}


@claim("isr.a-stopped-follower-leaves-at-once", evidence=("CTL-24", "BRK-32"), **SHORT_SESSIONS)
def test_a_stopped_follower_leaves_at_once(case):
    """A follower that shuts down leaves the ISR and becomes an offline replica; the leader epoch
    rises in ZooKeeper releases and stays in KRaft.
    """
    case = EpochsVary(case)
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2, 0), ONE),
        stopped(2),
        until_led(case, name, 1, [1, 0]),
        write(name, TWO),
        read(name, **without_epochs(case)),
        expect=all_of(
            led_by("look", 1, [1, 0], 1, 0),
            answer("look", OFFLINE).is_([2]),
            stored("write", 1),
            answer("read", MARK).is_(2),
        ),
    )


@claim(
    "isr.a-killed-follower-leaves-with-its-session", evidence=("BRK-30", "CTL-16"), **SHORT_SESSIONS
)
def test_a_killed_follower_leaves_with_its_session(case):
    """A killed follower leaves the ISR and becomes an offline replica when its session expires."""
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2, 0), ONE),
        kill_broker(2),
        until_led(case, name, 1, [1, 0]),
        write(name, TWO),
        expect=all_of(
            led_by("look", 1, [1, 0], 1, 0),
            answer("look", OFFLINE).is_([2]),
            stored("write", 1),
        ),
    )


@claim("isr.a-follower-that-returns-is-last", evidence=("REPL-16", "CTL-18"), **SHORT_SESSIONS)
def test_a_follower_that_returns_is_last(case):
    """A follower that restarts catches up and rejoins the ISR without a new leader epoch."""
    case = EpochsVary(case)
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2, 0), ONE),
        stop_broker(2),
        until_led(case, name, 1, [1, 0], "gone"),
        write(name, TWO),
        start_broker(2),
        until_led(case, name, 1, [1, 0, 2]),
        expect=all_of(
            led_by("look", 1, [1, 0, 2], 1, 0, joined=True), answer("look", OFFLINE).is_([])
        ),
    )


@claim(
    "isr.a-leader-that-returns-follows", evidence=("CTL-16", "CTL-18", "REPL-16"), **SHORT_SESSIONS
)
def test_a_leader_that_returns_follows(case):
    """A former leader that restarts follows and joins the end of the ISR (4.3 lists it by broker
    id).
    """
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2, 0), ONE),
        stop_broker(1),
        until_led(case, name, 2, [2, 0], "gone"),
        write(name, TWO, to=2),
        start_broker(1),
        until_led(case, name, 2, [2, 0, 1]),
        expect=all_of(led_by("gone", 2, [2, 0], 1), led_by("look", 2, [2, 0, 1], 1, joined=True)),
    )


@claim("isr.two-followers-leave-and-return", evidence=("CTL-24", "REPL-16"), **SHORT_SESSIONS)
def test_two_followers_leave_and_return(case):
    """Followers that stop leave the ISR one by one until the leader is alone, and rejoin in the
    order of their return (4.3 lists them by broker id).
    """
    name = case.topic()
    return case.scenario(
        a_log(name, (0, 1, 2), ONE),
        stop_broker(1),
        stop_broker(2),
        until_led(case, name, 0, [0], "alone"),
        write(name, TWO, to=0),
        start_broker(2),
        until_led(case, name, 0, [0, 2], "first"),
        start_broker(1),
        until_led(case, name, 0, [0, 1, 2]),
        expect=all_of(
            led_by("alone", 0, [0], 2, 0),
            answer("alone", OFFLINE).is_([1, 2]),
            led_by("first", 0, [0, 2], 2, 0, joined=True),
            led_by("look", 0, [0, 2, 1], 2, 0, joined=True),
        ),
    )


@claim("isr.its-last-member-stays-in-it", evidence=("CTL-16", "CTL-18"), **SHORT_SESSIONS_APART)
def test_its_last_member_stays_in_it(case):
    """When the last ISR member dies the partition has no leader; that member leads again after its
    restart with all its records (Metadata hides it meanwhile in 1.0, 2.2 and 4.3).
    """
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2), ONE),
        stopped(2),
        until_led(case, name, 1, [1], "alone"),
        write(name, TWO),
        kill_broker(1),
        until_leaderless(case, name, offline=[1, 2]),
        start_broker(1),
        until_led(case, name, 1, [1], "back"),
        marked(name, 2, **without_epochs(case)),
        expect=all_of(
            answer("nobody", f"{PART}.error_code").is_one_of(
                ErrorCode.LEADER_NOT_AVAILABLE, ErrorCode.LISTENER_NOT_FOUND
            ),
            answer("nobody", OFFLINE).is_([1, 2]),
            led_by("back", 1, [1], 3, 2),
            records("read", "[1].value").is_(TWO),
            by_release(
                {
                    "1.0-2.2,4.3": answer("nobody", ISR).is_([]),
                    "2.8-3.9": answer("nobody", ISR).is_([1]),
                }
            ),
        ),
    )


@claim("isr.only-its-members-are-elected", evidence=("CTL-16",), **SHORT_SESSIONS)
def test_only_its_members_are_elected(case):
    """A live replica outside the ISR does not become leader when the last ISR member stops."""
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2), ONE),
        stopped(2),
        until_led(case, name, 1, [1], "alone"),
        write(name, TWO),
        stop_broker(1),
        until_leaderless(case, name),
        start_broker(2),
        until_leaderless(case, name, "still", at=2, offline=[1]),
        start_broker(1),
        until_led(case, name, 1, [1, 2], "back"),
        marked(name, 2, **without_epochs(case)),
        expect=all_of(
            answer("still", LEADER).is_(-1),
            answer("still", OFFLINE).is_([1]),
            records("read", "[1].value").is_(TWO),
        ),
    )


@claim(
    "isr.an-unclean-leader-loses-what-it-never-had",
    evidence=("CTL-17", "REPL-22"),
    **SHORT_SESSIONS,
)
def test_an_unclean_leader_loses_what_it_never_had(case):
    """With unclean.leader.election.enable a replica outside the ISR leads and loses the records it
    lacks: reads beyond its end answer OFFSET_OUT_OF_RANGE, and the old leader truncates to it.
    """
    case = EpochsVary(case)
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2), ONE, configs=UNCLEAN),
        stopped(2),
        until_led(case, name, 1, [1], "alone"),
        write(name, TWO, TWO, TWO),
        stop_broker(1),
        until_leaderless(case, name),
        start_broker(2),
        until_led(case, name, 2, [2], "unclean"),
        read(name, 4, at=2, name="beyond"),
        write(name, THREE, to=2, name="instead"),
        start_broker(1),
        until_led(case, name, 2, [2, 1], "joined"),
        stop_broker(2),
        until_led(case, name, 1, [1], "led again"),
        marked(name, 2, **without_epochs(case)),
        expect=all_of(
            answer("unclean", LEADER).is_(2),
            answer("beyond", f"{READ}.error_code").is_(ErrorCode.OFFSET_OUT_OF_RANGE),
            stored("instead", 1),
            records("read", "[1].value").is_(THREE),
        ),
    )
