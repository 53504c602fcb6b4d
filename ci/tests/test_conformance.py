"""Many processes, one judgement: nothing that went missing on the way is ever green."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ci import conformance
from touchstone.harness.cli import join
from touchstone.harness.results import jsonl, parts, rows
from touchstone.harness.run import tally
from touchstone.harness.tests.clients.programs import wait_for
from touchstone.harness.tests.spark.made import case_row

ROOT = Path(__file__).resolve().parents[2]
TARGETS = ["kafka@1.0", "kafka@4.3"]  # of which a process judges one part


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
    monkeypatch.setattr(conformance, "why_not", lambda: "Spark is left out")
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
        return tally.INCOMPLETE

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


def test_a_persona_is_one_command_and_as_many_processes():
    (whole,) = conformance.parts_of("reference@4.3", 6)
    assert whole.processes == 6
    assert [part.processes for part in conformance.parts_of("127.0.0.1:9092", 2)] == [1, 1]


def test_what_has_more_processes_than_there_may_be_starts_alone():
    (whole,), (other, _) = conformance.parts_of("reference", 6), conformance.parts_of("kafka", 2)
    assert conformance._fits(whole, [], 4) and not conformance._fits(whole, [other], 6)
    assert conformance._fits(whole, [other], 7)


def forked(folder, *more):
    """Three parts of one small suite."""
    argv = [sys.executable, "-m", "ci.parts", "3", "-q", "suites/topics/test_create.py", "--newest"]
    argv += ["--target", "reference@4.3", "--results", folder, "--run", "one", "--shard", "1/3"]
    return [*map(str, argv), *more]


@pytest.mark.slow
def test_forked_parts_are_the_whole_and_what_differs_in_one_is_told(tmp_path):
    """Kafka 2.8 answers some of these claims in another way."""
    done = subprocess.run(
        forked(tmp_path, "--oracle", "recorded@2.8"), cwd=ROOT, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    told = done.stdout + done.stderr
    assert done.returncode == tally.DIFFERENT, told
    each = [jsonl.read(path, part=True).cases for path in tmp_path.glob("one/*.part-*.jsonl")]
    assert len(each) == 3 and all(each), told
    every = [row for rows_of_part in each for row in rows_of_part]
    differing = [row["case"] for row in every if row["verdict"] == "DIVERGES"]
    assert differing and all(case.partition("[")[0] in told for case in differing), told
    judged = sorted(row["claim"] for row in every)
    assert judged == sorted(set(judged)), "a case that two parts have judged"
    subprocess.run([sys.executable, "-m", "touchstone", "join", tmp_path / "one"], cwd=ROOT,
                   capture_output=True, check=False)  # fmt: skip
    (whole,) = tmp_path.glob("one/*.jsonl")
    assert sorted(row["claim"] for row in jsonl.read(whole).cases) == judged


@pytest.mark.slow
def test_no_forked_part_is_left_behind(tmp_path):
    running = subprocess.Popen(
        forked(tmp_path), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    with running:
        said = []  # the others are there when it names its own part
        assert any(said.append(line) or b"part 1/3" in line for line in running.stdout), said
        found = Path(f"/proc/{running.pid}/task/{running.pid}/children")
        others = [int(word) for word in found.read_text().split()] if found.exists() else []
        running.terminate()
        assert running.wait() == -signal.SIGTERM
        left = [Path(f"/proc/{process}") for process in others]
        wait_for(lambda: not any(path.exists() for path in left), lambda: f"left behind: {left}")


# --- a run that need not be repeated ---------------------------------------------------------


@pytest.fixture
def before(tmp_path, monkeypatch):
    """A run in which each persona conformed at the commit abc, which has not changed since."""
    monkeypatch.setattr(conformance, "_unchanged_commit", lambda: "abc")
    for target in conformance.PERSONAS:
        judged_before(tmp_path, target)
    return tmp_path


def judged_before(folder, target, *, commit="abc", code=0, planned=1, deselected=0):
    head = rows.header(
        run="first", started="2026-11-21T00:00:00+00:00", target=target, release=None,
        kind="reference", oracle="none", oracle_kind="none", commit=commit, seed=0, host={},
        planned=planned, deselected=deselected,
    )  # fmt: skip
    with jsonl.Writer(folder / "first" / f"{target}.jsonl", head) as writer:
        writer.case(case_row("topics.claim[v1]", "C", target))
        writer.finish(finished="2026-11-21T00:01:00+00:00", exit_code=code)


def test_what_conformed_at_this_commit_is_known(before):
    assert conformance.conformed(before) == "first"


@pytest.mark.parametrize(
    "how", [{"commit": "abd"}, {"code": 1}, {"code": 3}, {"planned": 2}, {"deselected": 3}]
)
def test_one_persona_that_is_not_so_is_judged_again(before, how):
    path = before / "first" / f"{conformance.PERSONAS[2]}.jsonl"
    path.unlink()
    judged_before(before, conformance.PERSONAS[2], **how)
    assert conformance.conformed(before) is None


def test_a_persona_without_a_file_is_judged_again(before):
    (before / "first" / f"{conformance.PERSONAS[4]}.jsonl").unlink()
    assert conformance.conformed(before) is None


def test_what_has_changed_is_judged_again(before, monkeypatch):
    monkeypatch.setattr(conformance, "_unchanged_commit", lambda: None)
    assert conformance.conformed(before) is None
