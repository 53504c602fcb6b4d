"""Consumer groups (KIP-848): regular expressions, and what admin clients see and configure.

Sources: KIP-848, KIP-1043; re2j's syntax; GroupConfig@4.3.1; observed on 4.3.1.
"""

from touchstone.harness.model.claim import claim, every, range_
from touchstone.harness.model.expect import all_of, answer
from touchstone.harness.model.scenario import Until
from touchstone.harness.model.steps import (
    a_topic,
    describe_configs,
)
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit import groups
from touchstone.suites.kit.consumer_groups import (
    BY_EXPRESSION,
    CODE,
    DESCRIBES,
    EPOCH,
    GIVEN,
    GROUP,
    GROUP_EPOCH,
    INTERVAL,
    LEAVE,
    MEMBERS,
    SEEN,
    SESSION,
    STATE,
    beat,
    configure,
    describe,
    join,
    started,
    topic_known,
)
from touchstone.suites.kit.groups import coordinated, list_groups

BAD = {
    "class": "[", "group": "(", "repeat": "a**", "argument": "*a", "reference": r"(a)\1",
    "ahead": "(?=a)", "range": "[z-a]", "escape": r"\8", "end": "\\", "count": "a{1001}",
    "capture": "(?P<>a)", "perl": "(?z)a",
}  # fmt: skip


@claim("rebalance.bad-expressions-are-refused", expression=tuple(BAD), **BY_EXPRESSION)
def test_bad_expressions_are_refused(case):
    """A subscription by an expression that RE2/J rejects answers INVALID_REGULAR_EXPRESSION and
    creates no group.
    """
    group, topic = case.group(), case.topic()
    return case.scenario(
        started(group, topic),
        join(group, "m1", version=case.version, name="join",
             subscribed_topic_names=None, subscribed_topic_regex=BAD[case.expression]),
        describe(group, name="then"),
        expect=all_of(
            answer("join", CODE).is_(ErrorCode.INVALID_REGULAR_EXPRESSION),
            answer("then", "groups[0].error_code").is_(ErrorCode.GROUP_ID_NOT_FOUND),
        ),
    )  # fmt: skip


def _by_expression(group, expression, version, **how):
    fields = {"subscribed_topic_names": None, "subscribed_topic_regex": expression} | how
    return [
        join(group, "m1", version=version, name="join", **fields),
        Until(describe(group, name="resolved"), GROUP_EPOCH, ">=", 2),
        beat(group, "m1", 1, version=version, name="beat"),
    ]


@claim("rebalance.expressions-subscribe", **BY_EXPRESSION)
def test_expressions_subscribe(case):
    """A subscription by an expression is resolved after the join's answer and gives the member the
    matching topic.
    """
    group, topic = case.group(), case.topic("topic")
    return case.scenario(
        started(group, topic),
        _by_expression(group, topic, case.version),
        describe(group, name="then"),
        expect=all_of(
            answer("join", EPOCH).is_(1),
            answer("beat", EPOCH).is_(2),
            answer("beat", GIVEN).is_([0, 1, 2, 3]),
        ),
    )


@claim("rebalance.expressions-of-no-topic-give-nothing", **BY_EXPRESSION)
def test_expressions_of_no_topic_give_nothing(case):
    """A subscription by an expression that matches no topic leaves the group at epoch 1."""
    group, topic = case.group(), case.topic()
    return case.scenario(
        started(group, topic),
        join(group, "m1", version=case.version, name="join",
             subscribed_topic_names=None, subscribed_topic_regex="no such (topic|thing)+"),
        beat(group, "m1", 1, version=case.version, name="beat"),
        describe(group, name="then"),
        expect=answer("then", GROUP_EPOCH).is_(1),
    )  # fmt: skip


@claim("rebalance.names-and-expressions-together", **BY_EXPRESSION)
def test_names_and_expressions_together(case):
    """A member may subscribe by names and an expression together, and drop the expression, which
    raises the group epoch.
    """
    group, topic, other = case.group(), case.topic(), case.topic("other")
    return case.scenario(
        started(group, topic),
        a_topic(other, 2),
        topic_known(other),
        join(group, "m1", topic, version=case.version, name="join", subscribed_topic_regex=other),
        Until(describe(group, name="resolved"), GROUP_EPOCH, "==", 3),
        beat(group, "m1", 2, topic, (0, 1, 2, 3), version=case.version, name="no more",
             subscribed_topic_regex=""),
        describe(group, name="then"),
        expect=all_of(
            answer("no more", CODE).is_(ErrorCode.NONE),
            answer("no more", EPOCH).is_(4),
            answer("then", GROUP_EPOCH).is_(4),
        ),
    )  # fmt: skip


@claim("rebalance.consumer-groups-are-described", **DESCRIBES)
def test_consumer_groups_are_described(case):
    """ConsumerGroupDescribe answers state and members of a consumer group and GROUP_ID_NOT_FOUND
    for classic and unknown groups.
    """
    group, topic, classic = case.group(), case.topic(), case.group("classic")
    return case.scenario(
        started(group, topic),
        join(group, "m1", topic, name="m1", rack_id="r1", instance_id="i1"),
        groups.comes("c", classic),
        describe(group, classic, "no such group", version=case.version, operations=True,
                 name="ask"),
        expect=all_of(
            answer("ask", "groups[*].error_code").is_(
                [ErrorCode.NONE, ErrorCode.GROUP_ID_NOT_FOUND, ErrorCode.GROUP_ID_NOT_FOUND]
            ),
            answer("ask", "groups[0].group_state").is_("Stable"),
            answer("ask", f"{MEMBERS}[*].member_id").is_(["m1"]),
            answer("ask", "groups[0].authorized_operations").at_least(1),
        ),
    )  # fmt: skip


