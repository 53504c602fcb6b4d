"""A night that runs out of time is incomplete, and says what it did not do."""

import signal
import subprocess
from pathlib import Path

import pytest

from ci import nightly
from touchstone.harness.run import tally


class Clock:
    """Seconds that pass only when a job takes them."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_night_runs_every_release_live_before_any_persona() -> None:
    names = [job.name for job in nightly.night(Path("nights"), 2, seed=1)]
    live = [name for name in names if name.startswith("suites on kafka@") and "aged" not in name]
    assert names[: len(live)] == live
    assert len(live) - len(nightly.without_persona(1)) == len(nightly.releases()) >= 5


def test_a_release_without_a_persona_is_judged_once_a_week_and_the_newest_each_night(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    older = [f"3.{minor}" for minor in range(9)]
    rows = [(name, "recorded") for name in older] + [("3.9", "nightly"), ("4.0", "recorded")]
    text = "".join(f'[[release]]\nname = "{name}"\ntier = "{tier}"\n' for name, tier in rows)
    (tmp_path / "matrix.toml").write_text(text)
    monkeypatch.setattr(nightly, "MATRIX", tmp_path / "matrix.toml")
    assert nightly.releases() == ["3.9"]
    week = [nightly.without_persona(day) for day in range(20000, 20007)]
    assert all(night[-1] == "4.0" for night in week)
    assert sorted(name for night in week for name in night[:-1]) == older
    assert nightly.without_persona(20007) == week[0]


def test_a_night_compares_the_oldest_and_the_newest_persona_with_kafka() -> None:
    names = nightly.releases()
    jobs = [job for job in nightly.night(Path("nights"), 2, seed=1) if "--against" in job.argv]
    assert {job.argv[job.argv.index("--against") + 1] for job in jobs} == {
        f"kafka@{names[0]}",
        f"kafka@{names[-1]}",
    }


def test_a_night_ages_every_release_by_its_seed_and_judges_it_where_it_wants_a_login() -> None:
    jobs = [job for job in nightly.night(Path("nights"), 2, seed=7) if "age" in job.argv]
    assert [job.argv[3] for job in jobs] == [f"kafka@{name}" for name in nightly.releases()]
    for job in jobs:
        own, judged = job.argv[: job.argv.index("--")], job.argv[job.argv.index("--") + 1 :]
        assert own[own.index("--seed") + 1] == "7"
        assert judged[judged.index("--target") + 1] == "{secured}"
        assert judged[judged.index("--command-config") + 1] == "{config}"


def test_jobs_that_the_budget_does_not_reach_are_incomplete(
    capsys: pytest.CaptureFixture[str],
) -> None:
    clock = Clock()

    def slow(argv: tuple[str, ...], left: float) -> int:
        clock.now += 60
        return tally.CONFORMED

    jobs = [nightly.Job(name, ()) for name in ("first", "second", "third")]
    codes = nightly.play(jobs, 100, clock, slow)
    assert codes == {"first": 0, "second": 0, "third": tally.INCOMPLETE}
    assert "third: not run: no time left" in capsys.readouterr().out


WORKS = """
import pathlib, signal, sys
try:
    print("judging", flush=True)
    signal.pause()
except KeyboardInterrupt:
    pathlib.Path(sys.argv[1]).write_text("what was judged")
    sys.exit(3)
"""


@pytest.mark.slow
def test_a_job_that_the_budget_ends_writes_what_it_has(tmp_path: Path, monkeypatch) -> None:
    """The job is interrupted as Ctrl-C does, although a shell's background ignores that."""
    made = subprocess.Popen
    with monkeypatch.context() as patched:
        patched.setattr(
            nightly.subprocess, "Popen", lambda *a, **k: made(*a, **k, stdout=subprocess.PIPE)
        )
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            job = nightly.started(("-c", WORKS, str(tmp_path / "out")))
        finally:
            signal.signal(signal.SIGINT, before)
    assert job.stdout is not None
    with job.stdout as said:
        assert said.readline() == b"judging\n"
        nightly.end(job)
    assert (job.returncode, (tmp_path / "out").read_text()) == (3, "what was judged")


@pytest.mark.slow
def test_a_job_that_does_not_end_when_it_is_asked_is_killed(monkeypatch) -> None:
    monkeypatch.setattr(nightly, "GRACE_S", 0.0)
    deaf = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); signal.pause()"
    assert nightly.run(("-c", deaf), 0.0) == tally.INCOMPLETE
