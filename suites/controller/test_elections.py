"""Leader election: after a broker dies, on request, and when only replicas outside the ISR remain.

Sources: Election and PartitionStateMachine (1.0.2 to 2.8.2), PartitionChangeBuilder and
ReplicationControlManager.electLeaders (3.9.2, 4.3.1), KIP-183, KIP-460, KIP-966; clauses CTL-16 to
CTL-18, CTL-23.
"""

from touchstone.harness.model.claim import claim, range_
from touchstone.harness.model.expect import all_of, answer, by_release, records
from touchstone.harness.model.scenario import Until
from touchstone.harness.model.steps import kill_broker, start_broker, stop_broker
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.controllers import UNCLEAN, describe, elect
from touchstone.suites.kit.records import ONE, THREE, TWO
from touchstone.suites.kit.three_brokers import (
    ISR,
    LEADER,
    OFFSET,
    PART,
    SHORT_SESSIONS,
    SHORT_SESSIONS_UNHARMED,
    EpochsVary,
    a_log,
    end,
    led_by,
    look,
    marked,
    on,
    placed,
    read,
    stopped,
    stored,
    until_leaderless,
    until_led,
    write,
)
from touchstone.suites.kit.topics import among

RESULT = "replica_election_results[0].partition_result[0].error_code"
RESULTS = "replica_election_results[0].partition_result[*].error_code"
ELECTIONS = range_("ElectLeaders", 0)
CHEAP = among(0, 2)  # a case that stops brokers is not worth a version that says the same


def after_a_return(case, topic, row=(1, 2, 0)):
    """The first of the row has come back and follows; the second leads."""
    return [
        a_log(topic, row, ONE),
        stop_broker(row[0]),
        until_led(case, topic, row[1], row[1:], "gone"),
        start_broker(row[0]),
        until_led(case, topic, row[1], row, "back"),
    ]


@claim("controller.the-next-in-line-leads", evidence=("CTL-16",), **SHORT_SESSIONS,
       second=(0, 2))  # fmt: skip
def test_the_next_in_line_leads(case):
    """When a leader dies, the next replica of the assignment becomes leader in a
    new leader epoch.
    """
    name, rest = case.topic(), [case.second, 2 - case.second]
    return case.scenario(
        a_log(name, (1, *rest), ONE),
        read(name, 1, name="told", max_wait_ms=700),
        kill_broker(1),
        until_led(case, name, rest[0], rest),
        write(name, TWO, to=rest[0]),
        expect=all_of(led_by("look", rest[0], rest, 1), stored("write", 1)),
    )


@claim("controller.assignments-decide-not-the-isr", evidence=("CTL-16",), **SHORT_SESSIONS)
def test_assignments_decide_not_the_isr(case):
    """The order of the assignment decides which ISR member becomes leader, not the order of the
    ISR.
    """
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2, 0), ONE),
        stop_broker(2),
        until_led(case, name, 1, [1, 0], "gone"),
        start_broker(2),
        until_led(case, name, 1, [1, 0, 2], "back"),
        stop_broker(1),
        until_led(case, name, 2, [0, 2]),
        expect=led_by("look", 2, [0, 2], 2, 1, joined=True),
    )


@claim("controller.who-left-the-isr-is-passed-over", evidence=("CTL-16",), **SHORT_SESSIONS)
def test_who_left_the_isr_is_passed_over(case):
    """An election skips the next replica of the assignment while it is outside the ISR."""
    case = EpochsVary(case)
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2, 0), ONE),
        stop_broker(2),
        until_led(case, name, 1, [1, 0], "gone"),
        stop_broker(1),
        until_led(case, name, 0, [0]),
        write(name, TWO, to=0),
        start_broker(1),
        start_broker(2),
        until_led(case, name, 0, [0, 1, 2], "all"),
        expect=all_of(
            led_by("look", 0, [0], 2, 1), stored("write", 1), answer("all", LEADER).is_(0)
        ),
    )


@claim("controller.the-preferred-leader-is-elected-on-request", evidence=("CTL-23", "KIP-183"),
       api="ElectLeaders", versions=ELECTIONS, where=CHEAP, **SHORT_SESSIONS)  # fmt: skip
