"""The rates of the fuzzer stand beside those of boofuzz, and alone where there is none."""

import pytest

from touchstone.harness.bench import fuzz
from touchstone.harness.bench.contest import Options

RATES = {"valid": 500.0, "frames": 400.0, "fields": 300.0, "records": 200.0}


@pytest.fixture
def turns(monkeypatch):
    """Every turn that was asked for, in place of a fuzzer that runs."""
    asked = []

    def ours(campaign, **how):
        asked.append((campaign, how))
        return RATES[campaign]

    monkeypatch.setattr(fuzz, "fuzz_rate", ours)
    monkeypatch.setattr(fuzz, "boofuzz_rate", lambda *_: 100.0)
    return asked


def test_each_campaign_stands_beside_boofuzz_in_both_ways(turns, tmp_path):
    figures = list(fuzz.over_sockets(Options(), "kafka@3.9", "127.0.0.1:1,127.0.0.1:2", tmp_path))
    assert [figure.ratio for figure in figures] == [5.0, 4.0, 3.0, 2.0] * 2
    assert {figure.peer for figure in figures} == {"boofuzz"}
    assert {(how["address"], how["release"]) for _, how in turns} == {("127.0.0.1:1", "3.9")}


def test_without_boofuzz_ours_stand_alone(turns):
    figures = list(fuzz.over_sockets(Options(), "reference@4.3", "127.0.0.1:1", None))
    assert [figure.ratio for figure in figures] == [None] * 8


def test_in_process_the_peer_is_ours_without_coverage(turns):
    figures = list(fuzz.in_process(Options(rounds=1)))
    assert [figure.ratio for figure in figures] == [1.0] * 4 + [None]
    assert sum("coverage" in how for _, how in turns) == 5


def test_a_machine_without_boofuzz_says_so(monkeypatch, tmp_path, capsys):
    def refuse(folder):
        raise OSError("no registry here")

    monkeypatch.setenv("TOUCHSTONE_CACHE", str(tmp_path))
    monkeypatch.setattr(fuzz.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(fuzz, "install", refuse)
    assert fuzz.boofuzz_python(Options()) is None
    assert "boofuzz not run: no registry here" in capsys.readouterr().err


def test_a_turn_that_prints_no_rate_is_an_error_that_says_what_it_said():
    with pytest.raises(RuntimeError, match="no campaign"):
        fuzz.printed(
            [fuzz.sys.executable, "-c", "raise SystemExit('no campaign of that name')"], "valid"
        )


@pytest.mark.slow
def test_a_turn_of_ours_has_a_rate(monkeypatch):
    monkeypatch.setattr(fuzz, "TURN_SECONDS", 0.5)
    monkeypatch.setattr(fuzz, "LONGEST_TURN", 100)
    assert fuzz.fuzz_rate("records", release="4.3", warm=1) > 0
