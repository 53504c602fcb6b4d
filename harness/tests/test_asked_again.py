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
