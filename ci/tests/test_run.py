"""`ci/run`: what is chosen, and what goes on at the same time; nothing is started here."""

import importlib.machinery
import importlib.util
import threading
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HANGS_S = 300


@pytest.fixture
def run(monkeypatch):
    """The program, as a module."""
    loader = importlib.machinery.SourceFileLoader("ci_run", str(ROOT / "ci" / "run"))
    spec = importlib.util.spec_from_loader("ci_run", loader)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(__import__("sys").modules, "ci_run", module)
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    loader.exec_module(module)
    monkeypatch.setattr(module, "compile_once", lambda: None)
    return module


@pytest.fixture
def tiers(run, monkeypatch):
    """Tiers whose steps only note that they ran."""
    ran = []

    def tier(name):
        def steps(night):
            return [
                run.Step(name, lambda at_once: [run.Outcome(name, not ran.append((name, night)))])
            ]

        return steps

    monkeypatch.setattr(run, "TIERS", {name: tier(name) for name in run.TIERS})
    return ran


def test_all_is_every_tier_with_what_runs_at_night(run, tiers, capsys):
    assert run.main([]) == 0
    assert {night for _, night in tiers} == {False}
    by_day = [name for name, _ in tiers]
    tiers.clear()
    assert run.main(["all"]) == 0
    assert sorted(tiers) == sorted((name, True) for name in by_day)
    assert capsys.readouterr().out.endswith("5 passed, 0 failed, 0 skipped\n")


def test_what_answers_soon_comes_first(run, tiers):
    run.main([])
    assert {name for name, _ in tiers[:2]} == {"lint", "fast"}


def test_a_dashboard_that_was_not_made_is_counted(run, monkeypatch):
    monkeypatch.setattr(run, "command", lambda step, *argv, at_once: run.Outcome(step, 1))
    monkeypatch.setattr(run, "conformed", lambda: None)
    monkeypatch.setattr(run, "why_not", lambda program: "no Java")
    text = run.summary(run.recorded_outcomes(True))
    assert "NOT RUN x1: not run: no Java" in text and text.endswith("1 passed, 0 failed, 1 skipped")
    monkeypatch.setattr(run, "why_not", lambda program: None)
    assert [one.step for one in run.recorded_outcomes(True)] == ["recorded"]


@pytest.mark.parametrize(
    ("printed", "code", "judged"), [("a-run", 0, "a-run"), ("", 0, None), ("a-run", 1, None)]
)
def test_what_conformed_before_is_not_judged_again(run, monkeypatch, printed, code, judged):
    """A program that fails names no run, whatever it printed."""
    done = run.subprocess.CompletedProcess([], code, f"{printed}\n", "Traceback")
    monkeypatch.setattr(run, "ended", lambda program: done)
    assert run.conformed() == judged
    monkeypatch.setattr(run, "why_not", lambda program: None)
    monkeypatch.setattr(run, "command", lambda step, *argv, at_once: run.Outcome(step, 1))
    step = "recorded" if judged is None else "recorded, before"
    assert [one.step for one in run.recorded_outcomes(True)] == [step]


@pytest.mark.parametrize(("night", "variable"), [(False, None), (True, None), (False, "all")])
def test_live_leaves_out_something_by_day_alone(run, monkeypatch, night, variable):
    asked = []
    monkeypatch.setattr(run, "live_on", lambda names, *more: asked.append((names, more)) or [])
    monkeypatch.setattr(run, "pytest", lambda *words: run.Outcome(words[0]))
    monkeypatch.delenv("TOUCHSTONE_LIVE", raising=False)
    if variable:
        monkeypatch.setenv("TOUCHSTONE_LIVE", variable)
    run.live_outcomes(night)
    by_day = not night and variable is None
    ((names, more),) = asked
    assert (len(names) < 5, more) == (by_day, tuple(run.BY_DAY) if by_day else ())


def test_an_unknown_tier_runs_nothing(run, tiers, capsys):
    assert run.main(["fast", "slowest"]) == 2
    assert not tiers and "no tier 'slowest'" in capsys.readouterr().err