def test_the_preferred_leader_is_elected_on_request(case):
    """ElectLeaders makes the preferred replica leader again, in a new leader epoch."""
    name = case.topic()
    return case.scenario(
        after_a_return(case, name),
        elect(name, version=case.version),
        until_led(case, name, 1, [1, 2, 0]),
        expect=all_of(
            answer("elect", RESULT).is_(ErrorCode.NONE),
            led_by("look", 1, [2, 0, 1], 2, joined=True),
        ),
    )


@claim("controller.a-preferred-leader-must-be-there", evidence=("CTL-23", "KIP-183"),
       api="ElectLeaders", versions=ELECTIONS, where=CHEAP, **SHORT_SESSIONS)  # fmt: skip
def test_a_preferred_leader_must_be_there(case):
    """While the preferred replica is down, ElectLeaders answers PREFERRED_LEADER_NOT_AVAILABLE and
    the leader stays.
    """
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2, 0), ONE),
        stop_broker(1),
        until_led(case, name, 2, [2, 0], "gone"),
        elect(name, version=case.version),
        look(case, name),
        expect=all_of(
            answer("elect", RESULT).is_(ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE),
            led_by("look", 2, [2, 0], 1),
        ),
    )


@claim("controller.no-election-without-need", evidence=("CTL-23", "KIP-183", "KIP-460"),
       api="ElectLeaders", versions=ELECTIONS, **SHORT_SESSIONS_UNHARMED)  # fmt: skip
def test_no_election_without_need(case):
    """ElectLeaders of a partition that its preferred replica leads answers ELECTION_NOT_NEEDED
    (2.2: no error) and changes neither leader nor leader epoch.
    """
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2, 0), ONE),
        elect(name, version=case.version),
        look(case, name),
        expect=all_of(
            by_release(
                {
                    "2.2": answer("elect", RESULT).is_(ErrorCode.NONE),
                    "2.8+": answer("elect", RESULT).is_(ErrorCode.ELECTION_NOT_NEEDED),
                }
            ),
            led_by("look", 1, [1, 2, 0], 0),
        ),
    )


@claim("controller.elections-know-their-partitions", evidence=("KIP-183",),
       api="ElectLeaders", versions=ELECTIONS, **SHORT_SESSIONS_UNHARMED)  # fmt: skip
def test_elections_know_their_partitions(case):
    """ElectLeaders of a topic or partition that does not exist answers
    UNKNOWN_TOPIC_OR_PARTITION.
    """
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2)),
        elect(name, 7, version=case.version, name="no partition"),
        elect(case.topic("other"), version=case.version, name="no topic"),
        expect=all_of(
            answer("no partition", RESULT).is_(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
            answer("no topic", RESULT).is_(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ),
    )


@claim(
    "controller.an-unclean-election-on-request",
    evidence=("CTL-17", "KIP-460"),
    api="ElectLeaders",
    versions=range_("ElectLeaders", 1),
    where=CHEAP,
    **SHORT_SESSIONS,
)
def test_an_unclean_election_on_request(case):
    """An unclean ElectLeaders makes a replica outside the ISR leader of a leaderless partition; the
    records that it lacks are lost.
    """
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2), ONE),
        stopped(2),
        until_led(case, name, 1, [1], "alone"),
        write(name, TWO, name="lost"),
        stop_broker(1),
        until_leaderless(case, name),
        start_broker(2),
        until_leaderless(case, name, "still", at=2),
        elect(name, version=case.version, kind=UNCLEAN),
        until_led(case, name, 2, [2]),
        write(name, THREE, to=2, name="instead"),
        marked(name, 2, at=2),
        expect=all_of(
            answer("elect", RESULT).is_(ErrorCode.NONE),
            stored("instead", 1),
            records("read", "[1].value").is_(THREE),
        ),
    )


@claim(
    "controller.no-unclean-election-without-need",
    evidence=("KIP-460",),
    api="ElectLeaders",
    versions=range_("ElectLeaders", 1),
    **SHORT_SESSIONS_UNHARMED,
)
def test_no_unclean_election_without_need(case):
    """An unclean ElectLeaders of a partition that has a leader answers ELECTION_NOT_NEEDED."""
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2), ONE),
        elect(name, version=case.version, kind=UNCLEAN),
        look(case, name),
        expect=all_of(
            answer("elect", RESULT).is_(ErrorCode.ELECTION_NOT_NEEDED), led_by("look", 1, [1, 2], 0)
        ),
    )


