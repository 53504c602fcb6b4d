"""A process that ends under a case is started again from its target file, and the case is known."""

from __future__ import annotations

import pytest

from touchstone.harness.judgement import bundle, ending
from touchstone.harness.judgement.verdict import CONFORMS
from touchstone.harness.model.steps import create_topic
from touchstone.harness.run.ahead import Ahead
from touchstone.harness.run.judge import Judge
from touchstone.harness.run.oracles import Nobody
from touchstone.harness.targets import parse
from touchstone.harness.tests.test_judge import a_work

FILE = """
name = "dying"
about = "A broker that ends when it is asked for a deadly topic"
version = "1"
release = "4.3"

[start]
command = ["{python}", "-m", "touchstone.harness.tests.driver.dying"]
per = "cluster"

[ready]
output = '^ready (?P<addresses>\\S+)$'
"""


@pytest.mark.slow
def test_who_ends_a_process_is_known_and_the_others_are_judged(tmp_path):
    file = tmp_path / "dying.toml"
    file.write_text(FILE)
    judge = Judge(parse(str(file)), Nobody("4.3"), "4.3", nonce="n", deadline_s=60.0)
    steps = [create_topic(word, name="ask", version=5) for word in ("fine", "deadly")]
    works = [a_work(judge, f"case-{n}", steps[n in (5, 15)]) for n in range(24)]
    ahead = Ahead(works, judge.jobs)
    for work in works:
        ahead.result(work.key)
    ahead.close()
    verdicts = {work.key: work.case.judgement.verdict for work in works}
    killers = {name for name, verdict in verdicts.items() if ending.is_one(verdict)}
    assert killers == {"case-5", "case-15"}
    assert {v.kind for name, v in verdicts.items() if name not in killers} == {CONFORMS}
    assert judge.close() == []
    for work in (work for work in works if work.key in killers):
        judgement = work.case.judgement
        assert (
            "ask was asked: broker-0: exit code 3, panic: it is deadly" in judgement.verdict.reason
        )
        kept = bundle.of(work.case.case, judgement, "4.3")
        assert kept.judge() == judgement.verdict, "it is judged again as it was"
        assert "goroutine 1" in bundle.read(bundle.write(kept, tmp_path)).death.log
