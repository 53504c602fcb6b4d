"""Consumer groups of KIP-848, one rule at a time: who shares what, what is written, who is asked.

Sources: KIP-848, KIP-1101; GroupMetadataManager, UniformAssignor, RangeAssignor@4.3.1; observed on
4.3.1.
"""

from harness.claim import claim, every, range_
from harness.expect import all_of, answer
from harness.placeholders import Ref
from harness.scenario import Ask, Until
from harness.steps import (
    a_topic,
    create_partitions,
    delete_topic,
    describe_configs,
    list_offsets,
    topic_ready,
)
from harness.steps import fetch as read_log
from suites.rebalance import acts
from suites.rebalance.acts import coordinated, list_groups
from suites.rebalance.beats import (
    AWAY,
    CLUSTER,
    CODE,
    EPOCH,
    GIVEN,
    GROUP,
    GROUP_EPOCH,
    LEAVE,
    MEMBERS,
    STATE,
    beat,
    configure,
    describe,
    heard,
    join,
    started,
    until,
)

SEEN = {"evidence": ("KIP-848", "observed on 4.3.1"), "releases": "4.3", "config": CLUSTER}
BEATS = SEEN | {"api": "ConsumerGroupHeartbeat", "versions": every("ConsumerGroupHeartbeat")}
BY_EXPRESSION = BEATS | {"versions": range_("ConsumerGroupHeartbeat", 1)}
DESCRIBES = SEEN | {
    "api": "ConsumerGroupDescribe", "versions": every("ConsumerGroupDescribe"),
}  # fmt: skip
NONE, GROUP_ID_NOT_FOUND = 0, 69
LOG = "__consumer_offsets"
SESSION, INTERVAL = "consumer.session.timeout.ms", "consumer.heartbeat.interval.ms"
BAD = {
    "class": "[", "group": "(", "repeat": "a**", "argument": "*a", "reference": r"(a)\1",
    "ahead": "(?=a)", "range": "[z-a]", "escape": r"\8", "end": "\\", "count": "a{1001}",
    "capture": "(?P<>a)", "perl": "(?z)a",
}  # fmt: skip


def written(*steps):
    """These steps, and what they left in the log of all groups."""
    end = list_offsets(LOG, 0, name="log end")
    here = Ref("log end", "topics[0].partitions[0].offset")
    return [end, *steps, read_log(LOG, 0, here, name="log")]


@claim("rebalance.consumer-groups-begin-at-epoch-1", switches=("group-epoch-not-bumped",), **BEATS)
def test_consumer_groups_begin_at_epoch_1(case):
    """A new group is at epoch 1, so its first subscriber is at 2 and has everything at once."""
    group, topic = case.group(), case.topic()
    verdict = case.judge(
        started(group, topic),
        join(group, "m1", topic, version=case.version, name="join"),
        describe(group, name="then"),
        expect=all_of(
            answer("join", EPOCH).is_(2),
            answer("join", GIVEN).is_([0, 1, 2, 3]),
            answer("then", GROUP_EPOCH).is_(2),
        ),
    )
    assert verdict.conforms, verdict


@claim("rebalance.consumer-ids-are-given-to-those-without", **BEATS | {
    "versions": range_("ConsumerGroupHeartbeat", 0, 0)})  # fmt: skip
def test_consumer_ids_are_given_to_those_without(case):
    """In version 0 who joins without a member id is given one and goes on with it."""
    group, topic = case.group(), case.topic()
    verdict = case.judge(
        started(group, topic),
        join(group, "", topic, version=case.version, name="join"),
        beat(group, Ref("join", "member_id"), 2, version=case.version, name="beat"),
        expect=all_of(answer("join", EPOCH).is_(2), answer("beat", EPOCH).is_(2)),
    )
    assert verdict.conforms, verdict


@claim("rebalance.consumers-of-nothing-have-nothing", **BEATS)
def test_consumers_of_nothing_have_nothing(case):
    """A member may subscribe to no topic: its group stays at epoch 1 and is stable."""
    group, topic = case.group(), case.topic()
    verdict = case.judge(
        started(group, topic),
        join(group, "m1", version=case.version, name="join"),
        describe(group, name="then"),
        expect=all_of(answer("join", EPOCH).is_(1), answer("then", STATE).is_("Stable")),
    )
    assert verdict.conforms, verdict


