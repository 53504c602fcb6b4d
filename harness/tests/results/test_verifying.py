"""`touchstone verify`: a good run passes; each way to cut, mix or edit one is caught."""

from __future__ import annotations

import datetime
import json
import re
import shutil
import subprocess
import sys

import pytest
from click.testing import CliRunner

from touchstone.harness import known
from touchstone.harness.__main__ import main
from touchstone.harness.judgement import bundle
from touchstone.harness.judgement.bundle import Bundle
from touchstone.harness.model.scenario import Scenario
from touchstone.harness.results import jsonl, junit, parts, rows, sums
from touchstone.harness.tests.doctor import golden
from touchstone.harness.tests.spark.made import DIFFERENCE, case_row, header

TARGET, OTHER = "kfake@4.3", "tansu@4.3"
SEEN = golden("2.8")
ENDED = "2026-11-21T02:00:00Z"
SIGNATURES = {"D": "DIVERGES kept create: topics[0].error_code"}
PINNED = SIGNATURES["D"]


def a_row(case, code, target=TARGET, **changed):
    kind = case_row(case, code, target)["verdict"]
    signature = kind if code in "CUI" else f"{kind} kept create: topics[0].error_code"
    known_ = "pin/1" if code == "K" else None
    said = {"signature": signature, "transcript": None, "known": known_} | changed
    return case_row(case, code, target, **said)