def test_lanes_go_on_side_by_side_and_steps_of_one_in_turn(run):
    met, order = threading.Barrier(2, timeout=HANGS_S), []

    def meets(name):
        def step(at_once):
            met.wait()  # both are here at once
            order.append(name)
            assert not at_once, "two that speak at once are not understood"
            return [run.Outcome(name, 1)]

        return step

    last = run.Step("one", lambda at_once: [run.Outcome("last", len(order))])
    steps = [run.Step("one", meets("a")), last, run.Step("two", meets("b"))]
    outcomes = run.side_by_side(steps)
    assert [outcome.step for outcome in outcomes] == ["a", "last", "b"]
    assert outcomes[1].passed >= 1, "a step waits for the one before it in its lane"


def test_each_file_of_slow_tests_is_in_one_lane(run, monkeypatch):
    asked = []
    monkeypatch.setattr(run, "pytest", lambda step, *words, **_: asked.append(words))
    for step in run.slow(False):
        step.run(False)
    found = [path for words in asked for path in chosen(words[: words.index("-m")])]
    assert sorted(found) == sorted(chosen(run.TESTS))
    assert len({step.lane for step in run.slow(False)}) == len(asked)


def chosen(words):
    """The files of tests in these folders, without those that are passed over."""
    ignored = [word.removeprefix("--ignore=") for word in words if word.startswith("--ignore=")]
    found = []
    for word in words:
        path = ROOT / word
        found += [path] if path.is_file() else sorted(path.rglob("test_*.py"))
    names = [str(path.relative_to(ROOT)) for path in found]
    return [name for name in names if not name.startswith(tuple(ignored))]


def test_what_moved_to_the_night_is_named_with_its_reason():
    """ci/README.md lists each file with a mark `nightly`, and no other."""
    mark = "mark." + "nightly"
    folders = ("harness", "reference_impl", "fuzz", "ci")
    marked = {
        str(path.relative_to(ROOT))
        for folder in folders
        for path in (ROOT / folder).rglob("tests/**/*.py")
        if mark in path.read_text("utf-8")
    }
    table = (ROOT / "ci" / "README.md").read_text("utf-8").partition("| moved |")[2]
    told = {line.split("`")[1] for line in table.splitlines() if line.startswith("| `")}
    assert told == marked


def test_the_tally_names_what_failed(run, tmp_path):
    report = tmp_path / "junit.xml"
    report.write_text(
        '<testsuites><testsuite tests="2" failures="1"><testcase/>'
        '<testcase classname="a.test_b" name="test_c"><failure message="assert 1 == 2"/>'
        "</testcase></testsuite></testsuites>"
    )
    outcome = run.Outcome("slow, pair")
    run.count_junit(report, outcome)

    assert "FAILED: slow, pair: a.test_b.test_c: assert 1 == 2" in run.summary([outcome])
    assert run.summary([outcome]).endswith("1 passed, 1 failed, 0 skipped")
    assert "FAILED: live: see above" in run.summary([run.Outcome("live", failed=1)])


def test_a_step_that_hangs_is_cut_and_says_where_it_stood(run, monkeypatch, tmp_path, capsys):
    hangs, there = tmp_path / "test_hangs.py", tmp_path / "there"
    hangs.write_text(
        "import pathlib, threading\n\n\ndef test_hangs():\n"
        f"    pathlib.Path({str(there)!r}).touch()\n    threading.Event().wait()\n"
    )

    class WhenItHangs(threading.Timer):
        """The time is up when the test has begun, however long that takes."""

        def run(self):
            while not there.exists() and not self.finished.wait(0.05):
                pass
            super().run()

    monkeypatch.setattr(run, "Timer", WhenItHangs)
    monkeypatch.setattr(run, "left_s", lambda: 0.5)
    outcome = run.pytest("a step", str(hangs), f"--rootdir={tmp_path}", at_once=False)
    assert outcome.failed == 1 and "it did not end in time" in run.summary([outcome])
    assert "in test_hangs" in capsys.readouterr().out