@claim("rebalance.topics-named-twice-count-once", **BEATS)
def test_topics_named_twice_count_once(case):
    """A topic that is named twice, and one that is not there, change nothing."""
    group, topic = case.group(), case.topic()
    again = {"subscribed_topic_names": [topic, topic], "version": case.version}
    verdict = case.judge(
        started(group, topic),
        join(group, "m1", topic, version=case.version, name="join"),
        beat(group, "m1", 2, name="twice", **again),
        beat(group, "m1", 2, name="and another", version=case.version,
             subscribed_topic_names=[topic, "no such topic"]),
        describe(group, name="then"),
        expect=all_of(
            answer("twice", EPOCH).is_(2),
            answer("and another", EPOCH).is_(3),
            answer("then", STATE).is_("Stable"),
        ),
    )  # fmt: skip
    assert verdict.conforms, verdict


@claim("rebalance.new-topics-are-shared-out", **BEATS)
def test_new_topics_are_shared_out(case):
    """A topic that a member waits for is given to it by a heartbeat after it was created."""
    group, topic, late = case.group(), case.topic(), case.topic("late")
    verdict = case.judge(
        started(group, topic),
        join(group, "m1", late, version=case.version, name="join"),
        a_topic(late, 2),
        Until(beat(group, "m1", Ref("join", EPOCH), name="finds", version=case.version),
              GIVEN, "len ==", 2),
        describe(group, name="then"),
        expect=answer("finds", GIVEN).is_([0, 1]),
    )  # fmt: skip
    assert verdict.conforms, verdict


@claim("rebalance.new-partitions-are-shared-out", **SEEN)
def test_new_partitions_are_shared_out(case):
    """Partitions that a subscribed topic gets are given to its member: another epoch."""
    group, topic = case.group(), case.topic()
    verdict = case.judge(
        started(group, topic),
        join(group, "m1", topic, name="join"),
        create_partitions(topic, 6, name="grow"),
        topic_ready(topic, 6, again=" again"),
        Until(beat(group, "m1", 2, name="finds"), EPOCH, "==", 3),
        expect=answer("finds", GIVEN).is_([0, 1, 2, 3, 4, 5]),
    )
    assert verdict.conforms, verdict


@claim("rebalance.deleted-topics-are-taken-back", **SEEN)
def test_deleted_topics_are_taken_back(case):
    """The partitions of a deleted topic are to be given up: another epoch."""
    group, topic = case.group(), case.topic()
    verdict = case.judge(
        started(group, topic),
        join(group, "m1", topic, name="join"),
        delete_topic(topic, name="delete"),
        Until(beat(group, "m1", 2, name="finds"), "assignment.topic_partitions", "len ==", 0),
        beat(group, "m1", 2, name="gave up", topic_partitions=[]),
        describe(group, name="then"),
        expect=all_of(answer("gave up", EPOCH).is_(3), answer("then", STATE).is_("Stable")),
    )
    assert verdict.conforms, verdict


@claim("rebalance.uniform-moves-as-little-as-it-can", **BEATS)
def test_uniform_moves_as_little_as_it_can(case):
    """A third member takes from those who have most; nobody is given what another keeps."""
    group, topic = case.group(), case.topic()
    version = case.version
    verdict = case.judge(
        started(group, topic),
        join(group, "m1", topic, version=version, name="m1"),
        join(group, "m2", topic, version=version, name="m2"),
        beat(group, "m1", 2, topic, (0, 1), version=version, name="m1 gives"),
        beat(group, "m1", 2, topic, (0, 1), version=version, name="m1 gave"),
        beat(group, "m2", 3, version=version, name="m2 takes"),
        join(group, "m3", topic, version=version, name="m3"),
        beat(group, "m1", 3, version=version, name="m1 hears"),
        beat(group, "m2", 3, version=version, name="m2 hears"),
        describe(group, name="then"),
        expect=all_of(answer("m3", EPOCH).is_(4), answer("then", MEMBERS).has_length(3)),
    )
    assert verdict.conforms, verdict


@claim("rebalance.range-gives-the-first-the-rest", evidence=("KIP-848", "GROUP-28"),
       **{key: value for key, value in BEATS.items() if key != "evidence"})  # fmt: skip
def test_range_gives_the_first_the_rest(case):
    """Under range the members get consecutive partitions by their ids, the first what is over."""
    group, topic = case.group(), case.topic()
    how = {"server_assignor": "range", "version": case.version}
    verdict = case.judge(
        started(group, topic),
        *[join(group, each, topic, name=each, **how) for each in ("m2", "m1", "m3")],
        describe(group, name="then"),
        expect=all_of(
            answer("then", "groups[0].assignor_name").is_("range"),
            answer("m3", EPOCH).is_(4),
        ),
    )
    assert verdict.conforms, verdict


