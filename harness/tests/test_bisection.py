"""The search for the version that changed an answer, over versions that answer as a table says."""

from __future__ import annotations

import pytest

from touchstone.harness.cli import bisect
from touchstone.harness.judgement.verdict import CONFORMS, DIVERGES, INCONCLUSIVE, Verdict
from touchstone.harness.run import detection
from touchstone.harness.run.bisection import Undecided, first_change

VERSIONS = [f"3.{minor}.{patch}" for minor in range(4) for patch in range(3)]
KINDS = {"old": CONFORMS, "new": DIVERGES, "none": INCONCLUSIVE}


class Kafka:
    """Versions from `changed` on answer otherwise; those of `fails` do not start."""

    def __init__(self, changed, fails=()):
        self.changed, self.fails, self.asked = changed, fails, []

    def __call__(self, version):
        self.asked.append(version)
        late = VERSIONS.index(version) >= VERSIONS.index(self.changed)
        kind = "none" if version in self.fails else "new" if late else "old"
        return Verdict(KINDS[kind], reason=f"{version} says so")


def found(kafka, versions=VERSIONS):
    return first_change(versions, kafka, lambda version, words: None)


@pytest.mark.parametrize("changed", VERSIONS[1:])
def test_the_first_version_that_answers_otherwise_is_named(changed):
    kafka = Kafka(changed)
    one = found(kafka)
    assert (one.old, one.new) == (VERSIONS[VERSIONS.index(changed) - 1], changed)
    assert one.verdict.reason == f"{changed} says so" and not one.between
    assert len(kafka.asked) <= 5, "12 versions are halved"
    assert len(set(kafka.asked)) == len(kafka.asked) and VERSIONS[0] not in kafka.asked


def test_two_versions_are_one_question():
    kafka = Kafka("3.0.1")
    assert found(kafka, VERSIONS[:2]).new == "3.0.1" and kafka.asked == ["3.0.1"]


@pytest.mark.parametrize("changed", VERSIONS[1:])
@pytest.mark.parametrize("fails", VERSIONS[1:-1])
def test_a_version_that_does_not_start_is_stepped_over_and_named_where_it_may_be_it(changed, fails):
    one = found(Kafka(changed, (fails,)))
    at = VERSIONS.index(one.new)
    if fails in (changed, VERSIONS[VERSIONS.index(changed) - 1]):
        assert one.between == ((fails, f"{fails} says so"),)
        assert VERSIONS[at - 2] == one.old and changed in (fails, one.new)
    else:
        assert (one.old, one.new, one.between) == (VERSIONS[at - 1], changed, ())


def test_ends_that_answer_alike_have_no_change():
    with pytest.raises(Undecided, match=r"Kafka 3\.0\.2 answers as 3\.0\.0 does") as error:
        found(Kafka("3.1.0"), VERSIONS[:3])
    assert error.value.alike


def test_a_last_version_that_does_not_start_decides_nothing():
    with pytest.raises(Undecided, match=r"3\.3\.2 cannot be asked: 3\.3\.2 says so") as error:
        found(Kafka("3.1.0", ("3.3.2",)))
    assert not error.value.alike


def test_each_answer_is_said():
    said = []
    first_change(VERSIONS, Kafka("3.1.0", ("3.1.2",)), lambda *words: said.append(words))
    assert said[0] == ("3.3.2", "otherwise")
    assert ("3.1.2", "cannot be asked: 3.1.2 says so") in said
    assert ("3.0.2", "as 3.0.0") in said


def test_versions_are_all_between_the_ends_with_their_patches():
    claim, _ = detection.functions()["topics.partition-counts-below-one-are-refused"]
    assert bisect.chosen(claim, "2.7.1", "2.8.1") == ["2.7.1", "2.7.2", "2.8.0", "2.8.1"]
    every = bisect.chosen(claim, None, "4.3.1")
    assert every[0] == "1.0.2" and every[-1] == "4.3.1" and {"3.6.0", "3.6.1"} <= set(every)
