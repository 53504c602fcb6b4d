"""Equal differences are one cause, each case rests on one, and what decides nothing stays below."""

from __future__ import annotations

import pytest

from touchstone.harness.judgement import causes, wording
from touchstone.harness.judgement.causes import version_words
from touchstone.harness.tests.spark.made import case_row


def difference(path="topics[0].error_code", oracle=37, target=0, **how):
    found = {
        "step": "create", "path": path, "oracle": oracle, "target": target, "stands": "asked",
        "kind": "code" if path.endswith("error_code") else "value", "api": "CreateTopics",
        "version": 4, "at": 3,
    }  # fmt: skip
    return found | how


def failed(case, *differences, notes=(), **how):
    row = case_row(case, "D", "t@4.3")
    return row | {"differences": list(differences), "findings": [], "notes": list(notes)} | how


def conforming(case, *notes):
    return case_row(case, "C", "t@4.3") | {"notes": list(notes)}


def told(*rows):
    return [(cause.id, len(cause.cases)) for cause in causes.find(rows).causes]


CODE = "CreateTopics.topics.error_code:37,0"


def test_equal_differences_of_many_cases_are_one_cause():
    rows = [
        failed("topics.a[v2]", difference(version=2)),
        failed("topics.a[v3]", difference("topics[5].error_code", version=3)),
        failed("topics.b[v6]", difference(version=6, step="other")),
    ]
    (cause,) = causes.find(rows).causes
    assert (cause.id, cause.path, cause.versions) == (CODE, "topics[*].error_code", (2, 3, 6))
    assert cause.cases == ("topics.a[v2]", "topics.a[v3]", "topics.b[v6]")
    assert causes.find(rows).of_case["topics.b[v6]"] == cause


def test_other_codes_are_another_cause_and_other_values_are_not():
    assert len(told(failed("a.a", difference()), failed("a.b", difference(target=3)))) == 2
    (cause,) = causes.find([
        failed("a.a", difference("offset", 1, 2)),
        failed("a.b", difference("offset", 5, 6)),
        failed("a.c", difference("offset", 5, 6)),
    ]).causes  # fmt: skip
    assert cause.pairs == ((5, 6), (1, 2)) and cause.example["case"] == "a.b"


def test_what_comes_after_is_a_consequence():
    row = failed("a.a", difference(), difference("later", at=4), difference("last", at=9))
    assert told(row) == [(CODE, 1)]


def test_causes_stand_from_the_gravest_to_the_lightest_then_by_their_cases():
    rows = [
        failed("a.value", difference("x")),
        failed("a.other", difference("y")),
        failed("a.another", difference("y")),
        failed("a.code", difference()),
        failed("a.lost", difference("connection", "answered", "closed", kind="connection")),
        failed("a.absent", difference("z[0]", 1, "(missing)", kind="absence")),
    ]
    order = ["CreateTopics.connection:answered,closed", CODE, "CreateTopics.y:less",
             "CreateTopics.z:absence", "CreateTopics.x:less"]  # fmt: skip
    assert [id for id, _ in told(*rows)] == order


def test_what_ends_the_target_is_a_cause_of_its_own_and_always_shown():
    def lost(case, target):
        return failed(case, difference("connection", "closed", target, kind="connection"))

    rows = [lost("a.a", "ended"), lost("a.b", "hung"), lost("a.c", "hung")]
    found = causes.find(rows).causes
    assert [len(cause.cases) for cause in found] == [1, 2], "it is the first"
    (shown,) = causes.foremost(found, 1)
    assert shown.cases == ("a.a",)


def test_what_ends_the_target_is_the_cause_whatever_else_differs():
    death = difference("connection", "answered", "ended", kind="connection", at=5)
    (found,) = causes.find([failed("a.a", difference("offset", 1, 2), death)]).causes
    assert (found.path, found.pairs) == ("connection", (("answered", "ended"),))
    assert wording.title(found).endswith("the broker died")


def test_a_case_rests_on_what_explains_most_cases():
    both = difference("offset", 1, 2), difference("time", 3, 4)
    rows = [failed("a.a", *both), failed("a.b", both[1]), failed("a.c", both[1])]
    assert told(*rows) == [("CreateTopics.time:more", 3)]


def test_among_equals_the_code_then_the_place_the_claim_names():
    assert told(failed("a.a", difference("offset", 1, 2, stands="claim"), difference())) == [
        (CODE, 1)
    ]
    named = difference("offset", 1, 2, stands="claim")
    assert told(failed("a.a", difference("time", 1, 2), named)) == [("CreateTopics.offset:more", 1)]