@claim("rebalance.empty-ids-are-no-consumer-groups", **DESCRIBES)
def test_empty_ids_are_no_consumer_groups(case):
    """ConsumerGroupDescribe with an empty group id answers INVALID_GROUP_ID."""
    group = case.group()
    return case.scenario(
        coordinated(group),
        describe("", version=case.version, name="ask"),
        expect=answer("ask", "groups[0].error_code").is_(ErrorCode.INVALID_GROUP_ID),
    )


@claim("rebalance.consumer-groups-are-no-classic-ones", **SEEN | {
    "api": "DescribeGroups", "versions": every("DescribeGroups")})  # fmt: skip
def test_consumer_groups_are_no_classic_ones(case):
    """DescribeGroups of a consumer group answers state Dead, from version 6 on with
    GROUP_ID_NOT_FOUND.
    """
    group, topic = case.group(), case.topic()
    return case.scenario(
        started(group, topic),
        join(group, "m1", topic, name="m1"),
        groups.describe(group, version=case.version, name="ask"),
        expect=answer("ask", STATE).is_("Dead"),
    )


@claim("rebalance.groups-are-listed-by-type", kinds=("consumer", "classic", "Consumer", "none"),
       **SEEN | {"api": "ListGroups", "versions": range_("ListGroups", 5)})  # fmt: skip
def test_groups_are_listed_by_type(case):
    """ListGroups answers only groups of the requested types, whatever the letter case; an unknown
    type matches none.
    """
    group, topic, classic = case.group(), case.topic(), case.group("classic")
    listed = answer("ask", "groups[*].group_id")
    return case.scenario(
        started(group, topic),
        join(group, "m1", topic, name="m1"),
        groups.comes("c", classic),
        list_groups((), (case.kinds,), version=case.version, name="ask"),
        expect=all_of(
            answer("ask", CODE).is_(ErrorCode.NONE),
            listed.contains(group) if case.kinds.lower() == "consumer" else listed.lacks(group),
            listed.contains(classic) if case.kinds == "classic" else listed.lacks(classic),
        ),
    )


@claim("rebalance.consumer-groups-are-listed-by-state",
       states=("stable", "Stable", "reconciling", "assigning", "empty", "dead"),
       **SEEN | {"api": "ListGroups", "versions": range_("ListGroups", 4)})  # fmt: skip
def test_consumer_groups_are_listed_by_state(case):
    """ListGroups answers only groups in the requested states, whatever the letter case."""
    stable, topic, empty = case.group(), case.topic(), case.group("empty")
    moving = case.group("moving")
    listed = answer("ask", "groups[*].group_id")
    return case.scenario(
        started(stable, topic),
        join(stable, "m1", topic, name="stable"),
        join(empty, "m1", topic, name="comes"),
        beat(empty, "m1", LEAVE, name="goes"),
        join(moving, "m1", topic, name="one"),
        join(moving, "m2", topic, name="two"),
        list_groups((case.states,), (), version=case.version, name="ask"),
        expect=all_of(
            answer("ask", CODE).is_(ErrorCode.NONE),
            *(
                listed.contains(one) if case.states.lower() in states else listed.lacks(one)
                for one, states in (
                    (stable, ("stable",)),
                    (empty, ("empty",)),
                    (moving, ("reconciling",)),
                )
            ),
        ),
    )


@claim("rebalance.groups-tell-their-own-settings", **SEEN)
def test_groups_tell_their_own_settings(case):
    """A change of a group's consumer.heartbeat.interval.ms reaches its members with their next
    heartbeat.
    """
    group, topic = case.group(), case.topic()
    return case.scenario(
        started(group, topic),
        configure(group, {INTERVAL: "777"}, "set"),
        Until(join(group, "m1", topic, name="join"), "heartbeat_interval_ms", "==", 777),
        describe_configs(group, INTERVAL, version=4, kind=GROUP, name="configs"),
        configure(group, {INTERVAL: None}, "take back"),
        Until(beat(group, "m1", 2, name="beat"), "heartbeat_interval_ms", "==", 5000),
        expect=all_of(
            answer("join", CODE).is_(ErrorCode.NONE),
            answer("join", "heartbeat_interval_ms").is_(777),
            answer("configs", "results[0].configs[*].value").contains("777"),
            answer("beat", "heartbeat_interval_ms").is_(5000),
        ),
    )


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
    """IncrementalAlterConfigs of an unknown group setting, or of a value out of bounds, answers
    INVALID_CONFIG.
    """
    group = case.group()
    return case.scenario(
        coordinated(group),
        configure(group, WRONG[case.setting], "ask"),
        expect=answer("ask", "responses[0].error_code").is_(ErrorCode.INVALID_CONFIG),
    )
