"""An adapter that lies, hangs, dies or babbles costs a verdict, never the run."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import touchstone
from touchstone.checkout import ROOT
from touchstone.harness.cli.smoke import command as smoke
from touchstone.harness.model.case import Case, run_case
from touchstone.harness.model.claim import claim_of
from touchstone.harness.results import jsonl
from touchstone.harness.run.client_judge import judge_for
from touchstone.suites.producer.test_acks import test_a_delivered_record_has_its_offset as ACKED

DELIVERED = claim_of(ACKED)


def verdict(judge):
    (case,) = judge.cases(DELIVERED)
    return run_case(ACKED, Case(case, judge)).verdict


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "kind", "said"),
    [
        ("dies", "DIVERGES", "runs on, got it ended: exit code 1; out of luck"),
        ("hangs", "DIVERGES", "p: 1 flush_complete, got 0 came"),
        ("babbles", "DIVERGES", "adapter-line"),
        ("lies", "DIVERGES", "the broker never said so"),
        ("lacks", "UNSUPPORTED", "has not records"),
        ("dies-at-start", "INCONCLUSIVE", "it ended before it was ready: exit code 1; no luck"),
        ("never-ready", "INCONCLUSIVE", "did not say adapter_ready within 2 s"),
    ],
)
def test_what_an_adapter_does_is_told(miniature, judge, mode, kind, said):
    found = verdict(judge(miniature(mode)))
    assert (found.kind, said in str(found)) == (kind, True), found


@pytest.mark.slow
def test_the_case_after_a_death_has_a_new_process(miniature, judge):
    one = judge(miniature("dies"))
    assert [verdict(one).kind for _ in range(2)] == ["DIVERGES"] * 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "code", "said"),
    [
        ("never-says-no", 1, "the adapter of never-says-no is broken"),
        ("babbles", 1, "adapter-line"),
        ("lies", 1, "the adapter of lies is broken"),
        ("lacks", 1, "the client does not do what is asked"),
        ("dies-at-start", 3, "does not start"),
    ],
)
def test_smoke_says_whose_fault_it_is(miniature, monkeypatch, mode, code, said):
    monkeypatch.setattr("touchstone.harness.adapters.smoke.SECONDS", 1.0)
    result = CliRunner().invoke(smoke, ["--client", str(miniature(mode))])
    assert (result.exit_code, said in result.output) == (code, True), result.output


@pytest.mark.slow
def test_smoke_finds_the_same_on_a_cluster_where_it_was_before():
    with touchstone.serve(brokers=1) as cluster:
        asked = ["--client", "touchstone", "--target", cluster.bootstrap[0]]
        found = [CliRunner().invoke(smoke, asked) for _ in range(2)]
    assert [one.exit_code for one in found] == [0, 0], found[-1].output


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "code"), [("dies", 1), ("dies-at-start", 3)])
def test_a_run_ends_with_a_whole_report(miniature, tmp_path, mode, code):
    arguments = ["-q", "--client", str(miniature(mode)), "--deadline", "1"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "suites/producer/test_acks.py", *arguments,
         "--results", str(tmp_path), "--run", "r"],
        cwd=ROOT, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == code, done.stdout
    (file,) = (tmp_path / "r").glob("*.jsonl")
    found = jsonl.read(file)
    assert (found.header["planned"], len(found.cases)) == (5, 5)
    assert (tmp_path / "r" / "index.html").exists()


@pytest.mark.slow
def test_the_least_adapter_of_the_documentation_can_be_judged(tmp_path):
    text = Path(ROOT, "docs", "adapter.md").read_text(encoding="utf-8")
    found = re.search(r'```python title="least.py"\n(.*?)```', text, re.DOTALL)
    (tmp_path / "least.py").write_text(found[1])
    file = tmp_path / "least.toml"
    file.write_text(
        'name = "least"\nabout = "the least"\nversion = "1"\n[start]\n'
        'command = ["{python}", "{here}/least.py"]\nneeds = ["python:kafka"]\n'
    )
    result = CliRunner().invoke(smoke, ["--client", str(file)])
    assert result.exit_code == 0, result.output
    assert "it says what it has not" in result.output


def test_an_unknown_client_and_an_unknown_defect_are_named():
    for word, said in (("nobody", "one of ours: "), ("touchstone+no-such", "no defect")):
        with pytest.raises(ValueError, match=said):
            judge_for(word, "reference", nonce="t", deadline_s=1)
    with pytest.raises(ValueError, match="not to a recording"):
        judge_for("touchstone", "recorded@4.3", nonce="t", deadline_s=1)
