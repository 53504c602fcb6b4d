"""Many processes, one judgement: nothing that went missing on the way is ever green."""

import subprocess
import sys

import pytest

from ci import conformance
from touchstone.harness import tally
from touchstone.harness.cli import join
from touchstone.harness.results import jsonl, parts, rows
from touchstone.harness.tests.spark.made import case_row

TARGETS = ["reference@1.0", "reference@4.3"]


@pytest.fixture
def scene(monkeypatch, tmp_path):
    """Processes that only end; `ends` says how, `lost` which of them leave no file."""
    ends, lost, most, alive = {}, set(), [0], []

    def start(part, results, run, output):
        folder = results / run
        folder.mkdir(parents=True, exist_ok=True)
        name = (part.target, part.index)
        alive[:] = [process for process in alive if process.poll() is None]
        program = f"import sys; print('said by', {name}); sys.exit({ends.get(name, 0)})"
        made = subprocess.Popen([sys.executable, "-IS", "-c", program], stdout=output)
        alive.append(made)
        most[0] = max(most[0], len(alive))
        if name not in lost:
            write(folder, part)
        return made

    monkeypatch.setattr(conformance.Part, "start", start)
    monkeypatch.setattr(conformance, "_LOOK_SECONDS", 0.001)
    monkeypatch.setattr(conformance.signal, "signal", lambda *_: None)
    monkeypatch.setattr(conformance, "compile_once", lambda: None)
    monkeypatch.setattr(conformance, "touchstone", commands(reported := []))
    return ends, lost, most, tmp_path, reported


def write(folder, part):
    case = f"topics.claim-{part.index}[v1]"
    head = rows.header(
        run=folder.name, started="2026-11-21T00:00:00+00:00", target=part.target, release=None,
        kind="reference", oracle="none", oracle_kind="none", commit="abc", seed=0, host={},
        planned=1, part=parts.mark(part.index, part.count, part.count),
    )  # fmt: skip
    path = folder / f"{parts.name(part.target, part.index, part.count)}.jsonl"
    with jsonl.Writer(path, head) as writer:
        writer.case(case_row(case, "C", part.target))
        writer.finish(finished="2026-11-21T00:01:00+00:00", exit_code=0)
    text = '{"whole": true, "planned": [], "deselected": []}'
    parts.manifest_of(path).write_text(text)


def commands(reported):
    """The commands in this process; Spark is left out."""

    def run(*argv):
        if argv[0] == "join":
            return join.main(conformance.Path(argv[1]))
        reported.append(argv)
        return conformance.NOT_RUN

    return run


def make(tmp_path, *more):
    words = [word for target in TARGETS for word in ("--target", target)]
    return conformance.main([*words, "--results", str(tmp_path), "--parts", "2", *more])


def test_all_parts_make_whole_files_and_a_report(scene, capsys):
    _, _, most, tmp_path, reported = scene
    assert make(tmp_path, "--jobs", "3") == tally.CONFORMED
    assert most[0] <= 3
    files = sorted(path.name for path in tmp_path.glob("*/*.jsonl"))
    assert files == [f"{target}.jsonl" for target in TARGETS]
    assert len(reported) == 1
    assert "said by" not in capsys.readouterr().out, "a part that conforms has nothing to say"


def test_a_part_that_left_no_file_makes_the_run_incomplete(scene):
    _, lost, _, tmp_path, _ = scene
    lost.add((TARGETS[1], 2))
    assert make(tmp_path) == tally.INCOMPLETE


def test_a_target_that_left_no_file_makes_the_run_incomplete(scene):
    _, lost, _, tmp_path, _ = scene
    lost.update((TARGETS[1], index) for index in (1, 2))
    assert make(tmp_path) == tally.INCOMPLETE


@pytest.mark.parametrize(("code", "expected"), [(1, 1), (3, 3), (2, 2), (5, 2)])
def test_what_a_part_ends_with_counts_and_is_told(scene, capsys, code, expected):
    ends, _, _, tmp_path, _ = scene
    ends[TARGETS[0], 1] = code
    assert make(tmp_path) == expected
    assert f"said by ('{TARGETS[0]}', 1)" in capsys.readouterr().out
