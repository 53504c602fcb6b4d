"""Verdicts on doctored transcripts: every kind, and never ours as theirs."""

from __future__ import annotations

import dataclasses

import pytest

from touchstone.harness import checkers
from touchstone.harness.checkers import CheckerFailed
from touchstone.harness.judgement import verdict
from touchstone.harness.judgement.verdict import (
    BROKEN,
    CONFORMS,
    DIVERGES,
    INCONCLUSIVE,
    KINDS,
    UNSUPPORTED,
    Verdict,
    judge,
    unsupported,
    worst,
)
from touchstone.harness.model.expect import answer, answered, by_release, nothing_expected, outcome
from touchstone.harness.model.finding import Finding
from touchstone.harness.model.transcript import Event, Header, Transcript
from touchstone.harness.tests.doctor import (
    ended,
    golden,
    key_of,
    never_reached,
    step_with,
    with_answer,
    without_step,
)

SEEN = golden("2.8")
CREATE = step_with(SEEN, "CreateTopics")
PRODUCE = step_with(SEEN, "Produce")
RIGHT = answer(CREATE, "topics[0].error_code").is_(0)
WRONG = answer(CREATE, "topics[0].error_code").is_(37)


def set_code(code):
    def change(body):
        body["topics"][0]["error_code"] = code

    return change


LYING = with_answer(SEEN, CREATE, set_code(36))


def test_equal_transcripts_conform():
    found = judge(RIGHT, SEEN, SEEN, release="2.8")
    assert found.kind == CONFORMS and found.conforms and found.signature == CONFORMS


def test_a_verdict_is_no_truth_by_itself():
    with pytest.raises(TypeError, match="ask verdict.conforms"):
        bool(Verdict(CONFORMS))


def test_another_answer_diverges_and_says_where():
    found = judge(nothing_expected(), LYING, SEEN)
    assert found.kind == DIVERGES
    assert found.differences[0].path == "topics[0].error_code"
    assert found.signature == f"DIVERGES {SEEN.connection} {CREATE}: topics[0].error_code"
    assert "oracle 0, target 36" in str(found)


def test_an_unmet_expectation_diverges_even_without_an_oracle():
    found = judge(WRONG, SEEN, None)
    assert found.kind == DIVERGES and "expected 37, got 0" in found.reason


def test_an_expectation_that_fails_on_kafka_is_our_fault():
    found = judge(WRONG, SEEN, SEEN)
    assert found.kind == BROKEN and found.reason.startswith("oracle disagrees: ")


def test_an_oracle_that_gave_up_is_our_fault():
    found = judge(nothing_expected(), SEEN, ended(SEEN, PRODUCE, "unmet"))
    assert found.kind == BROKEN and "oracle disagrees" in found.reason


def test_a_closed_connection_is_told_beside_the_verdict():
    found = judge(nothing_expected(), without_step(SEEN, CREATE), SEEN)
    assert (found.kind, found.connection) == (DIVERGES, "closed")


def test_a_silent_target_diverges_and_hung():
    found = judge(nothing_expected(), ended(SEEN, CREATE, "timeout"), SEEN)
    assert (found.kind, found.connection) == (DIVERGES, "hung")


def test_a_silent_target_without_an_oracle_is_undecided():
    assert judge(None, ended(SEEN, CREATE, "timeout"), None).kind == INCONCLUSIVE


def test_a_target_that_cannot_be_reached_is_undecided():
    assert judge(RIGHT, never_reached(SEEN), SEEN).kind == INCONCLUSIVE


def test_a_checker_that_fires_on_the_target_diverges(monkeypatch):
    finding = Finding("framing", CREATE, "", "odd")
    monkeypatch.setattr(checkers, "check_all", lambda t: [finding] if t is LYING else [])
    found = judge(None, LYING, None)
    assert found.kind == DIVERGES and [str(one) for one in found.findings] == [str(finding)]
    assert found.signature == f"DIVERGES {SEEN.connection} {CREATE}: framing"


def test_a_checker_that_fires_on_kafka_too_is_our_fault(monkeypatch):
    finding = Finding("framing", CREATE, "", "odd")
    monkeypatch.setattr(checkers, "check_all", lambda _: [finding])
    found = judge(None, LYING, SEEN)
    assert found.kind == BROKEN and "fires on it" in found.reason


def test_a_watched_oracle_is_checked_although_the_target_is_clean(monkeypatch):
    finding = Finding("framing", CREATE, "", "odd")
    monkeypatch.setattr(checkers, "check_all", lambda t: [finding] if t is SEEN else [])
    twin = dataclasses.replace(SEEN)
    assert judge(None, twin, SEEN).kind == CONFORMS
    assert judge(None, twin, SEEN, watch_oracle=True).kind == BROKEN


