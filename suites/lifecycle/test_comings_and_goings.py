"""Shutdown, crash and return of a broker, as other brokers and clients see them.

Sources: KafkaServer.controlledShutdown and KafkaController.shutdownBroker (1.0.2 to 2.8.2),
BrokerLifecycleManager and ReplicationControlManager (3.9.2, 4.3.1), KIP-631; clauses BRK-16,
BRK-26, BRK-30, BRK-32, CTL-16, CTL-18, CTL-24, CTL-25.
"""

from touchstone.harness.model.claim import claim
from touchstone.harness.model.expect import all_of, answer, outcome, records
from touchstone.harness.model.placeholders import Ref
from touchstone.harness.model.scenario import Await, Quiet, Until
from touchstone.harness.model.steps import (
    api_versions,
    ask,
    init_producer_id,
    kill_broker,
    metadata,
    pause_broker,
    resume_broker,
    start_broker,
    stop_broker,
)
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.in_flight import sent
from touchstone.suites.kit.records import ONE, THREE, TWO
from touchstone.suites.kit.three_brokers import (
    LEADER,
    LONG_MS,
    NOBODY,
    PART,
    READ,
    SHORT_SESSIONS,
    SHORT_SESSIONS_APART,
    SHORT_SESSIONS_UNHARMED,
    WRITTEN,
    EpochsVary,
    a_log,
    look,
    marked,
    on,
    placed,
    read,
    stored,
    until_leaderless,
    until_led,
    write,
)

NODES = "brokers[*].node_id"


@claim("lifecycle.leaders-move-before-a-stop-ends", evidence=("BRK-32", "CTL-24"), **SHORT_SESSIONS)
def test_leaders_move_before_a_stop_ends(case):
    """A controlled shutdown moves the leadership of every partition with another ISR member before
    it ends.
    """
    case = EpochsVary(case)
    rows = {"two": (1, 2), "first": (1, 0), "followed": (2, 1), "three": (1, 2, 0)}
    topics = {word: case.topic(word) for word in rows}
    wanted = {"two": 2, "first": 0, "followed": 2, "three": 2}
    return case.scenario(
        [placed(topics[word], {0: row}) for word, row in rows.items()],
        stop_broker(1),
        [look(case, topic, word) for word, topic in topics.items()],
        expect=all_of(*(answer(word, LEADER).is_(who) for word, who in wanted.items())),
    )


@claim(
    "lifecycle.a-sole-replica-does-not-hold-a-stop", evidence=("CTL-25", "CTL-16"), **SHORT_SESSIONS
)
def test_a_sole_replica_does_not_hold_a_stop(case):
    """A partition with a single replica does not delay shutdown: it has no leader until its broker
    restarts, and keeps its records.
    """
    name = case.topic()
    return case.scenario(
        a_log(name, (1,), ONE, TWO),
        stop_broker(1),
        until_leaderless(case, name),
        start_broker(1),
        until_led(case, name, 1, [1]),
        marked(name, 2),
        write(name, THREE),
        expect=all_of(
            answer("nobody", f"{PART}.offline_replicas").is_([1]),
            records("read", "[1].value").is_(TWO),
            stored("write", 2),
        ),
    )


@claim(
    "lifecycle.what-was-acknowledged-survives-a-kill",
    evidence=("LOG-09", "REPL-08"),
    **SHORT_SESSIONS,
)
def test_what_was_acknowledged_survives_a_kill(case):
    """A killed sole replica restarts with every acknowledged record and appends after them."""
    name = case.topic()
    return case.scenario(
        a_log(name, (1,), ONE, TWO),
        kill_broker(1),
        until_leaderless(case, name),
        start_broker(1),
        until_led(case, name, 1, [1]),
        write(name, THREE),
        marked(name, 3),
        expect=all_of(stored("write", 2), records("read", "[*].value").is_([ONE, TWO, THREE])),
    )


