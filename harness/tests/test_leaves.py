"""The judge sees each leaf of each recorded answer change, or the list says why it need not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from touchstone.harness.judgement import normalize
from touchstone.harness.judgement.unordered import UNORDERED
from touchstone.harness.model import transcript as transcripts
from touchstone.harness.model.recordings import Store
from touchstone.harness.tests.leaves import forgiven, judging, running, trials
from touchstone.harness.tests.leaves.trials import Leaf, Setting

RULES = forgiven.read()
STORE = Store("4.3")
RECORDS = "responses.partitions.records:records"
SOMEWHERE = Setting("4.3", 1, 17)


@pytest.mark.slow
def test_each_leaf_is_seen_or_forgiven_for_a_reason():
    found = running.run()
    print(running.told(RULES, found))
    assert list(forgiven.problems(RULES, found, whole=False)) == []


@pytest.mark.slow
@pytest.mark.nightly
def test_each_leaf_of_each_version_in_each_release_is():
    found = running.run(running.RELEASES, nightly=True)
    print(running.told(RULES, found))
    assert list(forgiven.problems(RULES, found, whole=True)) == []


# Doctored normalisations: each hides one fault, and is named by the leaf that it hides.


def without_field(patch, word):
    real = normalize._struct
    patch.setattr(normalize, "_struct", lambda *args: _without(real(*args), word))


def without_record_field(patch, word, instead):
    real = normalize._entry

    def entry(*args):
        found = real(*args)
        return found | {"records": [one | {word: instead} for one in found["records"]]}

    patch.setattr(normalize, "_entry", entry)


def null_keys_are_empty(patch):
    real = normalize._entry

    def entry(*args):
        found = real(*args)
        return found | {"records": [one | {"key": one["key"] or b""} for one in found["records"]]}

    patch.setattr(normalize, "_entry", entry)


def one_topic_id(patch):
    real = normalize.Symbols.symbol

    def symbol(self, table, value):
        return "$topic-id" if table == "topic-id" else real(self, table, value)

    patch.setattr(normalize.Symbols, "symbol", symbol)


def _without(found, word):
    return {name: value for name, value in found.items() if name != word}


DOCTORED = {
    "headers": (
        lambda patch: without_record_field(patch, "headers", []),
        "records", "records.topics-may-choose-the-codec[v3,wanted=uncompressed,codec=none]",
        Leaf("Fetch", f"{RECORDS}.headers.value", "bytes", "last byte"),
    ),
    "attributes of records": (
        lambda patch: without_record_field(patch, "attributes", 0),
        "records", "records.topics-may-choose-the-codec[v3,wanted=uncompressed,codec=none]",
        Leaf("Fetch", f"{RECORDS}.attributes", "zero", "+1"),
    ),
    "preferred_read_replica": (
        lambda patch: without_field(patch, "preferred_read_replica"),
        "fetch", "fetch.answers-say-where-the-log-starts[v18]",
        Leaf("Fetch", "responses.partitions.preferred_read_replica", "-1", "+1"),
    ),
    "log_start_offset": (
        lambda patch: without_field(patch, "log_start_offset"),
        "fetch", "fetch.answers-say-where-the-log-starts[v18]",
        Leaf("Fetch", "responses.partitions.log_start_offset", "positive", "+1"),
    ),
    "an order": (
        lambda patch: patch.setitem(UNORDERED, ("Fetch", "responses"), ("topic",)),
        "fetch", "fetch.the-unknown-comes-last[v4]",
        Leaf("Fetch", "responses", "array", "reversed"),
    ),
    "null against empty": (
        null_keys_are_empty,
        "produce", "produce.acks-one-and-all-are-answered[v13,acks=-1]",
        Leaf("Fetch", f"{RECORDS}.key", "null", "null to empty"),
    ),
    "closed against silence": (
        lambda patch: patch.setitem(normalize._OUTCOME, "closed", "none"),
        "connections", "connections.unused-ones-are-idle",
        Leaf("(bytes)", "(ending)", "closed", "silent instead"),
    ),
    "which topic an id is of": (
        one_topic_id,
        "topics", "metadata.ids-find-topics[v12]",
        Leaf("Metadata", "topics.topic_id", "id", "exchanged"),
    ),
}  # fmt: skip


def problems_of(suite, case, path):
    """Which leaves of one path are unseen in one recorded case, and in no line of the list."""
    oracle = transcripts.loads(STORE.cases(suite)[case])
    oracle = replace(oracle, header=replace(oracle.header, release="4.3"))
    found = forgiven.Trials()
    tried = (one for one in trials.of_case(case, oracle, trials.Picker()) if one.leaf.path == path)
    running.judge_all(tried, judging.Judge(), found)
    assert found.counts.total()
    wrong = forgiven.problems(RULES, found, whole=False)
    return [one for one in wrong if one.startswith("unseen: ")]


@pytest.mark.parametrize("name", DOCTORED)
def test_a_doctored_normalisation_is_named(name, monkeypatch):
    doctor, suite, case, leaf = DOCTORED[name]
    doctor(monkeypatch)
    named = [one for one in problems_of(suite, case, leaf.path) if " | ".join(leaf) in one]
    assert named and case in named[0]


@pytest.mark.parametrize("name", DOCTORED)
def test_the_undoctored_one_is_not(name):
    _, suite, case, leaf = DOCTORED[name]
    assert problems_of(suite, case, leaf.path) == []


# the list


def held(rules, *outcomes, whole=True):
    found = forgiven.Trials()
    for leaf, outcome in outcomes:
        found.add(leaf, SOMEWHERE, outcome, "somewhere")
    return list(forgiven.problems(rules, found, whole=whole))


THROTTLE = Leaf("Fetch", "throttle_time_ms", "positive", "+1")


def rule(text, why="It is the clock.", decides="unseen"):
    return [forgiven.Rule("times", why, decides, (forgiven.Line.parse("times", text),))]


LINE = "Fetch | throttle_time_ms | positive | +1"


@pytest.mark.parametrize(
    ("rules", "outcome", "whole", "said"),
    [
        ([], "unseen", False, "unseen: Fetch | throttle_time_ms | positive | +1: somewhere"),
        ([], "noted", False, "noted: Fetch | throttle_time_ms | positive | +1: somewhere"),
        ([], "raised", False, "the judge fell over Fetch | throttle_time_ms"),
        (rule(LINE), "seen", False, "stale, for it is not unseen: times: Fetch"),
        (rule(LINE), "checked", True, "stale, for it is not unseen: times: Fetch"),
        (rule(LINE), "noted", True, "noted: Fetch | throttle_time_ms"),
        (rule(LINE, why=" "), "unseen", False, "times: a rule without a reason"),
        (rule(LINE + " | several brokers"), "unseen", False, "unseen: Fetch"),
        (rule(LINE + " | sometimes"), "unseen", True, "never seen, and it says sometimes"),
    ],
)
def test_what_is_wrong_with_the_list_is_said(rules, outcome, whole, said):
    assert any(one.startswith(said) for one in held(rules, (THROTTLE, outcome), whole=whole))


def test_a_line_that_is_seen_in_part_says_so():
    both = [(THROTTLE, "unseen"), (THROTTLE, "seen")]
    assert held(rule(LINE), *both) == [f"seen sometimes: times: {LINE}"]
    assert held(rule(LINE + " | sometimes"), *both) == []
    assert held(rule("* | throttle_* | * | *"), (THROTTLE, "unseen")) == []


def test_the_list_is_written_as_it_is_read_and_completed_without_a_reason():
    assert forgiven.written(RULES) == forgiven.GOLDEN.read_text()
    found = forgiven.Trials()
    found.add(THROTTLE, SOMEWHERE, "unseen", "somewhere")
    (new,) = forgiven.completed(rule("Fetch | session_id | positive | +1"), found)
    assert (new.why, [str(one) for one in new.lines]) == ("", [LINE])
    assert forgiven.completed(rule(LINE), found) == rule(LINE)


def test_a_line_names_a_place_that_is_known():
    with pytest.raises(ValueError, match="a line holds in one of internal topic"):
        rule(LINE + " | on Sundays")
