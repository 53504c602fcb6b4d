"""Which differences the judge asks for again in other cases, and which it believes."""

from __future__ import annotations

import pytest

from touchstone.harness.judgement import grades
from touchstone.harness.judgement.compare import Difference
from touchstone.harness.judgement.verdict import CONFORMS, DIVERGES, Verdict
from touchstone.harness.model.case import Judgement
from touchstone.harness.run.judge import ENOUGH, Judge, sign
from touchstone.harness.run.oracles import Nobody
from touchstone.harness.targets import parse


@pytest.fixture
def judge():
    return Judge(parse("reference@4.3"), Nobody("4.3"), "4.3", nonce="again")


def a_difference(kind):
    one = Difference("ask", "connection", "answered", "hung", kind=kind, api="Fetch")
    return Judgement(Verdict(DIVERGES, differences=(one,)))


def test_how_a_step_ended_is_believed_when_several_cases_have_met_it_again(judge):
    hung, other = a_difference(grades.CONNECTION), a_difference(grades.VALUE)
    known = sign(hung.verdict)
    for _ in range(ENOUGH):
        assert known not in judge._met_again
        assert judge._is_met_again(hung, known)
    assert known in judge._met_again
    assert judge._is_met_again(other, sign(other.verdict))
    assert sign(other.verdict) in judge._met_again


def test_how_a_step_ended_is_not_believed_once_it_has_gone_away(judge):
    hung = a_difference(grades.CONNECTION)
    assert not judge._is_met_again(Judgement(Verdict(CONFORMS)), sign(hung.verdict))
    for _ in range(2 * ENOUGH):
        assert judge._is_met_again(hung, sign(hung.verdict))
    assert sign(hung.verdict) not in judge._met_again


def cannot_be_read(path, target):
    one = Difference("ask", path, "decodes", target, kind=grades.CONNECTION, api="Fetch")
    return Judgement(Verdict(DIVERGES, differences=(one,)))


GARBAGE = [
    cannot_be_read("answer", "topics at offset 4: 4 bytes wanted, 0 remain"),
    cannot_be_read("answer", "_tags[33] at offset 9: 14909 bytes wanted, 995 remain"),
    cannot_be_read("connection", "garbled"),
]


def test_why_an_answer_cannot_be_read_varies_with_its_bytes():
    assert sign(GARBAGE[0].verdict) == sign(GARBAGE[1].verdict) != sign(GARBAGE[2].verdict)


@pytest.mark.parametrize("first", GARBAGE)
@pytest.mark.parametrize("last", [*GARBAGE, a_difference(grades.CODE)])
def test_an_api_whose_answers_cannot_be_read_is_not_asked_again(judge, first, last):
    """By chance some of its bytes make sense, another one each time."""
    assert judge._is_met_again(last, sign(first.verdict))
    for other in (*GARBAGE, a_difference(grades.VALUE), a_difference(grades.CODE)):
        assert judge.differs_again(None, other)
        assert judge.ask_again(None, other) is other


def test_another_api_is_still_asked_again(judge):
    assert judge._is_met_again(GARBAGE[0], sign(GARBAGE[1].verdict))
    other = Difference("ask", "throttle_time_ms", 0, 1, kind=grades.VALUE, api="Produce")
    assert not judge._is_met_before(sign(Verdict(DIVERGES, differences=(other,))))


def test_an_answer_that_can_be_read_when_it_is_asked_again_was_chance(judge):
    first = sign(GARBAGE[0].verdict)
    assert not judge._is_met_again(Judgement(Verdict(CONFORMS)), first)
    assert not judge._is_met_before(first)