@claim("rebalance.most-members-choose-the-assignor", **SEEN)
def test_most_members_choose_the_assignor(case):
    """The assignor that most members prefer is used; who prefers none has no vote."""
    group, topic = case.group(), case.topic()
    verdict = case.judge(
        started(group, topic),
        join(group, "m1", topic, name="m1", server_assignor="range"),
        join(group, "m2", topic, name="m2", server_assignor="uniform"),
        describe(group, name="even"),
        join(group, "m3", topic, name="m3"),
        join(group, "m4", topic, name="m4", server_assignor="range"),
        describe(group, name="then"),
        expect=answer("then", "groups[0].assignor_name").is_("range"),
    )
    assert verdict.conforms, verdict


@claim("rebalance.other-subscriptions-are-balanced", **SEEN)
def test_other_subscriptions_are_balanced(case):
    """Members of other topics have only what they want, as evenly as that allows."""
    group, topic, other = case.group(), case.topic(), case.topic("other")
    verdict = case.judge(
        started(group, topic),
        a_topic(other, 2),
        heard(other),
        join(group, "m1", topic, name="m1"),
        join(group, "m2", other, name="m2"),
        join(group, "m3", other, name="m3"),
        describe(group, name="then"),
        expect=all_of(
            answer("m1", GIVEN).is_([0, 1, 2, 3]),
            answer("m2", GIVEN).is_([0, 1]),
        ),
    )
    assert verdict.conforms, verdict


@claim("rebalance.full-consumer-groups-refuse", **BEATS)
def test_full_consumer_groups_refuse(case):
    """Beyond group.consumer.max.size nobody may join; who is in may join again."""
    group, topic = case.group(), case.topic()
    everybody = [f"m{number}" for number in range(1, 7)]
    verdict = case.judge(
        started(group, topic),
        *[join(group, each, topic, version=case.version, name=each) for each in everybody],
        join(group, "m7", topic, version=case.version, name="m7"),
        join(group, "m1", topic, version=case.version, name="m1 again"),
        expect=all_of(
            answer("m7", CODE).is_(acts.code("GROUP_MAX_SIZE_REACHED")),
            answer("m1 again", CODE).is_(NONE),
        ),
    )
    assert verdict.conforms, verdict


@claim("rebalance.silent-consumers-are-fenced", **SEEN)
def test_silent_consumers_are_fenced(case):
    """Who sends no heartbeat for the group's session timeout is out, and its epoch of no use."""
    group, topic = case.group(), case.topic()
    verdict = case.judge(
        started(group, topic),
        configure(group, {SESSION: "600", INTERVAL: "100"}, "short"),
        Until(join(group, "m1", topic, name="join"), "heartbeat_interval_ms", "==", 100),
        until(group, "Empty", "silence"),
        beat(group, "m1", 2, name="late"),
        expect=answer("late", CODE).is_(acts.code("UNKNOWN_MEMBER_ID")),
    )
    assert verdict.conforms, verdict


@claim("rebalance.who-does-not-give-up-is-fenced", **SEEN)
def test_who_does_not_give_up_is_fenced(case):
    """A member that still owns what it has to give up after its rebalance timeout is out."""
    group, topic = case.group(), case.topic()
    verdict = case.judge(
        started(group, topic),
        join(group, "m1", topic, name="m1", rebalance_timeout_ms=500),
        join(group, "m2", topic, name="m2"),
        beat(group, "m1", 2, name="m1 is told"),
        until(group, "Assigning", "m1 is out", members=1),
        beat(group, "m1", 2, name="late"),
        beat(group, "m2", 3, name="m2 has all"),
        expect=all_of(
            answer("late", CODE).is_(acts.code("UNKNOWN_MEMBER_ID")),
            answer("m2 has all", GIVEN).is_([0, 1, 2, 3]),
        ),
    )
    assert verdict.conforms, verdict


@claim("rebalance.heartbeats-that-were-lost-are-sent-again", **BEATS)
def test_heartbeats_that_were_lost_are_sent_again(case):
    """Who did not hear of its new epoch says the old one and what it has, and is told again."""
    group, topic = case.group(), case.topic()
    version = case.version
    verdict = case.judge(
        started(group, topic),
        join(group, "m1", topic, version=version, name="m1"),
        join(group, "m2", topic, version=version, name="m2"),
        beat(group, "m1", 2, version=version, name="told"),
        beat(group, "m1", 2, topic, (0, 1), version=version, name="lost"),
        beat(group, "m1", 2, topic, (0, 1), version=version, name="again"),
        beat(group, "m1", 2, topic, (0, 3), version=version, name="too much"),
        expect=all_of(
            answer("lost", EPOCH).is_(3),
            answer("again", EPOCH).is_(3),
            answer("too much", CODE).is_(acts.code("FENCED_MEMBER_EPOCH")),
        ),
    )
    assert verdict.conforms, verdict