@claim(
    "lifecycle.brokers-are-listed-while-they-live",
    evidence=("BRK-30", "META-08"),
    **SHORT_SESSIONS,
    dies=(False, True),
)
def test_brokers_are_listed_while_they_live(case):
    """Metadata omits a broker that stopped, or died and lost its session, and lists it again after
    its restart.
    """
    return case.scenario(
        metadata(broker=0, name="before"),
        kill_broker(2) if case.dies else stop_broker(2),
        Until(metadata(broker=0, name="without"), "brokers", "len ==", 2),
        start_broker(2),
        Until(metadata(broker=0, name="back"), "brokers", "len ==", 3),
        expect=all_of(
            answer("before", "brokers").has_length(3),
            answer("without", NODES).is_one_of([0, 1], [1, 0]),
            answer("back", "brokers").has_length(3),
        ),
    )


@claim("lifecycle.describe-cluster-lists-who-lives", evidence=("KIP-700",), **SHORT_SESSIONS,
       api="DescribeCluster")  # fmt: skip
def test_describe_cluster_lists_who_lives(case):
    """DescribeCluster omits a stopped broker, as Metadata does."""
    return case.scenario(
        stop_broker(2),
        Until(metadata(broker=0, name="without"), "brokers", "len ==", 2),
        ask("DescribeCluster", case.version, {}, broker=0, name="describe"),
        expect=answer("describe", "brokers").has_length(2),
    )


@claim(
    "lifecycle.a-frozen-broker-keeps-its-connections",
    evidence=("observed on 4.3.1",),
    **SHORT_SESSIONS,
)
def test_a_frozen_broker_keeps_its_connections(case):
    """A paused broker keeps its connections and answers a request sent meanwhile
    after it resumes.
    """
    asked = api_versions(broker=2, name="asked")
    return case.scenario(
        metadata(broker=2, name="first"),
        pause_broker(2),
        sent(asked),
        Quiet("broker 2", name="nothing"),
        resume_broker(2),
        Await("asked"),
        expect=all_of(
            outcome("nothing").is_("silent"), answer("asked", "error_code").is_(ErrorCode.NONE)
        ),
    )


@claim("lifecycle.a-killed-broker-answers-nothing", evidence=("BRK-30",), **SHORT_SESSIONS)
def test_a_killed_broker_answers_nothing(case):
    """When a broker is killed, the connection of a Fetch that waits there ends
    without an answer.
    """
    name, asked = case.topic(), "waiting"
    return case.scenario(
        a_log(name, (1, 2), ONE),
        sent(read(name, 1, name=asked, max_wait_ms=LONG_MS)),
        Quiet("broker 1", name="nothing"),
        kill_broker(1),
        Await(asked),
        until_led(case, name, 2, [2]),
        expect=outcome(asked).is_one_of("closed", "reset"),
    )


@claim("lifecycle.a-stop-ends-waiting-fetches", evidence=("BRK-32", "REPL-21"),
       **on("3.9+", SHORT_SESSIONS))  # fmt: skip
def test_a_stop_ends_waiting_fetches(case):
    """When a leader shuts down, a Fetch that waits there answers NOT_LEADER_OR_FOLLOWER. (A
    ZooKeeper controller does not wait until the broker has resigned, so 1.0.2 may disconnect
    first.)
    """
    name, asked = case.topic(), "waiting"
    return case.scenario(
        a_log(name, (1, 2), ONE),
        sent(read(name, 1, name=asked, max_wait_ms=LONG_MS)),
        Quiet("broker 1", name="nothing"),
        stop_broker(1),
        Await(asked),
        until_led(case, name, 2, [2]),
        expect=answer(asked, f"{READ}.error_code").is_(ErrorCode.NOT_LEADER_OR_FOLLOWER),
    )


@claim("lifecycle.a-stop-ends-waiting-appends", evidence=("BRK-32", "REPL-21", "APPEND-23"),
       **on("3.9+", SHORT_SESSIONS))  # fmt: skip
