"""Every API, allowed, denied and of what does not exist: real Kafka's answers and ours are equal.

Under each set of ACLs (`rights.py`) each request (`requests.py`) in each version goes to real Kafka
and to the persona of the same release. Codes are compared, names, and what is left out. Without
Kafka, a part of what it answered stands in `recorded/` and is compared with ours.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from touchstone.harness.tests.acls import comparing
from touchstone.harness.tests.acls.requests import REQUESTS
from touchstone.harness.tests.acls.rights import PREFIXED, RIGHTS
from touchstone.reference_impl.broker import registry
from touchstone.reference_impl.broker.personas import persona
from touchstone.reference_impl.broker.security.acls import guards

RECORDED = Path(__file__).parent / "recorded"
LIVE = [pytest.mark.live, pytest.mark.java, pytest.mark.maven, pytest.mark.slow,
        pytest.mark.timeout(900)]  # fmt: skip
RELEASES = ("1.0", "2.2", "2.8", "3.9", "4.3")
KEPT = ("1.0", "2.8", "4.3")  # of which answers are recorded


def rights(release):
    return dict(RIGHTS) if release == "1.0" else {**RIGHTS, **PREFIXED}


def test_every_api_of_a_release_is_asked():
    for release in RELEASES:
        assert persona(release).broker_listener.keys() <= REQUESTS.keys()
    assert REQUESTS.keys() <= registry.stems().keys()


@pytest.mark.parametrize("release", [pytest.param(each, marks=LIVE) for each in RELEASES])
def test_answers_equal_those_of_real_kafka(release):
    asked = list(comparing.questions(release))
    with comparing.brokers(release) as brokers:
        apart = []
        for name, grants in rights(release).items():
            for each in brokers:
                each.grant(grants)
            for question in asked:
                if found := comparing.differences(question, brokers):
                    apart.append((name, str(question), found))
    assert apart == []


@pytest.mark.slow
@pytest.mark.parametrize("release", KEPT)
def test_answers_equal_those_that_kafka_gave(release):
    with gzip.open(RECORDED / f"{release}.json.gz", "rt", encoding="utf-8") as file:
        recorded = json.load(file)
    apart = []
    with comparing.brokers(release, ours_alone=True) as (ours,):
        for name, answers in recorded.items():
            ours.grant(rights(release)[name])
            for question, expected in answers.items():
                key, version, number = map(int, question.split("."))
                asked = comparing.Question(key, version, number)
                found = comparing.answer(asked, ours)
                if found != expected:
                    apart.append((name, str(asked), comparing.apart(expected, found)))
    assert apart == []


def test_a_guard_that_lets_everybody_pass_is_noticed(monkeypatch):
    """The comparison is red where ListGroups, say, is not guarded."""
    with comparing.brokers("4.3", "reference@4.3") as brokers:
        question = comparing.Question(16, 5, 0)
        assert comparing.differences(question, brokers) == []
        unguarded = {**guards.GUARDS, 16: guards.open_to_all}
        monkeypatch.setattr("touchstone.reference_impl.broker.security.acls.access_control.GUARDS",
                            unguarded)  # fmt: skip
        with comparing.brokers("4.3", "reference@4.3") as others:
            assert comparing.differences(question, [brokers[0], others[0]])
