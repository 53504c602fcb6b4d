"""Counters of a cluster that has lived: what a case changed itself is compared, and what it sent.

Their legal differences and the faults beside them are rows of test_normalize.py.
"""

from __future__ import annotations

from touchstone.harness.judgement.compare import compare
from touchstone.harness.tests.lived_counters import OTHER, read, sent, talk, told


def test_an_epoch_that_the_case_has_sent_comes_back_as_it_was():
    honest = talk(sent(5), read(5), told(5))
    assert compare(honest, honest) == []
    assert compare(honest, talk(sent(5), read(6), told(6))) != []
    assert compare(honest, talk(sent(5), read(5), told(4))) != []


def test_two_producers_may_have_coordinators_of_different_ages():
    honest, lived = talk(read(0), read(0, OTHER)), talk(read(3), read(7, OTHER))
    assert compare(honest, lived) == []
