"""A file that is not whole is never believed; the reason names its line."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from touchstone.harness.spark import inputs
from touchstone.harness.tests.spark import made

CASES = {"topics.refused[v0]": "C", "topics.refused[v1]": "D"}


def test_a_whole_file_shows_its_two_ends(tmp_path: Path) -> None:
    file = inputs.edges(made.results(tmp_path, "n-01", "reference@4.3", CASES))
    assert (file.run, file.target, file.footer["cases"], file.defect) == (
        "n-01",
        "reference@4.3",
        2,
        None,
    )


def test_a_file_cut_at_any_byte_has_a_defect(tmp_path: Path) -> None:
    whole = made.results(tmp_path, "n-01", "reference@4.3", CASES).read_bytes()
    cut = tmp_path / "cut.jsonl"
    for length in range(len(whole)):
        cut.write_bytes(whole[:length])
        assert inputs.edges(cut).defect is not None, length
    cut.write_bytes(whole)
    assert inputs.edges(cut).defect is None


def test_half_a_footer_is_named_by_its_line(tmp_path: Path) -> None:
    path = made.results(tmp_path, "n-01", "reference@4.3", CASES)
    path.write_bytes(path.read_bytes()[:-20])
    assert str(inputs.edges(path).defect) == f"{path}:4: incomplete: no footer (half a line)"


def test_a_missing_footer_is_named_by_the_last_line(tmp_path: Path) -> None:
    path = made.write(tmp_path, made.result_lines("n-01", "reference@4.3", CASES)[:-1])
    assert inputs.edges(path).defect.line == 3
    assert "no footer" in inputs.edges(path).defect.reason


def test_a_header_of_another_schema_is_refused(tmp_path: Path) -> None:
    path = made.results(tmp_path, "n-01", "reference@4.3", CASES, schema=99)
    assert "schema 99" in inputs.edges(path).defect.reason


@pytest.mark.parametrize("name", ["run", "target", "started"])
def test_a_header_that_names_no_place_in_time_is_refused(tmp_path: Path, name: str) -> None:
    lines = made.result_lines("n-01", "reference@4.3", CASES)
    path = made.write(tmp_path, lines)
    lines[0][name] = None
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert inputs.edges(path).defect.reason == f"the header names no {name}"


def test_a_footer_that_contradicts_itself_is_refused(tmp_path: Path) -> None:
    lines = made.result_lines("n-01", "reference@4.3", CASES)
    lines[-1]["cases"] = 3
    assert "counts 3 cases" in inputs.edges(made.write(tmp_path, lines)).defect.reason


def test_examine_names_the_first_wrong_line(tmp_path: Path) -> None:
    lines = made.result_lines("n-01", "reference@4.3", CASES)
    lines[2]["verdict"] = "FINE"
    defect = inputs.examine(made.write(tmp_path, lines))
    assert (defect.line, defect.reason) == (3, "no such verdict: 'FINE'")


def test_a_long_file_is_read_from_both_ends_only(tmp_path: Path) -> None:
    cases = {f"topics.refused[v{i}]": "C" for i in range(2_000)}
    path = made.results(tmp_path, "n-01", "reference@4.3", cases)
    first, last = inputs.ends(path)
    assert path.stat().st_size > 4 * inputs.BLOCK
    assert json.loads(first)["row"] == "header"
    assert json.loads(last)["row"] == "footer"


def test_find_takes_files_folders_and_patterns_once_each(tmp_path: Path) -> None:
    one = made.results(tmp_path, "n-01", "reference@4.3", CASES)
    two = made.results(tmp_path, "n-02", "reference@4.3", CASES)
    asked = [str(tmp_path), str(one), str(tmp_path / "n-*" / "*.jsonl")]
    assert inputs.find(asked) == [one, two]


def test_find_passes_over_transcripts_but_not_over_broken_results(tmp_path: Path) -> None:
    (tmp_path / "bundle.jsonl").write_text('{"transcript": 1}\n{"direction": "sent"}\n')
    (tmp_path / "empty.jsonl").write_bytes(b"")
    assert inputs.find([str(tmp_path)]) == [tmp_path / "empty.jsonl"]


def test_find_says_what_it_did_not_find(tmp_path: Path) -> None:
    with pytest.raises(inputs.NotResults, match=r"nowhere: no such file"):
        inputs.find([str(tmp_path / "nowhere")])
    with pytest.raises(inputs.NotResults, match=r"no result file"):
        inputs.find([str(tmp_path)])


def test_find_refuses_what_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    for name in (str(tmp_path / "pipe.jsonl"), "/dev/zero"):
        with pytest.raises(inputs.NotResults, match=r"not a file"):
            inputs.find([name])
    with pytest.raises(inputs.NotResults, match=r"no result file|not a file"):
        inputs.find([str(tmp_path)])


def test_two_files_of_one_run_and_target_clash(tmp_path: Path) -> None:
    one = made.results(tmp_path / "a", "n-01", "reference@4.3", CASES)
    two = made.results(tmp_path / "b", "n-01", "reference@4.3", CASES)
    clash = inputs.clashes([inputs.edges(one), inputs.edges(two)])
    assert [defect.path for defect in clash] == [two]
    assert str(one) in clash[0].reason