def test_a_stop_ends_waiting_appends(case):
    """When a leader shuts down, an acks=all Produce that waits there answers
    NOT_LEADER_OR_FOLLOWER, although the new leader has the record. (Older releases take longer to
    stop than a follower may be silent.)
    """
    name, asked = case.topic(), "waiting"
    return case.scenario(
        a_log(name, (1, 0, 2), ONE),
        pause_broker(2),
        read(name, 1, name="drained", max_wait_ms=700),
        sent(write(name, TWO, name=asked, timeout_ms=LONG_MS)),
        Quiet("broker 1", name="nothing"),
        stop_broker(1),
        Await(asked),
        resume_broker(2),
        until_led(case, name, 0, [0, 2]),
        marked(name, 2, at=0),
        expect=all_of(
            answer(asked, f"{WRITTEN}.error_code").is_(ErrorCode.NOT_LEADER_OR_FOLLOWER),
            records("read", "[1].value").is_(TWO),
        ),
    )


@claim("lifecycle.a-broker-returns-to-its-place", evidence=("CTL-18",), **SHORT_SESSIONS)
def test_a_broker_returns_to_its_place(case):
    """A restarted broker leads the partitions that only it holds and follows in the others."""
    led_, alone, followed = (case.topic(word) for word in ("led", "alone", "followed"))
    return case.scenario(
        placed(led_, {0: (1, 2)}),
        placed(alone, {0: (1,)}),
        placed(followed, {0: (2, 1)}),
        stop_broker(1),
        until_led(case, led_, 2, [2], "taken over"),
        until_leaderless(case, alone),
        start_broker(1),
        until_led(case, alone, 1, [1], "alone"),
        until_led(case, led_, 2, [2, 1], "led"),
        until_led(case, followed, 2, [2, 1], "followed"),
        expect=all_of(
            answer("nobody", LEADER).is_(NOBODY),
            answer("alone", LEADER).is_(1),
            answer("led", LEADER).is_(2),
            answer("followed", LEADER).is_(2),
        ),
    )


@claim(
    "lifecycle.two-brokers-leave-together", evidence=("CTL-16", "CTL-18"), **SHORT_SESSIONS_APART
)
def test_two_brokers_leave_together(case):
    """When two of three brokers die the third leads alone, and all replicas are in sync after their
    return.
    """
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2, 0), ONE),
        kill_broker(2),
        until_led(case, name, 1, [1, 0], "two left"),
        kill_broker(1),
        until_led(case, name, 0, [0]),
        write(name, TWO, to=0),
        start_broker(1),
        start_broker(2),
        until_led(case, name, 0, [0, 1, 2], "whole"),
        write(name, THREE, to=0, name="last"),
        expect=all_of(answer("look", LEADER).is_(0), stored("write", 1), stored("last", 2)),
    )


@claim("lifecycle.a-cluster-keeps-its-id", evidence=("BRK-16",), **SHORT_SESSIONS)
def test_a_cluster_keeps_its_id(case):
    """Every broker reports the same cluster id, also after a restart."""
    id_ = Ref("first", "cluster_id")
    return case.scenario(
        metadata(broker=0, name="first"),
        metadata(broker=1, name="second"),
        stop_broker(2),
        start_broker(2),
        metadata(broker=2, name="returned"),
        expect=all_of(
            answer("second", "cluster_id").is_(id_), answer("returned", "cluster_id").is_(id_)
        ),
    )


@claim(
    "lifecycle.brokers-give-different-producer-ids", evidence=("BRK-26",), **SHORT_SESSIONS_UNHARMED
)
def test_brokers_give_different_producer_ids(case):
    """Each broker hands out producer ids from its own block: ids of different brokers differ, and
    those of one broker are consecutive.
    """
    given = [Ref(f"id {broker}", "producer_id") for broker in (0, 1)]
    return case.scenario(
        [
            Until(init_producer_id(broker=broker, name=f"id {broker}"), "error_code", "==", 0)
            for broker in (0, 1, 2)
        ],
        init_producer_id(broker=0, name="next"),
        expect=all_of(
            answer("id 1", "producer_id").is_not(given[0]),
            answer("id 2", "producer_id").is_not(given[0]),
            answer("id 2", "producer_id").is_not(given[1]),
            answer("next", "producer_id").is_(Ref("id 0", "producer_id", plus=1)),
        ),
    )
