"""Share groups on three brokers: a leader or a coordinator that goes, and who is asked in vain.

Both coordinators' logs are made by hand before anybody else makes them, with one partition each on
brokers 2 and 0, so that broker 2 coordinates groups and states and broker 0 does when that one is
dead; what is read lives on brokers 1 and 0. A case that comes after a death waits until the
preferred leaders lead again. What a leader knows of records that are on their way is its own:
written down is only what became of them, and that is what the next leader begins with.

Sources: KIP-932; SharePartitionManager, SharePartition, ShareCoordinatorShard, KafkaApis@4.3.1;
observed on 4.3.1.
"""

from typing import Any

from touchstone.harness.model.claim import claim, every
from touchstone.harness.model.expect import all_of, answer
from touchstone.harness.model.placeholders import Ref
from touchstone.harness.model.scenario import Until
from touchstone.harness.model.steps import (
    ask,
    kill_broker,
    list_offsets,
    metadata,
)
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit import three_brokers
from touchstone.suites.kit.controllers import elect, reassign
from touchstone.suites.kit.coordinators import at, coordinator_known, log_placed
from touchstone.suites.kit.shares import (
    ACCEPT,
    ACQUIRED,
    ANNE,
    BERT,
    CLUSTER,
    CODE,
    REJECT,
    RELEASE,
    RELEASE_IT,
    SEEN,
    acknowledge,
    beat,
    configured,
    described,
    fetch,
    has,
    is_,
    joins,
    known,
    offsets,
    opened,
    run,
    wrong,
)
from touchstone.suites.share.test_states import asked, batch, summary

GROUPS, STATES = "__consumer_offsets", "__share_group_state"
COORDINATORS, READERS = (2, 0), (1, 0)  # where logs of coordinators and of records live
LED, SPARE, COORDINATES = 1, 0, 2
CONFIG = {name: str(value) for name, value in CLUSTER.items()} | three_brokers.SHORT_SESSIONS[
    "config"
]
CARD = {"releases": RELEASE, "config": CONFIG, "evidence": SEEN}
HARMED: dict[str, Any] = three_brokers.SHORT_SESSIONS | CARD
WHOLE: dict[str, Any] = three_brokers.SHORT_SESSIONS_UNHARMED | CARD
ELECTED = "replica_election_results[0].partition_result[0].error_code"
LAG = "groups[0].topics[0].partitions[0].lag"


def moves(name, api, shape=HARMED, **how):
    return claim(f"share.{name}", api=api, versions=every(api), **shape, **how)


def coordinators_ready(group):
    """The logs of coordinators stand where they should, are led as they should, and serve."""
    steps = []
    for log in (GROUPS, STATES):
        led = elect(log, name=f"{log} led")
        steps += [log_placed(log, COORDINATORS, name=log),
                  Until(led, ELECTED, "==", ErrorCode.ELECTION_NOT_NEEDED)]  # fmt: skip
    return [*steps, coordinator_known(group)]


def taken_over(log):
    """The spare one leads this log of a coordinator; version 5 of Metadata does not tell in which
    epoch, which earlier cases decide about.
    """
    seen = metadata(log, version=5, broker=SPARE, name=f"{log} taken over")
    asked = list_offsets(log, 0, broker=SPARE, name=f"{log} serves")
    return [
        Until(seen, three_brokers.LEADER, "==", SPARE, also=((three_brokers.ISR, "len ==", 1),)),
        Until(asked, three_brokers.OFFSET_CODE, "==", 0),
    ]


def a_group(case, group, topic, **configs):
    """A group whose member may read a batch of three, which broker 1 leads."""
    return [
        coordinators_ready(group),
        configured(group, **({"reset": "earliest"} | configs)),
        three_brokers.placed(topic, {0: READERS}),
        known(group, topic, **at(group)),
        joins(group, ANNE, topic, **at(group)),
        opened(group, topic, broker=LED),
        three_brokers.write(topic, b"one", b"two", b"three", to=LED, name="written"),
    ]


def acquired(case, group, topic, **configs):
    """Anne has all of these."""
    return [
        a_group(case, group, topic, **configs),
        fetch(group, 0, topic, broker=LED, name="acquired"),
    ]


def moved(case, topic):
    """The leader of the records is dead, and the spare one leads."""
    return [kill_broker(LED), three_brokers.until_led(case, topic, SPARE, [SPARE])]


def delivered(group, topic, name="next", *, version, member=BERT):
    """What the next leader has for a member, once it has read what was written down."""
    asked = fetch(
        group, 0, topic, member=member, version=version, wait_ms=500, broker=SPARE, name=name
    )
    return Until(asked, ACQUIRED, "len >=", 1)