GOOD = {"topics.a[v1]": "C", "topics.a[v2]": "D", "topics.b[v1]": "K", "fetch.c[v1]": "I"}


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A good run: one difference with its bundle, a known one, one not decided."""
    folder = tmp_path_factory.mktemp("good") / "run-21"
    write(folder, [a_row(case, code) for case, code in GOOD.items()])
    return folder


@pytest.fixture
def folder(written, tmp_path):
    """A copy of it that a test may spoil."""
    return shutil.copytree(written, tmp_path / "run-21")


@pytest.fixture
def pins(tmp_path):
    """The file of the pin that explains the known one."""
    pin = known.Pin(
        id="pin/1", target="kfake*", reason="seen", expires=datetime.date(2027, 1, 1),
        claim="topics.b", signature=PINNED, issue="12",
    )  # fmt: skip
    path = tmp_path / "pins.toml"
    path.write_text(known.dumps([pin]))
    return path


def write(folder, body, *, target=TARGET, code=1, sealed=True, head=None, planned=None):
    """What a run writes for one target. A first difference gets a bundle."""
    folder.mkdir(exist_ok=True)
    body = [with_bundle(folder, row) for row in body]
    first = header("run-21", target, len(body) if planned is None else planned) | (head or {})
    path = folder / f"{target}.jsonl"
    with jsonl.Writer(path, first) as writer:
        for row in body:
            writer.case(row)
        writer.finish(finished=ENDED, exit_code=code)
    manifest = {"run": first["run"], "whole": False, "target": target,
                "planned": [row["case"] for row in body], "deselected": []}  # fmt: skip
    parts.manifest_of(path).write_text(json.dumps(manifest))
    junit.write([(first, body)], folder / f"{target}.junit.xml")
    if sealed:
        sums.write(folder)
    return path


def with_bundle(folder, row):
    if row["verdict"] != "DIVERGES" or row["known"]:
        return row
    made = Bundle(
        case=row["case"], claim=row["claim"], sentence="A sentence.", evidence=("TOPIC-11",),
        release=row["release"], verdict={"kind": row["verdict"], "signature": row["signature"]},
        scenario=Scenario.from_json(SEEN.header.scenario), expectation=None, target=SEEN,
        oracle=SEEN,
    )  # fmt: skip
    path = bundle.write(made, folder / "bundles")
    return row | {"transcript": str(path.relative_to(folder))}


def verify(folder, *pins):
    words = [word for pin in pins for word in ("--expectations", str(pin))]
    return CliRunner().invoke(main, ["verify", str(folder), *words])


def refused(folder, *pins):
    """The reasons for which it is refused, each one line."""
    done = verify(folder, *pins)
    assert done.exit_code == 1, done.output
    lines = done.output.splitlines()
    assert all(line.startswith("refused: ") for line in lines[:-1])
    assert f"refused: {len(lines) - 1} reason" in lines[-1]
    return [line.removeprefix("refused: ") for line in lines[:-1]]


def edit(folder, change, *, seal=True, file=f"{TARGET}.jsonl"):
    """Rewrite the rows of a file by a function from the list of its lines."""
    path = folder / file
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps(line) + "\n" for line in change(lines)))
    if seal:
        sums.write(folder)


def edit_row(folder, number, **changed):
    """Change fields of one case row (from 1, as the header is line 0), and nothing else."""
    edit(folder, lambda lines: [
        line | changed if at == number else line for at, line in enumerate(lines)
    ])  # fmt: skip


def test_a_good_run_is_verified(folder, pins):
    done = verify(folder, pins)
    assert (done.exit_code, done.output) == (0, f"{folder}: verified: 4 cases of 1 target\n")


def test_a_run_of_two_targets_that_ends_with_the_worst_of_them_is_verified(folder, pins):
    write(folder, [a_row("topics.a[v1]", "C", OTHER)], target=OTHER, code=1)
    assert verify(folder, pins).exit_code == 0


# cut


@pytest.mark.parametrize("lines", [1, 2, 5])
def test_a_file_without_its_footer_is_refused(folder, pins, lines):
    edit(folder, lambda every: every[:lines])
    assert any("incomplete: no footer" in reason for reason in refused(folder, pins))


def test_a_file_cut_within_a_line_is_refused(folder, pins):
    path = folder / f"{TARGET}.jsonl"
    path.write_bytes(path.read_bytes()[:-7])
    sums.write(folder)
    assert any("incomplete: not JSON" in reason for reason in refused(folder, pins))


def test_a_planned_case_without_a_row_is_refused(folder, pins):
    def drop(lines):
        left = [line for line in lines if line.get("case") != "fetch.c[v1]"]
        return [*left[:-1], rows.footer(left[1:-1], finished=ENDED, exit_code=1)]

    edit(folder, drop)
    told = refused(folder, pins)
    assert f"{TARGET}.jsonl: cut: the header plans 4 cases, 3 rows are there" in told
    assert f"{TARGET}.jsonl: cut: the manifest plans fetch.c[v1], without a row" in told


@pytest.mark.parametrize(
    ("suffix", "reason"),
    [("manifest.json", "its manifest is missing"), ("junit.xml", "its JUnit file is missing")],
)
def test_a_missing_file_is_refused(folder, pins, suffix, reason):
    (folder / f"{TARGET}.{suffix}").unlink()
    told = refused(folder, pins)
    assert f"{TARGET}.jsonl: {reason}" in told
    assert f"{TARGET}.{suffix}: it has a checksum in SHA256SUMS and is not there" in told


def test_a_missing_bundle_is_refused(folder, pins):
    next((folder / "bundles").iterdir()).unlink()
    sums.write(folder)
    (reason,) = refused(folder, pins)
    assert reason.startswith(f"{TARGET}.jsonl: topics.a[v2]: bundle bundles/")
    assert reason.endswith("it is missing")


def test_a_cut_bundle_is_refused(folder, pins):
    path = next((folder / "bundles").iterdir())
    path.write_bytes(path.read_bytes()[:-20])
    sums.write(folder)
    assert len(refused(folder, pins)) == 1


def test_a_bundle_outside_the_run_is_not_read(folder, pins):
    (folder.parent / "away.bundle.json").write_text("{}")
    edit_row(folder, 2, transcript="../away.bundle.json")
    assert any("outside the run's folder" in reason for reason in refused(folder, pins))


def test_parts_that_were_not_joined_are_refused(folder, pins):
    head = {"part": parts.mark(1, 2, 5)}
    name = f"{parts.name(OTHER, 1, 2)}"
    path = write(folder, [a_row("topics.a[v1]", "C", OTHER)], target=OTHER, head=head)
    path.rename(folder / f"{name}.jsonl")
    parts.manifest_of(path).rename(folder / f"{name}.manifest.json")
    (folder / f"{OTHER}.junit.xml").unlink()
    sums.write(folder)
    (reason,) = refused(folder, pins)
    assert reason == f"{OTHER}: parts: {OTHER}: of 2 parts these are missing: 2"


# mixed


@pytest.mark.parametrize("key", ["run", "commit"])
def test_files_of_two_runs_are_refused(folder, pins, key):
    body = [a_row("topics.a[v1]", "C", OTHER)]
    write(folder, body, target=OTHER, code=0, head={key: "another"})
    assert any(f"mixed: the files differ in {key}: another" in one for one in refused(folder, pins))


def test_two_files_of_one_target_are_refused(folder, pins):
    for suffix in ("jsonl", "manifest.json", "junit.xml"):
        (folder / f"copy.{suffix}").write_bytes((folder / f"{TARGET}.{suffix}").read_bytes())
    sums.write(folder)
    assert f"mixed: 2 files are of target {TARGET}" in refused(folder, pins)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"target": "tansu@4.3"}, "a row of 'tansu@4.3' in a file of 'kfake@4.3'"),
        ({"release": "2.8"}, "mixed: a row of release '2.8' in a file of '4.3'"),
        ({"claim": "fetch.other"}, "mixed: a case of another claim than 'fetch.other'"),
    ],
)
def test_a_row_of_something_else_is_refused(folder, pins, changed, reason):
    edit_row(folder, 1, **changed)
    assert any(reason in one for one in refused(folder, pins))


def test_a_manifest_of_another_run_is_refused(folder, pins):
    path = parts.manifest_of(folder / f"{TARGET}.jsonl")
    told = json.loads(path.read_text()) | {"run": "another", "deselected": ["x"]}
    path.write_text(json.dumps(told))
    sums.write(folder)
    assert refused(folder, pins) == [
        f"{TARGET}.jsonl: mixed: the manifest is of run 'another', not 'run-21'",
        f"{TARGET}.jsonl: the header deselects 0 cases, the manifest 1",
    ]


def test_a_case_that_nobody_planned_is_refused(folder, pins):
    path = parts.manifest_of(folder / f"{TARGET}.jsonl")
    told = json.loads(path.read_text())
    path.write_text(json.dumps(told | {"planned": told["planned"][1:]}))
    sums.write(folder)
    assert refused(folder, pins) == [
        f"{TARGET}.jsonl: mixed: the manifest does not plan topics.a[v1]"
    ]


# counts


def test_a_footer_that_counts_other_verdicts_is_refused(folder, pins):
    edit(folder, lambda every: [
        *every[:-1], every[-1] | {"by_verdict": every[-1]["by_verdict"] | {"CONFORMS": 2}}
    ])  # fmt: skip
    assert any("the footer counts" in reason for reason in refused(folder, pins))


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('<testsuites name="touchstone" tests="4"', '<testsuites name="touchstone" tests="5"',
         "JUnit counts 5 tests, the rows 4"),
        ('errors="0" skipped="2">\n  <testsuite ', 'errors="1" skipped="2">\n  <testsuite ',
         "JUnit counts 1 errors, the rows 0"),
        ('name="topics.a[v1]"', 'name="topics.z[v1]"', "JUnit tells otherwise of topics.a[v1]"),
        ("</testsuites>", "", "cut: its JUnit file is not XML"),
    ],
)  # fmt: skip
def test_junit_that_counts_otherwise_is_refused(folder, pins, old, new, reason):
    path = folder / f"{TARGET}.junit.xml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    sums.write(folder)
    assert any(reason in one for one in refused(folder, pins))


def test_a_run_that_ended_before_it_began_is_refused(folder, pins):
    edit(folder, lambda every: [*every[:-1], every[-1] | {"finished": "2026-11-20T00:00:00Z"}])
    assert any("before it started" in reason for reason in refused(folder, pins))


# verdicts


@pytest.mark.parametrize(
    ("code", "changed", "reason"),
    [
        ("C", {"differences": [DIFFERENCE]}, "contradiction: CONFORMS with differences"),
        ("C", {"failures": [{"step": "a", "path": "b"}]}, "contradiction: CONFORMS with failures"),
        ("C", {"signature": PINNED}, "contradiction: CONFORMS with the signature"),
        ("C", {"known": "pin/1"}, "contradiction: CONFORMS, and pin 'pin/1' explains it"),
        ("U", {"findings": [{"checker": "c"}]}, "contradiction: UNSUPPORTED with findings"),
        ("U", {"reason": ""}, "unexplained: UNSUPPORTED without a reason"),
        ("I", {"reason": ""}, "unexplained: INCONCLUSIVE without a reason"),
        ("B", {"reason": ""}, "unexplained: BROKEN without a reason"),
        ("B", {"signature": "CONFORMS"}, "contradiction: BROKEN with the signature 'CONFORMS'"),
    ],
)
def test_a_verdict_that_its_row_does_not_bear_is_refused(tmp_path, code, changed, reason):
    code_of = {"B": 2}.get(code, 0 if code == "C" else 3)
    body = [a_row("topics.a[v1]", code, **changed)]
    write(tmp_path / "run", body, code=code_of)
    told = refused(tmp_path / "run")
    assert [one for one in told if reason in one and one.endswith("topics.a[v1]")], told


def test_a_difference_of_nothing_is_refused(folder, pins):
    edit_row(folder, 2, differences=[], findings=[])
    assert refused(folder, pins) == [
        f"{TARGET}.jsonl: contradiction: DIVERGES, and nothing differs: topics.a[v2]"
    ]


def test_a_verdict_that_was_edited_contradicts_its_bundle(folder, pins):
    edit_row(folder, 2, signature="DIVERGES kept create: topics[0].name")
    (reason,) = refused(folder, pins)
    assert "it was judged 'DIVERGES kept create: topics[0].error_code', the row says" in reason


def test_a_bundle_of_another_case_is_refused(folder, pins):
    path = next((folder / "bundles").iterdir())
    path.write_text(path.read_text().replace("topics.a[v2]", "topics.q[v2]"))
    sums.write(folder)
    assert any("it is of case 'topics.q[v2]'" in reason for reason in refused(folder, pins))


@pytest.mark.parametrize("side", ["target", "oracle"])
def test_an_answer_to_another_scenario_is_refused(folder, pins, side):
    path = next((folder / "bundles").iterdir())
    told = json.loads(path.read_text())
    told[side][0]["fingerprint"] = "0" * 16
    path.write_text(json.dumps(told))
    sums.write(folder)
    (reason,) = refused(folder, pins)
    assert f"the {side} was asked another scenario: {'0' * 16}, not " in reason


def test_answers_of_two_jars_in_one_run_are_refused(folder, pins):
    body = [a_row("topics.a[v1]", "D"), a_row("topics.a[v2]", "D")]
    (folder / f"{TARGET}.jsonl").unlink()
    write(folder, body)
    for number, path in enumerate(sorted((folder / "bundles").iterdir())):
        told = json.loads(path.read_text())
        told["oracle"][0]["origin"] = {"jar": "kafka.jar", "sha256": f"{number}" * 64}
        path.write_text(json.dumps(told))
    sums.write(folder)
    assert any("answers of several jars" in reason for reason in refused(folder, pins))


# pins


def test_a_pin_that_is_in_no_file_is_refused(folder):
    (reason,) = refused(folder)
    assert "unexplained: pin 'pin/1' is in no file of pins" in reason
    assert reason.endswith(": topics.b[v1]")


def test_a_pin_that_does_not_explain_is_refused(folder, pins):
    pins.write_text(pins.read_text().replace(PINNED, "DIVERGES closed create: connection"))
    (reason,) = refused(folder, pins)
    assert "pin 'pin/1' does not explain how it came out: topics.b[v1]" in reason


def test_equal_reasons_of_many_rows_are_one_line(tmp_path):
    body = [a_row(f"topics.b[v{number}]", "K") for number in range(5)]
    write(tmp_path / "run", body, code=0)
    (reason,) = refused(tmp_path / "run")
    assert reason.endswith("topics.b[v0] and 4 more")


# exit codes


@pytest.mark.parametrize(
    ("codes", "code", "reason"),
    [
        ("D", 0, "contradiction: the footer says exit 0"),
        ("B", 1, "contradiction: the footer says exit 1"),
        ("I", 0, "contradiction: the footer says exit 0"),
        ("C", 2, "unexplained: exit 2"),
        ("C", 1, "unexplained: exit 1"),
        ("C", 3, "unexplained: exit 3"),
        ("C", 9, "no exit code of a run: 9"),
    ],
)
def test_an_exit_code_that_the_rows_do_not_come_to_is_refused(tmp_path, codes, code, reason):
    write(tmp_path / "run", [a_row("topics.a[v1]", codes)], code=code)
    assert any(reason in one for one in refused(tmp_path / "run"))


def test_a_pin_that_is_fixed_explains_exit_1(tmp_path, pins):
    write(tmp_path / "run", [a_row("topics.b[v1]", "C")], code=1)
    assert verify(tmp_path / "run", pins).exit_code == 0
    assert verify(tmp_path / "run").exit_code == 1


# checksums


def test_a_file_that_was_changed_after_the_run_is_refused(folder, pins):
    path = folder / f"{TARGET}.junit.xml"
    path.write_text(path.read_text() + "\n")
    (reason,) = refused(folder, pins)
    assert reason.startswith(f"{TARGET}.junit.xml: its checksum is not that of SHA256SUMS")


def test_a_run_without_checksums_is_refused(folder, pins):
    (folder / sums.NAME).unlink()
    assert len(refused(folder, pins)) == 1


def test_a_result_file_that_was_added_is_refused(folder, pins):
    write(folder, [a_row("topics.a[v1]", "C", OTHER)], target=OTHER, code=0, sealed=False)
    assert f"{OTHER}.jsonl: it has no checksum in SHA256SUMS" in refused(folder, pins)


def test_checksums_that_are_none_are_refused(folder, pins):
    (folder / sums.NAME).write_text("nothing\n")
    assert any("SHA256SUMS:1: not a checksum" in reason for reason in refused(folder, pins))


# nothing to read


def test_what_is_no_run_is_said(folder, tmp_path):
    assert verify(tmp_path / "nowhere").exit_code == 4
    done = verify(tmp_path)
    assert done.exit_code == 3 and done.output.count("\n") == 1
    bad = tmp_path / "bad.toml"
    bad.write_text("[[known]]\n")
    assert verify(folder, bad).exit_code == 4


# as runs really write it


@pytest.mark.slow
def test_what_a_run_writes_is_verified_and_its_copy_with_one_edit_is_not(tmp_path):
    claim = "suites/topics/test_create.py::test_validate_only_creates_nothing"
    argv = ["-q", "-p", "no:cacheprovider", claim, "--newest"]
    argv += ["--target", "reference@4.3", "--oracle", "recorded@2.8", "--results", str(tmp_path)]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *argv, "--run", "one"], capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr
    assert verify(tmp_path / "one").exit_code == 0
    path = tmp_path / "one" / "reference@4.3.jsonl"
    text = path.read_text()
    path.write_text(re.sub('"verdict":"DIVERGES"', '"verdict":"CONFORMS"', text, count=1))
    assert refused(tmp_path / "one")


def test_rows_of_a_bundle_that_conformed_when_asked_again_are_verified(folder, pins):
    found = jsonl.read(folder / f"{TARGET}.jsonl")
    flaky = a_row("topics.a[v2]", "C", at_first="because") | {
        "transcript": found.cases[1]["transcript"]
    }
    body = [row for row in found.cases if row["case"] != "topics.a[v2]"]
    (folder / f"{TARGET}.jsonl").unlink()
    write(folder, [*body, flaky], code=3)
    assert verify(folder, pins).exit_code == 0
