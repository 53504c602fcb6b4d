"""What decides a case and what is only noted: by where it stands and of what kind it is."""

from __future__ import annotations

import pytest

from touchstone.harness import checkers
from touchstone.harness.judgement import grades
from touchstone.harness.judgement.grades import ASKED, CLAIM, MADE, SETUP, VERSION
from touchstone.harness.judgement.verdict import CONFORMS, DIVERGES, judge
from touchstone.harness.model.expect import (
    all_of,
    answer,
    by_release,
    connection,
    nothing_expected,
    outcome,
    records,
)
from touchstone.harness.model.finding import Finding
from touchstone.harness.model.placeholders import Ref
from touchstone.harness.tests.conversations import conversation
from touchstone.harness.tests.doctor import ended, golden, with_answer, without_step

SEEN = golden("2.8")  # CreateTopics v7 "created", later Produce v9, Fetch v12 "fetched"
CODE = "topics[0].error_code"


def renamed(body):
    body["topics"][0]["error_code"] = 36


OTHER_SETUP = with_answer(SEEN, "created", renamed)


def on_fetch(target, expectation=None, **how):
    return judge(expectation, target, SEEN, release="2.8", api="Fetch", version=12, **how)


def test_a_difference_of_a_setup_step_is_a_note():
    found = on_fetch(OTHER_SETUP)
    assert found.kind == CONFORMS and not found.differences
    (note,) = found.notes
    assert (note.stands, note.kind, note.api, note.version) == (SETUP, "code", "CreateTopics", 7)
    assert "note      created: topics[0].error_code" in str(found)


def test_a_strict_judge_has_no_notes():
    found = on_fetch(OTHER_SETUP, strict=True)
    assert found.kind == DIVERGES and not found.notes
    assert found.differences[0].stands == SETUP


def test_a_difference_of_an_asked_step_decides():
    found = judge(None, OTHER_SETUP, SEEN, api="CreateTopics", version=7)
    assert found.kind == DIVERGES and found.differences[0].stands == ASKED


def test_another_version_of_the_api_is_setup():
    assert judge(None, OTHER_SETUP, SEEN, api="CreateTopics", version=4).kind == DIVERGES, (
        "no step is asked in that version, so all are"
    )
    expected = answer("fetched", "error_code").is_(0)
    found = judge(expected, OTHER_SETUP, SEEN, api="CreateTopics", version=4)
    assert found.kind == CONFORMS and found.notes[0].stands == SETUP


def test_what_the_expectation_names_is_the_claim():
    expected = answer("created", CODE).is_one_of(0, 36)
    found = on_fetch(OTHER_SETUP, expected)
    assert found.kind == DIVERGES and found.differences[0].stands == CLAIM


def test_a_failed_expectation_decides_and_knows_its_step():
    found = judge(answer("created", CODE).is_(0), OTHER_SETUP, SEEN, release="2.8", api="Fetch",
                  version=12)  # fmt: skip
    (failure,) = found.failures
    assert (failure.kind, failure.api, failure.version) == ("code", "CreateTopics", 7)
    assert failure.at == 5


def test_without_expectation_and_api_every_step_is_asked():
    assert judge(nothing_expected(), OTHER_SETUP, SEEN).kind == DIVERGES


def test_a_finding_of_a_setup_step_is_a_note(monkeypatch):
    def fires(transcript):
        return [Finding("framing", "created", "", "odd")] if transcript is not SEEN else []

    monkeypatch.setattr(checkers, "check_all", fires)
    found = on_fetch(with_answer(SEEN, "created", lambda _: None))
    assert found.kind == CONFORMS and found.notes[0].checker == "framing"
    assert on_fetch(with_answer(SEEN, "created", lambda _: None), strict=True).kind == DIVERGES


def test_a_setup_step_that_closes_shows_in_what_was_asked_and_is_kept():
    found = on_fetch(without_step(SEEN, "created"))
    closed = next(note for note in found.notes if note.at == 5)
    assert (closed.kind, closed.oracle, closed.target) == ("connection", "answered", "closed")
    lost = ended(SEEN, "created", "timeout")  # nothing was attempted after it
    found = on_fetch(lost)
    assert found.kind == DIVERGES
    assert {one.api for one in found.differences} == {"Fetch", None}, "None: raw bytes"
    assert found.notes[0].at < found.differences[0].at