@claim("rebalance.static-consumers-come-back-to-what-they-had", **BEATS)
def test_static_consumers_come_back_to_what_they_had(case):
    """Who left for a while comes back under another id, without another epoch of the group."""
    group, topic = case.group(), case.topic()
    how = {"instance_id": "i1", "version": case.version}
    verdict = case.judge(
        started(group, topic),
        join(group, "m1", topic, name="m1", **how),
        join(group, "m2", topic, name="too early", **how),
        beat(group, "m1", AWAY, name="away", **how),
        describe(group, name="meanwhile"),
        join(group, "m2", topic, name="m2", **how),
        beat(group, "m1", 2, name="m1 again", **how),
        describe(group, name="then"),
        expect=all_of(
            answer("too early", CODE).is_(acts.code("UNRELEASED_INSTANCE_ID")),
            answer("m2", EPOCH).is_(2),
            answer("m1 again", CODE).is_(acts.code("FENCED_INSTANCE_ID")),
        ),
    )
    assert verdict.conforms, verdict


@claim("rebalance.bad-expressions-are-refused", expression=tuple(BAD), **BY_EXPRESSION)
def test_bad_expressions_are_refused(case):
    """A regular expression that RE2 does not take is INVALID_REGULAR_EXPRESSION, with its words."""
    group, topic = case.group(), case.topic()
    verdict = case.judge(
        started(group, topic),
        join(group, "m1", version=case.version, name="join",
             subscribed_topic_names=None, subscribed_topic_regex=BAD[case.expression]),
        describe(group, name="then"),
        expect=all_of(
            answer("join", CODE).is_(acts.code("INVALID_REGULAR_EXPRESSION")),
            answer("then", "groups[0].error_code").is_(GROUP_ID_NOT_FOUND),
        ),
    )  # fmt: skip
    assert verdict.conforms, verdict


def _by_expression(group, expression, version, **how):
    fields = {"subscribed_topic_names": None, "subscribed_topic_regex": expression} | how
    return [
        join(group, "m1", version=version, name="join", **fields),
        Until(describe(group, name="resolved"), GROUP_EPOCH, ">=", 2),
        beat(group, "m1", 1, version=version, name="beat"),
    ]


@claim("rebalance.expressions-subscribe", **BY_EXPRESSION)
def test_expressions_subscribe(case):
    """An expression counts for the whole name; it is resolved after the first answer."""
    group, topic = case.group(), case.topic("topic")
    verdict = case.judge(
        started(group, topic),
        _by_expression(group, topic, case.version),
        describe(group, name="then"),
        expect=all_of(
            answer("join", EPOCH).is_(1),
            answer("beat", EPOCH).is_(2),
            answer("beat", GIVEN).is_([0, 1, 2, 3]),
        ),
    )
    assert verdict.conforms, verdict


@claim("rebalance.expressions-of-no-topic-give-nothing", **BY_EXPRESSION)
def test_expressions_of_no_topic_give_nothing(case):
    """An expression that no topic fits leaves its group at epoch 1."""
    group, topic = case.group(), case.topic()
    verdict = case.judge(
        started(group, topic),
        join(group, "m1", version=case.version, name="join",
             subscribed_topic_names=None, subscribed_topic_regex="no such (topic|thing)+"),
        beat(group, "m1", 1, version=case.version, name="beat"),
        describe(group, name="then"),
        expect=answer("then", GROUP_EPOCH).is_(1),
    )  # fmt: skip
    assert verdict.conforms, verdict


@claim("rebalance.names-and-expressions-together", **BY_EXPRESSION)
def test_names_and_expressions_together(case):
    """A member may name topics and give an expression; dropping the latter is another epoch."""
    group, topic, other = case.group(), case.topic(), case.topic("other")
    verdict = case.judge(
        started(group, topic),
        a_topic(other, 2),
        heard(other),
        join(group, "m1", topic, version=case.version, name="join", subscribed_topic_regex=other),
        Until(describe(group, name="resolved"), GROUP_EPOCH, "==", 3),
        beat(group, "m1", 2, topic, (0, 1, 2, 3), version=case.version, name="no more",
             subscribed_topic_regex=""),
        describe(group, name="then"),
        expect=answer("no more", CODE).is_(NONE),
    )  # fmt: skip
    assert verdict.conforms, verdict


