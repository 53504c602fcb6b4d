"""Causes stand by what they do and to whom; what is light, or lies behind, is told apart."""

from __future__ import annotations

import pytest

from touchstone.harness.judgement import causes, wording
from touchstone.harness.tests.test_causes import CODE, IN_VAIN, difference, failed, setup, told


def unread(case, *more, **how):
    broken = "responses[0].records at offset 53: a length of -1 where null is not allowed"
    found = difference("answer", "decodes", broken, kind="connection", api="ShareFetch", at=7)
    return failed(case, *more, found, **how)


def test_an_answer_that_nobody_can_read_is_the_cause_whatever_differed_before():
    rows = [unread("s.a", difference()), unread("s.b", difference("offset", 1, 2))]
    assert told(*rows) == [("ShareFetch.answer", 2)]
    assert told(unread("s.c", notes=[setup(), setup("member_epoch", 2, 1)])) == [
        ("ShareFetch.answer", 1)
    ]


def test_a_null_that_raises_is_told_before_other_values_and_an_end_in_vain():
    raises = difference("topics[0].configs", [], None, kind="absence")
    others = difference("topics[0].topic_id", 1, 2), difference("y", 1, 2)
    rows = [
        failed("a.a", IN_VAIN, raises),
        failed("a.b", *others, raises),
        failed("a.c", others[1]),
    ]
    assert told(*rows) == [("CreateTopics.topics.configs:raises", 2), ("CreateTopics.y:more", 1)]
    assert told(failed("a.d", difference(), raises)) == [(CODE, 1)], "nobody reads it then"


def test_what_lies_behind_a_cause_is_counted_and_named():
    later = difference("time", 3, 4, at=5)
    rows = [failed("a.a", difference(), later), failed("a.b", difference())]
    (cause,) = causes.find(rows).causes
    (behind,) = cause.behind
    assert (behind.id, behind.cases) == ("CreateTopics.time:more", ("a.a",))
    assert wording.behind(cause) == "behind it: 1 other difference"


NUMBER = difference("member_epoch", 2, 1, kind="number", at=1)
FILLER = difference("offset", -1, 0, kind="filler", at=2)
EMPTY = difference("metadata", "", None, kind="absence", at=1)


@pytest.mark.parametrize("one", [NUMBER, FILLER, EMPTY])
def test_what_no_client_can_tell_explains_only_cases_that_differ_in_nothing_else(one):
    assert told(failed("a.a", one, difference())) == [(CODE, 1)]
    (cause,) = causes.find([failed("a.b", one)]).causes
    assert cause.is_light and cause.hits == "nobody"


def test_what_no_client_can_tell_stands_last_however_many_cases_it_is():
    rows = [failed(f"a.{n}", FILLER) for n in range(5)] + [failed("b.a", difference("x", 1, 2))]
    assert [cause.is_light for cause in causes.find(rows).causes] == [False, True]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("limit", 5, 3), ("limit", 3, 5)),
        (("flag", True, False), ("flag", False, True)),
        (("offset", -1, 3), ("offset", 3, -1)),
        (("session_id", "$session-1", 0), ("session_id", 0, "$session-1")),
        (("group_state", "Dead", "Empty"), ("group_state", "Empty", "Dead")),
        (("topics[0]", "{}", "(missing)"), ("topics[0]", "(missing)", "{}")),
        (("rack", None, "a"), ("rack", "a", None)),
    ],
)
def test_opposite_differences_of_one_field_are_two_causes(one, other):
    rows = []
    for case, (path, oracle, target) in (("a.a", one), ("a.b", other)):
        absent = any(side in (None, "(missing)") for side in (oracle, target))
        kind = "absence" if absent else "value"
        rows.append(failed(case, difference(path, oracle, target, kind=kind)))
    assert len(told(*rows)) == 2
    assert len(told(*(row | {"case": f"{row['case']}.{n}"} for n in (1, 2) for row in rows))) == 2