def test_an_exception_in_a_checker_is_broken_with_its_stack(monkeypatch):
    def raises(_):
        raise CheckerFailed("framing", ZeroDivisionError("ours"))

    monkeypatch.setattr(checkers, "check_all", raises)
    found = judge(None, SEEN, SEEN)
    assert found.kind == BROKEN and "CheckerFailed" in found.stack and "raises" in found.stack


def test_an_undecided_split_is_our_fault():
    assert judge(by_release({"1.0": answered(CREATE)}), SEEN, SEEN, release="2.8").kind == BROKEN


def test_an_oracle_may_hang_where_the_claim_says_so():
    silent = ended(SEEN, CREATE, "timeout")
    found = judge(outcome(CREATE).is_("timeout"), silent, silent)
    assert found.kind == CONFORMS and found.connection == "hung"


@pytest.mark.parametrize("kind", KINDS)
def test_the_worst_of_several_wins(kind):
    better = [Verdict(other) for other in KINDS[: KINDS.index(kind) + 1]]
    assert worst(better).kind == kind and worst(reversed(better)).kind == kind


def test_the_worst_of_none_is_undecided_and_the_worst_end_is_kept():
    assert worst([]).kind == INCONCLUSIVE
    both = [Verdict(DIVERGES, "closed"), Verdict(CONFORMS, "hung"), Verdict(CONFORMS, "reset")]
    assert (worst(both).kind, worst(both).connection) == (DIVERGES, "hung")


def test_there_are_no_other_words():
    with pytest.raises(ValueError):
        Verdict("PASSED")
    with pytest.raises(ValueError):
        Verdict(CONFORMS, "lost")


def probe_of(*events):
    header = Header("t", "live", ("probe",))
    sent = Event(0, "a", "sent", 0, raw=b"", api=key_of("Fetch"), version=30)
    return Transcript(header, (Event(0, "a", "opened", 0), sent, *events))


CLOSED = probe_of(Event(1, "a", "closed", 0))
SILENT = probe_of(Event(1, "a", "timeout", 0))
ANSWERED = probe_of(Event(1, "a", "received", 0, raw=bytes(64), api=key_of("Fetch"), version=4))


def test_unsupported_is_what_is_not_listed_and_refused():
    found = unsupported(key_of("Fetch"), 30, {key_of("Fetch"): (0, 12)}, CLOSED)
    assert found is not None and found.kind == UNSUPPORTED and "0 to 12" in found.reason
    found = unsupported(key_of("Fetch"), 30, {}, CLOSED)
    assert found is not None and "not at all" in found.reason


def test_error_35_alone_is_a_refusal():
    def found(raw):
        event = Event(1, "a", "received", 0, raw=raw, api=key_of("Fetch"), version=30)
        return unsupported(key_of("Fetch"), 30, {}, probe_of(event))

    assert found(bytes(4) + b"\0\x23").kind == UNSUPPORTED
    assert found(bytes(4) + b"\0\x22").kind == DIVERGES
    assert found(bytes(4) + b"\0\x23\0").kind == DIVERGES


def test_listed_and_refused_is_not_unsupported():
    assert unsupported(key_of("Fetch"), 30, {key_of("Fetch"): (0, 30)}, CLOSED) is None


@pytest.mark.parametrize(("probe", "how"), [(SILENT, "not refused"), (ANSWERED, "answered")])
def test_not_listed_and_not_refused_is_one_difference_whatever_it_was_answered(probe, how):
    found = unsupported(key_of("Fetch"), 30, {}, probe)
    (difference,) = found.differences
    assert (difference.path, difference.target, difference.entity) == ("unoffered", how, "Fetch")
    assert found.kind == DIVERGES and how in found.reason


def test_of_a_version_that_nobody_asked_nothing_is_said():
    assert unsupported(key_of("Fetch"), 29, {}, ANSWERED) is None


def test_error_35_is_a_refusal_wherever_it_stands():
    listing = with_answer(SEEN, CREATE, set_code(35))
    trip = listing.by_label[CREATE]
    assert verdict.is_refusal(trip)
    assert not verdict.is_refusal(SEEN.by_label[CREATE])


def test_a_request_that_wants_no_answer_proves_nothing():
    sent = dataclasses.replace(SILENT.events[1], silent=True)
    quiet = dataclasses.replace(SILENT, events=(SILENT.events[0], sent))
    assert unsupported(key_of("Fetch"), 30, {}, quiet) is None