@claim("rebalance.consumer-groups-are-described", **DESCRIBES)
def test_consumer_groups_are_described(case):
    """Groups are described whole, with operations if asked; others are GROUP_ID_NOT_FOUND."""
    group, topic, classic = case.group(), case.topic(), case.group("classic")
    verdict = case.judge(
        started(group, topic),
        join(group, "m1", topic, name="m1", rack_id="r1", instance_id="i1"),
        acts.comes("c", classic),
        describe(group, classic, "no such group", version=case.version, operations=True,
                 name="ask"),
        expect=all_of(
            answer("ask", STATE).is_("Stable"),
            answer("ask", "groups[1].error_code").is_(GROUP_ID_NOT_FOUND),
            answer("ask", "groups[2].error_code").is_(GROUP_ID_NOT_FOUND),
        ),
    )  # fmt: skip
    assert verdict.conforms, verdict


@claim("rebalance.empty-ids-are-no-consumer-groups", **DESCRIBES)
def test_empty_ids_are_no_consumer_groups(case):
    """The empty group id is INVALID_GROUP_ID."""
    group = case.group()
    verdict = case.judge(
        coordinated(group),
        describe("", version=case.version, name="ask"),
        expect=answer("ask", "groups[0].error_code").is_(acts.code("INVALID_GROUP_ID")),
    )
    assert verdict.conforms, verdict


@claim("rebalance.consumer-groups-are-no-classic-ones", **SEEN | {
    "api": "DescribeGroups", "versions": every("DescribeGroups")})  # fmt: skip
def test_consumer_groups_are_no_classic_ones(case):
    """DescribeGroups calls a consumer group Dead, from version 6 on GROUP_ID_NOT_FOUND."""
    group, topic = case.group(), case.topic()
    verdict = case.judge(
        started(group, topic),
        join(group, "m1", topic, name="m1"),
        acts.describe(group, version=case.version, name="ask"),
        expect=answer("ask", STATE).is_("Dead"),
    )
    assert verdict.conforms, verdict


@claim("rebalance.groups-are-listed-by-type", kinds=("consumer", "classic", "Consumer", "none"),
       **SEEN | {"api": "ListGroups", "versions": range_("ListGroups", 5)})  # fmt: skip
def test_groups_are_listed_by_type(case):
    """ListGroups shows the groups of the types asked for, named in any case."""
    group, topic, classic = case.group(), case.topic(), case.group("classic")
    verdict = case.judge(
        started(group, topic),
        join(group, "m1", topic, name="m1"),
        acts.comes("c", classic),
        list_groups((), (case.kinds,), version=case.version, name="ask"),
        expect=answer("ask", CODE).is_one_of(NONE, acts.code("INVALID_REQUEST")),
    )
    assert verdict.conforms, verdict


@claim("rebalance.consumer-groups-are-listed-by-state",
       states=("stable", "Stable", "reconciling", "assigning", "empty", "dead"),
       **SEEN | {"api": "ListGroups", "versions": range_("ListGroups", 4)})  # fmt: skip
def test_consumer_groups_are_listed_by_state(case):
    """ListGroups shows the groups in the states asked for, named in any case."""
    stable, topic, empty = case.group(), case.topic(), case.group("empty")
    moving = case.group("moving")
    verdict = case.judge(
        started(stable, topic),
        join(stable, "m1", topic, name="stable"),
        join(empty, "m1", topic, name="comes"),
        beat(empty, "m1", LEAVE, name="goes"),
        join(moving, "m1", topic, name="one"),
        join(moving, "m2", topic, name="two"),
        list_groups((case.states,), (), version=case.version, name="ask"),
        expect=answer("ask", CODE).is_(NONE),
    )
    assert verdict.conforms, verdict


@claim("rebalance.groups-tell-their-own-settings", **SEEN)
def test_groups_tell_their_own_settings(case):
    """A group's heartbeat interval is told to its members as soon as it is set, and after."""
    group, topic = case.group(), case.topic()
    verdict = case.judge(
        started(group, topic),
        configure(group, {INTERVAL: "777"}, "set"),
        Until(join(group, "m1", topic, name="join"), "heartbeat_interval_ms", "==", 777),
        describe_configs(group, INTERVAL, SESSION, version=4, kind=GROUP, name="configs"),
        configure(group, {INTERVAL: None}, "take back"),
        Until(beat(group, "m1", 2, name="beat"), "heartbeat_interval_ms", "==", 5000),
        expect=answer("join", CODE).is_(NONE),
    )
    assert verdict.conforms, verdict


