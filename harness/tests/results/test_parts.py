"""Parts make a whole only when nothing is missing; until then no reader believes them."""

from __future__ import annotations

import datetime
import json
import shutil
import xml.etree.ElementTree as ET

import pytest

from touchstone.harness.cli import join
from touchstone.harness.known import Pin
from touchstone.harness.results import jsonl, parts, rows
from touchstone.harness.run import tally
from touchstone.harness.spark import inputs, plain
from touchstone.harness.tests.spark.made import case_row

TARGET, COUNT = "reference@4.3", 3
CASES = [f"topics.claim-{number}[v1]" for number in range(7)]


def write(folder, codes="CCCCCCC", *, whole=True, exits=(0, 0, 0), **changed):
    """The parts of a run: case n is in part n modulo three, and came to the nth letter."""
    made = []
    for index in range(1, COUNT + 1):
        mine = list(zip(CASES, codes, strict=True))[index - 1 :: COUNT]
        head = rows.header(
            run="run", started=f"2026-11-21T00:00:0{index}+00:00", target=TARGET, release="4.3",
            kind="reference", oracle="recorded@4.3", oracle_kind="recorded", commit="abc", seed=0,
            host={}, planned=len(mine), part=parts.mark(index, COUNT, len(CASES)),
        )  # fmt: skip
        path = folder / f"{parts.name(TARGET, index, COUNT)}.jsonl"
        with jsonl.Writer(path, head | (changed if index == 2 else {})) as writer:
            for case, code in mine:
                writer.case(case_row(case, code, TARGET))
            ended = f"2026-11-21T00:01:0{index}+00:00"
            writer.finish(finished=ended, exit_code=exits[index - 1])
        manifest = {"run": "run", "whole": whole, "target": TARGET,
                    "planned": [case for case, _ in mine], "deselected": []}  # fmt: skip
        parts.manifest_of(path).write_text(json.dumps(manifest))
        made.append(path)
    return made


def test_parts_are_joined_into_what_one_process_writes(tmp_path):
    write(tmp_path)
    assert join.main(tmp_path) == tally.CONFORMED
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "SHA256SUMS", "badge.json", "badge.svg", "causes.json", "index.html",
        *(f"{TARGET}.{end}" for end in ("jsonl", "junit.xml", "manifest.json")),
        "summary.md",
    ]  # fmt: skip
    found = jsonl.read(tmp_path / f"{TARGET}.jsonl")
    assert sorted(row["case"] for row in found.cases) == CASES
    assert found.header["planned"] == found.footer["cases"] == 7 and "part" not in found.header
    assert found.header["started"].endswith("00:01+00:00"), "of the part that began first"
    assert found.footer["finished"].endswith("01:03+00:00"), "of the part that ended last"
    manifest = json.loads((tmp_path / f"{TARGET}.manifest.json").read_text())
    assert sorted(manifest["planned"]) == CASES and manifest["whole"]
    junit = ET.parse(tmp_path / f"{TARGET}.junit.xml").getroot()
    assert junit.get("tests") == "7" and junit.get("failures") == "0"
    (file,) = (inputs.edges(path) for path in inputs.find([str(tmp_path)]))
    assert file.defect is None
    assert plain.from_footers([file])[0]["status"] == "conforms"


@pytest.mark.parametrize("lost", range(COUNT))
def test_a_missing_part_is_incomplete_and_never_green(tmp_path, capsys, lost):
    write(tmp_path)[lost].unlink()
    assert join.main(tmp_path) == tally.INCOMPLETE
    assert f"parts these are missing: {lost + 1}" in capsys.readouterr().err
    assert not (tmp_path / f"{TARGET}.jsonl").exists()
    files = [inputs.edges(path) for path in inputs.find([str(tmp_path)])]
    assert len(files) == COUNT - 1 and all("not joined" in file.defect.reason for file in files)
    assert {one["status"] for one in plain.from_footers(files)} == {"incomplete"}