def setup(path="error_code", oracle=0, target=15, **how):
    return difference(path, oracle, target, api="FindCoordinator", step="find", stands="setup",
                      version=2, at=1, **how)  # fmt: skip


def test_a_setup_step_that_answered_another_code_is_the_root():
    assert told(failed("a.a", difference(), notes=[setup()])) == [
        ("FindCoordinator.error_code:0,15", 1)
    ]


def test_another_value_in_a_setup_step_explains_nothing():
    noted = setup("node_id", 1, 2)
    assert told(failed("a.a", difference(), notes=[noted])) == [(CODE, 1)]
    assert told(failed("a.a", difference(), notes=[setup() | {"at": 7}])) == [(CODE, 1)]


def test_a_code_that_conforming_cases_met_as_well_explains_nothing():
    rows = [failed("a.a", difference(), notes=[setup()]), conforming("a.b", setup())]
    assert told(*rows) == [(CODE, 1)]


def test_a_third_as_many_that_conform_are_enough_for_that():
    rows = [failed(f"a.{n}", difference(), notes=[setup()]) for n in range(3)]
    assert told(*rows, conforming("a.b", setup())) == [(CODE, 3)]
    rows.append(failed("a.3", difference(), notes=[setup()]))
    assert told(*rows, conforming("a.b", setup())) == [("FindCoordinator.error_code:0,15", 4)]


def test_the_code_of_a_wait_in_vain_explains_no_code_of_a_later_step():
    unmet = setup("connection", "answered", "unmet", kind="connection")
    assert told(failed("a.a", difference(), notes=[unmet, setup()])) == [(CODE, 1)]
    missing = difference(oracle=0, target=16)
    assert told(failed("a.a", missing, notes=[unmet, setup()])) == [
        ("FindCoordinator.error_code:0,15", 1)
    ]
    topic = difference(oracle=0, target=3)
    id = "CreateTopics.topics.error_code:0,3"
    assert told(failed("a.a", topic, notes=[unmet, setup()])) == [(id, 1)], "of no group"


def test_a_step_that_never_got_there_is_told_by_its_answer():
    unmet = setup("connection", "answered", "unmet", kind="connection")
    row = failed("a.a", difference("connection", "answered", "not attempted", kind="connection"),
                 notes=[unmet, setup("topics[0].leader_id", 1, -1)])  # fmt: skip
    assert told(row) == [("FindCoordinator.topics.leader_id:unset-awaited", 1)]
    alone = failed("a.a", difference("connection", "answered", "gone", kind="connection"),
                   notes=[unmet])  # fmt: skip
    assert told(alone) == [("FindCoordinator.connection:answered,unmet", 1)]


@pytest.mark.parametrize(
    ("end", "cause"),
    [
        ("closed", "CreateTopics.connection:answered,closed"),
        ("ended", "CreateTopics.connection:answered,ended"),
        ("hung", "FindCoordinator.error_code:0,15"),
        ("gone", "FindCoordinator.error_code:0,15"),
    ],
)
def test_no_setup_step_explains_who_ends_the_connection_instead_of_an_answer(end, cause):
    own = difference("connection", "answered", end, kind="connection")
    number = setup("producer_epoch", 0, -1)
    assert told(failed("a.a", own, notes=[setup(), number])) == [(cause, 1)]
    no_answer = difference("connection", "none", "closed", kind="connection")
    assert told(failed("a.a", no_answer, notes=[setup()])) == [
        ("FindCoordinator.error_code:0,15", 1)
    ]


IN_VAIN = difference("connection", "answered", "unmet", kind="connection")


def test_a_value_that_never_comes_is_another_cause_than_one_that_is_wrong():
    kept = failed("log.a", IN_VAIN, difference("offset", 1, 0))
    wrong = failed("log.b", difference("offset", 1, 0))
    assert told(kept, wrong) == [
        ("CreateTopics.offset:less", 1), ("CreateTopics.offset:less-awaited", 1)
    ]  # fmt: skip
    (cause,) = causes.find([kept]).causes
    assert wording.title(cause) == "CreateTopics v4: offset"
    assert wording.sentence(cause).endswith("comes to answer 1, this target still answers 0")


@pytest.mark.parametrize(
    ("path", "pair", "id"),
    [("group_state", ("Dead", "Empty"), "group_state:Empty"),
     ("member_epoch", (2, 1), "member_epoch")],
)  # fmt: skip
def test_equal_words_and_epochs_are_one_cause_whether_they_are_waited_for_or_not(path, pair, id):
    waits = failed("a.a", IN_VAIN, difference(path, *pair))
    asks = [failed(f"a.{n}", difference(path, *pair)) for n in range(2)]
    assert told(waits, *asks) == [(f"CreateTopics.{id}", 3)]


