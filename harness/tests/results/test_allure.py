"""Allure results from rows alone: statuses, what a reader is shown, what a target cannot put in."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from touchstone.harness.judgement.compare import Difference
from touchstone.harness.judgement.verdict import Verdict
from touchstone.harness.model.claim import CaseId
from touchstone.harness.model.finding import Finding
from touchstone.harness.results import allure, rows
from touchstone.harness.tests.results.test_results import CLAIM, HEADER, some_rows


def written(tmp_path, cases=None, **how):
    found = some_rows() if cases is None else cases
    allure.write(HEADER, found, tmp_path / "made", tmp_path, made={}, **how)
    results = [json.loads(path.read_text()) for path in (tmp_path / "made").glob("*-result.json")]
    return {one["name"]: one for one in results}


def a_row(*differences, version=5):
    verdict = Verdict("DIVERGES", reason=f"create: {differences[0]}", differences=differences)
    return rows.case(CaseId(CLAIM, version, {}), verdict, target="127.0.0.1:9092", release="4.3",
                     duration_ms=1.5)  # fmt: skip


def test_each_verdict_has_a_status_of_allure(tmp_path):
    results = written(tmp_path)
    counted = Counter(one["status"] for one in results.values())
    assert counted == {"passed": 1, "failed": 1, "broken": 1, "skipped": 3}
    (passed,) = (one for one in results.values() if one["status"] == "passed")
    assert "statusDetails" not in passed and "attachments" not in passed


def test_why_a_case_was_not_judged_or_is_accepted_is_said(tmp_path):
    results = written(tmp_path)
    said = {
        one["statusDetails"]["message"] for one in results.values() if one["status"] == "skipped"
    }
    assert said == {
        "UNSUPPORTED: not listed and refused", "INCONCLUSIVE: not run: no Java",
        "known: k1: a: odd (framing)",
    }  # fmt: skip


def test_cases_of_one_run_stand_one_after_the_other(tmp_path):
    spans = sorted((one["start"], one["stop"]) for one in written(tmp_path).values())
    assert spans[0][0] == 1763683200000 + 365 * 86_400_000, "when the run began"
    assert all(stop - start == 2 for start, stop in spans)
    assert all(one[1] == other[0] for one, other in zip(spans, spans[1:], strict=False))


def test_nothing_of_a_target_harms_a_reader_or_the_writer(tmp_path):
    """Text that is no Unicode would end a run, an escape would reach a terminal."""
    odd = Difference("create", "name", "a", "\x1b[2J\r\ud800", api="CreateTopics", version=5)
    (one,) = written(tmp_path, [a_row(odd)]).values()
    told = [*one["statusDetails"].values(), *map(Path.read_text, (tmp_path / "made").glob("*.txt"))]
    assert len(told) == 3, "message, trace and card"
    assert not any({"\x1b", "\r"} & set(text) for text in told)


def test_a_step_says_the_first_of_many_places(tmp_path):
    many = [Difference("create", f"topics[{n}].name", 1, 2, api="CreateTopics", version=5)
            for n in range(9)]  # fmt: skip
    row = a_row(*many)
    step = {"step": "create", "api": "CreateTopics", "version": 5, "at_ms": 1.0, "ms": 2.0,
            "ended": "closed"}  # fmt: skip
    late = {"step": "later", "api": None, "version": None, "at_ms": None, "ms": 0.0, "ended": ""}
    allure.write(HEADER, [row], tmp_path, tmp_path, made={row["case"]: [step, late]})
    (path,) = tmp_path.glob("*-result.json")
    first, second = json.loads(path.read_text())["steps"]
    assert first["name"] == "create: CreateTopics v5 (closed)" and first["status"] == "failed"
    lines = first["statusDetails"]["message"].splitlines()
    assert len(lines) == allure.PLACES + 1 and lines[-1] == "... and 4 more places"
    assert second == {"name": "later", "status": "skipped"}, "it was not attempted"


def test_a_case_that_was_not_finished_may_have_steps_that_are_wrong(tmp_path):
    seen = Finding("framing", "create", "", "odd")
    verdict = Verdict("INCONCLUSIVE", reason="nothing to compare with", findings=(seen,))
    row = rows.case(CaseId(CLAIM, 5, {}), verdict, target="a", release=None, duration_ms=1)
    step = {"step": "create", "api": None, "version": None, "at_ms": 0.0, "ms": 2.0, "ended": ""}
    allure.write(HEADER, [row], tmp_path, tmp_path, made={row["case"]: [step]})
    (path,) = tmp_path.glob("*-result.json")
    one = json.loads(path.read_text())
    assert (one["status"], one["steps"][0]["status"]) == ("skipped", "failed")


def test_what_markdown_would_take_for_its_own_is_shown(tmp_path):
    (one, *_) = written(tmp_path).values()
    assert one["description"].startswith("A sentence with \\<angle brackets\\> & more.\n\n- TOPIC")


def test_several_processes_say_which_targets_they_judged(tmp_path):
    for target in ("one:9092", "two@4.3", "one:9092"):
        allure.write_environment(tmp_path, [HEADER | {"target": target}])
    told = "cases of Kafka 4.3 against recorded@4.3 (recorded), Touchstone abc, seed 0"
    assert (tmp_path / "environment.properties").read_text().splitlines() == [
        f"one_9092={told}", f"two@4.3={told}",
    ]  # fmt: skip


def test_claims_of_others_have_no_page_of_ours(tmp_path):
    (one,) = written(tmp_path, [a_row(Difference("c", "x", 1, 2))], pages="x:/{}").values()
    assert [link["name"] for link in one["links"]] == ["clause TOPIC-11"]