def test_a_part_that_was_cut_off_is_incomplete(tmp_path):
    cut = write(tmp_path)[1]
    data = cut.read_bytes()
    cut.write_bytes(data[: data.rindex(b'{"row":"footer"')])
    assert join.main(tmp_path) == tally.INCOMPLETE
    assert cut.exists() and not (tmp_path / f"{TARGET}.jsonl").exists()


def test_nothing_to_join_is_incomplete(tmp_path):
    assert join.main(tmp_path) == tally.INCOMPLETE


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("run", "another"),
        ("commit", "def"),
        ("oracle_kind", "none"),
        ("seed", 1),
        ("part", parts.mark(2, 4, 7)),
        ("part", parts.mark(2, 3, 8)),
        ("part", parts.mark(3, 3, 7)),
        ("planned", 1),
    ],
)
def test_parts_of_different_runs_make_no_whole(tmp_path, key, value):
    with pytest.raises(parts.NotWhole):
        parts.whole(write(tmp_path, **{key: value}))


def test_a_case_in_two_parts_makes_no_whole(tmp_path):
    made = write(tmp_path)
    lines = made[2].read_text().replace(CASES[2], CASES[0])
    made[2].write_text(lines)
    with pytest.raises(parts.NotWhole, match="two parts"):
        parts.whole(made)


def test_a_part_that_did_not_start_all_its_cases_is_incomplete(tmp_path):
    made = write(tmp_path, planned=3)
    for path in made:
        path.write_text(path.read_text().replace('"total":7', '"total":8'))
    assert join.main(tmp_path) == tally.INCOMPLETE
    assert jsonl.read(tmp_path / f"{TARGET}.jsonl").footer["exit"] == tally.INCOMPLETE


@pytest.mark.parametrize(
    ("codes", "exits", "expected"),
    [
        ("CCCCCCU", (0, 0, 0), tally.CONFORMED),
        ("CCCCCCI", (3, 0, 0), tally.INCOMPLETE),
        ("CCCDCCI", (1, 0, 0), tally.DIFFERENT),
        ("BCCDCCI", (2, 0, 0), tally.BROKE),
        ("CCCCCCC", (0, 2, 0), tally.BROKE),
    ],
)
def test_the_whole_is_as_bad_as_its_worst_part(tmp_path, codes, exits, expected):
    write(tmp_path, codes, exits=exits)
    assert join.main(tmp_path) == expected
    assert jsonl.read(tmp_path / f"{TARGET}.jsonl").footer["exit"] == expected


def pin(claim):
    return Pin(
        "p", target="reference@*", reason="a reason", expires=datetime.date(2027, 1, 1), issue="1",
        claim=claim, signature="D",
    )  # fmt: skip


def test_a_pin_that_fits_no_case_of_any_part_is_stale(tmp_path, capsys):
    """No part can know: the case may be another's."""
    for name in ("a", "b", "c"):
        (tmp_path / name).mkdir()
    write(tmp_path / "a", "CCCDCCC", exits=(1, 0, 0))
    assert join.main(tmp_path / "a", [pin("topics.claim-3")]) == tally.CONFORMED
    write(tmp_path / "b")
    assert join.main(tmp_path / "b", [pin("topics.gone")]) == tally.DIFFERENT
    assert "stale: p: topics.gone fits no case" in capsys.readouterr().out
    write(tmp_path / "c", whole=False)
    assert join.main(tmp_path / "c", [pin("topics.gone")]) == tally.CONFORMED


def test_a_part_is_read_as_a_part_and_a_whole_as_a_whole(tmp_path):
    part = write(tmp_path)[0]
    with pytest.raises(jsonl.BadResults, match="part 1 of 3, not joined"):
        jsonl.read(part)
    shutil.copytree(tmp_path, tmp_path / "copy")
    join.main(tmp_path / "copy")
    with pytest.raises(jsonl.BadResults, match="a whole"):
        jsonl.read(tmp_path / "copy" / f"{TARGET}.jsonl", part=True)