def test_the_same_topic_of_kafkas_that_is_missing_everywhere_is_one_cause_that_names_it():
    name = "__consumer_offsets"
    path = "topics[0].partitions[0].error_code"
    rows = [
        failed("o.a", difference(path, 0, 3, api="ListOffsets", entity=name)),
        failed("o.b", difference("results[0].error_code", 0, 3, api="DescribeConfigs",
                                 entity=name)),
        failed("o.c", difference("topics[4]", "{}", "(missing)", kind="absence", api="Metadata",
                                 entity=name)),
    ]  # fmt: skip
    (cause,) = causes.find(rows).causes
    assert wording.title(cause).endswith(f" of {name}") and len(cause.also) == 2
    assert {sign.why for sign in cause.also} == {f"there is no {name}"}
    other = failed("o.d", difference(path, 0, 3, api="ListOffsets", entity="$topic"))
    assert len(causes.find([*rows, other]).causes) == 2, "a topic of the case is none of Kafka's"


def test_many_names_that_differ_alike_in_one_step_are_one_cause():
    missing = [
        difference(f"api_keys[{n}]", "{}", "(missing)", kind="absence", entity=name)
        for n, name in enumerate(("Fetch", "Produce", "Metadata"))
    ]
    (cause,) = causes.find([failed("v.a[v3]", *missing), failed("v.a[v4]", *missing)]).causes
    assert cause.id == "CreateTopics.api_keys:absence" and len(cause.cases) == 2
    assert wording.title(cause).endswith(" of Fetch, Produce (and 1 other name)")


def test_versions_that_are_not_offered_are_one_cause_whatever_the_api():
    rows = [
        failed(f"v.{api}", difference("unoffered", "refused", "answered", kind="check", api=api,
                                      entity=api))
        for api in ("Fetch", "Produce")
    ]  # fmt: skip
    (cause,) = causes.find(rows).causes
    assert wording.title(cause) == "versions that it does not offer of Fetch, Produce"
    assert cause.hits == "nobody"


def test_who_is_hit_decides_among_equal_effects_and_brokers_come_after_all_others():
    def refused(case, api):
        return failed(case, difference("error_code", 47, 3, api=api))

    rows = [
        refused("a.a", "WriteTxnMarkers"),
        refused("a.b", "CreateTopics"),
        refused("a.c", "Produce"),
        failed("a.d", difference("x", 1, 2, api="Fetch")),
    ]
    assert [(cause.api, cause.hits) for cause in causes.find(rows).causes] == [
        ("Produce", "a client"), ("CreateTopics", "an admin tool"), ("Fetch", "a client"),
        ("WriteTxnMarkers", "other brokers"),
    ]  # fmt: skip


def test_effects_stand_from_the_end_of_the_target_down():
    rows = [
        failed("e.value", difference("x", 1, 2)),
        failed("e.code", difference("error_code", 3, 0)),
        failed("e.hung", difference("connection", "answered", "hung", kind="connection")),
        failed("e.fenced", difference("error_code", 90, 0)),
        failed("e.raises", difference("topics[0].configs", "[]", None, kind="absence")),
        failed("e.unread", difference("answer", "decodes", "no", kind="connection")),
        failed("e.ends", difference("connection", "answered", "ended", kind="connection")),
    ]
    assert [cause.cases[0] for cause in causes.find(rows).causes] == [
        "e.ends", "e.unread", "e.raises", "e.fenced", "e.hung", "e.code", "e.value"
    ]  # fmt: skip


def test_half_of_what_is_shown_is_the_gravest_and_half_what_most_cases_rest_on():
    codes = [failed(f"c.{n}", difference("error_code", 40 + n, 0)) for n in range(6)]
    values = [failed(f"v.{n}", difference("x", 1, 2)) for n in range(9)]
    found = causes.find([*codes, *values]).causes
    shown = causes.foremost(found, 4)
    assert [len(cause.cases) for cause in shown] == [1, 1, 1, 9]
    assert [found.index(cause) for cause in shown] == sorted(found.index(c) for c in shown)


def test_a_checksum_that_is_wrong_keeps_clients_from_reading():
    path = "responses[0].partitions[0].records[0].crc"
    other = failed("f.a", difference("responses[0].offset", 1, 2, api="Fetch"))
    wrong = failed("f.b", difference(path, "right", "wrong: 7, not 9", api="Fetch"))
    first, second = causes.find([other, wrong]).causes
    assert (first.effect, second.effect) == ("cannot be read", "another value")
    right = failed("f.c", difference(path, "wrong: 7, not 9", "right", api="Fetch"))
    assert causes.find([right]).causes[0].effect == "another value", "Kafka stored what was sent"
