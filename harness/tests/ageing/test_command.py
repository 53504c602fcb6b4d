"""`touchstone age`: what its command is given, how it ends, and that nothing is left behind."""

from __future__ import annotations

import contextlib
import sys

import pytest
from click.testing import CliRunner

from touchstone.harness.__main__ import main
from touchstone.harness.ageing.life import planned
from touchstone.harness.cli import age
from touchstone.harness.model.target import StartFailed

SECURED = next(seed for seed in range(30) if planned("4.3", seed).mechanism)
COPY = "import pathlib, sys; pathlib.Path('said').write_text(' '.join(sys.argv[1:]))"


@pytest.fixture
def clusters(monkeypatch, tmp_path):
    """Clusters that are made in place of Kafka's, each with whether it was closed."""
    made = []

    class Cluster:
        bootstrap, secured = "127.0.0.1:1", "127.0.0.1:2"

        def __init__(self, life, port):
            self.life, self.port, self.folder, self.closed = life, port, tmp_path, False
            made.append(self)

        def start(self):
            if self.life.seed < 0:
                raise StartFailed("it did not start")

        def close(self):
            self.closed = True

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(age, "AgedCluster", Cluster)
    monkeypatch.setattr(age, "find_java", lambda: None)
    monkeypatch.setattr(age.acts, "live", lambda cluster, say: say("1. tenants"))
    monkeypatch.setattr(age.acts, "load", lambda cluster: contextlib.nullcontext())
    monkeypatch.setattr(age.signal, "signal", lambda *_: None)
    return made


def run(*words):
    return CliRunner().invoke(main, ["age", "kafka@4.3", *words])


def test_a_command_gets_the_addresses_and_the_way_to_log_in(clusters, tmp_path):
    words = ("--seed", str(SECURED), "--port", "20000", "--", sys.executable, "-c", COPY)
    done = run(*words, "--target={address}", "{secured}", "{config}")
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "1. tenants\n")
    config = tmp_path / "client.properties"
    assert (tmp_path / "said").read_text() == f"--target=127.0.0.1:1 127.0.0.1:2 {config}"
    assert planned("4.3", SECURED).mechanism in config.read_text()
    assert [(one.port, one.closed) for one in clusters] == [(20000, True)]


def test_the_exit_code_is_the_commands(clusters):
    assert run("--", sys.executable, "-c", "raise SystemExit(7)").exit_code == 7
    assert [one.closed for one in clusters] == [True]


def test_without_a_command_it_says_where_it_is_until_it_is_ended(clusters, monkeypatch):
    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr(age.signal, "pause", interrupted)
    done = run("--seed", str(SECURED))
    assert (done.exit_code, done.stdout) == (0, "ready 127.0.0.1:1\n")
    assert f"{planned('4.3', SECURED).mechanism} at 127.0.0.1:2" in done.stderr
    assert [one.closed for one in clusters] == [True]


def test_what_does_not_start_is_one_line_and_leaves_nothing(clusters):
    done = run("--seed", "-1")
    assert (done.exit_code, done.stderr) == (3, "touchstone age: it did not start\n")
    assert [one.closed for one in clusters] == [True]