WRONG = {
    "below": {SESSION: "199"},
    "above": {SESSION: "60001"},
    "interval-below": {INTERVAL: "49"},
    "interval-above": {INTERVAL: "15001"},
    "shorter-than-the-interval": {SESSION: "300", INTERVAL: "300"},
    "no-number": {SESSION: "soon"},
    "unknown": {"consumer.no.such.config": "1"},
    "assignment-above": {"consumer.assignment.interval.ms": "15001"},
}


@claim("rebalance.group-settings-have-bounds", setting=tuple(WRONG), **SEEN)
def test_group_settings_have_bounds(case):
    """A setting that is unknown or beyond the broker's bounds is refused, in Kafka's words."""
    group = case.group()
    verdict = case.judge(
        coordinated(group),
        configure(group, WRONG[case.setting], "ask"),
        expect=answer("ask", "responses[0].error_code").is_(acts.code("INVALID_CONFIG")),
    )
    assert verdict.conforms, verdict


@claim("rebalance.joins-are-records", switches=("consumer-groups-not-logged",),
       **BEATS | {"evidence": ("KIP-848", "KIP-1101")})  # fmt: skip
def test_joins_are_records(case):
    """A join writes its member, the epoch, targets and what it got, as one batch."""
    group, topic = case.group(), case.topic()
    verdict = case.judge(
        started(group, topic),
        written(
            join(group, "m1", topic, version=case.version, name="m1"),
            join(group, "m2", topic, version=case.version, name="m2", instance_id="i2"),
        ),
        expect=answer("m2", EPOCH).is_(3),
    )
    assert verdict.conforms, verdict


@claim("rebalance.steps-are-records", **BEATS)
def test_steps_are_records(case):
    """What is given up and taken is written; a heartbeat that changes nothing writes nothing."""
    group, topic = case.group(), case.topic()
    version = case.version
    verdict = case.judge(
        started(group, topic),
        join(group, "m1", topic, version=version, name="m1"),
        join(group, "m2", topic, version=version, name="m2"),
        written(
            beat(group, "m1", 2, version=version, name="is told"),
            beat(group, "m1", 2, topic, (0, 1), version=version, name="gives up"),
            beat(group, "m1", 3, version=version, name="nothing"),
            beat(group, "m2", 3, version=version, name="takes"),
            beat(group, "m1", 3, version=version, name="moves", rack_id="r1"),
        ),
        expect=answer("takes", GIVEN).is_([2, 3]),
    )
    assert verdict.conforms, verdict


@claim("rebalance.good-byes-are-tombstones", **BEATS)
def test_good_byes_are_tombstones(case):
    """Who leaves is forgotten; who leaves for a while is written down as away; so is a deletion."""
    group, topic = case.group(), case.topic()
    how = {"instance_id": "i1", "version": case.version}
    verdict = case.judge(
        started(group, topic),
        join(group, "m1", topic, name="m1", **how),
        written(
            beat(group, "m1", AWAY, name="away", **how),
            join(group, "m2", topic, name="back", **how),
            beat(group, "m2", LEAVE, name="leaves", **how),
            acts.delete(group, name="delete"),
        ),
        expect=answer("delete", "results[0].error_code").is_(NONE),
    )
    assert verdict.conforms, verdict


@claim("rebalance.offsets-survive-a-change-of-protocol", **SEEN)
def test_offsets_survive_a_change_of_protocol(case):
    """A group that only held offsets becomes a consumer group, later a classic one, with them."""
    group, topic = case.group(), case.topic()
    fetched = {"group_id": group, "topics": [{"name": topic, "partition_indexes": [0]}]}
    verdict = case.judge(
        started(group, topic),
        written(
            acts.commit("x", group, topic, name="commit"),
            join(group, "m1", topic, name="m1"),
            beat(group, "m1", LEAVE, name="leaves"),
            acts.comes("c", group),
        ),
        Ask("OffsetFetch", 1, fetched, name="fetch"),
        acts.describe(group, name="then"),
        expect=all_of(
            answer("fetch", "topics[0].partitions[0].committed_offset").is_(5),
            answer("then", STATE).is_("CompletingRebalance"),
        ),
    )
    assert verdict.conforms, verdict