@moves(
    "the-next-leader-knows-what-was-done",
    "ShareFetch",
    switches=("share-next-leader-begins-anew",),
)
def test_the_next_leader_knows_what_was_done(case):
    """After a leader dies the next one does not deliver accepted records, and delivers the others
    with the delivery count that they had."""
    group, topic = case.topic("group"), case.topic()
    return case.scenario(
        acquired(case, group, topic),
        acknowledge(group, 1, topic, run(0, 0, ACCEPT), broker=LED, name="done"),
        moved(case, topic),
        delivered(group, topic, version=case.version),
        expect=all_of(has("acquired", (0, 2, 1)), has("next", (1, 2, 1))),
    )


@moves("the-next-leader-counts-deliveries", "ShareFetch")
def test_the_next_leader_counts_deliveries(case):
    """After a leader dies the next one delivers released records with a higher delivery count and
    does not deliver rejected ones."""
    group, topic = case.topic("group"), case.topic()
    return case.scenario(
        acquired(case, group, topic),
        acknowledge(
            group, 1, topic, run(0, 2, RELEASE_IT, REJECT, RELEASE_IT), broker=LED, name="back"
        ),
        moved(case, topic),
        delivered(group, topic, version=case.version),
        expect=has("next", (0, 0, 2), (2, 2, 2)),
    )


@moves("sessions-end-with-their-leader", "ShareAcknowledge")
def test_sessions_end_with_their_leader(case):
    """After a leader dies share sessions and acquisitions are gone: the next leader answers
    SHARE_SESSION_NOT_FOUND, and INVALID_RECORD_STATE for a late acknowledgement."""
    group, topic = case.topic("group"), case.topic()
    how = {"version": case.version, "broker": SPARE}
    return case.scenario(
        acquired(case, group, topic),
        moved(case, topic),
        acknowledge(group, 1, topic, run(0, 2, ACCEPT), **how, name="without a session"),
        fetch(group, 1, topic, broker=SPARE, name="goes on"),
        delivered(group, topic, version=2),
        fetch(group, 0, topic, broker=SPARE, name="begins"),
        acknowledge(group, 1, topic, run(0, 2, ACCEPT), **how, name="late"),
        expect=all_of(
            is_("without a session", ErrorCode.SHARE_SESSION_NOT_FOUND),
            is_("goes on", ErrorCode.SHARE_SESSION_NOT_FOUND),
            has("next", (0, 2, 1)),
            has("begins"),
            wrong("late", ErrorCode.INVALID_RECORD_STATE),
        ),
    )


@moves("states-survive-their-coordinator", "ShareAcknowledge")
def test_states_survive_their_coordinator(case):
    """After the share coordinator dies the next one has the states of share partitions and accepts
    acknowledgements."""
    group, topic = case.topic("group"), case.topic()
    how = {"version": case.version, "broker": LED}
    return case.scenario(
        acquired(case, group, topic),
        acknowledge(group, 1, topic, run(0, 0, ACCEPT), **how, name="before"),
        Until(offsets(group, [(topic, [0])], name="begins", **at(group)), LAG, "==", 2),
        kill_broker(COORDINATES),
        three_brokers.until_led(case, topic, LED, [LED, SPARE]),
        taken_over(STATES),
        acknowledge(group, 2, topic, run(1, 1, ACCEPT), **how, name="after"),
        Until(offsets(group, [(topic, [0])], name="goes on", **at(group, "after")), LAG, "==", 1),
        summary(topic, group=group, name="summary", broker=SPARE),
        expect=all_of(
            wrong("before", 0),
            wrong("after", 0),
            answer("summary", "results[0].partitions[0].start_offset").is_(1),
        ),
    )  # fmt: skip


@moves("members-go-on-at-the-next-coordinator", "ShareGroupHeartbeat")
def test_members_go_on_at_the_next_coordinator(case):
    """After the group coordinator dies the next one has the share group's members and epochs, and
    heartbeats go on."""
    group, topic = case.topic("group"), case.topic()
    epoch = Ref("anne assigned", "member_epoch")
    after = at(group, "after")
    alive = beat(group, ANNE, epoch, topic, version=case.version, name="alive", **after)
    return case.scenario(
        a_group(case, group, topic),
        kill_broker(COORDINATES),
        taken_over(GROUPS),
        Until(alive, CODE, "==", 0),
        described(group, name="described", **after),
        expect=all_of(
            answer("alive", "member_epoch").is_(3),
            answer("described", "groups[0].group_state").is_("Stable"),
            answer("described", "groups[0].members").has_length(1),
        ),
    )