@pytest.mark.parametrize(
    ("path", "pair", "kind"),
    [
        ("coordinators[0].error_message", ("NONE", None), "prose"),
        ("responses[0].error_message", ("a", "b"), "prose"),
        ("topics[0].error_code", (0, 3), "code"),
        ("topics[0].topic_config_error_code", (0, 3), "code"),
        ("topics[0]", ({"name": "a"}, grades.MISSING), "absence"),
        ("records", (None, []), "absence"),
        ("topics[0].num_partitions", (1, 2), "value"),
    ],
)
def test_kinds_of_differences(path, pair, kind):
    assert grades.kind_of(path, *pair) == kind


def test_texts_decide_nowhere_not_even_where_a_claim_looks():
    def found(message, **how):
        topic = {"name": "t", "error_code": 37, "error_message": message}
        asked = {"name": "t", "num_partitions": 0, "replication_factor": 1, "assignments": []}
        asked = {"topics": [asked | {"configs": []}], "timeout_ms": 1}
        return conversation(("create", "CreateTopics", 1, asked, {"topics": [topic]}))

    expected = answer("create", "topics[0].error_message").is_not(None)
    judged = judge(expected, found("other words"), found("words"))
    assert judged.kind == CONFORMS
    assert (judged.notes[0].kind, judged.notes[0].stands) == ("prose", CLAIM)
    assert judge(expected, found(None), found("words")).kind == DIVERGES, "the claim asks for text"


def graded(expectation, **how):
    return grades.grading(expectation, [SEEN], release="2.8", **how)


def test_where_expectations_look():
    expected = all_of(
        answer("created", "topics[*].error_code").is_(0),
        by_release({"1.0": answer("more", "x").is_(1), "2.2+": answer("latest", "y").is_(1)}),
        outcome("quiet").is_("silent"),
        records("fetched", "[0].value").is_(Ref("produced", "responses[0]")),
    )
    found = graded(expected)
    assert found.stands("created", "topics[3].error_code") == CLAIM
    assert found.stands("created", "topics[3]") == CLAIM, "an element that holds the place"
    assert found.stands("created", "topics[3].num_partitions") == ASKED
    assert found.stands("more", "x") == SETUP, "a branch of another release"
    assert found.stands("latest", "y") == CLAIM
    assert found.stands("quiet", "connection") == CLAIM
    assert found.stands("fetched", "responses[0].partitions[0].records[0].records[1].key") == CLAIM
    assert found.stands("fetched", "responses[0].partitions[0].high_watermark") == ASKED
    assert found.stands("produced", "responses[0].partition_responses[0].error_code") == CLAIM
    assert found.stands("compressed", "throttle_time_ms") == SETUP


def test_a_connection_is_all_its_steps_and_raw_bytes_are_asked():
    found = graded(connection("broken").is_("closed"), api="Fetch", version=12)
    assert found.stands("too short", "connection") == CLAIM
    assert found.stands("created", "connection") == SETUP
    assert graded(None, api="Fetch", version=12).stands("too short", "connection") == ASKED


def test_how_a_connection_ends_is_asked_of_none_of_its_steps():
    found = graded(connection("a").is_("kept"), api="Fetch", version=12)
    assert found.stands("created", "connection") == CLAIM
    assert found.stands("created", "topics[0].error_code") == SETUP


def test_topics_that_were_made_in_another_way_are_setup():
    assert graded(None).stands("created", MADE) == SETUP
    assert graded(connection("a").is_("kept")).stands("created", MADE) == SETUP


def test_another_version_of_a_step_is_setup():
    assert graded(None).stands("created", VERSION) == SETUP


def test_what_belongs_to_no_step_is_never_setup():
    assert graded(None, api="Fetch", version=12).stands("step 99", "") == ASKED
