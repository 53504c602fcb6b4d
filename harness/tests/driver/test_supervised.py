"""A broker that dies of a request and is started again at once: its killer is named, nobody else.

By HOST:PORT, as somebody would give it whose broker runs under a supervisor. Whoever looks a moment
later finds it serving, with the data of its last life or without.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from touchstone.harness.driver import standing
from touchstone.harness.judgement import causes, ending, wording
from touchstone.harness.judgement.verdict import CONFORMS, DIVERGES, INCONCLUSIVE
from touchstone.harness.model.case import Case
from touchstone.harness.model.claim import CaseId, Claim
from touchstone.harness.model.expect import all_of, answer, answered, refused
from touchstone.harness.model.placeholders import Name
from touchstone.harness.model.scenario import Raw
from touchstone.harness.model.steps import a_topic, ask, list_offsets, produce
from touchstone.harness.results import rows
from touchstone.harness.run.ahead import Ahead, Work
from touchstone.harness.run.judge import Judge
from touchstone.harness.run.oracles import Nobody
from touchstone.harness.targets import parse
from touchstone.suites.kit.records import ONE, batch

ROOT = Path(__file__).resolve().parents[3]
pytestmark = pytest.mark.slow
TOPIC = Name("topic", length=30)
# It needs what it has made, and a topic that was not there before.
FINE = [
    a_topic(TOPIC), produce(TOPIC, 0, batch(ONE), version=9, name="send"),
    list_offsets(TOPIC, version=5, name="ask"),
]  # fmt: skip
FIRST = all_of(
    answer("send", "responses[0].partition_responses[0].base_offset").is_(0),
    answer("ask", "topics[0].partitions[0].offset").is_(1),
)
GROUPS = {"groups": ["g"], "include_authorized_operations": False}
# A request that is answered, and bytes of which Kafka closes the connection.
KILLERS = {
    "DescribeGroups:3": (ask("DescribeGroups", 3, GROUPS, name="ask"), answered("ask")),
    "garbage": (
        Raw(b"\0\3\xff\xff\0\0\0\7\xff\xff\xff", name="ask", expect="close"),
        refused("ask"),
    ),
}


@contextlib.contextmanager
def supervised(deadly, *folder):
    """HOST:PORT of a supervised broker."""
    command = [sys.executable, "-m", "touchstone.harness.tests.supervised", deadly, *folder]
    program = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        start_new_session=True,
    )  # fmt: skip
    try:
        yield program.stdout.readline().split()[1]
    finally:
        os.killpg(program.pid, signal.SIGKILL)
        program.wait()
        program.stdout.close()


def a_case(judge, name, step=None, expected=None):
    def function(case):
        if step is None:
            return case.scenario(*FINE, expect=FIRST)
        return case.scenario(step, expect=expected)

    claim = Claim(f"demo.{name}", "It is.", ("TOPIC-11",), "MUST", "demo", "demo.test")
    return Work(name, function, Case(CaseId(claim, None, {}), judge), alone=False)


def judged(address, count, **others):
    """The cases, judged beside `count` that are fine, none of them asked again for being different;
    and what is said at the end.
    """
    judge = Judge(parse(address), Nobody("4.3"), "4.3", nonce="n", deadline_s=60.0)
    works = [a_case(judge, f"case-{n}") for n in range(count)]
    works[7:7] = [a_case(judge, name, *how) for name, how in others.items()]
    ahead = Ahead(works, judge.jobs)
    for work in works:
        ahead.result(work.key)
    ahead.close()
    return [work.case for work in works], judge.close()


@pytest.mark.parametrize("keeps", [False, True], ids=["forgets", "keeps"])
@pytest.mark.parametrize("deadly", KILLERS)
def test_the_killer_is_named_and_no_victim_is_red(tmp_path, deadly, keeps):
    with supervised(deadly, *([str(tmp_path)] if keeps else [])) as address:
        cases, told = judged(address, 20, killer=KILLERS[deadly])
    verdicts = {case.id: case.judgement.verdict for case in cases}
    found = causes.find(map(row, cases)).causes
    killer = verdicts.pop("demo.killer")
    assert killer.kind == DIVERGES and ending.is_one(killer), killer
    assert {verdict.kind for verdict in verdicts.values()} == {CONFORMS}, verdicts
    assert told == []
    assert [cause.cases for cause in found] == [("demo.killer",)]
    assert wording.title(found[0]).endswith("the broker died")


def row(case):
    verdict = case.judgement.verdict
    return rows.case(case.case, verdict, target="t", release="4.3", duration_ms=0, at_first=None)


def test_one_that_dies_of_everything_ends_the_run(monkeypatch):
    """Soon, and with a verdict for each case: those that nobody asked have the reason."""
    monkeypatch.setattr(standing, "DEATHS", 6)
    with supervised("*") as address:
        cases, _ = judged(address, 30)
    verdicts = [case.judgement.verdict for case in cases]
    counted = Counter(verdict.kind for verdict in verdicts)
    assert set(counted) == {DIVERGES, INCONCLUSIVE}, counted
    assert all(ending.is_one(one) for one in verdicts if one.kind == DIVERGES)
    gone = [one.reason for one in verdicts if one.kind == INCONCLUSIVE]
    assert all("it has ended 7 times" in reason for reason in gone), gone
