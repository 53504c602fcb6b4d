"""Expectations are data: they hold on stored answers of real Kafka, and fail on doctored ones."""

from __future__ import annotations

import dataclasses
import json

import pytest

from touchstone.harness.model import expect
from touchstone.harness.model.expect import (
    Undecided,
    all_of,
    answer,
    answered,
    any_of,
    batches,
    by_release,
    connection,
    fits,
    no_answer,
    outcome,
    own_batches,
    records,
    refused,
    size,
)
from touchstone.harness.model.placeholders import Name, Now, Ref
from touchstone.harness.model.recordings import Store
from touchstone.harness.tests.doctor import golden, step_with, without_step
from touchstone.reference_impl.wire.records import read

SEEN = golden("2.8")
PRODUCE = step_with(SEEN, "Produce")
FETCH = step_with(SEEN, "Fetch", records=True)
CREATE = step_with(SEEN, "CreateTopics")


def failing(expectation, transcript=SEEN, release="2.8"):
    return expectation.failures(transcript, release)


def holds(expectation, transcript=SEEN, release="2.8"):
    return failing(expectation, transcript, release) == []


def test_a_field_that_is_and_one_that_is_not():
    assert holds(answer(CREATE, "topics[0].error_code").is_(0))
    (failure,) = failing(answer(CREATE, "topics[0].error_code").is_(37))
    assert (failure.step, failure.path, failure.got) == (CREATE, "topics[0].error_code", "0")
    assert str(failure) == f"{CREATE}: topics[0].error_code: expected 37, got 0"


@pytest.mark.parametrize(
    ("verb", "good", "bad"),
    [
        ("is_", 0, 1),
        ("is_not", 1, 0),
        ("at_least", 0, 1),
        ("at_most", 0, -1),
        ("contains", None, None),
        ("has_length", None, 3),
        ("matches", None, "x"),
    ],
)
def test_every_verb_can_fail(verb, good, bad):
    place = answer(CREATE, "topics[0].error_code")
    if good is not None:
        assert holds(getattr(place, verb)(good))
    if verb == "contains":
        assert failing(place.contains(0)), "an int contains nothing"
    elif verb == "matches":
        assert failing(place.matches("0")), "an int is no text"
    else:
        assert failing(getattr(place, verb)(bad))


def test_lists_and_texts():
    topics = answer(CREATE, "topics")
    assert holds(topics.has_length(1)) and failing(topics.has_length(2))
    assert holds(answer(CREATE, "topics[*].error_code").each_is(0))
    assert failing(answer(CREATE, "topics[*].error_code").each_is(1))
    assert holds(answer(CREATE, "topics[*].error_code").each_is_one_of(0, 1))
    assert holds(answer(CREATE, "topics[0].error_code").is_one_of(0, 1))
    assert holds(answer(CREATE, "topics[0].name").matches("witness.*"))
    assert failing(answer(CREATE, "topics[0].name").matches("witnes"))
    assert holds(answer(CREATE, "topics[0].name").contains("witness"))
    assert holds(answer(CREATE, "topics[*].error_code").lacks(1))
    assert failing(answer(CREATE, "topics[*].error_code").lacks(0))
    assert failing(answer(CREATE, "topics[0].nothing").lacks(1)), "no list is not an empty one"


def test_each_of_nothing_is_a_failure():
    assert failing(answer(CREATE, "topics[*].configs[*].name").each_is("x"))


def test_names_and_references_are_looked_up():
    assert holds(answer(CREATE, "topics[0].name").is_(Name("witness")))
    assert holds(answer(CREATE, "topics[0].error_code").is_(Ref(CREATE, "topics[0].error_code")))
    assert failing(answer(CREATE, "topics[0].name").is_(Name("nobody")))
    assert failing(answer(CREATE, "topics[0].name").is_(Ref("nowhere", "topics")))
    assert failing(answer(CREATE, "topics[0].error_code").is_(Now()))


def test_a_path_that_leads_nowhere_is_a_failure_that_says_where():
    (failure,) = failing(answer(CREATE, "topics[7].error_code").is_(0))
    assert "no element 7" in failure.got


def test_records_and_batches():
    assert holds(records(FETCH).has_length(len(_records())))
    assert holds(records(FETCH, "[0].value").is_(_records()[0]["value"]))
    assert failing(records(FETCH, "[0].value").is_(b"other"))
    assert holds(batches(FETCH, "[0].magic").is_(2)) and failing(batches(FETCH, "[0].magic").is_(1))
    assert failing(records(CREATE, "[0].value").is_(b""))