def test_an_epoch_that_moves_on_while_it_is_waited_for_is_the_one_that_is_wrong():
    waits = failed("a.a", IN_VAIN, difference("member_epoch", 2, 207))
    asks = failed("a.b", difference("member_epoch", 2, 1))
    assert told(waits, asks) == [("CreateTopics.member_epoch", 2)]
    later = failed("a.c", IN_VAIN, difference("member_epoch", 4, 207))
    assert len(told(later, asks)) == 2


def test_codes_and_what_is_missing_are_one_cause_whether_they_are_waited_for_or_not():
    for found in (difference(), difference("z[0]", 1, "(missing)", kind="absence")):
        assert len(told(failed("a.a", IN_VAIN, found), failed("a.b", found))) == 1


def test_topics_that_were_made_in_another_way_explain_nothing():
    made = setup("made", "answered", "made", kind="connection")
    assert told(failed("a.a", difference(), notes=[made])) == [(CODE, 1)]


@pytest.mark.parametrize(
    ("own", "cause"),
    [
        (difference(), CODE),
        (difference("offset", 1, 2), "CreateTopics.offset:more"),
        (difference(oracle=0, target=16), "FindCoordinator.answer"),
        (difference("connection", "answered", "unresolved", kind="connection"),
         "FindCoordinator.answer"),
    ],
)  # fmt: skip
def test_a_setup_step_in_vain_explains_what_could_not_be_asked_or_was_not_there(own, cause):
    note = setup("answer", "decodes", "topics at offset 4: 4 bytes wanted", kind="connection")
    assert told(failed("a.a", own, notes=[note])) == [(cause, 1)]


def test_a_number_that_was_handed_back_is_the_root_of_later_numbers():
    epoch, other = setup("member_epoch", 2, 1), setup("heartbeat_interval_ms", 0, 5)
    row = failed("a.a", difference("groups[0].group_epoch", 3, 2), notes=[epoch, other])
    assert told(row) == [("FindCoordinator.member_epoch", 1)]


@pytest.mark.parametrize(
    ("own", "cause"),
    [
        (difference(), CODE),
        (difference("connection", "answered", "hung", kind="connection"),
         "CreateTopics.connection:answered,hung"),
        (difference("answer", "decodes", "a null", kind="connection"), "CreateTopics.answer"),
        (difference("topics[0]", "{}", "(missing)", kind="absence"), "CreateTopics.topics:absence"),
    ],
)  # fmt: skip
def test_a_number_that_was_handed_back_explains_nothing_else(own, cause):
    assert told(failed("a.a", own, notes=[setup("member_epoch", 2, 1)])) == [(cause, 1)]


def test_a_code_says_more_of_a_setup_step_than_its_numbers():
    refused = failed("a.a", difference(), notes=[setup(), setup("generation_id", 1, -1)])
    assert told(refused) == [("FindCoordinator.error_code:0,15", 1)]
    absent = setup("member_epoch", 2, "(missing)")
    assert told(failed("a.a", difference(), notes=[absent])) == [(CODE, 1)]


def test_a_field_whose_array_moved_into_another_is_one_cause():
    def row(case, path, version, target=None):
        return failed(case, difference(path, "", target, version=version, kind="absence"))

    flat = row("a.a[v5]", "topics[0].partitions[0].metadata", 5)
    path = "groups[0].topics[0].partitions[1].metadata"
    assert [cases for _, cases in told(flat, row("a.b[v8]", path, 8))] == [2]
    assert len(told(flat, row("a.b[v8]", path, 8, "m"))) == 2, "another value"
    assert len(told(flat, row("a.b[v5]", path, 5))) == 2, "one version has both"


def test_a_field_that_moved_between_versions_is_one_cause():
    flat = difference("error_code", 16, 0, version=5)
    nested = difference("groups[0].error_code", 16, 0, version=8)
    (cause,) = causes.find([failed("a.a[v5]", flat), failed("a.a[v8]", nested)]).causes
    assert cause.versions == (5, 8)
    same_version = failed("a.a[v5]", flat), failed("a.a[v5,x=1]", nested | {"version": 5})
    assert len(told(*same_version)) == 2, "one answer has both fields: they are two"
    assert len(told(failed("a.a[v5]", flat), failed("a.b[v8]", nested))) == 2, "two claims"


def test_a_code_that_changed_between_versions_is_one_cause():
    rows = [failed("a.a[v3]", difference("error_code", 47, 0, version=3)),
            failed("a.a[v4]", difference("error_code", 90, 0, version=4))]  # fmt: skip
    (cause,) = causes.find(rows).causes
    assert set(cause.pairs) == {(47, 0), (90, 0)}


