"""Rules match what they say, in their order and number; a rule that cannot be is refused."""

from __future__ import annotations

import pytest

from touchstone.reference_impl.broker.faults.fault_plan import (
    ACTIONS,
    MOST_RULES,
    BadRule,
    Plan,
    RequestView,
    Rule,
)

PRODUCE, FETCH, METADATA, OFFSET_FETCH, DELETE_TOPICS = 0, 1, 3, 9, 20
BODIES = {
    PRODUCE: {"topic_data": [{"name": "t", "partition_data": [{"index": 1, "records": b""}]}]},
    FETCH: {
        "topics": [{"topic_id": b"\1" * 16, "partitions": [{"partition": 1}]}],
        "forgotten_topics_data": [],
    },
    METADATA: {"topics": [{"topic_id": bytes(16), "name": "t"}]},
    OFFSET_FETCH: {
        "groups": [{"group_id": "g", "topics": [{"name": "t", "partition_indexes": [0, 1]}]}]
    },
    DELETE_TOPICS: {"topics": [{"name": None, "topic_id": b"\1" * 16}]},
}


def asked(key: int = PRODUCE, **but) -> RequestView:
    given = {
        "broker": 0, "key": key, "version": 9, "client_id": "c", "body": BODIES[key],
        "peer": False, "name_of": {b"\1" * 16: "t"}.get,
    }  # fmt: skip
    return RequestView(**{**given, **but})


FITS = [
    ({}, asked(), True),
    ({"api": "Produce"}, asked(), True),
    ({"api": 0}, asked(), True),
    ({"api": "Fetch"}, asked(), False),
    ({"versions": 9}, asked(), True),
    ({"versions": (3, 9)}, asked(), True),
    ({"versions": (3, 8)}, asked(), False),
    ({"client_id": "c"}, asked(), True),
    ({"client_id": "d"}, asked(), False),
    ({"broker": 1}, asked(), False),
    ({"topic": "t"}, asked(), True),
    ({"topic": "u"}, asked(), False),
    ({"topic": "t", "partition": 1}, asked(), True),
    ({"topic": "t", "partition": 2}, asked(), False),
    ({"partition": 1}, asked(), True),
    ({"topic": "t", "partition": 1}, asked(FETCH), True),
    ({"topic": "t"}, asked(METADATA), True),
    ({"topic": "t", "partition": 0}, asked(METADATA), False),
    ({"topic": "t", "partition": 0}, asked(OFFSET_FETCH), True),
    ({"topic": "t", "partition": 3}, asked(OFFSET_FETCH), False),
    ({"topic": "t"}, asked(DELETE_TOPICS), True),
    ({}, asked(FETCH, peer=True), False),
    ({"peers": True}, asked(FETCH, peer=True), True),
]


@pytest.mark.parametrize(("fields", "request_", "fits"), FITS)
def test_a_rule_fits_what_it_says(fields, request_, fits):
    rule = Rule(action="drop", **fields)
    assert (Plan((rule,)).pick(request_) is rule) is fits


@pytest.mark.parametrize(
    ("nth", "times", "hit"),
    [(1, None, "xxxxx"), (1, 1, "x...."), (3, 1, "..x.."), (2, 2, ".xx.."), (4, None, "...xx")],
)
def test_the_nth_and_how_many_from_there(nth, times, hit):
    plan = Plan((Rule(action="close", nth=nth, times=times),))
    assert "".join("x" if plan.pick(asked()) else "." for _ in hit) == hit
    (standing,) = plan.standing()
    assert (standing.matched, standing.hits) == (len(hit), hit.count("x"))


def test_the_first_rule_that_is_due_wins_and_every_one_that_fits_counts():
    first, second = Rule(action="drop", nth=2), Rule(action="close")
    plan = Plan((first, second))
    assert [plan.pick(asked()) for _ in range(3)] == [second, first, first]
    assert [each.matched for each in plan.standing()] == [3, 3]


def test_a_plan_is_false_while_it_is_empty():
    plan = Plan()
    assert not plan
    number = plan.add(Rule(action="drop"))
    assert plan and plan.remove(number) and not plan and not plan.remove(number)


@pytest.mark.parametrize("action", ACTIONS)
def test_there_and_back_as_json(action):
    rule = Rule(action=action, api="Fetch", versions=(4, 9), topic="t", times=2, carried_out=True)
    assert Rule.of(rule.row()) == rule


@pytest.mark.parametrize(
    ("row", "field"),
    [
        ({"action": "explode"}, "action"),
        ({}, "action"),
        ({"action": "drop", "colour": "red"}, "colour"),
        ({"action": "drop", "api": "Prduce"}, "api"),
        ({"action": "drop", "api": 31_000}, "api"),
        ({"action": "error", "error": "OH_NO"}, "error"),
        ({"action": "drop", "versions": [9, 3]}, "versions"),
        ({"action": "drop", "versions": [1, 2, 3]}, "versions"),
        ({"action": "drop", "nth": 0}, "nth"),
        ({"action": "drop", "nth": True}, "nth"),
        ({"action": "drop", "peers": 1}, "peers"),
        ({"action": "delay", "ms": -1}, "ms"),
        ({"action": "drop", "topic": 7}, "topic"),
        ({"action": "delay", "ms": 600_001}, "ms"),
        ({"action": "corrupt", "at": 10**30}, "at"),
        ({"action": "drop", "times": 10**30}, "times"),
    ],
)
def test_a_rule_that_cannot_be_is_refused(row, field):
    with pytest.raises(BadRule, match=field):
        Rule.of(row)


def test_a_plan_has_no_more_rules_than_each_request_can_be_held_against():
    plan = Plan([Rule(action="drop")] * (MOST_RULES - 1))
    with pytest.raises(BadRule, match="1000"):
        plan.add_all([Rule(action="drop")] * 2)
    assert len(plan.standing()) == MOST_RULES - 1  # none of them
    plan.add(Rule(action="drop"))
    with pytest.raises(BadRule, match="1000"):
        plan.add(Rule(action="drop"))
    plan.clear()
    plan.add(Rule(action="drop"))


def test_whoever_holds_answers_back_hears_of_each_removal():
    plan, heard = Plan(), []
    plan.when_removed(lambda: heard.append(len(plan.standing())))
    first, rule = plan.add(Rule(action="drop")), Rule(action="drop")
    plan.add(rule)
    assert plan.holds(rule) and not plan.holds(Rule(action="drop"))
    assert plan.remove(first) and not plan.remove(first)
    plan.clear()
    plan.clear()
    assert heard == [1, 0] and not plan.holds(rule)