@moves("who-led-before-has-nothing", "ShareAcknowledge", WHOLE)
def test_who_led_before_has_nothing(case):
    """A broker that is no longer leader answers ShareFetch with NOT_LEADER_OR_FOLLOWER, and the
    next leader delivers the records it had handed out."""
    group, topic = case.topic("group"), case.topic()
    return case.scenario(
        acquired(case, group, topic),
        reassign(topic, {0: [SPARE, LED]}),
        Until(elect(topic, name="moved"), ELECTED, "==", ErrorCode.ELECTION_NOT_NEEDED),
        three_brokers.until_led(case, topic, SPARE, [SPARE, LED]),
        Until(
            three_brokers.end(topic, at=LED, name="leads no more"),
            three_brokers.OFFSET_CODE,
            "==",
            ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ),
        acknowledge(
            group, 1, topic, run(0, 2, ACCEPT), broker=LED, version=case.version, name="late"
        ),
        fetch(group, 2, topic, broker=LED, name="goes on"),
        delivered(group, topic, version=2),
        expect=all_of(wrong("goes on", ErrorCode.NOT_LEADER_OR_FOLLOWER), has("next", (0, 2, 1))),
    )


@moves("only-leaders-serve-share-fetches", "ShareFetch", WHOLE)
def test_only_leaders_serve_share_fetches(case):
    """ShareFetch at a broker that does not lead the partition answers NOT_LEADER_OR_FOLLOWER."""
    group, topic = case.topic("group"), case.topic()
    return case.scenario(
        a_group(case, group, topic),
        fetch(group, 0, topic, version=case.version, wait_ms=500, broker=SPARE, name="spare"),
        fetch(group, 0, topic, version=case.version, broker=LED, name="leader"),
        expect=all_of(wrong("spare", ErrorCode.NOT_LEADER_OR_FOLLOWER), has("leader", (0, 2, 1))),
    )


@moves("only-leaders-take-acknowledgements", "ShareAcknowledge", WHOLE)
def test_only_leaders_take_acknowledgements(case):
    """ShareAcknowledge at a broker that does not lead the partition answers
    UNKNOWN_TOPIC_OR_PARTITION (ShareFetch there NOT_LEADER_OR_FOLLOWER), and succeeds at the
    leader."""
    group, topic = case.topic("group"), case.topic()
    how = {"version": case.version, "broker": SPARE}
    return case.scenario(
        acquired(case, group, topic),
        fetch(group, 0, topic, broker=SPARE, name="begins"),
        acknowledge(group, 1, topic, run(0, 2, ACCEPT), **how, name="spare"),
        acknowledge(group, 1, topic, run(0, 2, ACCEPT), broker=LED, name="leader"),
        expect=all_of(
            wrong("begins", ErrorCode.NOT_LEADER_OR_FOLLOWER),
            wrong("spare", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
            wrong("leader", 0),
        ),
    )


@moves("only-the-share-coordinator-writes-states", "WriteShareGroupState", WHOLE)
def test_only_the_share_coordinator_writes_states(case):
    """WriteShareGroupState and ReadShareGroupStateSummary at a broker that does not coordinate the
    share partition answer NOT_COORDINATOR."""
    group, topic = case.topic("group"), case.topic()
    fields = {"state_epoch": 1, "leader_epoch": 0, "start_offset": 0}
    row = {"state_batches": [batch(0, 1, 2, 1)], **fields}
    if case.version:
        row["delivery_complete_count"] = 2
    api = "WriteShareGroupState"
    return case.scenario(
        a_group(case, group, topic),
        asked(api, topic, case.version, group=group, broker=SPARE, name="spare", **row),
        summary(topic, group=group, broker=SPARE, name="summed up by the spare"),
        summary(topic, group=group, broker=COORDINATES, name="summary"),
        expect=all_of(
            is_("spare", ErrorCode.NOT_COORDINATOR, "results[0].partitions[0].error_code"),
            is_(
                "summed up by the spare",
                ErrorCode.NOT_COORDINATOR,
                "results[0].partitions[0].error_code",
            ),
            is_("summary", 0, "results[0].partitions[0].error_code"),
        ),
    )


@moves("only-the-coordinator-takes-share-heartbeats", "ShareGroupHeartbeat", WHOLE)
def test_only_the_coordinator_takes_share_heartbeats(case):
    """ShareGroupHeartbeat at a broker that is not the coordinator answers NOT_COORDINATOR."""
    group, topic = case.topic("group"), case.topic()
    epoch = Ref("anne assigned", "member_epoch")
    return case.scenario(
        a_group(case, group, topic),
        beat(group, ANNE, epoch, topic, version=case.version, broker=SPARE, name="spare"),
        described(group, broker=SPARE, name="described by the spare"),
        ask("ConsumerGroupDescribe", 1, {"group_ids": [group]}, broker=SPARE, name="as another"),
        offsets(group, [(topic, [0])], broker=SPARE, name="offsets by the spare"),
        beat(group, ANNE, epoch, topic, version=case.version, name="goes on", **at(group)),
        expect=all_of(is_("spare", ErrorCode.NOT_COORDINATOR), is_("goes on", 0)),
    )