def test_one_claim_that_tries_many_apis_is_one_cause():
    lost = {"path": "connection", "oracle": "closed", "target": "hung", "kind": "connection"}
    rows = [failed(f"a.a[api={api}]", difference(**lost, api=api), claim="a.a") for api in "XYZ"]
    (cause,) = causes.find(rows).causes
    assert set(cause.apis) == {"X", "Y", "Z"} and len(cause.cases) == 3
    # Named by the claim: which APIs it meets first may change.
    assert cause.id == "a.a.connection:closed,hung"


def test_failures_and_then_findings_are_told_where_nothing_differs():
    failure = {"step": "create", "path": "topics[0].error_code", "wanted": "37", "got": "0",
               "kind": "code", "api": "CreateTopics", "version": 4, "at": 3}  # fmt: skip
    finding = {"checker": "framing", "step": "create", "path": "", "sentence": "odd",
               "kind": "check", "stands": "asked", "api": "CreateTopics", "version": 4,
               "at": 3}  # fmt: skip
    rows = [failed("a.a", failures=[failure]), failed("a.b", findings=[finding])]
    assert told(*rows) == [(CODE, 1), ("CreateTopics:framing", 1)]
    assert told(failed("a.a", failures=[failure]), failed("a.c", difference())) == [(CODE, 2)]


def test_a_text_is_a_cause_only_where_nothing_else_differs():
    text = difference("topics[0].error_message", "a", None, kind="prose", at=0)
    assert told(failed("a.a", text, difference())) == [(CODE, 1)]
    assert told(failed("a.a", text)) == [("CreateTopics.topics.error_message", 1)]


def test_notes_are_told_once_below_the_causes():
    text = setup("error_message", "NONE", None, kind="prose")
    rows = [conforming("a.a", text), conforming("a.b", text), failed("a.c", difference()),
            failed("a.d", difference(), notes=[text, text | {"at": 9}])]  # fmt: skip
    found = causes.find(rows)
    (note,) = found.notes
    assert (note.id, note.cases) == ("FindCoordinator.error_message", ("a.a", "a.b", "a.d"))
    assert "a.a" not in found.of_case


def test_a_note_behind_the_cause_is_a_consequence():
    late = setup("offset", 1, 2) | {"at": 9}
    assert causes.find([failed("a.c", difference(), notes=[late])]).notes == ()


def test_a_cause_knows_which_of_its_cases_are_pinned():
    rows = [failed("a.a", difference(), known="k-1"), failed("a.b", difference())]
    (cause,) = causes.find(rows).causes
    assert (cause.known, cause.unpinned) == (("k-1",), 1)


def test_rows_of_before_there_were_grades_still_have_causes():
    old = {"step": "create", "path": "topics[0].error_code", "oracle": 37, "target": 0}
    row = {key: value for key, value in failed("a.a", old).items() if key != "notes"}
    del row["failures"], row["where"]
    (cause,) = causes.find([row]).causes
    assert (cause.kind, cause.apis) == ("code", (None,))


@pytest.mark.parametrize(
    ("versions", "words"),
    [((0, 1, 2, 3, 4, 6), "v0-v4, v6"), ((3,), "v3"), ((), ""), ((7, 5), "v5, v7")],
)
def test_versions_are_ranges(versions, words):
    assert version_words(versions) == words


def test_a_row_with_nothing_but_a_reason_is_told_by_it():
    (cause,) = causes.find([failed("a.a", reason="expected 1, got 2")]).causes
    assert (cause.sentence, cause.cases) == ("expected 1, got 2", ("a.a",))


def test_thousands_of_rows_cost_no_time():
    rows = [failed(f"a.c{i}[v{i % 9}]", *(difference(f"f{j}", i + 9, j) for j in range(8)))
            for i in range(1000)]  # fmt: skip
    assert len(causes.find(rows).causes) == 1
    own = [failed(f"a.c{i}", difference(f"f{i}"), difference(f"g{i}")) for i in range(1500)]
    assert len(causes.find(own).causes) == 1500


def test_what_a_checker_cannot_read_is_the_difference_that_others_tell_of():
    unread = "topics at offset 8: an array of 9 elements, but 4 bytes remain"
    seen = {"checker": "answer-parses", "path": "answer", "sentence": unread}
    seen |= {"step": "create", "api": "CreateTopics", "version": 2, "at": 3}
    rows = [
        failed("a.a", findings=[seen]),
        failed("a.b", difference("answer", "decodes", unread, kind="connection", version=2)),
    ]
    assert told(*rows) == [("CreateTopics.answer", 2)]