@claim(
    "controller.an-unclean-election-needs-a-replica",
    evidence=("KIP-460",),
    api="ElectLeaders",
    versions=range_("ElectLeaders", 1),
    where=CHEAP,
    **SHORT_SESSIONS,
)
def test_an_unclean_election_needs_a_replica(case):
    """An unclean ElectLeaders answers ELIGIBLE_LEADERS_NOT_AVAILABLE while no replica is alive."""
    name = case.topic()
    return case.scenario(
        a_log(name, (1,), ONE),
        stop_broker(1),
        until_leaderless(case, name),
        elect(name, version=case.version, kind=UNCLEAN),
        expect=answer("elect", RESULT).is_(ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE),
    )


@claim("controller.eligible-replicas-outlive-the-isr", evidence=("KIP-966",),
       api="DescribeTopicPartitions", **on("4.3", SHORT_SESSIONS))  # fmt: skip
def test_eligible_replicas_outlive_the_isr(case):
    """A replica that leaves an ISR at min.insync.replicas stays an eligible leader replica until it
    is back in sync.
    """
    name = case.topic()
    elr = "topics[0].partitions[0].eligible_leader_replicas"
    return case.scenario(
        a_log(name, (1, 2, 0), ONE, configs={"min.insync.replicas": 2}),
        marked(name, 1, at=0, name="known", version=11),
        describe(name, name="whole"),
        stop_broker(2),
        until_led(case, name, 1, [1, 0], "two"),
        describe(name, name="at the minimum"),
        stop_broker(1),
        until_led(case, name, 0, [0], "one"),
        describe(name, name="below"),
        start_broker(1),
        until_led(case, name, 0, [0, 1], "back"),
        describe(name, name="again"),
        expect=all_of(
            answer("at the minimum", elr).is_([]),
            answer("below", elr).is_([1]),
            answer("again", elr).is_([]),
        ),
    )


@claim("controller.an-eligible-replica-leads", evidence=("KIP-966",), **on("4.3", SHORT_SESSIONS))
def test_an_eligible_replica_leads(case):
    """When the whole ISR is down, a returning eligible leader replica becomes leader as the only
    ISR member; below min.insync.replicas its high watermark does not advance.
    """
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2), ONE, configs={"min.insync.replicas": 2}),
        marked(name, 1, at=2, name="known", version=11),
        stop_broker(2),
        until_led(case, name, 1, [1], "below"),
        stop_broker(1),
        until_leaderless(case, name),
        describe(name, name="nobody left"),
        start_broker(2),
        Until(look(case, name), LEADER, "==", 2),
        Until(look(case, name, "look there", at=2), LEADER, "==", 2),
        describe(name, name="led"),
        write(name, TWO, to=2, acks=1),
        end(name, at=2),
        expect=all_of(
            answer("nobody", ISR).is_([]),
            answer("look", LEADER).is_(2),
            answer("look", ISR).is_([2]),
            answer("end", OFFSET).is_(1),
            answer("nobody left", f"{PART}.isr_nodes").is_([]),
        ),
    )


@claim("controller.elections-for-every-partition", evidence=("KIP-183",),
       api="ElectLeaders", versions=ELECTIONS, where=CHEAP, **SHORT_SESSIONS)  # fmt: skip
def test_elections_for_every_partition(case):
    """ElectLeaders of two partitions answers each by itself: one gets a new leader, the other needs
    none.
    """
    case = EpochsVary(case)
    name, rows, each = case.topic(), {0: [1, 2], 1: [2, 1]}, "topics[0].partitions[*].leader_id"
    return case.scenario(
        placed(name, rows),
        stop_broker(1),
        Until(look(case, name, "gone"), each, "each ==", 2),
        start_broker(1),
        Until(
            look(case, name, "back"),
            f"{PART}.isr_nodes",
            "len ==",
            2,
            also=(("topics[0].partitions[1].isr_nodes", "len ==", 2),),
        ),
        elect(name, 0, 1, version=case.version),
        Until(look(case, name), each, "contains", 1),
        expect=all_of(
            answer("elect", RESULTS).contains(ErrorCode.NONE),
            by_release(
                {
                    "2.2": answer("elect", RESULTS).each_is(ErrorCode.NONE),
                    "2.8+": answer("elect", RESULTS).contains(ErrorCode.ELECTION_NOT_NEEDED),
                }
            ),
            answer("look", each).contains(1),
            answer("look", each).contains(2),
        ),
    )
