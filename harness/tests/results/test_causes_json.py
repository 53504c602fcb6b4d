"""Programs are told a run's causes with every documented field, in the order of people."""

from __future__ import annotations

import json

from click.testing import CliRunner

from touchstone.harness.__main__ import main
from touchstone.harness.results import causes_json, jsonl, run_folder
from touchstone.harness.results.summary import Report
from touchstone.harness.tests.spark.made import header
from touchstone.harness.tests.test_causes import difference, failed
from touchstone.harness.tests.test_effects import FILLER

ROWS = [
    failed("topics.a", difference(), difference("time", 1, 2, at=9)),
    failed("topics.b", difference("x", 1, 2)),
    failed("topics.c", FILLER),
    failed("topics.d", difference("answer", "decodes", "a null", kind="connection")),
]


def written(folder):
    """A run's folder with these rows."""
    with jsonl.Writer(folder / "t@4.3.jsonl", header("run", "t@4.3", len(ROWS))) as writer:
        for row in ROWS:
            writer.case(row)
        writer.finish(finished="2026-11-28T00:00:00+00:00", exit_code=1)
    run_folder.write(folder)
    return folder


def test_each_object_has_the_fields_that_are_documented():
    report = Report(header("run", "t@4.3", len(ROWS)), ROWS)
    data = json.loads(causes_json.dumps([report]))
    assert list(data) == list(causes_json.FILE)
    (target,) = data["targets"]
    assert list(target) == list(causes_json.TARGET)
    for cause in (*target["causes"], *target["light_causes"]):
        assert list(cause) == list(causes_json.CAUSE)


def test_causes_stand_as_people_read_them_and_the_light_ones_apart(tmp_path):
    (target,) = json.loads((written(tmp_path) / run_folder.CAUSES).read_text())["targets"]
    effects = [cause["effect"] for cause in target["causes"]]
    assert effects == ["cannot be read", "another code", "another value"]
    assert [cause["id"] for cause in target["light_causes"]] == ["CreateTopics.offset:filler"]
    assert (target["diverge"], target["light"]) == (4, 1)
    (behind,) = target["causes"][1]["behind"]
    assert (behind["id"], behind["cases"]) == ("CreateTopics.time:more", ["topics.a"])


def test_the_command_tells_the_causes_of_old_result_files(tmp_path):
    folder = written(tmp_path)
    said = CliRunner().invoke(main, ["causes", str(folder)]).output.splitlines()
    assert said[0].endswith("4 cases diverge, 3 causes; 1 of them only in what no client can tell")
    assert said[1].lstrip().startswith("1. CreateTopics v4: its answer cannot be parsed")
    assert "(another code; hits an admin tool; 1 case; behind it: 1 other difference)" in said[2]
    as_json = CliRunner().invoke(main, ["causes", "--json", str(folder)]).output
    assert as_json == (folder / run_folder.CAUSES).read_text()
    assert CliRunner().invoke(main, ["causes", str(folder / "nothing")]).exit_code == 4