KINDS = own_batches("log", "[*].records[*].kind")


def a_deleted_group():
    return Store("2.8").transcript(
        "offsets", "offsets.deleted-groups-leave-tombstones[v2,lived=true]"
    )


def test_the_batches_of_an_internal_topic_that_are_this_cases_own():
    seen = a_deleted_group()
    assert holds(KINDS.is_([[1, 2]]), seen) and failing(KINDS.is_([[1]]), seen)
    assert holds(own_batches("log", "[*].records[*].value").each_is(None), seen)
    others = dataclasses.replace(
        seen, header=dataclasses.replace(seen.header, names={"group": "of another case"})
    )
    (failure,) = failing(KINDS.is_([[1, 2]]), others)
    assert failure.got == "[]" and failure.path == "own batches.[*].records[*].kind"


def test_own_batches_are_of_internal_topics_only():
    (failure,) = failing(own_batches(FETCH).has_length(1))
    assert "without an internal topic" in failure.got


def _records():
    return read(expect._first_records(SEEN.answers[FETCH]))


def test_ends_of_steps_and_connections():
    assert holds(answered(CREATE)) and failing(answered("nowhere"))
    assert holds(size(CREATE).at_least(4)) and failing(size(CREATE).at_least(1 << 20))
    assert failing(no_answer(CREATE)) and failing(refused(CREATE))
    assert holds(outcome(CREATE).is_("received"))
    name = SEEN.by_label[CREATE].event.connection
    assert holds(connection(name).is_("kept")) and failing(connection(name).is_("closed"))
    assert holds(connection("none").is_("never opened"))


def test_a_lost_answer_fails_what_was_expected_of_it():
    lost = without_step(SEEN, CREATE)
    assert failing(answer(CREATE, "topics[0].error_code").is_(0), lost)


def test_joins():
    yes, no = answered(CREATE), answered("nowhere")
    assert holds(all_of(yes, yes)) and failing(all_of(yes, no)) and failing(yes & no)
    assert holds(any_of(no, yes)) and len(failing(any_of(no, no))) == 2
    with pytest.raises(TypeError):
        bool(yes)


def test_a_split_by_release_takes_exactly_one_branch():
    split = by_release({"1.0": answered("nowhere"), "2.2+": answered(CREATE)})
    assert holds(split, release="2.8") and holds(split, release="4.3")
    assert failing(split, release="1.0")
    with pytest.raises(Undecided, match="0 branches"):
        failing(by_release({"1.0": answered(CREATE)}), release="2.8")
    with pytest.raises(Undecided, match="2 branches"):
        failing(by_release({"1.0+": answered(CREATE), "2.8": answered(CREATE)}))
    with pytest.raises(ValueError, match="not a range"):
        by_release({"old": answered(CREATE)})


def test_the_release_is_the_transcripts_unless_it_is_given():
    header = dataclasses.replace(SEEN.header, release=None)
    with pytest.raises(Undecided, match="nobody knows"):
        by_release({"1.0+": answered(CREATE)}).failures(dataclasses.replace(SEEN, header=header))


@pytest.mark.parametrize(
    ("release", "words", "wanted"),
    [
        ("2.2", "2.2+", True),
        ("1.0", "2.2+", False),
        ("4.3.1", "3.9+", True),
        ("2.8", "1.0-2.8", True),
        ("3.9", "1.0-2.8", False),
        ("3.9", "1.0, 3.9", True),
        ("2.2", "1.0, 3.9", False),
    ],
)
def test_ranges_of_releases(release, words, wanted):
    assert fits(release, words) is wanted


def test_json_and_back():
    whole = all_of(
        by_release({"1.0": no_answer("a"), "2.2+": answer(CREATE, "x[0].y").is_one_of(1, b"\0")}),
        any_of(connection("a").is_("closed"), records(FETCH, "[0].key").is_(None)),
        answer(CREATE, "topics[0].name").is_(Name("witness")),
    )
    assert expect.from_json(expect.to_json(whole)) == whole
    assert expect.from_json(expect.to_json(None)) is None
    with pytest.raises(ValueError):
        expect.from_json({"$Location": {"source": "answer", "step": "a"}})
    former = '{"$Place": '  # as bundles have it that were written before
    text = json.dumps(expect.to_json(whole)).replace('{"$Location": ', former)
    assert former in text and expect.from_json(json.loads(text)) == whole


def test_the_steps_an_expectation_names():
    whole = all_of(answered("a"), answer("b", "x").is_(Ref("c", "y")), connection("d").is_("kept"))
    assert expect.steps_named(whole) == {"a", "b", "c"}
