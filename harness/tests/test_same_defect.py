"""Several signs of one defect are one cause; signs of two defects stay two."""

from __future__ import annotations

import pytest

from touchstone.harness.judgement import causes, wording
from touchstone.harness.tests.test_causes import difference, failed

TEXTS = ("Unknown topic config name: no.such", "Invalid value soon for retention.ms")


def told(*rows):
    """Each cause with what is told below it."""
    return [(one.id, [sign.id for sign in one.also]) for one in causes.find(rows).causes]


def refused(case, api, *, code=16, target=0, evidence=("OFFS-04",), texts=(), stands="claim"):
    path = "topics[{}].error_code"
    how = {"api": api, "step": "ask", "stands": stands, "version": 1}
    count = max(1, len(texts))
    own = [difference(path.format(i), code, target, **how) for i in range(count)]
    said = [
        difference(f"topics[{i}].error_message", text, None, **how | {"kind": "prose"})
        for i, text in enumerate(texts)
    ]
    return failed(case, *own, notes=said, evidence=list(evidence))


def test_a_refusal_that_is_missing_in_two_apis_is_one_rule_that_is_broken():
    rows = [
        refused("o.fetch[v1]", "OffsetFetch"),
        refused("o.fetch[v2]", "OffsetFetch", evidence=("OFFS-04", "KIP-211")),
        refused("o.delete[v0]", "OffsetDelete", target=69),
    ]
    (cause,) = causes.find(rows).causes
    assert cause.id == "OffsetFetch.topics.error_code:16,0"
    assert len(cause.cases) == cause.unpinned == 3
    (also,) = cause.also
    assert wording.also(also).startswith("also OffsetDelete v1: topics[*].error_code: Kafka")
    assert wording.also(also).endswith("(1 case; the same rule, OFFS-04)")


@pytest.mark.parametrize(
    "other",
    [
        {"evidence": ("OFFS-05",)},  # another rule
        {"evidence": ("KIP-211",)},
        {"code": 14},  # the same clause, and something else of it
        {"stands": "asked"},  # no claim names this place
    ],
)
def test_two_refusals_that_share_nothing_stay_two(other):
    both = {"evidence": ("KIP-211",)} if other.get("evidence") == ("KIP-211",) else {}
    rows = [refused("o.fetch", "OffsetFetch", **both), refused("o.drop", "OffsetDelete", **other)]
    assert len(told(*rows)) == 2 and not any(also for _, also in told(*rows))


def test_what_kafka_refuses_in_the_same_words_is_one_check():
    how = {"code": 40, "evidence": ("KIP-4",)}
    rows = [
        refused("t.create", "CreateTopics", texts=TEXTS, **how),
        refused("t.alter", "AlterConfigs", texts=TEXTS, **how),
    ]
    head, also = "AlterConfigs.topics.error_code:40,0", "CreateTopics.topics.error_code:40,0"
    assert told(*rows) == [(head, [also])]
    # One text may be what Kafka always says with this code.
    rows[1] = refused("t.alter", "AlterConfigs", texts=TEXTS[:1], **how)
    assert told(*rows) == [(head, []), (also, [])]


def joined(case, version, path, oracle, target, kind, **how):
    own = {"api": "JoinGroup", "step": "ask", "version": version, "kind": kind}
    return failed(case, difference(path, oracle, target, **own), **how)


def test_one_step_that_goes_wrong_in_another_way_in_other_versions_is_one_cause():
    hung = joined("g.full[v0]", 0, "connection", "answered", "hung", "connection")
    taken = joined("g.full[v4]", 4, "error_code", 81, 79, "code")
    head, also = "JoinGroup.error_code:81,79", "JoinGroup.connection:answered,hung"
    assert told(hung, taken) == [(head, [also])]
    assert causes.find([hung, taken]).of_case["g.full[v0]"].id == head


@pytest.mark.parametrize(
    "third",
    [
        joined("g.full[v4,x=1]", 4, "connection", "answered", "hung", "connection"),
        joined("g.other[v0]", 0, "connection", "answered", "hung", "connection"),
    ],
)
def test_what_is_met_elsewhere_too_is_a_cause_of_its_own(third):
    hung = joined("g.full[v0]", 0, "connection", "answered", "hung", "connection")
    taken = joined("g.full[v4]", 4, "error_code", 81, 79, "code")
    assert [also for _, also in told(hung, taken, third)] == [[], []]


def unlogged(case="o.logged", evidence=("OFFS-17", "OFFS-22")):
    own = {"api": "Fetch", "step": "log", "stands": "claim", "kind": "absence"}
    return failed(case, difference("records[0]", "{}", "(missing)", **own), evidence=list(evidence))


def lost(harms=True, evidence=("OFFS-17",)):
    own = {"api": "OffsetFetch", "step": "after", "stands": "claim"}
    return failed(
        "o.moved", difference("committed_offset", 7, -1, **own),
        evidence=list(evidence), harms=harms,
    )  # fmt: skip


def test_what_a_death_costs_is_told_below_what_was_missing_before():
    head, also = "Fetch.records:absence", "OffsetFetch.committed_offset:unset"
    rows = [unlogged(), lost(), lost() | {"case": "o.moved[v2]"}]
    assert told(*rows) == [(head, [also])], "although more cases rest on what follows"
    assert causes.find(rows).causes[0].also[0].why == "after a broker's death"


def test_what_a_death_costs_is_a_cause_of_its_own_where_nothing_was_missing():
    assert len(told(unlogged(), lost(harms=False))) == 2, "nobody died"
    assert len(told(unlogged(), lost(evidence=("OFFS-25",)))) == 2, "another rule"
    twice = unlogged("o.tombs") | {"differences": [
        difference("tombs[0]", "{}", "(missing)", api="Fetch", step="log", stands="claim",
                   kind="absence")
    ]}  # fmt: skip
    assert len(told(unlogged(), twice, lost())) == 3, "nobody knows which of the two it was"


def test_opposite_endings_are_two_causes():
    def ended(case, oracle, target):
        return joined(case, 5, "connection", oracle, target, "connection")

    rows = [
        ended("g.a", "answered", "closed"),
        ended("g.b", "answered", "hung"),
        ended("g.c", "closed", "answered"),
        ended("g.d", "answered", "gone"),
        ended("g.e", "answered", "not attempted"),
    ]
    assert [(one.id, len(one.cases)) for one in causes.find(rows).causes] == [
        ("JoinGroup.connection:answered,closed", 1),
        ("JoinGroup.connection:answered,hung", 1),
        ("JoinGroup.connection:closed,answered", 1),
        ("JoinGroup.connection:answered,unasked", 2),
    ]
